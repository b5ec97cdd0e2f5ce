// SPDX-License-Identifier: BSD-3-Clause
//
// Health of the fabric that a manager leads: takes what switches report, keeps seconds, writes
// alarms into the journal, and answers who asks: /metrics, and under /v1/fabric/ counters, health,
// alarms and history. What a hostile switch reports changes its own numbers and nothing else.
//
// Another intent begins it anew, history and all: its ports are others. Switches are then asked to
// tell all of their counters again, as they are when one's counters make no sense.
#pragma once

#include "fabricmgr/core/health.h"
#include "fabricmgr/net/manager.h"
#include "fabricmgr/net/northbound.h"

struct rpc_report;
struct health_feed;

// `limits` are those of all alarms. NULL after a line in the log. The manager outlives it.
struct health_feed *health_feed_open(struct event_base *base, struct manager *manager,
				     const struct alarm_limits limits[ALARM_COUNT]);
void health_feed_close(struct health_feed *feed); // accepts NULL

// A report of switch `at`, of its current run. True: it is to tell all of its counters again.
bool health_feed_report(void *feed, uint32_t at, const struct rpc_report *report);

// Called by its timer.
void health_feed_second(struct health_feed *feed);

// Answers at the northbound's servers, which end before the feed does.
void health_feed_serve(struct health_feed *feed, struct northbound *nb);
