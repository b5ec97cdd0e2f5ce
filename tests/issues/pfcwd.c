// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs around PFC watchdogs: storms that flap, that nobody sees or that were none, actions
// that do nothing, and counters that do not add up. Names are those of rows.tsv, which says what
// holds instead of the bug. Poll 100 ms, detection 200 ms, restoration 400 ms.

#include "tests/issues/star.h"
#include "tests/rig/storm.h"
#include "tests/table.h"

enum { SRC = 0, DST = 1, PORTS = 3, LEN = 1000, MINUTE_MS = 60000 };

static struct frame to_dst(uint8_t dscp)
{
	return rig_frame(SRC, DST, dscp, LEN);
}

// DST stormed on the priorities of `enable`, with a frame waiting in each of its queues.
static struct rig *stormed(enum watchdog_action action, uint8_t enable, struct storm *storm)
{
	struct rig *rig = rig_new(storm_config(PORTS, action));

	storm->enable[DST] = enable;
	storm_step(rig, storm, 0);
	for (uint8_t prio = 3; prio <= 4; prio++) {
		struct frame f = to_dst(prio);

		if (enable >> prio & 1)
			rig_send_many(rig, SRC, &f, 1);
	}
	for (uint8_t prio = 3; prio <= 4; prio++) {
		if (enable >> prio & 1)
			storm_wait(rig, storm, DST, prio, true, 400);
	}
	return rig;
}

// Twenty minutes of a storm on all lossless priorities: one detection each and no restoration, with
// PFC counted all along though it is masked.
Test(pfcwd, sonic_buildimage_29203)
{
	struct storm storm = { .period_ns = 3 * STORM_MS };
	struct rig *rig = stormed(WATCHDOG_DROP, 0x18, &storm);
	uint64_t counted = rig_prio(rig, DST, 3).pfc_rx_pkts;

	for (uint32_t ms = 0; ms < 20 * MINUTE_MS; ms += 3)
		storm_step(rig, &storm, 3 * STORM_MS);
	for (uint32_t queue = 3; queue <= 4; queue++) {
		cr_assert_eq(rig_queue(rig, DST, queue).pfc_wd_deadlock_detected, 1);
		cr_assert_eq(rig_queue(rig, DST, queue).pfc_wd_deadlock_restored, 0);
		cr_assert_eq(rig_queue(rig, DST, queue).pfc_wd_status, 1);
		cr_assert_geq(rig_prio(rig, DST, queue).pfc_rx_pkts - counted, 20 * MINUTE_MS / 3);
	}
	storm_stop(rig, &storm, DST);
	for (uint32_t ms = 0; ms < 600; ms++)
		storm_step(rig, &storm, STORM_MS);
	cr_assert_eq(rig->restores, 2);
	rig_end(rig);
}

// A generator whose refresh beats its timer is seen at every phase of the polls; one that leaves
// gaps of a tenth is below the threshold at every phase, not by chance.
Test(pfcwd, sonic_mgmt_27589)
{
	for (uint32_t phase = 0; phase < 2 * STORM_POLL; phase += 7) {
		struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
		struct storm gapless = { 0 };
		struct storm gaps = { .period_ns = 3700000 }; // of a pause of 3.355 ms
		struct frame f = to_dst(3);

		storm_step(rig, &gapless, phase * STORM_MS);
		gaps.enable[DST] = 1 << 3;
		gapless.enable[DST] = 1 << 3;
		storm_step(rig, &gaps, 0);
		rig_send_many(rig, SRC, &f, 1);
		storm_step(rig, &gaps, 2000 * STORM_MS);
		cr_assert_eq(rig->storms, 0);
		storm_wait(rig, &gapless, DST, 3, true, STORM_DETECTION + STORM_POLL + 1);
		rig_end(rig);
	}
}

static uint64_t storms_of_slow_peer(uint64_t threshold_ppm)
{
	struct sw_config *c = storm_config(PORTS, WATCHDOG_DROP);
	struct storm slow = { .enable[DST] = 1 << 3, .period_ns = 3700000 };
	struct frame f = to_dst(3);
	struct rig *rig;
	uint64_t storms;

	c->sw.pfc_wd_threshold = threshold_ppm;
	rig = rig_new(c);
	storm_step(rig, &slow, 0);
	rig_send_many(rig, SRC, &f, 1);
	storm_step(rig, &slow, 1000 * STORM_MS);
	storms = rig->storms;
	rig_end(rig);
	return storms;
}

