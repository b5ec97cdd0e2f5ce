// SPDX-License-Identifier: BSD-3-Clause
//
// The PFC watchdog on a switch: its actions in both directions of exactly one port and queue, what
// stays untouched beside them, and counters that add up. pfcwd_time.c has how long things take.
//
// Poll 100 ms, detection 200 ms, restoration 400 ms; ports at 10 Gb/s by default of their quanta.

#include "tests/rig/storm.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1, // stormed in most tests
	OTHER = 2,
	PORTS = 3,
	LEN = 1000,
	POLL = STORM_POLL,
	DETECTION = STORM_DETECTION,
	RESTORATION = STORM_RESTORATION,
};

static struct sw_config *watched(enum watchdog_action action)
{
	return storm_config(PORTS, action);
}

// What the ports offer, in frames.
struct offered {
	uint64_t stormed;  // SRC to DST, priority 3
	uint64_t neighbor; // SRC to DST, priority 4
	uint64_t around;   // SRC to OTHER, priority 3
	uint64_t back;     // DST to SRC, priority 3
	uint64_t arrived[PORTS];
};

static void send_class(struct rig *rig, uint32_t from, uint32_t to, uint8_t dscp, uint64_t *count)
{
	struct frame f = rig_frame(from, to, dscp, LEN);

	f.seq = (*count)++;
	rig_send(rig, from, &f);
}

// A frame of each kind every millisecond, and every port sends what it may.
static void traffic(struct rig *rig, struct storm *storm, struct offered *offered, uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++) {
		send_class(rig, SRC, DST, 3, &offered->stormed);
		send_class(rig, SRC, DST, 4, &offered->neighbor);
		send_class(rig, SRC, OTHER, 3, &offered->around);
		send_class(rig, DST, SRC, 3, &offered->back);
		for (uint32_t port = 0; port < PORTS; port++)
			offered->arrived[port] += rig_release(rig, port, UINT64_MAX);
		storm_step(rig, storm, STORM_MS);
	}
	cr_assert(sw_conserved(rig->sw));
}

// Offered = sent + dropped + queued, at the queue as at the groups.
static void check_sums(struct rig *rig, const struct offered *offered)
{
	struct queue_stats q = rig_queue(rig, DST, 3);

	cr_assert_eq(q.packets + q.dropped_packets + q.curr_occupancy_packets, offered->stormed);
	cr_assert_eq(rig_queue(rig, DST, 4).packets, offered->neighbor);
	cr_assert_eq(rig_queue(rig, OTHER, 3).packets, offered->around);
	cr_assert_eq(rig_pg(rig, DST, 3).packets + rig_pg(rig, DST, 3).dropped_packets,
		     offered->back);
	cr_assert_eq(rig_queue(rig, SRC, 3).packets, rig_pg(rig, DST, 3).packets);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), q.dropped_packets);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_RX), rig_pg(rig, DST, 3).dropped_packets);
	cr_assert_eq(rig_all_drops(rig), q.dropped_packets + rig_pg(rig, DST, 3).dropped_packets);
}

// Both directions of the stormed queue discard all; nothing else loses a frame. LAST is the newest
// storm, the totals are all of them.
Test(pfcwd, action_drop)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { 0 };
	struct offered offered = { 0 };
	struct queue_stats first, q;
	uint64_t before, back;

	traffic(rig, &storm, &offered, 50);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 50);
	storm.enable[DST] = 1 << 3;
	traffic(rig, &storm, &offered, 2 * DETECTION);
	cr_assert_eq(rig->storms, 1);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 1);
	cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets, 0);
	before = rig_queue(rig, DST, 3).packets;
	back = rig_pg(rig, DST, 3).packets;
	check_sums(rig, &offered);
	traffic(rig, &storm, &offered, 500);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, before);
	cr_assert_eq(rig_pg(rig, DST, 3).packets, back);
	check_sums(rig, &offered);

	storm_stop(rig, &storm, DST);
	traffic(rig, &storm, &offered, 2 * RESTORATION);
	cr_assert_eq(rig->restores, 1);
	check_sums(rig, &offered);
	first = rig_queue(rig, DST, 3);
	// All that was dropped was dropped for the storm, and nothing was sent meanwhile.
	cr_assert_eq(first.pfc_wd_tx_dropped_packets_last, first.dropped_packets);
	cr_assert_eq(first.pfc_wd_tx_packets_last, 0);
	cr_assert_eq(first.pfc_wd_rx_dropped_packets_last, rig_pg(rig, DST, 3).dropped_packets);
	cr_assert_eq(first.pfc_wd_rx_packets_last, 0);

	storm.enable[DST] = 1 << 3;
	traffic(rig, &storm, &offered, 2 * DETECTION);
	q = rig_queue(rig, DST, 3);
	cr_assert_eq(q.pfc_wd_deadlock_detected, 2);
	cr_assert_eq(q.pfc_wd_deadlock_restored, 1);
	cr_assert_eq(q.pfc_wd_tx_dropped_packets_last, q.dropped_packets - first.dropped_packets);
	cr_assert_gt(q.pfc_wd_tx_dropped_packets_last, 0);
	cr_assert_eq(q.pfc_wd_tx_dropped_packets, q.dropped_packets);
	cr_assert_eq(q.pfc_wd_rx_dropped_packets, rig_pg(rig, DST, 3).dropped_packets);
	cr_assert_eq(rig_queue(rig, DST, 4).pfc_wd_deadlock_detected, 0);
	check_sums(rig, &offered);
	rig_end(rig);
}

