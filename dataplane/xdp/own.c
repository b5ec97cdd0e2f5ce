// SPDX-License-Identifier: BSD-3-Clause
//
// getifaddrs() has the addresses, sysfs the devices on top: /sys/class/net/NAME/upper_OTHER.
//
// The walk over stacked devices is bounded by depth, since names may change while it runs.

#include "dataplane/xdp/own.h"

#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum {
	DEVICES_MAX = 64,
	DEPTH_MAX = 4, // a VLAN of a bridge of a bond
};

struct devices {
	uint32_t count;
	char name[DEVICES_MAX][IF_NAMESIZE];
};

static bool has_device(const struct devices *devices, const char *name)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (strcmp(devices->name[i], name) == 0)
			return true;
	}
	return false;
}

static void add_device(struct devices *devices, const char *name)
{
	if (devices->count == DEVICES_MAX || strlen(name) >= IF_NAMESIZE ||
	    has_device(devices, name))
		return;
	snprintf(devices->name[devices->count++], IF_NAMESIZE, "%s", name);
}

static void add_stacked(struct devices *devices, const char *name)
{
	static const char upper[] = "upper_";
	char path[64];
	const struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	directory = opendir(path);
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, upper, sizeof(upper) - 1) == 0)
			add_device(devices, entry->d_name + sizeof(upper) - 1);
	}
	closedir(directory);
}

static void find_devices(struct devices *devices, const char *interface)
{
	uint32_t at = 0;

	add_device(devices, interface);
	for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
		const uint32_t end = devices->count;

		while (at < end)
			add_stacked(devices, devices->name[at++]);
	}
}

static int add_address(struct own_addresses *out, const struct sockaddr *address)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (address->sa_family == AF_INET) {
		if (out->count4 == STEER_OWN_MAX)
			return -E2BIG;
		memcpy(&in4, address, sizeof(in4));
		out->v4[out->count4++] = in4.sin_addr.s_addr;
	} else if (address->sa_family == AF_INET6) {
		if (out->count6 == STEER_OWN_MAX)
			return -E2BIG;
		memcpy(&in6, address, sizeof(in6));
		memcpy(&out->v6[out->count6++], &in6.sin6_addr, sizeof(out->v6[0]));
	}
	return 0;
}

int own_addresses_read(const char *interface, struct own_addresses *out)
{
	struct devices devices = { 0 };
	struct ifaddrs *list;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	find_devices(&devices, interface);
	if (getifaddrs(&list) != 0)
		return -errno;
	for (const struct ifaddrs *at = list; at != NULL; at = at->ifa_next) {
		int err;

		if (at->ifa_addr == NULL || !has_device(&devices, at->ifa_name))
			continue;
		err = add_address(out, at->ifa_addr);
		rc = rc != 0 ? rc : err;
	}
	freeifaddrs(list);
	return rc;
}
