// SPDX-License-Identifier: BSD-3-Clause
//
// Configurations of switches that are written for a plan: a switch takes each of them, and what its
// tables do then is what the plan says, looked up turn by turn, edge by edge and host by host.

#include "fabricmgr/switch_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "dataplane/core/preset.h"
#include "dataplane/core/tables.h"
#include "fabricmgr/core/address.h"
#include "sys/cfg_load.h"
#include "sys/fault.h"
#include "sys/lines.h"
#include "tests/table.h"

enum {
	NEIGHBORS = 16,
	HEADROOM_BYTES = 400000, // of a port, where the preset asks
	HEADROOM_DESCRIPTORS = 2000,
	PATH_BYTES = 256,
};

// --- a fabric and its plan --------------------------------------------------------------------

struct bench {
	struct source source;
	struct planner planner;
	struct qos qos;
	struct lines errors;
};

static void write_file(const char *text, char path[PATH_BYTES])
{
	int fd;

	snprintf(path, PATH_BYTES, "/tmp/weft-switch-config-XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void open_file(struct bench *b, const char *path)
{
	struct planner_options options = { .engine_count = 0 };
	struct qos_options qos;
	bool memory_short;

	cr_assert(lines_open(&b->errors));
	cr_assert_eq(source_open(&b->source, path, stderr), 0, "%s", path);
	cr_assert(source_rules(&b->source, path, &options, stderr));
	cr_assert(planner_plan(&b->source.fabric, &b->source.graph, &options, &b->source.keep,
			       &b->source.scratch, &b->planner));
	qos = source_qos(&b->source, b->planner.plan.turns.lane_count);
	qos_plan(&b->source.fabric, &qos, &b->source.scratch, &b->qos, &memory_short);
	cr_assert(!memory_short);
}

static void open_text(struct bench *b, const char *text)
{
	char path[PATH_BYTES];

	write_file(text, path);
	open_file(b, path);
	unlink(path);
}

static void close_bench(struct bench *b)
{
	lines_close(&b->errors);
	source_close(&b->source);
}

static int write_switch(struct bench *b, uint32_t at, bool with_routes, FILE *out)
{
	return switch_config_write(&b->source, &b->planner.plan, &b->qos, at, NULL, with_routes,
				   out, b->errors.out);
}

// --- what a switch makes of a text ------------------------------------------------------------

struct made {
	struct sw_config *config;
	struct sw_profile *pf;
	void *memory;
	struct sw_tables *tables;
};

static void unmake(struct made *made)
{
	free(made->config);
	free(made->pf);
	free(made->memory);
}

static const char *why(const struct profile_fault *fault)
{
	static char text[256];

	fault_render(text, sizeof(text), profile_fault_texts[fault->id], fault->object,
		     fault->detail, fault->have, fault->want);
	return text;
}

// Loads the text, which a switch must take.
static struct made make(const char *text)
{
	static struct preset_port needs[CONFIG_PORT_MAX];
	struct sw_config *written = calloc(1, sizeof(*written));
	struct made made = { .config = calloc(1, sizeof(*written)) };
	struct profile_fault fault;
	char path[PATH_BYTES];
	size_t bytes;

	for (uint32_t i = 0; i < CONFIG_PORT_MAX; i++)
		needs[i] = (struct preset_port){ HEADROOM_BYTES, HEADROOM_DESCRIPTORS };
	write_file(text, path);
	cr_assert_eq(cfg_load(path, config_tables, CONFIG_TABLE_COUNT, written, stderr), 0, "%s",
		     text);
	unlink(path);
	cr_assert_eq(preset_expand(written, needs, made.config, &fault), 0, "%s", why(&fault));
	made.pf = calloc(1, profile_bytes(made.config));
	cr_assert_eq(profile_build(made.config, made.pf, &fault), 0, "line %u: %s\n%s", fault.line,
		     why(&fault), text);
	bytes = tables_bytes(made.config, NEIGHBORS);
	made.memory = aligned_alloc(64, bytes);
	cr_assert_eq(tables_build(made.config, made.pf, NEIGHBORS, made.memory, &made.tables,
				  &fault),
		     0, "line %u: %s", fault.line, why(&fault));
	free(written);
	return made;
}

static struct made make_switch(struct bench *b, uint32_t at, bool with_routes)
{
	struct lines text;
	struct made made;

	cr_assert(lines_open(&text));
	cr_assert_eq(write_switch(b, at, with_routes, text.out), 0, "%s", lines_text(&b->errors));
	made = make(lines_text(&text));
	lines_close(&text);
	return made;
}

// --- what it does -----------------------------------------------------------------------------

static void check_row(const struct bench *b, const struct made *made, uint32_t at, uint32_t edge)
{
	const struct topo *topo = &b->source.graph.topo;
	const struct plan *plan = &b->planner.plan;
	const uint16_t row = plan_rows(plan, edge)[at];
	const uint16_t have = edge < made->tables->edge_count ? made->tables->edge_group[edge] :
								GROUP_NONE;
	const struct group *group;

	if (!plan_is_group(row)) {
		cr_assert_eq(have, GROUP_NONE, "switch %u, edge %u", at, edge);
		return;
	}
	cr_assert_neq(have, GROUP_NONE, "switch %u, edge %u", at, edge);
	group = made->tables->group[have];
	cr_assert_eq(group->member_count, plan->group[row].hop_count);
	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct plan_hop *hop = &plan->hop[plan->group[row].first + i];

		cr_assert_eq(group->member[i].port.v,
			     topo->link_port[topo->link_first[at] + hop->link]);
		cr_assert_eq(group->member[i].weight, hop->weight);
	}
}

// Turns between links of the switch are those of the rules, hosts take from everybody, and back
// goes nothing.
static void check_turns(const struct bench *b, const struct made *made, uint32_t at)
{
	const struct topo *topo = &b->source.graph.topo;
	const struct plan *plan = &b->planner.plan;
	const uint32_t ports = b->source.fabric.switches[at].port_count;
	const uint32_t lanes = plan->turns.lane_count;

	for (uint32_t turn = 0; turn < ports * ports * lanes; turn++) {
		const port_t in = { (uint16_t)(turn / lanes / ports) };
		const port_t out = { (uint16_t)(turn / lanes % ports) };
		const uint32_t lane = turn % lanes;
		const uint32_t from = topo_link_at(topo, at, in.v);
		const uint32_t to = topo_link_at(topo, at, out.v);
		const uint8_t have = turn_map_get(made->tables->turns, in, out, lane);

		if (in.v == out.v)
			cr_assert_eq(have, TURN_DENY);
		else if (to == TOPO_NONE)
			cr_assert(have != TURN_DENY || (from == TOPO_NONE && lane > 0));
		else if (from != TOPO_NONE || lane == 0)
			cr_assert_eq(have, turn_rules_get(&plan->turns, from, to, (uint8_t)lane),
				     "switch %u, from %u to %u on lane %u", at, in.v, out.v, lane);
	}
}

static void check_host(const struct bench *b, const struct made *made, uint32_t host_port)
{
	const struct fabric *fabric = &b->source.fabric;
	const struct fabric_host_port *port = &fabric->host_ports[host_port];
	const uint64_t mac = fabric_host_mac(fabric, host_port);
	const uint32_t by_mac = edge_table_find_mac(made->tables->where, 1, mac);
	const struct dest *dest;

	if (fabric->hosts[port->host].external)
		return;
	cr_assert_neq(by_mac, EDGE_TABLE_NONE);
	if (port->ip.family == IP_V4)
		cr_assert_eq(edge_table_find_ipv4(made->tables->where, load_be32(port->ip.address)),
			     by_mac);
	if (port->ip6.family == IP_V6)
		cr_assert_eq(edge_table_find_ipv6(made->tables->where, port->ip6.address), by_mac);
	dest = &made->tables->dest[by_mac];
	cr_assert_eq(dest->number, b->source.graph.switch_edge[port->at]);
	cr_assert_eq(dest->port.v, port->port);
}

static void check_switch(struct bench *b, uint32_t at)
{
	const struct topo *topo = &b->source.graph.topo;
	struct made made = make_switch(b, at, true);

	cr_assert_eq(made.config->port_count, b->source.fabric.switches[at].port_count);
	for (uint32_t edge = 0; edge < topo->edge_count; edge++)
		check_row(b, &made, at, edge);
	check_turns(b, &made, at);
	for (uint32_t i = 0; i < b->source.fabric.host_port_count; i++)
		check_host(b, &made, i);
	unmake(&made);
	made = make_switch(b, at, false);
	cr_assert_eq(made.config->turn_count + made.config->edge_count, 0);
	unmake(&made);
}

static const char *const files[] = {
	EXAMPLES "/clos.cfg",   EXAMPLES "/fat-tree.cfg", EXAMPLES "/leaf-spine.cfg",
	EXAMPLES "/rails.cfg",  EXAMPLES "/links.cfg",    EXAMPLES "/torus.cfg",
	EXAMPLES "/hybrid.cfg",
};

TABLE_TEST(switch_config, of_an_example, file, files)
{
	struct bench b;

	open_file(&b, *file);
	for (uint32_t at = 0; at < b.source.fabric.switch_count; at++)
		check_switch(&b, at);
	close_bench(&b);
}

// --- classes and lanes --------------------------------------------------------------------------

#define CLASSES                                                                                    \
	"classes = ( { name = \"roce\"; dscp = [26]; share = \"40%\"; }, "                         \
	"{ name = \"storage\"; dscp = [18, 20]; share = \"30%\"; ecn = false; }, "                 \
	"{ name = \"bulk\"; dscp = [10]; lossless = false; share = \"20%\"; } );"

static const struct {
	const char *what;
	const char *intent;
	uint8_t lossless; // priorities: from 3 on, as in the field
	uint8_t hosts;    // those that hosts know
	uint8_t marked;
	uint8_t class_of[64]; // by DSCP, 0: all other traffic
} qos_rows[] = {
	{ "three classes",
	  "leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 2; }; " CLASSES,
	  0x18,
	  0x18,
	  0x28,
	  { [26] = 3, [18] = 4, [20] = 4, [10] = 5, [48] = 6 } },
	{ "two lanes", "torus = { dims = [4, 4]; };", 0x18, 0x08, 0x18, { [26] = 3, [48] = 6 } },
	{ "two lanes and a lossy class",
	  "torus = { dims = [4, 4]; }; classes = ( { name = \"a\"; dscp = [8]; }, "
	  "{ name = \"b\"; dscp = [9]; lossless = false; ecn = false; share = \"10%\"; } );",
	  0x18,
	  0x08,
	  0x18,
	  { [8] = 3, [9] = 5, [48] = 6 } },
	{ "nothing lossless",
	  "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 2; }; "
	  "classes = ( { name = \"a\"; dscp = [26]; lossless = false; } );",
	  0,
	  0,
	  0x08,
	  { [26] = 3, [48] = 6 } },
};

// What a port does with priority, group and queue `prio`.
static void check_prio(const struct bench *b, const struct port_profile *port, uint32_t row,
		       uint32_t prio)
{
	const bool known = (port->fabric ? qos_rows[row].lossless : qos_rows[row].hosts) >> prio &
			   1;
	const bool lossless = qos_rows[row].lossless >> prio & 1;
	const struct qos_ports *kind = qos_find_ports(&b->qos, 100000000000,
						      port->fabric ? 5000 : 2000, !port->fabric);
	const struct queue_profile *queue = &port->queue[prio];

	cr_assert_eq(port->gen.enable >> prio & 1, known, "%s", port->name);
	cr_assert_eq(port->rx.obey >> prio & 1, known);
	cr_assert_eq(port->pg[prio].lossless, known);
	cr_assert_eq(port->watched >> prio & 1, known);
	if (known)
		cr_assert_geq(port->pg[prio].headroom_bytes, kind->headroom.bytes);
	// The lanes that hosts do not know are the first one to them.
	if (lossless)
		cr_assert_eq(port->tc_to_queue[prio],
			     known ? prio : (uint32_t)__builtin_ctz(qos_rows[row].hosts));
	cr_assert_eq(queue->has_wred, qos_rows[row].marked >> prio & 1, "%s %u", port->name, prio);
	if (!queue->has_wred)
		return;
	cr_assert_eq(queue->wred.mark.min_bytes, kind->ecn_min_bytes);
	cr_assert_eq(queue->wred.mark.max_bytes, kind->ecn_max_bytes);
}

TABLE_TEST(switch_config, qos, row, qos_rows)
{
	const uint32_t number = (uint32_t)(row - qos_rows);
	struct bench b;
	struct made made;

	open_text(&b, row->intent);
	made = make_switch(&b, 0, true);
	cr_assert_eq(made.pf->lane_count,
		     b.planner.plan.turns.lane_count > 1 ? b.planner.plan.turns.lane_count : 0);
	for (uint32_t i = 0; i < made.pf->port_count; i++) {
		const struct port_profile *port = &made.pf->port[i];

		for (uint32_t dscp = 0; dscp < 64; dscp++)
			cr_assert_eq(port->dscp_to_tc[dscp], row->class_of[dscp], "%s: DSCP %u",
				     row->what, dscp);
		for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
			check_prio(&b, port, number, prio);
		cr_assert_eq(port->lane_tag, port->fabric && made.pf->lane_count > 1);
	}
	unmake(&made);
	close_bench(&b);
}

// A port that nothing is plugged into is closed, takes no headroom and obeys every priority.
static const char *const free_rows[] = { "", "classes = ( { name = \"a\"; dscp = [8]; } );" };

TABLE_TEST(switch_config, port_of_nobody, classes, free_rows)
{
	struct bench b;
	struct made made;
	char text[1024];

	snprintf(text, sizeof(text),
		 "switches = ( { name = \"s1\"; ports = 4; }, { name = \"s2\"; } ); "
		 "links = ( { a = \"s1:0\"; b = \"s2:0\"; } ); hosts = ( { name = \"a\"; at = "
		 "\"s1:2\"; }, { name = \"b\"; at = \"s2\"; } ); %s",
		 *classes);
	open_text(&b, text);
	made = make_switch(&b, 0, true);
	cr_assert_eq(made.pf->port_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct port_profile *port = &made.pf->port[i];
		const bool free = i % 2 == 1;

		cr_assert_eq(made.config->port[i].admin, !free);
		cr_assert_eq(port->pg[3].lossless, !free);
		cr_assert_eq(port->gen.enable, free ? 0 : 0x08);
		cr_assert_eq(port->rx.obey, free ? 0xff : 0x08);
	}
	unmake(&made);
	close_bench(&b);
}

// --- weights ----------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *links;
	uint16_t weight[2];
} weight_rows[] = {
	{ "as they are",
	  "{ a = \"s1:0\"; b = \"s2:0\"; weight = 255; }, "
	  "{ a = \"s1:1\"; b = \"s2:1\"; weight = 2; }",
	  { 255, 2 } },
	// 255 x 3 / 510 is 1.5, and halves go up.
	{ "larger ones scaled",
	  "{ a = \"s1:0\"; b = \"s2:0\"; weight = 3; }, "
	  "{ a = \"s1:1\"; b = \"s2:1\"; weight = 511; }",
	  { 1, 255 } },
	{ "none left out",
	  "{ a = \"s1:0\"; b = \"s2:0\"; weight = 1; }, "
	  "{ a = \"s1:1\"; b = \"s2:1\"; weight = 65535; }",
	  { 1, 255 } },
};

