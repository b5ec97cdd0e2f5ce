// SPDX-License-Identifier: BSD-3-Clause
//
// base/units.c: what people write and what it means. The prefixes are those of the header's
// contract; every wanted value is the product written out.

#include "base/units.h"

#include <string.h>

#include "tests/table.h"

#define KI 1024ull
#define MI (1024ull * 1024)
#define GI (1024ull * 1024 * 1024)

static const struct {
	const char *what;
	enum unit unit;
	const char *in;
	uint64_t want;
} parse_rows[] = {
	{ "a count", UNIT_COUNT, "42", 42 },
	{ "leading zeros are decimal", UNIT_COUNT, "010", 10 },
	{ "a hexadecimal count", UNIT_COUNT, "0x1F", 31 },
	{ "lower case hexadecimal", UNIT_COUNT, "0xff", 255 },
	{ "the largest number", UNIT_COUNT, "9223372036854775807", INT64_MAX },
	{ "the largest number, hexadecimal", UNIT_COUNT, "0x7fffffffffffffff", INT64_MAX },
	{ "bytes", UNIT_BYTES, "9100", 9100 },
	{ "K is 1024 bytes", UNIT_BYTES, "18K", 18 * KI },
	{ "KiB is 1024 bytes", UNIT_BYTES, "18KiB", 18 * KI },
	{ "kB is 1000 bytes", UNIT_BYTES, "100kB", 100000 },
	{ "M is 1024 squared", UNIT_BYTES, "2M", 2 * MI },
	{ "MiB is 1024 squared", UNIT_BYTES, "1MiB", MI },
	{ "MB is 1000 squared", UNIT_BYTES, "16MB", 16000000 },
	{ "G is 1024 cubed", UNIT_BYTES, "3G", 3 * GI },
	{ "GiB is 1024 cubed", UNIT_BYTES, "3GiB", 3 * GI },
	{ "GB is 1000 cubed", UNIT_BYTES, "3GB", 3000000000 },
	{ "a binary fraction", UNIT_BYTES, "0.5K", 512 },
	{ "the last binary fraction of K", UNIT_BYTES, "0.0009765625K", 1 },
	{ "a fraction of zeros", UNIT_BYTES, "7.000", 7 },
	{ "zeros behind a fraction", UNIT_BYTES, "1.50000000000000000000000000K", 1536 },
	{ "bits per second", UNIT_BPS, "1000bps", 1000 },
	{ "no rate", UNIT_BPS, "0", 0 },
	{ "k is 1000 in rates", UNIT_BPS, "64k", 64000 },
	{ "M is 10^6 in rates", UNIT_BPS, "100M", 100000000 },
	{ "G is 10^9 in rates", UNIT_BPS, "400G", 400000000000 },
	{ "T is 10^12 in rates", UNIT_BPS, "1.6T", 1600000000000 },
	{ "a rate with a fraction", UNIT_BPS, "2.5G", 2500000000 },
	{ "one bit in G", UNIT_BPS, "0.000000001G", 1 },
	{ "no time", UNIT_NS, "0", 0 },
	{ "ns", UNIT_NS, "51ns", 51 },
	{ "us", UNIT_NS, "50us", 50000 },
	{ "ms", UNIT_NS, "200ms", 200000000 },
	{ "s", UNIT_NS, "300s", 300000000000 },
	{ "a fraction of us", UNIT_NS, "3.355us", 3355 },
	{ "metres", UNIT_METRES, "5m", 5 },
	{ "no length", UNIT_METRES, "0", 0 },
	{ "kilometres", UNIT_METRES, "1.5km", 1500 },
	{ "percent", UNIT_PPM, "5%", 50000 },
	{ "a fraction of a percent", UNIT_PPM, "0.0001%", 1 },
	{ "parts per million", UNIT_PPM, "200ppm", 200 },
	{ "no probability", UNIT_PPM, "0", 0 },
	{ "the largest whole G", UNIT_BYTES, "8589934591G", 8589934591 * GI },
	{ "the largest with a fraction", UNIT_BPS, "9223372036.854775807G", INT64_MAX },
};

TABLE_TEST(units, parses, row, parse_rows)
{
	uint64_t value = 0;

	cr_assert(unit_parse(row->unit, row->in, strlen(row->in), &value), "%s: %s", row->what,
		  row->in);
	cr_assert_eq(value, row->want, "%s: %s is %lu, want %lu", row->what, row->in, value,
		     row->want);
}

