// SPDX-License-Identifier: BSD-3-Clause
//
// Forwarding tables of OpenSM 3.3.23, dumped while it ran on simulated fabrics, read and judged by
// the verifier: its fat-tree engine is free of credit loops, its dimension order on rings is not
// (Dally and Seitz 1987). Then small tables for what is refused, and for rows that lead astray.

#include "fabricmgr/core/import_lfts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabricmgr/core/import_ibnet.h"
#include "routing/balance.h"
#include "routing/verify.h"
#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { FILE_BYTES = 1 << 20 };

struct bench {
	struct arena keep;
	struct arena scratch;
	struct fabric fabric;
	struct fabric_graph graph;
	struct fabric_faults faults;
	struct import_lfts lfts;
	struct verify_report report;
};

static size_t read_file(const char *directory, const char *name, char text[FILE_BYTES])
{
	char path[256];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), DATA "/%s/%s", directory, name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	bytes = fread(text, 1, FILE_BYTES, file);
	fclose(file);
	cr_assert_lt(bytes, FILE_BYTES);
	return bytes;
}

static void open_fabric(struct bench *b, const char *text, size_t bytes)
{
	*b = (struct bench){ .keep = graph_arena(), .scratch = graph_arena() };
	cr_assert_eq(fabric_init(&b->fabric, &b->keep), 0);
	cr_assert_eq(import_ibnet(text, bytes, &b->fabric, &b->scratch, &b->faults), 0);
	cr_assert_eq(fabric_finish(&b->fabric, &b->scratch, &b->faults), 0);
	cr_assert_eq(fabric_graph_build(&b->fabric, &b->keep, &b->scratch, &b->graph, &b->faults),
		     0);
}

static int import(struct bench *b, const char *text, size_t bytes)
{
	const int rc = import_lfts(text, bytes, &b->fabric, &b->graph, &b->keep, &b->scratch,
				   &b->lfts, &b->faults);

	cr_assert_eq(b->scratch.used, 0);
	return rc;
}

static void judge(struct bench *b)
{
	cr_assert_eq(verify_plan(&b->lfts.topo, &b->graph.state, &b->lfts.plan, false, &b->keep,
				 &b->scratch, &b->report),
		     0);
}

// A cycle is hops of one lane, each beginning where the one before ends.
static void check_cycle(const struct bench *b)
{
	const struct topo *topo = &b->lfts.topo;

	for (uint32_t i = 0; i < b->report.cycle_count; i++) {
		const struct violation_hop *hop = &b->report.cycle[i];
		const struct violation_hop *next =
			&b->report.cycle[(i + 1) % b->report.cycle_count];

		cr_assert_eq(topo_far(topo, hop->link), topo->link_switch[next->link]);
		cr_assert_eq(hop->lane, 0);
	}
}

// Of N switches with h hosts each, N h (N h - 1) pairs. Hops, all pairs together: of a tree of two
// levels 2 for each pair on two leaves; of a ring of 5 switches 0, 1, 2, 2 and 1 from
// each, and in two dimensions twice that for each of the 5 places in the other one. The shortest
// way that waits for itself is once round such a ring.
static const struct {
	const char *what;
	const char *topology;
	uint64_t pairs;
	double hops;
	uint32_t cycle; // hops, 0: none
} file_rows[] = {
	{ "ft2-k8.ftree.lfts", "topologies/ft2-k8.topo", 32 * 31, 2.0 * 32 * 28, 0 },
	{ "torus-5x5-h1.dor.lfts", "tables/torus-5x5-h1.topo", 25 * 24, 25.0 * 2 * 6 * 5, 5 },
};

TABLE_TEST(import_lfts, file, row, file_rows)
{
	static char topology[FILE_BYTES], text[FILE_BYTES];
	struct bench b;

	open_fabric(&b, topology, read_file(".", row->topology, topology));
	cr_assert_eq(import(&b, text, read_file("tables", row->what, text)), 0);
	cr_assert_eq(b.lfts.topo.edge_count, b.fabric.host_port_count);
	judge(&b);
	cr_assert_eq(b.report.reachable_pairs, row->pairs);
	cr_assert_eq(b.report.unreachable_pairs, 0);
	cr_assert_float_eq(b.report.hops_avg, row->hops / (double)row->pairs, 1e-9);
	cr_assert_eq(b.report.rows_acyclic, row->cycle == 0);
	cr_assert_eq(b.report.cycle_count, row->cycle, "%u", b.report.cycle_count);
	cr_assert_eq(verify_good(&b.report), row->cycle == 0);
	check_cycle(&b);
}

