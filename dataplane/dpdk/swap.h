// SPDX-License-Identifier: BSD-3-Clause
//
// Another profile and other tables for a running switch, in one step: by the first lcore, while the
// others are between two polls. What they replace nobody looks at any more afterwards.
#pragma once

#include "dataplane/core/losses.h"
#include "dataplane/dpdk/worker.h"

enum { SWAP_LOSSES_MAX = 32 };

struct swap {
	const struct sw_profile *profile;
	const struct sw_tables *tables; // NULL: a plain bridge
	void *more; // memory that sw_more_bytes() asks for; then what is no longer used, or NULL
	bool judge; // change nothing
	bool force; // whatever is lost
	// answer
	bool done;
	uint32_t loss_count;
	struct sw_loss loss[SWAP_LOSSES_MAX];
	uint64_t took_ns; // on the first lcore, once the others were parked
};

// lcore: replaces, unless something would be lost and `force` does not say so.
void swap_apply(const struct worker *worker, struct instance *in, struct swap *swap, ns_t now);
