// SPDX-License-Identifier: BSD-3-Clause
//
// What neighbours tell each other in hellos beyond that they are there: edges that they cannot
// reach, and lanes that do not fit.

#include "tests/scenario/leaf_spine.h"

enum {
	LEAVES = 3,
	SPINES = 2,
	TO_SPINE_0 = LS_HOSTS, // of a leaf
	TO_SPINE_1,
	LOST_LEAF = 2,
	START = 55 * LS_MS, // between two hellos
	// One hello: at most the gap between two from one port, and its way over the wire.
	NEWS = LS_MS + 50000,
	LATER = START + 100 * LS_MS,
	END = LATER + 100 * LS_MS,
};

static const uint32_t to_lost_leaf[][2] = { { 0, 4 }, { 2, 5 } };

static uint64_t masked(const struct leaf_spine *ls, uint32_t node, uint32_t port)
{
	return ls_port(ls, node, port).hello_masked_edges;
}

static uint64_t lost(const struct leaf_spine *ls)
{
	return ls_received(ls, 4).rx_lost + ls_received(ls, 5).rx_lost;
}

// A leaf is the only way of a spine to its own edge, and the spine says so to that leaf alone.
static void check_quiet(const struct leaf_spine *ls)
{
	for (uint32_t l = 0; l < LEAVES; l++) {
		for (uint32_t s = 0; s < SPINES; s++) {
			cr_assert_eq(masked(ls, ls->leaf[l], LS_HOSTS + s), 1);
			cr_assert_eq(masked(ls, ls->spine[s], l), 0);
		}
	}
}

Test(hello_masks, leaves_stop_asking_a_spine_for_the_leaf_it_has_lost)
{
	struct leaf_spine ls;
	uint64_t lost_before;
	uint64_t dropped;
	uint64_t sent[2];

	ls_new(&ls, LEAVES, SPINES, to_lost_leaf, 2);
	net_watch(ls.net);
	net_run(ls.net, START);
	check_quiet(&ls);
	net_link(ls.net, ls.spine[0], LOST_LEAF, false);
	net_run(ls.net, START + NEWS);
	for (uint32_t l = 0; l < LOST_LEAF; l++) {
		cr_assert_eq(masked(&ls, ls.leaf[l], TO_SPINE_0), 2);
		cr_assert_eq(masked(&ls, ls.leaf[l], TO_SPINE_1), 1);
	}
	net_run(ls.net, START + NEWS + LS_MS); // what was on its way is there, or lost
	lost_before = lost(&ls);
	dropped = rig_all_drops(net_rig(ls.net, ls.spine[0]));
	// No more than was sent before the news had come.
	cr_assert_leq(lost_before + dropped,
		      2 * LS_FLOWS * LS_FLOW_BPS / 8 / LS_FRAME * NEWS / 1000000000);
	for (uint32_t l = 0; l < LOST_LEAF; l++)
		sent[l] = ls_port(&ls, ls.leaf[l], TO_SPINE_0).if_out_ucast_pkts;
	net_run(ls.net, LATER);
	cr_assert_eq(lost(&ls), lost_before);
	cr_assert_eq(rig_all_drops(net_rig(ls.net, ls.spine[0])), dropped);
	for (uint32_t l = 0; l < LOST_LEAF; l++)
		cr_assert_eq(ls_port(&ls, ls.leaf[l], TO_SPINE_0).if_out_ucast_pkts, sent[l]);
	net_link(ls.net, ls.spine[0], LOST_LEAF, true);
	net_run(ls.net, END);
	check_quiet(&ls);
	cr_assert_eq(lost(&ls), lost_before);
	for (uint32_t l = 0; l < LOST_LEAF; l++)
		cr_assert_gt(ls_port(&ls, ls.leaf[l], TO_SPINE_0).if_out_ucast_pkts, sent[l] + 100);
	net_end(ls.net);
}

