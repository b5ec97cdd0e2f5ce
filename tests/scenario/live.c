// SPDX-License-Identifier: BSD-3-Clause
//
// Changes while traffic is queued: a new profile, links that go down and come back, and XOFF states
// that must end whatever happened to the packets that raised them.

#include "tests/rig/net.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	PORTS = 3,
	SRC = 0,
	DST = 1,
	LEN = 1000,
};

static struct sw_config *unreserved(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XOFF_BYTES;
	return c;
}

static void apply_smaller_alpha(struct sw_config *c)
{
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = -8;
}

static void apply_larger_alpha(struct sw_config *c)
{
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = 3;
}

static void apply_small_pool(struct sw_config *c)
{
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 100000;
	setup_find_pool(c, KVM_EGRESS_POOL)->size = 100000;
}

static void apply_reserve(struct sw_config *c)
{
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XOFF_BYTES + 100000;
}

static void apply_shared_headroom(struct sw_config *c)
{
	setup_find_pool(c, KVM_INGRESS_POOL)->xoff = 200000;
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XON_BYTES;
}

static void apply_less_headroom(struct sw_config *c)
{
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].mtu = 1500;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = 5000;
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = 5000;
}

static void apply_lossy(struct sw_config *c)
{
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].pfc_enable = 0;
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0xff, KVM_PG_LOSSY);
}

static void apply_other_maps(struct sw_config *c)
{
	for (uint32_t i = 0; i < PORTS; i++) {
		setup_name(c->port[i].tc_to_queue_map, "swap");
		setup_name(c->port[i].pfc_to_queue_map, "swap");
	}
	setup_map(c, CONFIG_MAP_TC_TO_QUEUE, "swap", "0:0 1:1 2:2 3:4 4:3 5:5 6:6 7:7");
	setup_map(c, CONFIG_MAP_PFC_TO_QUEUE, "swap", "3:4 4:3");
}

static const struct {
	const char *what;
	void (*apply)(struct sw_config *c);
	bool paused; // in XOFF right after the change
} change_rows[] = {
	{ "smaller alpha", apply_smaller_alpha, true },
	{ "larger alpha: headroom must be free before XON", apply_larger_alpha, true },
	{ "pool smaller than what is held", apply_small_pool, true },
	{ "a reserve", apply_reserve, true },
	{ "shared headroom pool", apply_shared_headroom, true },
	{ "less headroom than is in use", apply_less_headroom, true },
	{ "lossy: nothing may stay paused", apply_lossy, false },
	{ "other queues", apply_other_maps, true },
};

// A group deep in headroom lives through the change: nothing is lost, everything leaves in order,
// XOFF ends by the new rules, and the sums stay right at each step.
TABLE_TEST(scenario, live_profile, row, change_rows)
{
	struct rig *rig = rig_new(unreserved());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint64_t next = 0;
	struct frame got;

	rig_fill(rig, SRC, 3, &f);
	rig_send_many(rig, SRC, &f, 20);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_curr_occupancy_bytes, 21 * LEN);
	cr_assert_eq(rig_switch(rig).headroom_descriptors_in_use, 21, "one for each frame");
	row->apply(rig->config);
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).curr_occupancy_bytes, f.seq * LEN, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].xon[3], row->paused ? 0 : 1, "%s", row->what);
	while (rig_take_frame(rig, DST, &got)) {
		cr_assert_eq(got.seq, next++, "%s", row->what);
		if (next % 100 == 0)
			cr_assert(sw_conserved(rig->sw), "%s", row->what);
	}
	cr_assert_eq(next, f.seq, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), 0, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].xon[3], 1, "%s", row->what);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).curr_occupancy_bytes, 0);
	rig_end(rig);
}

// A profile with other ports or a larger table is another switch: refused, nothing changed.
Test(scenario, live_profile_refused)
{
	struct rig *rig = rig_new(unreserved());
	const struct sw_profile *before = sw_profile_of(rig->sw);

	rig->config->port_count--;
	cr_assert_neq(rig_reload(rig), 0);
	cr_assert_eq(sw_profile_of(rig->sw), before);
	rig->config->port_count++;
	rig->config->sw.mac_count = sw_mac_room(rig->sw) + 1;
	cr_assert_neq(rig_reload(rig), 0);
	rig->config->sw.mac_count = sw_mac_room(rig->sw);
	cr_assert_eq(rig_reload(rig), 0);
	rig_end(rig);
}

// Profiles change back and forth under load on a real link: lossless all the way.
Test(scenario, live_profile_under_load)
{
	struct sw_config *c = unreserved();
	struct net *net = net_new();
	struct host_config host;
	struct host_stats got;
	struct rig *rig;
	uint64_t sent = 0;
	uint32_t sw;

	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].speed = 10000000000;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 500000;
	rig = rig_new(c);
	sw = net_add_switch(net, rig);
	for (uint32_t i = 0; i < PORTS; i++) {
		host_config_init(&host, i);
		if (i != DST)
			host_add_flow(&host, DST, 3, LEN)->frames = 10000;
		net_join(net, net_add_host(net, &host), 0, sw, i, 10000000000, 500);
	}
	for (uint64_t t = 0; t < 100; t++) {
		net_run(net, t * 100000);
		setup_find_pool(c, KVM_INGRESS_POOL)->size = t % 2 ? 500000 : 200000;
		setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = t % 3 ? -3 : 0;
		setup_find_profile(c, KVM_PG_LOSSLESS)->xon_offset = t % 5 ? 2496 : 20000;
		cr_assert_eq(rig_reload(rig), 0);
	}
	net_run(net, 100000000);
	got = net_host_stats(net, 1 + DST);
	for (uint32_t i = 0; i < PORTS; i++)
		sent += net_host_stats(net, 1 + i).prio[3].tx_packets;
	cr_assert_eq(sent, 20000);
	cr_assert_eq(got.prio[3].rx_packets, sent);
	cr_assert_eq(got.prio[3].rx_lost + got.prio[3].rx_reordered, 0);
	cr_assert_gt(rig_pg(rig, SRC, 3).xoff_events, 10);
	cr_assert_gt(rig_pg(rig, SRC, 3).xoff_room_watermark_bytes, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	net_end(net);
}

