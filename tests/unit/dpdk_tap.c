// SPDX-License-Identifier: BSD-3-Clause
//
// The ring between an lcore and a capture: what goes in comes out whole and in order, around the
// end of the ring many times, and what does not fit is counted on its port. Expected numbers follow
// from the sizes of ring and record.

#include <string.h>

#include <rte_mbuf.h>

#include "dataplane/dpdk/pool.h"
#include "dataplane/dpdk/tap.h"
#include "tests/table.h"
#include "tests/unit/dpdk_eal.h"

enum { RING = TAP_RING_BYTES_MIN, SEGMENT = 128, PORT = 3 };

static struct {
	struct rte_mempool *pool;
	struct taps taps;
	struct tap *tap;
} bench;

static void open_tap(struct tap_filter filter)
{
	struct clock clock;

	cr_assert(unit_start_eal());
	clock_start(&clock);
	bench.pool = rte_pktmbuf_pool_create("tap", 1023, 0, sizeof(struct pkt),
					     RTE_PKTMBUF_HEADROOM + SEGMENT, SOCKET_ID_ANY);
	cr_assert_not_null(bench.pool);
	bench.tap = tap_new(&filter, &clock, RING);
	cr_assert_not_null(bench.tap);
	cr_assert(taps_add(&bench.taps, bench.tap));
}

static void close_tap(void)
{
	tap_free(bench.tap);
	unit_stop_eal();
}

// A frame of `len` bytes in as many segments as that needs; byte i is i + `first`.
static struct rte_mbuf *make(uint32_t len, uint32_t first)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(bench.pool);
	struct rte_mbuf *m = head;

	cr_assert_not_null(head);
	for (uint32_t at = 0; at < len;) {
		const uint32_t part = len - at < SEGMENT ? len - at : SEGMENT;
		uint8_t *data = (uint8_t *)rte_pktmbuf_append(head, (uint16_t)part);

		if (data == NULL) {
			m = rte_pktmbuf_alloc(bench.pool);
			cr_assert_not_null(m);
			cr_assert_eq(rte_pktmbuf_chain(head, m), 0);
			continue;
		}
		for (uint32_t i = 0; i < part; i++)
			data[i] = (uint8_t)(first + at + i);
		at += part;
	}
	return head;
}

static void receive(uint16_t port, uint32_t len, uint32_t first)
{
	struct rte_mbuf *m = make(len, first);
	struct pkt *p = pkt_from_mbuf(m);

	taps_in(&bench.taps, (port_t){ port }, &p, 1);
	rte_pktmbuf_free(m);
}

static const struct tap_filter both = {
	.kind = TAP_PORT,
	.port = { PORT },
	.in = true,
	.out = true,
	.snaplen = 1000,
};

static const struct {
	const char *what;
	uint32_t len;
	uint32_t caught;
} frames[] = {
	{ "short", 60, 60 },
	{ "one segment", SEGMENT, SEGMENT },
	{ "several", 3 * SEGMENT + 5, 3 * SEGMENT + 5 },
	{ "as long as is kept", 1000, 1000 },
	{ "longer", 1001, 1000 },
};

TABLE_TEST(tap, keeps_what_was_asked_for, row, frames)
{
	const struct tap_record *r;

	open_tap(both);
	receive(PORT + 1, row->len, 0); // of another port
	cr_assert_null(tap_peek(bench.tap));
	receive(PORT, row->len, 9);
	r = tap_peek(bench.tap);
	cr_assert_not_null(r);
	cr_assert_eq(r->len, row->len, "%s", row->what);
	cr_assert_eq(r->caught, row->caught, "%s", row->what);
	cr_assert_eq(r->what, TAP_RECEIVED);
	cr_assert_eq(r->port.v, PORT);
	for (uint32_t i = 0; i < r->caught; i++)
		cr_assert_eq(r->data[i], (uint8_t)(i + 9), "%s, byte %u", row->what, i);
	tap_pop(bench.tap, r);
	cr_assert_null(tap_peek(bench.tap));
	close_tap();
}

