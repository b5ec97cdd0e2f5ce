// SPDX-License-Identifier: BSD-3-Clause
//
// Two passes over a block of edges.
//
// Backwards, in rounds: an edge is done at a switch when it was done at the far end of every member
// of its row before. So the round is the length of the longest walk, a walk that does not end is
// never done, and a switch comes after all that it leads to.
//
// Forwards, in the reverse order: all packets for an edge have arrived at a switch when it is its
// turn, each word of them with the class of the port and the lane, and is sent on by the rules.

#include "routing/verify_block.h"

#include <errno.h>
#include <string.h>

enum { TILE = 32 }; // rows of a cache line

struct block_use {
	uint64_t edges;
	uint32_t group;
};

struct block_entry {
	uint64_t edges;
	uint32_t at;
	uint32_t hops;
};

static int take_const(struct block *b, struct arena *scratch)
{
	const struct topo *topo = b->run->topo;
	const uint32_t groups = b->run->plan->group_count;

	b->far = arena_take_raw(scratch, topo->link_count, sizeof(*b->far));
	b->group_top = arena_take(scratch, groups, sizeof(*b->group_top));
	b->group_link = arena_take(scratch, (size_t)groups * b->run->graph.words,
				   sizeof(*b->group_link));
	b->lossy = arena_take(scratch, topo->switch_count, sizeof(*b->lossy));
	return b->far != NULL && b->group_top != NULL && b->group_link != NULL && b->lossy != NULL ?
		       0 :
		       -ENOMEM;
}

static int take_words(struct block *b, struct arena *scratch)
{
	const struct topo *topo = b->run->topo;
	const struct turn_rules *rules = b->run->graph.rules;
	const uint32_t groups = b->run->plan->group_count;
	const size_t keys = (rules == NULL ? 1 : rules->class_count) * (size_t)LANE_MAX;
	const size_t most = (size_t)topo->switch_count * BLOCK_EDGES;

	b->home = arena_take_raw(scratch, topo->switch_count, sizeof(*b->home));
	b->rowless = arena_take_raw(scratch, topo->switch_count, sizeof(*b->rowless));
	b->done = arena_take_raw(scratch, topo->switch_count, sizeof(*b->done));
	b->fresh = arena_take_raw(scratch, topo->switch_count, sizeof(*b->fresh));
	b->arrive = arena_take_raw(scratch, (size_t)topo->link_count * b->run->graph.lanes,
				   sizeof(*b->arrive));
	b->use_first = arena_take_raw(scratch, topo->switch_count + 1u, sizeof(*b->use_first));
	b->slot_switch = arena_take_raw(scratch, groups, sizeof(*b->slot_switch));
	b->slot = arena_take_raw(scratch, groups, sizeof(*b->slot));
	b->from = arena_take(scratch, keys, sizeof(*b->from));
	b->key = arena_take_raw(scratch, keys, sizeof(*b->key));
	// Mostly untouched: a switch has few groups, and most edges are done in one round.
	b->use = arena_take_raw(scratch, most, sizeof(*b->use));
	b->entry = arena_take_raw(scratch, most, sizeof(*b->entry));
	return b->home != NULL && b->rowless != NULL && b->done != NULL && b->fresh != NULL &&
			       b->arrive != NULL && b->use_first != NULL &&
			       b->slot_switch != NULL && b->slot != NULL && b->from != NULL &&
			       b->key != NULL && b->use != NULL && b->entry != NULL ?
		       0 :
		       -ENOMEM;
}

static void describe_group(struct block *b, uint32_t group)
{
	const struct plan_group *g = verify_group(b->run->plan, (uint16_t)group);
	const uint32_t words = b->run->graph.words;

	for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
		const uint32_t local = b->run->plan->hop[g->first + i].link;

		if (local >= words * 64) {
			b->group_top[group] = UINT16_MAX;
			return;
		}
		b->group_link[(size_t)group * words + local / 64] |= 1ull << local % 64;
		if (local >= b->group_top[group])
			b->group_top[group] = (uint16_t)(local + 1);
	}
}

int block_init(struct verify_run *run, struct arena *scratch, struct block *block)
{
	const struct topo *topo = run->topo;

	*block = (struct block){ .run = run, .host_total = topo->host_count };
	if (take_const(block, scratch) != 0 || take_words(block, scratch) != 0)
		return -ENOMEM;
	for (uint32_t link = 0; link < topo->link_count; link++) {
		block->far[link] = topo_far(topo, link);
		block->lossy[topo->link_switch[link]] |= !run->link_up[link];
	}
	for (uint32_t g = 0; g < run->plan->group_count; g++)
		describe_group(block, g);
	return 0;
}

