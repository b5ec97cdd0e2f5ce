// SPDX-License-Identifier: BSD-3-Clause
//
// Edit distance with swaps of neighbours (optimal string alignment). Row i of the table holds the
// distances of the first i letters of `a` to every prefix of `b`; three rows are enough, because a
// swap looks back two letters.

#include "sys/nearest.h"

#include <string.h>

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

struct table {
	const char *a;
	const char *b;
	uint8_t row[3][NEAREST_WORD_BYTES]; // row i is at i % 3
};

static void fill_row(struct table *t, size_t i)
{
	uint8_t *row = t->row[i % 3];
	const uint8_t *above = t->row[(i + 2) % 3];
	const uint8_t *above2 = t->row[(i + 1) % 3];
	const char *a = t->a;
	const char *b = t->b;

	row[0] = (uint8_t)i;
	for (size_t j = 1; b[j - 1] != '\0'; j++) {
		const uint32_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
		uint32_t best = min3(above[j] + 1u, row[j - 1] + 1u, change);

		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			best = min3(best, above2[j - 2] + 1u, best);
		row[j] = (uint8_t)best;
	}
}

uint32_t nearest_distance(const char *a, const char *b)
{
	const size_t a_len = strlen(a);
	const size_t b_len = strlen(b);
	struct table t = { .a = a, .b = b };

	if (a_len >= NEAREST_WORD_BYTES || b_len >= NEAREST_WORD_BYTES)
		return UINT32_MAX;
	for (size_t j = 0; j <= b_len; j++)
		t.row[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= a_len; i++)
		fill_row(&t, i);
	return t.row[a_len % 3][b_len];
}

struct nearest nearest_to(const char *word)
{
	const uint32_t edits = (uint32_t)strlen(word) / 3;

	return (struct nearest){ .word = word, .distance = (edits > 0 ? edits : 1) + 1 };
}

void nearest_offer(struct nearest *search, const char *candidate)
{
	const uint32_t distance = nearest_distance(search->word, candidate);

	if (candidate[0] != '\0' && distance < search->distance) {
		search->distance = distance;
		search->best = candidate;
	}
}
