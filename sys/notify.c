// SPDX-License-Identifier: BSD-3-Clause
//
// sd_notify(3) on a connected datagram socket, so that the name is looked at once. A manager that
// has gone makes sends fail, one that is behind makes them fail for a while; neither is waited for
// and neither is an error of the service.

#include "sys/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// The length of `address`, or 0 when the name is not one.
static socklen_t make_address(const char *name, struct sockaddr_un *address)
{
	const size_t len = strlen(name);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((name[0] != '/' && name[0] != '@') || len < 2 || len >= sizeof(address->sun_path))
		return 0;
	memcpy(address->sun_path, name, len);
	if (name[0] == '@')
		address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

// 0 when the text is no number.
static uint64_t read_number(const char *text)
{
	char *end;
	unsigned long long value;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return 0;
	value = strtoull(text, &end, 10);
	return *end == '\0' ? value : 0;
}

int notify_open(struct notify *notify, const char *socket_name, const char *watchdog_us,
		const char *watchdog_pid, uint32_t own_pid)
{
	const uint64_t us = read_number(watchdog_us);
	struct sockaddr_un address;
	socklen_t len;
	int rc;

	*notify = (struct notify){ .fd = -1 };
	if (socket_name == NULL || socket_name[0] == '\0')
		return 0;
	len = make_address(socket_name, &address);
	if (len == 0)
		return -EINVAL;
	notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notify->fd < 0)
		return -errno;
	if (connect(notify->fd, (const struct sockaddr *)&address, len) != 0) {
		rc = -errno;
		notify_close(notify);
		return rc;
	}
	if (us < UINT64_MAX / 1000 &&
	    (watchdog_pid == NULL || read_number(watchdog_pid) == own_pid))
		notify->watchdog_ns = us * 1000;
	return 0;
}

static void tell(const struct notify *notify, const char *text)
{
	// A manager that is gone, or has no room, is nothing that the service could mend.
	if (notify->fd >= 0 &&
	    send(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

void notify_ready(struct notify *notify)
{
	tell(notify, "READY=1");
}

void notify_reloading(struct notify *notify, uint64_t monotonic_us)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)monotonic_us);
	tell(notify, text);
}

void notify_stopping(struct notify *notify)
{
	tell(notify, "STOPPING=1");
}

void notify_alive(struct notify *notify)
{
	tell(notify, "WATCHDOG=1");
}

void notify_status(struct notify *notify, const char *words)
{
	char text[NOTIFY_STATUS_BYTES + 8];

	if (notify->fd < 0 || strncmp(notify->status, words, NOTIFY_STATUS_BYTES - 1) == 0)
		return;
	snprintf(notify->status, sizeof(notify->status), "%s", words);
	for (char *c = notify->status; *c != '\0'; c++) {
		if (*c == '\n') // would begin another variable
			*c = ' ';
	}
	snprintf(text, sizeof(text), "STATUS=%s", notify->status);
	tell(notify, text);
}

void notify_close(struct notify *notify)
{
	if (notify->fd > 0)
		close(notify->fd);
	*notify = (struct notify){ .fd = -1 };
}