// Whether a group makes sense at a switch, its links being there and up.
static bool is_sound(const struct block *b, uint32_t at, uint32_t group)
{
	const struct topo *topo = b->run->topo;
	const struct plan_group *g = &b->run->plan->group[group];

	if (b->group_top[group] == 0 || b->group_top[group] > topo_degree(topo, at))
		return false;
	for (uint32_t i = 0; b->lossy[at] && i < g->hop_count; i++) {
		if (!b->run->link_up[topo->link_first[at] + b->run->plan->hop[g->first + i].link])
			return false;
	}
	return true;
}

// The use of a group at a switch, a new one if need be. What is not sound gets none, and so is
// never done.
static void enter_group(struct block *b, uint32_t at, uint32_t group, uint64_t edge)
{
	uint32_t *end = &b->use_first[at + 1];

	if (group >= b->run->plan->group_count)
		return;
	if (b->slot_switch[group] != at) {
		if (!is_sound(b, at, group))
			return;
		b->slot_switch[group] = at;
		b->slot[group] = *end;
		b->use[(*end)++] = (struct block_use){ .group = group };
	}
	b->use[b->slot[group]].edges |= edge;
}

static void read_rows(struct block *b, uint32_t at)
{
	const uint32_t switches = b->run->topo->switch_count;
	const uint16_t *row = plan_rows(b->run->plan, b->first) + at;

	for (uint32_t i = 0; i < b->count; i++, row += switches) {
		const uint64_t edge = 1ull << i;

		if (*row == PLAN_NONE)
			b->rowless[at] |= edge;
		else if (*row == PLAN_LOCAL)
			b->home[at] |= b->run->topo->edge_switch[b->first + i] == at ? edge : 0;
		else
			enter_group(b, at, *row, edge);
	}
}

// Switches in order, so that the rows of a tile stay in the cache.
static void read_block(struct block *b)
{
	const uint32_t switches = b->run->topo->switch_count;

	memset(b->home, 0, switches * sizeof(*b->home));
	memset(b->rowless, 0, switches * sizeof(*b->rowless));
	memset(b->slot_switch, 0xff, b->run->plan->group_count * sizeof(*b->slot_switch));
	b->use_first[0] = 0;
	for (uint32_t s = 0; s < switches; s++) {
		b->use_first[s + 1] = b->use_first[s];
		if (b->run->part[s] != TOPO_NONE)
			read_rows(b, s);
	}
}

// Edges of a use that get done in this round. Members that do not all get done together make paths
// of different lengths, which are left to the exact walk.
static uint64_t try_use(struct block *b, uint32_t at, const struct block_use *use)
{
	const struct plan_group *g = &b->run->plan->group[use->group];
	const struct plan_hop *hop = &b->run->plan->hop[g->first];
	const uint32_t *far = b->far + b->run->topo->link_first[at];
	uint64_t all = use->edges & ~b->done[at];
	uint64_t even = all;

	for (uint32_t i = 0; i < g->hop_count && all != 0; i++) {
		all &= b->done[far[hop[i].link]];
		even &= b->fresh[far[hop[i].link]];
	}
	b->suspect |= all & ~even;
	return all;
}

static void add_entry(struct block *b, uint32_t at, uint64_t edges, uint32_t hops)
{
	b->entry[b->entry_count++] = (struct block_entry){ edges, at, hops };
}

// What was found in a round counts from the next one on.
static void publish(struct block *b, uint32_t before, uint32_t from)
{
	for (uint32_t i = before; i < from; i++)
		b->fresh[b->entry[i].at] = 0;
	for (uint32_t i = from; i < b->entry_count; i++) {
		b->fresh[b->entry[i].at] = b->entry[i].edges;
		b->done[b->entry[i].at] |= b->entry[i].edges;
	}
}

static void find_round(struct block *b, uint32_t hops)
{
	for (uint32_t s = 0; s < b->run->topo->switch_count; s++) {
		uint64_t edges = 0;

		for (uint32_t u = b->use_first[s]; u < b->use_first[s + 1]; u++)
			edges |= try_use(b, s, &b->use[u]);
		if (edges != 0)
			add_entry(b, s, edges, hops);
	}
}

static void go_backwards(struct block *b)
{
	const uint32_t switches = b->run->topo->switch_count;
	uint32_t before = 0;
	uint32_t from = 0;

	memset(b->done, 0, switches * sizeof(*b->done));
	memset(b->fresh, 0, switches * sizeof(*b->fresh));
	b->entry_count = 0;
	for (uint32_t s = 0; s < switches; s++) {
		if (b->home[s] != 0)
			add_entry(b, s, b->home[s], 0);
	}
	for (uint32_t hops = 1; from < b->entry_count; hops++) {
		publish(b, before, from);
		before = from;
		from = b->entry_count;
		find_round(b, hops);
	}
}

