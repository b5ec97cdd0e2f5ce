// SPDX-License-Identifier: BSD-3-Clause
//
// The hash that spreads flows over the members of a group or a LAG.
//
// Which fields enter, the algorithm, the seed and the rotation are all settable and shown: two
// tiers of equal hash polarise (each sees only the flows that hashed alike before it), so a switch
// differs from its neighbours by seed and a LAG from a group by rotation. Field names are SAI's
// (saihash.h, SAI_NATIVE_HASH_FIELD_*). A field that a packet does not have enters as 0.
#pragma once

#include "base/types.h"

enum hash_field {
	HASH_IN_PORT,
	HASH_DST_MAC,
	HASH_SRC_MAC,
	HASH_ETHERTYPE,
	HASH_VLAN_ID,
	HASH_IP_PROTOCOL,
	HASH_DST_IP,
	HASH_SRC_IP,
	HASH_L4_DST_PORT,
	HASH_L4_SRC_PORT,
	HASH_IPV6_FLOW_LABEL,
	HASH_BTH_OPCODE,
	HASH_BTH_DEST_QP,
	HASH_INNER_DST_IP,
	HASH_INNER_SRC_IP,
	HASH_INNER_IP_PROTOCOL,
	HASH_INNER_L4_DST_PORT,
	HASH_INNER_L4_SRC_PORT,
	HASH_FIELD_COUNT,
};

// SAI's names, without the prefix: "SRC_IP", "RDMA_BTH_DEST_QP" and so on.
extern const char *const hash_field_names[HASH_FIELD_COUNT];

// Only what meets the balance tolerance (25 % of a fair share) is offered.
enum hash_algorithm {
	HASH_MIX, // multiply and fold, 64 bits; the default
	HASH_CRC, // CRC-32C of the fields in order
	HASH_ALGORITHM_COUNT,
};
extern const char *const hash_algorithm_names[HASH_ALGORITHM_COUNT];

struct hash_profile {
	uint32_t fields; // bit 1 << enum hash_field
	uint32_t seed;
	uint8_t rotation; // bits the result is rotated to the left, 0..31
	uint8_t algorithm;
	// Both directions of a flow hash alike: ends (address and port, and MACs) enter sorted, and
	// what differs between the directions does not enter: destination QP, BTH opcode, flow
	// label and ingress port.
	bool symmetric;
};

// 5-tuple, BTH destination QP and the inner 5-tuple. Not the flow label: hosts change it within a
// flow to be sent another way, and RC transport takes the reordering for loss.
#define HASH_FIELDS_DEFAULT                                                                        \
	(1u << HASH_IP_PROTOCOL | 1u << HASH_DST_IP | 1u << HASH_SRC_IP | 1u << HASH_L4_DST_PORT | \
	 1u << HASH_L4_SRC_PORT | 1u << HASH_BTH_DEST_QP | 1u << HASH_INNER_DST_IP |               \
	 1u << HASH_INNER_SRC_IP | 1u << HASH_INNER_IP_PROTOCOL | 1u << HASH_INNER_L4_DST_PORT |   \
	 1u << HASH_INNER_L4_SRC_PORT)

// The fields of one packet, in host order; IPv4 addresses stand in the first word, the other is 0.
// The caller zeroes what a packet does not have.
struct hash_key {
	uint64_t src_ip[2];
	uint64_t dst_ip[2];
	uint64_t inner_src_ip[2];
	uint64_t inner_dst_ip[2];
	uint64_t src_mac;
	uint64_t dst_mac;
	uint32_t flow_label;
	uint32_t dst_qp;
	uint16_t in_port;
	uint16_t ethertype;
	uint16_t vid;
	uint16_t src_port;
	uint16_t dst_port;
	uint16_t inner_src_port;
	uint16_t inner_dst_port;
	uint8_t protocol;
	uint8_t inner_protocol;
	uint8_t opcode;
	bool has_inner;
};

// 32 bits, evenly spread: a share of n is taken as hash x n >> 32.
uint32_t hash_packet(const struct hash_profile *pf, const struct hash_key *key);
