// SPDX-License-Identifier: BSD-3-Clause
//
// Before stage 1, on ports with an impairment: frames from the driver go through the port's line
// (dataplane/core/impair.h) and reach the core when they have come to its end. What the line loses
// is freed here; the line counts it.

#include "dataplane/dpdk/pktio.h"

static void free_all(struct pkt *const *pkts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		rte_pktmbuf_free(mbuf_of_pkt(pkts[i]));
}

uint32_t pktio_impair(struct pktio *io, struct pkt **pkts, uint32_t count, ns_t now)
{
	const struct impair_profile *pf = &sw_profile_of(io->sw)->port[io->port.v].impair;

	free_all(pkts, impair_take(pf, io->line, pkts, count, now));
	count = impair_give(io->line, pkts, PKTIO_BURST, now);
	if (!pf->on && io->line->held == 0)
		io->line = NULL;
	return count;
}

void pktio_clear_line(struct pktio *io)
{
	struct pkt *pkts[PKTIO_BURST];
	uint32_t count;

	if (io->line == NULL)
		return;
	while ((count = impair_clear(io->line, pkts, PKTIO_BURST)) > 0)
		free_all(pkts, count);
}
