// SPDX-License-Identifier: BSD-3-Clause
//
// A switch that is away from its ports again and again, as on a machine that has much else to do,
// while a group stays in XOFF: its frames wait for an address that nobody tells. The peer counts
// down its pause meanwhile, and when that runs out before it is told more, it sends, and headroom
// takes in what it was never sized for. Absences up to seven eighths of the pause time lose
// nothing, since who comes back tells all peers at once; what no switch can cure is counted.

#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	SENDER = 0,
	SINK = 1,
	OTHER = 2,
	PORTS = 3,
	LEN = 1000,
	LINE_BPS = 100000000,
	QUANTA = 1000,
	PAUSE_NS = QUANTA * 5120, // 512 bit times at 100M
	LIMIT_BYTES = 50 * LEN,
	HEADROOM_BYTES = 120 * LEN, // an absence of two pauses brings 63 frames at half the line
	SEEDS = 10,
};

#define HOLD_NS 500000000ull

static const struct {
	const char *what;
	uint64_t away_percent; // the longest absence, of the pause time
	bool lapses;
} away_rows[] = {
	{ "never", 0, false },
	{ "shorter than half a pause", 45, false },
	{ "longer than half a pause", 80, false },
	{ "twice a pause", 200, true },
};

static struct sw_config *config(void)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *row = setup_find_profile(c, KVM_PG_LOSSLESS);

	row->size = HEADROOM_BYTES;
	row->xoff = HEADROOM_BYTES;
	row->dynamic_th = CONFIG_UNSET_INT;
	row->static_th = LIMIT_BYTES;
	c->sw.solicit_time = 2 * HOLD_NS;
	for (uint32_t i = 0; i < PORTS; i++) {
		c->port[i].speed = LINE_BPS;
		c->port[i].pfc_quanta = QUANTA;
		c->port[i].mtu = 1500;
	}
	return c;
}

// The other host's frames give the switch work, so that absences begin at any phase of a pause.
static struct net *lab(void)
{
	struct net *net = net_new();
	struct host_config host[PORTS];

	net_add_switch(net, rig_new_blank(config()));
	net_rig(net, 0)->answer_solicit = false;
	for (uint32_t i = 0; i < PORTS; i++) {
		host_config_init(&host[i], i);
		host[i].bps = LINE_BPS;
	}
	host_add_flow(&host[SENDER], SINK, 3, LEN)->bps = LINE_BPS / 2;
	host[SENDER].flow[0].stop = (ns_t){ 2 * HOLD_NS };
	host_add_flow(&host[OTHER], SENDER, 0, 100)->bps = LINE_BPS / 50;
	host[OTHER].flow[0].stop = (ns_t){ 2 * HOLD_NS };
	for (uint32_t i = 0; i < PORTS; i++)
		net_join(net, net_add_host(net, &host[i]), 0, 0, i, LINE_BPS, 100);
	return net;
}

TABLE_TEST(scenario, away_in_xoff, row, away_rows)
{
	uint64_t lapses = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct net *net = lab();
		struct rig *rig = net_rig(net, 0);
		uint64_t sent, lost;

		net_watch(net);
		net_lag(net, 0, PAUSE_NS * row->away_percent / 100, seed);
		net_run(net, HOLD_NS);
		cr_assert_eq(rig_pg(rig, SENDER, 3).xoff_state, 1, "%s", row->what);
		cr_assert_gt(rig_prio(rig, SENDER, 3).pfc_tx_pkts, 10, "told again and again");
		lapses += rig_prio(rig, SENDER, 3).tx_pause_lapses;
		if (!row->lapses)
			cr_assert_eq(lapses, 0, "%s, seed %lu", row->what, seed);

		rig_mac_set(rig, frame_host_mac(SINK), 1, (port_t){ SINK });
		net_lag(net, 0, 0, 0);
		cr_assert(net_run_dry(net, 10 * HOLD_NS));
		sent = net_host_stats(net, 1 + SENDER).prio[3].tx_packets;
		lost = rig_drops(rig, SENDER, DROP_PG_LOSSLESS_FULL);
		cr_assert_eq(rig_all_drops(rig), lost, "%s", row->what);
		cr_assert_eq(net_host_stats(net, 1 + SINK).prio[3].rx_packets, sent - lost);
		cr_assert_eq(lost > 0, row->lapses, "%s, seed %lu: %lu lost", row->what, seed,
			     lost);
		net_end(net);
	}
	cr_assert_eq(lapses > 0, row->lapses, "%s", row->what);
}
