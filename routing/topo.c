// SPDX-License-Identifier: BSD-3-Clause
//
// Building the graph: ends of cables are counted per switch, put in place, sorted by port, and told
// where their other end has gone.

#include "routing/topo.h"

#include <errno.h>
#include <string.h>

// The arrays while they are written.
struct draft {
	uint32_t *link_first;
	uint32_t *link_switch;
	uint32_t *link_peer;
	uint16_t *link_port;
	uint16_t *link_weight;
	uint32_t *edge_switch;
	uint32_t *edge_first_host;
	uint32_t *link_end; // scratch: cable x 2 + end
	uint32_t *end_link; // scratch: the inverse
};

static bool take(struct draft *d, uint32_t switch_count, uint32_t link_count, uint32_t edge_count,
		 struct arena *keep, struct arena *scratch)
{
	d->link_first = arena_take(keep, switch_count + 1u, sizeof(*d->link_first));
	d->link_switch = arena_take_raw(keep, link_count, sizeof(*d->link_switch));
	d->link_peer = arena_take_raw(keep, link_count, sizeof(*d->link_peer));
	d->link_port = arena_take_raw(keep, link_count, sizeof(*d->link_port));
	d->link_weight = arena_take_raw(keep, link_count, sizeof(*d->link_weight));
	d->edge_switch = arena_take_raw(keep, edge_count, sizeof(*d->edge_switch));
	d->edge_first_host = arena_take(keep, edge_count + 1u, sizeof(*d->edge_first_host));
	d->link_end = arena_take_raw(scratch, link_count, sizeof(*d->link_end));
	d->end_link = arena_take_raw(scratch, link_count, sizeof(*d->end_link));
	return d->link_first != NULL && d->link_switch != NULL && d->link_peer != NULL &&
	       d->link_port != NULL && d->link_weight != NULL && d->edge_switch != NULL &&
	       d->edge_first_host != NULL && d->link_end != NULL && d->end_link != NULL;
}

static enum topo_fault check_cable(const struct topo_cable *cable, uint32_t switch_count)
{
	const uint32_t *at = cable->end_switch;

	if (at[0] >= switch_count || at[1] >= switch_count)
		return TOPO_NO_SUCH_SWITCH;
	if (at[0] == at[1])
		return TOPO_LOOPED_CABLE;
	if (cable->end_port[0] > TOPO_PORT_MAX || cable->end_port[1] > TOPO_PORT_MAX)
		return TOPO_TOO_LARGE;
	return cable->weight == 0 ? TOPO_NO_WEIGHT : TOPO_GOOD;
}

static uint16_t end_port(const struct topo_cable *cables, uint32_t end)
{
	return cables[end / 2].end_port[end % 2];
}

// Sorts the ends of one switch by port. They mostly come sorted; 1024 are the most there are.
static void sort_ends(const struct topo_cable *cables, uint32_t *ends, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const uint32_t end = ends[i];
		const uint16_t port = end_port(cables, end);
		uint32_t k = i;

		for (; k > 0 && end_port(cables, ends[k - 1]) > port; k--)
			ends[k] = ends[k - 1];
		ends[k] = end;
	}
}

// Puts each end of a cable to its switch.
static enum topo_fault place_ends(struct draft *d, const struct topo_cable *cables,
				  uint32_t switch_count, uint32_t cable_count, uint32_t *at)
{
	uint32_t sum = 0;

	for (*at = 0; *at < cable_count; (*at)++) {
		const uint32_t *ends = cables[*at].end_switch;
		const enum topo_fault fault = check_cable(&cables[*at], switch_count);

		if (fault != TOPO_GOOD)
			return fault;
		if (++d->link_first[ends[0]] > TOPO_DEGREE_MAX ||
		    ++d->link_first[ends[1]] > TOPO_DEGREE_MAX)
			return TOPO_TOO_LARGE;
	}
	for (uint32_t s = 0; s <= switch_count; s++) {
		sum += d->link_first[s];
		d->link_first[s] = sum;
	}
	// Filled from the back, the first of a switch ends at its own.
	for (uint32_t end = 2 * cable_count; end-- > 0;)
		d->link_end[--d->link_first[cables[end / 2].end_switch[end % 2]]] = end;
	return TOPO_GOOD;
}

// False when two cables are at one port; *at is the later one then.
static bool join_switch(struct draft *d, const struct topo_cable *cables, uint32_t at_switch,
			uint32_t *at)
{
	const uint32_t first = d->link_first[at_switch];
	const uint32_t end = d->link_first[at_switch + 1];

	sort_ends(cables, d->link_end + first, end - first);
	for (uint32_t link = first; link < end; link++) {
		const uint32_t cable_end = d->link_end[link];

		d->link_switch[link] = at_switch;
		d->link_port[link] = end_port(cables, cable_end);
		d->link_weight[link] = cables[cable_end / 2].weight;
		d->end_link[cable_end] = link;
		*at = cable_end / 2;
		if (link > first && d->link_port[link] == d->link_port[link - 1])
			return false;
	}
	return true;
}

