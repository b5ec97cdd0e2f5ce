// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics as weft plan writes them: the text of every switch becomes a core, cables become links,
// and all hosts send to all, some more than their receiver takes. Everything arrives although
// nothing but pauses holds anybody back, on one lane and on two.

#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "dataplane/core/preset.h"
#include "fabricmgr/core/address.h"
#include "fabricmgr/switch_config.h"
#include "sys/cfg_load.h"
#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	LEN = 1226, // 1250 bytes of wire
	HOSTS = 16,
	SWITCHES_MAX = 32,
	FRAMES = 40,
	MORE = 10, // times as many to the first host
	PRIO = 3,
	DELAY_NS = 250, // of 50 m, rounded up to what the test's links take
	RESPONSE_NS = 50000,
	PATH_BYTES = 64,
};

#define MS 1000000ull
#define BPS 1000000000ull
#define START (10 * MS) // links carry nothing before the first hello
#define END (300 * MS)  // what host 0 receives takes 60 ms of its line

struct bed {
	struct source source;
	struct planner planner;
	struct qos qos;
	struct net *net;
	uint32_t sw[SWITCHES_MAX];
	uint32_t host[HOSTS];
};

// --- from an intent to cores ------------------------------------------------------------------

static void path_of(char path[PATH_BYTES], const char *text)
{
	int fd;

	snprintf(path, PATH_BYTES, "/tmp/weft-fabric-configs-XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void plan(struct bed *bed, const char *intent)
{
	struct planner_options options = { .engine_count = 0 };
	struct qos_options qos;
	char path[PATH_BYTES];
	bool memory_short;

	path_of(path, intent);
	cr_assert_eq(source_open(&bed->source, path, stderr), 0);
	unlink(path);
	cr_assert(planner_plan(&bed->source.fabric, &bed->source.graph, &options, &bed->source.keep,
			       &bed->source.scratch, &bed->planner));
	qos = source_qos(&bed->source, bed->planner.plan.turns.lane_count);
	cr_assert(qos_plan(&bed->source.fabric, &qos, &bed->source.scratch, &bed->qos,
			   &memory_short));
}

// What a port on a wire needs behind XOFF, where the preset asks: see scenario_preset.
static struct preset_port need_of(const struct port_config *port)
{
	const struct headroom_path path = { .class = HEADROOM_WIRE,
					    .bps = port->speed,
					    .delay_ns = DELAY_NS,
					    .ahead_frames = 1,
					    .frame_bytes = (uint32_t)port->mtu + 14 + 8,
					    .cell_bytes = 1 };

	return (struct preset_port){ headroom_class_bytes(&path), headroom_class_frames(&path) };
}

static struct sw_config *load(const char *text)
{
	struct sw_config *written = calloc(1, sizeof(*written));
	struct sw_config *config = calloc(1, sizeof(*config));
	struct preset_port needs[CONFIG_PORT_MAX];
	struct profile_fault fault;
	char path[PATH_BYTES];

	path_of(path, text);
	cr_assert_eq(cfg_load(path, config_tables, CONFIG_TABLE_COUNT, written, stderr), 0);
	unlink(path);
	for (uint32_t i = 0; i < written->port_count; i++)
		needs[i] = need_of(&written->port[i]);
	cr_assert_eq(preset_expand(written, needs, config, &fault), 0);
	free(written);
	return config;
}

static struct sw_config *configure(struct bed *bed, uint32_t at)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct sw_config *config;

	cr_assert_not_null(out);
	cr_assert_eq(switch_config_write(&bed->source, &bed->planner.plan, &bed->qos, at, NULL,
					 true, out, stderr),
		     0);
	fclose(out);
	config = load(text);
	free(text);
	return config;
}

static void add_flows(struct bed *bed, struct host_config *config, uint32_t from)
{
	const struct fabric *fabric = &bed->source.fabric;

	for (uint32_t k = 1; k < HOSTS; k++) {
		const uint32_t to = (from + k) % HOSTS;
		struct host_flow_config *flow = host_add_flow(config, to, PRIO, LEN);

		flow->dst_mac = fabric_host_mac(fabric, to);
		flow->dst_ip = load_be32(fabric->host_ports[to].ip.address);
		flow->dscp = 26;
		flow->qp = from << 8 | to;
		flow->frames = to == 0 ? FRAMES * MORE : FRAMES;
		flow->start = (ns_t){ START };
	}
}

static void add_host(struct bed *bed, uint32_t i)
{
	const struct fabric_host_port *port = &bed->source.fabric.host_ports[i];
	struct host_config config;

	host_config_init(&config, i);
	config.mac = fabric_host_mac(&bed->source.fabric, i);
	config.ip = load_be32(port->ip.address);
	config.bps = BPS;
	config.announce = false;
	add_flows(bed, &config, i);
	bed->host[i] = net_add_host(bed->net, &config);
	net_join(bed->net, bed->host[i], 0, bed->sw[port->at], port->port, BPS, DELAY_NS);
}

static void build(struct bed *bed, const char *intent)
{
	const struct fabric *fabric = &bed->source.fabric;

	plan(bed, intent);
	bed->net = net_new();
	cr_assert_leq(fabric->switch_count, SWITCHES_MAX);
	cr_assert_eq(fabric->host_port_count, HOSTS);
	for (uint32_t at = 0; at < fabric->switch_count; at++)
		bed->sw[at] = net_add_switch(bed->net, rig_new_blank(configure(bed, at)));
	for (uint32_t i = 0; i < HOSTS; i++)
		add_host(bed, i);
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		net_join(bed->net, bed->sw[cable->end_switch[0]], cable->end_port[0],
			 bed->sw[cable->end_switch[1]], cable->end_port[1], BPS, DELAY_NS);
	}
}

