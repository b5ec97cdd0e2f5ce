// SPDX-License-Identifier: BSD-3-Clause
//
// A part of a graph as a graph of its own, so that an engine can plan a pod or a tree by itself.
// Switches and links keep their order. Each switch has an edge of the same number, with one host or
// none.
#pragma once

#include "routing/topo.h"

enum { TOPO_PART_OUT, TOPO_PART_PASS, TOPO_PART_HOSTS };

struct topo_part {
	const struct topo *whole;
	struct topo topo;
	struct topo_state state; // as of topo_part_look()
	uint32_t *switch_of;     // [topo.switch_count] number in the whole
	uint32_t *number;        // [whole->switch_count] in the part, or TOPO_NONE
	uint32_t *link_of;       // [topo.link_count] number in the whole
};

// `link_in` [link_count of the whole] says which links belong, both ways alike; `switch_in`
// [switch_count] which switches do, among them all ends of those links: TOPO_PART_PASS, packets
// only pass, or TOPO_PART_HOSTS. 0, or -ENOMEM.
int topo_part_init(const struct topo *whole, const uint8_t *switch_in, const uint8_t *link_in,
		   struct arena *keep, struct arena *scratch, struct topo_part *part);

// What the part has lost.
void topo_part_look(struct topo_part *part, const struct topo_state *whole);
