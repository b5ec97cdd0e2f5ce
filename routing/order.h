// SPDX-License-Identifier: BSD-3-Clause
//
// An order of switches: every link goes up or down, so paths that never go up after they went down
// cannot close a cycle, whatever rows lead to them. Levels of a tree are one, ranks from a root
// another. Const once built; it knows nothing of what is lost later, so that rules of turns do not
// change with every event.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

#define ORDER_NO_PLACE UINT32_MAX

// Of a link, seen from the switch that transmits; also the class of its port in rules of turns.
enum order_way {
	ORDER_UNUSED = TURN_CLASS_HOST + 1, // one end has no place, or it is ignored
	ORDER_UP,
	ORDER_DOWN,
	ORDER_CLASSES,
};

struct order {
	const struct topo *topo;
	uint32_t *height;   // [switch_count] small numbers, or ORDER_NO_PLACE
	uint32_t *top_down; // [placed_count] by height, then by number
	uint32_t placed_count;
	uint8_t *way;       // [link_count] enum order_way
	uint32_t *up_first; // [switch_count + 1] index into what follows
	uint32_t *up_link;  // links that go up, switch by switch, ascending
	uint16_t *up_far;   // the switch above
	uint16_t *up_weight;
	uint8_t *has_below; // [switch_count] whether any link goes down
};

// Keeps `height`; `scratch` may be `keep`. Ends of a link must differ in height, unless one has no
// place or `ignored`, if not NULL, has lost the link: otherwise 1, and *level is such a link. 0, or
// -ENOMEM.
int order_init(const struct topo *topo, const struct topo_state *ignored, uint32_t *height,
	       struct arena *keep, struct arena *scratch, struct order *order, uint32_t *level);

// One lane; up, down and to hosts, but never up after down.
int order_rules(const struct order *order, struct arena *keep, struct turn_rules *rules);