Test(hello_masks, a_leaf_without_any_way_says_so_in_turn)
{
	struct leaf_spine ls;

	ls_new(&ls, LEAVES, SPINES, to_lost_leaf, 1);
	net_run(ls.net, START);
	net_link(ls.net, ls.spine[0], LOST_LEAF, false);
	net_run(ls.net, START + 5 * LS_MS);
	// With one way left, the leaf tells that way's spine alone.
	cr_assert_eq(masked(&ls, ls.spine[0], 0), 0);
	cr_assert_eq(masked(&ls, ls.spine[1], 0), 1);
	net_link(ls.net, ls.spine[1], LOST_LEAF, false);
	net_run(ls.net, START + 5 * LS_MS + 2 * NEWS);
	cr_assert_eq(masked(&ls, ls.spine[0], 0), 1);
	cr_assert_eq(masked(&ls, ls.spine[1], 0), 1);
	net_run(ls.net, LATER);
	cr_assert_gt(rig_drops(net_rig(ls.net, ls.leaf[0]), 0, DROP_GROUP_DEAD), 0);
	net_link(ls.net, ls.spine[0], LOST_LEAF, true);
	net_link(ls.net, ls.spine[1], LOST_LEAF, true);
	net_run(ls.net, END);
	check_quiet(&ls);
	net_end(ls.net);
}

Test(hello_masks, a_storm_of_news_stays_within_one_hello_per_gap)
{
	enum { FLAPS = 400, PERIOD = 50000 };
	struct leaf_spine ls;
	uint64_t before;
	uint64_t sent;

	ls_new(&ls, LEAVES, SPINES, to_lost_leaf, 1);
	net_run(ls.net, START);
	before = ls_port(&ls, ls.spine[0], 0).hello_tx_pkts;
	for (uint32_t i = 0; i < FLAPS; i++) {
		net_link(ls.net, ls.spine[0], LOST_LEAF, i % 2 == 1);
		net_run(ls.net, START + (i + 1) * PERIOD);
	}
	sent = ls_port(&ls, ls.spine[0], 0).hello_tx_pkts - before;
	cr_assert_gt(sent, FLAPS * PERIOD / LS_INTERVAL); // there was news
	cr_assert_leq(sent, FLAPS * PERIOD / LS_MS + 1);
	net_run(ls.net, END);
	check_quiet(&ls);
	net_end(ls.net);
}

Test(hello_masks, tables_that_lose_an_edge_are_told_of)
{
	struct leaf_spine ls;
	struct rig *spine;
	uint16_t group;

	ls_new(&ls, LEAVES, SPINES, to_lost_leaf, 1);
	net_run(ls.net, START);
	spine = net_rig(ls.net, ls.spine[0]);
	group = spine->tables->edge_group[LOST_LEAF];
	tables_edge_set(spine->tables, LOST_LEAF, GROUP_NONE);
	net_run(ls.net, START + LS_INTERVAL + NEWS);
	cr_assert_eq(masked(&ls, ls.leaf[0], TO_SPINE_0), 2);
	tables_edge_set(spine->tables, LOST_LEAF, group);
	net_run(ls.net, START + 3 * LS_INTERVAL);
	check_quiet(&ls);
	net_end(ls.net);
}

// --- lanes ------------------------------------------------------------------------------------

// Lossless flows wait until the ends have met; a lossy one does not.
static void start_late(struct host_config *config, uint32_t to)
{
	for (uint32_t n = 0; n < LS_FLOWS; n++)
		config->flow[n].start = (ns_t){ START };
	host_add_flow(config, to, 0, LS_FRAME)->bps = LS_FLOW_BPS;
}

