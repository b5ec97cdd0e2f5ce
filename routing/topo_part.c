// SPDX-License-Identifier: BSD-3-Clause
//
// Cables and edges of a part are listed and built like any graph. As switches and ports keep their
// order, so do links, and a second walk over them finds their numbers.

#include "routing/topo_part.h"

#include <errno.h>

#include "base/check.h"

static uint32_t number_switches(const uint8_t *switch_in, struct topo_part *part)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < part->whole->switch_count; s++) {
		part->number[s] = switch_in[s] ? count : TOPO_NONE;
		if (switch_in[s])
			part->switch_of[count++] = s;
	}
	return count;
}

static uint32_t list_cables(const struct topo_part *part, const uint8_t *link_in,
			    struct topo_cable *cables)
{
	const struct topo *whole = part->whole;
	uint32_t count = 0;

	for (uint32_t link = 0; link < whole->link_count; link++) {
		const uint32_t peer = whole->link_peer[link];

		if (!link_in[link] || peer < link)
			continue;
		cables[count++] = (struct topo_cable){
			.end_switch = { part->number[whole->link_switch[link]],
					part->number[whole->link_switch[peer]] },
			.end_port = { whole->link_port[link], whole->link_port[peer] },
			.weight = whole->link_weight[link],
		};
	}
	return count;
}

static void number_links(const uint8_t *link_in, struct topo_part *part)
{
	uint32_t count = 0;

	for (uint32_t link = 0; link < part->whole->link_count; link++) {
		if (link_in[link])
			part->link_of[count++] = link;
	}
}

int topo_part_init(const struct topo *whole, const uint8_t *switch_in, const uint8_t *link_in,
		   struct arena *keep, struct arena *scratch, struct topo_part *part)
{
	const size_t mark = arena_mark(scratch);
	const uint32_t room = whole->link_count / 2;
	struct topo_cable *cables = arena_take_raw(scratch, room, sizeof(*cables));
	struct topo_edge *edges = arena_take_raw(scratch, whole->switch_count, sizeof(*edges));
	enum topo_fault fault = TOPO_NO_MEMORY;
	uint32_t switches, at;

	*part = (struct topo_part){
		.whole = whole,
		.switch_of = arena_take_raw(keep, whole->switch_count, sizeof(*part->switch_of)),
		.number = arena_take_raw(keep, whole->switch_count, sizeof(*part->number)),
		.link_of = arena_take_raw(keep, whole->link_count, sizeof(*part->link_of)),
	};
	if (cables != NULL && edges != NULL && part->switch_of != NULL && part->number != NULL &&
	    part->link_of != NULL) {
		switches = number_switches(switch_in, part);
		for (uint32_t s = 0; s < switches; s++)
			edges[s] = (struct topo_edge){
				.at = s,
				.host_count = switch_in[part->switch_of[s]] == TOPO_PART_HOSTS,
			};
		fault = topo_build(switches, cables, list_cables(part, link_in, cables), edges,
				   switches, keep, scratch, &part->topo, &at);
		number_links(link_in, part);
	}
	WEFT_CHECK(fault == TOPO_GOOD || fault == TOPO_NO_MEMORY);
	arena_release(scratch, mark);
	return fault != TOPO_GOOD ? -ENOMEM : topo_state_init(&part->topo, keep, &part->state);
}

void topo_part_look(struct topo_part *part, const struct topo_state *whole)
{
	for (uint32_t s = 0; s < part->topo.switch_count; s++)
		part->state.switch_lost[s] = whole->switch_lost[part->switch_of[s]];
	for (uint32_t link = 0; link < part->topo.link_count; link++)
		part->state.link_lost[link] = whole->link_lost[part->link_of[link]];
}
