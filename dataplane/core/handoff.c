// SPDX-License-Identifier: BSD-3-Clause
//
// Between stages 4 and 5, when a packet's egress port belongs to another lcore: the packet crosses
// one ring, and what it held of its priority group comes back as a count.
//
// A ring can hold every packet that may be charged, so nothing is lost behind admission. Counts of
// what has left are monotonic and have one writer, the egress lcore; the owner of the group applies
// what has been added since it last looked, once per burst. There it is the same release as that of
// a packet of its own: headroom, then shared, then reserve.

#include "dataplane/core/stage.h"

void hand_off(struct sw_lcore *lc, lcore_t to, struct pkt *p)
{
	WEFT_CHECK(ring_push(&crossing_of(lc->sw, lc->id, to)->ring, p));
	lc->handed |= (uint8_t)(1u << to.v);
}

static uint32_t take_from(struct sw_lcore *lc, struct crossing *crossing, ns_t now)
{
	uint32_t left = ring_count(&crossing->ring);
	uint32_t total = left;

	while (left > 0) {
		struct pkt *pkts[SW_BURST_MAX];
		uint32_t want = left < SW_BURST_MAX ? left : SW_BURST_MAX;
		uint32_t count = ring_pop(&crossing->ring, (void **)pkts, want);

		for (uint32_t i = 0; i < count; i++)
			__builtin_prefetch(pkts[i], 1);
		for (uint32_t i = 0; i < count; i++)
			forward_here(lc, pkts[i], now);
		left -= count;
	}
	return total;
}

uint32_t sw_take(struct sw *sw, lcore_t lcore, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	uint32_t count = 0;

	if (sw->lcore_count == 1)
		return 0;
	lc->now = now;
	credit_refresh(lc);
	for (uint8_t i = 0; i < sw->lcore_count; i++) {
		if (i != lcore.v)
			count += take_from(lc, crossing_of(sw, (lcore_t){ i }, lcore), now);
	}
	return count;
}

uint32_t sw_handed(struct sw *sw, lcore_t lcore)
{
	uint32_t handed = sw->lcore[lcore.v].handed;

	sw->lcore[lcore.v].handed = 0;
	return handed;
}

bool sw_handed_waits(const struct sw *sw, lcore_t lcore)
{
	for (uint8_t i = 0; i < sw->lcore_count; i++) {
		if (i != lcore.v && ring_count(&crossing_of(sw, (lcore_t){ i }, lcore)->ring) != 0)
			return true;
	}
	return false;
}

// --- what has left ------------------------------------------------------------------------------

// A counter of one writer.
static void add64(_Atomic(uint64_t) *counter, uint64_t n)
{
	uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, value + n, memory_order_relaxed);
}

static void add32(_Atomic(uint32_t) *counter, uint32_t n)
{
	uint32_t value = atomic_load_explicit(counter, memory_order_relaxed);

	// Who sees this sees what was added before it.
	atomic_store_explicit(counter, value + n, memory_order_release);
}

void release_elsewhere(struct sw_lcore *lc, const struct pkt *p)
{
	struct released *out = released_of(lc->sw, lc->id, p->in_port);

	if (p->flags & PKT_COPY) {
		add32(&out->copies, p->descriptors);
	} else {
		add64(&out->bytes[p->pg.v], p->charge);
		add32(&out->descriptors[p->pg.v], p->descriptors);
	}
	add32(&out->packets, 1);
	add32(&crossing_of(lc->sw, lc->id, lcore_of_frame(lc->sw, p->in_port)->id)->released, 1);
}

// Copies belong to no group; those of frames without a port are kept behind the ports.
static void collect_copies(struct sw_lcore *lc, const struct released *from, struct collected *seen)
{
	uint32_t copies = atomic_load_explicit(&from->copies, memory_order_relaxed);
	uint32_t left = copies - seen->copies;

	seen->copies = copies;
	lc->copy_descriptors -= left;
	lc->descriptors_used -= left;
}

static void collect_groups(struct sw_lcore *lc, port_t port, const struct released *from,
			   struct collected *seen)
{
	for (uint8_t i = 0; i < PG_COUNT; i++) {
		uint64_t bytes = atomic_load_explicit(&from->bytes[i], memory_order_relaxed);
		uint32_t count = atomic_load_explicit(&from->descriptors[i], memory_order_relaxed);

		if (bytes == seen->bytes[i] && count == seen->descriptors[i])
			continue;
		release_group(lc, pg_profile_of(port_profile_of(lc, port), (pg_t){ i }),
			      pg_state_of(port_state_of(lc, port), (pg_t){ i }),
			      bytes - seen->bytes[i], count - seen->descriptors[i]);
		seen->bytes[i] = bytes;
		seen->descriptors[i] = count;
	}
}

static bool collect_from(struct sw_lcore *lc, lcore_t lcore, port_t port)
{
	const struct released *from = released_of(lc->sw, lcore, port);
	struct collected *seen = collected_of(lc->sw, lcore, port);
	uint32_t packets = atomic_load_explicit(&from->packets, memory_order_acquire);

	if (packets == seen->packets)
		return false;
	seen->packets = packets;
	collect_copies(lc, from, seen);
	if (port.v < lc->pf->port_count)
		collect_groups(lc, port, from, seen);
	return true;
}

bool collect_port(struct sw_lcore *lc, port_t port)
{
	bool found = false;

	for (uint8_t i = 0; i < lc->sw->lcore_count; i++) {
		if (i != lc->id.v)
			found |= collect_from(lc, (lcore_t){ i }, port);
	}
	return found;
}

static void collect_crossing(struct sw_lcore *lc, lcore_t lcore)
{
	struct crossing *crossing = crossing_of(lc->sw, lcore, lc->id);
	uint32_t released = atomic_load_explicit(&crossing->released, memory_order_acquire);

	if (released == crossing->collected)
		return;
	crossing->collected = released;
	for (uint16_t i = 0; i <= lc->pf->port_count; i++) {
		if (lcore_of_frame(lc->sw, (port_t){ i }) == lc)
			collect_from(lc, lcore, (port_t){ i });
	}
}

void collect(struct sw_lcore *lc)
{
	for (uint8_t i = 0; i < lc->sw->lcore_count; i++) {
		if (i != lc->id.v)
			collect_crossing(lc, (lcore_t){ i });
	}
}
