// SPDX-License-Identifier: BSD-3-Clause
//
// Where a fabric comes from: an intent file, or what another program wrote, told apart by a word
// before the file's name. Whatever it is, a finished fabric and its graph come out, and an intent
// with the rules to plan by, all defaults where the file has none.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/fabric.h"
#include "fabricmgr/core/planner.h"
#include "fabricmgr/core/qos.h"
#include "fabricmgr/intent.h"

struct source {
	struct arena keep;    // of the fabric, and what is planned on it
	struct arena scratch; // empty between calls
	struct intent *intent;
	struct fabric fabric;
	struct fabric_graph graph;
};

// Opens "FILE", "ibnetdiscover:FILE", "dot:FILE" or "json:FILE". 0, or -errno after lines on
// `errors`; in any case the source is to be closed.
int source_open(struct source *source, const char *name, FILE *errors);

void source_close(struct source *source);

// Tables that OpenSM or infiniband-diags dumped (fabricmgr/core/import_lfts.h) into a plan without
// rules of turns. The graph's edges and hosts are then those of LIDs. 0, or -errno after lines.
int source_lfts(struct source *source, const char *path, struct plan *plan, FILE *errors);

// Engines by name, separated by commas; "" is none. False after a line on `errors` that begins with
// `where`.
bool source_engines(const char *names, const char *where, struct planner_options *options,
		    FILE *errors);

// The rules of the intent. False as above.
bool source_rules(const struct source *source, const char *name, struct planner_options *options,
		  FILE *errors);

// What the intent says of QoS, for a plan of so many lanes.
struct qos_options source_qos(const struct source *source, uint32_t lanes);
