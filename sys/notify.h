// SPDX-License-Identifier: BSD-3-Clause
//
// Tells a service manager how it goes, as sd_notify(3) describes: datagrams of VARIABLE=VALUE lines
// to a unix socket whose name the manager gives in $NOTIFY_SOCKET.
//
// Without a manager every call does nothing. A datagram that it has no room for is lost rather than
// waited for: the caller is an event loop.
#pragma once

#include "base/types.h"

enum { NOTIFY_STATUS_BYTES = 160 };

struct notify {
	int fd;                           // -1: nobody listens
	uint64_t watchdog_ns;             // it wants to hear notify_alive() this often, 0: never
	char status[NOTIFY_STATUS_BYTES]; // as it knows it
};

// `socket`, `watchdog_us` and `watchdog_pid` are $NOTIFY_SOCKET (an absolute path, or an abstract
// name behind "@"), $WATCHDOG_USEC and $WATCHDOG_PID, each NULL when unset. A watchdog that is set
// for another process than `own_pid` is none. 0, or -errno: then `notify` does nothing.
int notify_open(struct notify *notify, const char *socket, const char *watchdog_us,
		const char *watchdog_pid, uint32_t own_pid);

// The service does its work. Again after notify_reloading(), when it does so once more.
void notify_ready(struct notify *notify);

// It reads its configuration anew; `monotonic_us` is CLOCK_MONOTONIC now.
void notify_reloading(struct notify *notify, uint64_t monotonic_us);

// It ends.
void notify_stopping(struct notify *notify);

// It is alive: call at most half of watchdog_ns after the last time.
void notify_alive(struct notify *notify);

// How it is, in words; sent when they differ from the last ones.
void notify_status(struct notify *notify, const char *words);

// Accepts one that was never opened but is zero.
void notify_close(struct notify *notify);
