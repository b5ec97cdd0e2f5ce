// SPDX-License-Identifier: BSD-3-Clause
//
// What the switch itself asks and answers about neighbours (ARP, ND) leaves ahead of data: the
// answer may be what a lossless backlog waits for, at the very port that it stands at.
//
// The port is slow (2 Mbit/s), its lossless queue strict, and the address behind it is forgotten
// while more is queued than leaves within solicit_time.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 3,
	SRC = 0,
	DST = 1,
	OTHER = 2,
	LEN = 1000,
	BPS = 2000000,
	STEP_NS = 1000000,
	STEPS = 600,
	HELD = 20, // frames that wait for the answer, within headroom
	LOSSLESS = 3,
	LOSSY_DSCP = 8, // of class 0
	CLASS_0_LIMIT = 10000,
	SWITCH_IP = 0x0a01ffff,
};

#define SOLICIT_NS 500000000ull

struct row {
	const char *what;
	enum config_scheduler_type type;
	uint32_t lcores;
	bool full;     // the queue of class 0, of data
	bool watchdog; // on every queue
	bool obeys;    // PFC of every priority, class 0 too
};

static const struct row rows[] = {
	{ .what = "weighted", .type = CONFIG_SCHEDULER_DWRR, .lcores = 1 },
	{ .what = "strict", .type = CONFIG_SCHEDULER_STRICT, .lcores = 1 },
	{ .what = "three lcores", .type = CONFIG_SCHEDULER_STRICT, .lcores = 3 },
	{ .what = "full", .type = CONFIG_SCHEDULER_STRICT, .lcores = 1, .full = true },
	{ .what = "full, 2 lcores", .type = CONFIG_SCHEDULER_STRICT, .lcores = 2, .full = true },
	{ .what = "watched", .type = CONFIG_SCHEDULER_STRICT, .lcores = 1, .watchdog = true },
};

static struct rig *bed(const struct row *row)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *lossy = setup_find_profile(c, KVM_QUEUE_LOSSY);

	lossy->dynamic_th = CONFIG_UNSET_INT;
	lossy->static_th = CLASS_0_LIMIT;
	c->sw.solicit_time = SOLICIT_NS;
	c->port[DST].speed = BPS;
	c->port[DST].pfc_asymmetric = row->obeys;
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].lcore = i % row->lcores;
	setup_scheduler(c, "lossless", row->type, 1);
	setup_queue(c, "all", 1 << LOSSLESS, "lossless", "");
	if (row->watchdog)
		setup_pfc_wd(c, "all", WATCHDOG_DROP);
	return rig_new(c);
}

// A backlog that takes longer than the switch asks, and in the end none of its address is known.
static void load(struct rig *rig, const struct row *row, struct frame *f)
{
	struct frame lossy = rig_frame(OTHER, DST, LOSSY_DSCP, LEN);

	rig_fill(rig, SRC, LOSSLESS, f);
	rig_advance(rig, 0); // other lcores take what is theirs
	cr_assert_gt(rig_queue(rig, DST, LOSSLESS).curr_occupancy_bytes * 8 * 1000000000 / BPS,
		     SOLICIT_NS);
	if (row->full) {
		rig_send_many(rig, OTHER, &lossy, 2 * CLASS_0_LIMIT / LEN);
		rig_advance(rig, 0);
		cr_assert_gt(rig_drops(rig, DST, DROP_QUEUE_FULL), 0, "%s", row->what);
	}
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 1); // the line is busy
	for (uint8_t i = 0; i < row->lcores; i++)
		sw_mac_forget(rig->sw, (lcore_t){ i }, f->dst, 1, (port_t){ DST });
	rig_send_many(rig, SRC, f, HELD);
	cr_assert_eq(rig->solicits, 1, "%s", row->what);
}

static const struct frame reply = {
	.kind = FRAME_ARP_REPLY,
	.src = 0x02ffff000001,
	.src_ip = SWITCH_IP,
	.dst = 0x02ffff000001,
	.dst_ip = SWITCH_IP,
};

struct heard {
	uint64_t asked;  // questions
	uint64_t before; // frames that left before the first
};

// The host at DST gets a frame, and answers if that is a question.
static void hear(struct rig *rig, const struct frame *got, struct heard *heard)
{
	struct frame answer = reply;

	if (got->kind != FRAME_ARP_REQUEST) {
		heard->before += heard->asked == 0;
		return;
	}
	heard->asked++;
	cr_assert_eq(got->dst_ip, frame_host_ip(DST));
	answer.src = frame_host_mac(DST);
	answer.src_ip = frame_host_ip(DST);
	rig_send(rig, DST, &answer);
}

// What leaves in more time than solicit_time.
static struct heard run(struct rig *rig)
{
	struct heard heard = { 0 };
	struct frame got;

