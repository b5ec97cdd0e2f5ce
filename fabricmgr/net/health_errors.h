// SPDX-License-Identifier: BSD-3-Clause
//
// What is wrong with the health of a fabric as sentences, in the form of the manager's own
// (view_errors_json()): {"severity", "object", "what", "advice"}. Switches that do not call are
// left to that one.
#pragma once

#include <jansson.h>

#include "fabricmgr/core/health.h"

// Appends alarms that are raised, cables that lead elsewhere, and where pauses come from. `scratch`
// is left as it was.
void health_errors_add(const struct health *health, ns_t now, struct arena *scratch, json_t *list);
