// SPDX-License-Identifier: BSD-3-Clause
//
// A cursor over the text of a topology file. It knows its line, never passes the end, and leaves
// what it did not take where it was. Bytes are as they come: a file may hold anything.
#pragma once

#include <string.h>

#include "base/types.h"

struct scan {
	const char *at;
	const char *end;
	uint32_t line; // from 1
};

// A piece of the text, not ended by 0.
struct scan_word {
	const char *text;
	uint32_t len;
};

static inline struct scan scan_text(const char *text, size_t bytes)
{
	return (struct scan){ .at = text, .end = text + bytes, .line = 1 };
}

static inline bool scan_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

// The next character, 0 at the end.
static inline char scan_peek(const struct scan *s)
{
	return s->at < s->end ? *s->at : '\0';
}

// Takes a character; lines are counted.
static inline void scan_step(struct scan *s)
{
	if (s->at < s->end && *s->at++ == '\n')
		s->line++;
}

// Blanks within a line.
static inline void scan_blanks(struct scan *s)
{
	while (s->at < s->end && scan_is_blank(*s->at))
		s->at++;
}

// Where the line ends.
static inline const char *scan_line_end(const struct scan *s)
{
	const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));

	return end != NULL ? end : s->end;
}

// The rest of the line, and its end.
static inline void scan_next_line(struct scan *s)
{
	s->at = scan_line_end(s);
	scan_step(s);
}

// Takes `c` when it comes next.
bool scan_take(struct scan *s, char c);

// Takes a word when it comes next, in these letters.
bool scan_take_word(struct scan *s, const char *word);

// Takes a number without a sign, decimal or hexadecimal without prefix. False, nothing taken: there
// is none, or it is more than `max`.
bool scan_decimal(struct scan *s, uint64_t max, uint64_t *value);
bool scan_hex(struct scan *s, uint64_t *value);

// Takes a text in double quotes that ends on its line; a backslash stays with what follows it.
bool scan_quoted(struct scan *s, struct scan_word *word);

// Takes letters, digits and _ of an identifier that does not begin with a digit, bytes from 128 on
// among them, as in DOT.
bool scan_identifier(struct scan *s, struct scan_word *word);

bool scan_word_equal(struct scan_word word, const char *text);
