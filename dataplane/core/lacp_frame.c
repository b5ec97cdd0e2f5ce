// SPDX-License-Identifier: BSD-3-Clause
//
// The LACPDU on the wire: IEEE 802.1AX 6.4.2, a Slow Protocols frame (annex A).
//
//   destination 01:80:c2:00:00:02, source, EtherType 0x8809, subtype 1, version 1,
//   actor TLV (type 1, 20 bytes), partner TLV (2, 20), collector TLV (3, 16), terminator (0, 0),
//   50 bytes reserved
//
// Both ends: system priority (2), system (6), key (2), port priority (2), port (2), state (1),
// three reserved bytes.

#include "dataplane/core/lacp.h"

#include <string.h>

#include "base/bytes.h"

enum {
	L2_BYTES = 14,
	VERSION = 1,
	TLV_ACTOR = 1,
	TLV_PARTNER = 2,
	TLV_COLLECTOR = 3,
	END_BYTES = 20,
	COLLECTOR_BYTES = 16,
	ACTOR_AT = 2, // from the subtype on
	PARTNER_AT = ACTOR_AT + END_BYTES,
	COLLECTOR_AT = PARTNER_AT + END_BYTES,
};

static void put_end(uint8_t *tlv, uint8_t type, const struct lacp_info *info)
{
	tlv[0] = type;
	tlv[1] = END_BYTES;
	store_be16(tlv + 2, info->system_priority);
	store_be48(tlv + 4, info->system);
	store_be16(tlv + 10, info->key);
	store_be16(tlv + 12, info->port_priority);
	store_be16(tlv + 14, info->port);
	tlv[16] = info->state;
}

static struct lacp_info get_end(const uint8_t *tlv)
{
	return (struct lacp_info){
		.system_priority = load_be16(tlv + 2),
		.system = load_be48(tlv + 4),
		.key = load_be16(tlv + 10),
		.port_priority = load_be16(tlv + 12),
		.port = load_be16(tlv + 14),
		.state = tlv[16],
	};
}

void lacp_pdu_encode(const struct lacp_pdu *pdu, const uint8_t src[6],
		     uint8_t out[LACP_FRAME_BYTES])
{
	uint8_t *body = out + L2_BYTES;

	memset(out, 0, LACP_FRAME_BYTES);
	store_be48(out, LACP_ADDRESS);
	memcpy(out + 6, src, 6);
	store_be16(out + 12, LACP_ETHERTYPE);
	body[0] = LACP_SUBTYPE;
	body[1] = VERSION;
	put_end(body + ACTOR_AT, TLV_ACTOR, &pdu->actor);
	put_end(body + PARTNER_AT, TLV_PARTNER, &pdu->partner);
	body[COLLECTOR_AT] = TLV_COLLECTOR; // its maximum delay is 0
	body[COLLECTOR_AT + 1] = COLLECTOR_BYTES;
}

static bool is_end(const uint8_t *tlv, uint8_t type)
{
	return tlv[0] == type && tlv[1] == END_BYTES;
}

enum lacp_verdict lacp_pdu_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t l2_len,
				  struct lacp_pdu *out)
{
	const uint8_t *body = frame_bytes + l2_len;

	if (!frame_has(len, l2_len, 2))
		return LACP_FRAME_MALFORMED;
	if (body[0] != LACP_SUBTYPE)
		return LACP_FRAME_OTHER;
	if (!frame_has(len, l2_len, COLLECTOR_AT) || body[1] < VERSION ||
	    !is_end(body + ACTOR_AT, TLV_ACTOR) || !is_end(body + PARTNER_AT, TLV_PARTNER))
		return LACP_FRAME_MALFORMED;
	out->actor = get_end(body + ACTOR_AT);
	out->partner = get_end(body + PARTNER_AT);
	return LACP_FRAME_PDU;
}