// Edges in the same part of the graph as a switch.
static uint64_t connected(const struct block *b, uint32_t at)
{
	uint64_t edges = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		if (!verify_is_parted(b->run, at, b->first + i))
			edges |= 1ull << i;
	}
	return edges;
}

// Every edge must be done at every switch with hosts, or parted from it and without a row.
static void check_sources(struct block *b, uint64_t all)
{
	uint32_t part = TOPO_NONE;
	uint64_t reachable = 0;

	for (uint32_t s = 0; s < b->run->topo->switch_count; s++) {
		if (b->run->hosts_at[s] == 0 || b->run->part[s] == TOPO_NONE)
			continue;
		if (b->run->part[s] != part)
			reachable = connected(b, s);
		part = b->run->part[s];
		b->suspect |= (reachable & ~b->done[s]) | (all & ~reachable & ~b->rowless[s]);
	}
}

// Packets of a class and lane, TURN_CLASS_HOST on lane 0: from hosts.
static uint32_t add_from(struct block *b, uint32_t keys, uint32_t key, uint64_t edges)
{
	if (edges == 0)
		return keys;
	if (b->from[key] == 0)
		b->key[keys++] = (uint16_t)key;
	b->from[key] |= edges;
	return keys;
}

// Gathers what has arrived at a switch by class and lane; returns how many there are.
static uint32_t gather(struct block *b, const struct block_entry *entry, uint64_t *any)
{
	const struct topo *topo = b->run->topo;
	const struct turn_rules *rules = b->run->graph.rules;
	const uint32_t lanes = b->run->graph.lanes;
	uint32_t keys = 0;

	*any = b->run->hosts_at[entry->at] == 0 ? 0 : entry->edges;
	keys = add_from(b, keys, TURN_CLASS_HOST * LANE_MAX, *any);
	for (uint32_t link = topo->link_first[entry->at]; link < topo->link_first[entry->at + 1];
	     link++) {
		const uint32_t class = rules == NULL ? 0 : rules->link_class[link];

		for (uint32_t lane = 0; lane < lanes; lane++) {
			const uint64_t edges = b->arrive[(size_t)link * lanes + lane] &
					       entry->edges;

			*any |= edges;
			keys = add_from(b, keys, class * LANE_MAX + lane, edges);
		}
	}
	return keys;
}

static void send_lanes(struct block *b, uint32_t out, const uint64_t *send)
{
	const uint32_t lanes = b->run->graph.lanes;
	uint64_t *arrive = b->arrive + (size_t)b->run->topo->link_peer[out] * lanes;

	for (uint32_t lane = 0; lane < lanes; lane++)
		arrive[lane] |= send[lane];
}

// Sends on by one link what the rules of classes let go. Nothing goes back where it came from: two
// switches that lead to each other are never done.
static void send_by_class(struct block *b, uint32_t out, uint64_t edges, uint32_t keys)
{
	const struct turn_rules *rules = b->run->graph.rules;
	const uint32_t lanes = b->run->graph.lanes;
	uint64_t send[LANE_MAX] = { 0 };

	for (uint32_t i = 0; i < keys; i++) {
		const uint32_t class = b->key[i] / LANE_MAX;
		const uint64_t word = b->from[b->key[i]] & edges;
		uint8_t to = 0;

		if (word == 0)
			continue;
		if (rules != NULL)
			to = lane_graph_class_turn(rules, class, out, b->key[i] % LANE_MAX);
		if (to < lanes)
			send[to] |= word;
		else
			b->suspect |= word;
	}
	send_lanes(b, out, send);
}

// Likewise, port by port, where there are exceptions.
static void send_by_port(struct block *b, uint32_t out, uint64_t edges, uint64_t from_hosts)
{
	const struct topo *topo = b->run->topo;
	const uint32_t at = topo->link_switch[out];
	const uint32_t lanes = b->run->graph.lanes;
	const uint32_t first = topo->link_first[at] * lanes;
	uint64_t send[LANE_MAX] = { 0 };
	uint8_t to = lane_graph_turn(&b->run->graph, TOPO_NONE, out, 0);

	if (to != TURN_DENY)
		send[to] = from_hosts & edges;
	else
		b->suspect |= from_hosts & edges;
	for (uint32_t i = first; i < topo->link_first[at + 1] * lanes; i++) {
		const uint64_t word = b->arrive[i] & edges;

		if (word == 0)
			continue;
		to = lane_graph_turn(&b->run->graph, topo->link_peer[i / lanes], out, i % lanes);
		if (to != TURN_DENY)
			send[to] |= word;
		else
			b->suspect |= word;
	}
	send_lanes(b, out, send);
}