// A peer that pauses for 3.355 of 3.7 ms, 90.7 percent: no storm by default, one for whoever sets
// the threshold below that.
Test(pfcwd, sonic_mgmt_14411)
{
	cr_assert_eq(storms_of_slow_peer(990000), 0);
	cr_assert_eq(storms_of_slow_peer(920000), 0);
	cr_assert_eq(storms_of_slow_peer(890000), 1);
}

// Paused nearly all the time, and yet a frame gets out now and then: busy, not stuck.
Test(pfcwd, SONiC_1535)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { 0 };
	struct frame f = to_dst(3);
	uint64_t sent = 0;

	rig_send_many(rig, SRC, &f, 100);
	for (uint32_t i = 0; i < 100; i++) {
		// One frame time of freedom in 90 ms.
		rig_send_pfc(rig, DST, 1 << 3, 0);
		sent += rig_release(rig, DST, 1);
		storm.enable[DST] = 1 << 3;
		storm.next[DST] = rig->now;
		storm_step(rig, &storm, 90 * STORM_MS);
	}
	cr_assert_eq(sent, 100);
	cr_assert_geq(rig_prio(rig, DST, 3).rx_pause_duration_us, 100 * 90000 * 99 / 100);
	cr_assert_eq(rig->storms, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// The storm turns into a stream of XON frames of the same rate: it is over.
Test(pfcwd, sonic_swss_4581)
{
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_DROP, 1 << 3, &storm);
	uint32_t ms = 0;

	storm_stop(rig, &storm, DST);
	for (; rig->restores == 0; ms++) {
		cr_assert_leq(ms, STORM_RESTORATION + STORM_POLL + 1);
		rig_send_pfc(rig, DST, 1 << 3, 0);
		storm_step(rig, &storm, STORM_MS);
	}
	cr_assert_gt(ms, STORM_RESTORATION);
	rig_end(rig);
}

// Not one of a thousand frames passes in either direction.
Test(pfcwd, sonic_buildimage_8181)
{
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_DROP, 1 << 3, &storm);
	struct frame out = to_dst(3);
	struct frame in = rig_frame(DST, SRC, 3, LEN);

	for (uint32_t i = 0; i < 1000; i++) {
		rig_send_many(rig, SRC, &out, 1);
		rig_send_many(rig, DST, &in, 1);
		cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
		cr_assert_eq(rig_release(rig, SRC, UINT64_MAX), 0);
		storm_step(rig, &storm, STORM_MS);
	}
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), 1001);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_RX), 1000);
	rig_end(rig);
}

// What cannot be applied is refused in words: a queue that no PFC pauses, at start; a storm on a
// queue without a watchdog or a link, at once. A port without PFC is skipped and says so.
Test(pfcwd, sonic_buildimage_23623)
{
	struct sw_config *c = storm_config(PORTS, WATCHDOG_DROP);
	struct rig *rig;

	c->pfc_wd[0].queue = 1 << 5;
	cr_assert_eq(star_fault(c), FAULT_PFC_WD_QUEUE);
	c = storm_config(PORTS, WATCHDOG_DROP);
	c->pfc_wd[0].queue = 1 << 3;
	rig = rig_new(c);
	cr_assert(sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 3 }, true, rig->now));
	cr_assert(!sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 4 }, true, rig->now));
	rig_link(rig, DST, false);
	cr_assert(!sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 3 }, true, rig->now));
	rig_end(rig);
}

static void check_dropped(struct rig *rig, uint64_t last, uint64_t total)
{
	struct queue_stats q = rig_queue(rig, DST, 3);

	cr_assert_eq(q.pfc_wd_tx_dropped_packets_last, last);
	cr_assert_eq(q.pfc_wd_rx_dropped_packets_last, last);
	cr_assert_eq(q.pfc_wd_tx_dropped_packets, total);
	cr_assert_eq(q.pfc_wd_rx_dropped_packets, total);
	cr_assert_eq(q.pfc_wd_tx_packets + q.pfc_wd_rx_packets, 0);
}

// Three storms of 10, 20 and 30 frames each way: LAST is that of the newest, during it and after,
// the totals are the sums.
Test(pfcwd, sonic_buildimage_19067)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { 0 };
	struct frame out = to_dst(3);
	struct frame in = rig_frame(DST, SRC, 3, LEN);
	uint64_t total = 0;

	for (uint64_t count = 10; count <= 30; count += 10) {
		storm.enable[DST] = 1 << 3;
		storm_step(rig, &storm, 0);
		rig_send_many(rig, SRC, &out, 1); // in the queue when the storm is found
		storm_wait(rig, &storm, DST, 3, true, 400);
		rig_send_many(rig, SRC, &out, count - 1);
		rig_send_many(rig, DST, &in, count);
		total += count;
		check_dropped(rig, count, total);
		storm_stop(rig, &storm, DST);
		storm_wait(rig, &storm, DST, 3, false, 600);
		check_dropped(rig, count, total);
	}
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_detected, 3);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_restored, 3);
	rig_end(rig);
}

