// SPDX-License-Identifier: BSD-3-Clause
//
// A distribution of message sizes from a file in the format of the traffic generators around ns-3:
// a point of the cumulative curve in each line, bytes and the percentage of messages that are not
// larger, both ascending, the last one 100.
#pragma once

#include <stdio.h>

#include "traffic/core/sizes.h"

// 0, or -errno after a line on `errors` that names file and line.
int sizes_file_read(const char *path, FILE *errors, struct sizes *out);
