// SPDX-License-Identifier: BSD-3-Clause
//
// Test hooks that are on make a switch behave unlike a switch, so whatever shows ports and queues
// shows them as well.
#pragma once

#include "cli/command.h"

// Adds a table of the hooks that are on at the wanted ports; none when none is.
void hooks_add_table(const struct query *query, struct report *report);
