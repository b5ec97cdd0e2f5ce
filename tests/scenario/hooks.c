// SPDX-License-Identifier: BSD-3-Clause
//
// The test hooks that the field's suites make queues fill with: a port whose transmission is
// disabled, queues that are not dequeued, dice that begin anew. What a hook holds back is neither
// lost nor reordered, the rest of the switch goes on, and PFC still leaves.

#include "tests/rig/oracle.h"
#include "tests/rig/storm.h"
#include "tests/table.h"

enum { SRC = 0, DST = 1, OTHER = 2, PORTS = 3, EACH = 12, LEN = 600 };

static const uint8_t classes[] = { 3, 4, 1 }; // two lossless, one lossy: DSCP, class and queue

static const struct {
	const char *what;
	uint32_t lcores;
} lcore_rows[] = { { "one lcore", 1 }, { "two lcores", 2 }, { "three lcores", 3 } };

static struct sw_config *on_lcores(struct sw_config *c, uint32_t lcores)
{
	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].lcore = i % lcores;
	return c;
}

static struct rig *rig_on(uint32_t lcores)
{
	return rig_new(on_lcores(setup_kvm(PORTS), lcores));
}

static void send_classes(struct rig *rig, uint32_t to)
{
	for (uint32_t i = 0; i < sizeof(classes); i++) {
		struct frame f = rig_frame(SRC, to, classes[i], LEN);

		f.stream = classes[i];
		rig_send_many(rig, SRC, &f, EACH);
	}
}

// Takes what leaves a port, and checks that each class goes on in order from *next. Returns how
// many frames that were.
static uint32_t take_all(struct rig *rig, uint32_t port, uint64_t next[8])
{
	struct frame f;
	uint32_t count = 0;

	for (; rig_take_frame(rig, port, &f); count++) {
		cr_assert_lt(f.stream, 8);
		cr_assert_eq(f.seq, next[f.stream], "class %u", (uint32_t)f.stream);
		next[f.stream]++;
	}
	return count;
}

