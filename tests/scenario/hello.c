// SPDX-License-Identifier: BSD-3-Clause
//
// Hellos between switches: links whose carrier lies, polls that come late, peers that restart.
//
// Times follow from the knobs: a peer is given up after multiplier x interval without a hello, and
// the newest one may be an interval old when the link dies.

#include <string.h>

#include "tests/scenario/leaf_spine.h"

enum {
	UPLINK = LS_HOSTS, // of a leaf, to spine 0
	START = 50 * LS_MS,
	HOLD = LS_MULTIPLIER * LS_INTERVAL,
	GIVEN_UP = START + HOLD + LS_INTERVAL,
	LATER = GIVEN_UP + 100 * LS_MS,
	BACK = LATER + 2 * LS_INTERVAL + HELLO_RETURN_COUNT * LS_INTERVAL,
	END = BACK + 100 * LS_MS,
};

static const uint32_t across[][2] = { { 0, 2 } };

static const struct {
	const char *what;
	bool from_leaf, from_spine; // directions that lose everything
} mute_rows[] = {
	{ "both directions", true, true },
	{ "up only", true, false },
	{ "down only", false, true },
};

static void mute(struct leaf_spine *ls, const typeof(mute_rows[0]) *row, bool on)
{
	if (row->from_leaf)
		net_mute(ls->net, ls->leaf[0], UPLINK, on);
	if (row->from_spine)
		net_mute(ls->net, ls->spine[0], 0, on);
}

TABLE_TEST(hello, a_link_that_loses_everything_is_left_and_taken_again, row, mute_rows)
{
	struct leaf_spine ls;
	struct host_prio_stats before;
	struct host_prio_stats after;
	uint64_t sent;

	ls_new(&ls, 2, 2, across, 1);
	net_run(ls.net, START);
	cr_assert_eq(ls_peer(&ls, ls.leaf[0], UPLINK)->status, HELLO_UP);
	cr_assert_str_eq(ls_peer(&ls, ls.leaf[0], UPLINK)->hello.name, "spine0");
	cr_assert_gt(ls_port(&ls, ls.leaf[0], UPLINK).if_out_ucast_pkts, 0);
	cr_assert_gt(ls_port(&ls, ls.leaf[0], UPLINK + 1).if_out_ucast_pkts, 0);
	mute(&ls, row, true);
	net_run(ls.net, GIVEN_UP + LS_MS);
	before = ls_received(&ls, 2);
	cr_assert(row->from_leaf == (before.rx_lost > 0), "%s", row->what);
	cr_assert_eq(ls_port(&ls, ls.leaf[0], UPLINK).hello_downs, 1, "%s", row->what);
	cr_assert_eq(ls_port(&ls, ls.spine[0], 0).hello_downs, 1, "%s", row->what);
	sent = ls_port(&ls, ls.leaf[0], UPLINK).if_out_ucast_pkts;
	net_run(ls.net, LATER);
	after = ls_received(&ls, 2);
	cr_assert_eq(after.rx_lost, before.rx_lost, "%s", row->what);
	cr_assert_gt(after.rx_packets, before.rx_packets + 1000);
	cr_assert_eq(ls_port(&ls, ls.leaf[0], UPLINK).if_out_ucast_pkts, sent);
	mute(&ls, row, false);
	net_run(ls.net, BACK);
	cr_assert_eq(ls_peer(&ls, ls.leaf[0], UPLINK)->status, HELLO_UP, "%s", row->what);
	cr_assert_eq(ls_peer(&ls, ls.spine[0], 0)->status, HELLO_UP, "%s", row->what);
	net_run(ls.net, END);
	cr_assert_eq(ls_received(&ls, 2).rx_lost, before.rx_lost, "%s", row->what);
	cr_assert_gt(ls_port(&ls, ls.leaf[0], UPLINK).if_out_ucast_pkts, sent + 100);
	net_end(ls.net);
}

// --- polls that come late ---------------------------------------------------------------------

enum { LAB_LAG = 108 * LS_MS }; // the worst poll gap seen in a lab of two cores

SEED_TEST(hello, late_polls_take_no_link_away, rng, 8)
{
	struct net *net = net_new();
	uint32_t node[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct sw_config *c = ls_config(1, i == 0 ? "one" : "other", 0);

		c->sw.hello_interval = 100 * LS_MS; // the defaults
		c->sw.hello_multiplier = 10;
		node[i] = net_add_switch(net, rig_new_blank(c));
	}
	net_join(net, node[0], 0, node[1], 0, LS_BPS, 1000);
	for (uint32_t i = 0; i < 2; i++)
		net_lag(net, node[i], LAB_LAG, rng_next64(rng));
	net_run(net, 60000ull * LS_MS);
	for (uint32_t i = 0; i < 2; i++) {
		const struct port_stats stats = rig_port(net_rig(net, node[i]), 0);

		cr_assert_eq(stats.hello_downs, 0);
		cr_assert_geq(stats.hello_rx_pkts, 60000 / (100 + 108));
		cr_assert_leq(stats.hello_rx_pkts, 60000 / 100 + 10);
		cr_assert_eq(sw_peer(net_rig(net, node[i])->sw, (port_t){ 0 })->status, HELLO_UP);
	}
	net_end(net);
}

// --- one port, its peer played by the test ----------------------------------------------------

static struct hello played;

static void play(struct rig *rig, bool hears)
{
	uint8_t bytes[HELLO_FRAME_MAX];
	uint8_t own[HELLO_FRAME_MAX];
	const uint8_t src[6] = { 2 };
	struct hello theirs;
	struct hello_mask none = { { 0 } };
	struct hello_mask mask;

	cr_assert(hello_decode(own, sw_hello(rig->sw, (port_t){ 0 }, src, own), &theirs, &mask));
	played.seq++;
	played.hears = hears;
	played.heard = theirs.from;
	rig_send_bytes(rig, 0, bytes, hello_encode(&played, &none, src, bytes));
}

