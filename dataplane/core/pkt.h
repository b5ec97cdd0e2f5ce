// SPDX-License-Identifier: BSD-3-Clause
//
// A packet as the core sees it: one cache line beside the frame, in the mbuf's private area under
// DPDK. The shell fills data, len, head_len and descriptors; each stage writes its own fields and
// every later stage only reads them.
#pragma once

#include "base/types.h"

enum pkt_l3 {
	PKT_L3_OTHER,
	PKT_L3_IPV4,
	PKT_L3_IPV6,
	PKT_L3_ARP,
	PKT_L3_ROCE_V1,     // EtherType 0x8915: GRH and BTH
	PKT_L3_LLDP,        // to the nearest bridge; to other addresses it is data
	PKT_L3_MAC_CONTROL, // these end in the switch before admission
	PKT_L3_HELLO,       // hello.h
	PKT_L3_SLOW,        // Slow Protocols: LACP
};

enum pkt_l4 {
	PKT_L4_OTHER,
	PKT_L4_TCP,
	PKT_L4_UDP,
	PKT_L4_BTH,      // RoCEv2 (UDP 4791) or RoCEv1: opcode and dst_qp are set
	PKT_L4_ND,       // ICMPv6 neighbour solicitation or advertisement
	PKT_L4_FRAGMENT, // not the first fragment: no ports
};

enum pkt_flag {
	PKT_TAGGED = 1 << 0,   // parse: at least one VLAN tag (8021Q or 802.1ad), or a priority tag
	PKT_GROUP = 1 << 1,    // parse: group destination address
	PKT_CNP = 1 << 2,      // parse: BTH opcode 0x81
	PKT_LOSSLESS = 1 << 3, // admit: charged to a lossless priority group
	PKT_CHARGED = 1 << 4,  // admit: must be uncharged on the way out
	PKT_COPY = 1 << 5,     // sw_copy: a flooded copy, or a frame the shell injected
	PKT_ROUTED = 1 << 6,   // route: sent to the router's address
	PKT_MARKED = 1 << 7,   // enqueue or depart: got CE here
};

struct pkt {
	struct pkt *next;    // owner's list: queue, hold list
	uint8_t *data;       // shell; depart moves it when a tag is pushed or popped
	ns_t at;             // enqueue: when it joined its queue or the hold list
	uint32_t len;        // shell: frame bytes without FCS; depart: as sent
	uint32_t charge;     // admit: bytes in whole cells
	uint32_t dst_qp;     // parse: BTH destination QP, 24 bits
	uint16_t head_len;   // shell: readable bytes at data (first segment), <= len
	uint16_t l4_offset;  // parse: of the transport header; of BTH when PKT_L4_BTH
	port_t in_port;      // rx
	port_t out_port;     // route
	uint16_t vid;        // route: VLAN the bridge works in
	uint16_t tci;        // parse: outer tag as received
	uint8_t l3_offset;   // parse: behind Ethernet and tags; of the GRH for RoCEv1
	uint8_t l3;          // parse: enum pkt_l3
	uint8_t l4;          // parse: enum pkt_l4
	uint8_t tos;         // parse: IPv4 TOS, IPv6 or GRH traffic class
	uint8_t opcode;      // parse: BTH opcode
	uint8_t descriptors; // shell: mbuf segments, >= 1
	tc_t tc;             // classify
	pg_t pg;             // classify
	queue_t queue;       // forward: by the egress port's map
	uint8_t flags;       // enum pkt_flag
	uint8_t lane;        // parse: 0; lane_parse: of arrival; route: of departure
	uint8_t reason;      // give_back: enum drop_reason, DROP_NONE if consumed
};

static_assert(sizeof(struct pkt) == 64, "a packet's metadata is one cache line");

static inline uint8_t pkt_dscp(const struct pkt *p)
{
	return p->tos >> 2;
}

static inline uint8_t pkt_ecn(const struct pkt *p)
{
	return p->tos & 3;
}

static inline uint8_t pkt_pcp(const struct pkt *p)
{
	return (uint8_t)(p->tci >> 13);
}
