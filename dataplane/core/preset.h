// SPDX-License-Identifier: BSD-3-Clause
//
// Presets: one word in a configuration (the knob `roce`) stands for the rows that make a switch
// lossless: pools, headroom, maps, PFC, ETS, ECN, the CNP queue and the watchdog, scaled to the
// speed of each port.
//
// A preset is a file in front of the configuration: what that says itself holds. A row of its own
// replaces the preset's row of the same name, and what it binds (a group, a queue, a watchdog) the
// preset leaves alone.
#pragma once

#include "dataplane/core/profile.h"

// What a preset needs to know of a port and no configuration tells: how much may still arrive after
// XOFF (pfc/headroom_class.c), of frames of any length.
struct preset_port {
	uint64_t headroom_bytes;
	uint64_t headroom_descriptors;
};

// Writes into `out` the configuration that `written` means: rows of its preset are added, and knobs
// that were left to the preset have values. `ports` has an element per port. Without a preset `out`
// only has the names of maps that were left out.
//
// Returns 0, or -EINVAL with `fault` filled when the rows of the preset find no place in their
// tables; `out` is then undefined.
int preset_expand(const struct sw_config *written, const struct preset_port *ports,
		  struct sw_config *out, struct profile_fault *fault);
