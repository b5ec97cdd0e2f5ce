// SPDX-License-Identifier: BSD-3-Clause
//
// Short texts of the pure fabric manager: names of what is made, "pod1-leaf2", and of ports. What
// does not fit is cut.
#pragma once

#include <string.h>

#include "fabricmgr/core/fabric.h"

struct label {
	char text[FABRIC_NAME_BYTES];
	uint32_t len;
};

// Characters of a text that count, at most FABRIC_NAME_BYTES.
static inline uint32_t label_length(const char *text)
{
	uint32_t len = 0;

	// That a literal ends with a NUL byte is beyond cppcheck.
	// cppcheck-suppress arrayIndexOutOfBoundsCond
	while (len < FABRIC_NAME_BYTES && text[len] != '\0')
		len++;
	return len;
}

static inline bool label_equal(const char *a, const char *b)
{
	const uint32_t len = label_length(a);

	return len == label_length(b) && memcmp(a, b, len) == 0;
}

static inline struct label *label_add(struct label *label, const char *text)
{
	for (; *text != '\0' && label->len < FABRIC_NAME_BYTES - 1; text++)
		label->text[label->len++] = *text;
	label->text[label->len] = '\0';
	return label;
}

// Part of a text.
static inline struct label *label_piece(struct label *label, const char *text, uint32_t len)
{
	for (uint32_t i = 0; i < len && label->len < FABRIC_NAME_BYTES - 1; i++)
		label->text[label->len++] = text[i];
	label->text[label->len] = '\0';
	return label;
}

static inline struct label *label_number(struct label *label, uint64_t number)
{
	char digits[21];
	uint32_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return label_add(label, digits + at);
}

static inline struct label *label_hex(struct label *label, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	bool begun = false;

	for (uint32_t shift = 64; shift > 0; shift -= 4) {
		const uint32_t digit = value >> (shift - 4) & 15;

		begun = begun || digit != 0 || shift == 4;
		if (begun)
			label_add(label, (const char[]){ digits[digit], '\0' });
	}
	return label;
}

// A text and a number, the usual name.
static inline struct label label_of(const char *text, uint64_t number)
{
	struct label label = { .len = 0 };

	label_number(label_add(&label, text), number);
	return label;
}
