// SPDX-License-Identifier: BSD-3-Clause
//
// Fetches of switches that wait: each is answered when there is a step for its switch, or with
// nothing when its time is over. One of a switch waits; it holds no more than the call.
#pragma once

#include "fabricmgr/net/manager.h"
#include "sys/rpc_server.h"

struct fabric_fetches;

// NULL: memory is short.
struct fabric_fetches *fabric_fetches_open(struct event_base *base, struct manager *manager);
// Calls that wait are gone by now. Accepts NULL.
void fabric_fetches_close(struct fabric_fetches *fetches);

// Answers the call of switch `at`, or keeps it for up to `wait_ms`. One of it that waits already is
// answered with nothing.
void fabric_fetches_add(struct fabric_fetches *fetches, uint32_t at, struct rpc_call *call,
			uint32_t wait_ms);

// The connection of a call that waits ended.
void fabric_fetches_forget(struct fabric_fetches *fetches, const struct rpc_call *call);

// Something may have changed: answers those that there is something for.
void fabric_fetches_answer(struct fabric_fetches *fetches);