TABLE_TEST(hooks, tx_disable_holds_every_queue, row, lcore_rows)
{
	struct rig *rig = rig_on(row->lcores);
	uint64_t next[8] = { 0 };
	uint64_t other[8] = { 0 };

	sw_tx_disable(rig->sw, (port_t){ DST }, true, rig->now);
	cr_assert(sw_hooks(rig->sw, (port_t){ DST }).tx_disabled);
	cr_assert_not(sw_hooks(rig->sw, (port_t){ OTHER }).tx_disabled);
	send_classes(rig, DST);
	send_classes(rig, OTHER);
	cr_assert_eq(take_all(rig, DST, next), 0);
	cr_assert_eq(take_all(rig, OTHER, other), 3 * EACH, "another port goes on");
	rig_advance(rig, 1000000000);
	cr_assert_eq(take_all(rig, DST, next), 0, "however long it takes");
	for (uint32_t i = 0; i < sizeof(classes); i++)
		cr_assert_eq(rig_queue(rig, DST, classes[i]).curr_occupancy_bytes, EACH * LEN);

	sw_tx_disable(rig->sw, (port_t){ DST }, false, rig->now);
	cr_assert_not(sw_hooks(rig->sw, (port_t){ DST }).tx_disabled);
	cr_assert_eq(take_all(rig, DST, next), 3 * EACH);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// What the hook is for: fill a lossless group to its XOFF and beyond with nothing leaving. The
// number of frames is the SAI formula's (reserve, then alpha of a pool that the group has alone),
// and the XOFF leaves a port that is itself disabled.
Test(hooks, a_disabled_port_fills_groups_and_still_sends_pfc)
{
	const uint64_t shared = KVM_POOL_BYTES - 2ull * PORTS * KVM_RESERVE_BYTES;
	const uint64_t frames = oracle_xoff_frames(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT, LEN);
	struct rig *rig = rig_on(1);
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	sw_tx_disable(rig->sw, (port_t){ SRC }, true, rig->now);
	sw_tx_disable(rig->sw, (port_t){ DST }, true, rig->now);
	rig_fill(rig, SRC, 3, &f);
	cr_assert_eq(f.seq, frames + 1);
	cr_assert_eq(rig->pfc[SRC].xoff[3], 1, "PFC does not wait for queues");
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_curr_occupancy_bytes, LEN);

	sw_tx_disable(rig->sw, (port_t){ DST }, false, rig->now);
	cr_assert_eq(rig_release(rig, DST, frames + 1), frames + 1);
	cr_assert_gt(rig->pfc[SRC].xon[3], 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint8_t first;  // disabled
	uint8_t second; // disabled as well
	uint8_t lifted; // enabled again, which some of them never needed
} queue_rows[] = {
	{ "one", 1 << 3, 0, 0 },
	{ "one after the other", 1 << 3, 1 << 4, 0 },
	{ "the first is lifted", 1 << 3, 1 << 4, 1 << 3 },
	{ "all", 0xff, 0, 0 },
	{ "all but the lossy one", 0xff, 0, 1 << 1 },
	{ "one that was not disabled is lifted", 1 << 1, 0, 1 << 4 },
};

TABLE_TEST(hooks, dequeue_disable_adds_up, row, queue_rows)
{
	const uint8_t disabled = (row->first | row->second) & (uint8_t)~row->lifted;

	for (uint32_t lcores = 1; lcores <= PORTS; lcores++) {
		struct rig *rig = rig_on(lcores);
		uint64_t next[8] = { 0 };

		send_classes(rig, DST);
		sw_dequeue_disable(rig->sw, (port_t){ DST }, row->first, true, rig->now);
		sw_dequeue_disable(rig->sw, (port_t){ DST }, row->second, true, rig->now);
		sw_dequeue_disable(rig->sw, (port_t){ DST }, row->lifted, false, rig->now);
		cr_assert_eq(sw_hooks(rig->sw, (port_t){ DST }).dequeue_disabled, disabled);
		take_all(rig, DST, next);
		for (uint32_t i = 0; i < sizeof(classes); i++)
			cr_assert_eq(next[classes[i]], disabled >> classes[i] & 1 ? 0 : EACH,
				     "%s, class %u", row->what, classes[i]);
		sw_dequeue_disable(rig->sw, (port_t){ DST }, 0xff, false, rig->now);
		take_all(rig, DST, next);
		cr_assert_eq(next[3] + next[4] + next[1], 3 * EACH, "%s", row->what);
		cr_assert_eq(rig_all_drops(rig), 0);
		rig_end(rig);
	}
}

// Orders of different origin do not lift each other.
Test(hooks, a_device_and_both_hooks)
{
	struct rig *rig = rig_on(1);
	const port_t dst = { DST };
	uint64_t next[8] = { 0 };

	send_classes(rig, DST);
	sw_tx_block(rig->sw, dst, 1 << 3);
	sw_dequeue_disable(rig->sw, dst, 1 << 3 | 1 << 4, true, rig->now);
	sw_tx_disable(rig->sw, dst, true, rig->now);
	sw_tx_block(rig->sw, dst, 0);
	cr_assert_eq(take_all(rig, DST, next), 0);
	sw_tx_disable(rig->sw, dst, false, rig->now);
	cr_assert_eq(take_all(rig, DST, next), EACH);
	cr_assert_eq(next[1], EACH, "only the lossy queue has no order left");
	sw_tx_block(rig->sw, dst, 1 << 3);
	sw_dequeue_disable(rig->sw, dst, 0xff, false, rig->now);
	cr_assert_eq(take_all(rig, DST, next), EACH);
	cr_assert_eq(next[4], EACH);
	sw_tx_block(rig->sw, dst, 0);
	cr_assert_eq(take_all(rig, DST, next), EACH);
	rig_end(rig);
}

// Attributes of a port and a queue, as in SAI: a link that goes down takes what is queued along,
// the hooks stay. So does a new profile.
Test(hooks, hooks_outlive_links_and_profiles)
{
	struct rig *rig = rig_on(1);
	uint64_t next[8] = { 0 };

	sw_dequeue_disable(rig->sw, (port_t){ DST }, 1 << 3, true, rig->now);
	sw_tx_disable(rig->sw, (port_t){ OTHER }, true, rig->now);
	send_classes(rig, DST);
	rig_link(rig, DST, false);
	cr_assert_eq(rig_drops(rig, DST, DROP_LINK_FLUSH), 3 * EACH);
	rig_link(rig, DST, true);
	rig_link(rig, OTHER, false);
	rig_link(rig, OTHER, true);
	cr_assert_eq(rig_reload(rig), 0);
	rig_mac_set(rig, frame_host_mac(DST), 1, (port_t){ DST });
	rig_mac_set(rig, frame_host_mac(OTHER), 1, (port_t){ OTHER });
	send_classes(rig, DST);
	send_classes(rig, OTHER);
	take_all(rig, DST, next);
	cr_assert_eq(next[3], 0);
	cr_assert_eq(next[4] + next[1], 2 * EACH);
	cr_assert_eq(take_all(rig, OTHER, next), 0);
	rig_end(rig);
}

// Lets `ms` pass in steps of one; returns how many storms were found.
static uint64_t storms_after(struct rig *rig, uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++)
		rig_advance(rig, STORM_MS);
	return rig->storms;
}

