// SPDX-License-Identifier: BSD-3-Clause
//
// Classes of edges by a hash of their parents that does not depend on the order of ports, and by
// comparing parents, since two hashes may be equal by chance.

#include "routing/like_edges.h"

#include <errno.h>
#include <string.h>

#include "routing/fold.h"

struct search {
	const struct order *order;
	const uint16_t *up_far;
	uint16_t nowhere;
	uint64_t *hash;   // [edge_count] of the first edge of a class
	uint32_t *bucket; // class + 1
	uint32_t *last;   // [class_count] edge
	int64_t *sum;     // [switch_count + 1] zero between comparisons
	uint32_t mask;
};

// Of the parents of a switch that has nothing below it, or of the switch itself. A sum, so that the
// order of ports is nothing.
static uint64_t hash_switch(const struct search *s, uint32_t at)
{
	const struct order *order = s->order;
	uint64_t hash = 0;

	if (order->has_below[at])
		return fold_multiply(at ^ FOLD_A, FOLD_B);
	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++) {
		const uint64_t product = ((uint64_t)s->up_far[i] << 16 | order->up_weight[i]) *
					 FOLD_C;

		hash += s->up_far[i] == s->nowhere ? 0 : product ^ product >> 32;
	}
	return fold_multiply(hash ^ FOLD_A, FOLD_B);
}

// Adds the weights of the links to each parent, `sign` times.
static void add_parents(const struct search *s, uint32_t at, int64_t sign)
{
	const struct order *order = s->order;

	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++)
		s->sum[s->up_far[i]] += sign * order->up_weight[i];
	s->sum[s->nowhere] = 0;
}

static bool has_no_sums(const struct search *s, uint32_t at)
{
	bool none = true;

	for (uint32_t i = s->order->up_first[at]; i < s->order->up_first[at + 1]; i++)
		none &= s->sum[s->up_far[i]] == 0;
	return none;
}

// The usual case: port by port.
static bool same_ports(const struct search *s, uint32_t a, uint32_t b)
{
	const struct order *order = s->order;
	const uint32_t at_a = order->up_first[a];
	const uint32_t at_b = order->up_first[b];
	const size_t bytes = (order->up_first[a + 1] - at_a) * sizeof(*s->up_far);

	return order->up_first[b + 1] - at_b == order->up_first[a + 1] - at_a &&
	       memcmp(s->up_far + at_a, s->up_far + at_b, bytes) == 0 &&
	       memcmp(order->up_weight + at_a, order->up_weight + at_b, bytes) == 0;
}

static bool alike(const struct search *s, uint32_t a, uint32_t b)
{
	bool same;

	if (a == b)
		return true;
	if (s->order->has_below[a] || s->order->has_below[b])
		return false;
	if (same_ports(s, a, b))
		return true;
	add_parents(s, a, 1);
	add_parents(s, b, -1);
	same = has_no_sums(s, a) && has_no_sums(s, b);
	add_parents(s, a, -1);
	add_parents(s, b, 1);
	return same;
}

static void add_edge(const struct search *s, uint32_t edge, struct like_edges *like)
{
	const uint32_t *at = s->order->topo->edge_switch;
	const uint64_t hash = hash_switch(s, at[edge]);
	uint32_t i = (uint32_t)(hash ^ hash >> 32) & s->mask;

	like->next[edge] = TOPO_NONE;
	for (; s->bucket[i] != 0; i = (i + 1) & s->mask) {
		const uint32_t class = s->bucket[i] - 1;

		if (s->hash[class] != hash || !alike(s, at[like->first[class]], at[edge]))
			continue;
		like->next[s->last[class]] = edge;
		s->last[class] = edge;
		return;
	}
	s->bucket[i] = like->class_count + 1;
	s->hash[like->class_count] = hash;
	s->last[like->class_count] = edge;
	like->first[like->class_count++] = edge;
}

int like_edges_find(const struct order *order, const uint16_t *up_far, uint16_t nowhere,
		    struct arena *keep, struct like_edges *like)
{
	const struct topo *topo = order->topo;
	uint32_t buckets = 2;
	struct search s = { .order = order, .up_far = up_far, .nowhere = nowhere };

	while (buckets < 2 * topo->edge_count)
		buckets *= 2;
	s.mask = buckets - 1;
	*like = (struct like_edges){
		.first = arena_take_raw(keep, topo->edge_count, sizeof(*like->first)),
		.next = arena_take_raw(keep, topo->edge_count, sizeof(*like->next)),
	};
	s.hash = arena_take_raw(keep, topo->edge_count, sizeof(*s.hash));
	s.last = arena_take_raw(keep, topo->edge_count, sizeof(*s.last));
	s.bucket = arena_take(keep, buckets, sizeof(*s.bucket));
	s.sum = arena_take(keep, topo->switch_count + 1u, sizeof(*s.sum));
	if (like->first == NULL || like->next == NULL || s.hash == NULL || s.last == NULL ||
	    s.bucket == NULL || s.sum == NULL)
		return -ENOMEM;
	for (uint32_t e = 0; e < topo->edge_count; e++)
		add_edge(&s, e, like);
	return 0;
}
