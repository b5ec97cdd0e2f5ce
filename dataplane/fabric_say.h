// SPDX-License-Identifier: BSD-3-Clause
//
// What a managed switch says to its manager, as messages of schema/fabric.rpc, from what its
// follower knows. Strings are borrowed: the messages are sent before anything changes.
#pragma once

#include "dataplane/fabric_events.h"
#include "dataplane/follower.h"

struct rpc_hello;
struct rpc_fetch;
struct rpc_ack;
struct rpc_report;

enum { FABRIC_EVENTS_MAX = 128 }; // of one report

struct rpc_hello fabric_say_hello(const struct follower *f, const char *name);
struct rpc_fetch fabric_say_fetch(const struct follower *f);
struct rpc_ack fabric_say_ack(const struct follower *f, const char *reason);

// With as many events as there are, FABRIC_EVENTS_MAX at most; rpc_report_clear() is the caller's.
struct rpc_report fabric_say_report(const struct follower *f, const struct fabric_events *events);
