// SPDX-License-Identifier: BSD-3-Clause
//
// Ethertype, protocol and port. A fragment that does not tell its port is the kernel's: RoCEv2 is
// never fragmented.

#include "traffic/core/share.h"

enum {
	ETHERTYPE_AT = 12,
	IP_AT = 14,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ARP_REQUEST = 1,
	UDP = 17,
	ROCE_PORT = 4791,
	FRAGMENT_OFFSET = 0x1fff,
};

static bool is_roce(const uint8_t *frame, uint32_t len)
{
	uint32_t udp;

	if (!frame_has(len, IP_AT, 20) || frame[IP_AT + 9] != UDP ||
	    (load_be16(frame + IP_AT + 6) & FRAGMENT_OFFSET) != 0)
		return false;
	udp = IP_AT + (uint32_t)(frame[IP_AT] & 15) * 4;
	return frame_has(len, udp, 4) && load_be16(frame + udp + 2) == ROCE_PORT;
}

enum share share_received(const uint8_t *frame, uint32_t len)
{
	if (!frame_has(len, ETHERTYPE_AT, 2))
		return SHARE_ENDPOINT;
	switch (load_be16(frame + ETHERTYPE_AT)) {
	case ETHERTYPE_ARP: return SHARE_BOTH;
	case ETHERTYPE_IPV4: return is_roce(frame, len) ? SHARE_ENDPOINT : SHARE_KERNEL;
	}
	return SHARE_ENDPOINT;
}

bool share_may_leave(const uint8_t *frame, uint32_t len)
{
	if (!frame_has(len, ETHERTYPE_AT, 2))
		return false;
	switch (load_be16(frame + ETHERTYPE_AT)) {
	case ETHERTYPE_ARP:
		return frame_has(len, IP_AT, 8) && load_be16(frame + IP_AT + 6) == ARP_REQUEST;
	case ETHERTYPE_IPV4: return !is_roce(frame, len);
	}
	return false;
}