// The counter of the group, that of the port and that of the watchdog say the same.
Test(pfcwd, sonic_buildimage_29663)
{
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_DROP, 1 << 3, &storm);
	struct frame in = rig_frame(DST, SRC, 3, LEN);

	rig_send_many(rig, DST, &in, 123);
	cr_assert_eq(rig_pg(rig, DST, 3).dropped_packets, 123);
	cr_assert_eq(rig_pg(rig, DST, 3).packets, 0);
	cr_assert_eq(rig_port(rig, DST).in_dropped_pkts, 123);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_rx_dropped_packets, 123);
	cr_assert_eq(rig_pg(rig, SRC, 3).dropped_packets, 0);
	rig_end(rig);
}

// Frames from two ports meet at the stormed queue: they count there, at its port, and not at the
// groups and ports that they came through.
Test(pfcwd, sonic_buildimage_17434)
{
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_DROP, 1 << 3, &storm);
	struct frame a = to_dst(3);
	struct frame b = rig_frame(2, DST, 3, LEN);

	rig_send_many(rig, SRC, &a, 40);
	rig_send_many(rig, 2, &b, 60);
	cr_assert_eq(rig_queue(rig, DST, 3).dropped_packets, 101);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_tx_dropped_packets, 101);
	cr_assert_eq(rig_port(rig, DST).out_dropped_pkts, 101);
	for (uint32_t port = 0; port < PORTS; port += 2) {
		cr_assert_eq(rig_pg(rig, port, 3).dropped_packets, 0);
		cr_assert_eq(rig_port(rig, port).in_dropped_pkts, 0);
		cr_assert_eq(rig_pg(rig, port, 3).packets, port == SRC ? 41 : 60);
	}
	rig_end(rig);
}

// Before, during and after a storm: offered = sent + dropped, and none is in both.
Test(pfcwd, sonic_buildimage_21007)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { 0 };
	struct frame f = to_dst(3);
	struct queue_stats q;

	rig_send_many(rig, SRC, &f, 70);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 70);
	storm.enable[DST] = 1 << 3;
	storm_step(rig, &storm, 0);
	rig_send_many(rig, SRC, &f, 20);
	storm_wait(rig, &storm, DST, 3, true, 400);
	rig_send_many(rig, SRC, &f, 300);
	q = rig_queue(rig, DST, 3);
	cr_assert_eq(q.packets, 70);
	cr_assert_eq(q.bytes, 70 * LEN);
	cr_assert_eq(q.dropped_packets, 320);
	cr_assert_eq(q.dropped_bytes, 320 * LEN);
	storm_stop(rig, &storm, DST);
	storm_wait(rig, &storm, DST, 3, false, 600);
	rig_send_many(rig, SRC, &f, 5);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 5);
	q = rig_queue(rig, DST, 3);
	cr_assert_eq(q.packets + q.dropped_packets, f.seq);
	cr_assert_eq(rig_port(rig, DST).if_out_ucast_pkts, 75);
	rig_end(rig);
}

// Three frames of a priority each way, and all that may leave does.
static void both_ways(struct rig *rig, uint8_t prio)
{
	struct frame out = to_dst(prio);
	struct frame in = rig_frame(DST, SRC, prio, LEN);

	rig_send_many(rig, SRC, &out, 3);
	rig_send_many(rig, DST, &in, 3);
	for (uint32_t port = 0; port < PORTS; port++)
		rig_release(rig, port, UINT64_MAX);
}

// Both priorities of a port, on and off together and by turns, while both are offered enough to
// fill the pool many times: once stormed, no XOFF leaves any port.
Test(pfcwd, sonic_buildimage_9430)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { 0 };
	static const uint8_t turns[] = { 0x18, 0x08, 0x18, 0x10, 0x18 };
	uint64_t detected = 0;

	for (uint32_t t = 0; t < TABLE_COUNT(turns); t++) {
		storm.enable[DST] = turns[t];
		for (uint32_t ms = 0; ms < 1200; ms++) {
			both_ways(rig, 3);
			both_ways(rig, 4);
			storm_step(rig, &storm, STORM_MS);
		}
		storm_stop(rig, &storm, DST);
		for (uint32_t prio = 3; prio <= 4; prio++)
			storm_wait(rig, &storm, DST, prio, false, 600);
	}
	for (uint32_t queue = 3; queue <= 4; queue++)
		detected += rig_queue(rig, DST, queue).pfc_wd_deadlock_detected;
	cr_assert_eq(detected, 8);
	cr_assert_gt(rig_drops(rig, DST, DROP_PFC_WD_TX), 10000);
	for (uint32_t port = 0; port < PORTS; port++)
		cr_assert_eq(rig->pfc[port].count, 0, "port %u", port);
	rig_end(rig);
}

