// SPDX-License-Identifier: BSD-3-Clause
//
// Ratios as values of a configuration: kept in units of 2^-32, rounded to the nearest, written as
// the simplest fraction that reads back.

#include "sys/cfg_ratio.h"

#include <string.h>

#include "sys/cfg_value.h"
#include "tests/table.h"

#define ONE (1ull << 32)

static const struct {
	const char *what;
	const char *text;
	uint64_t value;
	const char *printed;
} ratio_rows[] = {
	{ "nothing", "0", 0, "0" },
	{ "one", "1", ONE, "1" },
	{ "a power of two", "1/256", ONE / 256, "1/256" },
	{ "of the NIC's units", "5/1024", 5 * ONE / 1024, "5/1024" },
	{ "not reduced", "4/1024", ONE / 256, "1/256" },
	{ "a decimal", "0.25", ONE / 4, "1/4" },
	{ "a long decimal: 1/256", "0.00390625", ONE / 256, "1/256" },
	{ "a third: 1431655765.33", "1/3", 1431655765, "1/3" },
	{ "two thirds: 2863311530.67 to the nearest", "2/3", 2863311531, "2/3" },
	{ "a tenth: 429496729.6 to the nearest", "0.1", 429496730, "1/10" },
	{ "one unit", "1/4294967296", 1, "1/4294967296" },
	{ "half a unit is one", "1/8589934592", 1, "1/4294967296" },
	{ "less is none", "1/8589934593", 0, "0" },
	{ "above one", "3/2", ONE + ONE / 2, "3/2" },
	{ "a mixed decimal", "2.5", 2 * ONE + ONE / 2, "5/2" },
	{ "zero over something", "0/7", 0, "0" },
	{ "the largest whole number", "2147483647", 2147483647 * ONE, "2147483647" },
};

TABLE_TEST(ratio, reads_and_writes, row, ratio_rows)
{
	uint64_t value = UINT64_MAX;
	char text[RATIO_TEXT_BYTES];

	cr_assert(ratio_parse(row->text, &value), "%s", row->what);
	cr_assert_eq(value, row->value, "%s: %lu, want %lu", row->what, value, row->value);
	ratio_format(value, text);
	cr_assert_str_eq(text, row->printed, "%s", row->what);
	cr_assert(ratio_parse(text, &value), "%s", row->what);
	cr_assert_eq(value, row->value, "%s: again %lu", row->what, value);
}

static const struct {
	const char *what;
	const char *text;
} refused_rows[] = {
	{ "no text", "" },
	{ "a word", "half" },
	{ "nothing below", "1/" },
	{ "nothing above", "/2" },
	{ "by zero", "1/0" },
	{ "a sign", "-1/2" },
	{ "a space", "1 /2" },
	{ "three parts", "1/2/3" },
	{ "a decimal below", "1/2.5" },
	{ "no digit behind the point", "1." },
	{ "no digit before the point", ".5" },
	{ "ten places", "0.0000000001" },
	{ "twenty digits", "10000000000000000000/10000000000000000000" },
	{ "2^31", "2147483648" },
	{ "far above", "9999999999999999999/1" },
	{ "a unit", "5%" },
};

TABLE_TEST(ratio, refuses, row, refused_rows)
{
	uint64_t value = 7;

	cr_assert_not(ratio_parse(row->text, &value), "%s", row->what);
	cr_assert_eq(value, 7, "%s", row->what);
}

SEED_TEST(ratio, any_value_reads_back, rng, 4)
{
	for (uint32_t i = 0; i < 2000; i++) {
		const uint64_t value = rng_next64(rng) >> (1 + rng_below(rng, 63));
		char text[RATIO_TEXT_BYTES];
		uint64_t back = ~value;

		ratio_format(value, text);
		cr_assert(ratio_parse(text, &back), "%s", text);
		cr_assert_eq(back, value, "%s: %lu, was %lu", text, back, value);
	}
}

Test(ratio, is_a_kind_of_knob)
{
	const struct config_knob knob = {
		.key = "g", .def = "1/256", .words = "", .min = 1, .max = ONE, .kind = CONFIG_RATIO
	};
	char text[CFG_VALUE_TEXT_BYTES];
	uint64_t value;

	cfg_value_default(&knob, &value);
	cr_assert_eq(value, ONE / 256);
	cfg_value_format(&knob, &value, text);
	cr_assert_str_eq(text, "1/256");
	cr_assert_eq(cfg_value_parse(&knob, "0", &value), CFG_VALUE_BELOW);
	cr_assert_eq(cfg_value_parse(&knob, "5/4", &value), CFG_VALUE_ABOVE);
	cr_assert_eq(cfg_value_parse(&knob, "5%", &value), CFG_VALUE_MALFORMED);
	cfg_value_allowed(&knob, sizeof(text), text);
	cr_assert_str_eq(text, "a fraction such as \"1/256\", 1/4294967296 to 1");
}
