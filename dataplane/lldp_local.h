// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch says of one of its ports over LLDP, derived from its configuration and profile, so
// that a host hears what really happens to its frames: PFC as it is generated and obeyed, classes
// as queues are scheduled, and the priority on which RoCE loses nothing. Pure.
#pragma once

#include "dataplane/core/profile.h"
#include "link/lldp_frame.h"

// Fills `out` for a port, with a time to live of `ttl_seconds`.
void lldp_local(const struct sw_config *config, const struct sw_profile *pf, port_t port,
		uint16_t ttl_seconds, struct lldp_info *out);
