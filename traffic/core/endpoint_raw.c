// SPDX-License-Identifier: BSD-3-Clause
//
// Frames that an endpoint sends as they are given to it, one at a time, beside what is its own.
// They take their place on the line and obey PFC like all others.
//
// Their priority is that of their VLAN tag, and without one that of their DSCP.

#include "traffic/core/endpoint_state.h"

#include "base/bytes.h"

enum {
	ETHERTYPE_AT = 12,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_SERVICE = 0x88a8,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
};

static uint8_t prio_of(const struct endpoint_state *st, const uint8_t *frame, uint32_t len)
{
	const uint16_t type = frame_has(len, ETHERTYPE_AT, 4) ? load_be16(frame + ETHERTYPE_AT) : 0;

	switch (type) {
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE: return frame[ETHERTYPE_AT + 2] >> 5;
	case ETHERTYPE_IPV4: return st->rules.dscp_to_prio[frame[ETHERTYPE_AT + 3] >> 2];
	case ETHERTYPE_IPV6:
		// Version in four bits, class in the next eight.
		return st->rules.dscp_to_prio[load_be16(frame + ETHERTYPE_AT + 2) >> 6 & 63];
	}
	return 0;
}

bool endpoint_offer(struct endpoint_state *st, const uint8_t *frame, uint32_t len)
{
	if (st->raw_bytes != 0 || len == 0 || len > ROCE_FRAME_MAX)
		return false;
	st->raw = frame;
	st->raw_bytes = len;
	st->raw_prio = prio_of(st, frame, len);
	return true;
}

bool endpoint_offers(const struct endpoint_state *st)
{
	return st->raw_bytes != 0;
}

uint32_t endpoint_raw_tx(struct endpoint_state *st, ns_t now, uint8_t *out)
{
	const uint32_t len = st->raw_bytes;

	if (len == 0 || pfc_rx_paused(&st->pause, now) >> st->raw_prio & 1)
		return 0;
	memcpy(out, st->raw, len);
	st->raw_bytes = 0;
	st->stats.tx_raw++;
	return len;
}