// Three switches in a row with a host each: leaf1 [1] -- [1] mid [2] -- [1] leaf2, hosts at port 3.
static const char row_text[] =
	"Switch 4 \"S-a1\" # \"leaf1\"\n[1] \"S-a2\"[1]\n[3] \"H-b1\"[1](c1)\n"
	"Switch 4 \"S-a2\" # \"mid\"\n[1] \"S-a1\"[1]\n[2] \"S-a3\"[1]\n[3] \"H-b2\"[1](c2)\n"
	"Switch 4 \"S-a3\" # \"leaf2\"\n[1] \"S-a2\"[2]\n[3] \"H-b3\"[1](c3)\n"
	"Ca 1 \"H-b1\" # \"n1\"\n[1](c1) \"S-a1\"[3]\n"
	"Ca 1 \"H-b2\" # \"n2\"\n[1](c2) \"S-a2\"[3]\n"
	"Ca 1 \"H-b3\" # \"n3\"\n[1](c3) \"S-a3\"[3]\n";

#define SECTION(guid) "Unicast lids [0x0-0x3] of switch Lid 7 guid 0x" guid " (a name):\n"
#define ENTRY(lid, port, owner)                                                                    \
	"0x000" lid " " port " : (Channel Adapter portguid 0x" owner ": 'a name')\n"
#define LEAF1 SECTION("a1") ENTRY("1", "003", "c1") ENTRY("2", "001", "c2") ENTRY("3", "001", "c3")
#define LEAF2 SECTION("a3") ENTRY("1", "001", "c1") ENTRY("2", "001", "c2") ENTRY("3", "003", "c3")

