// SPDX-License-Identifier: BSD-3-Clause
//
// The difference of two configurations as lines of JSON, for those who change a running switch and
// for those who look at what a change would do. Names in it may hold any bytes (sys/text_json.h).
#pragma once

#include <jansson.h>

#include "dataplane/core/config.h"

// What leads from one to the other (sys/cfg_diff.h), an element for each line. NULL: memory is
// short.
json_t *diff_json(const struct sw_config *from, const struct sw_config *to);
