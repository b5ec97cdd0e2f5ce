// SPDX-License-Identifier: BSD-3-Clause
//
// The fabric manager as a service: the one that started it (systemd) hears when it serves, how many
// switches are there, and that it lives, which is that its event loop turns.
#pragma once

#include "fabricmgr/net/manager.h"

struct service;

// Says that it serves, when $NOTIFY_SOCKET names somebody to say it to. NULL: memory is short.
struct service *service_open(struct event_base *base, struct manager *manager);

// Says that it reads the intent anew, and that it has. Accept NULL.
void service_reloading(struct service *service);
void service_reloaded(struct service *service);

// Says that it ends. Accepts NULL.
void service_stopping(struct service *service);

// Accepts NULL.
void service_close(struct service *service);
