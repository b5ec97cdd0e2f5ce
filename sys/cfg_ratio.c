// SPDX-License-Identifier: BSD-3-Clause
//
// Fractions between text and units of 2^-32.
//
// Invariant: ratio_parse(ratio_format(x)) is x for every x below 2^63.

#include "sys/cfg_ratio.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIGITS_MAX = 19, DECIMALS_MAX = 9, DENOMINATOR_MAX = 1024 };

// Reads digits at *text into *value and moves on; how many there were, 0 if too many.
static uint32_t digits(const char **text, uint32_t max, uint64_t *value)
{
	uint32_t count = 0;

	for (*value = 0; **text >= '0' && **text <= '9'; (*text)++, count++) {
		if (count == max)
			return 0;
		*value = *value * 10 + (uint64_t)(**text - '0');
	}
	return count;
}

// numerator / denominator to the nearest unit; false from 2^31 on.
static bool to_units(uint64_t numerator, uint64_t denominator, uint64_t *value)
{
	const unsigned __int128 units = (((unsigned __int128)numerator << 32) + denominator / 2) /
					denominator;

	if (units > INT64_MAX)
		return false;
	*value = (uint64_t)units;
	return true;
}

bool ratio_parse(const char *text, uint64_t *value)
{
	uint64_t whole, part;
	uint64_t denominator = 1;
	uint32_t count;

	if (digits(&text, DIGITS_MAX, &whole) == 0)
		return false;
	if (*text == '\0')
		return to_units(whole, 1, value);
	if (*text == '/') {
		text++;
		return digits(&text, DIGITS_MAX, &denominator) > 0 && *text == '\0' &&
		       denominator > 0 && to_units(whole, denominator, value);
	}
	if (*text++ != '.')
		return false;
	count = digits(&text, DECIMALS_MAX, &part);
	if (count == 0 || *text != '\0' || whole >= DENOMINATOR_MAX * 10000000ull)
		return false;
	for (; count > 0; count--)
		denominator *= 10;
	return to_units(whole * denominator + part, denominator, value);
}

void ratio_format(uint64_t value, char out[RATIO_TEXT_BYTES])
{
	uint64_t denominator = 1;
	uint64_t numerator = 0;
	uint64_t units = UINT64_MAX;

	for (; denominator <= DENOMINATOR_MAX; denominator++) {
		numerator = (uint64_t)(((unsigned __int128)value * denominator + (1u << 31)) >> 32);
		if (to_units(numerator, denominator, &units) && units == value)
			break;
	}
	if (units != value) {
		const int zeros = __builtin_ctzll(value); // 0 is 0/1

		denominator = (1ull << 32) >> zeros;
		numerator = value >> zeros;
	}
	if (denominator == 1)
		snprintf(out, RATIO_TEXT_BYTES, "%" PRIu64, numerator);
	else
		snprintf(out, RATIO_TEXT_BYTES, "%" PRIu64 "/%" PRIu64, numerator, denominator);
}
