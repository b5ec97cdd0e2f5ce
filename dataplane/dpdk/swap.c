// SPDX-License-Identifier: BSD-3-Clause
//
// What is lost is judged at the very moment of the swap, not only when it was planned: a group may
// have gone into XOFF meanwhile.

#include "dataplane/dpdk/swap.h"

#include "base/check.h"

// A line that ends is emptied by its lcore (impair_port.c).
static void start_lines(struct instance *in, const struct sw_profile *pf)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (pf->port[i].impair.on)
			in->io[i].line = &in->io[i].line_memory;
	}
}

static void replace(struct instance *in, struct swap *swap, ns_t now)
{
	if (swap->more != NULL)
		swap->more = sw_extend(in->sw, swap->profile, swap->more);
	WEFT_CHECK(sw_set_profile(in->sw, swap->profile, now) == 0);
	sw_set_tables(in->sw, swap->tables);
	start_lines(in, swap->profile);
	swap->done = true;
}

void swap_apply(const struct worker *worker, struct instance *in, struct swap *swap, ns_t now)
{
	const ns_t start = clock_now(&worker->clock);

	swap->loss_count = sw_losses(in->sw, swap->profile, swap->loss, SWAP_LOSSES_MAX);
	if (!swap->judge && (swap->force || swap->loss_count == 0))
		replace(in, swap, now);
	swap->took_ns = ns_since(clock_now(&worker->clock), start);
}