	for (uint32_t i = 0; i < STEPS; i++) {
		rig_advance(rig, STEP_NS);
		while (rig_take_frame(rig, DST, &got))
			hear(rig, &got, &heard);
	}
	return heard;
}

TABLE_TEST(questions, leave_ahead_of_the_backlog, row, rows)
{
	struct rig *rig = bed(row);
	struct frame f = rig_frame(SRC, DST, LOSSLESS, LEN);
	const bool strict = row->type == CONFIG_SCHEDULER_STRICT;
	struct heard heard;

	load(rig, row, &f);
	heard = run(rig);
	cr_assert_eq(rig_drops(rig, SRC, DROP_UNKNOWN_LOSSLESS), 0, "%s", row->what);
	cr_assert_eq(rig->solicits, 1, "%s: asked %lu times", row->what, rig->solicits);
	cr_assert_eq(heard.asked, 1, "%s", row->what);
	cr_assert(!strict || heard.before == 0, "%s: behind %lu frames", row->what, heard.before);
	rig_end(rig);
}

// In their order, past the backlog of their own class; other frames of the switch are data, and so
// is the ARP of hosts.
Test(questions, answers_go_ahead_data_does_not)
{
	struct rig *rig = bed(&rows[1]);
	struct frame lossy = rig_frame(SRC, DST, LOSSY_DSCP, LEN);
	struct frame theirs = { .kind = FRAME_ARP_REQUEST,
				.dst = 0xffffffffffff,
				.src = frame_host_mac(OTHER),
				.src_ip = frame_host_ip(OTHER) };
	static const uint32_t order[] = { 11, 12, 0, 1, 2 };
	struct frame got;

	rig_send_many(rig, SRC, &lossy, 2);
	rig_send(rig, OTHER, &theirs);
	for (uint32_t i = 0; i < 2; i++) {
		struct frame ours = reply;

		ours.dst_ip = 11 + i;
		sw_send(rig->sw, rig_build(rig, &ours), (port_t){ DST }, 1, rig->now);
		rig_drain(rig);
	}
	lossy.seq = 2;
	sw_send(rig->sw, rig_build(rig, &lossy), (port_t){ DST }, 1, rig->now);
	rig_drain(rig);
	for (uint32_t i = 0; i < 6; i++) {
		cr_assert_lt(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, NS_NEVER.v);
		rig_advance(rig, 10 * STEP_NS);
		cr_assert(rig_take_frame(rig, DST, &got), "frame %u", i);
		if (i < 2)
			cr_assert_eq(got.dst_ip, order[i]);
		else if (i == 4)
			cr_assert_eq(got.kind, FRAME_ARP_REQUEST);
		else
			cr_assert_eq(got.seq, i == 5 ? 2 : order[i]);
	}
	rig_end(rig);
}

// A pause of their class holds them as everything else of it.
Test(questions, obey_a_pause)
{
	struct rig *rig = bed(&(const struct row){ .lcores = 1, .obeys = true });
	struct frame got;

	rig_send_pfc(rig, DST, 1 << 0, 65535);
	sw_send(rig->sw, rig_build(rig, &reply), (port_t){ DST }, 1, rig->now);
	rig_advance(rig, STEP_NS);
	cr_assert(!rig_take_frame(rig, DST, &got));
	rig_send_pfc(rig, DST, 1 << 0, 0);
	rig_advance(rig, STEP_NS);
	cr_assert(rig_take_frame(rig, DST, &got));
	cr_assert_eq(got.kind, FRAME_ARP_REPLY);
	rig_end(rig);
}

// Orders that nothing leaves hold them, too, and a lost link takes them with the rest.
Test(questions, wait_for_the_port)
{
	struct rig *rig = bed(&rows[1]);
	struct frame got;

	sw_tx_disable(rig->sw, (port_t){ DST }, true, rig->now);
	sw_send(rig->sw, rig_build(rig, &reply), (port_t){ DST }, 1, rig->now);
	cr_assert(!rig_take_frame(rig, DST, &got));
	rig_link(rig, DST, false);
	cr_assert_eq(rig->dropped[DROP_LINK_FLUSH], 1);
	sw_send(rig->sw, rig_build(rig, &reply), (port_t){ DST }, 1, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig->dropped[DROP_EGRESS_DOWN], 1);
	rig_link(rig, DST, true);
	sw_send(rig->sw, rig_build(rig, &reply), (port_t){ DST }, 1, rig->now);
	cr_assert(!rig_take_frame(rig, DST, &got));
	sw_tx_disable(rig->sw, (port_t){ DST }, false, rig->now);
	cr_assert(rig_take_frame(rig, DST, &got));
	cr_assert_eq(got.kind, FRAME_ARP_REPLY);
	rig_end(rig);
}
