// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts as network namespaces: a veth pair each, whose inner end has the host's addresses and whose
// outer end is the switch's port (AF_PACKET). Each of them stands in the state before it is made.

#include "cli/lab.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/units.h"
#include "cli/run.h"
#include "fabricmgr/core/address.h"
#include "sys/cfg_address.h"

enum { IP_SECONDS = 10, INTERFACE_BYTES = 16, HASH_BITS = 24 };

// Interfaces have short names: those of several labs differ by their directory. A number below
// FABRIC_HOST_MAX has five digits at most, and the compiler sees it.
void lab_fabric_netns(const struct lab *lab, const struct lab_fabric *fabric, uint32_t host_port,
		      struct lab_netns *out)
{
	const struct fabric *own = &fabric->work.source.fabric;
	const struct fabric_host_port *port = &own->host_ports[host_port];
	const uint32_t tag = (uint32_t)hash_text(lab->dir) >> (32 - HASH_BITS);

	snprintf(out->name, sizeof(out->name), "weft-%s-%s", lab->name,
		 own->hosts[port->host].name);
	snprintf(out->outside, sizeof(out->outside), "wl%06x-%x", tag, host_port % FABRIC_HOST_MAX);
}

static int ip(const char *const *words)
{
	const char *argv[20] = { "ip" };
	uint32_t count = 1;

	while (*words != NULL && count + 1 < sizeof(argv) / sizeof(argv[0]))
		argv[count++] = *words++;
	return lab_run_program(argv, false, IP_SECONDS);
}
#define IP(...) ip((const char *const[]){ __VA_ARGS__, NULL })

static bool has_namespace(const struct lab *lab, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(lab->state, "namespaces"), i, one) {
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	}
	return false;
}

// One namespace for each host; its ports are eth0, eth1 and so on.
static int make_namespace(struct lab *lab, const char *name)
{
	char path[LAB_PATH_BYTES + 16];

	if (has_namespace(lab, name))
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	if (access(path, F_OK) == 0) {
		fprintf(stderr, "weft: there is a network namespace %s, and it is not the lab's\n",
			name);
		return -EEXIST;
	}
	json_array_append_new(json_object_get(lab->state, "namespaces"), json_string(name));
	if (lab_save(lab) < 0 || IP("netns", "add", name) != 0 ||
	    IP("-n", name, "link", "set", "lo", "up") != 0)
		return -EIO;
	return 0;
}

static int make_port(struct lab *lab, const struct lab_netns *netns, const struct fabric *own,
		     uint32_t host_port)
{
	const struct fabric_host_port *port = &own->host_ports[host_port];
	const uint32_t number = host_port - own->hosts[port->host].first_port;
	char inside[INTERFACE_BYTES], address[IP_PREFIX_TEXT_BYTES], mac[MAC_TEXT_BYTES];

	// What stands in the state is removed with the lab.
	if (if_nametoindex(netns->outside) != 0) {
		fprintf(stderr, "weft: there is an interface %s already\n", netns->outside);
		return -EEXIST;
	}
	json_array_append_new(json_object_get(lab->state, "interfaces"),
			      json_string(netns->outside));
	if (lab_save(lab) < 0)
		return -EIO;
	snprintf(inside, sizeof(inside), "eth%u", number);
	mac_format(fabric_host_mac(own, host_port), mac);
	ip_prefix_format(&port->ip, address);
	if (IP("link", "add", netns->outside, "type", "veth", "peer", "name", inside, "netns",
	       netns->name, "address", mac) != 0 ||
	    IP("link", "set", netns->outside, "up") != 0 ||
	    IP("-n", netns->name, "link", "set", inside, "mtu", "1500", "up") != 0)
		return -EIO;
	if (port->ip.family == IP_NONE)
		return 0;
	return IP("-n", netns->name, "addr", "add", address, "dev", inside) != 0 ? -EIO : 0;
}

// Other subnets are behind the gateway of the first port's, which every switch with hosts is.
static int make_route(const struct lab_netns *netns, const struct fabric_host_port *port)
{
	const struct ip_prefix gateway = fabric_gateway(&port->ip);
	char address[IP_PREFIX_TEXT_BYTES];

	if (gateway.family == IP_NONE)
		return 0;
	ip_prefix_format(&gateway, address);
	address[strcspn(address, "/")] = '\0';
	return IP("-n", netns->name, "route", "add", "default", "via", address) != 0 ? -EIO : 0;
}

static bool is_first(const struct fabric *own, uint32_t host_port)
{
	return own->hosts[own->host_ports[host_port].host].first_port == host_port;
}

int lab_netns_make(struct lab *lab, const struct lab_fabric *fabric)
{
	const struct source *source = &fabric->work.source;
	const bool routed = source->intent->fabric.addressing == INTENT_PER_LEAF;
	const struct fabric *own = &source->fabric;
	struct lab_netns netns;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < own->host_port_count; i++) {
		lab_fabric_netns(lab, fabric, i, &netns);
		rc = make_namespace(lab, netns.name);
		if (rc == 0)
			rc = make_port(lab, &netns, own, i);
		if (rc == 0 && routed && is_first(own, i))
			rc = make_route(&netns, &own->host_ports[i]);
	}
	if (rc == -EIO)
		fputs("weft: namespaces cannot be made; it takes root and iproute2\n", stderr);
	return rc < 0 ? EXIT_REFUSED : EXIT_DONE;
}

// Removes what stands in a list of the state and is there, as a file of `dir`.
static int remove_all(struct lab *lab, const char *list_name, const char *dir, const char *object)
{
	json_t *list = json_object_get(lab->state, list_name);
	char path[LAB_PATH_BYTES + 32];
	int rc = 0;

	for (size_t i = json_array_size(list); i-- > 0;) {
		const char *name = json_string_value(json_array_get(list, i));

		snprintf(path, sizeof(path), "%s/%.160s", dir, name);
		if (access(path, F_OK) == 0 && IP(object, "del", name) != 0)
			rc = -EIO;
		else
			json_array_remove(list, i);
	}
	return rc;
}

// Interfaces go at once; those of a namespace that goes linger for a while.
int lab_netns_remove(struct lab *lab)
{
	const int interfaces = remove_all(lab, "interfaces", "/sys/class/net", "link");
	const int namespaces = remove_all(lab, "namespaces", "/run/netns", "netns");

	return interfaces < 0 ? interfaces : namespaces;
}
