// SPDX-License-Identifier: BSD-3-Clause
//
// Taking words and numbers from a text. Each function looks first and moves the cursor when it has
// found what it was asked for.

#include "fabricmgr/core/scan.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (uint8_t)c >= 128;
}

// 1 + the value of a hexadecimal digit, 0: none.
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool scan_take(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	scan_step(s);
	return true;
}

bool scan_take_word(struct scan *s, const char *word)
{
	const char *at = s->at;

	for (; *word != '\0'; word++, at++) {
		if (at == s->end || *at != *word)
			return false;
	}
	s->at = at;
	return true;
}

bool scan_decimal(struct scan *s, uint64_t max, uint64_t *value)
{
	const char *at = s->at;
	uint64_t sum = 0;

	for (; at < s->end && is_digit(*at); at++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum) || sum > max)
			return false;
	}
	if (at == s->at)
		return false;
	s->at = at;
	*value = sum;
	return true;
}

bool scan_hex(struct scan *s, uint64_t *value)
{
	const char *at = s->at;
	uint64_t sum = 0;

	for (; at < s->end && hex_digits[(uint8_t)*at] != 0; at++) {
		if (sum >> 60 != 0)
			return false;
		sum = sum << 4 | (hex_digits[(uint8_t)*at] - 1u);
	}
	if (at == s->at)
		return false;
	s->at = at;
	*value = sum;
	return true;
}

bool scan_quoted(struct scan *s, struct scan_word *word)
{
	const char *at = s->at;

	if (at == s->end || *at++ != '"')
		return false;
	for (; at < s->end && *at != '"' && *at != '\n'; at++) {
		if (*at == '\\' && at + 1 < s->end && at[1] != '\n')
			at++;
	}
	if (at == s->end || *at != '"')
		return false;
	*word = (struct scan_word){ .text = s->at + 1, .len = (uint32_t)(at - s->at - 1) };
	s->at = at + 1;
	return true;
}

bool scan_identifier(struct scan *s, struct scan_word *word)
{
	const char *at = s->at;

	if (at == s->end || !is_letter(*at))
		return false;
	while (at < s->end && (is_letter(*at) || is_digit(*at)))
		at++;
	*word = (struct scan_word){ .text = s->at, .len = (uint32_t)(at - s->at) };
	s->at = at;
	return true;
}

bool scan_word_equal(struct scan_word word, const char *text)
{
	uint32_t i = 0;

	while (i < word.len && word.text[i] == text[i] && text[i] != '\0')
		i++;
	return i == word.len && text[i] == '\0';
}
