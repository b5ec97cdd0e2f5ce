// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics as weft plan writes them: the text of every switch becomes a core, cables become links,
// and all hosts send to all, some more than their receiver takes. Everything arrives although
// nothing but pauses holds anybody back, on one lane and on two.

#include "base/bytes.h"
#include "fabricmgr/core/address.h"
#include "tests/scenario/fabric_bed.h"
#include "tests/table.h"

enum {
	HOSTS = 16,
	FRAMES = 40,
	MORE = 10, // times as many to the first host
	PRIO = 3,
};

#define MS 1000000ull
#define START (10 * MS) // links carry nothing before the first hello
#define END (300 * MS)  // what host 0 receives takes 60 ms of its line

static void all_to_all(const struct fabric_bed *bed, struct host_config *config, uint32_t from)
{
	for (uint32_t k = 1; k < HOSTS; k++) {
		const uint32_t to = (from + k) % HOSTS;
		struct host_flow_config *flow = bed_flow(bed, config, to);

		flow->frames = to == 0 ? FRAMES * MORE : FRAMES;
		flow->start = (ns_t){ START };
	}
}

// Everything has come, in order.
static void check_hosts(const struct fabric_bed *bed)
{
	for (uint32_t i = 0; i < HOSTS; i++) {
		const struct host_stats stats = net_host_stats(bed->net, bed->host[i]);

		cr_assert_eq(stats.prio[PRIO].rx_packets,
			     (HOSTS - 1) * FRAMES * (i == 0 ? MORE : 1), "host %u", i);
		cr_assert_eq(stats.prio[PRIO].rx_lost + stats.prio[PRIO].rx_reordered +
				     stats.rx_stray,
			     0, "host %u", i);
	}
}

// --- all to all -------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *intent;
	bool lanes;
} rows[] = {
	{ "a fat-tree, by the preset", "fat_tree = { k = 4; }; " BED_LINKS, false },
	{ "a Torus on two lanes", "torus = { dims = [4, 4]; }; " BED_LINKS, true },
	{ "a fat-tree with classes",
	  "fat_tree = { k = 4; }; " BED_LINKS "classes = ( { name = \"roce\"; dscp = [26]; }, "
	  "{ name = \"storage\"; dscp = [18]; share = \"20%\"; } );",
	  false },
	{ "a fat-tree with gateways",
	  "fat_tree = { k = 4; }; addressing = \"per_leaf\"; " BED_LINKS, false },
};

TABLE_TEST(fabric_configs, all_to_all_arrives, row, rows)
{
	struct fabric_bed bed;
	struct bed_sums sums;

	bed_build(&bed, row->intent, all_to_all);
	net_run(bed.net, END);
	sums = bed_sum(&bed);
	check_hosts(&bed);
	cr_assert_eq(sums.drops, 0, "%s", row->what);
	cr_assert_eq(sums.open, bed.source.fabric.switch_count, "%s", row->what);
	cr_assert_gt(sums.xoffs[PRIO], 0, "%s", row->what);
	cr_assert_gt(sums.headroom, 0, "%s", row->what);
	cr_assert_gt(sums.packets[PRIO], 0);
	cr_assert_eq(sums.packets[PRIO + 1] > 0, row->lanes, "%s", row->what);
	bed_end(&bed);
}

// --- tenants ----------------------------------------------------------------------------------

// Frames that are sent to a host by those who may, or may not.
static uint64_t frames_to(const struct fabric_bed *bed, uint32_t to, bool allowed)
{
	uint64_t frames = 0;

	for (uint32_t from = 0; from < HOSTS; from++) {
		if (from != to && fabric_allows(&bed->source.fabric, from, to) == allowed)
			frames += to == 0 ? FRAMES * MORE : FRAMES;
	}
	return frames;
}

