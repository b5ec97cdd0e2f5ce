// SPDX-License-Identifier: BSD-3-Clause
//
// What holds for every packet that parse() lets pass, whatever the bytes: offsets lie in head_len,
// the headers that l3 and l4 promise are readable, and every field agrees with the bytes it was
// read from. Shared by the unit tests and the fuzz target.
#pragma once

#include "base/bytes.h"
#include "dataplane/core/stage.h"

// Returns the rule that is broken, NULL when all hold. `p` is a packet that parse() passed.
static inline const char *parse_broken_rule(const struct pkt *p)
{
	static const uint8_t l3_bytes[] = {
		[PKT_L3_OTHER] = 0, [PKT_L3_IPV4] = 20,    [PKT_L3_IPV6] = 40,
		[PKT_L3_ARP] = 28,  [PKT_L3_ROCE_V1] = 40, [PKT_L3_MAC_CONTROL] = 0,
		[PKT_L3_LLDP] = 0,  [PKT_L3_HELLO] = 0,    [PKT_L3_SLOW] = 0,
	};
	static const uint8_t l4_bytes[] = {
		[PKT_L4_OTHER] = 0, [PKT_L4_TCP] = 20, [PKT_L4_UDP] = 8,
		[PKT_L4_BTH] = 12,  [PKT_L4_ND] = 24,  [PKT_L4_FRAGMENT] = 0,
	};
	const uint8_t *l3 = p->data + p->l3_offset;
	const uint8_t *l4 = p->data + p->l4_offset;
	const uint32_t l3_room = (uint32_t)p->len - p->l3_offset;
	const bool tagged = (p->flags & PKT_TAGGED) != 0;
	const bool bth = p->l4 == PKT_L4_BTH;
	const bool ip = p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6;

	if (p->l3_offset != 14 && p->l3_offset != 18 && p->l3_offset != 22)
		return "l3_offset is behind Ethernet and at most two tags";
	if (p->l4_offset < p->l3_offset || p->l4_offset > p->head_len)
		return "l4_offset lies behind l3_offset, in head_len";
	if (p->l3 > PKT_L3_SLOW || p->l3_offset + l3_bytes[p->l3] > p->head_len)
		return "the L3 header is readable";
	if (p->l4 > PKT_L4_FRAGMENT || p->l4_offset + l4_bytes[p->l4] > p->head_len)
		return "the L4 header is readable";
	if (p->flags & ~(PKT_TAGGED | PKT_GROUP | PKT_CNP))
		return "flags of other stages are clear";
	if (tagged != (p->l3_offset > 14) || p->tci != (tagged ? load_be16(p->data + 14) : 0))
		return "the tag is the outer one";
	if (((p->flags & PKT_GROUP) != 0) != (p->data[0] & 1))
		return "PKT_GROUP is the group bit";
	if (((p->flags & PKT_CNP) != 0) != (bth && p->opcode == 0x81))
		return "PKT_CNP is BTH opcode 0x81";
	if (p->opcode != (bth ? l4[0] : 0) || p->dst_qp != (bth ? load_be24(l4 + 5) : 0))
		return "opcode and dst_qp are those of the BTH";
	if (bth && !ip && p->l3 != PKT_L3_ROCE_V1)
		return "a BTH is in IP or behind a GRH";
	if (p->l4 != PKT_L4_OTHER && !bth && !ip)
		return "L4 is in IP";
	if (p->l4 == PKT_L4_ND && p->l3 != PKT_L3_IPV6)
		return "ND is IPv6";
	if (p->l3 == PKT_L3_IPV4)
		return p->tos == l3[1] && load_be16(l3 + 2) <= l3_room ? NULL : "IPv4 header";
	if (p->l3 == PKT_L3_IPV6 || p->l3 == PKT_L3_ROCE_V1)
		return p->tos == (uint8_t)(load_be16(l3) >> 4) &&
				       40u + load_be16(l3 + 4) <= l3_room ?
			       NULL :
			       "IPv6 header";
	return p->tos == 0 && p->l4_offset == p->l3_offset ? NULL : "no L3 is without L4 and TOS";
}
