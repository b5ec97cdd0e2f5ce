// SPDX-License-Identifier: BSD-3-Clause
//
// What dimension order cannot reach: rows around lost switches and rings that are broken twice, and
// the lanes that their turns need. Internal to the Torus engine.
//
// A packet goes in dimension order to where it can go no further, and there turns early, to a
// neighbour that dimension order leads on from. The hop back into the skipped dimension is on a
// further lane, after which packets are on the first two again. Where that is not enough (the
// destination's own line), neighbours send packets another way before they come.
#pragma once

#include "routing/torus_rows.h"

// Completes a plan whose rows and rules have been filled in. Refused with PLAN_FAULT_LANES when no
// way is found that keeps pairs of (link, lane) free of cycles on LANE_MAX lanes.
struct plan_fault torus_detour(struct torus_rows *rows, struct arena *scratch);