// PFC on the queue is ignored while the storm lasts: nothing is lost, all goes on.
Test(pfcwd, action_forward)
{
	struct rig *rig = rig_new(watched(WATCHDOG_FORWARD));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct offered offered = { 0 };
	struct queue_stats q;

	storm_step(rig, &storm, STORM_MS);
	traffic(rig, &storm, &offered, DETECTION);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 0);
	cr_assert_eq(rig_queue(rig, DST, 3).pause_status, 1);
	traffic(rig, &storm, &offered, 1000);
	q = rig_queue(rig, DST, 3);
	cr_assert_eq(q.pfc_wd_status, 1);
	cr_assert_eq(q.pause_status, 0);
	cr_assert_eq(rig_prio(rig, DST, 3).rx_paused, 1);
	cr_assert_eq(q.curr_occupancy_packets, 0);
	cr_assert_eq(q.pfc_wd_tx_packets_last, q.packets);
	cr_assert_eq(q.packets, offered.stormed);
	cr_assert_eq(rig_all_drops(rig), 0);
	check_sums(rig, &offered);
	storm_stop(rig, &storm, DST);
	traffic(rig, &storm, &offered, 2 * RESTORATION);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_restored, 1);
	// PFC is obeyed again.
	storm.enable[DST] = 1 << 3;
	traffic(rig, &storm, &offered, DETECTION / 2);
	cr_assert_geq(rig_queue(rig, DST, 3).curr_occupancy_packets, DETECTION / 2 - 2);
	storm_stop(rig, &storm, DST);
	traffic(rig, &storm, &offered, 1);
	check_sums(rig, &offered);
	rig_end(rig);
}

// Reported and nothing else: the queue stays paused and lossless, and sends when the storm ends.
Test(pfcwd, action_alert)
{
	struct rig *rig = rig_new(watched(WATCHDOG_ALERT));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct offered offered = { 0 };
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	traffic(rig, &storm, &offered, 1000);
	cr_assert_eq(rig->storms, 1);
	cr_assert_eq(rig_queue(rig, DST, 3).pause_status, 1);
	cr_assert_geq(rig_queue(rig, DST, 3).curr_occupancy_packets, offered.stormed - 1);
	// The group of its senders is paused by XOFF, and what they still sent fits its headroom.
	f.seq = offered.stormed;
	rig_fill(rig, SRC, 3, &f);
	rig_send_many(rig, SRC, &f, 20);
	offered.stormed = f.seq;
	cr_assert_gt(rig_pg(rig, SRC, 3).xoff_events, 0);
	cr_assert_geq(rig_pg(rig, SRC, 3).xoff_room_watermark_bytes, 20 * LEN);
	storm_stop(rig, &storm, DST);
	traffic(rig, &storm, &offered, 2 * RESTORATION);
	cr_assert_eq(rig->restores, 1);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, offered.stormed);
	cr_assert_eq(rig_all_drops(rig), 0);
	check_sums(rig, &offered);
	rig_end(rig);
}

