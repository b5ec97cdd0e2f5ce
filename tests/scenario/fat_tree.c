// SPDX-License-Identifier: BSD-3-Clause
//
// Twenty switches and sixteen hosts at 10 Gb/s: an all-to-all and an incast over a fat-tree of
// k = 4, with a link that dies in the middle. Lossless ends without loss, in order, and over all
// paths; a valley in wrong tables is refused by the turn map.

#include "tests/rig/fat_tree.h"
#include "tests/table.h"

enum {
	LEN = 1226, // 1250 bytes of wire: 1 us
	FRAMES = 40,
	PRIO = 3,
	POOL_BYTES = 300000,
	DELAY_NS = 250,
};

#define MS 1000000ull
#define BPS 10000000000u

static void add_flow(struct host_config *hosts, uint32_t from, uint32_t to, uint64_t frames)
{
	struct host_flow_config *flow = host_add_flow(&hosts[from], to, PRIO, LEN);

	flow->frames = frames;
	flow->qp = from << 8 | to;
}

static struct fat_tree tree_new(const struct host_config *hosts)
{
	struct sw_config *switches[TREE_SWITCHES];

	for (uint32_t i = 0; i < TREE_SWITCHES; i++)
		switches[i] = fat_tree_switch(i, POOL_BYTES, BPS);
	return fat_tree_new(switches, hosts, BPS, DELAY_NS);
}

static void hosts_init(struct host_config hosts[TREE_HOSTS])
{
	for (uint32_t i = 0; i < TREE_HOSTS; i++)
		host_config_init(&hosts[i], i);
}

static void check_in_order(const struct fat_tree *tree)
{
	for (uint32_t host = 0; host < TREE_HOSTS; host++) {
		const struct host_stats stats = net_host_stats(tree->net, tree->host[host]);

		cr_assert_eq(stats.prio[PRIO].rx_lost, 0, "host %u", host);
		cr_assert_eq(stats.prio[PRIO].rx_reordered, 0, "host %u", host);
		cr_assert_eq(stats.rx_stray, 0, "host %u", host);
	}
}

Test(fat_tree, all_to_all_is_lossless_and_uses_every_link)
{
	struct host_config hosts[TREE_HOSTS];
	struct fat_tree tree;

	hosts_init(hosts);
	for (uint32_t i = 0; i < TREE_HOSTS; i++) {
		for (uint32_t k = 1; k < TREE_HOSTS; k++)
			add_flow(hosts, i, (i + k) % TREE_HOSTS, FRAMES);
	}
	tree = tree_new(hosts);
	cr_assert(net_run_dry(tree.net, 100 * MS));
	cr_assert_eq(fat_tree_received(&tree, PRIO), TREE_HOSTS * (TREE_HOSTS - 1) * FRAMES);
	cr_assert_eq(fat_tree_drops(&tree), 0);
	cr_assert_gt(fat_tree_xoffs(&tree, PRIO), 0);
	cr_assert_gt(fat_tree_headroom(&tree, PRIO), 0);
	check_in_order(&tree);
	for (uint32_t i = 0; i < TREE_SWITCHES; i++) {
		for (uint32_t port = 0; port < TREE_PORTS; port++)
			cr_assert_gt(rig_queue(net_rig(tree.net, tree.sw[i]), port, PRIO).packets,
				     0, "switch %u port %u", i, port);
	}
	net_end(tree.net);
}

// Fifteen to one: the pauses reach back over cores to every other pod.
Test(fat_tree, an_incast_pauses_all_the_way_back)
{
	struct host_config hosts[TREE_HOSTS];
	struct fat_tree tree;

	hosts_init(hosts);
	for (uint32_t i = 1; i < TREE_HOSTS; i++)
		add_flow(hosts, i, 0, 400);
	tree = tree_new(hosts);
	net_watch(tree.net);
	cr_assert(net_run_dry(tree.net, 100 * MS));
	cr_assert_eq(fat_tree_received(&tree, PRIO), (TREE_HOSTS - 1) * 400);
	cr_assert_eq(fat_tree_drops(&tree), 0);
	cr_assert_gt(fat_tree_headroom(&tree, PRIO), 0);
	check_in_order(&tree);
	for (uint32_t i = 2; i < TREE_HOSTS; i++)
		cr_assert_gt(net_host_stats(tree.net, tree.host[i]).prio[PRIO].pfc_rx, 0, "host %u",
			     i);
	net_end(tree.net);
}

// An uplink of edge 0 dies with frames on it. What the link and the queue before it held is lost
// and counted; everything sent after that finds the other uplink. Towards edge 0 the core and the
// aggregation switch still have their only way down through the dead link: those flows end as
// counted drops until somebody tells the others, which is not this test's business, so edge 0 only
// sends.
Test(fat_tree, a_dead_uplink_costs_what_was_on_it)
{
	struct host_config hosts[TREE_HOSTS];
	struct fat_tree tree;
	uint64_t lost;

	hosts_init(hosts);
	for (uint32_t to = 4; to < TREE_HOSTS; to++) {
		add_flow(hosts, 0, to, 100);
		add_flow(hosts, 1, to, 100);
	}
	tree = tree_new(hosts);
	net_run(tree.net, MS / 2);
	net_link(tree.net, tree.sw[0], TREE_UP, false);
	cr_assert(net_run_dry(tree.net, 100 * MS));
	lost = net_lost(tree.net) +
	       rig_drops(net_rig(tree.net, tree.sw[0]), TREE_UP, DROP_LINK_FLUSH);
	cr_assert_eq(fat_tree_received(&tree, PRIO) + lost, 2 * 12 * 100);
	cr_assert_eq(fat_tree_drops(&tree) + net_lost(tree.net), lost);
	cr_assert_gt(lost, 0);
	// Half a millisecond at most was on its way when the link died.
	cr_assert_lt(lost, 500);
	cr_assert_eq(rig_drops(net_rig(tree.net, tree.sw[0]), 0, DROP_GROUP_DEAD), 0);
	net_end(tree.net);
}

// An aggregation switch that sends a packet from a core up to the other core.
Test(fat_tree, a_valley_is_refused)
{
	struct host_config hosts[TREE_HOSTS];
	struct fat_tree tree;
	const uint32_t wrong = TREE_EDGES; // of pod 0

	hosts_init(hosts);
	for (uint32_t i = 4; i < TREE_HOSTS; i++)
		add_flow(hosts, i, 0, 100);
	tree = tree_new(hosts);
	for (uint16_t group = 0; group < 3; group++) // the group "up" is the last one
		tables_edge_set(net_rig(tree.net, tree.sw[wrong])->tables, 0, group);
	cr_assert(net_run_dry(tree.net, 100 * MS));
	cr_assert_gt(rig_drops(net_rig(tree.net, tree.sw[wrong]), 2, DROP_TURN_DENIED) +
			     rig_drops(net_rig(tree.net, tree.sw[wrong]), 3, DROP_TURN_DENIED),
		     0);
	cr_assert_eq(fat_tree_received(&tree, PRIO) + fat_tree_drops(&tree), 12 * 100);
	net_end(tree.net);
}
