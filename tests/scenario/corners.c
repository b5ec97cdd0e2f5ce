// SPDX-License-Identifier: BSD-3-Clause
//
// Corners where one mechanism meets another: a pause that cuts a scheduling round short, a rate
// that changes while the old one makes its queue wait, an address whose port has left the VLAN, a
// timer that two states share. Each of them was wrong once.

#include <criterion/criterion.h>

#include "tests/rig/rig.h"

enum { PORTS = 4, LEN = 1000, DST = 1 };

// Two queues of equal weight, one of which is paused for half of every two microseconds. Once the
// pauses end they share equally: what a visit that was cut short had left does not add up.
Test(scenario, pauses_leave_no_deficit)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f[2] = { rig_frame(0, DST, 3, LEN), rig_frame(2, DST, 4, LEN) };
	uint64_t sent[2] = { 0 };
	struct rig *rig;
	struct frame out;

	c->port[DST].speed = 10000000000;
	rig = rig_new(c);
	for (uint32_t i = 0; i < 2; i++)
		f[i].stream = i;
	rig_send_many(rig, 0, &f[0], 1200);
	rig_send_many(rig, 2, &f[1], 1200);
	for (uint32_t i = 0; i < 500; i++) {
		rig_send_pfc(rig, DST, 1 << 3, i % 2 == 0 ? 65535 : 0);
		while (rig_take_frame(rig, DST, &out))
			;
		rig_advance(rig, 1000);
	}
	rig_send_pfc(rig, DST, 1 << 3, 0);
	for (uint32_t i = 0; i < 200; i++) {
		for (uint32_t k = 0; !rig_take_frame(rig, DST, &out); k++) {
			cr_assert_lt(k, 100); // a frame takes 816 ns
			rig_advance(rig, 100);
		}
		sent[out.stream]++;
	}
	// A round is one largest frame (9122 bytes, nine or ten of these) each.
	cr_assert_geq(sent[0], 90, "%lu of 200", sent[0]);
	cr_assert_leq(sent[0], 110, "%lu of 200", sent[0]);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A group that resumes and stops again between two drains has nothing new to tell, but its repeats
// go on, even if in between no timer was left.
Test(scenario, repeat_survives_a_drain_without_news)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 3, LEN);
	struct frame waiting = rig_frame(3, 50, 3, LEN);
	struct rig *rig;
	struct pkt *p;
	uint64_t told;

	c->port[0].speed = 10000000000;
	c->sw.solicit_time = 1000000;
	rig = rig_new(c);
	rig->answer_solicit = false;
	rig_fill(rig, 0, 3, &f);
	// A frame that waits has the next timer; when that is due, neither it nor XOFF is left.
	rig_send(rig, 3, &waiting);
	sw_mac_set(rig->sw, LCORE_FIRST, waiting.dst, 1, (port_t){ 2 }, rig->now);
	while (rig_pg(rig, 0, 3).xoff_state) {
		cr_assert_eq(sw_tx(rig->sw, (port_t){ DST }, &p, 1, rig->now), 1);
		rig_free(rig, p);
	}
	rig->now = ns_add(rig->now, c->sw.solicit_time);
	sw_tick(rig->sw, LCORE_FIRST, rig->now);
	for (uint32_t i = 0; i < 10000 && !rig_pg(rig, 0, 3).xoff_state; i++) {
		p = rig_build(rig, &f);
		f.seq++;
		sw_rx(rig->sw, (port_t){ 0 }, &p, 1, rig->now);
	}
	rig_drain(rig);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
	told = rig->pfc[0].count;
	// 65535 quanta at 10G last 3.355 ms: at least one frame per half of that.
	for (uint32_t i = 0; i < 40; i++)
		rig_advance(rig, 100000);
	cr_assert_geq(rig->pfc[0].count - told, 2);
	rig_end(rig);
}