// The senders behind a stormed queue are released when it is detected, and not paused again because
// of it, however much they send; the stormed port itself sends no XOFF of the priority either.
Test(pfcwd, drop_sends_no_pfc_upstream)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct frame back = rig_frame(DST, SRC, 3, LEN);
	uint64_t xoff;

	rig_fill(rig, SRC, 3, &f);
	cr_assert_gt(rig->pfc[SRC].xoff[3], 0);
	storm_wait(rig, &storm, DST, 3, true, 400);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0);
	cr_assert_eq(rig->pfc[SRC].xon[3], 1);
	xoff = rig->pfc[SRC].xoff[3];
	for (uint32_t i = 0; i < 100; i++) {
		rig_send_many(rig, SRC, &f, 100);
		rig_send_many(rig, DST, &back, 100);
		storm_step(rig, &storm, STORM_MS);
	}
	cr_assert_eq(rig->pfc[SRC].xoff[3], xoff);
	cr_assert_eq(rig->pfc[DST].count, 0);
	cr_assert_eq(rig_queue(rig, SRC, 3).curr_occupancy_packets, 0);
	rig_end(rig);
}

// A group of the stormed port that is in XOFF when the storm is found is released, not held for as
// long as mitigation lasts; when that ends, its XOFF is announced again.
Test(pfcwd, drop_releases_the_peer)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { 0 };
	struct frame back = rig_frame(DST, OTHER, 3, LEN);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint64_t xoff;

	rig_fill(rig, DST, 3, &back);
	rig_send_many(rig, SRC, &f, 1);
	storm.enable[DST] = 1 << 3;
	storm_wait(rig, &storm, DST, 3, true, 400);
	xoff = rig->pfc[DST].xoff[3];
	cr_assert_gt(xoff, 0);
	cr_assert_eq(rig->pfc[DST].xon[3], 1);
	for (uint32_t i = 0; i < 300; i++)
		storm_step(rig, &storm, STORM_MS);
	cr_assert_eq(rig->pfc[DST].xoff[3], xoff);
	cr_assert_eq(rig_pg(rig, DST, 3).xoff_state, 1); // OTHER has sent nothing
	storm_stop(rig, &storm, DST);
	storm_wait(rig, &storm, DST, 3, false, 600);
	storm_step(rig, &storm, STORM_MS);
	cr_assert_gt(rig->pfc[DST].xoff[3], xoff);
	rig_release(rig, OTHER, UINT64_MAX);
	rig_end(rig);
}

// Two of three ports stormed: the third goes on, and each has counters of its own.
Test(pfcwd, multi_port)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable = { [DST] = 1 << 3, [OTHER] = 1 << 4 } };
	struct offered offered = { 0 };
	struct frame f = rig_frame(SRC, OTHER, 4, LEN);

	storm_step(rig, &storm, 0);
	for (uint32_t i = 0; i < 600; i++) {
		rig_send_many(rig, SRC, &f, 1);
		traffic(rig, &storm, &offered, 1);
	}
	cr_assert_eq(rig->storms, 2);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 1);
	cr_assert_eq(rig_queue(rig, OTHER, 4).pfc_wd_status, 1);
	cr_assert_eq(rig_queue(rig, OTHER, 4).dropped_packets, 600);
	cr_assert_eq(rig_queue(rig, OTHER, 4).packets, 0);
	cr_assert_eq(rig_queue(rig, DST, 4).packets, offered.neighbor);
	cr_assert_eq(rig_queue(rig, OTHER, 3).packets, offered.around);
	storm_stop(rig, &storm, OTHER);
	traffic(rig, &storm, &offered, 2 * RESTORATION);
	cr_assert_eq(rig_queue(rig, OTHER, 4).pfc_wd_status, 0);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 1);
	rig_end(rig);
}

// A new buffer profile while the queue is stormed leaves the storm and its mitigation as they are.
Test(pfcwd, mmu_change)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct offered offered = { 0 };
	uint64_t sent;

	traffic(rig, &storm, &offered, 2 * DETECTION);
	sent = rig_queue(rig, DST, 3).packets;
	setup_find_profile(rig->config, KVM_PG_LOSSLESS)->dynamic_th = 0;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 1);
	traffic(rig, &storm, &offered, 1000);
	setup_find_profile(rig->config, KVM_PG_LOSSLESS)->dynamic_th = -3;
	cr_assert_eq(rig_reload(rig), 0);
	traffic(rig, &storm, &offered, 1000);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, sent);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_detected, 1);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_restored, 0);
	check_sums(rig, &offered);
	storm_stop(rig, &storm, DST);
	traffic(rig, &storm, &offered, 2 * RESTORATION);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_restored, 1);
	rig_end(rig);
}

