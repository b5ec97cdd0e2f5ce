// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of fabrics with names: which engine goes with which kind, who refuses and in which words,
// and tables as files: what is dumped is loaded as the same, and what is wrong in a file is said
// with its line.

#include "fabricmgr/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabricmgr/core/generate.h"
#include "routing/group.h"
#include "routing/verify.h"
#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { TEXT_BYTES = 4096, PATH_BYTES = 256 };

static struct arena keep;
static struct arena scratch;
static struct fabric fabric;
static struct fabric_graph graph;

static const struct tenants none;

static const struct generate_options plain = {
	.host = { 100000000000, 2000, 1 },
	.tier = { { 100000000000, 5000, 1 }, { 100000000000, 5000, 1 }, { 100000000000, 5000, 1 } },
	.attach = 1,
};

static void make_tree(void)
{
	struct fabric_faults faults = { .count = 0 };

	cr_assert_eq(generate_fat_tree(&fabric, &plain, 4, &faults), 0);
}

static void make_torus(void)
{
	static const struct generate_torus shape = { .dim_count = 2, .dims = { 4, 5 }, .hosts = 2 };
	struct fabric_faults faults = { .count = 0 };

	cr_assert_eq(generate_torus(&fabric, &plain, &shape, &faults), 0);
}

static void make_hybrid(void)
{
	static const struct generate_torus shape = { .dim_count = 2,
						     .dims = { 3, 3 },
						     .hosts = 1,
						     .pods = 2,
						     .spines = 2,
						     .gateways = 3,
						     .parallel = 1 };
	struct fabric_faults faults = { .count = 0 };

	cr_assert_eq(generate_torus(&fabric, &plain, &shape, &faults), 0);
}

static void make_ring_of_three(void)
{
	fabric_add_switch(&fabric, "a");
	fabric_add_switch(&fabric, "b");
	fabric_add_switch(&fabric, "c");
	for (uint32_t i = 0; i < 3; i++) {
		fabric_add_cable(&fabric, i, 1, (i + 1) % 3, 2);
		fabric_add_host(&fabric, (const char *const[]){ "h1", "h2", "h3" }[i]);
		fabric_add_host_port(&fabric, i, i, 0);
	}
}

// Like a leaf and two spines, with one link too many.
static void make_crooked_tree(void)
{
	make_ring_of_three();
	fabric_add_switch(&fabric, "d");
	fabric_add_cable(&fabric, 0, 3, 3, 0);
	fabric_add_host(&fabric, "h4");
	fabric_add_host_port(&fabric, 3, 3, 5);
}

static void make_thick_pair(void)
{
	fabric_add_switch(&fabric, "a");
	fabric_add_switch(&fabric, "b");
	for (uint32_t i = 0; i < 2; i++) {
		fabric_add_host(&fabric, (const char *const[]){ "h1", "h2" }[i]);
		fabric_add_host_port(&fabric, i, i, 0);
	}
	for (uint32_t i = 1; i <= GROUP_MEMBER_MAX + 1; i++)
		fabric_add_cable(&fabric, 0, i, 1, i);
}

static bool plan(void (*make)(void), const struct planner_options *options, struct planner *planner)
{
	struct fabric_faults faults = { .count = 0 };

	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(fabric_init(&fabric, &keep), 0);
	make();
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), 0);
	cr_assert_eq(fabric_graph_build(&fabric, &keep, &scratch, &graph, &faults), 0);
	return planner_plan(&fabric, &graph, options, &keep, &scratch, planner);
}

// --- engines ----------------------------------------------------------------------------------

static const struct {
	const char *what;
	void (*make)(void);
	struct planner_options options;
	const char *engine;  // NULL: none
	const char *refusal; // the first, NULL: none
} engine_rows[] = {
	{ "a tree", make_tree, { .engine_count = 0 }, "tree", NULL },
	{ "a Torus", make_torus, { .engine_count = 0 }, "torus", NULL },
	{ "Torus pods under spines", make_hybrid, { .engine_count = 0 }, "hybrid", NULL },
	{ "a Torus without pods is refused as a hybrid",
	  make_torus,
	  { .engine = { PLANNER_HYBRID }, .engine_count = 1 },
	  NULL,
	  "it is not a Torus: sw-0-0 does not fit the dimensions" },
	{ "links alone that are a ring",
	  make_ring_of_three,
	  { .engine_count = 0 },
	  "torus",
	  "it is not a tree: a and b are on one level and have a link" },
	{ "links alone that are nothing regular",
	  make_crooked_tree,
	  { .engine_count = 0 },
	  "minhop",
	  "it is not a tree: a and b are on one level and have a link" },
	{ "a tree as a Torus is refused",
	  make_tree,
	  { .engine = { PLANNER_TORUS }, .engine_count = 1 },
	  NULL,
	  "it is not a Torus: pod1-spine1 does not fit the dimensions" },
	{ "more parallel links than a group has members",
	  make_thick_pair,
	  { .engine = { PLANNER_UPDOWN }, .engine_count = 1 },
	  NULL,
	  "b has more links towards a than a group of a switch has members" },
	{ "the second of a list",
	  make_torus,
	  { .engine = { PLANNER_DMODK, PLANNER_UPDOWN }, .engine_count = 2 },
	  "updown",
	  "it is not a tree: sw-0-0 and sw-1-0 are on one level and have a link" },
};