TABLE_TEST(switch_config, weights, row, weight_rows)
{
	struct bench b;
	struct made made;
	char text[1024];

	snprintf(text, sizeof(text),
		 "links = ( %s ); hosts = ( { name = \"a\"; at = \"s1\"; }, "
		 "{ name = \"b\"; at = \"s2\"; } );",
		 row->links);
	open_text(&b, text);
	made = make_switch(&b, 0, true);
	cr_assert_eq(made.config->next_hop_count, 2, "%s", row->what);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert_eq(made.config->next_hop[i].weight, row->weight[i], "%s", row->what);
	unmake(&made);
	close_bench(&b);
}

// --- what is refused --------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *intent;
	int rc;
	const char *line;
} refused_rows[] = {
	{ "routes by the number of the host",
	  "engine = \"dmodk\"; leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 2; };",
	  -ENOTSUP, "dmodk" },
	{ "a name that is none of a switch", "links = ( { a = \"a/b\"; b = \"c\"; } );", -EINVAL,
	  "a/b: is no name of a switch" },
	{ "more hosts than a switch knows",
	  "leaf_spine = { leaves = 64; spines = 1; hosts_per_leaf = 65; };", -EOVERFLOW,
	  "more rows of host than the 4096" },
	{ "lanes of two classes",
	  "torus = { dims = [4, 4]; }; classes = ( { name = \"a\"; dscp = [8]; }, "
	  "{ name = \"b\"; dscp = [9]; } );",
	  -ENOTSUP, "2 lossless classes on 2 lanes" },
	{ "more priorities than there are",
	  "hybrid = { pods = 2; dims = [4, 4]; spines = 2; gateways = 4; }; "
	  "classes = ( { name = \"a\"; dscp = [8]; }, { name = \"b\"; dscp = [9]; } );",
	  -EOVERFLOW, "10 priorities" },
	{ "more ports than a switch has",
	  "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 256; };", -EOVERFLOW,
	  "257 ports" },
};

