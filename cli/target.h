// SPDX-License-Identifier: BSD-3-Clause
//
// The target of a request: a path, and what a user typed as values of its query. A value may be any
// text, such as the alias of a port with spaces in it: what would end it or begin another is
// percent-encoded (RFC 3986, section 3.4).
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Adds ?key=value, or &key=value behind another. False after a line on stderr when the value is
// empty or does not fit into `bytes`; the target is then as it was.
bool target_add(char *target, size_t bytes, const char *key, const char *value);
