// SPDX-License-Identifier: BSD-3-Clause
//
// Quantities as people write them. One table per unit names its suffixes, largest first; parsing
// and formatting walk the same table, so what is written can be read.
//
// Invariants: unit_parse(unit_format(x)) is x for every x up to 2^63 - 1; no rounding anywhere: a
// text that is not a whole number of base units is refused.

#include "base/units.h"

#include <string.h>

struct suffix {
	char text[4];
	uint8_t len;
	bool written; // by unit_format(); the others are read only
	uint64_t scale;
};

struct unit_desc {
	const struct suffix *suffix;
	uint32_t suffix_count;
	uint32_t decimals; // that unit_format() may use
	bool below_one;    // unit_format() may write "0.5"
};

// The members of a suffix that come before its scale.
#define WRITTEN(text) text, sizeof(text) - 1, true
#define READ(text) text, sizeof(text) - 1, false

static const struct suffix count_suffix[] = { { WRITTEN(""), 1 } };
static const struct suffix bytes_suffix[] = {
	{ WRITTEN("G"), 1ull << 30 }, { READ("GiB"), 1ull << 30 }, { WRITTEN("GB"), 1000000000 },
	{ WRITTEN("M"), 1ull << 20 }, { READ("MiB"), 1ull << 20 }, { WRITTEN("MB"), 1000000 },
	{ WRITTEN("K"), 1ull << 10 }, { READ("KiB"), 1ull << 10 }, { WRITTEN("kB"), 1000 },
	{ WRITTEN(""), 1 },
};
static const struct suffix bps_suffix[] = {
	{ WRITTEN("T"), 1000000000000 }, { WRITTEN("G"), 1000000000 }, { WRITTEN("M"), 1000000 },
	{ WRITTEN("k"), 1000 },          { WRITTEN("bps"), 1 },        { READ(""), 1 },
};
static const struct suffix ns_suffix[] = {
	{ WRITTEN("s"), 1000000000 },
	{ WRITTEN("ms"), 1000000 },
	{ WRITTEN("us"), 1000 },
	{ WRITTEN("ns"), 1 },
	{ READ(""), 1 },
};
static const struct suffix metres_suffix[] = {
	{ WRITTEN("km"), 1000 },
	{ WRITTEN("m"), 1 },
	{ READ(""), 1 },
};
static const struct suffix ppm_suffix[] = {
	{ WRITTEN("%"), 10000 },
	{ READ("ppm"), 1 },
	{ READ(""), 1 },
};

#define SUFFIXES(table) (table), sizeof(table) / sizeof((table)[0])

static const struct unit_desc unit_desc[] = {
	[UNIT_COUNT] = { SUFFIXES(count_suffix), 0, false },
	[UNIT_BYTES] = { SUFFIXES(bytes_suffix), 3, false },
	[UNIT_BPS] = { SUFFIXES(bps_suffix), 3, false },
	[UNIT_NS] = { SUFFIXES(ns_suffix), 3, false },
	[UNIT_METRES] = { SUFFIXES(metres_suffix), 3, false },
	[UNIT_PPM] = { SUFFIXES(ppm_suffix), 4, true },
};

// The largest value that a text may have.
#define VALUE_MAX ((uint64_t)INT64_MAX)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// Appends a digit in `base` to *value; false beyond 2^63 - 1.
static bool append_digit(uint64_t *value, uint32_t base, uint32_t digit)
{
	if (*value > (VALUE_MAX - digit) / base)
		return false;
	*value = *value * base + digit;
	return true;
}

static bool parse_hex(const char *text, size_t len, uint64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++) {
		const int c = text[i] | 0x20; // lower case; digits stay
		uint32_t digit;

		if (is_digit(text[i]))
			digit = (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (uint32_t)(c - 'a') + 10;
		else
			return false;
		if (!append_digit(&sum, 16, digit))
			return false;
	}
	*value = sum;
	return len > 0;
}

// 0.DIGITS x scale into *value; false when that is not whole. Horner from the last digit: the
// product is whole exactly when each step divides by ten, and no step exceeds 10 x scale.
static bool parse_fraction(const char *digits, size_t len, uint64_t scale, uint64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = len; i > 0; i--) {
		sum += (uint64_t)(digits[i - 1] - '0') * scale;
		if (sum % 10 != 0)
			return false;
		sum /= 10;
	}
	*value = sum;
	return true;
}

static const struct suffix *find_suffix(enum unit unit, const char *text, size_t len)
{
	const struct unit_desc *desc = &unit_desc[unit];

	for (uint32_t i = 0; i < desc->suffix_count; i++) {
		const struct suffix *suffix = &desc->suffix[i];

		if (suffix->len == len && memcmp(suffix->text, text, len) == 0)
			return suffix;
	}
	return NULL;
}

// Counts and bytes have one obvious base; the others do not.
static bool needs_suffix(enum unit unit)
{
	return unit != UNIT_COUNT && unit != UNIT_BYTES;
}

