// SPDX-License-Identifier: BSD-3-Clause
//
// Counters cleared for one user: what `weft clear counters` saw is kept in the user's cache
// directory, and later answers of the same switch are shown without it. The switch counts on, so
// nobody else's view changes.
#pragma once

#include <jansson.h>
#include <stdbool.h>

// Which counters a baseline is made for; those of the others stay as they were.
enum baseline_part {
	BASELINE_SWITCH = 1, // of the switch, its pools and its ports, without drops of ports
	BASELINE_PRIO = 2,
	BASELINE_PG = 4,
	BASELINE_QUEUE = 8, // without the watchdog's
	BASELINE_PFCWD = 16,
	BASELINE_DROPS = 32, // of ports: by reason, and their sums
	BASELINE_ALL = 63,
};

// Keeps counters of an answer of /v1/stats as the user's baseline of its switch. Returns 0, or
// -errno after a line on stderr.
int baseline_save(const json_t *reply, enum baseline_part parts);

// Takes the user's baseline off the counters of an answer of /v1/stats, each at least 0; gauges and
// watermarks stay. A baseline from an earlier life of the switch counts for nothing. Returns what
// the user has cleared: 0 if nothing was taken off.
enum baseline_part baseline_apply(json_t *reply);

// Keeps an answer as the user's last look at a switch and gives the look before it, or NULL: a new
// reference. That there is no place to keep it is no error.
json_t *baseline_look(const json_t *reply);