// A shaper that has just imposed a long wait is replaced by a fast one: the wait goes with it.
Test(scenario, new_rate_does_not_wait_for_the_old)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 3, LEN);
	struct scheduler_config *slow = setup_scheduler(c, "slow", CONFIG_SCHEDULER_DWRR, 1);
	struct rig *rig;

	slow->pir = 10000;
	setup_queue(c, "all", 1 << 3, "slow", "");
	rig = rig_new(c);
	rig_send_many(rig, 0, &f, 100);
	rig_release(rig, DST, UINT64_MAX);
	cr_assert_gt(rig_queue(rig, DST, 3).curr_occupancy_packets, 0);
	rig->config->scheduler[0].pir = 10000000000;
	cr_assert_eq(rig_reload(rig), 0);
	for (uint32_t i = 0; i < 100; i++) { // 100 frames of 1024 wire bytes take 82 us at 10G
		rig_advance(rig, 1000);
		rig_release(rig, DST, UINT64_MAX);
	}
	cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets, 0);
	rig_end(rig);
}

// The CNP queue goes before a strict queue of a higher index, since its cap keeps it harmless.
Test(scenario, strict_queue_does_not_starve_cnps)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame data = rig_frame(0, DST, 56, LEN);
	struct frame cnp = rig_frame(2, DST, 48, 0);
	struct rig *rig;
	struct frame out;

	setup_scheduler(c, "strict", CONFIG_SCHEDULER_STRICT, 1);
	setup_queue(c, "all", 1 << 7, "strict", "");
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "AZURE", "56:7 48:6 3:3 4:4 *:1");
	c->port[DST].speed = 10000000000;
	rig = rig_new(c);
	cnp.opcode = BTH_OPCODE_CNP;
	cnp.stream = 9;
	rig_send_many(rig, 0, &data, 100);
	rig_send_many(rig, 2, &cnp, 1);
	cr_assert(rig_take_frame(rig, DST, &out));
	cr_assert_eq(out.stream, 9);
	rig_end(rig);
}

// A frame of the full MTU may carry two tags in and out.
Test(scenario, full_frame_with_two_tags_passes)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 3, 9100 + 14 + 8);
	struct rig *rig;
	struct frame out;

	setup_vlan(c, 10, "", "Ethernet0 Ethernet4");
	rig = rig_new(c);
	f.tag_count = 2;
	f.tag[0].tci = 3 << 13 | 10;
	f.tag[1].tci = 3 << 13 | 20;
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 10, (port_t){ DST }, rig->now);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_all_drops(rig), 0);
	cr_assert(rig_take_frame(rig, DST, &out));
	cr_assert_eq(out.tag_count, 2);
	cr_assert_eq(out.len, f.len);
	rig_end(rig);
}

// A tag that is pushed says the class in the egress port's own terms: AZURE reads class 1 from
// priority 0.
Test(scenario, pushed_priority_means_the_class)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 20, LEN); // DSCP 20 is class 1
	struct rig *rig;
	struct frame out;

	setup_vlan(c, 10, "Ethernet0", "Ethernet4");
	rig = rig_new(c);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 10, (port_t){ DST }, rig->now);
	rig_send(rig, 0, &f);
	cr_assert(rig_take_frame(rig, DST, &out));
	cr_assert_eq(out.tag_count, 1);
	cr_assert_eq(out.tag[0].tci, 0 << 13 | 10);
	rig_end(rig);
}

// When a port leaves a VLAN, what was learned behind it goes, and frames no longer reach it.
Test(scenario, address_leaves_with_its_port)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 0, LEN);
	struct rig *rig;

	setup_vlan(c, 10, "Ethernet0 Ethernet4", "");
	setup_vlan(c, 20, "Ethernet8", "");
	rig = rig_new(c);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_release(rig, DST, 9), 1);
	setup_name(rig->config->vlan[0].untagged, "Ethernet0");
	setup_name(rig->config->vlan[1].untagged, "Ethernet8 Ethernet4");
	cr_assert_eq(rig_reload(rig), 0);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_release(rig, DST, 9), 0);
	cr_assert_not(sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 10, (port_t){ DST }, rig->now));
	rig_end(rig);
}