bool unit_parse(enum unit unit, const char *text, size_t len, uint64_t *value)
{
	size_t whole_len = 0;
	size_t fraction_len = 0;
	size_t pos;
	uint64_t whole = 0;
	uint64_t fraction = 0;
	const struct suffix *suffix;

	if (unit == UNIT_COUNT && len > 2 && text[0] == '0' && text[1] == 'x')
		return parse_hex(text + 2, len - 2, value);

	for (; whole_len < len && is_digit(text[whole_len]); whole_len++) {
		if (!append_digit(&whole, 10, (uint32_t)(text[whole_len] - '0')))
			return false;
	}
	pos = whole_len;
	if (pos < len && text[pos] == '.') {
		pos++;
		while (pos + fraction_len < len && is_digit(text[pos + fraction_len]))
			fraction_len++;
		if (fraction_len == 0)
			return false;
	}
	suffix = find_suffix(unit, text + pos + fraction_len, len - pos - fraction_len);
	if (whole_len == 0 || suffix == NULL ||
	    !parse_fraction(text + pos, fraction_len, suffix->scale, &fraction) ||
	    whole > (VALUE_MAX - fraction) / suffix->scale)
		return false;
	// A rate or time without a unit is a mistake, unless it is none at all.
	if (pos + fraction_len == len && needs_suffix(unit) && (whole | fraction) != 0)
		return false;
	*value = whole * suffix->scale + fraction;
	return true;
}

static size_t put_decimal(char *out, uint64_t value)
{
	char reversed[20];
	size_t len = 0;

	do {
		reversed[len++] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	for (size_t i = 0; i < len; i++)
		out[i] = reversed[len - 1 - i];
	return len;
}

// Writes `value` with one suffix, NUL-terminated; 0 when that takes more decimals than allowed.
static size_t put_quantity(char *out, uint64_t value, const struct suffix *suffix,
			   uint32_t decimals)
{
	const uint64_t scale = suffix->scale;
	uint64_t rest = value % scale;
	size_t len = put_decimal(out, value / scale);

	if (rest != 0)
		out[len++] = '.';
	for (; rest != 0 && decimals > 0; decimals--) {
		out[len++] = (char)('0' + rest * 10 / scale);
		rest = rest * 10 % scale;
	}
	if (rest != 0)
		return 0;
	memcpy(out + len, suffix->text, suffix->len + 1u);
	return len + suffix->len;
}

// Replaces the text in `out` when a shorter one exists with `decimals`; returns the length.
static size_t shorten(const struct unit_desc *desc, uint64_t value, uint32_t decimals, char *out,
		      size_t best)
{
	char text[UNIT_TEXT_BYTES];

	for (uint32_t i = 0; i < desc->suffix_count; i++) {
		const struct suffix *suffix = &desc->suffix[i];
		size_t len = 0;

		if (suffix->written && (desc->below_one || value >= suffix->scale))
			len = put_quantity(text, value, suffix, decimals);
		if (len != 0 && len < best) {
			best = len;
			memcpy(out, text, len + 1);
		}
	}
	return best;
}

size_t unit_format(enum unit unit, uint64_t value, char *out)
{
	const struct unit_desc *desc = &unit_desc[unit];
	size_t len = UNIT_TEXT_BYTES;

	if (value == 0) {
		memcpy(out, "0", 2);
		return 1;
	}
	// Whole numbers first: a fraction must be shorter to be worth reading.
	len = shorten(desc, value, 0, out, len);
	return shorten(desc, value, desc->decimals, out, len);
}

bool unit_parse_mask8(const char *text, size_t len, uint8_t *mask)
{
	uint32_t bits = 0;

	for (size_t pos = 0; pos < len;) {
		const char first = text[pos++];
		char last = first;

		if (len - pos >= 2 && text[pos] == '-') {
			last = text[pos + 1];
			pos += 2;
		}
		if (first < '0' || last < first || last > '7')
			return false;
		bits |= (2u << (last - '0')) - (1u << (first - '0'));
		// A comma promises another member.
		if (pos < len && (text[pos++] != ',' || pos == len))
			return false;
	}
	*mask = (uint8_t)bits;
	return true;
}

size_t unit_format_mask8(uint8_t mask, char *out)
{
	size_t len = 0;

	for (uint32_t first = 0, last; first < 8; first = last + 1) {
		last = first;
		if ((mask >> first & 1) == 0)
			continue;
		while (mask >> (last + 1) & 1)
			last++;
		if (len > 0)
			out[len++] = ',';
		out[len++] = (char)('0' + first);
		if (last > first) {
			out[len++] = '-';
			out[len++] = (char)('0' + last);
		}
	}
	out[len] = '\0';
	return len;
}

size_t mac_format(uint64_t mac, char out[MAC_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < MAC_TEXT_BYTES; i += 3) {
		const uint32_t byte = mac >> (40 - i / 3 * 8) & 0xff;

		out[i] = digits[byte >> 4];
		out[i + 1] = digits[byte & 0xf];
		out[i + 2] = ':';
	}
	out[MAC_TEXT_BYTES - 1] = '\0';
	return MAC_TEXT_BYTES - 1;
}
