// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: lossless from end to end. A lossless class needs headroom at ingress that takes at
// least a frame, a priority that announces its XOFF long enough, and at every egress a queue that
// nothing can make drop and that the peer's pause stops; a configuration that lacks one of them
// would lose packets under load and is refused now.

#include "dataplane/core/profile_build.h"

// Priorities in pfc_enable stand for lossless groups, and each lossless group has one (a `hold`
// port announces nothing).
static int check_priorities(struct build *b, uint32_t n)
{
	const struct port_config *row = &b->config->port[n];
	const struct port_profile *port = &b->pf->port[n];
	uint8_t announced = 0;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (!(row->pfc_enable >> prio & 1))
			continue;
		if (!port->pg[port->prio_to_pg[prio]].lossless)
			return build_fail(b, FAULT_PFC_NOT_LOSSLESS, row->line, port->name, "",
					  prio, 0);
		announced |= (uint8_t)(1u << port->prio_to_pg[prio]);
	}
	for (uint32_t pg = 0; pg < PG_COUNT; pg++) {
		if (port->pg[pg].lossless && !port->hold && !(announced >> pg & 1))
			return build_fail(b, FAULT_LOSSLESS_NO_PFC, row->line, port->name, "", pg,
					  0);
	}
	return 0;
}

// The frame that does not fit under the limit goes to headroom whole, before any pause can work.
static int check_headroom(struct build *b, uint32_t n)
{
	static const char number[PG_COUNT][2] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	const struct port_profile *port = &b->pf->port[n];
	const uint64_t cell = b->pf->cell_bytes;
	const uint64_t need = (port->max_frame_bytes + TAG_BYTES + cell - 1) / cell * cell;

	for (uint32_t i = 0; i < PG_COUNT; i++) {
		if (port->pg[i].lossless && port->pg[i].headroom_bytes < need)
			return build_fail(b, FAULT_HEADROOM_SMALL, b->config->port[n].line,
					  port->name, number[i], port->pg[i].headroom_bytes, need);
	}
	return 0;
}

static int check_pause(struct build *b, uint32_t n)
{
	const struct port_profile *port = &b->pf->port[n];
	uint64_t pause_ns = pfc_quanta_ns(port->gen.quanta, port->rx.bps);

	if (port->gen.enable == 0 || pause_ns >= PROFILE_PAUSE_MIN_NS)
		return 0;
	return build_fail(b, FAULT_PAUSE_SHORT, b->config->port[n].line, port->name, "", pause_ns,
			  PROFILE_PAUSE_MIN_NS);
}

static bool is_lossless(const struct port_profile *port, uint32_t tc)
{
	return port->pg[port->tc_to_pg[tc]].lossless;
}

// Which classes are lossless on some port: any port may send to any other.
static uint8_t lossless_classes(const struct sw_profile *pf)
{
	uint8_t classes = 0;

	for (uint32_t n = 0; n < pf->port_count; n++) {
		for (uint32_t tc = 0; tc < TC_COUNT; tc++)
			classes |= (uint8_t)(is_lossless(&pf->port[n], tc) << tc);
	}
	return classes;
}

// Size of the largest pool that the lossless groups of a port charge.
static uint64_t lossless_pool_bytes(const struct sw_profile *pf, const struct port_profile *port)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < PG_COUNT; i++) {
		if (port->pg[i].lossless)
			bytes = u64_max(bytes, pf->pool[port->pg[i].pool].size_bytes);
	}
	return bytes;
}

// The queue of a lossless class takes all that ingress admits, and lossless classes alone.
static int check_queue(struct build *b, uint32_t n, uint32_t tc, uint8_t classes,
		       uint64_t pool_bytes)
{
	const struct port_profile *port = &b->pf->port[n];
	const uint8_t queue = port->tc_to_queue[tc];
	const struct threshold *th = &port->queue[queue].limit;
	const uint32_t line = b->config->port[n].line;

	if (th->dynamic ? th->alpha_log2 < 7 : th->static_bytes < pool_bytes)
		return build_fail(b, FAULT_LOSSLESS_EGRESS, line, port->name, "", queue,
				  th->dynamic ? 0 : th->static_bytes);
	for (uint32_t other = 0; other < TC_COUNT; other++) {
		if (port->tc_to_queue[other] == queue && !(classes >> other & 1))
			return build_fail(b, FAULT_MIXED_CLASS, line, port->name, "", tc, other);
	}
	return 0;
}

// Priorities by which a port announces class `tc`, as its peer, being built alike, announces it.
static uint8_t announced_priorities(const struct port_profile *port, uint32_t tc)
{
	uint8_t priorities = 0;

	if (!is_lossless(port, tc))
		return 0;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (port->prio_to_pg[i] == port->tc_to_pg[tc])
			priorities |= (uint8_t)(1u << i);
	}
	return priorities & (port->gen.enable | port->held.enable);
}

// Priorities that may come from the peer of port `n` for class `tc`: those of the port itself; if
// the class is lossy there, those of the others; if no port announces it (all hold), any.
static uint8_t expected_priorities(const struct sw_profile *pf, uint32_t n, uint32_t tc)
{
	uint8_t priorities = announced_priorities(&pf->port[n], tc);

	if (priorities != 0)
		return priorities;
	for (uint32_t i = 0; i < pf->port_count; i++)
		priorities |= announced_priorities(&pf->port[i], tc);
	return priorities != 0 ? priorities : 0xff;
}

// A lossless class that leaves here waits when the peer says so. Of several priorities one is
// enough: a peer whose group is full sends all that stand for it.
static int check_obeyed(struct build *b, uint32_t n, uint32_t tc)
{
	const struct port_profile *port = &b->pf->port[n];
	const uint8_t queue = port->tc_to_queue[tc];
	uint8_t priorities = expected_priorities(b->pf, n, tc) & port->rx.obey;

	if (port->hold)
		return 0; // its peer sends no pauses
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if ((priorities >> i & 1) && port->prio_to_queue[i] == queue)
			return 0;
	}
	return build_fail(b, FAULT_LOSSLESS_NOT_OBEYED, b->config->port[n].line, port->name, "", tc,
			  queue);
}

static int check_egress(struct build *b, uint32_t n, uint8_t classes, uint64_t pool_bytes)
{
	int rc = 0;

	for (uint32_t tc = 0; rc == 0 && tc < TC_COUNT; tc++) {
		if (!(classes >> tc & 1))
			continue;
		rc = check_queue(b, n, tc, classes, pool_bytes);
		if (rc == 0)
			rc = check_obeyed(b, n, tc);
	}
	return rc;
}

int check_lossless(struct build *b)
{
	const uint8_t classes = lossless_classes(b->pf);
	uint64_t pool_bytes = 0;
	int rc = 0;

	for (uint32_t n = 0; n < b->pf->port_count; n++)
		pool_bytes = u64_max(pool_bytes, lossless_pool_bytes(b->pf, &b->pf->port[n]));
	for (uint32_t n = 0; rc == 0 && n < b->pf->port_count; n++) {
		rc = check_priorities(b, n);
		if (rc == 0)
			rc = check_headroom(b, n);
		if (rc == 0)
			rc = check_pause(b, n);
		if (rc == 0)
			rc = check_egress(b, n, classes, pool_bytes);
	}
	return rc;
}