TABLE_TEST(switch_config, refused, row, refused_rows)
{
	struct bench b;
	struct lines text;

	open_text(&b, row->intent);
	cr_assert(lines_open(&text));
	cr_assert_eq(write_switch(&b, 0, true, text.out), row->rc, "%s", row->what);
	cr_assert_not_null(strstr(lines_text(&b.errors), row->line), "%s: %s", row->what,
			   lines_text(&b.errors));
	lines_close(&text);
	close_bench(&b);
}

// Leaf 2 of the example has 10.1.0.8/29 and fd00:1:0:1::/64, and routes by a MAC address that all
// leaves have; spines route nothing.
Test(switch_config, gateways)
{
	struct ip_prefix v4 = { .family = IP_V4, .len = 29, .address = { 10, 1, 0, 9 } };
	struct ip_prefix v6 = { .family = IP_V6,
				.len = 64,
				.address = { 0xfd, 0, 0, 1, 0, 0, 0, 1 } };
	struct bench b;
	struct made first, second, spine;

	v6.address[15] = 1;
	open_file(&b, EXAMPLES "/leaf-spine.cfg");
	first = make_switch(&b, fabric_find_switch(&b.source.fabric, "leaf1"), false);
	second = make_switch(&b, fabric_find_switch(&b.source.fabric, "leaf2"), false);
	spine = make_switch(&b, fabric_find_switch(&b.source.fabric, "spine1"), false);
	cr_assert_eq(second.config->interface_count, 2);
	cr_assert_eq(memcmp(&second.config->interface[0].address, &v4, sizeof(v4)), 0);
	cr_assert_eq(memcmp(&second.config->interface[1].address, &v6, sizeof(v6)), 0);
	cr_assert_eq(second.pf->router_mac >> 40, 6);
	cr_assert_eq(second.pf->router_mac, first.pf->router_mac);
	cr_assert_eq(spine.config->interface_count, 0);
	unmake(&first);
	unmake(&second);
	unmake(&spine);
	close_bench(&b);
}