// The watchdog is taken off a stormed queue: the storm ends with it, and PFC holds the queue as if
// there had never been a watchdog.
Test(pfcwd, unconfigured_while_stormed)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct offered offered = { 0 };

	traffic(rig, &storm, &offered, 2 * DETECTION);
	cr_assert_eq(rig->storms, 1);
	rig->config->pfc_wd_count = 0;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(rig->restores, 1);
	traffic(rig, &storm, &offered, 100);
	cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets, 100);
	check_sums(rig, &offered);
	rig_end(rig);
}

// The link of a stormed port goes down and up: the storm has ended, counters stay, and detection
// takes its full time again.
Test(pfcwd, port_toggle)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct queue_stats q;
	uint64_t took;

	rig_send_many(rig, SRC, &f, 10);
	storm_wait(rig, &storm, DST, 3, true, 400);
	rig_send_many(rig, SRC, &f, 10);
	rig_link(rig, DST, false);
	q = rig_queue(rig, DST, 3);
	cr_assert_eq(rig->restores, 1);
	cr_assert_eq(q.pfc_wd_status, 0);
	cr_assert_eq(q.pfc_wd_deadlock_restored, 1);
	cr_assert_eq(q.pfc_wd_tx_dropped_packets, 20);
	rig_link(rig, DST, true);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(DST), 1, (port_t){ DST }, rig->now);
	storm.next[DST] = rig->now;
	storm_step(rig, &storm, 0);
	rig_send_many(rig, SRC, &f, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets, 10);
	took = storm_wait(rig, &storm, DST, 3, true, 400);
	cr_assert_gt(took, DETECTION);
	cr_assert_leq(took, DETECTION + POLL + 1);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_tx_dropped_packets, 30);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_detected, 2);
	rig_end(rig);
}

static const struct {
	const char *what;
	enum watchdog_action action;
	bool passes;
} share_rows[] = {
	{ "drop", WATCHDOG_DROP, false },
	{ "forward", WATCHDOG_FORWARD, true },
};

// Nine frames in ten are of the stormed priority, the tenth of another on the same port: the tenth
// never suffers, the nine pass or not as the action says.
TABLE_TEST(pfcwd, ninety_ten, row, share_rows)
{
	struct rig *rig = rig_new(watched(row->action));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame nine = rig_frame(SRC, DST, 3, LEN);
	struct frame one = rig_frame(SRC, DST, 4, LEN);

	rig_send_many(rig, SRC, &nine, 1);
	storm_wait(rig, &storm, DST, 3, true, 400);
	for (uint32_t i = 0; i < 1000; i++) {
		rig_send_many(rig, SRC, &nine, 9);
		rig_send_many(rig, SRC, &one, 1);
		rig_release(rig, DST, UINT64_MAX);
		storm_step(rig, &storm, STORM_MS);
	}
	cr_assert_eq(rig_queue(rig, DST, 4).packets, 1000, "%s", row->what);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, row->passes ? 9001 : 0, "%s", row->what);
	cr_assert_eq(rig_queue(rig, DST, 3).dropped_packets, row->passes ? 0 : 9001);
	cr_assert_eq(rig->restores, 0);
	rig_end(rig);
}

// XON and XOFF frames in a row are no data: they add to no drop counter, stormed or not.
Test(pfcwd, xon_not_counted)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct port_stats port;

	rig_send_many(rig, SRC, &f, 1);
	storm_wait(rig, &storm, DST, 3, true, 400);
	for (uint32_t i = 0; i < 200; i++) {
		rig_send_pfc(rig, DST, 1 << 3, 0);
		rig_send_pfc(rig, DST, 1 << 3, 65535);
		storm_step(rig, &storm, STORM_MS);
	}
	port = rig_port(rig, DST);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, 1);
	cr_assert_eq(port.in_dropped_pkts, 0);
	cr_assert_eq(port.if_in_ucast_pkts + port.if_in_non_ucast_pkts, 0);
	cr_assert_eq(rig_pg(rig, DST, 3).dropped_packets, 0);
	cr_assert_geq(rig_prio(rig, DST, 3).pfc_rx_pkts, 400);
	rig_end(rig);
}

