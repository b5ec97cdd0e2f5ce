// SPDX-License-Identifier: BSD-3-Clause
//
// ARP (RFC 826) and neighbour discovery (RFC 4861) as bytes: what a frame says, questions and
// answers. Values in, values out; who is asked and answered is decided by neighbor_rules.h.
//
// A question without a sender is a probe: an ARP probe (RFC 5227: sender address 0.0.0.0) or a
// solicitation from the unspecified address. It makes a silent host speak, so that its address is
// learned, and claims no address of the subnet.
#pragma once

#include "base/ip.h"

enum { NEIGHBOR_FRAME_MAX = 86 };

// What an ARP or ND frame says. Addresses have the length of a host.
struct neighbor_message {
	bool request;             // asks for `target`; otherwise it only says where its sender is
	struct ip_prefix sender;  // family IP_NONE: a probe, nothing can be learned from it
	struct ip_prefix target;  // of a request
	uint64_t mac;             // of the sender
	uint64_t destination_mac; // of the frame
	bool solicited;           // answers a question: the sender hears us
	bool override;            // counts even when another MAC address is known
	bool to_all;              // an advertisement to all nodes: also answers who asked unnamed
};

// Reads the ARP frame, or the solicitation or advertisement behind an IPv6 header, at `l3_offset`.
// `len` bytes are readable. False when a host would discard it: lengths, checksum, group addresses
// where there may be none.
bool neighbor_read(const uint8_t *frame, uint32_t len, uint32_t l3_offset, bool arp,
		   struct neighbor_message *out);

// Writes a question for `target`, to the MAC address that it is thought to have, or with 0 to all;
// `sender` NULL: a probe, which of IPv6 goes to all, since hosts discard any other (RFC 4861
// 7.1.1). Returns its length.
uint32_t neighbor_ask(uint64_t own_mac, const struct ip_prefix *sender,
		      const struct ip_prefix *target, uint64_t to, uint8_t out[NEIGHBOR_FRAME_MAX]);

// Writes the answer that the target of a request is at `mac`; `router`: it forwards for others.
// Returns its length.
uint32_t neighbor_answer(uint64_t mac, const struct neighbor_message *request, bool router,
			 uint8_t out[NEIGHBOR_FRAME_MAX]);

// The IPv4 address inside an IPv4-mapped IPv6 address (::ffff:a.b.c.d), as RoCE GIDs carry them;
// NULL for any other.
const uint8_t *neighbor_mapped_ipv4(const uint8_t address[16]);
