// SPDX-License-Identifier: BSD-3-Clause
//
// "Did you mean": the candidate nearest to a mistyped word by edits (a letter added, removed,
// changed, or two neighbours swapped). Candidates are offered one by one; the words stay the
// caller's.
#pragma once

#include "base/types.h"

// Words of this size and more are infinitely far from any other.
enum { NEAREST_WORD_BYTES = 64 };

struct nearest {
	const char *word;
	const char *best; // NULL: nothing is near enough
	uint32_t distance;
};

// Number of edits between two words.
uint32_t nearest_distance(const char *a, const char *b);

// Starts a search. A word of n letters accepts up to n / 3 edits, at least one.
struct nearest nearest_to(const char *word);

// An empty candidate is never near.
void nearest_offer(struct nearest *search, const char *candidate);
