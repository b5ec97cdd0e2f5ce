// SPDX-License-Identifier: BSD-3-Clause
//
// Congestion notification packets with the field's own maps (AZURE), which put their class into
// group 0 with all best effort: while that has taken both pools, the 4 KiB kept for CNPs at ingress
// and at egress are still there, and nothing of theirs is lost up to the rate of their queue. What
// is beyond it has reasons of its own.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	HOG = 2,
	PORTS = 3,
	RESERVE = 4096,
	CNP_LEN = 74,
	CNP_PG = 6, // groups 0, 3, 4 and 7 are those of the map
	CNP_QUEUE = 6,
	FILL_FRAMES = 20000, // more than any buffer here holds
};

static struct sw_config *greedy(uint64_t reserve)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *hogs[] = { setup_find_profile(c, KVM_PG_LOSSY),
						 setup_find_profile(c, KVM_QUEUE_LOSSY) };

	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].cnp_reserve = reserve;
	for (uint32_t i = 0; i < 2; i++) {
		hogs[i]->dynamic_th = CONFIG_UNSET_INT;
		hogs[i]->static_th = 0;
		hogs[i]->size = 0;
	}
	return c;
}

// Class 1 of the map, until neither a large nor a small frame fits.
static void fill_pools(struct rig *rig)
{
	struct frame hog = rig_frame(HOG, DST, 0, 1000);

	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) == 0; i++)
		rig_send_many(rig, HOG, &hog, 1);
	hog.len = 60;
	hog.kind = FRAME_UDP;
	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) < 2; i++)
		rig_send_many(rig, HOG, &hog, 1);
	cr_assert_eq(rig_all_drops(rig), 2);
}

static const struct {
	const char *what;
	uint64_t reserve;
	uint64_t admitted; // CNPs in full pools
	uint32_t pg;       // where they are
} azure_rows[] = {
	{ "a group of their own, with the reserve", RESERVE, RESERVE / CNP_LEN, CNP_PG },
	{ "without a reserve, in group 0 like the rest", 0, 0, 0 },
};

TABLE_TEST(scenario, cnp_azure, row, azure_rows)
{
	struct rig *rig = rig_new(greedy(row->reserve));
	struct frame cnp = rig_frame(SRC, DST, 48, CNP_LEN);

	fill_pools(rig);
	cnp.opcode = BTH_OPCODE_CNP;
	rig_send_many(rig, SRC, &cnp, row->admitted);
	cr_assert_eq(rig_all_drops(rig), 2, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, row->pg).packets, row->admitted, "%s", row->what);
	cr_assert_eq(rig_queue(rig, DST, CNP_QUEUE).packets, 0);
	rig_send_many(rig, SRC, &cnp, 1);
	cr_assert_eq(rig_all_drops(rig), 3, "%s", row->what);
	// Strict, and within what a capped queue may send at once: they are the first to leave.
	for (uint64_t i = 0; i < row->admitted; i++) {
		struct frame got;

		cr_assert(rig_take_frame(rig, DST, &got));
		cr_assert_eq(got.opcode, BTH_OPCODE_CNP, "%s", row->what);
	}
	rig_end(rig);
}

// A packet of the same class that is no CNP stays in the group that the map names.
Test(scenario, cnp_class_is_not_cnp)
{
	struct rig *rig = rig_new(greedy(RESERVE));
	struct frame f = rig_frame(SRC, DST, 48, 200);

	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig_pg(rig, SRC, 0).packets, 1);
	cr_assert_eq(rig_pg(rig, SRC, CNP_PG).packets, 0);
	cr_assert_eq(rig_queue(rig, DST, CNP_QUEUE).curr_occupancy_packets, 1);
	rig_end(rig);
}

#define GIGA 1000000000ull

enum {
	LINE_GBPS = 10,
	STEP_NS = 1000,
	STEPS = 20000,
	HOGS_PER_STEP = 3,         // of at least 1000 bytes: twice what the line takes
	SMALL_HOGS_PER_STEP = 20,  // of 60 bytes: likewise
	BURST_BYTES = 16384,       // that a shaped queue may send at once
	FEW_DESCRIPTORS = 1 << 14, // of which hogs take all that bytes leave them
};

