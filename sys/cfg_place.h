// SPDX-License-Identifier: BSD-3-Clause
//
// Where a knob of the top level stands, for messages about it after the file has been loaded: the
// rows of lists remember their line, the top level is one row.
//
// The file may have changed meanwhile; then the place is that of the knob as it is now.
#pragma once

#include <stddef.h>

// Writes "FILE:LINE" of the knob `key` in the configuration at `path`, or `path` alone when the
// file does not say it (any more). Cut to `bytes`.
void cfg_place(const char *path, const char *key, char *out, size_t bytes);