// Of all frames those come that fabric_allows(); the others end at the port where they came in.
Test(fabric_configs, tenants_reach_their_own)
{
	struct fabric_bed bed;
	uint64_t denied = 0;
	uint64_t dropped = 0;

	bed_build(&bed,
		  "fat_tree = { k = 4; }; " BED_LINKS
		  "tenants = ( { name = \"red\"; hosts = \"host1..host5\"; }, "
		  "{ name = \"blue\"; hosts = \"host6..host14\"; } );",
		  all_to_all);
	net_run(bed.net, END);
	for (uint32_t to = 0; to < HOSTS; to++) {
		const uint64_t wanted = frames_to(&bed, to, true);

		cr_assert_eq(net_host_stats(bed.net, bed.host[to]).prio[PRIO].rx_packets, wanted,
			     "host %u", to);
		denied += frames_to(&bed, to, false);
	}
	for (uint32_t i = 0; i < HOSTS; i++) {
		const struct fabric_host_port *port = &bed.source.fabric.host_ports[i];

		dropped += rig_drops(net_rig(bed.net, bed.sw[port->at]), port->port, DROP_ACL_DENY);
	}
	cr_assert_gt(denied, 0);
	cr_assert_eq(dropped, denied);
	cr_assert_eq(bed_sum(&bed).drops, denied);
	bed_end(&bed);
}

// What host 0 of a tenant says of itself and to whom, at its port of a leaf; host 1 is of the same
// tenant, host 2 of another.
enum { NO_HOST = 99 };

static const struct {
	const char *what;
	uint32_t src_host, src_ip_host; // whose MAC and IP address the frame has
	uint32_t dst_host, dst_ip_host; // likewise
	enum frame_kind kind;
	enum drop_reason reason;
} port_rows[] = {
	{ "itself to its own", 0, 0, 1, 1, FRAME_UDP, DROP_NONE },
	{ "another's IP address", 0, 1, 1, 1, FRAME_UDP, DROP_SOURCE_GUARD },
	{ "another's MAC address", 1, 0, 1, 1, FRAME_UDP, DROP_SOURCE_GUARD },
	{ "to another tenant", 0, 0, 2, 2, FRAME_UDP, DROP_ACL_DENY },
	{ "to another tenant's MAC, under its own address", 0, 0, 2, NO_HOST, FRAME_UDP,
	  DROP_ACL_DENY },
	{ "to another tenant, no IP", 0, 0, 2, 2, FRAME_PLAIN, DROP_ACL_DENY },
};

static uint32_t address_of(const struct fabric_bed *bed, uint32_t host)
{
	return host == NO_HOST ? 0xc0a80001 :
				 load_be32(bed->source.fabric.host_ports[host].ip.address);
}

TABLE_TEST(fabric_configs, nobody_takes_another_part, row, port_rows)
{
	struct fabric_bed bed;
	struct frame f;
	struct rig *rig;

	bed_plan(&bed, "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 4; }; " BED_LINKS
		       "tenants = ( { name = \"red\"; hosts = \"host1, host2\"; }, "
		       "{ name = \"blue\"; hosts = \"host3, host4\"; } );");
	rig = rig_new_blank(bed_configure(&bed, 0));
	f = rig_frame(0, 1, 26, 200);
	f.src = fabric_host_mac(&bed.source.fabric, row->src_host);
	f.dst = fabric_host_mac(&bed.source.fabric, row->dst_host);
	f.src_ip = address_of(&bed, row->src_ip_host);
	f.dst_ip = address_of(&bed, row->dst_ip_host);
	f.kind = row->kind;
	f.ethertype = 0x88b5;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_all_drops(rig), row->reason != DROP_NONE, "%s", row->what);
	if (row->reason != DROP_NONE)
		cr_assert_eq(rig_drops(rig, 0, row->reason), 1, "%s", row->what);
	cr_assert_eq(rig_release(rig, 1, 10), row->reason == DROP_NONE, "%s", row->what);
	rig_end(rig);
	source_close(&bed.source);
}
