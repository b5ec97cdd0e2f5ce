// SPDX-License-Identifier: BSD-3-Clause
//
// The process as a service: the manager that started it (systemd) hears when every switch is ready,
// how many ports are up, and that it lives.
//
// It lives while the control thread's loop turns and every forwarding lcore answers: one that is
// stuck ends the watchdog's patience, and the manager starts the process anew.
#pragma once

#include <event2/event.h>

#include "dataplane/dpdk/worker.h"

struct service;

// Says that the switches of `workers` are ready, when $NOTIFY_SOCKET names somebody to say it to.
// NULL when memory is short; a manager that cannot be reached is logged.
struct service *service_open(struct event_base *base, struct workers *workers);

// Says that the configuration is being read anew, and that it has been. Accept NULL.
void service_reloading(struct service *service);
void service_reloaded(struct service *service);

// Says that the process ends. Accepts NULL.
void service_stopping(struct service *service);

// Accepts NULL.
void service_close(struct service *service);
