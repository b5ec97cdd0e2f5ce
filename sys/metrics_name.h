// SPDX-License-Identifier: BSD-3-Clause
//
// Names and units of the rows of schema/stats.def as Prometheus wants them: weft_OBJECT_KEY in base
// units (seconds, bytes), counters with "_total".
#pragma once

#include <stddef.h>

#include "base/types.h"

enum { METRIC_NAME_BYTES = 96, METRIC_VALUE_BYTES = 40 };

struct metric_name {
	char family[METRIC_NAME_BYTES]; // without "_total"
	const char *unit;               // "seconds", "bytes", or NULL
	uint32_t divisor;               // a power of ten that makes base units of the row's value
};

// Makes the name of the row `key` of an object.
void metric_name_of(const char *object, const char *key, struct metric_name *out);

// Writes `value` / `divisor` exactly, without an exponent; returns the length.
size_t metric_value(uint64_t value, uint32_t divisor, char out[METRIC_VALUE_BYTES]);

// Writes `text` as the value of a label, without the quotes; cut where `bytes` are full. Returns
// the length.
size_t metric_label(const char *text, char *out, size_t bytes);
