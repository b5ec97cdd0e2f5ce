// SPDX-License-Identifier: BSD-3-Clause
//
// Words for people as JSON. Names of a configuration, and what others say of themselves, may hold
// bytes that are no UTF-8, which JSON cannot; such bytes are shown as "?".
#pragma once

#include <jansson.h>

#include "sys/lines.h"

// NULL when memory is short, as with jansson's own.
json_t *text_json(const char *text, size_t len);

// An array with an element for each line that was collected.
json_t *text_json_lines(struct lines *lines);
