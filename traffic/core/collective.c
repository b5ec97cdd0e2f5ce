// SPDX-License-Identifier: BSD-3-Clause
//
// The programs. A piece is a slice of a chunk; chunk c of n is elements [c E / n, (c + 1) E / n).
// On the ring, receive (step, slice) is what send (step, slice) of the rank before makes, and send
// (step, slice) needs receive (step - 1, slice), which has just completed that piece.

#include "traffic/core/collective.h"

#include <errno.h>
#include <string.h>

static bool is_ring(const struct collective_config *c)
{
	return c->kind == COLLECTIVE_ALL_REDUCE || c->kind == COLLECTIVE_ALL_GATHER ||
	       c->kind == COLLECTIVE_REDUCE_SCATTER;
}

// Parts into which chunks of `parts` to the whole are cut.
static uint32_t slices(const struct collective_config *c, uint32_t parts)
{
	const uint64_t chunk = (c->elements + parts - 1) / parts * COLLECTIVE_ELEMENT_BYTES;

	if (c->slice_bytes == 0 || chunk == 0)
		return 1;
	return (uint32_t)((chunk + c->slice_bytes - 1) / c->slice_bytes);
}

// Slice `slice` of `of` of the chunk `chunk` of `parts`.
static struct collective_part piece(const struct collective_config *c, uint32_t chunk,
				    uint32_t parts, uint32_t slice, uint32_t of)
{
	const uint64_t first = c->elements * chunk / parts;
	const uint64_t count = c->elements * (chunk + 1) / parts - first;
	const uint64_t at = count * slice / of;

	return (struct collective_part){ first + at, count * (slice + 1) / of - at };
}

static uint64_t bytes_of(uint64_t elements)
{
	return elements * COLLECTIVE_ELEMENT_BYTES;
}

int collective_check(const struct collective_config *config, const char **what)
{
	*what = NULL;
	if (config->rank_count < 2 || config->rank_count > COLLECTIVE_RANK_MAX)
		*what = "ranks: 2 to 1024";
	else if (config->elements > 1u << 28)
		*what = "elements: at most 2^28";
	else if (config->skew_percent != 0 && config->kind != COLLECTIVE_ALL_TO_ALL)
		*what = "skew: of an all-to-all alone";
	else if (config->slice_bytes % COLLECTIVE_ELEMENT_BYTES != 0)
		*what = "slice: a multiple of 4 bytes";
	return *what == NULL ? 0 : -EINVAL;
}

// --- ring -------------------------------------------------------------------------------------