// The switch works on every watched queue without a storm, and on nothing that is not watched.
Test(pfcwd, big_red_switch)
{
	struct sw_config *c = watched(WATCHDOG_DROP);
	struct storm storm = { 0 };
	struct offered offered = { 0 };
	struct rig *rig;

	setup_name(c->pfc_wd[0].port, "Ethernet4"); // DST alone
	rig = rig_new(c);
	traffic(rig, &storm, &offered, 10);
	rig->config->sw.pfc_wd_big_red_switch = 1;
	cr_assert_eq(rig_reload(rig), 0);
	traffic(rig, &storm, &offered, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 10);
	cr_assert_eq(rig_queue(rig, DST, 4).packets, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_tx_dropped_packets, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_rx_dropped_packets, 10);
	cr_assert_eq(rig_queue(rig, OTHER, 3).packets, 20);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_deadlock_detected, 0);
	rig->config->sw.pfc_wd_big_red_switch = 0;
	cr_assert_eq(rig_reload(rig), 0);
	traffic(rig, &storm, &offered, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 20);
	sw_big_red(rig->sw, LCORE_FIRST, true, rig->now);
	rig_drain(rig);
	traffic(rig, &storm, &offered, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 20);
	sw_big_red(rig->sw, LCORE_FIRST, false, rig->now);
	traffic(rig, &storm, &offered, 10);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 30);
	cr_assert_eq(rig->storms, 0);
	rig_end(rig);
}

// A storm by command behaves like a real one; without a watchdog or a link there is none.
Test(pfcwd, forced_storm)
{
	struct sw_config *c = watched(WATCHDOG_DROP);
	struct storm calm = { 0 };
	struct offered offered = { 0 };
	struct rig *rig = rig_new(c);

	cr_assert(!sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 2 }, true, rig->now));
	rig_link(rig, OTHER, false);
	cr_assert(!sw_storm(rig->sw, (port_t){ OTHER }, (queue_t){ 3 }, true, rig->now));
	rig_link(rig, OTHER, true);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(OTHER), 1, (port_t){ OTHER }, rig->now);
	cr_assert(sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 3 }, true, rig->now));
	traffic(rig, &calm, &offered, DETECTION);
	cr_assert_eq(rig->storms, 0);
	traffic(rig, &calm, &offered, POLL + 1);
	cr_assert_eq(rig->storms, 1);
	traffic(rig, &calm, &offered, 1000);
	cr_assert_eq(rig->restores, 0);
	cr_assert_gt(rig_queue(rig, DST, 3).pfc_wd_tx_dropped_packets, 990);
	cr_assert(sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 3 }, false, rig->now));
	traffic(rig, &calm, &offered, RESTORATION + POLL + 1);
	cr_assert_eq(rig->restores, 1);
	check_sums(rig, &offered);
	rig_end(rig);
}

// A frame that waits for an unknown address when the storm is found, and a flooded one, meet the
// closed queue; other ports get their copies.
Test(pfcwd, held_and_flooded_frames)
{
	struct rig *rig = rig_new(watched(WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct frame unknown = f;
	struct frame flooded = f;

	rig->answer_solicit = false; // its request would be flooded, too
	unknown.dst = 0x02aabbccdd01;
	unknown.dst_ip = 0x0a010199;
	flooded.dst = 0xffffffffffff;
	rig_send_many(rig, SRC, &f, 1);
	rig_send_many(rig, SRC, &unknown, 1);
	storm_wait(rig, &storm, DST, 3, true, 400);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), 1);
	cr_assert_eq(rig_switch(rig).queued_packets, 1);
	sw_mac_set(rig->sw, LCORE_FIRST, unknown.dst, 1, (port_t){ DST }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), 2);
	rig_send_many(rig, SRC, &flooded, 1);
	cr_assert_eq(rig_release(rig, OTHER, UINT64_MAX), 1);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0);
	cr_assert_eq(rig_drops(rig, DST, DROP_PFC_WD_TX), 3);
	cr_assert_eq(rig_all_drops(rig), 3);
	cr_assert(sw_conserved(rig->sw));
	rig_end(rig);
}
