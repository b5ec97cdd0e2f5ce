// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: impairments. A later row of a port replaces an earlier one, so a row for "all" may
// stand first.

#include "dataplane/core/profile_build.h"

int build_impairments(struct build *b)
{
	for (uint32_t i = 0; i < b->config->impairment_count; i++) {
		const struct impairment_config *row = &b->config->impairment[i];
		uint32_t first, end;
		int rc = find_ports(b, row->port, row->line, "impairment", &first, &end);

		if (rc != 0)
			return rc;
		for (uint32_t n = first; n < end; n++)
			b->pf->port[n].impair = (struct impair_profile){
				.on = true,
				.loss_ppm = (uint32_t)row->loss,
				.corrupt_ppm = (uint32_t)row->corrupt,
				.limit = (uint32_t)row->limit,
				.delay_ns = row->delay,
				.jitter_ns = row->jitter,
				.pfc_delay_ns = row->pfc_delay,
				.rate = { .bps = row->rate },
			};
	}
	return 0;
}
