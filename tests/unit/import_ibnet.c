// SPDX-License-Identifier: BSD-3-Clause
//
// What ibnetdiscover prints, read: captures of four fabrics, whose sizes follow from their shape,
// and small texts for names and for what is refused, with its line.

#include "fabricmgr/core/import_ibnet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { FILE_BYTES = 1 << 20 };

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
	rc = import_ibnet(text, bytes, fabric, &scratch, faults);
	cr_assert_eq(scratch.used, 0);
	return rc != 0 ? rc : fabric_finish(fabric, &scratch, faults);
}

// A tree of radix r and n levels: 2 (r/2)^n hosts, (2n - 1) (r/2)^(n-1) switches, and as many
// cables between two levels as hosts. A Torus of N switches and n rings: n x N cables.
static const struct {
	const char *what;
	uint32_t switches;
	uint32_t cables;
	uint32_t hosts;
} file_rows[] = {
	{ "ft2-k8.topo", 12, 32, 32 },
	{ "ft3-k8.topo", 80, 256, 128 },
	{ "torus-8x8-h4.topo", 64, 128, 256 },
	{ "torus-4x4x4-h4.topo", 64, 192, 256 },
};

TABLE_TEST(import_ibnet, file, row, file_rows)
{
	static char text[FILE_BYTES];
	struct fabric_faults faults;
	struct fabric fabric;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", TOPOLOGIES, row->what);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	cr_assert_eq(import(text, fread(text, 1, sizeof(text), file), &fabric, &faults), 0);
	fclose(file);
	cr_assert_eq(fabric.switch_count, row->switches);
	cr_assert_eq(fabric.cable_count, row->cables);
	cr_assert_eq(fabric.host_count, row->hosts);
	cr_assert_eq(fabric.host_port_count, row->hosts);
	for (uint32_t i = 0; i < fabric.cable_count; i++)
		cr_assert_eq(fabric.cables[i].speed_bps, 10000000000, "4 lanes of 2.5 Gb/s");
}

#define SWITCH_A "Switch 4 \"S-a\" # \"leaf\" port 0 lid 1\n"
#define SWITCH_B "Switch 4 \"S-b\" # \"leaf\" port 0 lid 2\n"

Test(import_ibnet, names)
{
	static const char text[] = SWITCH_A "[1] \"S-b\"[1] # \"leaf\" lid 2 4xEDR\n"
					    "[2] \"H-1\"[1](11) # \"n1 HCA-1\"\n"
					    "[3] \"H-2\"[1](12) # \"n1 HCA-2\"\n"
					    "[4] \"H-3\"[1](13) # \"n1 HCA-1\"\n" SWITCH_B
					    "[1] \"S-a\"[1] # \"leaf\" lid 1 4xEDR\n"
					    "[2] \"R-4\"[1](14) # \"a router\" 12xHDR\n"
					    "[3] \"H-5\"[2](15) # \"\"\n"
					    "Ca 1 \"H-1\" # \"n1 HCA-1\"\n[1](11) \"S-a\"[2]\n"
					    "Ca 1 \"H-2\" # \"n1 HCA-2\"\n[1](12) \"S-a\"[3]\n"
					    "Ca 1 \"H-3\" # \"n1 HCA-1\"\n[1](13) \"S-a\"[4]\n"
					    "Rt 1 \"R-4\" # \"a router\"\n[1](14) \"S-b\"[2]\n"
					    "Ca 2 \"H-5\" # \"\"\n[2](15) \"S-b\"[3]\n";
	static const char *const hosts[] = { "n1", "n1-3", "a_router", "node-5" };
	struct fabric_faults faults;
	struct fabric fabric;

	cr_assert_eq(import(text, strlen(text), &fabric, &faults), 0);
	cr_assert_eq(fabric.switch_count, 2);
	cr_assert_str_eq(fabric.switches[0].name, "leaf");
	cr_assert_str_eq(fabric.switches[1].name, "leaf-b");
	cr_assert_eq(fabric.cables[0].speed_bps, 100000000000);
	cr_assert_eq(fabric.host_count, TABLE_COUNT(hosts));
	for (uint32_t i = 0; i < TABLE_COUNT(hosts); i++)
		cr_assert_str_eq(fabric.hosts[i].name, hosts[i]);
	// Both adapters of n1, as rails.
	cr_assert_eq(fabric.hosts[0].port_count, 2);
	cr_assert_eq(fabric.host_ports[0].rail, 0);
	cr_assert_eq(fabric.host_ports[1].rail, 1);
	cr_assert_eq(fabric.host_ports[1].port, 3);
	cr_assert_eq(fabric.host_ports[1].guid, 0x12);
	cr_assert_eq(fabric.host_ports[3].speed_bps, 600000000000);
	cr_assert(fabric.hosts[2].external && !fabric.hosts[0].external);
}