static void end(struct bed *bed)
{
	net_end(bed->net);
	source_close(&bed->source);
}

// --- sums over switches -----------------------------------------------------------------------

struct sums {
	uint64_t drops;
	uint64_t open; // switches in which nothing waits
	uint64_t xoffs[PRIO_COUNT];
	uint64_t packets[PRIO_COUNT]; // that left by links between switches
	uint64_t headroom;            // most bytes that a group has held
};

static void add_port(const struct rig *rig, uint32_t port, struct sums *sums)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		sums->xoffs[prio] += rig->pfc[port].xoff[prio];
		if (rig->pf->port[port].fabric)
			sums->packets[prio] += rig_queue(rig, port, prio).packets;
		sums->headroom = u64_max(sums->headroom,
					 rig_pg(rig, port, prio).xoff_room_watermark_bytes);
	}
}

static struct sums sums_of(const struct bed *bed)
{
	struct sums sums = { 0 };

	for (uint32_t at = 0; at < bed->source.fabric.switch_count; at++) {
		const struct rig *rig = net_rig(bed->net, bed->sw[at]);

		sums.drops += rig_all_drops(rig);
		sums.open += rig_is_open(rig);
		for (uint32_t port = 0; port < rig->pf->port_count; port++)
			add_port(rig, port, &sums);
	}
	return sums;
}

// Everything has come, in order.
static void check_hosts(const struct bed *bed)
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

#define LINKS "speed = \"1G\"; length = \"50m\"; host_length = \"50m\"; mtu = 1500; ring = 1;"

static const struct {
	const char *what;
	const char *intent;
	bool lanes;
} rows[] = {
	{ "a fat-tree, by the preset", "fat_tree = { k = 4; }; " LINKS, false },
	{ "a Torus on two lanes", "torus = { dims = [4, 4]; }; " LINKS, true },
	{ "a fat-tree with classes",
	  "fat_tree = { k = 4; }; " LINKS "classes = ( { name = \"roce\"; dscp = [26]; }, "
	  "{ name = \"storage\"; dscp = [18]; share = \"20%\"; } );",
	  false },
	{ "a fat-tree with gateways", "fat_tree = { k = 4; }; addressing = \"per_leaf\"; " LINKS,
	  false },
};

TABLE_TEST(fabric_configs, all_to_all_arrives, row, rows)
{
	struct bed bed;
	struct sums sums;

	build(&bed, row->intent);
	net_run(bed.net, END);
	sums = sums_of(&bed);
	check_hosts(&bed);
	cr_assert_eq(sums.drops, 0, "%s", row->what);
	cr_assert_eq(sums.open, bed.source.fabric.switch_count, "%s", row->what);
	cr_assert_gt(sums.xoffs[PRIO], 0, "%s", row->what);
	cr_assert_gt(sums.headroom, 0, "%s", row->what);
	cr_assert_gt(sums.packets[PRIO], 0);
	cr_assert_eq(sums.packets[PRIO + 1] > 0, row->lanes, "%s", row->what);
	end(&bed);
}

// --- tenants ----------------------------------------------------------------------------------

// Frames that are sent to a host by those who may, or may not.
static uint64_t frames_to(const struct bed *bed, uint32_t to, bool allowed)
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
	struct bed bed;
	uint64_t denied = 0;
	uint64_t dropped = 0;

	build(&bed, "fat_tree = { k = 4; }; " LINKS
		    "tenants = ( { name = \"red\"; hosts = \"host1..host5\"; }, "
		    "{ name = \"blue\"; hosts = \"host6..host14\"; } );");
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
	cr_assert_eq(sums_of(&bed).drops, denied);
	end(&bed);
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

static uint32_t address_of(const struct bed *bed, uint32_t host)
{
	return host == NO_HOST ? 0xc0a80001 :
				 load_be32(bed->source.fabric.host_ports[host].ip.address);
}

TABLE_TEST(fabric_configs, nobody_takes_another_part, row, port_rows)
{
	struct bed bed;
	struct frame f;
	struct rig *rig;

	plan(&bed, "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 4; }; " LINKS
		   "tenants = ( { name = \"red\"; hosts = \"host1, host2\"; }, "
		   "{ name = \"blue\"; hosts = \"host3, host4\"; } );");
	rig = rig_new_blank(configure(&bed, 0));
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