static void send_use(struct block *b, uint32_t at, const struct block_use *use, uint64_t edges,
		     uint32_t keys)
{
	const struct plan_group *g = &b->run->plan->group[use->group];
	const uint64_t from_hosts = b->run->hosts_at[at] == 0 ? 0 : edges;

	for (uint32_t i = 0; i < g->hop_count; i++) {
		const uint32_t out = b->run->topo->link_first[at] +
				     b->run->plan->hop[g->first + i].link;

		if (b->run->graph.special[at])
			send_by_port(b, out, edges, from_hosts);
		else
			send_by_class(b, out, edges, keys);
	}
}

// A switch sends on what has arrived for the edges of an entry.
static void send_on(struct block *b, const struct block_entry *entry)
{
	uint64_t any;
	const uint32_t keys = gather(b, entry, &any);

	for (uint32_t u = b->use_first[entry->at]; u < b->use_first[entry->at + 1]; u++) {
		const uint64_t edges = b->use[u].edges & any;

		if (edges != 0)
			send_use(b, entry->at, &b->use[u], edges, keys);
	}
	for (uint32_t k = 0; k < keys; k++)
		b->from[b->key[k]] = 0;
}

static void go_forwards(struct block *b)
{
	const size_t words = (size_t)b->run->topo->link_count * b->run->graph.lanes;

	memset(b->arrive, 0, words * sizeof(*b->arrive));
	for (uint32_t i = b->entry_count; i-- > 0;)
		send_on(b, &b->entry[i]);
}

// Enters what packets of good edges hold while they wait: the link and lane that they came by for
// all links of their groups.
static void hold(struct block *b, uint32_t at, uint32_t in, uint32_t lane)
{
	const uint32_t lanes = b->run->graph.lanes;
	const uint32_t words = b->run->graph.words;
	const uint64_t edges = b->arrive[(size_t)in * lanes + lane] & ~b->suspect;
	uint64_t *held;

	if (edges == 0)
		return;
	if (lane + 1 > b->run->report->lanes)
		b->run->report->lanes = lane + 1;
	held = lane_graph_held(&b->run->graph, b->run->topo->link_peer[in], lane);
	for (uint32_t u = b->use_first[at]; u < b->use_first[at + 1]; u++) {
		if ((b->use[u].edges & edges) == 0)
			continue;
		for (uint32_t w = 0; w < words; w++)
			held[w] |= b->group_link[(size_t)b->use[u].group * words + w];
	}
}

static void hold_all(struct block *b)
{
	const struct topo *topo = b->run->topo;
	const uint32_t lanes = b->run->graph.lanes;

	for (uint32_t in = 0; in < topo->link_count; in++) {
		for (uint32_t lane = 0; lane < lanes; lane++)
			hold(b, topo->link_switch[in], in, lane);
	}
}

static void count_pairs(struct block *b, uint32_t edge)
{
	struct verify_report *report = b->run->report;
	const uint64_t hosts = topo_edge_hosts(b->run->topo, edge);
	const uint32_t part = b->run->part[b->run->topo->edge_switch[edge]];
	const uint64_t sources = part == TOPO_NONE ? 0 : b->run->part_host[part];
	const uint64_t reachable = part == TOPO_NONE ? 0 : sources * hosts - hosts;
	const uint64_t pairs = b->host_total * hosts - hosts;

	report->reachable_pairs += reachable;
	report->unreachable_pairs += pairs - reachable;
	report->parted_pairs += pairs - reachable;
}

// Hosts at all edges of a word.
static uint64_t count_hosts(const struct block *b, uint64_t edges)
{
	uint64_t hosts = 0;

	for (; edges != 0; edges &= edges - 1)
		hosts += topo_edge_hosts(b->run->topo, b->first + (uint32_t)__builtin_ctzll(edges));
	return hosts;
}

static void count_hops(struct block *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->entry_count; i++) {
		const struct block_entry *entry = &b->entry[i];
		const uint64_t from = b->run->hosts_at[entry->at];
		uint64_t pairs;

		if (from == 0 || entry->hops == 0)
			continue;
		pairs = from * count_hosts(b, entry->edges & ~b->suspect);
		sum += pairs * entry->hops;
		if (pairs != 0 && entry->hops > b->run->report->hops_max)
			b->run->report->hops_max = entry->hops;
	}
	b->run->hop_sum += (double)sum;
}

uint64_t block_verify(struct block *b, uint32_t first)
{
	const uint32_t left = b->run->topo->edge_count - first;
	uint64_t all;

	b->first = first;
	b->count = left < BLOCK_EDGES ? left : BLOCK_EDGES;
	b->suspect = 0;
	all = b->count == 64 ? ~0ull : (1ull << b->count) - 1;
	read_block(b);
	go_backwards(b);
	check_sources(b, all);
	go_forwards(b);
	hold_all(b);
	count_hops(b);
	for (uint64_t good = all & ~b->suspect; good != 0; good &= good - 1)
		count_pairs(b, first + (uint32_t)__builtin_ctzll(good));
	return b->suspect;
}
