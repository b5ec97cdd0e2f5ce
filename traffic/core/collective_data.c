// SPDX-License-Identifier: BSD-3-Clause
//
// What collectives carry. Element i of rank r in an iteration is (31 r + 7 i + 13 iteration) mod
// 251: a whole number as a float, so that sums over 1,024 ranks stay below 2^24 and are exact in
// any order, and a piece in the wrong place shows unless it is off by a multiple of 251.

#include "traffic/core/collective.h"

#include <string.h>

enum { MODULUS = 251 };

static_assert(sizeof(float) == COLLECTIVE_ELEMENT_BYTES);

static uint32_t value(uint32_t rank, uint64_t element, uint32_t iteration)
{
	return (uint32_t)((31ull * rank + element * 7 + 13ull * iteration) % MODULUS);
}

static void store(uint8_t *memory, uint64_t element, float number)
{
	memcpy(memory + element * sizeof(number), &number, sizeof(number));
}

static float load(const uint8_t *memory, uint64_t element)
{
	float number;

	memcpy(&number, memory + element * sizeof(number), sizeof(number));
	return number;
}

void collective_fill(const struct collective_config *config, uint32_t rank, uint32_t iteration,
		     uint8_t *memory)
{
	struct collective_part part = { 0, config->elements };

	memset(memory, 0, collective_memory(config));
	if (config->kind == COLLECTIVE_ALL_GATHER)
		part = collective_own(config, rank);
	for (uint64_t i = part.first; i < part.first + part.count; i++)
		store(memory, i, (float)value(rank, i, iteration));
	if (config->kind != COLLECTIVE_ALL_TO_ALL)
		return;
	// What a rank has for itself goes nowhere.
	part = collective_block(config, rank);
	memcpy(memory + collective_block_result(config, rank, rank) * COLLECTIVE_ELEMENT_BYTES,
	       memory + part.first * COLLECTIVE_ELEMENT_BYTES,
	       part.count * COLLECTIVE_ELEMENT_BYTES);
}

void collective_reduce(uint8_t *data, const uint8_t *more, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / COLLECTIVE_ELEMENT_BYTES; i++)
		store(data, i, load(data, i) + load(more, i));
}

// Elements of `part` that are not the sum over all ranks.
static uint64_t wrong_sums(const struct collective_config *config, struct collective_part part,
			   uint32_t iteration, const uint8_t *memory)
{
	float sum[MODULUS]; // by the value of rank 0
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < MODULUS; i++) {
		uint32_t total = 0;

		for (uint32_t rank = 0; rank < config->rank_count; rank++)
			total += (i + 31 * rank) % MODULUS;
		sum[i] = (float)total;
	}
	for (uint64_t i = part.first; i < part.first + part.count; i++)
		wrong += load(memory, i) != sum[value(0, i, iteration)];
	return wrong;
}

// Elements from `at` on that are not those of `part` of a rank.
static uint64_t wrong_copies(uint64_t at, struct collective_part part, uint32_t rank,
			     uint32_t iteration, const uint8_t *memory)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < part.count; i++)
		wrong += load(memory, at + i) != (float)value(rank, part.first + i, iteration);
	return wrong;
}

uint64_t collective_wrong(const struct collective_config *config, uint32_t rank, uint32_t iteration,
			  const uint8_t *memory)
{
	const struct collective_part all = { 0, config->elements };
	uint64_t wrong = 0;

	switch (config->kind) {
	case COLLECTIVE_ALL_REDUCE:
	case COLLECTIVE_ALL_REDUCE_TREE: return wrong_sums(config, all, iteration, memory);
	case COLLECTIVE_REDUCE_SCATTER:
		return wrong_sums(config, collective_own(config, rank), iteration, memory);
	case COLLECTIVE_ALL_GATHER:
		for (uint32_t from = 0; from < config->rank_count; from++) {
			const struct collective_part part = collective_own(config, from);

			wrong += wrong_copies(part.first, part, from, iteration, memory);
		}
		return wrong;
	case COLLECTIVE_ALL_TO_ALL:
		for (uint32_t from = 0; from < config->rank_count; from++)
			wrong += wrong_copies(collective_block_result(config, rank, from),
					      collective_block(config, rank), from, iteration,
					      memory);
		return wrong;
	case COLLECTIVE_KINDS: break;
	}
	return wrong;
}
