// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of forwarding tables: any bytes as what OpenSM dumps, for a fabric of three switches
// in a row. Checked: reading ends and leaves no scratch memory taken; what is refused has a fault,
// of a line that the text has; what is accepted is a plan that the verifier can judge, and no host
// is reached that has no LID.

#include "base/check.h"
#include "fabricmgr/core/import_lfts.h"
#include "routing/verify.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES = 8 << 20, TEXT_MAX = 1 << 13, SWITCHES = 3, PORT_HOST = 3 };

static uint8_t memory[2][ARENA_BYTES] __attribute__((aligned(64)));

// sw1 [1] -- [2] sw2 [1] -- [2] sw3, GUIDs a1 to a3; hosts at port 3, GUIDs c1 to c3.
static void make_fabric(struct fabric *fabric, struct fabric_graph *graph, struct arena *keep,
			struct arena *scratch, struct fabric_faults *faults)
{
	static const char *const names[SWITCHES][2] = { { "sw1", "n1" },
							{ "sw2", "n2" },
							{ "sw3", "n3" } };

	WEFT_CHECK(fabric_init(fabric, keep) == 0);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		fabric_add_switch(fabric, names[i][0])->guid = 0xa1 + i;
		WEFT_CHECK(fabric_add_host(fabric, names[i][1]) != NULL);
		fabric_add_host_port(fabric, i, i, PORT_HOST)->guid = 0xc1 + i;
	}
	WEFT_CHECK(fabric_add_cable(fabric, 0, 1, 1, 2) != NULL);
	WEFT_CHECK(fabric_add_cable(fabric, 1, 1, 2, 2) != NULL);
	WEFT_CHECK(fabric_finish(fabric, scratch, faults) == 0);
	WEFT_CHECK(fabric_graph_build(fabric, keep, scratch, graph, faults) == 0);
}

static void check_plan(const struct import_lfts *lfts, const struct fabric_graph *graph,
		       struct arena *keep, struct arena *scratch)
{
	const uint64_t edges = lfts->topo.edge_count;
	struct verify_report report;
	uint64_t named = 0;

	WEFT_CHECK(edges >= SWITCHES && lfts->topo.host_count == edges);
	for (uint64_t edge = 0; edge < edges; edge++)
		named += lfts->edge_lid[edge] != 0;
	WEFT_CHECK(verify_plan(&lfts->topo, &graph->state, &lfts->plan, false, keep, scratch,
			       &report) == 0);
	WEFT_CHECK(report.reachable_pairs + report.unreachable_pairs == edges * (edges - 1));
	WEFT_CHECK(report.reachable_pairs <= named * (edges - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena keep = { .memory = memory[0], .size = ARENA_BYTES };
	struct arena scratch = { .memory = memory[1], .size = ARENA_BYTES };
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct import_lfts lfts;
	struct fabric fabric;
	uint32_t lines = 1;

	if (size > TEXT_MAX)
		return 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	make_fabric(&fabric, &graph, &keep, &scratch, &faults);
	if (import_lfts((const char *)data, size, &fabric, &graph, &keep, &scratch, &lfts,
			&faults) == 0)
		check_plan(&lfts, &graph, &keep, &scratch);
	else
		WEFT_CHECK(faults.count > 0 && faults.fault[0].line <= lines);
	WEFT_CHECK(scratch.used == 0);
	return 0;
}
