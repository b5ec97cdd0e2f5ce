// SPDX-License-Identifier: BSD-3-Clause
//
// Assertions of the pure libraries. They end in one hook that the program provides, so the
// libraries themselves import nothing. WEFT_CHECK stays in release builds and guards what would
// corrupt accounting; WEFT_DEBUG_CHECK costs nothing there (meson defines WEFT_DEBUG as 0 or 1).
#pragma once

// Provided by the program (sys/check.c). Prints and aborts; never returns.
_Noreturn void weft_assert_fail(const char *expression, const char *file, int line);

#define WEFT_CHECK(expression)                                                                     \
	(__builtin_expect(!!(expression), 1) ? (void)0 :                                           \
					       weft_assert_fail(#expression, __FILE__, __LINE__))

#define WEFT_DEBUG_CHECK(expression) (WEFT_DEBUG ? WEFT_CHECK(expression) : (void)0)
