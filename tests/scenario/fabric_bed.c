// SPDX-License-Identifier: BSD-3-Clause
//
// From the words of an intent to cores that run: what weft plan writes for each switch is loaded as
// a switch loads it, and cables become links of a virtual net.

#include "tests/scenario/fabric_bed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "dataplane/core/preset.h"
#include "fabricmgr/core/address.h"
#include "fabricmgr/switch_config.h"
#include "sys/cfg_load.h"

enum { PATH_BYTES = 64, LEN = 1226 }; // 1250 bytes of wire

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

void bed_plan(struct fabric_bed *bed, const char *intent)
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
					    .delay_ns = BED_DELAY_NS,
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

struct sw_config *bed_configure(const struct fabric_bed *bed, uint32_t at)
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

static void add_host(struct fabric_bed *bed, uint32_t i, bed_flows *flows)
{
	const struct fabric_host_port *port = &bed->source.fabric.host_ports[i];
	struct host_config config;

	host_config_init(&config, i);
	config.mac = fabric_host_mac(&bed->source.fabric, i);
	config.ip = load_be32(port->ip.address);
	config.bps = BED_BPS;
	config.announce = false;
	flows(bed, &config, i);
	bed->host[i] = net_add_host(bed->net, &config);
	net_join(bed->net, bed->host[i], 0, bed->sw[port->at], port->port, BED_BPS, BED_DELAY_NS);
}

void bed_build(struct fabric_bed *bed, const char *intent, bed_flows *flows)
{
	const struct fabric *fabric = &bed->source.fabric;

	bed_plan(bed, intent);
	bed->net = net_new();
	cr_assert_leq(fabric->switch_count, BED_SWITCHES_MAX);
	cr_assert_leq(fabric->host_port_count, BED_HOSTS_MAX);
	bed->host_count = fabric->host_port_count;
	for (uint32_t at = 0; at < fabric->switch_count; at++)
		bed->sw[at] = net_add_switch(bed->net, rig_new_blank(bed_configure(bed, at)));
	for (uint32_t i = 0; i < bed->host_count; i++)
		add_host(bed, i, flows);
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		net_join(bed->net, bed->sw[cable->end_switch[0]], cable->end_port[0],
			 bed->sw[cable->end_switch[1]], cable->end_port[1], BED_BPS, BED_DELAY_NS);
	}
}

// --- sums over switches -----------------------------------------------------------------------

static void add_port(const struct rig *rig, uint32_t port, struct bed_sums *sums)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		sums->xoffs[prio] += rig->pfc[port].xoff[prio];
		if (rig->pf->port[port].fabric)
			sums->packets[prio] += rig_queue(rig, port, prio).packets;
		sums->headroom = u64_max(sums->headroom,
					 rig_pg(rig, port, prio).xoff_room_watermark_bytes);
	}
}

struct bed_sums bed_sum(const struct fabric_bed *bed)
{
	struct bed_sums sums = { 0 };

	for (uint32_t at = 0; at < bed->source.fabric.switch_count; at++) {
		const struct rig *rig = net_rig(bed->net, bed->sw[at]);

		sums.drops += rig_all_drops(rig);
		sums.open += rig_is_open(rig);
		for (uint32_t port = 0; port < rig->pf->port_count; port++)
			add_port(rig, port, &sums);
	}
	return sums;
}

// --- flows ------------------------------------------------------------------------------------

struct host_flow_config *bed_flow(const struct fabric_bed *bed, struct host_config *config,
				  uint32_t to)
{
	const struct fabric *fabric = &bed->source.fabric;
	struct host_flow_config *flow = host_add_flow(config, to, 3, LEN);

	flow->dst_mac = fabric_host_mac(fabric, to);
	flow->dst_ip = load_be32(fabric->host_ports[to].ip.address);
	flow->dscp = 26;
	flow->qp = config->id << 8 | to;
	return flow;
}

void bed_end(struct fabric_bed *bed)
{
	net_end(bed->net);
	source_close(&bed->source);
}
