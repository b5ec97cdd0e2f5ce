// SPDX-License-Identifier: BSD-3-Clause
//
// The edge table against a list of rows that is searched from end to end.
//
// Prefixes come from a small universe, so that they cover each other, and memory is short, so that
// it runs out: the model knows how many rows and nodes are in use, and how many wait for readers,
// and predicts each refusal.

#include "routing/edge_table.h"

#include <errno.h>
#include <string.h>

#include "tests/table.h"

enum {
	STEPS = 4000,
	ROWS = 60,
	NODES = 9,
	PROBES = 24,
};

struct model {
	struct edge_row row[3 * ROWS + 1]; // one that may be refused
	uint32_t count;
	// Of each kind, and of nodes: gone since the last quiesce, and before it.
	uint32_t removed[4], leaving[4];
	uint64_t refused, accepted, hits;
};

static bool bits_equal(const uint8_t *a, const uint8_t *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
			return false;
	}
	return true;
}

static bool keys_equal(const struct edge_key *a, const struct edge_key *b)
{
	return a->kind == b->kind && a->len == b->len && a->vid == b->vid &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static struct edge_row *model_row(struct model *m, const struct edge_key *key)
{
	for (uint32_t i = 0; i < m->count; i++) {
		if (keys_equal(&m->row[i].key, key))
			return &m->row[i];
	}
	return NULL;
}

static uint32_t model_count(const struct model *m, uint8_t kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->count; i++)
		count += m->row[i].key.kind == kind;
	return count;
}

static uint32_t model_find(const struct model *m, const struct edge_key *at)
{
	const struct edge_row *best = NULL;

	for (uint32_t i = 0; i < m->count; i++) {
		const struct edge_row *row = &m->row[i];
		const uint32_t len = at->kind == EDGE_MAC ? 48 : row->key.len;

		if (row->key.kind != at->kind || row->key.vid != at->vid)
			continue;
		if (bits_equal(row->key.address, at->address, len) &&
		    (best == NULL || len > best->key.len))
			best = row;
	}
	return best == NULL ? EDGE_TABLE_NONE : best->value;
}

// Nodes that the rows need: one for each stretch of `bits` that holds a longer prefix.
static uint32_t nodes_at(const struct model *m, uint32_t bits)
{
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		const struct edge_key *key = &m->row[i].key;
		bool first = key->kind == EDGE_IPV4 && key->len > bits;

		for (uint32_t k = 0; k < i && first; k++)
			first = m->row[k].key.kind != EDGE_IPV4 || m->row[k].key.len <= bits ||
				!bits_equal(m->row[k].key.address, key->address, bits);
		nodes += first;
	}
	return nodes;
}

static uint32_t model_nodes(const struct model *m)
{
	return nodes_at(m, 16) + nodes_at(m, 24);
}

static bool model_fits(const struct model *m, uint8_t kind)
{
	return model_count(m, kind) + m->removed[kind] + m->leaving[kind] <= ROWS &&
	       model_nodes(m) + m->removed[3] + m->leaving[3] <= NODES;
}

static struct edge_key random_key(struct rng *rng)
{
	static const uint8_t ipv4_len[] = {
		0, 1, 7, 8, 12, 15, 16, 17, 20, 23, 24, 25, 28, 31, 32
	};
	static const uint8_t ipv6_len[] = { 0, 1, 16, 48, 63, 64, 65, 100, 127, 128 };
	struct edge_key key = { .kind = (uint8_t)rng_below(rng, 3) };

