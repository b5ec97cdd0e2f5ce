// SPDX-License-Identifier: BSD-3-Clause
//
// Rates to the nanosecond: the emulated line rate, queue shapers, a rate-limited strict queue, and
// that neither idleness nor a pause earns anything on the line.
//
// A frame of L bytes takes L + 24 bytes of wire (FCS, preamble and gap). Frame k after a start at
// time 0 leaves at floor(k x wire bits / rate): the division's remainder is carried.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
};

#define GIGA 1000000000ull

// Departure of frame k (from 0), after a start at 0, in whole nanoseconds.
static uint64_t departure(uint64_t k, uint32_t len, uint64_t bps)
{
	return k * frame_wire_bytes(len) * 8 * GIGA / bps;
}

static struct sw_config *paced(uint64_t bps)
{
	struct sw_config *c = setup_kvm(3);

	for (uint32_t i = 0; i < 3; i++)
		c->port[i].speed = bps;
	return c;
}

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t len;
} line_rows[] = {
	{ "10G, full frames", 10 * GIGA, 1500 },
	{ "100G: fractions of a nanosecond are carried", 100 * GIGA, 777 },
	{ "400G, minimum frames: below a nanosecond apart", 400 * GIGA, 60 },
	{ "1G, jumbo", GIGA, 9114 },
	{ "a rate that divides nothing", 7777777777, 1001 },
};

// A standing queue leaves at line rate exactly, polled when the core asks for it.
TABLE_TEST(scenario, line_rate, row, line_rows)
{
	struct rig *rig = rig_new(paced(row->bps));
	struct frame f = rig_frame(SRC, DST, 3, row->len);
	ns_t start = rig->now;

	rig_send_many(rig, SRC, &f, 120);
	for (uint64_t k = 0; k < 120; k++) {
		uint64_t at = start.v + departure(k, row->len, row->bps);

		cr_assert_eq(rig_release(rig, DST, 1), 1, "%s, frame %lu", row->what, k);
		cr_assert_eq(rig->now.v, at, "%s, frame %lu", row->what, k);
		if (k == 119)
			break;
		at = u64_max(start.v + departure(k + 1, row->len, row->bps), rig->now.v);
		cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, at);
		if (at > rig->now.v) {
			rig_advance(rig, at - rig->now.v - 1);
			cr_assert_eq(rig_release(rig, DST, 1), 0, "%s, early", row->what);
			rig_advance(rig, 1);
		}
	}
	rig_end(rig);
}

// Late polls catch up while there is a queue: over 10 ms at 50 us per poll, not a frame is lost.
Test(scenario, line_rate_with_late_polls)
{
	struct rig *rig = rig_new(paced(10 * GIGA));
	struct frame f = rig_frame(SRC, DST, 8, 1500);
	uint64_t sent = 0;

	rig_send_many(rig, SRC, &f, 4300);
	for (uint64_t t = 0; t <= 5000000; t += 50000) {
		uint64_t want = 0;

		sent += rig_release(rig, DST, UINT64_MAX);
		while (departure(want, 1500, 10 * GIGA) <= t)
			want++;
		cr_assert_eq(sent, u64_min(want, f.seq), "at %lu", t);
		rig_advance(rig, 50000);
	}
	rig_end(rig);
}

// An idle line earns nothing: a burst after a second of silence leaves frame by frame.
Test(scenario, line_earns_nothing_while_idle)
{
	struct rig *rig = rig_new(paced(10 * GIGA));
	struct frame f = rig_frame(SRC, DST, 3, 1500);

	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_advance(rig, GIGA);
	rig_release(rig, DST, UINT64_MAX);
	rig_send_many(rig, SRC, &f, 20);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_advance(rig, departure(1, 1500, 10 * GIGA));
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_end(rig);
}

// Nor does a line whose only backlog is paused.
Test(scenario, line_earns_nothing_while_paused)
{
	struct rig *rig = rig_new(paced(10 * GIGA));
	struct frame f = rig_frame(SRC, DST, 3, 1500);

	rig_send_many(rig, SRC, &f, 20);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	for (uint32_t i = 0; i < 10; i++) {
		cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
		rig_advance(rig, 100000);
	}
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
	rig_send_pfc(rig, DST, 1 << 3, 0);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_advance(rig, departure(1, 1500, 10 * GIGA));
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_end(rig);
}

// Lines of the other ports do not matter.
Test(scenario, line_rates_are_independent)
{
	struct sw_config *c = paced(10 * GIGA);
	struct frame a = rig_frame(SRC, 1, 3, 1500);
	struct frame b = rig_frame(SRC, 2, 3, 1500);
	struct rig *rig;

	c->port[2].speed = GIGA;
	rig = rig_new(c);
	rig_send_many(rig, SRC, &a, 100);
	rig_send_many(rig, SRC, &b, 100);
	for (uint64_t t = 0; t < 121920; t += 1) {
		rig_release(rig, 1, 1);
		rig_release(rig, 2, 1);
		rig_advance(rig, 1);
	}
	// 1219.2 ns a frame at 10G and 12192 ns at 1G, frame 0 at time 0.
	cr_assert_eq(rig_queue(rig, 1, 3).packets, 100);
	cr_assert_eq(rig_queue(rig, 2, 3).packets, 10);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t len;
} shaper_rows[] = {
	{ "1G", GIGA, 1000 },
	{ "3G does not divide", 3 * GIGA, 1000 },
	{ "100M, minimum frames", GIGA / 10, 60 },
	{ "25G, jumbo", 25 * GIGA, 9114 },
};

