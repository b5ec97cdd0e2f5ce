// SPDX-License-Identifier: BSD-3-Clause
//
// Source guard: which hosts may be behind an edge port. A binding ties a MAC address, and an IP
// address of it, to a port and a VLAN; a frame that claims another source is dropped.
//
// The set is built with the profile and const afterwards: open addressing, at most half full.
#pragma once

#include "dataplane/core/acl_index.h"

enum guard_kind { GUARD_EMPTY, GUARD_MAC, GUARD_IPV4, GUARD_IPV6 };

// One claim that holds: this MAC address, or this IP address of it, at this port and VLAN.
struct guard_slot {
	address_t ip;     // of the kind; 0 for GUARD_MAC
	uint64_t mac_vid; // mac | vid << 48
	uint16_t port;
	uint8_t kind; // enum guard_kind
};
static_assert(sizeof(struct guard_slot) == 32, "two claims per cache line");

static inline uint32_t guard_home(const struct guard_slot *claim, uint32_t slot_count)
{
	uint64_t mixed = claim->mac_vid ^ (uint64_t)claim->port << 40 ^ (uint64_t)claim->kind << 60;

	mixed = mixed * 0x9e3779b97f4a7c15u ^ (uint64_t)claim->ip ^ (uint64_t)(claim->ip >> 64);
	return (uint32_t)(mixed * 0x9e3779b97f4a7c15u >> 32) & (slot_count - 1);
}

// The slot of a claim, or the empty one where it would go. `slot_count` is a power of two.
static inline uint32_t guard_find(const struct guard_slot *slot, uint32_t slot_count,
				  const struct guard_slot *claim)
{
	for (uint32_t i = guard_home(claim, slot_count);; i = (i + 1) & (slot_count - 1)) {
		if (slot[i].kind == GUARD_EMPTY ||
		    (slot[i].kind == claim->kind && slot[i].port == claim->port &&
		     slot[i].mac_vid == claim->mac_vid && slot[i].ip == claim->ip))
			return i;
	}
}
