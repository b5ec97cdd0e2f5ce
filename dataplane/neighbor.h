// SPDX-License-Identifier: BSD-3-Clause
//
// Questions that make a silent host speak, so that its address is learned: an ARP probe (RFC 5227:
// sender address 0.0.0.0) or a neighbour solicitation from the unspecified address (RFC 4861). Both
// claim no address of the subnet, which the switch has none in.
#pragma once

#include "base/types.h"

enum { NEIGHBOR_FRAME_MAX = 78 };

// Writes the frame for an IPv4 target; returns its length.
uint32_t neighbor_arp_probe(const uint8_t src_mac[6], const uint8_t target[4],
			    uint8_t out[NEIGHBOR_FRAME_MAX]);

// Writes the frame for an IPv6 target; returns its length.
uint32_t neighbor_solicitation(const uint8_t src_mac[6], const uint8_t target[16],
			       uint8_t out[NEIGHBOR_FRAME_MAX]);

// The IPv4 address inside an IPv4-mapped IPv6 address (::ffff:a.b.c.d), as RoCE GIDs carry them;
// NULL for any other.
const uint8_t *neighbor_mapped_ipv4(const uint8_t address[16]);
