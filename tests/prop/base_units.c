// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of base/units.c: every text it writes it reads back as the same value, and no text,
// however odd, is read beyond its length or leaves a value behind when it is refused.

#include "base/units.h"

#include <string.h>

#include "tests/table.h"

enum { ROUNDS = 20000 };

static const enum unit all_units[] = { UNIT_COUNT, UNIT_BYTES,  UNIT_BPS,
				       UNIT_NS,    UNIT_METRES, UNIT_PPM };

// Values of all magnitudes, many of them round in one of the bases.
static uint64_t random_value(struct rng *rng)
{
	const uint64_t round[] = { 1,       10,         512,        1000,      1024,
				   1000000, 1ull << 20, 1000000000, 1ull << 30 };
	const uint32_t shift = 1 + rng_below(rng, 63);
	const uint64_t value = rng_next64(rng) >> shift;
	const uint64_t factor = round[rng_below(rng, TABLE_COUNT(round))];

	return value > INT64_MAX / factor ? value : value * factor;
}

SEED_TEST(units, text_reads_back, rng, 8)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const enum unit unit = all_units[rng_below(rng, TABLE_COUNT(all_units))];
		const uint64_t value = random_value(rng);
		char text[UNIT_TEXT_BYTES];
		uint64_t back = ~value;
		const size_t len = unit_format(unit, value, text);

		cr_assert_lt(len, UNIT_TEXT_BYTES);
		cr_assert_eq(len, strlen(text));
		cr_assert(unit_parse(unit, text, len, &back), "%s", text);
		cr_assert_eq(back, value, "%s: %lu, was %lu", text, back, value);
	}
}

SEED_TEST(units, odd_texts_do_no_harm, rng, 8)
{
	const char alphabet[] = "0123456789..xkKMGTBisnump%-, ";

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const enum unit unit = all_units[rng_below(rng, TABLE_COUNT(all_units))];
		const uint32_t len = rng_below(rng, 12);
		// Exactly as long as the text, so that the sanitiser sees a byte too many.
		char *text = malloc(len);
		uint64_t value = UINT64_MAX;
		uint8_t mask;

		for (uint32_t c = 0; c < len; c++)
			text[c] = alphabet[rng_below(rng, sizeof(alphabet) - 1)];
		cr_assert_eq(unit_parse(unit, text, len, &value), value != UINT64_MAX);
		unit_parse_mask8(text, len, &mask);
		free(text);
	}
}