static const struct {
	const char *what;
	const char *text;
	uint32_t line;
	const char *want;
} fault_rows[] = {
	{ "nothing", "", 0, "fabric: there is no switch" },
	{ "not such a file", "graph {\n}\n", 1, "not understood: graph {" },
	{ "a port before any node", "[1] \"S-a\"[1]\n", 1, "not understood: [1] \"S-a\"[1]" },
	{ "a node without a number", "Switch \"S-a\"\n", 1, "not understood: Switch \"S-a\"" },
	{ "an end that is cut", SWITCH_A "[1] \"S-b\n", 2, "not understood: [1] \"S-b" },
	{ "a GUID of 68 bits", "Switch 4 \"S-12345678123456789\"\n", 1,
	  "not understood: Switch 4 \"S-12345678123456789\"" },
	{ "a port too many", SWITCH_A "[5] \"S-b\"[1]\n", 2,
	  "leaf: there is no port 5, they are 1 to 4" },
	{ "a port twice", SWITCH_A "[1] \"S-b\"[1]\n[1] \"S-b\"[2]\n", 3,
	  "leaf: port 1 was given already, in line 2" },
	{ "a node twice", SWITCH_A SWITCH_A, 2,
	  "leaf: the node with this GUID was given already, in line 1" },
	{ "a far end without a section", SWITCH_A "[1] \"S-c\"[1]\n", 2,
	  "leaf: what port 1 leads to has no section, or no such port" },
	{ "a far port that there is not", SWITCH_A "[1] \"S-b\"[7]\n" SWITCH_B, 2,
	  "leaf: what port 1 leads to has no section, or no such port" },
	{ "a far end that says nothing", SWITCH_A "[1] \"S-b\"[1]\n" SWITCH_B, 2,
	  "leaf: port 1 leads to the node of line 3, which says otherwise" },
	{ "a far end that says otherwise",
	  SWITCH_A "[1] \"S-b\"[1]\n[2] \"S-b\"[2]\n" SWITCH_B "[1] \"S-a\"[2]\n[2] \"S-a\"[1]\n",
	  2, "leaf: port 1 leads to the node of line 4, which says otherwise" },
	{ "a port that leads to itself", SWITCH_A "[1] \"S-a\"[1]\n", 2,
	  "leaf: port 1 leads to the node of line 1, which says otherwise" },
	{ "a switch that is cabled to itself", SWITCH_A "[1] \"S-a\"[2]\n[2] \"S-a\"[1]\n", 2,
	  "leaf 1: the cable leads back to the same switch" },
	{ "two hosts",
	  SWITCH_A "Ca 1 \"H-1\" # \"a\"\n[1] \"H-2\"[1]\nCa 1 \"H-2\" # \"b\"\n"
		   "[1] \"H-1\"[1]\n",
	  3, "a: port 1 leads to another host, without a switch" },
};

TABLE_TEST(import_ibnet, fault, row, fault_rows)
{
	struct fabric_faults faults;
	struct fabric fabric;
	char said[256];
	const struct fabric_fault *fault = &faults.fault[0];

	cr_assert_eq(import(row->text, strlen(row->text), &fabric, &faults), -EINVAL, "%s",
		     row->what);
	fault_render(said, sizeof(said), fabric_fault_texts[fault->kind], fault->object,
		     fault->detail, fault->have, fault->want);
	cr_assert_str_eq(said, row->want, "%s: %s", row->what, said);
	cr_assert_eq(fault->line, row->line, "%s: line %u", row->what, fault->line);
}

// Whatever is cut off a text, reading it ends: in a fault, or in a fabric that is whole as far as
// it goes.
Test(import_ibnet, cut_anywhere)
{
	static const char text[] = SWITCH_A "[1] \"S-b\"[1](7) # \"leaf\" lid 2 4xEDR\n" SWITCH_B
					    "[1] \"S-a\"[1] # \"leaf\" lid 1 4xEDR\n";
	uint32_t good = 0;

	for (size_t bytes = 0; bytes < strlen(text); bytes++) {
		struct fabric_faults faults;
		struct fabric fabric;
		const int rc = import(text, bytes, &fabric, &faults);

		cr_assert_eq(rc == 0, faults.count == 0, "%zu", bytes);
		cr_assert(rc != 0 || fabric.cable_count == fabric.switch_count - 1, "%zu", bytes);
		good += rc == 0;
		munmap(keep.memory, keep.size);
		munmap(scratch.memory, scratch.size);
	}
	cr_assert_gt(good, 0);
}
