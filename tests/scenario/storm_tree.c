// SPDX-License-Identifier: BSD-3-Clause
//
// A host that pauses without end, two switches away from some of those that send to it: with the
// watchdog nothing but what goes to that host or comes from it is slower; without, the congestion
// tree holds exactly the ports whose hosts send into it, and all goes on when the storm is over.
// Nine hosts, each of which sends to the next one:
//
//	0, 1, 4, 7, 8 -- switch 0 -- trunk -- switch 1 -- 2 (storm), 3, 5, 6

#include "tests/rig/crew.h"
#include "tests/table.h"

enum {
	SWITCHES = 2,
	HOSTS = 9,
	PORTS_MAX = 6, // of a switch, the trunk with them
	SENDER = 1,
	STORM = 2,
	VICTIM = 4,
	PRIO = 3,
	DSCP = 3,
	DELAY_NS = 250,
	MESSAGE_BYTES = 65536,
	POOL_BYTES = 4000000, // a group alone gets a ninth of it: 44 ms at 80M
};

#define LINE_BPS 100000000ull
#define TRUNK_BPS 1000000000ull
#define MS 1000000ull
#define START_NS (200 * MS)
#define STOP_NS (2700 * MS)
#define END_NS (3000 * MS)

static const uint8_t switch_of[HOSTS] = { 0, 0, 1, 1, 0, 1, 1, 0, 0 };

// Flows by sender that stand still without a watchdog: data and acknowledgements that cross the
// trunk towards switch 1, and what hosts 1 and 2 have to acknowledge.
static const bool held[HOSTS] = { true, true, true, true, true, false, true, false, false };

struct stage {
	struct net *net;
	struct rig *rig[SWITCHES];
	uint32_t port[HOSTS]; // of a host, at its switch
	uint32_t trunk[SWITCHES];
	struct job_flow flow[HOSTS];
	struct job_config config;
	struct crew crew;
};

static struct sw_config *switch_config(uint32_t ports, enum watchdog_action action)
{
	struct sw_config *c = setup_kvm(ports);
	struct pfc_wd_config *row = setup_pfc_wd(c, "all", action);

	c->sw.pfc_wd_poll_interval = 100 * MS;
	row->detection_time = 100 * MS;
	row->restoration_time = 100 * MS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = POOL_BYTES;
	for (uint32_t i = 0; i < ports; i++)
		c->port[i].speed = i + 1 < ports ? LINE_BPS : TRUNK_BPS;
	return c;
}

// Each switch with its hosts on its first ports, in their order, and the trunk on the last one.
static void build_switches(struct stage *stage, enum watchdog_action action)
{
	uint32_t count[SWITCHES] = { 0 };

	for (uint32_t i = 0; i < HOSTS; i++)
		stage->port[i] = count[switch_of[i]]++;
	for (uint32_t s = 0; s < SWITCHES; s++) {
		stage->trunk[s] = count[s];
		stage->rig[s] = rig_new_blank(switch_config(count[s] + 1, action));
		net_add_switch(stage->net, stage->rig[s]);
		for (uint32_t i = 0; i < HOSTS; i++) {
			const bool own = switch_of[i] == s;

			rig_mac_set(stage->rig[s], frame_host_mac(i), 1,
				    (port_t){ (uint16_t)(own ? stage->port[i] : count[s]) });
		}
	}
	net_join(stage->net, 0, stage->trunk[0], 1, stage->trunk[1], TRUNK_BPS, DELAY_NS);
}

static void add_hosts(struct stage *stage, bool storm)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		struct endpoint_profile pf = crew_profile(&stage->crew, i, LINE_BPS);

		pf.rc.timeout_ns = END_NS;
		if (i == STORM && storm)
			pf.trouble = (struct endpoint_trouble){ .storm = 1 << PRIO,
								.storm_quanta = 0xffff,
								.storm_gap_ns = 10 * MS,
								.storm_start = { START_NS },
								.storm_stop = { STOP_NS } };
		net_join(stage->net, crew_add(&stage->crew, i, &pf), 0, switch_of[i],
			 stage->port[i], LINE_BPS, DELAY_NS);
	}
	crew_connect(&stage->crew);
}