// The destination's link flaps under load: what was queued for it is dropped under that name, its
// senders resume, and after it is back (and learned) traffic flows again.
Test(scenario, link_flap_ends_xoff)
{
	struct rig *rig = rig_new(unreserved());
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig_fill(rig, SRC, 3, &f);
	rig_link(rig, DST, false);
	cr_assert_eq(rig_drops(rig, DST, DROP_LINK_FLUSH), f.seq);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0);
	cr_assert_eq(rig->pfc[SRC].xon[3], 1);
	rig_link(rig, DST, true);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(DST), 1, (port_t){ DST }, rig->now);
	rig_send_many(rig, SRC, &f, 10);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 10);
	rig_end(rig);
}

// A group of next to no limit: each frame goes to headroom and raises XOFF.
static struct sw_config *tight(enum config_pause pause)
{
	struct sw_config *c = unreserved();
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);

	profile->dynamic_th = CONFIG_UNSET_INT;
	profile->static_th = 10;
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].pause = pause;
	return c;
}

static const struct {
	const char *what;
	enum config_pause pause;
} pause_rows[] = {
	{ "frames", CONFIG_PAUSE_FRAMES },
	{ "hold", CONFIG_PAUSE_HOLD },
};

// After the tick that the core asks for at once.
static void check_open(struct rig *rig, const char *what, bool hold)
{
	rig_advance(rig, 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).curr_occupancy_bytes, 0, "%s", what);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_events, 1, "%s", what);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0, "%s", what);
	cr_assert(!sw_held(rig->sw, (port_t){ SRC }), "%s", what);
	// XON was told if XOFF was.
	cr_assert_eq(rig->pfc[SRC].xon[3], rig->pfc[SRC].xoff[3] > 0, "%s", what);
	cr_assert(!hold || rig->pfc[SRC].count == 0, "%s", what);
}

// The frame that raised XOFF is dropped behind admission: XOFF ends with the next poll, without any
// other packet, timer or transmission. On a held port nothing else would ever end it.
TABLE_TEST(scenario, xoff_ends_after_drop, row, pause_rows)
{
	struct sw_config *c = tight(row->pause);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct rig *rig;

	c->port[DST].mtu = 500;
	rig = rig_new(c);
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_drops(rig, DST, DROP_EGRESS_MTU), 1);
	cr_assert_leq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, rig->now.v);
	check_open(rig, row->what, row->pause == CONFIG_PAUSE_HOLD);
	rig_end(rig);
}

// A flooded frame gives its charge back at once.
TABLE_TEST(scenario, xoff_ends_after_flood, row, pause_rows)
{
	struct rig *rig = rig_new(tight(row->pause));
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	f.dst = 0xffffffffffff;
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_switch(rig).copied_packets, PORTS - 1);
	check_open(rig, row->what, row->pause == CONFIG_PAUSE_HOLD);
	rig_end(rig);
}

// A held packet turns out to have nowhere to go when its address is learned.
TABLE_TEST(scenario, xoff_ends_after_release, row, pause_rows)
{
	struct rig *rig = rig_new_blank(tight(row->pause));
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig->answer_solicit = false;
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 1);
	cr_assert_eq(sw_held(rig->sw, (port_t){ SRC }), row->pause == CONFIG_PAUSE_HOLD);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 1, (port_t){ SRC }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_drops(rig, SRC, DROP_SAME_PORT), 1);
	check_open(rig, row->what, row->pause == CONFIG_PAUSE_HOLD);
	rig_end(rig);
}

// Nobody answers: given up by the timer alone.
TABLE_TEST(scenario, xoff_ends_after_timeout, row, pause_rows)
{
	struct rig *rig = rig_new_blank(tight(row->pause));
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig->answer_solicit = false;
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 1);
	for (uint32_t i = 0; i < 10000 && rig_switch(rig).queued_packets > 0; i++)
		rig_advance(rig, sw_deadline(rig->sw, LCORE_FIRST, rig->now).v - rig->now.v);
	cr_assert_eq(rig_drops(rig, SRC, DROP_UNKNOWN_LOSSLESS), 1);
	check_open(rig, row->what, row->pause == CONFIG_PAUSE_HOLD);
	rig_end(rig);
}

// ARP in a lossless class is punted: the control thread has it, the group does not.
TABLE_TEST(scenario, xoff_ends_after_punt, row, pause_rows)
{
	struct sw_config *c = tight(row->pause);
	struct frame f = {
		.kind = FRAME_ARP_REQUEST,
		.dst = 0xffffffffffff,
		.src = frame_host_mac(SRC),
		.src_ip = frame_host_ip(SRC),
		.dst_ip = frame_host_ip(DST),
	};
	struct rig *rig;

	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].default_tc = 3;
	rig = rig_new(c);
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig->punts, 1);
	check_open(rig, row->what, row->pause == CONFIG_PAUSE_HOLD);
	rig_end(rig);
}