// Left alone PFC would go on to the sender; the storm is found in time, and the sender is free.
Test(pfcwd, sonic_buildimage_8483)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame f = to_dst(3);
	uint64_t took;

	storm_step(rig, &storm, 0);
	rig_fill(rig, SRC, 3, &f);
	cr_assert_eq(rig->pfc[SRC].xoff[3], 1);
	took = storm_wait(rig, &storm, DST, 3, true, 400);
	cr_assert_gt(took, STORM_DETECTION);
	cr_assert_leq(took, STORM_DETECTION + STORM_POLL);
	cr_assert_eq(rig->pfc[SRC].xon[3], 1);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0);
	rig_end(rig);
}

// All changes between two actions on a stormed queue, by the next frame.
Test(pfcwd, sonic_buildimage_26359)
{
	static const enum watchdog_action turns[] = {
		WATCHDOG_DROP,  WATCHDOG_FORWARD, WATCHDOG_ALERT, WATCHDOG_DROP,
		WATCHDOG_ALERT, WATCHDOG_FORWARD, WATCHDOG_DROP,
	};
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_FORWARD, 1 << 3, &storm);
	struct frame f = to_dst(3);
	uint64_t waiting = 1;

	for (uint32_t t = 0; t < TABLE_COUNT(turns); t++) {
		uint64_t dropped = rig_queue(rig, DST, 3).dropped_packets;

		rig->config->pfc_wd[0].action = turns[t];
		cr_assert_eq(rig_reload(rig), 0);
		rig_send_many(rig, SRC, &f, 10);
		waiting += 10;
		cr_assert_eq(rig_release(rig, DST, UINT64_MAX),
			     turns[t] == WATCHDOG_FORWARD ? waiting : 0);
		cr_assert_eq(rig_queue(rig, DST, 3).dropped_packets - dropped,
			     turns[t] == WATCHDOG_DROP ? waiting : 0);
		if (turns[t] != WATCHDOG_ALERT)
			waiting = 0;
		storm_step(rig, &storm, STORM_MS);
	}
	cr_assert_eq(rig->storms, 1);
	cr_assert_eq(rig->restores, 0);
	rig_end(rig);
}

// Storms and link flaps: no counter goes back, each down ends the storm, each up starts over.
Test(pfcwd, sonic_mgmt_14205)
{
	struct storm storm = { 0 };
	struct rig *rig = stormed(WATCHDOG_DROP, 1 << 3, &storm);
	struct frame f = to_dst(3);
	struct queue_stats before = rig_queue(rig, DST, 3);
	struct prio_stats pfc = rig_prio(rig, DST, 3);

	for (uint32_t flap = 1; flap <= 5; flap++) {
		struct queue_stats now;

		rig_link(rig, DST, false);
		cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 0);
		rig_advance(rig, 50 * STORM_MS);
		rig_link(rig, DST, true);
		sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(DST), 1, (port_t){ DST }, rig->now);
		storm.next[DST] = rig->now;
		storm_step(rig, &storm, 0);
		rig_send_many(rig, SRC, &f, 7);
		cr_assert_gt(storm_wait(rig, &storm, DST, 3, true, 400), STORM_DETECTION);
		now = rig_queue(rig, DST, 3);
		cr_assert_eq(now.pfc_wd_deadlock_detected, before.pfc_wd_deadlock_detected + 1);
		cr_assert_eq(now.pfc_wd_deadlock_restored, flap);
		cr_assert_eq(now.pfc_wd_tx_dropped_packets, before.pfc_wd_tx_dropped_packets + 7);
		cr_assert_gt(rig_prio(rig, DST, 3).pfc_rx_pkts, pfc.pfc_rx_pkts);
		cr_assert_gt(rig_prio(rig, DST, 3).rx_pause_duration_us, pfc.rx_pause_duration_us);
		cr_assert_eq(rig_prio(rig, DST, 3).rx_pause_transitions, flap + 1);
		before = now;
		pfc = rig_prio(rig, DST, 3);
	}
	rig_end(rig);
}
