// SPDX-License-Identifier: BSD-3-Clause
//
// A program as a service: the manager that started it (systemd) hears when it serves, how it is in
// words, and that it lives, which is that its event loop turns (sys/notify.h).
#pragma once

#include <event2/event.h>

#include "sys/notify.h"

struct service;

// How the program is, in words; asked once a second.
typedef void service_words(void *arg, char text[NOTIFY_STATUS_BYTES]);

// Says that the program serves, when $NOTIFY_SOCKET names somebody to say it to. NULL when memory
// is short; a manager that cannot be reached is logged.
struct service *service_open(struct event_base *base, service_words *words, void *arg);

// Says that the configuration is being read anew, and that it has been. Accept NULL.
void service_reloading(struct service *service);
void service_reloaded(struct service *service);

// Says that the process ends. Accepts NULL.
void service_stopping(struct service *service);

// Accepts NULL.
void service_close(struct service *service);