// Hosts send at four fifths of their lines, so that nothing waits in a queue unless it is held.
static void stage_run(struct stage *stage, enum watchdog_action action, bool storm)
{
	const uint64_t message_ns = MESSAGE_BYTES / 1024 * (1024 + 82) * 8 * 1000000000ull /
				    LINE_BPS;

	*stage = (struct stage){ .net = net_new(),
				 .config = { .rank_count = HOSTS, .flow_count = HOSTS } };
	for (uint32_t i = 0; i < HOSTS; i++)
		stage->flow[i] = (struct job_flow){ .src = i,
						    .dst = (i + 1) % HOSTS,
						    .op = RC_WRITE,
						    .dscp = DSCP,
						    .depth = 16,
						    .bytes = MESSAGE_BYTES,
						    .gap_ns = message_ns * 5 / 4,
						    .stop = { END_NS } };
	stage->config.flow = stage->flow;
	build_switches(stage, action);
	crew_init(&stage->crew, stage->net, &stage->config, false);
	add_hosts(stage, storm);
	net_run(stage->net, STOP_NS - MS);
}

static void stage_end(struct stage *stage)
{
	net_end(stage->net);
	crew_end(&stage->crew);
}

static uint64_t bytes_of(const struct stage *stage, uint32_t flow)
{
	struct job_flow_result result;

	job_flow_result(stage->crew.job, flow, &result);
	return result.bytes;
}

// The ports whose peers have been paused are the trunk of switch 1, and at switch 0 those of the
// hosts that send into it: all others have never been.
static void check_tree(const struct stage *stage)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		const struct rig *rig = stage->rig[switch_of[i]];
		const bool paused = i == SENDER || i == VICTIM;

		cr_assert_eq(rig_prio(rig, stage->port[i], PRIO).pfc_tx_pkts > 0, paused, "host %u",
			     i);
		cr_assert_eq(rig_pg(rig, stage->port[i], PRIO).xoff_state, paused, "host %u", i);
	}
	cr_assert_eq(rig_prio(stage->rig[0], stage->trunk[0], PRIO).pfc_tx_pkts, 0);
	cr_assert_eq(rig_pg(stage->rig[1], stage->trunk[1], PRIO).xoff_state, 1);
	cr_assert_gt(rig_prio(stage->rig[0], stage->trunk[0], PRIO).pfc_rx_pkts, 0);
}

// What goes to the host that storms has been dropped at its port, and what came from it.
static void check_watched(const struct stage *stage)
{
	const struct rig *rig = stage->rig[1];
	const uint32_t port = stage->port[STORM];
	const uint64_t tx = rig_drops(rig, port, DROP_PFC_WD_TX);
	const uint64_t rx = rig_drops(rig, port, DROP_PFC_WD_RX);

	cr_assert_gt(tx, 0);
	cr_assert_eq(rig_all_drops(rig), tx + rx);
	cr_assert_eq(rig_all_drops(stage->rig[0]), 0);
	cr_assert_eq(stage->rig[0]->storms, 0);
	cr_assert_eq(rig->storms, 1);
}

static const struct {
	const char *what;
	enum watchdog_action action;
	bool watched;
} storm_rows[] = {
	{ "a watchdog that drops", WATCHDOG_DROP, true },
	{ "a watchdog that only reports", WATCHDOG_ALERT, false },
};

TABLE_TEST(storm_tree, two_levels, row, storm_rows)
{
	struct stage calm, stage;

	stage_run(&calm, row->action, false);
	stage_run(&stage, row->action, true);
	for (uint32_t i = 0; i < HOSTS; i++) {
		const double ratio = (double)bytes_of(&stage, i) / (double)bytes_of(&calm, i);
		const bool slow = row->watched ? i == SENDER || i == STORM : held[i];

		cr_log_info("%s: %u to %u: %.1f %%", row->what, i, (i + 1) % HOSTS, 100 * ratio);
		if (slow)
			cr_assert_leq(ratio, 0.5, "%s: host %u: %.3f", row->what, i, ratio);
		else
			cr_assert_geq(ratio, 0.9, "%s: host %u: %.3f", row->what, i, ratio);
		// Without a storm nobody is paused.
		cr_assert_eq(rig_prio(calm.rig[switch_of[i]], calm.port[i], PRIO).pfc_tx_pkts, 0);
	}
	if (row->watched) {
		check_watched(&stage);
	} else {
		check_tree(&stage);
		// All that was held arrives, none of it twice.
		cr_assert(crew_run(&stage.crew, 2 * END_NS), "does not end");
		cr_assert_eq(crew_stats(&stage.crew).retransmits, 0);
		for (uint32_t s = 0; s < SWITCHES; s++)
			cr_assert_eq(rig_all_drops(stage.rig[s]), 0);
	}
	stage_end(&stage);
	stage_end(&calm);
}