TABLE_TEST(planner, engines, row, engine_rows)
{
	struct label object, detail;
	struct planner planner;
	char text[TEXT_BYTES];
	const bool good = plan(row->make, &row->options, &planner);

	cr_assert_eq(good, row->engine != NULL, "%s", row->what);
	if (good)
		cr_assert_str_eq(planner_engine_names[planner.engine], row->engine);
	cr_assert_eq(planner.refusal_count > 0, row->refusal != NULL, "%s", row->what);
	if (row->refusal == NULL)
		return;
	fault_render(text, sizeof(text),
		     planner_fault_text(&fabric, &graph, &planner.refusal[0].fault, &object,
					&detail),
		     object.text, detail.text, 0, 0);
	cr_assert_str_eq(text, row->refusal);
}

Test(planner, names_tiers)
{
	const struct planner_options options = { .engine_count = 0 };
	struct planner planner;

	cr_assert(plan(make_torus, &options, &planner));
	cr_assert_str_eq(planner_tier_name(&planner, 1).text, "y");
	cr_assert_str_eq(planner_link_name(&fabric, &graph, 0).text, "sw-0-0:Ethernet2");
	cr_assert(plan(make_tree, &options, &planner));
	cr_assert_str_eq(planner_tier_name(&planner, 1).text, "tier2");
	cr_assert(plan(make_hybrid, &options, &planner));
	cr_assert_str_eq(planner_tier_name(&planner, 1).text, "y");
	cr_assert_str_eq(planner_tier_name(&planner, 2).text, "tier1");
}

// --- tables -----------------------------------------------------------------------------------

static void make_directory(char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "/tmp/weft-tables-XXXXXX");
	cr_assert_not_null(mkdtemp(path));
}

static void remove_directory(const char *path)
{
	char name[PATH_BYTES + FABRIC_NAME_BYTES + sizeof("/.table")];

	for (uint32_t i = 0; i < fabric.switch_count; i++) {
		snprintf(name, sizeof(name), "%s/%s.table", path, fabric.switches[i].name);
		unlink(name);
	}
	snprintf(name, sizeof(name), "%s/turns", path);
	unlink(name);
	rmdir(path);
}

// Loads tables beside the planner that made them.
static int load_again(const char *path, const struct planner *planner, struct planner *again,
		      bool *with_turns, char errors[TEXT_BYTES])
{
	FILE *out = fmemopen(errors, TEXT_BYTES, "w");
	int rc;

	memset(errors, 0, TEXT_BYTES);
	*again = *planner;
	rc = tables_load(path, again, with_turns, out);
	fclose(out);
	return rc;
}

static const struct {
	const char *what;
	void (*make)(void);
	struct planner_options options;
	bool lose; // a switch
} round_rows[] = {
	{ "a tree", make_tree, { .engine_count = 0 }, false },
	{ "a tree with pinned up-ports",
	  make_tree,
	  { .engine = { PLANNER_DMODK }, .engine_count = 1 },
	  false },
	{ "a tree with weights",
	  make_tree,
	  { .tree = { .weights = VALLEY_FREE_EXACT, .churn_rows = VALLEY_FREE_ANY_CHURN } },
	  true },
	{ "a Torus", make_torus, { .engine_count = 0 }, false },
	{ "pods that a tree joins", make_hybrid, { .engine_count = 0 }, false },
	{ "a Torus with exceptions", make_torus, { .engine_count = 0 }, true },
};

TABLE_TEST(planner, tables_come_back, row, round_rows)
{
	struct planner planner, again;
	struct plan_change change;
	struct plan_fault fault;
	struct topo_state after;
	char path[PATH_BYTES];
	char errors[TEXT_BYTES];
	bool with_turns;

	cr_assert(plan(row->make, &row->options, &planner));
	cr_assert_eq(topo_state_init(&graph.topo, &keep, &after), 0);
	after.switch_lost[7] = row->lose;
	cr_assert(planner_replan(&planner, &after, &fault), "%s", row->what);
	make_directory(path);
	cr_assert_eq(tables_dump(&planner, &none, path, stderr), 0, "%s", row->what);
	cr_assert_eq(load_again(path, &planner, &again, &with_turns, errors), 0, "%s: %s",
		     row->what, errors);
	remove_directory(path);
	cr_assert(with_turns);
	cr_assert_eq(plan_diff(&planner.plan, &again.plan, &scratch, &change), 0);
	cr_assert_eq(change.rows, 0, "%s", row->what);
	cr_assert_eq(again.plan.turns.lane_count, planner.plan.turns.lane_count);
	cr_assert_eq(again.plan.turns.exception_count, planner.plan.turns.exception_count);
	for (uint32_t link = 0; link < graph.topo.link_count; link++) {
		const uint32_t at = graph.topo.link_switch[link];

		for (uint32_t out = graph.topo.link_first[at]; out < graph.topo.link_first[at + 1];
		     out++)
			cr_assert_eq(turn_rules_get(&again.plan.turns, link, out, 0),
				     turn_rules_get(&planner.plan.turns, link, out, 0), "%s",
				     row->what);
	}
}

