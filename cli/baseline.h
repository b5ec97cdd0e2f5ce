// SPDX-License-Identifier: BSD-3-Clause
//
// Counters cleared for one user: what `weft clear counters` saw is kept in the user's cache
// directory, and later answers of the same switch are shown without it. The switch counts on, so
// nobody else's view changes.
#pragma once

#include <jansson.h>
#include <stdbool.h>

// Keeps an answer of /v1/stats as the user's baseline of its switch. Returns 0, or -errno after a
// line on stderr.
int baseline_save(const json_t *reply);

// Takes the user's baseline off the counters of an answer of /v1/stats, each at least 0; gauges and
// watermarks stay. A baseline from an earlier life of the switch counts for nothing. True when one
// was taken off.
bool baseline_apply(json_t *reply);