static enum topo_fault join_ends(struct draft *d, const struct topo_cable *cables,
				 uint32_t switch_count, uint32_t *at)
{
	for (uint32_t s = 0; s < switch_count; s++) {
		if (!join_switch(d, cables, s, at))
			return TOPO_PORT_TAKEN;
	}
	for (uint32_t link = 0; link < d->link_first[switch_count]; link++)
		d->link_peer[link] = d->end_link[d->link_end[link] ^ 1];
	return TOPO_GOOD;
}

static enum topo_fault place_edges(struct draft *d, const struct topo_edge *edges,
				   uint32_t switch_count, uint32_t edge_count, uint32_t *at)
{
	for (*at = 0; *at < edge_count; (*at)++) {
		const struct topo_edge *edge = &edges[*at];
		const uint32_t first = d->edge_first_host[*at];

		if (edge->at >= switch_count)
			return TOPO_NO_SUCH_SWITCH;
		if (__builtin_add_overflow(first, edge->host_count, &d->edge_first_host[*at + 1]) ||
		    d->edge_first_host[*at + 1] > INT32_MAX)
			return TOPO_TOO_LARGE;
		d->edge_switch[*at] = edge->at;
	}
	return TOPO_GOOD;
}

enum topo_fault topo_build(uint32_t switch_count, const struct topo_cable *cables,
			   uint32_t cable_count, const struct topo_edge *edges, uint32_t edge_count,
			   struct arena *keep, struct arena *scratch, struct topo *topo,
			   uint32_t *at)
{
	const size_t mark = arena_mark(scratch);
	enum topo_fault fault;
	struct draft d;

	*at = 0;
	if (switch_count > TOPO_SWITCH_MAX ||
	    cable_count > (uint64_t)switch_count * TOPO_DEGREE_MAX / 2)
		return TOPO_TOO_LARGE;
	if (!take(&d, switch_count, 2 * cable_count, edge_count, keep, scratch))
		return TOPO_NO_MEMORY;
	fault = place_ends(&d, cables, switch_count, cable_count, at);
	if (fault == TOPO_GOOD)
		fault = join_ends(&d, cables, switch_count, at);
	if (fault == TOPO_GOOD)
		fault = place_edges(&d, edges, switch_count, edge_count, at);
	arena_release(scratch, mark);
	*topo = (struct topo){
		.switch_count = switch_count,
		.link_count = 2 * cable_count,
		.edge_count = edge_count,
		.host_count = d.edge_first_host[edge_count],
		.link_first = d.link_first,
		.link_switch = d.link_switch,
		.link_peer = d.link_peer,
		.link_port = d.link_port,
		.link_weight = d.link_weight,
		.edge_switch = d.edge_switch,
		.edge_first_host = d.edge_first_host,
	};
	return fault;
}

uint32_t topo_link_at(const struct topo *topo, uint32_t at, uint16_t port)
{
	uint32_t low = topo->link_first[at];
	uint32_t high = topo->link_first[at + 1];

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (topo->link_port[middle] < port)
			low = middle + 1;
		else
			high = middle;
	}
	return low < topo->link_first[at + 1] && topo->link_port[low] == port ? low : TOPO_NONE;
}

int topo_state_init(const struct topo *topo, struct arena *keep, struct topo_state *state)
{
	state->link_lost = arena_take(keep, topo->link_count, sizeof(*state->link_lost));
	state->switch_lost = arena_take(keep, topo->switch_count, sizeof(*state->switch_lost));
	return state->link_lost != NULL && state->switch_lost != NULL ? 0 : -ENOMEM;
}

void topo_state_copy(const struct topo *topo, const struct topo_state *from, struct topo_state *to)
{
	memcpy(to->link_lost, from->link_lost, topo->link_count);
	memcpy(to->switch_lost, from->switch_lost, topo->switch_count);
}

static uint64_t load_word(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

uint32_t topo_next_lost(const uint8_t *lost, uint32_t count, uint32_t from)
{
	while (from + sizeof(uint64_t) <= count && load_word(lost + from) == 0)
		from += sizeof(uint64_t);
	while (from < count && lost[from] == 0)
		from++;
	return from;
}

uint32_t topo_next_change(const uint8_t *before, const uint8_t *after, uint32_t count,
			  uint32_t from)
{
	while (from + sizeof(uint64_t) <= count &&
	       load_word(before + from) == load_word(after + from))
		from += sizeof(uint64_t);
	while (from < count && before[from] == after[from])
		from++;
	return from;
}
