// SPDX-License-Identifier: BSD-3-Clause
//
// The kernel's own addresses at an interface: those of the interface itself and of the devices
// stacked on it (VLANs, a bridge or a bond it belongs to). Addresses of other interfaces are not
// among them, although Linux would answer ARP for them too: a host of the switch may have them.
#pragma once

#include "base/types.h"
#include "dataplane/xdp/steer_map.h"

struct own_addresses {
	uint32_t count4;
	uint32_t count6;
	uint32_t v4[STEER_OWN_MAX]; // network byte order
	struct steer_address6 v6[STEER_OWN_MAX];
};

// 0, or -errno; -E2BIG when there are more than STEER_OWN_MAX of a family, and then `out` has as
// many.
int own_addresses_read(const char *interface, struct own_addresses *out);