// A queue that is not dequeued is a storm to the watchdog, found in time on exactly that queue, and
// over in time once it is served again.
Test(hooks, the_watchdog_sees_a_disabled_queue_as_paused)
{
	struct rig *rig = rig_new(on_lcores(storm_config(PORTS, WATCHDOG_DROP), PORTS));
	uint64_t next[8] = { 0 };

	send_classes(rig, DST);
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 1 << 3, true, rig->now);
	take_all(rig, DST, next);
	cr_assert_eq(next[3], 0);
	cr_assert_eq(storms_after(rig, STORM_DETECTION), 0, "not before its time");
	cr_assert_eq(storms_after(rig, 2 * STORM_POLL + 1), 1);
	cr_assert_eq(rig->last.port.v, DST);
	cr_assert_eq(rig->last.queue.v, 3);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), EACH);
	storms_after(rig, 3 * STORM_RESTORATION);
	cr_assert_eq(rig->restores, 0, "it is still disabled");
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 1 << 3, false, rig->now);
	storms_after(rig, STORM_RESTORATION + 2 * STORM_POLL);
	cr_assert_eq(rig->restores, 1);
	cr_assert_eq(rig->storms, 1);
	rig_end(rig);
}

// The action "forward" ends pauses of the peer; an order to this switch it does not end.
Test(hooks, no_action_serves_a_disabled_queue)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_FORWARD));
	uint64_t next[8] = { 0 };

	send_classes(rig, DST);
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 1 << 3, true, rig->now);
	cr_assert_eq(storms_after(rig, STORM_DETECTION + 2 * STORM_POLL), 1);
	take_all(rig, DST, next);
	cr_assert_eq(next[3], 0);
	cr_assert_eq(next[4] + next[1], 2 * EACH);
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 1 << 3, false, rig->now);
	cr_assert_eq(take_all(rig, DST, next), EACH);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A test that fills a port takes its time: no watchdog may empty it meanwhile.
Test(hooks, the_watchdog_lets_a_disabled_port_be)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	uint64_t next[8] = { 0 };

	send_classes(rig, DST);
	sw_tx_disable(rig->sw, (port_t){ DST }, true, rig->now);
	cr_assert_eq(storms_after(rig, 10 * STORM_DETECTION), 0);
	sw_tx_disable(rig->sw, (port_t){ DST }, false, rig->now);
	cr_assert_eq(take_all(rig, DST, next), 3 * EACH);
	rig_end(rig);
}

enum { DRAWS = 400, KMIN = 20, KMAX = 400, HALF_PPM = 500000 };

// One bit per frame: has it CE? Each leaves a queue of the same length, between Kmin and Kmax.
static void draw(struct rig *rig, struct frame *f, bool ce[DRAWS])
{
	struct frame got;

	for (uint32_t i = 0; i < DRAWS; i++) {
		rig_send_many(rig, SRC, f, 1);
		cr_assert(rig_take_frame(rig, DST, &got));
		ce[i] = got.ecn == 3;
	}
}

// Marking at half probability: as many marks as the binomial law has within five deviations, and
// after the same seed the same frames, whatever was drawn before. Another seed draws others.
TABLE_TEST(hooks, a_seed_repeats_the_draws, row, lcore_rows)
{
	struct sw_config *c = on_lcores(setup_kvm(PORTS), row->lcores);
	bool first[DRAWS], again[DRAWS], other[DRAWS];
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint32_t marks = 0;
	struct rig *rig;

	setup_wred(c, "ecn", KMIN * LEN, KMAX * LEN, 2 * HALF_PPM);
	setup_queue(c, "all", 0xff, "", "ecn");
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = 0;
	rig = rig_new(c);
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 0xff, true, rig->now);
	rig_send_many(rig, SRC, &f, (KMIN + KMAX) / 2);
	while (rig_queue(rig, DST, 3).curr_occupancy_packets < f.seq)
		cr_assert_eq(rig_release(rig, DST, 1), 0); // a burst comes from the other lcore
	sw_dequeue_disable(rig->sw, (port_t){ DST }, 0xff, false, rig->now);

	for (uint8_t i = 0; i < row->lcores; i++)
		sw_seed(rig->sw, (lcore_t){ i }, 42);
	draw(rig, &f, first);
	draw(rig, &f, other);
	cr_assert_neq(memcmp(first, other, sizeof(first)), 0, "dice do not repeat by themselves");
	for (uint8_t i = 0; i < row->lcores; i++)
		sw_seed(rig->sw, (lcore_t){ i }, 42);
	draw(rig, &f, again);
	cr_assert_eq(memcmp(first, again, sizeof(first)), 0);
	for (uint8_t i = 0; i < row->lcores; i++)
		sw_seed(rig->sw, (lcore_t){ i }, 43);
	draw(rig, &f, other);
	cr_assert_neq(memcmp(first, other, sizeof(first)), 0);
	for (uint32_t i = 0; i < DRAWS; i++)
		marks += first[i];
	cr_assert_geq(marks, DRAWS / 2 - 50, "%u marks", marks); // sigma = sqrt(400 / 4) = 10
	cr_assert_leq(marks, DRAWS / 2 + 50, "%u marks", marks);
	rig_end(rig);
}