// One file of a loaded directory is replaced by a text.
static const struct {
	const char *what;
	const char *file;
	const char *text;
	const char *want; // NULL: it is good
} line_rows[] = {
	{ "nothing in it", "a.table", "\n# nothing\n", NULL },
	{ "a group and a row", "a.table", "group 7 Ethernet1*2 Ethernet2\nto b 7\n", NULL },
	{ "another word", "a.table", "\ngrupo 0 Ethernet1\n",
	  "a.table:2: grupo: allowed: switch NAME, class PORT N, group N [pin N] PORT..., to "
	  "SWITCH GROUP, to SWITCH local\n" },
	{ "the file of another", "a.table", "switch b\n",
	  "a.table:1: the table of b in the file of a\n" },
	{ "a port of nothing", "a.table", "group 0 Ethernet9\n",
	  "a.table:1: a has no link to a switch at port Ethernet9\n" },
	{ "a port of a host", "a.table", "group 0 Ethernet0\n",
	  "a.table:1: a has no link to a switch at port Ethernet0\n" },
	{ "a port twice", "a.table", "group 0 Ethernet1 Ethernet1*2\n",
	  "a.table:1: a port twice in one group\n" },
	{ "no weight", "a.table", "group 0 Ethernet1*0\n",
	  "a.table:1: Ethernet1: a weight is 1 or more\n" },
	{ "no ports", "a.table", "group 0 pin 4\n", "a.table:1: a group has 1 to 1024 ports\n" },
	{ "a group that is not there", "a.table", "to b 3\n",
	  "a.table:1: there is no group 3 above\n" },
	{ "a switch that is not there", "a.table", "to x local\n",
	  "a.table:1: there is no switch x\n" },
	{ "a number that is none", "a.table", "group x Ethernet1\n",
	  "a.table:1: x: not a number up to 65533\n" },
	{ "a lane above all", "turns", "lanes 9\n", "turns:1: 9: not a number up to 4\n" },
	{ "a class above all", "turns", "classes 3\nturn 3 0 0 0\n",
	  "turns:2: 3: not a number up to 2\n" },
	{ "an exception without a way", "turns", "except a host Ethernet0 0 1\n",
	  "turns:1: a has no link to a switch at port Ethernet0\n" },
};

TABLE_TEST(planner, lines_of_tables, row, line_rows)
{
	const struct planner_options options = { .engine_count = 0 };
	struct planner planner, again;
	char errors[TEXT_BYTES];
	char path[PATH_BYTES];
	char name[2 * PATH_BYTES];
	bool with_turns;
	FILE *file;
	int rc;

	cr_assert(plan(make_ring_of_three, &options, &planner));
	make_directory(path);
	cr_assert_eq(tables_dump(&planner, &none, path, stderr), 0);
	snprintf(name, sizeof(name), "%s/%s", path, row->file);
	file = fopen(name, "w");
	cr_assert_not_null(file);
	fputs(row->text, file);
	fclose(file);
	rc = load_again(path, &planner, &again, &with_turns, errors);
	remove_directory(path);
	cr_assert_eq(rc, row->want == NULL ? 0 : -22, "%s: %s", row->what, errors);
	cr_assert_str_eq(row->want == NULL ? errors : errors + strlen(path) + 1,
			 row->want == NULL ? "" : row->want);
}

Test(planner, tables_without_turns)
{
	const struct planner_options options = { .engine_count = 0 };
	struct planner planner, again;
	struct verify_report report;
	char errors[TEXT_BYTES];
	char path[PATH_BYTES];
	char name[2 * PATH_BYTES];
	bool with_turns;

	cr_assert(plan(make_torus, &options, &planner));
	make_directory(path);
	cr_assert_eq(tables_dump(&planner, &none, path, stderr), 0);
	snprintf(name, sizeof(name), "%s/turns", path);
	unlink(name);
	cr_assert_eq(load_again(path, &planner, &again, &with_turns, errors), 0, "%s", errors);
	remove_directory(path);
	cr_assert_not(with_turns);
	cr_assert_eq(verify_plan(&graph.topo, &again.state, &again.plan, with_turns, &keep,
				 &scratch, &report),
		     0);
	cr_assert_not(report.rows_acyclic, "rings of 4 and 5 on one lane wait for themselves");
	cr_assert_gt(report.cycle_count, 0);
}

Test(planner, tables_of_another_fabric)
{
	const struct planner_options options = { .engine_count = 0 };
	struct planner planner, again;
	char errors[TEXT_BYTES];
	char path[PATH_BYTES];
	bool with_turns;

	cr_assert(plan(make_torus, &options, &planner));
	make_directory(path);
	cr_assert_eq(load_again(path, &planner, &again, &with_turns, errors), -2);
	rmdir(path);
	cr_assert_not_null(strstr(errors, "there is no table of any switch of the fabric"));
}
