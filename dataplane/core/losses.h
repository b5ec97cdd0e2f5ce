// SPDX-License-Identifier: BSD-3-Clause
//
// What a running switch would lose by another profile. A profile can always be replaced; whether
// that takes packets away which are here or on their way is judged here, against the switch as it
// is at this moment, so that whoever replaces it can be asked first.
//
// When this finds nothing, the change itself costs no lossless packet. What the new profile drops
// on purpose is its own matter (an access list, an impairment), and lossy traffic has no such
// promise: a smaller limit drops more of it. Devices that must be opened again are not looked at
// here.
#pragma once

#include "dataplane/core/sw.h"

enum sw_loss_id {
#define LOSS(name, text) LOSS_##name,
#include "schema/losses.def"
#undef LOSS
	LOSS_COUNT,
};

struct sw_loss {
	enum sw_loss_id id;
	const char *object; // a name in the new profile; "" for the switch itself
	uint32_t part;      // of the object: a group, queue, VLAN or code point
	uint64_t have;
	uint64_t want;
};

// Texts with %o %d %h %w, see schema/losses.def.
extern const char *const sw_loss_texts[LOSS_COUNT];

// Writes the first `max` losses to `out` and returns how many there are. `pf` has as many ports as
// the switch. Every lcore is between two polls.
uint32_t sw_losses(const struct sw *sw, const struct sw_profile *pf, struct sw_loss *out,
		   uint32_t max);