// A port that has learned all it may announces no more, and ARP is policed whoever it is sent to.
Test(scenario, control_thread_is_not_flooded)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 0, LEN);
	struct frame arp = rig_frame(0, DST, 0, 60);
	struct rig *rig;

	c->port[0].mac_limit = 1;
	c->port[0].flood_rate = 1000000;
	rig = rig_new(c); // host 0 is known: the limit is reached
	rig->learns = 0;
	for (uint32_t i = 0; i < 100; i++) {
		f.src = frame_host_mac(100 + i % 2);
		rig_send(rig, 0, &f);
	}
	cr_assert_eq(rig->learns, 0);
	rig->answer_punt = false;
	arp.kind = FRAME_ARP_REPLY;
	rig_send_many(rig, 0, &arp, 10000);
	// 32 KiB at once, then 1 Mb/s: 547 frames of 60 bytes, the one that crosses included.
	cr_assert_eq(rig->punts, 32 * 1024 / 60 + 1);
	cr_assert_eq(rig_drops(rig, 0, DROP_FLOOD_POLICED), 10000 - rig->punts);
	rig_end(rig);
}

// An answer that comes after its link went down binds the address, but lossless frames wait for the
// link instead of being dropped at it.
Test(scenario, lossless_waits_for_a_port_that_is_down)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(0, DST, 3, LEN);

	rig_link(rig, DST, false);
	rig->answer_solicit = false;
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 1, (port_t){ DST }, rig->now);
	rig_send_many(rig, 0, &f, 5);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_link(rig, DST, true);
	sw_mac_delete(rig->sw, LCORE_FIRST, f.dst, 1);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 1, (port_t){ DST }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, DST, 9), 5);
	rig_end(rig);
}

// Frames of the control thread that nobody can take are counted with their reason, and a broken one
// is not looked into.
Test(scenario, injected_frames_are_accounted)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(0, DST, 0, LEN);
	struct pkt *cut;

	for (uint32_t i = 0; i < PORTS; i++)
		rig_link(rig, i, false);
	f.dst = 0xffffffffffff;
	sw_inject(rig->sw, rig_build(rig, &f), PORT_NONE, 1, rig->now);
	cr_assert_eq(sw_drops(rig->sw, PORT_NONE, DROP_FLOOD_NOWHERE), 1);
	sw_inject(rig->sw, rig_build(rig, &f), PORT_NONE, 5000, rig->now);
	cr_assert_eq(sw_drops(rig->sw, PORT_NONE, DROP_VLAN_NOT_MEMBER), 1);
	cut = rig_alloc(rig, 10);
	memset(cut->data, 0xff, 10);
	sw_inject(rig->sw, cut, (port_t){ 0 }, 1, rig->now);
	cr_assert_eq(rig_drops(rig, 0, DROP_PARSE_TRUNCATED), 1);
	rig_drain(rig);
	rig_end(rig);
}

// A held port is told nothing, but how long it was held is counted.
Test(scenario, hold_time_is_counted)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, DST, 3, LEN);
	struct rig *rig;

	c->port[0].pause = CONFIG_PAUSE_HOLD;
	rig = rig_new(c);
	rig_fill(rig, 0, 3, &f);
	cr_assert(sw_held(rig->sw, (port_t){ 0 }));
	rig_advance(rig, 5000000);
	cr_assert_eq(rig_prio(rig, 0, 3).tx_pause_duration_us, 5000);
	cr_assert_eq(rig->pfc[0].count, 0);
	cr_assert_eq(rig_prio(rig, 0, 3).pfc_tx_pkts, 0);
	rig_release(rig, DST, UINT64_MAX);
	cr_assert_not(sw_held(rig->sw, (port_t){ 0 }));
	rig_end(rig);
}

// The pool runs out under a group that has no limit of its own: it stops, and resumes xon_offset
// below that point, not at each frame that leaves.
Test(scenario, full_pool_does_not_flap)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *row = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct frame f = rig_frame(0, DST, 3, LEN);
	struct rig *rig;

	row->dynamic_th = CONFIG_UNSET_INT;
	row->static_th = 0;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 200000;
	rig = rig_new(c);
	rig_fill(rig, 0, 3, &f);
	for (uint32_t i = 0; i < 100; i++) {
		rig_release(rig, DST, 1);
		rig_send_many(rig, 0, &f, 1);
	}
	cr_assert_leq(rig_pg(rig, 0, 3).xoff_events, 1 + 100 * LEN / KVM_XON_OFFSET_BYTES);
	rig_end(rig);
}
