// SPDX-License-Identifier: BSD-3-Clause
//
// One writer changes an edge table while readers look up, built with -fsanitize=thread: no data
// race, and every answer is one that a row gave. A value names its row, so an answer from memory
// that was used again too early, from a node half built or from a row of another address is seen.
//
// Memory is so short that what is removed comes back within a few changes. Prefixes of length 0 and
// 8 (IPv4) and 0 (IPv6) are always there: "nothing" is then a wrong answer.

#include "routing/edge_table.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"

enum {
	READERS = 2,
	ROWS = 48,
	STABLE = 3, // the first ones
	CHANGES = 40000,
	WAIT_EVERY = 64,
	LOOKUPS = 64, // between two quiescent states
	VERSIONS = 4096,
	LIMIT_S = 120,
};

static struct edge_key row[ROWS];
static struct edge_table *table;
static _Atomic uint64_t epoch = 1;
static _Atomic uint64_t seen[READERS];
static _Atomic bool done;
static _Atomic uint64_t answers, wrong;

static uint32_t row_bits(const struct edge_key *key)
{
	return key->kind == EDGE_MAC ? 48 : key->len;
}

static bool covers(const struct edge_key *key, const struct edge_key *at)
{
	bool equal = key->kind == at->kind && key->vid == at->vid;

	for (uint32_t i = 0; i < row_bits(key) && equal; i++)
		equal = !((key->address[i / 8] ^ at->address[i / 8]) >> (7 - i % 8) & 1);
	return equal;
}

static uint32_t word(const uint8_t *a)
{
	return (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
}

static uint32_t find(const struct edge_key *at)
{
	const uint8_t *a = at->address;

	switch ((enum edge_kind)at->kind) {
	case EDGE_IPV4: return edge_table_find_ipv4(table, word(a));
	case EDGE_IPV6: return edge_table_find_ipv6(table, a);
	case EDGE_MAC: break;
	}
	return edge_table_find_mac(table, at->vid,
				   (uint64_t)word(a) << 16 | (uint64_t)a[4] << 8 | a[5]);
}

static void look_up(struct rng *rng)
{
	struct edge_key at = row[rng_below(rng, ROWS)];
	uint32_t value;

	for (uint32_t i = row_bits(&at); i < 128; i++)
		at.address[i / 8] |= (uint8_t)((rng_next32(rng) & 1) << (7 - i % 8));
	value = find(&at);
	atomic_fetch_add_explicit(&answers, 1, memory_order_relaxed);
	if (value == EDGE_TABLE_NONE ?
		    at.kind != EDGE_MAC :
		    value / VERSIONS >= ROWS || !covers(&row[value / VERSIONS], &at))
		atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
}

static void *reader(void *argument)
{
	_Atomic uint64_t *mine = argument;
	struct rng rng;

	rng_seed(&rng, (uint64_t)(mine - seen) + 1);
	while (!atomic_load(&done)) {
		atomic_store(mine, atomic_load(&epoch));
		for (uint32_t i = 0; i < LOOKUPS; i++)
			look_up(&rng);
	}
	atomic_store(mine, UINT64_MAX);
	return NULL;
}

// What edge_table_quiesce() asks for and no more: readers have begun anew since the last call, not
// since the last change.
static bool readers_passed(void)
{
	bool passed = true;

	for (uint32_t i = 0; i < READERS; i++)
		passed &= atomic_load(&seen[i]) >= atomic_load(&epoch);
	return passed;
}

// True when it was time to.
static bool quiesce(void)
{
	if (!readers_passed())
		return false;
	edge_table_quiesce(table);
	atomic_fetch_add(&epoch, 1);
	return true;
}

static void make_rows(struct rng *rng)
{
	static const uint8_t ipv4_len[] = { 9, 12, 15, 16, 17, 20, 24, 25, 28, 32 };
	static const uint8_t ipv6_len[] = { 16, 48, 64, 96, 128 };

	row[0] = (struct edge_key){ .kind = EDGE_IPV4 };
	row[1] = (struct edge_key){ .kind = EDGE_IPV4, .len = 8, .address = { 10 } };
	row[2] = (struct edge_key){ .kind = EDGE_IPV6 };
	for (uint32_t i = STABLE; i < ROWS; i++) {
		struct edge_key key = { .kind = (uint8_t)(i % 3) };

		key.address[0] = 10;
		for (uint32_t k = 1; k < 6; k++)
			key.address[k] = (uint8_t)(85 * rng_below(rng, 4));
		key.address[15] = (uint8_t)i;
		if (key.kind == EDGE_IPV4)
			key.len = ipv4_len[i / 3 % sizeof(ipv4_len)];
		if (key.kind == EDGE_IPV6)
			key.len = ipv6_len[i / 3 % sizeof(ipv6_len)];
		for (uint32_t k = row_bits(&key); k < 128; k++)
			key.address[k / 8] &= (uint8_t) ~(0x80 >> k % 8);
		row[i] = key;
	}
}

static int set(uint32_t i, uint32_t version)
{
	return edge_table_set(table, &row[i], i * VERSIONS + version % VERSIONS);
}

// Returns the changes that found no room.
static uint32_t change(struct rng *rng)
{
	uint32_t refused = 0;

	for (uint32_t n = 0; n < CHANGES; n++) {
		const uint32_t i = rng_below(rng, ROWS);

		if (i < STABLE || rng_below(rng, 2) == 0)
			refused += set(i, n) == -ENOSPC;
		else
			edge_table_delete(table, &row[i]);
		while (!quiesce() && n % WAIT_EVERY == 0)
			sched_yield();
	}
	return refused;
}

int main(void)
{
	const struct edge_table_size size = { 16, 6, 14, 12, 1 };
	void *memory = aligned_alloc(64, edge_table_bytes(&size));
	pthread_t thread[READERS];
	uint32_t refused;
	struct rng rng;

	alarm(LIMIT_S);
	rng_seed(&rng, 99);
	make_rows(&rng);
	table = edge_table_init(memory, &size);
	for (uint32_t i = 0; i < STABLE; i++) {
		if (set(i, 0) != 0)
			return 1;
	}
	for (uint32_t i = 0; i < READERS; i++) {
		if (pthread_create(&thread[i], NULL, reader, &seen[i]) != 0)
			return 1;
	}
	refused = change(&rng);
	atomic_store(&done, true);
	for (uint32_t i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	printf("%lu answers, %lu wrong; %u changes found no room\n", (unsigned long)answers,
	       (unsigned long)wrong, refused);
	free(memory);
	return wrong == 0 && answers > CHANGES && refused > 0 ? 0 : 1;
}
