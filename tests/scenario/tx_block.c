// SPDX-License-Identifier: BSD-3-Clause
//
// sw_tx_block(): queues whose frames the device does not take. To the scheduler that is a received
// pause, so what is required is what IEEE 802.1Q 36.1.3.3 requires of a pause: a paused queue sends
// nothing, the others send as if it were not there, and it goes on in order where it stopped.

#include "tests/rig/storm.h"
#include "tests/table.h"

enum { SRC = 0, DST = 1, EACH = 12 };

static const uint8_t classes[] = { 3, 4, 1 }; // two lossless, one lossy: DSCP, class and queue

static const struct {
	const char *what;
	uint8_t blocked;
} rows[] = {
	{ "none", 0 },
	{ "one lossless queue", 1 << 3 },
	{ "the other", 1 << 4 },
	{ "both", 1 << 3 | 1 << 4 },
	{ "a lossy one", 1 << 1 },
	{ "queues without frames", 1 << 7 | 1 << 0 },
	{ "all", 0xff },
};

static void fill(struct rig *rig)
{
	for (uint32_t i = 0; i < sizeof(classes); i++) {
		struct frame f = rig_frame(SRC, DST, classes[i], 600);

		f.stream = classes[i];
		rig_send_many(rig, SRC, &f, EACH);
	}
}

// Takes what leaves, and checks that each class goes on in order from *next.
static void take_all(struct rig *rig, const char *what, uint64_t next[8])
{
	struct frame f;

	while (rig_take_frame(rig, DST, &f)) {
		cr_assert_lt(f.stream, 8, "%s", what);
		cr_assert_eq(f.seq, next[f.stream], "%s, class %u", what, (uint32_t)f.stream);
		next[f.stream]++;
	}
}

TABLE_TEST(tx_block, blocks_exactly_these, row, rows)
{
	struct rig *rig = rig_new(setup_kvm(2));
	uint64_t next[8] = { 0 };

	fill(rig);
	sw_tx_block(rig->sw, (port_t){ DST }, row->blocked);
	take_all(rig, row->what, next);
	for (uint32_t i = 0; i < sizeof(classes); i++)
		cr_assert_eq(next[classes[i]], row->blocked >> classes[i] & 1 ? 0 : EACH,
			     "%s, class %u", row->what, classes[i]);
	sw_tx_block(rig->sw, (port_t){ DST }, 0);
	take_all(rig, row->what, next);
	for (uint32_t i = 0; i < sizeof(classes); i++)
		cr_assert_eq(next[classes[i]], EACH, "%s, class %u", row->what, classes[i]);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// The shell watches the device, so a switch with nothing else to do names no time for it.
Test(tx_block, blocked_queues_have_no_deadline)
{
	struct rig *rig = rig_new(setup_kvm(2));

	fill(rig);
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, rig->now.v);
	sw_tx_block(rig->sw, (port_t){ DST }, 1 << 3 | 1 << 4 | 1 << 1);
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, NS_NEVER.v);
	sw_tx_block(rig->sw, (port_t){ DST }, 1 << 3 | 1 << 4);
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, rig->now.v);
	rig_end(rig);
}

// The peer's pause and the device's block are one wait: the queue sends when both are over.
Test(tx_block, a_pause_and_a_block)
{
	struct rig *rig = rig_new(setup_kvm(2));
	uint64_t next[8] = { 0 };

	fill(rig);
	rig_send_pfc(rig, DST, 1 << 3, 0xffff);
	sw_tx_block(rig->sw, (port_t){ DST }, 1 << 3);
	take_all(rig, "paused and blocked", next);
	rig_send_pfc(rig, DST, 1 << 3, 0);
	take_all(rig, "blocked", next);
	cr_assert_eq(next[3], 0);
	cr_assert_eq(next[4], EACH);
	sw_tx_block(rig->sw, (port_t){ DST }, 0);
	take_all(rig, "open", next);
	cr_assert_eq(next[3], EACH);
	rig_end(rig);
}

// A link that comes back begins with nothing blocked.
Test(tx_block, ends_with_the_link)
{
	struct rig *rig = rig_new(setup_kvm(2));
	uint64_t next[8] = { 0 };

	sw_tx_block(rig->sw, (port_t){ DST }, 0xff);
	rig_link(rig, DST, false);
	rig_link(rig, DST, true);
	rig_mac_set(rig, frame_host_mac(DST), 1, (port_t){ DST });
	fill(rig);
	take_all(rig, "again up", next);
	cr_assert_eq(next[3] + next[4] + next[1], 3 * EACH);
	rig_end(rig);
}

// A device that obeys PFC itself says nothing but that it takes no frame: that is a storm when it
// lasts, found as late as one that is seen on the wire, and over when the device goes on.
Test(tx_block, the_watchdog_finds_a_device_that_is_held)
{
	struct rig *rig = rig_new(storm_config(2, WATCHDOG_DROP));
	struct frame f = rig_frame(SRC, DST, 3, 600);
	uint32_t waited = 0;

	rig_advance(rig, STORM_POLL / 3 * STORM_MS);
	rig_send_many(rig, SRC, &f, EACH);
	sw_tx_block(rig->sw, (port_t){ DST }, 1 << 3);
	while (rig->storms == 0 && waited <= STORM_DETECTION + STORM_POLL) {
		rig_advance(rig, STORM_MS);
		waited++;
	}
	cr_assert_eq(rig->storms, 1);
	cr_assert_gt(waited, STORM_DETECTION);
	cr_assert_leq(waited, STORM_DETECTION + STORM_POLL + 1);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), EACH);
	rig_advance(rig, 3 * STORM_RESTORATION * STORM_MS);
	cr_assert_eq(rig->restores, 0, "it is still held");
	sw_tx_block(rig->sw, (port_t){ DST }, 0);
	for (waited = 0; waited <= STORM_RESTORATION + STORM_POLL; waited++)
		rig_advance(rig, STORM_MS);
	cr_assert_eq(rig->restores, 1);
	rig_end(rig);
}

// A device that is only busy refuses most of the time, and takes a frame now and then.
Test(tx_block, the_watchdog_lets_a_busy_device_be)
{
	struct rig *rig = rig_new(storm_config(2, WATCHDOG_DROP));
	struct frame f = rig_frame(SRC, DST, 3, 600);
	const uint32_t steps = 10 * STORM_DETECTION / (STORM_POLL / 2);

	rig_send_many(rig, SRC, &f, steps + 1);
	for (uint32_t i = 0; i < steps; i++) {
		sw_tx_block(rig->sw, (port_t){ DST }, 1 << 3);
		rig_advance(rig, STORM_POLL / 2 * STORM_MS);
		sw_tx_block(rig->sw, (port_t){ DST }, 0);
		cr_assert_eq(rig_release(rig, DST, 1), 1);
	}
	cr_assert_eq(rig->storms, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}
