// SPDX-License-Identifier: BSD-3-Clause
//
// Health of a fabric as JSON, for the northbound socket: counters, what is wrong where, alarms and
// history. Each is a new reference, NULL when memory is short; one with `why` is NULL also when
// there is no such object, and says so there. Times are in ns, rates per second, shares 0 to 1.
#pragma once

#include <jansson.h>

#include "fabricmgr/core/health.h"
#include "fabricmgr/find.h"

enum { HEALTH_JSON_PORTS_MAX = 100 }; // of those that errors are listed of

// Without a switch: {"switches": [...]}, sums and rates of each. With one ("leaf1"), all that it
// counts, as /v1/stats of the switch has it; with a port ("Ethernet4") only that port of it.
// Priorities, groups and queues in which nothing ever was are left out, and so are zero drops.
json_t *health_counters_json(const struct health *health, const char *at, const char *port,
			     ns_t now, char why[FIND_WHY_BYTES]);

// {"ports": [...], "storms": {...}, "cables": [...]}: ports with drops, errors or pauses of now or
// of the last hour, the worst first; where pauses come from; and neighbours that the intent does
// not have there.
json_t *health_errors_json(const struct health *health, ns_t now, struct arena *scratch);

// {"alarms": [...]}: those that are raised, the newest first.
json_t *health_alarms_json(const struct health *health, ns_t now);

// {"port", "row", "step_s", "values": [...]}: oldest first, null where nothing is known. `row` is a
// key of health_row_keys, "" for the list of rows; at most `seconds` of the hour.
json_t *health_history_json(const struct health *health, const char *port, const char *row,
			    uint32_t seconds, char why[FIND_WHY_BYTES]);
