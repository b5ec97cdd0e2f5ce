// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of intent files: any bytes as a file. Checked: a refused one is said to be wrong on
// at least one line; of an accepted one the names lead back to their objects, and a graph of as
// many switches, links and hosts can be made, or a fault says why not.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "fabricmgr/intent_fabric.h"
#include "tests/fuzz/fuzz.h"

enum { ERRORS_BYTES = 1 << 16, ARENA_BYTES = 256 << 20 };

static struct arena arena_new(void)
{
	return (struct arena){ .memory = aligned_alloc(64, ARENA_BYTES), .size = ARENA_BYTES };
}

static void check_fabric(const struct fabric *fabric, struct arena *keep, struct arena *scratch)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;

	for (uint32_t i = 0; i < fabric->switch_count; i++)
		WEFT_CHECK(fabric_find_switch(fabric, fabric->switches[i].name) == i);
	for (uint32_t i = 0; i < fabric->host_count; i++)
		WEFT_CHECK(fabric_find_host(fabric, fabric->hosts[i].name) == i);
	if (fabric_graph_build(fabric, keep, scratch, &graph, &faults) < 0) {
		WEFT_CHECK(faults.count > 0);
		return;
	}
	WEFT_CHECK(graph.topo.switch_count == fabric->switch_count);
	WEFT_CHECK(graph.topo.link_count == 2 * fabric->cable_count);
	WEFT_CHECK(graph.topo.host_count == fabric->host_port_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, ERRORS_BYTES);
	FILE *errors = fmemopen(text, ERRORS_BYTES - 1, "w");
	struct arena keep = arena_new();
	struct arena scratch = arena_new();
	struct intent *intent = NULL;
	FILE *file = tmpfile();
	struct fabric fabric;
	char path[32];
	int rc;

	fwrite(data, 1, size, file);
	fflush(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	rc = intent_load(path, &intent, errors);
	if (rc == 0)
		rc = intent_fabric(intent, path, &keep, &scratch, &fabric, errors);
	fflush(errors);
	if (rc == 0)
		check_fabric(&fabric, &keep, &scratch);
	else
		WEFT_CHECK(strchr(text, '\n') != NULL);
	free(intent);
	free(keep.memory);
	free(scratch.memory);
	fclose(file);
	fclose(errors);
	free(text);
	return 0;
}