static const struct {
	const char *what;
	enum unit unit;
	const char *in;
} refuse_rows[] = {
	{ "nothing", UNIT_COUNT, "" },
	{ "a sign", UNIT_COUNT, "-1" },
	{ "a plus", UNIT_COUNT, "+1" },
	{ "a space before", UNIT_COUNT, " 1" },
	{ "a space behind", UNIT_COUNT, "1 " },
	{ "a suffix on a count", UNIT_COUNT, "1K" },
	{ "0x alone", UNIT_COUNT, "0x" },
	{ "not hexadecimal", UNIT_COUNT, "0x1g" },
	{ "hexadecimal is for counts", UNIT_BYTES, "0x10" },
	{ "2^63", UNIT_COUNT, "9223372036854775808" },
	{ "2^63 in hexadecimal", UNIT_COUNT, "0x8000000000000000" },
	{ "2^64 + 1, which would wrap", UNIT_COUNT, "18446744073709551617" },
	{ "a product beyond 2^63", UNIT_BYTES, "8589934592G" },
	{ "a fraction that tips it over", UNIT_BPS, "9223372036.854775808G" },
	{ "a fraction of a byte", UNIT_BYTES, "0.5" },
	{ "a decimal fraction of KiB", UNIT_BYTES, "0.1K" },
	{ "one digit too fine", UNIT_BPS, "0.0000000001G" },
	{ "a probability without a unit", UNIT_PPM, "0.2" },
	{ "a rate without a unit", UNIT_BPS, "400" },
	{ "a time without a unit", UNIT_NS, "300" },
	{ "a length without a unit", UNIT_METRES, "40" },
	{ "a whole probability without a unit", UNIT_PPM, "5" },
	{ "finer than ppm", UNIT_PPM, "0.00001%" },
	{ "no digits before the point", UNIT_BYTES, ".5K" },
	{ "no digits behind the point", UNIT_BYTES, "5.K" },
	{ "two points", UNIT_BPS, "1.2.3G" },
	{ "an unknown suffix", UNIT_BYTES, "5X" },
	{ "the ambiguous KB", UNIT_BYTES, "5KB" },
	{ "a rate's suffix in the wrong case", UNIT_BPS, "5g" },
	{ "text behind the suffix", UNIT_BPS, "5Gx" },
	{ "bytes are no time", UNIT_NS, "5K" },
	{ "feet", UNIT_METRES, "5ft" },
	{ "a suffix alone", UNIT_METRES, "m" },
};

TABLE_TEST(units, refuses, row, refuse_rows)
{
	uint64_t value = 77;

	cr_assert_not(unit_parse(row->unit, row->in, strlen(row->in), &value), "%s: %s gave %lu",
		      row->what, row->in, value);
	cr_assert_eq(value, 77, "%s: the value is untouched", row->what);
}

Test(units, parse_reads_only_len_bytes)
{
	uint64_t value = 0;

	cr_assert(unit_parse(UNIT_BPS, "25Gxyz", 3, &value));
	cr_assert_eq(value, 25000000000);
}

static const struct {
	const char *what;
	enum unit unit;
	uint64_t in;
	const char *want;
} format_rows[] = {
	{ "zero has no unit", UNIT_NS, 0, "0" },
	{ "a count is plain", UNIT_COUNT, 65536, "65536" },
	{ "a line rate", UNIT_BPS, 25000000000, "25G" },
	{ "a shorter fraction", UNIT_BPS, 2500000000, "2.5G" },
	{ "no fraction when as long", UNIT_BPS, 1250000000, "1250M" },
	{ "terabits", UNIT_BPS, 1600000000000, "1.6T" },
	{ "an odd rate stays exact", UNIT_BPS, 1234567891, "1234567.891k" },
	{ "KiB", UNIT_BYTES, 18432, "18K" },
	{ "MiB", UNIT_BYTES, 1048576, "1M" },
	{ "decimal megabytes", UNIT_BYTES, 16000000, "16MB" },
	{ "decimal kilobytes", UNIT_BYTES, 150000, "150kB" },
	{ "neither", UNIT_BYTES, 9100, "9100" },
	{ "a pool of the field", UNIT_BYTES, 12766208, "12467K" },
	{ "milliseconds", UNIT_NS, 200000000, "200ms" },
	{ "seconds and a half", UNIT_NS, 1500000000, "1.5s" },
	{ "nanoseconds keep their unit", UNIT_NS, 7, "7ns" },
	{ "metres keep their unit", UNIT_METRES, 300, "300m" },
	{ "kilometres", UNIT_METRES, 2000, "2km" },
	{ "percent", UNIT_PPM, 50000, "5%" },
	{ "half a percent", UNIT_PPM, 5000, "0.5%" },
	{ "one part per million", UNIT_PPM, 1, "0.0001%" },
	{ "all of it", UNIT_PPM, 1000000, "100%" },
};

