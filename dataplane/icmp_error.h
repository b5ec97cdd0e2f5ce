// SPDX-License-Identifier: BSD-3-Clause
//
// Tells the sender of a packet that was not forwarded why: ICMP (RFC 792, RFC 1812 4.3.2) and
// ICMPv6 (RFC 4443) errors as bytes. Values in, values out; who is asked for one is the core's
// business (dataplane/core/tell.c), how many are sent that of icmp_limit.h.
//
// An error is never sent about an error, a group or broadcast, a fragment that is not the first, or
// to a source that is not one host (RFC 1812 4.3.2.7, RFC 4443 2.4 e).
#pragma once

#include "base/types.h"

enum icmp_cause {
	ICMP_NO_HOPS,     // its time is over
	ICMP_NO_ROUTE,    // nowhere to go
	ICMP_NO_NEIGHBOR, // the host does not answer
	ICMP_TOO_BIG,     // longer than the MTU of its next link; IPv4: and must not be fragmented
};

enum {
	ICMP_ERROR_HEAD_MAX = 14 + 40 + 8,
	// What may be needed of a frame: an IPv6 error has 1280 bytes in all.
	ICMP_ERROR_FRAME_MAX = 1280 - 48 + 22,
};

// A packet that was dropped, as it was received: `len` bytes are readable.
struct icmp_subject {
	const uint8_t *frame;
	uint32_t len;
	uint32_t l3_offset;
	bool ipv6;
	enum icmp_cause cause;
	uint32_t mtu; // of ICMP_TOO_BIG: that of the next link
};

// A frame: `head`, and behind it `quote_bytes` of the subject from its IP header on.
struct icmp_error {
	uint8_t head[ICMP_ERROR_HEAD_MAX];
	uint32_t head_bytes;
	uint32_t quote_bytes;
};

// False when there may be none. `own_address` (4 or 16 bytes) is where it comes from; it goes to
// the host, or router, that sent the frame.
bool icmp_error_make(const struct icmp_subject *subject, uint64_t own_mac,
		     const uint8_t *own_address, struct icmp_error *out);
