// SPDX-License-Identifier: BSD-3-Clause
//
// Text to field and back, by the knob's kind. Quantities go through base/units.h; ranges come from
// the knob's row in the schema.
//
// Invariant: cfg_value_parse(cfg_value_format(field)) gives the same bytes for every valid field.

#include "sys/cfg_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "sys/cfg_address.h"
#include "sys/cfg_ratio.h"

size_t cfg_field_bytes(enum config_kind kind)
{
	switch (kind) {
	case CONFIG_NAME: return CONFIG_NAME_BYTES;
	case CONFIG_TEXT: return CONFIG_TEXT_BYTES;
	case CONFIG_COUNT:
	case CONFIG_INT:
	case CONFIG_BYTES:
	case CONFIG_BPS:
	case CONFIG_NS:
	case CONFIG_METRES:
	case CONFIG_PPM:
	case CONFIG_RATIO:
	case CONFIG_BOOL:
	case CONFIG_ENUM:
	case CONFIG_MASK8:
	case CONFIG_MAC: return sizeof(uint64_t);
	case CONFIG_PREFIX:
	case CONFIG_ADDRESS: return sizeof(struct ip_prefix);
	case CONFIG_NUMBERS: return sizeof(struct config_numbers);
	}
	return 0;
}

const char *cfg_verdict_text(enum cfg_verdict verdict)
{
	switch (verdict) {
	case CFG_VALUE_OK: break;
	case CFG_VALUE_MALFORMED: return "is not valid";
	case CFG_VALUE_BELOW: return "is too small";
	case CFG_VALUE_ABOVE: return "is too large";
	case CFG_VALUE_TOO_LONG: return "is too long";
	case CFG_VALUE_EMPTY: return "must not be empty";
	case CFG_VALUE_CONTROL: return "contains a control character";
	}
	return "is valid";
}

static enum unit unit_of(enum config_kind kind)
{
	switch (kind) {
	case CONFIG_BYTES: return UNIT_BYTES;
	case CONFIG_BPS: return UNIT_BPS;
	case CONFIG_NS: return UNIT_NS;
	case CONFIG_METRES: return UNIT_METRES;
	case CONFIG_PPM: return UNIT_PPM;
	case CONFIG_NAME:
	case CONFIG_TEXT:
	case CONFIG_COUNT:
	case CONFIG_INT:
	case CONFIG_RATIO:
	case CONFIG_BOOL:
	case CONFIG_ENUM:
	case CONFIG_MASK8:
	case CONFIG_MAC:
	case CONFIG_PREFIX:
	case CONFIG_ADDRESS:
	case CONFIG_NUMBERS: break;
	}
	return UNIT_COUNT;
}

static bool mandatory(const struct config_knob *knob)
{
	return strcmp(knob->def, "!") == 0;
}

static enum cfg_verdict parse_string(const struct config_knob *knob, const char *text, void *field)
{
	const size_t bytes = cfg_field_bytes(knob->kind);
	const size_t len = strlen(text);

	if (len == 0 && mandatory(knob))
		return CFG_VALUE_EMPTY;
	if (len >= bytes)
		return CFG_VALUE_TOO_LONG;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return CFG_VALUE_CONTROL;
	}
	memset(field, 0, bytes);
	memcpy(field, text, len);
	return CFG_VALUE_OK;
}

// Index of `text` among words separated by "|".
static bool find_word(const char *words, const char *text, uint64_t *index)
{
	const size_t len = strlen(text);

	for (uint64_t i = 0; *words != '\0'; i++) {
		const size_t word_len = strcspn(words, "|");

		if (word_len == len && memcmp(words, text, len) == 0) {
			*index = i;
			return true;
		}
		words += word_len + (words[word_len] == '|');
	}
	return false;
}

