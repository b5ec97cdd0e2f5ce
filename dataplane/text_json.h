// SPDX-License-Identifier: BSD-3-Clause
//
// Words for people as JSON: lines that were collected, and the difference of two configurations as
// lines. Names of a configuration may hold bytes that are no UTF-8, which JSON cannot; such bytes
// are shown as "?".
#pragma once

#include <jansson.h>

#include "dataplane/core/config.h"
#include "sys/lines.h"

// NULL when memory is short, as with jansson's own.
json_t *text_json(const char *text, size_t len);

// An array with an element for each line.
json_t *text_json_lines(struct lines *lines);

// What leads from one to the other (sys/cfg_diff.h), an element for each line.
json_t *text_json_diff(const struct sw_config *from, const struct sw_config *to);
