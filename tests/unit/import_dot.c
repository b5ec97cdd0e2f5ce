// SPDX-License-Identifier: BSD-3-Clause
//
// Cabling plans in DOT: what each form of the language says of a fabric, and what is refused, with
// its line. The grammar is that of Graphviz' documentation; the plan is in the form that ptmd's
// documentation shows.

#include "fabricmgr/core/import_dot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

static struct arena keep;
static struct arena scratch;

static int import(const char *text, size_t bytes, struct fabric *fabric,
		  struct fabric_faults *faults)
{
	int rc;

	keep = graph_arena();
	scratch = graph_arena();
	*faults = (struct fabric_faults){ .count = 0 };
	cr_assert_eq(fabric_init(fabric, &keep), 0);
	rc = import_dot(text, bytes, fabric, &scratch, faults);
	cr_assert_eq(scratch.used, 0);
	return rc != 0 ? rc : fabric_finish(fabric, &scratch, faults);
}

static const char plan[] =
	"// A plan.\n"
	"strict graph \"two leaves\" {\n"
	"\trankdir=LR; node [shape=record]\n"
	"# 1 \"made by hand\"\n"
	"\t\"leaf1\" [function=\"leaf\" mgmt_ip=\"10.0.0.1\"];\n"
	"\tsubgraph cluster_top { spine1 [function=spine, color=red] }\n"
	"\tleaf1:swp1 -- spine1:swp1 [speed=\"100G\", length=\"3m\"][weight=2]\n"
	"\t\"leaf2\":\"swp1\" -- \"spine1\":\"swp2\"; /* no\n attributes */\n"
	"\t\"leaf1\":\"swp7\" -- \"server1\":\"eth0\" [speed=\"25G\"]\n"
	"\t\"server1\":\"eth1\"--\"leaf2\":\"swp7\";\n"
	"\t\"the \\\"net\\\"\" [function=external] \"the \\\"net\\\"\":1 -- leaf2:swp8\n"
	"}\n";

Test(import_dot, plan)
{
	struct fabric_faults faults;
	char name[FABRIC_NAME_BYTES];
	struct fabric fabric;
	int rc;

	rc = import(plan, strlen(plan), &fabric, &faults);
	// Its name has a blank, which names of hosts may not have.
	cr_assert_eq(rc, -EINVAL);
	cr_assert_eq(faults.fault[0].kind, FABRIC_FAULT_BAD_NAME);
	cr_assert_str_eq(faults.fault[0].object, "the \"net\"");
	cr_assert_eq(faults.fault[0].line, 12);
	cr_assert_eq(fabric.switch_count, 3);
	cr_assert_eq(fabric.cable_count, 2);
	cr_assert_eq(fabric.host_count, 2);
	cr_assert_str_eq(fabric.switches[0].name, "leaf1");
	cr_assert_eq(fabric.switches[0].level, 0);
	cr_assert_eq(fabric.switches[1].level, 1);
	cr_assert_eq(fabric.switches[2].level, FABRIC_LEVEL_NONE, "told by its ports alone");
	cr_assert_eq(fabric.cables[0].speed_bps, 100000000000);
	cr_assert_eq(fabric.cables[0].length_mm, 3000);
	cr_assert_eq(fabric.cables[0].weight, 2);
	cr_assert_eq(fabric.cables[0].line, 7);
	cr_assert_eq(fabric.cables[1].weight, 1);
	cr_assert_str_eq(fabric_port_name(&fabric.switches[0], 1, name), "swp7");
	cr_assert_eq(fabric.hosts[0].port_count, 2);
	cr_assert_eq(fabric.host_ports[0].speed_bps, 25000000000);
	cr_assert_eq(fabric.host_ports[1].rail, 1);
	cr_assert(fabric.hosts[1].external);
}

#define NO_PORT                                                                                    \
	": an edge names the port of each end, as in \"leaf1\":\"swp1\" -- \"spine1\":\"swp3\""
#define NO_QUANTITY                                                                                \
	": not a quantity of this attribute, as in speed=\"100G\", length=\"3m\", weight=2"