// Tables of the leaves are good, mid's are not: pairs are those of six that are left.
static const struct {
	const char *what;
	const char *text;
	enum violation_kind kind; // VIOLATION_KINDS: none
	uint64_t pairs;
} judge_rows[] = {
	{ "all is well", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 2\n" LEAF2,
	  VIOLATION_KINDS, 6 },
	{ "as dump_fts prints it",
	  "Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0,1 guid 0xa2 (mid):\n"
	  "  Lid  Out   Destination\n       Port     Info \n"
	  "0x0000 255 : (path #0 - illegal port)\n"
	  "0x0001 001 \n0x0002 003 \n0x0003 002 \n4 lids dumped \n\n" LEAF1 LEAF2
	  "3 valid lids dumped \n*** WARNING ***: this command has been replaced by dump_fts\n",
	  VIOLATION_KINDS, 6 },
	{ "as OpenSM dumps it, with rows to switches",
	  LEAF1 "0x0009 1 # Switch portguid 0xa2: 'mid'\n" SECTION(
		  "a2") "0x0001 1 # Channel Adapter portguid 0xc1: 'n1'\n0x0009 0\n0x0002 3\n"
			"0x0003 2\n" LEAF2,
	  VIOLATION_KINDS, 6 },
	// Each LID counts as a host of its own.
	{ "two LIDs of a port",
	  LEAF1 ENTRY("4", "001", "c3") SECTION(
		  "a2") "0x0001 1\n0x0002 3\n0x0003 2\n0x0004 2\n" LEAF2 ENTRY("4", "003", "c3"),
	  VIOLATION_KINDS, 12 },
	{ "no section of a switch", LEAF1 LEAF2, VIOLATION_NO_ROUTE, 0 },
	{ "no row", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n" LEAF2, VIOLATION_NO_ROUTE, 4 },
	{ "packets are dropped", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 255\n" LEAF2,
	  VIOLATION_NO_ROUTE, 4 },
	{ "nobody at the port", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 4\n" LEAF2,
	  VIOLATION_BAD_ROW, 4 },
	{ "a port that there is not", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 9\n" LEAF2,
	  VIOLATION_BAD_ROW, 4 },
	{ "another host at the port", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 3\n" LEAF2,
	  VIOLATION_BAD_ROW, 4 },
	{ "back again", LEAF1 SECTION("a2") "0x0001 1\n0x0002 3\n0x0003 1\n" LEAF2, VIOLATION_LOOP,
	  4 },
	{ "a host that no line speaks of",
	  SECTION("a1") ENTRY("1", "3", "c1") ENTRY("2", "1", "c2")
		  SECTION("a2") "0x0001 1\n0x0002 3\n" SECTION("a3") "0x0001 1\n0x0002 1\n",
	  VIOLATION_NO_ROUTE, 4 },
};

TABLE_TEST(import_lfts, judged, row, judge_rows)
{
	struct bench b;

	open_fabric(&b, row_text, strlen(row_text));
	cr_assert_eq(import(&b, row->text, strlen(row->text)), 0, "%s", row->what);
	judge(&b);
	for (uint32_t kind = 0; kind < VIOLATION_KINDS; kind++)
		cr_assert_eq(b.report.violation_count[kind] > 0, kind == row->kind, "%s: %u",
			     row->what, kind);
	cr_assert_eq(b.report.reachable_pairs, row->pairs, "%s: %u", row->what,
		     (unsigned)b.report.reachable_pairs);
	cr_assert_eq(verify_good(&b.report), row->kind == VIOLATION_KINDS, "%s", row->what);
}

static const struct {
	const char *what;
	const char *text;
	uint32_t line;
	const char *want;
} fault_rows[] = {
	{ "not such a file", "graph {\n}\n", 1, "not understood: graph {" },
	{ "a row before any section", "\n" ENTRY("1", "1", "c1"), 2,
	  "not understood: 0x0001 1 : (Channel Adapter portguid 0xc1: 'a name')" },
	{ "a section without a GUID", "Unicast lids [0-1] of switch Lid 2:\n", 1,
	  "not understood: Unicast lids [0-1] of switch Lid 2:" },
	{ "a LID of a group", SECTION("a1") "0xc000 1\n", 2, "not understood: 0xc000 1" },
	{ "a port of more than 8 bits", SECTION("a1") "0x0001 256\n", 2,
	  "not understood: 0x0001 256" },
	{ "a row that is cut", SECTION("a1") "0x0001", 2, "not understood: 0x0001" },
	{ "a switch that there is not", SECTION("a4") ENTRY("1", "1", "c1"), 1,
	  "0xa4: no port of the fabric has this GUID" },
	{ "a host's GUID for a switch", SECTION("c1"), 1,
	  "0xc1: no port of the fabric has this GUID" },
	{ "a host that there is not", SECTION("a1") ENTRY("1", "1", "c4"), 2,
	  "0xc4: no port of the fabric has this GUID" },
	{ "a switch twice", SECTION("a1") SECTION("a1"), 2,
	  "leaf1: the node with this GUID was given already, in line 1" },
	{ "a LID of two ports", SECTION("a1") ENTRY("1", "3", "c1") ENTRY("1", "1", "c2"), 3,
	  "leaf1: LID 1 is of another port in line 2" },
	{ "a row twice", SECTION("a1") ENTRY("1", "3", "c1") ENTRY("1", "1", "c1"), 3,
	  "leaf1: LID 1 was given already" },
	{ "nobody's LID", SECTION("a1") "0x0001 3\n", 2, "leaf1: no line says whose LID 1 is" },
};

TABLE_TEST(import_lfts, fault, row, fault_rows)
{
	struct bench b;
	char said[256];
	const struct fabric_fault *fault;

	open_fabric(&b, row_text, strlen(row_text));
	cr_assert_eq(import(&b, row->text, strlen(row->text)), -EINVAL, "%s", row->what);
	fault = &b.faults.fault[0];
	fault_render(said, sizeof(said), fabric_fault_texts[fault->kind], fault->object,
		     fault->detail, fault->have, fault->want);
	cr_assert_str_eq(said, row->want, "%s: %s", row->what, said);
	cr_assert_eq(fault->line, row->line, "%s: line %u", row->what, fault->line);
}
