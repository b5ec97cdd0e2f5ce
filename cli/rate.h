// SPDX-License-Identifier: BSD-3-Clause
//
// Rates between two answers of a switch, by its own clock: uptime_ns says when each was made. Pure.
// There is no rate between lives of a switch, nor of a counter that an answer does not have or that
// went back.
#pragma once

#include <jansson.h>

#include "base/types.h"

// Nanoseconds from one answer of /v1/stats to the other; 0: they have no rate.
uint64_t rate_elapsed_ns(const json_t *before, const json_t *after);

// By how much a member grew from one object to the other; false when it cannot be said.
bool rate_difference(const json_t *before, const json_t *after, const char *key, uint64_t *by);

// `count` times `scale` per second, at most INT64_MAX. elapsed_ns > 0.
uint64_t rate_per_second(uint64_t count, uint64_t scale, uint64_t elapsed_ns);

// Parts per million that `part` of `whole` is; 0 when there is no whole.
uint64_t rate_share_ppm(uint64_t part, uint64_t whole);

// The port of the other answer that has the same name, NULL when there is none.
const json_t *rate_same_port(const json_t *reply, const json_t *port);
