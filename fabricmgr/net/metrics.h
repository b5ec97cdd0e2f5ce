// SPDX-License-Identifier: BSD-3-Clause
//
// What Prometheus reads of a fabric, text format 0.0.4: the counters of every switch under the
// names that the switch itself gives them, with the label switch="NAME"; their sums over the fabric
// as weft_fabric_...; histograms of queues and plans; and the manager's own state.
//
// A scrape is bounded: priorities, groups and queues that nothing was ever in are left out, as are
// reasons for which nothing was dropped, and ports altogether when there are more than
// METRICS_PORTS_MAX; then a scrape asks for one switch (/metrics?switch=NAME) at a time.
#pragma once

#include <event2/buffer.h>

#include "fabricmgr/core/health.h"
#include "fabricmgr/net/manager.h"

enum { METRICS_PORTS_MAX = 512 };

// How long plans took, from the event to a verified plan.
struct metrics_plans {
	struct health_histogram histogram; // limits of health_delay_limits
	uint64_t number;                   // of the last one that was counted
};

// Looks whether there is a plan that was not counted.
void metrics_count_plan(struct metrics_plans *plans, const struct manager_plan *plan);

struct metrics_source {
	const struct health *health;
	const struct manager_view *view;
	const struct metrics_plans *plans;
	uint32_t only; // this switch and nothing else; FABRIC_NONE: all
};

// 0, or -ENOMEM: what is in `out` is not whole.
int metrics_write(const struct metrics_source *source, struct evbuffer *out);
