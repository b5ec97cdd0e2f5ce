// SPDX-License-Identifier: BSD-3-Clause
//
// The paths of a trace as JSON, for the command line and for the fabric manager's socket:
//
//   {"paths": [{"end": "arrives", "share": 0.5, "hops": [{"link": "leaf1:Ethernet4", "lane": 0}]}],
//    "cut": false}
#pragma once

#include <jansson.h>

#include "fabricmgr/core/fabric.h"
#include "routing/trace.h"

// Where a path ends, in a word or two.
const char *trace_end_text(enum trace_end end);

// A new reference, NULL: memory is short.
json_t *trace_json(const struct fabric *fabric, const struct fabric_graph *graph,
		   const struct trace *trace);

// Whether there are paths, and all of them arrive.
bool trace_arrives(const struct trace *trace);
