// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the importers of topologies: any bytes as what ibnetdiscover prints, and as a plan
// in DOT. Checked: reading ends and leaves no scratch memory taken; what is refused has a fault, of
// a line that the text has; what is accepted and has no fault is a graph whose links lead back.

#include "base/check.h"
#include "fabricmgr/core/import_dot.h"
#include "fabricmgr/core/import_ibnet.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES = 8 << 20, TEXT_MAX = 1 << 13 };

static uint8_t memory[2][ARENA_BYTES] __attribute__((aligned(64)));

typedef int (*import_fn)(const char *text, size_t bytes, struct fabric *fabric,
			 struct arena *scratch, struct fabric_faults *faults);

static void check_graph(struct fabric *fabric, struct arena *keep, struct arena *scratch)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;

	if (fabric_finish(fabric, scratch, &faults) != 0 ||
	    fabric_graph_build(fabric, keep, scratch, &graph, &faults) != 0) {
		WEFT_CHECK(faults.count > 0);
		return;
	}
	WEFT_CHECK(graph.topo.link_count == 2 * fabric->cable_count);
	WEFT_CHECK(graph.topo.host_count == fabric->host_port_count);
	for (uint32_t link = 0; link < graph.topo.link_count; link++)
		WEFT_CHECK(graph.topo.link_peer[graph.topo.link_peer[link]] == link);
}

static void check_import(import_fn import, const char *text, size_t size, uint32_t lines)
{
	struct arena keep = { .memory = memory[0], .size = ARENA_BYTES };
	struct arena scratch = { .memory = memory[1], .size = ARENA_BYTES };
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric;

	WEFT_CHECK(fabric_init(&fabric, &keep) == 0);
	if (import(text, size, &fabric, &scratch, &faults) == 0)
		check_graph(&fabric, &keep, &scratch);
	else
		WEFT_CHECK(faults.count > 0 && faults.fault[0].line <= lines);
	WEFT_CHECK(scratch.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	uint32_t lines = 1;

	if (size > TEXT_MAX)
		return 0;
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	check_import(import_ibnet, text, size, lines);
	check_import(import_dot, text, size, lines);
	return 0;
}
