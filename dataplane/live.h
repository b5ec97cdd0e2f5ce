// SPDX-License-Identifier: BSD-3-Clause
//
// Another configuration for a running switch, applied whole or not at all. Control thread only.
//
// live_prepare() builds all of it beside what is in use and finds out what is wrong with it, what
// cannot be changed while the switch runs, and what applying it would drop. live_apply() swaps:
// profile and tables change while every lcore is between two polls, then the ports follow. From
// live_prepare() to the end of the plan the event loop is not visited, so the configuration that it
// was planned against is still the one in use.
#pragma once

#include <stdio.h>

#include "dataplane/dpdk/worker.h"

struct live_plan;

// Plans to make `wanted`, written as a file would say it and copied here, the configuration of the
// switch. 0 with the plan in *out, or -errno and no plan. -EINVAL: with lines on `errors`,
// "FILE:LINE: what", where `path` is the file: what is wrong, or what needs a restart and why.
int live_prepare(struct workers *workers, struct instance *in, const struct sw_config *wanted,
		 const char *path, FILE *errors, struct live_plan **out);

// What applying it would drop as of the last look at the switch, a sentence each; 0: nothing
// lossless.
uint32_t live_drop_count(const struct live_plan *plan);
const char *live_drop(const struct live_plan *plan, uint32_t at);

// Applies it, whatever it drops with `force`. 0, and the plan is gone. -EBUSY: the switch would
// drop something now and `force` does not allow it, see live_drop(). -EINVAL: a device refuses what
// its driver allows, with a line on `errors`. Other -errno are logged. Then nothing has changed and
// the plan stays the caller's.
int live_apply(struct live_plan *plan, bool force, FILE *errors);

// Accepts NULL.
void live_discard(struct live_plan *plan);
