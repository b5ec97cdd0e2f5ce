// SPDX-License-Identifier: BSD-3-Clause
//
// What the core tells about a packet that a capture wants to know: why it was dropped, how long its
// queue was as it left, and who gave it CE. That every drop comes back with the reason it was
// counted by is checked at the end of each scenario (rig_end()).

#include "tests/rig/rig.h"
#include "tests/table.h"

enum { SRC = 0, DST = 1, LEN = 600, EACH = 10 };

static const uint8_t classes[] = { 3, 4, 1 }; // DSCP, class and queue

static const struct {
	const char *what;
	uint32_t burst;
} bursts[] = { { "one by one", 1 }, { "bursts", 7 }, { "all at once", SW_BURST_MAX } };

// A queue of n equal frames is n, n - 1, ... frames long as they leave, whatever leaves between
// them, and however many are asked for at once.
TABLE_TEST(captured, the_queue_as_each_packet_left, row, bursts)
{
	struct rig *rig = rig_new(setup_kvm(2));
	uint64_t left[8] = { 0 };
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t count, total = 0;

	for (uint32_t i = 0; i < sizeof(classes); i++) {
		struct frame f = rig_frame(SRC, DST, classes[i], LEN);

		rig_send_many(rig, SRC, &f, EACH);
		left[classes[i]] = EACH;
	}
	while ((count = sw_tx(rig->sw, (port_t){ DST }, pkts, row->burst, rig->now)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			const uint32_t queue = pkts[i]->queue.v;

			cr_assert_eq(sw_tx_queued(rig->sw, pkts, count, i), left[queue] * LEN, "%s",
				     row->what);
			left[queue]--;
		}
		total += count;
		rig_drain(rig);
		for (uint32_t i = 0; i < count; i++)
			rig_free(rig, pkts[i]);
	}
	cr_assert_eq(total, sizeof(classes) * EACH);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t min_bytes; // marks above: Kmin = Kmax
	uint8_t ecn;        // as it arrives
	bool enqueue;       // marked there
	bool marked;        // here
} marks[] = {
	{ "below the threshold", 10 * LEN, 1, false, false },
	{ "marked as it leaves", 1, 1, false, true },
	{ "marked as it joins", 1, 2, true, true },
	{ "had CE before", 1, 3, false, false },
	{ "not ECN-capable", 1, 0, false, false },
};

TABLE_TEST(captured, who_gave_it_ce, row, marks)
{
	struct sw_config *c = setup_kvm(2);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct rig *rig;
	struct pkt *p;

	setup_wred(c, "ecn", row->min_bytes, row->min_bytes, 1000000);
	c->wred[0].mark_at = row->enqueue;
	setup_queue(c, "all", 0xff, "", "ecn");
	rig = rig_new(c);
	f.ecn = row->ecn;
	rig_send(rig, SRC, &f);
	p = rig_take(rig, DST);
	cr_assert_not_null(p);
	cr_assert_eq((p->flags & PKT_MARKED) != 0, row->marked, "%s", row->what);
	cr_assert_eq(pkt_ecn(p), row->marked ? 3 : row->ecn, "%s", row->what);
	cr_assert_eq(rig_queue(rig, DST, 3).wred_ecn_marked_packets, row->marked);
	rig_free(rig, p);
	rig_end(rig);
}

// What is consumed comes back without a reason, what is dropped with its own: one burst of both.
Test(captured, reasons_come_back)
{
	struct rig *rig = rig_new(setup_kvm(2));
	struct frame f = rig_frame(SRC, DST, 1, LEN);

	rig_send_pfc(rig, SRC, 1 << 3, 100);
	for (uint32_t i = 0; i < DROP_REASON_COUNT; i++)
		cr_assert_eq(rig->dropped[i], 0);
	f.src = 0;
	rig_send(rig, SRC, &f);
	f = rig_frame(SRC, SRC, 1, LEN);
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig->dropped[DROP_SRC_MAC_INVALID], 1);
	cr_assert_eq(rig->dropped[DROP_SAME_PORT], 1);
	rig_end(rig);
}