TABLE_TEST(units, formats, row, format_rows)
{
	char text[UNIT_TEXT_BYTES];
	const size_t len = unit_format(row->unit, row->in, text);

	cr_assert_str_eq(text, row->want, "%s: %s, want %s", row->what, text, row->want);
	cr_assert_eq(len, strlen(text), "%s: length", row->what);
}

static const struct {
	const char *what;
	const char *in;
	bool ok;
	uint8_t want;
	const char *canonical;
} mask_rows[] = {
	{ "none", "", true, 0x00, "" },
	{ "one", "3", true, 0x08, "3" },
	{ "a pair becomes a run", "3,4", true, 0x18, "3-4" },
	{ "a run", "3-5", true, 0x38, "3-5" },
	{ "all", "0-7", true, 0xff, "0-7" },
	{ "alternate", "0,2,4,6", true, 0x55, "0,2,4,6" },
	{ "runs and singles", "0-1,3-4,6-7", true, 0xdb, "0-1,3-4,6-7" },
	{ "any order, members twice", "4,3-4,3", true, 0x18, "3-4" },
	{ "a run of one", "5-5", true, 0x20, "5" },
	{ "beyond 7", "8", false, 0, NULL },
	{ "a run beyond 7", "6-8", false, 0, NULL },
	{ "a descending run", "5-3", false, 0, NULL },
	{ "a comma at the end", "3,", false, 0, NULL },
	{ "a comma at the start", ",3", false, 0, NULL },
	{ "two commas", "3,,4", false, 0, NULL },
	{ "an open run", "3-", false, 0, NULL },
	{ "a run without start", "-3", false, 0, NULL },
	{ "a run of three", "1-2-3", false, 0, NULL },
	{ "a space", "3, 4", false, 0, NULL },
	{ "two digits", "34", false, 0, NULL },
	{ "a word", "all", false, 0, NULL },
};

TABLE_TEST(units, masks, row, mask_rows)
{
	char text[UNIT_TEXT_BYTES];
	uint8_t mask = 0xa5;
	const bool ok = unit_parse_mask8(row->in, strlen(row->in), &mask);

	cr_assert_eq(ok, row->ok, "%s: \"%s\"", row->what, row->in);
	cr_assert_eq(mask, row->ok ? row->want : 0xa5, "%s: \"%s\" is 0x%02x", row->what, row->in,
		     mask);
	if (!ok)
		return;
	cr_assert_eq(unit_format_mask8(mask, text), strlen(row->canonical), "%s", row->what);
	cr_assert_str_eq(text, row->canonical, "%s: %s", row->what, text);
}

Test(units, every_mask_reads_back)
{
	for (uint32_t mask = 0; mask < 256; mask++) {
		char text[UNIT_TEXT_BYTES];
		uint8_t back = (uint8_t)~mask;
		const size_t len = unit_format_mask8((uint8_t)mask, text);

		cr_assert(unit_parse_mask8(text, len, &back), "%s", text);
		cr_assert_eq(back, mask, "%s", text);
	}
}

static const struct {
	const char *what;
	uint64_t mac;
	const char *text;
} mac_rows[] = {
	{ "zero", 0, "00:00:00:00:00:00" },
	{ "every digit, lower case", 0x0123456789abull, "01:23:45:67:89:ab" },
	{ "all ones", 0xffffffffffffull, "ff:ff:ff:ff:ff:ff" },
	{ "nothing above", 0xffff00000000cdefull, "00:00:00:00:cd:ef" },
};

TABLE_TEST(units, writes_mac_addresses, row, mac_rows)
{
	char text[MAC_TEXT_BYTES];

	cr_assert_eq(mac_format(row->mac, text), strlen(row->text), "%s", row->what);
	cr_assert_str_eq(text, row->text, "%s", row->what);
}
