// SPDX-License-Identifier: BSD-3-Clause
//
// Walking the ports of a switch's answer: only the port that was asked for, or all of them, in the
// order of the configuration.
#pragma once

#include "cli/command.h"

// Checks that the answer has the port that was asked for. Returns 0 (also when none was), or
// -ENOENT after a line on stderr.
int port_check(const struct query *query);

// The next wanted port from position *at on, which moves behind it; NULL at the end.
const json_t *port_next(const struct query *query, size_t *at);

// The element `at` of one of the port's arrays: "priorities", "priority_groups" or "queues".
const json_t *port_element(const json_t *port, const char *list, size_t at);

// Adds a row: the port's name and the member `key` of each element of its array `list`.
void port_row(struct table *table, const json_t *port, const char *list, const char *key);

// Adds the bits of a mask as "3,4", or "N/A" when there are none.
void row_mask(json_t *row, const json_t *object, const char *key);
