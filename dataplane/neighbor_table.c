// SPDX-License-Identifier: BSD-3-Clause
//
// Chains of rows by hash, and one of free places. When none is free, one that may go is looked for
// with a hand that goes round, a few steps at a time: that costs the same whether the table is
// large or small, and whoever sends a thousand addresses a second makes it no dearer.

#include "dataplane/neighbor_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/rng.h"

int neighbor_table_open(struct neighbor_table *t, uint32_t limit, uint32_t hop_limit, uint64_t key)
{
	uint32_t heads = 1;

	*t = (struct neighbor_table){
		.count = NEIGHBOR_WANTED_MAX + limit + hop_limit,
		.limit = limit,
		.hop_limit = hop_limit,
		.key = key,
	};
	while (heads < t->count)
		heads *= 2;
	t->head_mask = heads - 1;
	t->row = calloc(t->count, sizeof(*t->row));
	t->head = malloc(heads * sizeof(*t->head));
	if (t->row == NULL || t->head == NULL) {
		neighbor_table_close(t);
		return -ENOMEM;
	}
	memset(t->head, 0xff, heads * sizeof(*t->head));
	t->free = NEIGHBOR_ROW_NONE;
	for (uint32_t at = t->count; at-- > NEIGHBOR_WANTED_MAX;) {
		t->row[at].next = t->free;
		t->free = at;
	}
	return 0;
}

void neighbor_table_close(struct neighbor_table *t)
{
	free(t->row);
	free(t->head);
	t->row = NULL;
	t->head = NULL;
}

// All of one address share a chain: they are few.
static uint32_t *head_of(const struct neighbor_table *t, const struct ip_prefix *address)
{
	uint64_t mix = t->key ^ load_be64(address->address) ^ address->family;

	mix = rng_splitmix64(&mix) ^ load_be64(address->address + 8);
	return &t->head[rng_splitmix64(&mix) & t->head_mask];
}

struct neighbor_row *neighbor_table_find(const struct neighbor_table *t,
					 const struct neighbor_key *key)
{
	uint32_t at = *head_of(t, &key->address);

	while (at != NEIGHBOR_ROW_NONE && !neighbor_key_equal(&t->row[at].key, key))
		at = t->row[at].next;
	return at == NEIGHBOR_ROW_NONE ? NULL : &t->row[at];
}

static struct neighbor_row *put(struct neighbor_table *t, uint32_t at,
				const struct neighbor_key *key, uint16_t vid)
{
	uint32_t *head = head_of(t, &key->address);

	t->row[at] =
		(struct neighbor_row){ .key = *key, .vid = vid, .port = PORT_NONE, .next = *head };
	*head = at;
	t->hops += key->next_hop;
	*(at < NEIGHBOR_WANTED_MAX ? &t->wanted : &t->known) += 1;
	return &t->row[at];
}

void neighbor_table_remove(struct neighbor_table *t, struct neighbor_row *row)
{
	const uint32_t at = (uint32_t)(row - t->row);
	uint32_t *link = head_of(t, &row->key.address);

	while (*link != at)
		link = &t->row[*link].next;
	*link = row->next;
	row->key.address.family = IP_NONE;
	t->hops -= row->key.next_hop;
	if (at < NEIGHBOR_WANTED_MAX) {
		t->wanted--;
		return;
	}
	t->known--;
	row->next = t->free;
	t->free = at;
}

struct neighbor_row *neighbor_table_want(struct neighbor_table *t, const struct ip_prefix *address,
					 uint16_t vid)
{
	const struct neighbor_key key = neighbor_host_key(address);
	const uint32_t at = t->wanted_at;

	t->wanted_at = (at + 1) % NEIGHBOR_WANTED_MAX;
	if (t->row[at].key.address.family != IP_NONE)
		neighbor_table_remove(t, &t->row[at]);
	return put(t, at, &key, vid);
}

static bool may_go(const struct neighbor_row *row)
{
	return row->n.state == NEIGHBOR_STALE && !row->key.next_hop;
}

// Of those within a few steps that may go, the one that was heard longest ago.
static uint32_t find_place(struct neighbor_table *t)
{
	const uint32_t limit = t->count - NEIGHBOR_WANTED_MAX;
	uint32_t best = NEIGHBOR_ROW_NONE;

	for (uint32_t i = 0; i < NEIGHBOR_LOOK_MAX && i < limit; i++) {
		const uint32_t at = NEIGHBOR_WANTED_MAX + t->known_at;
		const struct neighbor_row *row = &t->row[at];

		t->known_at = (t->known_at + 1) % limit;
		if (may_go(row) &&
		    (best == NEIGHBOR_ROW_NONE || ns_before(row->n.heard, t->row[best].n.heard)))
			best = at;
	}
	return best;
}

// Hosts and next hops draw on the same places, but neither on the room of the others.
static bool has_room(const struct neighbor_table *t, bool next_hop)
{
	return next_hop ? t->hops < t->hop_limit : t->known - t->hops < t->limit;
}

struct neighbor_row *neighbor_table_know(struct neighbor_table *t, const struct neighbor_key *key,
					 uint16_t vid, struct ip_prefix *evicted)
{
	struct neighbor_row *before = neighbor_table_find(t, key);
	struct neighbor_row *row;
	struct neighbor kept = { .state = NEIGHBOR_INCOMPLETE }; // any answer is news
	uint32_t at = NEIGHBOR_ROW_NONE;

	*evicted = (struct ip_prefix){ 0 };
	if (has_room(t, key->next_hop))
		at = t->free;
	else if (!key->next_hop)
		at = find_place(t);
	if (at == NEIGHBOR_ROW_NONE)
		return NULL;
	if (before != NULL) {
		kept = before->n;
		neighbor_table_remove(t, before);
	}
	if (t->row[at].key.address.family != IP_NONE) {
		*evicted = t->row[at].key.address;
		neighbor_table_remove(t, &t->row[at]);
	}
	t->free = t->row[at].next;
	row = put(t, at, key, vid);
	row->n = kept;
	return row;
}

struct neighbor_turn neighbor_table_turn(const struct neighbor_table *t, uint32_t ticks)
{
	const uint32_t places = t->count - NEIGHBOR_WANTED_MAX;
	const uint32_t share = places / ticks + 1;
	const struct neighbor_turn turn = {
		.wanted = t->wanted > 0 ? 0 : NEIGHBOR_WANTED_MAX,
		.left = share > NEIGHBOR_TURN_MIN ? share : NEIGHBOR_TURN_MIN,
	};

	if (t->known == 0)
		return (struct neighbor_turn){ turn.wanted, 0 };
	return turn.left <= places ? turn : (struct neighbor_turn){ turn.wanted, places };
}

struct neighbor_row *neighbor_table_next(struct neighbor_table *t, struct neighbor_turn *turn)
{
	while (turn->wanted < NEIGHBOR_WANTED_MAX) {
		struct neighbor_row *row = &t->row[turn->wanted++];

		if (row->key.address.family != IP_NONE)
			return row;
	}
	while (turn->left > 0) {
		struct neighbor_row *row = &t->row[NEIGHBOR_WANTED_MAX + t->turn_at];

		turn->left--;
		t->turn_at = (t->turn_at + 1) % (t->count - NEIGHBOR_WANTED_MAX);
		if (row->key.address.family != IP_NONE)
			return row;
	}
	return NULL;
}