// A shaped queue that was idle sends its burst of 16 KiB at once, then exactly its rate.
TABLE_TEST(scenario, shaper, row, shaper_rows)
{
	struct sw_config *c = setup_kvm(2);
	uint64_t burst = 16384 * 8 * GIGA / row->bps;
	struct frame f = rig_frame(SRC, DST, 3, row->len);
	uint64_t sent = 0;
	uint64_t want = 0;
	struct rig *rig;

	setup_scheduler(c, "slow", CONFIG_SCHEDULER_DWRR, 1)->pir = row->bps;
	setup_queue(c, "all", 1 << 3, "slow", "");
	rig = rig_new(c);
	rig_send_many(rig, SRC, &f, 150);
	for (uint64_t t = 0; sent < 150; t++) {
		sent += rig_release(rig, DST, UINT64_MAX);
		while (departure(want, row->len, row->bps) <= burst + t)
			want++;
		cr_assert_eq(sent, u64_min(want, 150), "%s at %lu", row->what, t);
		rig_advance(rig, 1);
	}
	rig_end(rig);
}

// A shaped queue that leaves a pause has no burst: what it could have sent is gone.
Test(scenario, shaper_earns_nothing_while_paused)
{
	struct sw_config *c = setup_kvm(2);
	struct frame f = rig_frame(SRC, DST, 3, 1000);
	struct rig *rig;

	setup_scheduler(c, "slow", CONFIG_SCHEDULER_DWRR, 1)->pir = GIGA;
	setup_queue(c, "all", 1 << 3, "slow", "");
	rig = rig_new(c);
	rig_send_many(rig, SRC, &f, 150);
	rig_release(rig, DST, UINT64_MAX); // the burst
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
	rig_advance(rig, 300000);
	rig_send_pfc(rig, DST, 1 << 3, 0);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_advance(rig, 8191);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
	rig_advance(rig, 1);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1);
	rig_end(rig);
}

// A rate-limited strict queue takes its rate, and the rest goes to the others (work conserving).
Test(scenario, strict_with_rate)
{
	struct sw_config *c = paced(10 * GIGA);
	struct frame high = rig_frame(SRC, DST, 4, 1226); // 1250 bytes of wire: 1 us at 10G
	struct frame low = rig_frame(SRC, DST, 3, 1226);
	struct rig *rig;

	setup_scheduler(c, "limited", CONFIG_SCHEDULER_STRICT, 1)->pir = 2 * GIGA;
	setup_queue(c, "all", 1 << 4, "limited", "");
	rig = rig_new(c);
	rig_send_many(rig, SRC, &high, 900);
	rig_send_many(rig, SRC, &low, 900);
	for (uint32_t t = 0; t < 1000; t++) {
		cr_assert_eq(rig_release(rig, DST, 1), 1, "idle at %u us", t);
		rig_advance(rig, 1000);
	}
	// 16384 bytes at once, then one in five frames: 13 + 1000 / 5, a frame more or less.
	cr_assert_geq(rig_queue(rig, DST, 4).packets, 200 + 12);
	cr_assert_leq(rig_queue(rig, DST, 4).packets, 200 + 15);
	cr_assert_eq(rig_queue(rig, DST, 3).packets + rig_queue(rig, DST, 4).packets, 1000);
	rig_end(rig);
}

// CNPs: ahead of data, at most one percent of the line beyond their burst, never marked.
Test(scenario, cnp_strict_and_capped)
{
	struct sw_config *c = paced(10 * GIGA);
	struct frame cnp = rig_frame(SRC, DST, 48, 74);
	struct frame data = rig_frame(2, DST, 3, 1226);
	struct frame first;
	struct rig *rig;
	uint64_t burst = 16384 / frame_wire_bytes(74);

	setup_wred(c, "all", 0, 0, 1000000);
	setup_queue(c, "all", 0xff, "", "all");
	rig = rig_new(c);
	cnp.opcode = 0x81;
	rig_send_many(rig, 2, &data, 1100);
	rig_send_many(rig, SRC, &cnp, 4000);
	cr_assert(rig_take_frame(rig, DST, &first));
	cr_assert_eq(first.opcode, 0x81);
	cr_assert_eq(first.ecn, 2);
	for (uint32_t t = 0; t < 1000000; t += 50) {
		rig_advance(rig, 50);
		rig_release(rig, DST, 1);
	}
	// 100 Mb/s for 1 ms are 12500 bytes.
	cr_assert_leq(rig_queue(rig, DST, 6).packets, burst + 2 + 12500 / frame_wire_bytes(74));
	cr_assert_geq(rig_queue(rig, DST, 6).packets, burst + 12500 / frame_wire_bytes(74));
	cr_assert_eq(rig_queue(rig, DST, 6).wred_ecn_marked_packets, 0);
	// Data has all the rest of the line: 1.25 MB less the CNPs.
	cr_assert_geq(rig_queue(rig, DST, 3).packets,
		      (1250000 - 12500 - 16384 - 200) / frame_wire_bytes(1226));
	rig_end(rig);
}