// Lengths from 1 to 900 in turn, read one behind the other: 40 times around the ring.
Test(tap, around_the_ring)
{
	const uint32_t count = 40 * RING / 450;
	ns_t before = { 0 };

	open_tap(both);
	for (uint32_t i = 0; i < count; i++) {
		const struct tap_record *r;

		receive(PORT, 1 + i % 900, i);
		if (i == 0)
			continue; // stays one behind
		r = tap_peek(bench.tap);
		cr_assert_not_null(r);
		cr_assert_eq(r->len, 1 + (i - 1) % 900);
		cr_assert_eq(r->data[0], (uint8_t)(i - 1));
		cr_assert_eq(r->data[r->len - 1], (uint8_t)(i - 1 + r->len - 1));
		cr_assert_geq(r->at.v, before.v);
		cr_assert_eq(r->lost, 0);
		before = r->at;
		tap_pop(bench.tap, r);
	}
	cr_assert_eq(tap_lost(bench.tap, (port_t){ PORT }), 0);
	close_tap();
}

// Equal records fill the ring to the last; the rest is lost, and the next that fits says how many.
Test(tap, a_full_ring_counts)
{
	enum { LEN = 256 - sizeof(struct tap_record), FIT = RING / 256, MORE = 17 };
	const struct tap_record *r;
	uint32_t got = 0;

	open_tap(both);
	for (uint32_t i = 0; i < FIT + MORE; i++)
		receive(PORT, LEN, i);
	cr_assert_eq(tap_lost(bench.tap, (port_t){ PORT }), MORE);
	cr_assert_eq(tap_lost(bench.tap, (port_t){ PORT + 1 }), 0);
	r = tap_peek(bench.tap);
	tap_pop(bench.tap, r);
	receive(PORT, LEN, 0);
	cr_assert_eq(tap_lost(bench.tap, (port_t){ PORT }), MORE);
	for (; (r = tap_peek(bench.tap)) != NULL; got++) {
		cr_assert_eq(r->lost, got + 1 == FIT ? MORE : 0);
		tap_pop(bench.tap, r);
	}
	cr_assert_eq(got, FIT);
	close_tap();
}

static const struct {
	const char *what;
	struct tap_filter filter;
	enum drop_reason reason;
	bool taken;
} drops[] = {
	{ "any", { TAP_DROPS, PORT_NONE, .reasons = UINT64_MAX }, DROP_ACL_DENY, true },
	{ "its port", { TAP_DROPS, { PORT }, .reasons = UINT64_MAX }, DROP_ACL_DENY, true },
	{ "egress side", { TAP_DROPS, { PORT }, .reasons = UINT64_MAX }, DROP_QUEUE_FULL, false },
	{ "that port", { TAP_DROPS, { PORT + 1 }, .reasons = UINT64_MAX }, DROP_QUEUE_FULL, true },
	{ "the reason",
	  { TAP_DROPS, PORT_NONE, .reasons = 1ull << DROP_ACL_DENY },
	  DROP_ACL_DENY,
	  true },
	{ "another reason",
	  { TAP_DROPS, PORT_NONE, .reasons = 1ull << DROP_ACL_DENY },
	  DROP_QUEUE_FULL,
	  false },
	{ "another kind", { TAP_PORT, { PORT }, .in = true, .out = true }, DROP_ACL_DENY, false },
};

// From PORT to PORT + 1.
TABLE_TEST(tap, drops, row, drops)
{
	struct tap_filter filter = row->filter;
	struct rte_mbuf *m;
	struct pkt *p;

	filter.snaplen = 100;
	open_tap(filter);
	m = make(80, 0);
	p = pkt_from_mbuf(m);
	p->in_port = (port_t){ PORT };
	p->out_port = (port_t){ PORT + 1 };
	taps_drop(&bench.taps, p, row->reason);
	cr_assert_eq(tap_peek(bench.tap) != NULL, row->taken, "%s", row->what);
	if (row->taken)
		cr_assert_eq(tap_peek(bench.tap)->reason, row->reason);
	taps_remove(&bench.taps, bench.tap);
	cr_assert_eq(bench.taps.count, 0);
	rte_pktmbuf_free(m);
	close_tap();
}