static uint32_t ring_steps(const struct collective_config *c)
{
	return (c->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (c->rank_count - 1);
}

// What a rank sends in a step: while it reduces, chunk r - 1 first and then those that came, so
// that its own is complete in the end; then its own and those that came.
static uint32_t ring_chunk(const struct collective_config *c, uint32_t rank, uint32_t step,
			   bool *reduces)
{
	const uint32_t n = c->rank_count;

	*reduces = c->kind != COLLECTIVE_ALL_GATHER && step < n - 1;
	if (*reduces)
		return (rank + 2 * n - 1 - step) % n;
	return (rank + 2 * n - (c->kind == COLLECTIVE_ALL_REDUCE ? step - (n - 1) : step)) % n;
}

// What send `index` of `rank` carries, and where it lands.
static struct collective_part ring_piece(const struct collective_config *c, uint32_t rank,
					 uint32_t index, bool *reduces)
{
	const uint32_t of = slices(c, c->rank_count);

	return piece(c, ring_chunk(c, rank, index / of, reduces), c->rank_count, index % of, of);
}

static struct collective_send ring_send(const struct collective_config *c, uint32_t rank,
					uint32_t index)
{
	const uint32_t of = slices(c, c->rank_count);
	bool reduces;
	const struct collective_part p = ring_piece(c, rank, index, &reduces);

	return (struct collective_send){
		.to = (rank + 1) % c->rank_count,
		.receive = index,
		.from = bytes_of(p.first),
		.at = bytes_of(p.first + (reduces ? c->elements : 0)),
		.bytes = bytes_of(p.count),
		.needs = { index < of ? COLLECTIVE_NONE : index - of, COLLECTIVE_NONE },
	};
}

static struct collective_receive ring_receive(const struct collective_config *c, uint32_t rank,
					      uint32_t index)
{
	const uint32_t from = (rank + c->rank_count - 1) % c->rank_count;
	bool reduces;
	const struct collective_part p = ring_piece(c, from, index, &reduces);

	return (struct collective_receive){
		.from = from,
		.at = bytes_of(p.first + (reduces ? c->elements : 0)),
		.bytes = bytes_of(p.count),
		.reduce = reduces,
		.into = bytes_of(p.first),
	};
}

// --- trees ------------------------------------------------------------------------------------
// A binary tree in order: the lowest bit of a rank is its height, so odd ranks are leaves and 0 is
// the root, above the largest power of two. The second tree is the first with the ranks mirrored
// (an even number) or shifted (odd), so that who is inside one is a leaf of the other.

struct tree_node {
	uint32_t parent;
	uint32_t child[2];
};

static struct tree_node tree_in_order(uint32_t n, uint32_t rank)
{
	struct tree_node node = { COLLECTIVE_NONE, { COLLECTIVE_NONE, COLLECTIVE_NONE } };
	uint32_t bit = rank & (0 - rank);

	if (rank == 0) {
		for (bit = 1; bit * 2 < n; bit *= 2)
			;
		node.child[0] = bit < n ? bit : COLLECTIVE_NONE;
		return node;
	}
	node.parent = (rank ^ bit) | bit << 1;
	if (node.parent >= n)
		node.parent = rank ^ bit;
	if (bit > 1)
		node.child[0] = rank - bit / 2;
	for (uint32_t down = bit / 2; down > 0 && node.child[1] == COLLECTIVE_NONE; down /= 2) {
		if (rank + down < n)
			node.child[1] = rank + down;
	}
	return node;
}

static uint32_t tree_rank(uint32_t n, uint32_t rank, uint32_t by, bool mirror)
{
	if (rank == COLLECTIVE_NONE)
		return rank;
	return mirror ? n - 1 - rank : (rank + by) % n;
}

static struct tree_node tree_node(const struct collective_config *c, uint32_t tree, uint32_t rank)
{
	const uint32_t n = c->rank_count;
	const bool mirror = n % 2 == 0;
	struct tree_node node;

	if (tree == 0)
		return tree_in_order(n, rank);
	node = tree_in_order(n, tree_rank(n, rank, n - 1, mirror));
	node.parent = tree_rank(n, node.parent, 1, mirror);
	node.child[0] = tree_rank(n, node.child[0], 1, mirror);
	node.child[1] = tree_rank(n, node.child[1], 1, mirror);
	return node;
}

// A rank's receives of one tree, slice by slice: from child 0, from child 1, from the parent; its
// sends: to the parent, to child 0, to child 1. Links that it does not have are left out.
static uint32_t tree_children(const struct tree_node *node)
{
	return (node->child[0] != COLLECTIVE_NONE) + (uint32_t)(node->child[1] != COLLECTIVE_NONE);
}

static uint32_t tree_links(const struct tree_node *node)
{
	return tree_children(node) + (node->parent != COLLECTIVE_NONE);
}

// Which tree and which slice an index belongs to; what is left is the link.
static uint32_t tree_of(const struct collective_config *c, uint32_t rank, uint32_t *index,
			uint32_t *slice)
{
	const uint32_t of = slices(c, 2);
	const struct tree_node first = tree_node(c, 0, rank);
	const uint32_t links = tree_links(&first);
	const uint32_t tree = *index >= links * of;
	const struct tree_node node = tree_node(c, tree, rank);

	if (tree == 1)
		*index -= links * of;
	*slice = *index / tree_links(&node);
	*index %= tree_links(&node);
	return tree;
}

// Index of a receive from a child (0, 1 among those there are) or, with child 2, from the parent.
static uint32_t tree_receive_index(const struct collective_config *c, uint32_t tree, uint32_t rank,
				   uint32_t slice, uint32_t link)
{
	const struct tree_node first = tree_node(c, 0, rank);
	const struct tree_node node = tree_node(c, tree, rank);

	return (tree == 1 ? tree_links(&first) * slices(c, 2) : 0) + slice * tree_links(&node) +
	       link;
}

// The child of a node by its place among those there are.
static uint32_t tree_child(const struct tree_node *node, uint32_t place)
{
	return node->child[0] == COLLECTIVE_NONE ? node->child[1] : node->child[place];
}

static uint32_t tree_place(const struct tree_node *node, uint32_t child)
{
	return tree_child(node, 0) == child ? 0 : 1;
}

static struct collective_send tree_send(const struct collective_config *c, uint32_t rank,
					uint32_t index)
{
	uint32_t slice;
	const uint32_t tree = tree_of(c, rank, &index, &slice);
	const struct tree_node node = tree_node(c, tree, rank);
	const struct collective_part p = piece(c, tree, 2, slice, slices(c, 2));
	const uint32_t children = tree_children(&node);
	const bool has_parent = node.parent != COLLECTIVE_NONE;
	struct collective_send send = {
		.from = bytes_of(p.first),
		.bytes = bytes_of(p.count),
		.needs = { COLLECTIVE_NONE, COLLECTIVE_NONE },
	};
	struct tree_node peer;

	if (has_parent && index == 0) { // up, with what has come from below
		send.to = node.parent;
		peer = tree_node(c, tree, send.to);
		send.receive = tree_receive_index(c, tree, send.to, slice, tree_place(&peer, rank));
		send.at = bytes_of(p.first + c->elements * (1 + tree_place(&peer, rank)));
		for (uint32_t i = 0; i < children; i++)
			send.needs[i] = tree_receive_index(c, tree, rank, slice, i);
		return send;
	}
	send.to = tree_child(&node, index - has_parent);
	peer = tree_node(c, tree, send.to);
	send.receive = tree_receive_index(c, tree, send.to, slice, tree_children(&peer));
	send.at = bytes_of(p.first);
	if (has_parent) {
		send.needs[0] = tree_receive_index(c, tree, rank, slice, children);
	} else {
		for (uint32_t i = 0; i < children; i++)
			send.needs[i] = tree_receive_index(c, tree, rank, slice, i);
	}
	return send;
}

static struct collective_receive tree_receive(const struct collective_config *c, uint32_t rank,
					      uint32_t index)
{
	uint32_t slice;
	const uint32_t tree = tree_of(c, rank, &index, &slice);
	const struct tree_node node = tree_node(c, tree, rank);
	const struct collective_part p = piece(c, tree, 2, slice, slices(c, 2));
	const bool up = index < tree_children(&node);

	return (struct collective_receive){
		.from = up ? tree_child(&node, index) : node.parent,
		.at = bytes_of(p.first + (up ? c->elements * (1 + index) : 0)),
		.bytes = bytes_of(p.count),
		.reduce = up,
		.into = bytes_of(p.first),
	};
}

// What has come from below goes up, or down again from the root; what has come from above goes
// down.
static uint32_t tree_unblocks(const struct collective_config *c, uint32_t rank, uint32_t receive,
			      uint32_t out[2])
{
	uint32_t slice;
	const uint32_t tree = tree_of(c, rank, &receive, &slice);
	const struct tree_node node = tree_node(c, tree, rank);
	const uint32_t children = tree_children(&node);
	const bool has_parent = node.parent != COLLECTIVE_NONE;

	if (has_parent && receive < children) {
		out[0] = tree_receive_index(c, tree, rank, slice, 0);
		return 1;
	}
	for (uint32_t i = 0; i < children; i++)
		out[i] = tree_receive_index(c, tree, rank, slice, has_parent + i);
	return children;
}

static uint32_t tree_count(const struct collective_config *c, uint32_t rank)
{
	const struct tree_node a = tree_node(c, 0, rank), b = tree_node(c, 1, rank);

	return (tree_links(&a) + tree_links(&b)) * slices(c, 2);
}

// --- all-to-all -------------------------------------------------------------------------------
// Rank r's data is n blocks, block d for rank d. Behind it, where scratch is, the result: block s
// from rank s. The blocks for a rank d that gets more are longer, alike at all senders.

// Elements before block `rank`: weights rise evenly from 100 to 100 + skew, backwards.
static uint64_t all_to_all_before(const struct collective_config *c, uint32_t rank)
{
	const uint64_t n = c->rank_count, skew = c->skew_percent;
	const uint64_t whole = n * 100 * 2 * (n - 1) + skew * n * (n - 1);
	// Twice (n - 1) times the sum of 100 + skew (n - 1 - i) / (n - 1) over i < rank.
	const uint64_t part = rank * 100ull * 2 * (n - 1) + skew * rank * (2 * n - 1 - rank);

	return (uint64_t)((unsigned __int128)c->elements * part / whole);
}

static uint64_t all_to_all_count(const struct collective_config *c, uint32_t rank)
{
	return all_to_all_before(c, rank + 1) - all_to_all_before(c, rank);
}

static uint64_t all_to_all_slices(const struct collective_config *c)
{
	const uint64_t most = bytes_of(all_to_all_count(c, 0) + 1);

	return c->slice_bytes == 0 ? 1 : (most + c->slice_bytes - 1) / c->slice_bytes;
}

static struct collective_send all_to_all_send(const struct collective_config *c, uint32_t rank,
					      uint32_t index)
{
	const uint32_t n = c->rank_count, of = (uint32_t)all_to_all_slices(c);
	const uint32_t away = index % (n - 1) + 1, slice = index / (n - 1);
	const uint32_t to = (rank + away) % n;
	const uint64_t count = all_to_all_count(c, to);
	const uint64_t at = count * slice / of;

	return (struct collective_send){
		.to = to,
		.receive = slice * (n - 1) + (n - away - 1),
		.from = bytes_of(all_to_all_before(c, to) + at),
		.at = bytes_of(collective_block_result(c, to, rank) + at),
		.bytes = bytes_of(count * (slice + 1) / of - at),
		.needs = { COLLECTIVE_NONE, COLLECTIVE_NONE },
	};
}

static struct collective_receive all_to_all_receive(const struct collective_config *c,
						    uint32_t rank, uint32_t index)
{
	const uint32_t n = c->rank_count, of = (uint32_t)all_to_all_slices(c);
	const uint32_t from = (rank + index % (n - 1) + 1) % n, slice = index / (n - 1);
	const uint64_t count = all_to_all_count(c, rank);
	const uint64_t at = count * slice / of;

	return (struct collective_receive){
		.from = from,
		.at = bytes_of(collective_block_result(c, rank, from) + at),
		.bytes = bytes_of(count * (slice + 1) / of - at),
	};
}

struct collective_part collective_block(const struct collective_config *config, uint32_t to)
{
	return (struct collective_part){ all_to_all_before(config, to),
					 all_to_all_count(config, to) };
}

uint64_t collective_block_result(const struct collective_config *config, uint32_t rank,
				 uint32_t from)
{
	return config->elements + from * all_to_all_count(config, rank);
}

// --- all of them ------------------------------------------------------------------------------

uint32_t collective_send_count(const struct collective_config *config, uint32_t rank)
{
	if (is_ring(config))
		return ring_steps(config) * slices(config, config->rank_count);
	if (config->kind == COLLECTIVE_ALL_REDUCE_TREE)
		return tree_count(config, rank);
	return (config->rank_count - 1) * (uint32_t)all_to_all_slices(config);
}

uint32_t collective_receive_count(const struct collective_config *config, uint32_t rank)
{
	return collective_send_count(config, rank); // links carry both ways
}

struct collective_send collective_send(const struct collective_config *config, uint32_t rank,
				       uint32_t index)
{
	if (is_ring(config))
		return ring_send(config, rank, index);
	if (config->kind == COLLECTIVE_ALL_REDUCE_TREE)
		return tree_send(config, rank, index);
	return all_to_all_send(config, rank, index);
}

struct collective_receive collective_receive(const struct collective_config *config, uint32_t rank,
					     uint32_t index)
{
	if (is_ring(config))
		return ring_receive(config, rank, index);
	if (config->kind == COLLECTIVE_ALL_REDUCE_TREE)
		return tree_receive(config, rank, index);
	return all_to_all_receive(config, rank, index);
}

uint32_t collective_unblocks(const struct collective_config *config, uint32_t rank,
			     uint32_t receive, uint32_t out[2])
{
	if (is_ring(config)) {
		out[0] = receive + slices(config, config->rank_count);
		return out[0] < collective_send_count(config, rank);
	}
	if (config->kind == COLLECTIVE_ALL_REDUCE_TREE)
		return tree_unblocks(config, rank, receive, out);
	return 0;
}

struct collective_part collective_own(const struct collective_config *config, uint32_t rank)
{
	return piece(config, rank, config->rank_count, 0, 1);
}

uint64_t collective_memory(const struct collective_config *config)
{
	const uint64_t n = config->rank_count;

	if (config->kind == COLLECTIVE_ALL_TO_ALL)
		return bytes_of(config->elements + n * all_to_all_count(config, 0) + n);
	if (config->kind == COLLECTIVE_ALL_REDUCE_TREE)
		return bytes_of(3 * config->elements);
	return bytes_of(2 * config->elements);
}

uint64_t collective_port_bytes(const struct collective_config *config)
{
	uint64_t most = 0;

	for (uint32_t rank = 0; rank < config->rank_count; rank++) {
		uint64_t out = 0, in = 0;

		for (uint32_t i = 0; i < collective_send_count(config, rank); i++)
			out += collective_send(config, rank, i).bytes;
		for (uint32_t i = 0; i < collective_receive_count(config, rank); i++)
			in += collective_receive(config, rank, i).bytes;
		most = u64_max(most, u64_max(in, out));
	}
	return most;
}

uint32_t collective_steps(const struct collective_config *config)
{
	uint32_t depth = 0;

	if (is_ring(config))
		return ring_steps(config);
	if (config->kind == COLLECTIVE_ALL_TO_ALL)
		return config->rank_count - 1;
	while (1u << depth < config->rank_count)
		depth++;
	return 2 * depth;
}

uint64_t collective_bus_ppm(const struct collective_config *config)
{
	const bool twice = config->kind == COLLECTIVE_ALL_REDUCE ||
			   config->kind == COLLECTIVE_ALL_REDUCE_TREE;

	return (twice ? 2000000ull : 1000000ull) * (config->rank_count - 1) / config->rank_count;
}