	key.address[0] = 10 + (uint8_t)rng_below(rng, 2);
	for (uint32_t i = 1; i < (key.kind == EDGE_IPV4 ? 4 : key.kind == EDGE_MAC ? 6 : 16); i++)
		key.address[i] = rng_below(rng, 4) == 0 ? (uint8_t)(85 * rng_below(rng, 4)) : 255;
	if (key.kind == EDGE_MAC) {
		key.vid = (uint16_t)(4094 + rng_below(rng, 2));
		return key;
	}
	key.len = key.kind == EDGE_IPV4 ? ipv4_len[rng_below(rng, TABLE_COUNT(ipv4_len))] :
					  ipv6_len[rng_below(rng, TABLE_COUNT(ipv6_len))];
	for (uint32_t i = key.len; i < 128; i++)
		key.address[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	return key;
}

static uint32_t table_find(const struct edge_table *t, const struct edge_key *at)
{
	const uint8_t *a = at->address;

	switch ((enum edge_kind)at->kind) {
	case EDGE_IPV4:
		return edge_table_find_ipv4(t, (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 |
						       (uint32_t)a[2] << 8 | a[3]);
	case EDGE_IPV6: return edge_table_find_ipv6(t, a);
	case EDGE_MAC: break;
	}
	return edge_table_find_mac(t, at->vid,
				   (uint64_t)a[0] << 40 | (uint64_t)a[1] << 32 |
					   (uint64_t)a[2] << 24 | (uint64_t)a[3] << 16 |
					   (uint64_t)a[4] << 8 | a[5]);
}

static void check_at(struct model *m, const struct edge_table *t, const struct edge_key *at)
{
	const uint32_t want = model_find(m, at);

	cr_assert_eq(table_find(t, at), want);
	m->hits += want != EDGE_TABLE_NONE;
}

// The first and the last address of a key, and their neighbours.
static void check_edges(struct model *m, const struct edge_table *t, struct edge_key at)
{
	const uint32_t bytes = at.kind == EDGE_IPV4 ? 4 : at.kind == EDGE_MAC ? 6 : 16;

	check_at(m, t, &at);
	for (uint32_t i = bytes; i-- > 0 && at.address[i]-- == 0;)
		;
	check_at(m, t, &at);
	for (uint32_t i = bytes; i-- > 0 && ++at.address[i] == 0;)
		;
	for (uint32_t i = at.len; i < 8 * bytes && at.kind != EDGE_MAC; i++)
		at.address[i / 8] |= (uint8_t)(0x80 >> i % 8);
	check_at(m, t, &at);
	for (uint32_t i = bytes; i-- > 0 && ++at.address[i] == 0;)
		;
	check_at(m, t, &at);
}

static void set_one(struct model *m, struct edge_table *t, struct rng *rng,
		    const struct edge_key *key)
{
	const uint32_t value = rng_next32(rng) % (EDGE_TABLE_VALUE_MAX + 1);
	const int got = edge_table_set(t, key, value);
	struct edge_row *row = model_row(m, key);

	if (row != NULL) {
		cr_assert_eq(got, 0);
		row->value = value;
		return;
	}
	m->row[m->count++] = (struct edge_row){ *key, value };
	cr_assert_eq(got, model_fits(m, key->kind) ? 0 : -ENOSPC);
	m->count -= got != 0;
	m->refused += got != 0;
	m->accepted += got == 0;
}

static void delete_one(struct model *m, struct edge_table *t, const struct edge_key *key)
{
	struct edge_row *row = model_row(m, key);
	const uint32_t nodes = model_nodes(m);

	cr_assert_eq(edge_table_delete(t, key), row == NULL ? -ENOENT : 0);
	if (row == NULL)
		return;
	*row = m->row[--m->count];
	m->removed[key->kind]++;
	m->removed[3] += nodes - model_nodes(m);
}

static void quiesce(struct model *m, struct edge_table *t)
{
	edge_table_quiesce(t);
	memcpy(m->leaving, m->removed, sizeof(m->leaving));
	memset(m->removed, 0, sizeof(m->removed));
}

// All rows, a few at a time, each once.
static void check_walk(struct model *m, const struct edge_table *t, uint32_t step)
{
	struct edge_row row[7];
	uint64_t at = 0;
	uint32_t count = 0;

	do {
		const uint32_t got = edge_table_walk(t, &at, row, step);

		for (uint32_t i = 0; i < got; i++) {
			const struct edge_row *want = model_row(m, &row[i].key);

			cr_assert_not_null(want);
			cr_assert_eq(row[i].value, want->value);
		}
		count += got;
		cr_assert_leq(count, m->count);
	} while (at != 0);
	cr_assert_eq(count, m->count);
	for (uint32_t i = 0; i < m->count; i++)
		cr_assert_eq(edge_table_get(t, &m->row[i].key), m->row[i].value);
	for (uint8_t kind = 0; kind < 3; kind++)
		cr_assert_eq(edge_table_count(t, (enum edge_kind)kind), model_count(m, kind));
}

SEED_TEST(prop, edge_table_is_a_list_of_rows, rng, 30)
{
	const struct edge_table_size size = { ROWS, NODES, ROWS, ROWS, rng_next64(rng) };
	void *memory = aligned_alloc(64, edge_table_bytes(&size));
	struct edge_table *t = edge_table_init(memory, &size);
	struct model m = { 0 };

	for (uint32_t step = 0; step < STEPS; step++) {
		struct edge_key key = random_key(rng);

		if (m.count > 0 && rng_below(rng, 2) == 0)
			key = m.row[rng_below(rng, m.count)].key;
		if (rng_below(rng, 3) > 0)
			set_one(&m, t, rng, &key);
		else
			delete_one(&m, t, &key);
		if (rng_below(rng, 8) == 0)
			quiesce(&m, t);
		check_edges(&m, t, key);
		for (uint32_t i = 0; i < PROBES; i++) {
			key = random_key(rng);
			check_at(&m, t, &key);
		}
		if (step % 64 == 0)
			check_walk(&m, t, 1 + rng_below(rng, 7));
	}
	cr_assert_gt(m.refused, 0);
	cr_assert_gt(m.accepted, 100);
	cr_assert_gt(m.hits, 10000);
	free(memory);
}

// Everything that was taken comes back: a table that was filled and emptied holds as much again.
SEED_TEST(prop, edge_table_gives_all_back, rng, 4)
{
	const struct edge_table_size size = { ROWS, NODES, ROWS, ROWS, 0 };
	void *memory = aligned_alloc(64, edge_table_bytes(&size));
	struct edge_table *t = edge_table_init(memory, &size);
	struct model *m = calloc(1, sizeof(*m));

	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			const struct edge_key key = random_key(rng);

			set_one(m, t, rng, &key);
		}
		cr_assert_eq(model_nodes(m), NODES);
		check_walk(m, t, 7);
		while (m->count > 0) {
			const struct edge_key key = m->row[rng_below(rng, m->count)].key;

			delete_one(m, t, &key);
		}
		quiesce(m, t);
		quiesce(m, t);
	}
	free(m);
	free(memory);
}