// A bridge with one fabric port, 0.
static struct rig *bridge(enum config_hello mode)
{
	struct sw_config *c = setup_kvm(2);

	c->port[0].role = CONFIG_ROLE_FABRIC;
	c->port[0].hello = mode;
	played = (struct hello){ .from = { .boot = 5, .port = 3 },
				 .edge = EDGE_NONE,
				 .interval_us = 100000,
				 .lanes = { .pfc_sent = 0x18, .pfc_obeyed = 0x18 },
				 .name = "played" };
	return rig_new(c);
}

static bool used(const struct rig *rig)
{
	return sw_link_up(rig->sw, (port_t){ 0 });
}

Test(hello, a_switch_that_was_away_does_not_blame_its_peer)
{
	struct rig *rig = bridge(CONFIG_HELLO_ON);

	play(rig, true);
	rig_advance(rig, 100 * LS_MS);
	rig_advance(rig, 5000ull * LS_MS);
	cr_assert(used(rig));
	for (uint32_t i = 0; i < 11; i++)
		rig_advance(rig, 100 * LS_MS);
	cr_assert_not(used(rig));
	cr_assert_eq(rig_port(rig, 0).hello_downs, 1);
	rig_end(rig);
}

Test(hello, what_was_queued_for_a_dead_peer_is_flushed_and_its_pause_ends)
{
	struct rig *rig = bridge(CONFIG_HELLO_ON);
	struct frame f = rig_frame(1, 0, 3, 512);

	play(rig, true);
	rig_send_pfc(rig, 0, 0x08, 0xffff);
	rig_send_many(rig, 1, &f, 7);
	cr_assert_eq(rig_prio(rig, 0, 3).rx_paused, 1);
	for (uint32_t i = 0; i < 11; i++) {
		rig_send_pfc(rig, 0, 0x08, 0xffff); // data still comes: only hellos are missing
		rig_advance(rig, 100 * LS_MS);
	}
	cr_assert_not(used(rig));
	cr_assert(sw_carrier(rig->sw, (port_t){ 0 }));
	cr_assert_eq(rig_drops(rig, 0, DROP_LINK_FLUSH), 7);
	cr_assert_eq(rig_prio(rig, 0, 3).rx_paused, 0);
	for (uint32_t i = 0; i < HELLO_RETURN_COUNT; i++)
		play(rig, true);
	cr_assert(used(rig));
	rig_end(rig);
}

Test(hello, a_required_peer_is_not_used_before_it_has_spoken)
{
	struct rig *rig = bridge(CONFIG_HELLO_REQUIRED);

	cr_assert_not(used(rig));
	play(rig, false);
	cr_assert_not(used(rig));
	play(rig, true);
	cr_assert(used(rig));
	rig_end(rig);
}

Test(hello, a_hello_that_cannot_be_read_is_dropped_and_one_on_an_edge_port_too)
{
	struct rig *rig = bridge(CONFIG_HELLO_ON);
	const uint8_t src[6] = { 2 };
	uint8_t bytes[HELLO_FRAME_MAX];
	struct hello_mask none = { { 0 } };
	const uint32_t len = hello_encode(&played, &none, src, bytes);

	rig_send_bytes(rig, 0, bytes, len - 1);
	cr_assert_eq(rig_drops(rig, 0, DROP_HELLO_MALFORMED), 1);
	rig_send_bytes(rig, 1, bytes, len);
	cr_assert_eq(rig_drops(rig, 1, DROP_RESERVED_MAC), 1);
	cr_assert_eq(rig_port(rig, 0).hello_rx_pkts, 0);
	cr_assert_eq(rig_pg(rig, 0, 0).packets, 0);
	rig_end(rig);
}

Test(hello, a_peer_that_disagrees_gets_no_lossless_traffic_from_the_bridge)
{
	struct rig *rig = bridge(CONFIG_HELLO_ON);
	struct frame lossless = rig_frame(1, 0, 3, 512);
	struct frame lossy = rig_frame(1, 0, 0, 512);
	struct frame got;

	played.lanes.pfc_sent = 0x08;
	play(rig, true);
	cr_assert_eq(sw_peer(rig->sw, (port_t){ 0 })->mismatch, HELLO_PFC_SENT);
	rig_send(rig, 1, &lossless);
	rig_send(rig, 1, &lossy);
	cr_assert_eq(rig_drops(rig, 0, DROP_EGRESS_MISMATCH), 1);
	cr_assert(rig_take_frame(rig, 0, &got));
	cr_assert_not(rig_take_frame(rig, 0, &got));
	played.lanes.pfc_sent = 0x18;
	play(rig, true);
	rig_send(rig, 1, &lossless);
	cr_assert(rig_take_frame(rig, 0, &got));
	rig_end(rig);
}

Test(hello, hellos_may_be_turned_off_and_on_while_it_runs)
{
	struct rig *rig = bridge(CONFIG_HELLO_ON);

	play(rig, true);
	for (uint32_t i = 0; i < 11; i++)
		rig_advance(rig, 100 * LS_MS);
	cr_assert_not(used(rig));
	rig->config->port[0].hello = CONFIG_HELLO_OFF;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert(used(rig));
	cr_assert_eq(sw_peer(rig->sw, (port_t){ 0 })->status, HELLO_OFF);
	rig->config->port[0].hello = CONFIG_HELLO_REQUIRED;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_not(used(rig));
	play(rig, true);
	cr_assert(used(rig));
	rig_end(rig);
}