static const struct {
	const char *what;
	const char *text;
	uint32_t line;
	const char *want;
} fault_rows[] = {
	{ "nothing", "", 1, "not understood: end of the text" },
	{ "not DOT", "Switch 8 \"S-1\"\n", 1, "Switch: not a graph; cables have no direction" },
	{ "directed", "digraph x {\n}", 1, "digraph: not a graph; cables have no direction" },
	{ "not closed", "graph {\na:swp1 -- b:swp1\n", 3, "not understood: end of the text" },
	{ "more behind it", "graph {}\n}", 2, "not understood: }" },
	{ "a quote that is not closed", "graph {\n\"a:swp1 -- b:swp1\n}", 2,
	  "not understood: \"a:swp1 -- b:swp1" },
	{ "no port", "graph {\n\n a -- b }", 3, "a" NO_PORT },
	{ "no port at the far end", "graph {\n a:swp1 -- b }", 2, "b" NO_PORT },
	{ "an arrow", "graph { a:swp1 -> b:swp1 }", 1, "not understood: -> b:swp1 }" },
	{ "a chain", "graph { a:swp1 -- b:swp1 -- c:swp1 }", 1, "not understood: -- c:swp1 }" },
	{ "a list that is not closed", "graph { a [x=y\n}", 2, "not understood: }" },
	{ "no such speed", "graph { a:swp1 -- b:swp1\n [speed=fast] }", 2, "fast" NO_QUANTITY },
	{ "too much of a weight", "graph { a:swp1 -- b:swp1 [weight=65536] }", 1,
	  "65536" NO_QUANTITY },
	{ "no weight", "graph {\na:swp1 -- b:swp1 [weight=0] }", 2,
	  "a swp1: a weight is 1 or more" },
	{ "a port twice", "graph {\na:swp1 -- b:swp1\na:swp2 -- b:swp1\n}", 3,
	  "b swp1: the port has a cable already, of line 2" },
	{ "a port to itself", "graph {\na:swp1 -- a:swp1\n}", 2,
	  "a swp1: the port has a cable already, of line 2" },
	{ "a switch to itself", "graph {\na:swp1 -- a:swp2\n}", 2,
	  "a swp1: the cable leads back to the same switch" },
	{ "two hosts", "graph { s:swp1 -- a:eth0\n a:eth1 -- b:eth0 }", 2,
	  "a: port 0 leads to another host, without a switch" },
	{ "a host nowhere", "graph { s:swp1 -- a:eth0\n b [function=host] }", 2,
	  "b: no port of the host is at a switch" },
	{ "nothing but hosts", "graph { a [function=server] }", 0, "fabric: there is no switch" },
	{ "seventeen subgraphs", "graph {{{{{{{{{{{{{{{{{}}}}}}}}}}}}}}}}}", 1,
	  "subgraph: nested too deeply" },
};

TABLE_TEST(import_dot, fault, row, fault_rows)
{
	struct fabric_faults faults;
	struct fabric fabric;
	const struct fabric_fault *fault = &faults.fault[0];
	char said[256];

	cr_assert_eq(import(row->text, strlen(row->text), &fabric, &faults), -EINVAL, "%s",
		     row->what);
	fault_render(said, sizeof(said), fabric_fault_texts[fault->kind], fault->object,
		     fault->detail, fault->have, fault->want);
	cr_assert_str_eq(said, row->want, "%s: %s", row->what, said);
	cr_assert_eq(fault->line, row->line, "%s: line %u", row->what, fault->line);
}

// A text that is cut is refused, wherever that is.
Test(import_dot, cut_anywhere)
{
	for (size_t bytes = 0; bytes < strlen(plan) - 2; bytes++) {
		struct fabric_faults faults;
		struct fabric fabric;

		cr_assert_eq(import(plan, bytes, &fabric, &faults), -EINVAL, "%zu", bytes);
		cr_assert_gt(faults.count, 0);
		munmap(keep.memory, keep.size);
		munmap(scratch.memory, scratch.size);
	}
}
