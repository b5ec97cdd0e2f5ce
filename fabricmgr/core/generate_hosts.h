// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts of generated fabrics: on ports 0 and up of consecutive switches, each at one switch, or at
// each of a few neighbouring ones.
#pragma once

#include "fabricmgr/core/generate.h"

// Adds `per_switch` host ports to each of the switches [first, first + count). 0, or -EINVAL or
// -ENOMEM with a fault.
int generate_hosts(struct fabric *fabric, const struct generate_options *options, uint32_t first,
		   uint32_t count, uint32_t per_switch, struct fabric_faults *faults);