static bool parse_signed(const char *text, int64_t *value)
{
	const bool negative = text[0] == '-';
	uint64_t magnitude;

	if (!unit_parse(UNIT_COUNT, text + negative, strlen(text + negative), &magnitude))
		return false;
	*value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

static bool is_prefix(const struct config_knob *knob)
{
	return knob->kind == CONFIG_PREFIX || knob->kind == CONFIG_ADDRESS;
}

static enum cfg_verdict parse_prefix(const struct config_knob *knob, const char *text, void *field)
{
	struct ip_prefix prefix = { 0 };

	if (*text == '\0' && !mandatory(knob)) {
		memset(field, 0, sizeof(prefix));
		return CFG_VALUE_OK;
	}
	if (!ip_prefix_parse(text, &prefix))
		return CFG_VALUE_MALFORMED;
	if (knob->kind == CONFIG_PREFIX && !ip_prefix_canonical(&prefix))
		return CFG_VALUE_MALFORMED;
	memcpy(field, &prefix, sizeof(prefix));
	return CFG_VALUE_OK;
}

// An address alone when its length says nothing.
static void format_prefix(const struct config_knob *knob, const void *field, char *out)
{
	char text[IP_PREFIX_TEXT_BYTES];
	struct ip_prefix prefix;

	memcpy(&prefix, field, sizeof(prefix));
	ip_prefix_format(&prefix, text);
	if (prefix.len == ip_family_bits(prefix.family) && knob->kind == CONFIG_ADDRESS)
		text[strcspn(text, "/")] = '\0';
	snprintf(out, CFG_VALUE_TEXT_BYTES, "%s", text);
}

// "4, 4, 8": blanks may stand around numbers.
static enum cfg_verdict parse_numbers(const struct config_knob *knob, const char *text, void *field)
{
	struct config_numbers numbers = { .count = 0 };

	for (const char *at = text + strspn(text, " "); *at != '\0';) {
		const size_t len = strcspn(at, ", ");
		const char *behind = at + len + strspn(at + len, " ");
		uint64_t value;

		if (numbers.count == CONFIG_NUMBERS_MAX)
			return CFG_VALUE_TOO_LONG;
		if (!unit_parse(UNIT_COUNT, at, len, &value) || (*behind != ',' && *behind != '\0'))
			return CFG_VALUE_MALFORMED;
		if (value < (uint64_t)knob->min)
			return CFG_VALUE_BELOW;
		if (value > (uint64_t)knob->max)
			return CFG_VALUE_ABOVE;
		numbers.value[numbers.count++] = (uint32_t)value;
		at = *behind == ',' ? behind + 1 + strspn(behind + 1, " ") : behind;
		if (*behind == ',' && *at == '\0')
			return CFG_VALUE_MALFORMED;
	}
	if (numbers.count == 0 && mandatory(knob))
		return CFG_VALUE_EMPTY;
	memcpy(field, &numbers, sizeof(numbers));
	return CFG_VALUE_OK;
}

static void format_numbers(const void *field, char *out)
{
	struct config_numbers numbers;
	size_t len = 0;

	memcpy(&numbers, field, sizeof(numbers));
	out[0] = '\0';
	for (uint32_t i = 0; i < numbers.count; i++)
		len += (size_t)snprintf(out + len, CFG_VALUE_TEXT_BYTES - len, "%s%u",
					i > 0 ? "," : "", numbers.value[i]);
}

// Any other kind into a signed number, the wider of what fields keep: no quantity
// exceeds 2^63 - 1.
static bool parse_number(const struct config_knob *knob, const char *text, int64_t *value)
{
	uint64_t plain = 0;
	uint8_t mask;

	if (knob->kind == CONFIG_INT)
		return parse_signed(text, value);
	if (knob->kind == CONFIG_BOOL) {
		if (!find_word("false|true", text, &plain))
			return false;
	} else if (knob->kind == CONFIG_ENUM) {
		if (!find_word(knob->words, text, &plain))
			return false;
	} else if (knob->kind == CONFIG_MASK8) {
		if (!unit_parse_mask8(text, strlen(text), &mask))
			return false;
		plain = mask;
	} else if (knob->kind == CONFIG_RATIO) {
		if (!ratio_parse(text, &plain))
			return false;
	} else if (knob->kind == CONFIG_MAC) {
		if (!mac_parse(text, &plain))
			return false;
	} else if (!unit_parse(unit_of(knob->kind), text, strlen(text), &plain)) {
		return false;
	}
	*value = (int64_t)plain;
	return true;
}

enum cfg_verdict cfg_value_parse(const struct config_knob *knob, const char *text, void *field)
{
	int64_t value;

	if (knob->kind == CONFIG_NAME || knob->kind == CONFIG_TEXT)
		return parse_string(knob, text, field);
	if (is_prefix(knob))
		return parse_prefix(knob, text, field);
	if (knob->kind == CONFIG_NUMBERS)
		return parse_numbers(knob, text, field);
	if (!parse_number(knob, text, &value))
		return CFG_VALUE_MALFORMED;
	if (knob->kind == CONFIG_MASK8 && value == 0 && mandatory(knob))
		return CFG_VALUE_EMPTY;
	if (knob->kind != CONFIG_ENUM && value < knob->min)
		return CFG_VALUE_BELOW;
	if (knob->kind != CONFIG_ENUM && value > knob->max)
		return CFG_VALUE_ABOVE;
	memcpy(field, &value, sizeof(value));
	return CFG_VALUE_OK;
}

static uint64_t unset_value(const struct config_knob *knob)
{
	return knob->kind == CONFIG_INT ? (uint64_t)CONFIG_UNSET_INT : CONFIG_UNSET;
}

void cfg_value_default(const struct config_knob *knob, void *field)
{
	const uint64_t unset = unset_value(knob);

	const bool none = strcmp(knob->def, "-") == 0;

	if (mandatory(knob) || (none && (is_prefix(knob) || knob->kind == CONFIG_NUMBERS)))
		memset(field, 0, cfg_field_bytes(knob->kind));
	else if (none)
		memcpy(field, &unset, sizeof(unset));
	else
		WEFT_CHECK(cfg_value_parse(knob, knob->def, field) == CFG_VALUE_OK);
}

bool cfg_value_unset(const struct config_knob *knob, const void *field)
{
	const uint64_t unset = unset_value(knob);

	if (knob->kind == CONFIG_NAME || knob->kind == CONFIG_TEXT)
		return false;
	if (is_prefix(knob))
		return *(const uint8_t *)field == IP_NONE;
	if (knob->kind == CONFIG_NUMBERS) {
		uint32_t count;

		memcpy(&count, field, sizeof(count));
		return count == 0;
	}
	return memcmp(field, &unset, sizeof(unset)) == 0;
}

static void format_word(const char *words, uint64_t index, char *out)
{
	size_t len;

	for (; index > 0; index--)
		words += strcspn(words, "|") + 1;
	len = strcspn(words, "|");
	memcpy(out, words, len);
	out[len] = '\0';
}

void cfg_value_format(const struct config_knob *knob, const void *field, char *out)
{
	uint64_t value;

	if (knob->kind == CONFIG_NAME || knob->kind == CONFIG_TEXT) {
		memcpy(out, field, cfg_field_bytes(knob->kind));
		return;
	}
	if (is_prefix(knob)) {
		format_prefix(knob, field, out);
		return;
	}
	if (knob->kind == CONFIG_NUMBERS) {
		format_numbers(field, out);
		return;
	}
	memcpy(&value, field, sizeof(value));
	if (knob->kind == CONFIG_INT)
		snprintf(out, CFG_VALUE_TEXT_BYTES, "%" PRId64, (int64_t)value);
	else if (knob->kind == CONFIG_BOOL)
		format_word("false|true", value, out);
	else if (knob->kind == CONFIG_ENUM)
		format_word(knob->words, value, out);
	else if (knob->kind == CONFIG_MASK8)
		unit_format_mask8((uint8_t)value, out);
	else if (knob->kind == CONFIG_RATIO)
		ratio_format(value, out);
	else if (knob->kind == CONFIG_MAC)
		mac_format(value, out);
	else
		unit_format(unit_of(knob->kind), value, out);
}

// "dscp|pcp" as "dscp or pcp".
static void allowed_words(const char *words, size_t out_bytes, char *out)
{
	size_t len = 0;

	while (*words != '\0' && len < out_bytes) {
		const int word_len = (int)strcspn(words, "|");
		const char *next = words + word_len + (words[word_len] == '|');
		const char *joint = "";

		if (*next != '\0')
			joint = strchr(next, '|') ? ", " : " or ";
		len += (size_t)snprintf(out + len, out_bytes - len, "%.*s%s", word_len, words,
					joint);
		words = next;
	}
}

void cfg_value_allowed(const struct config_knob *knob, size_t out_bytes, char *out)
{
	char min[UNIT_TEXT_BYTES];
	char max[UNIT_TEXT_BYTES];

	switch (knob->kind) {
	case CONFIG_NAME:
	case CONFIG_TEXT:
		snprintf(out, out_bytes, "text of at most %zu bytes",
			 cfg_field_bytes(knob->kind) - 1);
		return;
	case CONFIG_BOOL: snprintf(out, out_bytes, "true or false"); return;
	case CONFIG_ENUM: allowed_words(knob->words, out_bytes, out); return;
	case CONFIG_MASK8:
		snprintf(out, out_bytes, "numbers 0 to 7 such as \"3-4\" or \"3,4\"");
		return;
	case CONFIG_MAC:
		snprintf(out, out_bytes, "an address such as \"02:00:00:00:00:01\"");
		return;
	case CONFIG_PREFIX:
		snprintf(out, out_bytes,
			 "a network such as \"10.1.0.0/16\" or \"fd00:1::/32\", no bits behind "
			 "its length");
		return;
	case CONFIG_ADDRESS:
		snprintf(out, out_bytes,
			 "an address such as \"10.1.0.1\", \"10.1.0.1/16\" or \"fd00::1/64\"");
		return;
	case CONFIG_INT:
		snprintf(out, out_bytes, "%" PRId64 " to %" PRId64, knob->min, knob->max);
		return;
	case CONFIG_RATIO:
		ratio_format((uint64_t)knob->min, min);
		ratio_format((uint64_t)knob->max, max);
		snprintf(out, out_bytes, "a fraction such as \"1/256\", %s to %s", min, max);
		return;
	case CONFIG_NUMBERS:
		snprintf(out, out_bytes,
			 "at most %d numbers such as [4, 4, 8], each %" PRId64 " to %" PRId64,
			 CONFIG_NUMBERS_MAX, knob->min, knob->max);
		return;
	case CONFIG_COUNT:
	case CONFIG_BYTES:
	case CONFIG_BPS:
	case CONFIG_NS:
	case CONFIG_METRES:
	case CONFIG_PPM: break;
	}
	unit_format(unit_of(knob->kind), (uint64_t)knob->min, min);
	unit_format(unit_of(knob->kind), (uint64_t)knob->max, max);
	snprintf(out, out_bytes, "%s to %s", min, max);
}