static const struct {
	const char *what;
	uint64_t cnp_rate;  // the knob
	uint64_t rate;      // of the cap that it stands for, by its documentation
	uint64_t percent;   // of that, of CNPs
	uint32_t hog_bytes; // of a frame of best effort
} rate_rows[] = {
	{ "one percent of the line", 0, 100000000, 100, 1000 },
	{ "a rate of its own", 20000000, 20000000, 100, 1000 },
	{ "small frames have taken the descriptors", 0, 100000000, 100, 60 },
	{ "half of the rate", 0, 100000000, 50, 1000 },
	{ "twice the rate", 0, 100000000, 200, 1000 },
	{ "ten times a rate of its own", 20000000, 20000000, 1000, 1000 },
};

// What left the port in one step, by kind. A CNP leaves as it came, whatever the thresholds.
static uint64_t take_cnps(struct rig *rig)
{
	struct frame got;
	uint64_t cnps = 0;

	while (rig_take_frame(rig, DST, &got)) {
		if (got.opcode != BTH_OPCODE_CNP)
			continue;
		cr_assert_eq(got.ecn, 2, "a CNP was marked");
		cnps++;
	}
	return cnps;
}

static struct sw_config *saturated(uint64_t cnp_rate, uint32_t hog_bytes)
{
	struct sw_config *c = greedy(RESERVE);

	for (uint32_t i = 0; i < PORTS; i++) {
		c->port[i].speed = LINE_GBPS * GIGA;
		c->port[i].cnp_rate = cnp_rate;
	}
	if (hog_bytes == 60)
		c->sw.descriptors = FEW_DESCRIPTORS;
	setup_wred(c, "all", 0, 0, 1000000);
	setup_queue(c, "all", 0xff, "", "all");
	return c;
}

// CNPs at a constant rate for 20 ms, while best effort offers twice the line and so keeps pools, or
// descriptors, exhausted: up to the rate of their queue none is lost. Beyond it the queue sends its
// rate, and the rest is counted as what it is.
TABLE_TEST(scenario, cnp_rate, row, rate_rows)
{
	const uint64_t bits = frame_wire_bytes(CNP_LEN) * 8;
	const uint64_t bps = row->rate * row->percent / 100;
	const uint64_t allowed = row->rate * STEPS * STEP_NS / GIGA / bits;
	struct rig *rig = rig_new(saturated(row->cnp_rate, row->hog_bytes));
	struct frame cnp = rig_frame(SRC, DST, 48, CNP_LEN);
	struct frame hog = rig_frame(HOG, DST, 0, row->hog_bytes);
	uint64_t got = 0;
	uint64_t lost;

	cnp.opcode = BTH_OPCODE_CNP;
	if (row->hog_bytes == 60)
		hog.kind = FRAME_UDP;
	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) == 0; i++)
		rig_send_many(rig, HOG, &hog, 1);
	for (uint64_t t = 0; t < STEPS; t++) {
		const uint64_t due = bps * t * STEP_NS / GIGA / bits;

		rig_send_many(rig, HOG, &hog,
			      row->hog_bytes == 60 ? SMALL_HOGS_PER_STEP : HOGS_PER_STEP);
		rig_send_many(rig, SRC, &cnp, due - cnp.seq);
		got += take_cnps(rig);
		rig_advance(rig, STEP_NS);
	}
	lost = rig_drops(rig, SRC, DROP_CNP_PG_FULL) + rig_drops(rig, DST, DROP_CNP_QUEUE_FULL);
	cr_assert_gt(rig_port(rig, DST).ecn_marked_packets, STEPS, "data was marked");
	cr_assert_gt(rig_all_drops(rig), lost + STEPS / 2, "pools were exhausted");
	if (row->hog_bytes == 60)
		cr_assert_gt(rig_drops(rig, HOG, DROP_DESCRIPTORS), 0, "%s", row->what);
	cr_assert_eq(rig_port(rig, SRC).in_dropped_pkts, rig_drops(rig, SRC, DROP_CNP_PG_FULL));
	cr_assert_eq(cnp.seq, got + lost + rig_queue(rig, DST, CNP_QUEUE).curr_occupancy_packets);
	if (row->percent <= 100) {
		cr_assert_eq(lost, 0, "%s", row->what);
		cr_assert_leq(cnp.seq - got, 1, "%s", row->what);
	} else {
		cr_assert_geq(got, allowed, "%s", row->what);
		cr_assert_leq(got, allowed + BURST_BYTES * 8 / bits + 2, "%s", row->what);
		cr_assert_gt(lost, 0, "%s", row->what);
	}
	rig_end(rig);
}
