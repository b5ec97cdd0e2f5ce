// SPDX-License-Identifier: BSD-3-Clause
//
// Drop reasons, one per row of schema/drops.def, and their descriptors. A packet that the core does
// not send leaves through drop() with exactly one of them, and it is counted at one port: the
// ingress port, or the egress port when the side of the reason says so.
#pragma once

enum drop_reason {
	DROP_NONE, // not dropped
#define DROP(name, side, doc) DROP_##name,
#include "schema/drops.def"
#undef DROP
	DROP_REASON_COUNT,
};

enum drop_side { DROP_SIDE_IN, DROP_SIDE_OUT };

struct drop_info {
	const char *name;
	const char *doc;
	enum drop_side side;
};

// Indexed by enum drop_reason; [DROP_NONE] is empty.
extern const struct drop_info drop_infos[DROP_REASON_COUNT];
