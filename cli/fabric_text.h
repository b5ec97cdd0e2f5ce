// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of the fabric manager's answers in words, each a line: how long ago, which generation, what
// happened. What an answer does not say is left out of the words.
#pragma once

#include <jansson.h>

#include "base/types.h"

enum { FABRIC_TEXT_BYTES = 512 };

// Each writes into `out` and returns it.
//
// A time that passed, in its largest unit: "350 us", "12 ms", "40 s", "5 min", "3 h", "9 d".
const char *fabric_text_time(uint64_t ns, char out[FABRIC_TEXT_BYTES]);
// Of a status: "7 of epoch 3, in force for 40 s".
const char *fabric_text_generation(const json_t *status, char out[FABRIC_TEXT_BYTES]);
// Of a status: what the last plan took and changed.
const char *fabric_text_repair(const json_t *status, char out[FABRIC_TEXT_BYTES]);
// Counts of an object that are not 0, in its order, but for "all": "6 there, 1 headless".
const char *fabric_text_counts(const json_t *counts, char out[FABRIC_TEXT_BYTES]);
// The local time of milliseconds since 1970.
const char *fabric_text_clock(json_int_t wall_ms, char out[FABRIC_TEXT_BYTES]);
// An event of the journal: time, severity and what happened.
const char *fabric_text_event(const json_t *event, char out[FABRIC_TEXT_BYTES]);