// A storm is as long as the intent says, at ports with PFC, whether the preset makes the rest or
// rows of lanes do.
Test(switch_config, watchdog)
{
	static const char *const intents[] = { EXAMPLES "/leaf-spine.cfg", EXAMPLES "/torus.cfg" };

	for (uint32_t i = 0; i < 2; i++) {
		struct bench b;
		struct made made;

		open_file(&b, intents[i]);
		b.source.intent->fabric.watchdog = 700000000;
		made = make_switch(&b, 0, false);
		cr_assert_gt(made.config->pfc_wd_count, 0);
		for (uint32_t k = 0; k < made.config->pfc_wd_count; k++) {
			cr_assert_eq(made.config->pfc_wd[k].detection_time, 700000000, "%s",
				     intents[i]);
			cr_assert_eq(made.config->pfc_wd[k].restoration_time, 1400000000);
		}
		unmake(&made);
		close_bench(&b);
	}
}

// The same fabric gives the same text.
Test(switch_config, is_a_function)
{
	struct bench b;
	struct lines text[2];

	open_file(&b, EXAMPLES "/leaf-spine.cfg");
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert(lines_open(&text[i]));
		cr_assert_eq(write_switch(&b, 0, true, text[i].out), 0);
	}
	cr_assert_str_eq(lines_text(&text[0]), lines_text(&text[1]));
	cr_assert_gt(strlen(lines_text(&text[0])), 0);
	for (uint32_t i = 0; i < 2; i++)
		lines_close(&text[i]);
	close_bench(&b);
}