// Two leaves back to back over `links` links, with lanes of these classes.
static void pair_new(struct leaf_spine *ls, const uint8_t lanes[2], uint32_t links)
{
	static const uint32_t both[][2] = { { 0, 2 }, { 2, 0 } };

	ls->net = net_new();
	for (uint32_t i = 0; i < 2; i++) {
		struct sw_config *c = ls_leaf(i, 2, links);

		c->sw.lanes = lanes[i];
		for (uint32_t n = 0; n < c->port_count; n++) {
			c->port[n].mtu = 1500;
			c->port[n].lane_tag = n >= LS_HOSTS;
		}
		setup_find_profile(c, KVM_PG_LOSSLESS)->size += 4000; // a lane's own reserve
		ls->leaf[i] = net_add_switch(ls->net, rig_new_blank(c));
	}
	for (uint32_t id = 0; id < 2 * LS_HOSTS; id++) {
		ls_add_host(ls, id, both, 2);
		if (id % LS_HOSTS == 0)
			start_late(net_host_config(ls->net, ls->host[id]), id == 0 ? 2 : 0);
	}
	for (uint32_t i = 0; i < links; i++)
		net_join(ls->net, ls->leaf[0], LS_HOSTS + i, ls->leaf[1], LS_HOSTS + i, LS_BPS,
			 1000);
}

Test(hello_masks, ends_that_differ_in_lanes_carry_lossy_traffic_only)
{
	struct leaf_spine ls;

	pair_new(&ls, (const uint8_t[]){ 0x18, 0x08 }, 1);
	net_run(ls.net, LATER);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hello_peer *peer = ls_peer(&ls, ls.leaf[i], LS_HOSTS);
		const uint32_t far = i == 0 ? 2 : 0;

		cr_assert_eq(peer->mismatch, HELLO_LANE_COUNT);
		cr_assert_eq(peer->have, i == 0 ? 2 : 1);
		cr_assert_eq(peer->want, i == 0 ? 1 : 2);
		cr_assert_gt(rig_drops(net_rig(ls.net, ls.leaf[i]), 0, DROP_LANE_MISMATCH), 1000);
		cr_assert_eq(ls_received(&ls, far).rx_packets, 0);
		cr_assert_gt(net_host_stats(ls.net, ls.host[far]).prio[0].rx_packets, 100);
	}
	net_rig(ls.net, ls.leaf[1])->config->sw.lanes = 0x18;
	cr_assert_eq(rig_reload(net_rig(ls.net, ls.leaf[1])), 0);
	net_run(ls.net, END);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(ls_peer(&ls, ls.leaf[i], LS_HOSTS)->mismatch, HELLO_AGREE);
		cr_assert_gt(ls_received(&ls, i == 0 ? 2 : 0).rx_packets, 1000);
	}
	net_end(ls.net);
}

Test(hello_masks, lossless_traffic_takes_the_links_that_agree)
{
	struct leaf_spine ls;
	struct rig *other;

	pair_new(&ls, (const uint8_t[]){ 0x08, 0x08 }, 2);
	other = net_rig(ls.net, ls.leaf[1]);
	other->config->port[LS_HOSTS].lane_tag = false;
	cr_assert_eq(rig_reload(other), 0);
	net_run(ls.net, LATER);
	for (uint32_t i = 0; i < 2; i++) {
		const struct host_prio_stats got = ls_received(&ls, i == 0 ? 2 : 0);

		cr_assert_eq(ls_peer(&ls, ls.leaf[i], LS_HOSTS)->mismatch, HELLO_LANE_TAG);
		cr_assert_eq(ls_peer(&ls, ls.leaf[i], LS_HOSTS + 1)->mismatch, HELLO_AGREE);
		cr_assert_gt(got.rx_packets, 1000);
		cr_assert_eq(got.rx_lost, 0);
		cr_assert_eq(rig_queue(net_rig(ls.net, ls.leaf[i]), LS_HOSTS, 3).packets, 0);
		cr_assert_gt(rig_queue(net_rig(ls.net, ls.leaf[i]), LS_HOSTS + 1, 3).packets, 1000);
	}
	net_end(ls.net);
}
