// SPDX-License-Identifier: BSD-3-Clause
//
// Where a row or knob stands, for messages about it after the file has been loaded: rows of lists
// remember their line, unless they came by an edit or from what was saved; the top level is one
// row, so its knobs are looked for.
//
// The file may have changed meanwhile; then the place is that of the knob as it is now.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CFG_PLACE_BYTES = 512 };

// Writes "FILE:LINE" of the knob `key` in the configuration at `path`, or `path` alone when the
// file does not say it (any more). Cut to `bytes`.
void cfg_place(const char *path, const char *key, char *out, size_t bytes);

// Writes and returns "FILE:LINE" of a row, or "FILE" when its line is 0.
const char *cfg_place_line(const char *path, uint32_t line, char out[CFG_PLACE_BYTES]);

// The directory of `path`, "." without one: what its includes are relative to. To be freed; NULL
// when memory is short.
char *cfg_directory(const char *path);
