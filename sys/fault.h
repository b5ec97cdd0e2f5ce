// SPDX-License-Identifier: BSD-3-Clause
//
// A fault of a pure library as a sentence. The core says what is wrong in numbers and names and
// has a text per kind (schema/faults.def); putting them together is the shell's work, because the
// core does not print.
#pragma once

#include "base/types.h"

// Writes `text` with %o replaced by `object`, %d by `detail`, %h by `have`, %w by `want` and %% by
// one percent sign; anything else stays as it is. Cuts at `out_bytes` (at least 1), always
// NUL-terminated, and returns the length written.
size_t fault_render(char *out, size_t out_bytes, const char *text, const char *object,
		    const char *detail, uint64_t have, uint64_t want);
