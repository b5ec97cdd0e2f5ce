// SPDX-License-Identifier: BSD-3-Clause
//
// Fractions as text: "1/256", "0.25", "1". Kept in units of 2^-32, so pure code can multiply by
// them; probabilities that a switch is configured with are PPM instead.
#pragma once

#include "base/types.h"

// Reads "N/M" (M > 0) or a decimal with at most nine places, rounded to the nearest unit; both
// parts are below 10^19. False, and *value untouched, for anything else and from 2^31 on.
bool ratio_parse(const char *text, uint64_t *value);

// Writes a value below 2^63 as the fraction that ratio_parse() reads back, with the smallest
// denominator up to 1024, or else with a power of two.
enum { RATIO_TEXT_BYTES = 32 };
void ratio_format(uint64_t value, char out[RATIO_TEXT_BYTES]);
