// SPDX-License-Identifier: BSD-3-Clause
//
// Random messages of every kind of field come back as they were, and damaged ones are refused or
// are messages within their limits.

#include "sys/rpc_message.h"

#include "tests/data/rpc/kinds.gen.h"
#include "tests/rpc_random.h"
#include "tests/table.h"

enum { SEEDS = 40, DAMAGES = 100 };

static void check_leaf(const struct kinds_leaf *a, const struct kinds_leaf *b)
{
	cr_assert_eq(a->number, b->number);
	cr_assert_eq(a->has_word, b->has_word);
	if (a->has_word)
		cr_assert_str_eq(a->word, b->word);
}

static void check_same(const struct kinds *a, const struct kinds *b)
{
	cr_assert_eq(a->number, b->number);
	cr_assert_eq(a->large, b->large);
	cr_assert_str_eq(a->word, b->word);
	cr_assert_eq(a->blob.size, b->blob.size);
	cr_assert_arr_eq(a->blob.data, b->blob.data, a->blob.size);
	cr_assert_arr_eq(a->address, b->address, sizeof(a->address));
	check_leaf(&a->leaf, &b->leaf);
	cr_assert_eq(a->has_maybe, b->has_maybe);
	cr_assert_eq(a->maybe, b->maybe);
	cr_assert_eq(a->has_pair, b->has_pair);
	cr_assert_arr_eq(a->pair, b->pair, sizeof(a->pair));
	cr_assert_eq(a->has_other, b->has_other);
	check_leaf(&a->other, &b->other);
	cr_assert_eq(a->numbers_count, b->numbers_count);
	for (uint32_t i = 0; i < a->numbers_count; i++)
		cr_assert_eq(a->numbers[i], b->numbers[i]);
	cr_assert_eq(a->larges_count, b->larges_count);
	for (uint32_t i = 0; i < a->larges_count; i++)
		cr_assert_eq(a->larges[i], b->larges[i]);
	cr_assert_eq(a->leaves_count, b->leaves_count);
	for (uint32_t i = 0; i < a->leaves_count; i++)
		check_leaf(&a->leaves[i], &b->leaves[i]);
	cr_assert_eq(a->has_later, b->has_later);
	cr_assert_eq(a->later, b->later);
}

SEED_TEST(rpc, comes_back_as_it_was, rng, SEEDS)
{
	struct kinds kinds = { 0 };
	struct kinds got = { 0 };
	struct evbuffer *bytes;

	rpc_random(rng, &kinds_message, &kinds);
	bytes = rpc_bytes_of(&kinds_message, &kinds);
	cr_assert_eq(kinds_unmarshal(&got, bytes), 0);
	check_same(&kinds, &got);
	evbuffer_free(bytes);
	kinds_clear(&kinds);
	kinds_clear(&got);
}

static void check_limits(const struct kinds *kinds)
{
	cr_assert_leq(strlen(kinds->word), 8);
	cr_assert_leq(kinds->blob.size, 6);
	cr_assert_leq(kinds->numbers_count, 3);
	cr_assert_leq(kinds->larges_count, 2);
	cr_assert_leq(kinds->leaves_count, 4);
}

SEED_TEST(rpc, damage_stays_within_limits, rng, SEEDS)
{
	struct kinds kinds = { 0 };
	uint32_t refused = 0;
	struct evbuffer *bytes;
	uint8_t *data;
	size_t size;

	rpc_random(rng, &kinds_message, &kinds);
	bytes = rpc_bytes_of(&kinds_message, &kinds);
	data = evbuffer_pullup(bytes, -1);
	size = evbuffer_get_length(bytes);
	for (uint32_t i = 0; i < DAMAGES; i++) {
		const uint32_t at = rng_below(rng, (uint32_t)size);
		const uint8_t was = data[at];
		struct kinds got = { 0 };
		struct evbuffer *damaged;

		data[at] = (uint8_t)rng_next32(rng);
		damaged = rpc_buffer(data, size);
		data[at] = was;
		if (kinds_unmarshal(&got, damaged) == 0)
			check_limits(&got);
		else
			refused++;
		kinds_clear(&got);
		evbuffer_free(damaged);
	}
	cr_assert_gt(refused, 0);
	evbuffer_free(bytes);
	kinds_clear(&kinds);
}
