// SPDX-License-Identifier: BSD-3-Clause
//
// Who takes a frame that a RoCE host and its kernel could both take: each kind of frame, cut at any
// length as well.

#include <stdlib.h>

#include "tests/table.h"
#include "traffic/core/share.h"

#define MACS 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2

struct share_row {
	const char *what;
	enum share share;
	bool may_leave;
	uint8_t frame[64];
};

// IPv4: version and length, TOS, length, id, fragment, TTL, protocol, checksum, addresses.
#define IPV4(fragment, protocol)                                                                   \
	0x08, 0x00, 0x45, 0, 0, 46, 0, 0, (fragment) >> 8, (fragment)&255, 64, protocol, 0, 0, 10, \
		0, 0, 2, 10, 0, 0, 1
#define OPTIONS_UDP                                                                                \
	0x08, 0x00, 0x46, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 1, 1, 1, 0
#define PORTS(port) 0xc0, 0, (port) >> 8, (port)&255

static const struct share_row rows[] = {
	{ "RoCEv2", SHARE_ENDPOINT, false, { MACS, IPV4(0x4000, 17), PORTS(4791) } },
	{ "RoCEv2 behind options", SHARE_ENDPOINT, false, { MACS, OPTIONS_UDP, PORTS(4791) } },
	{ "another port", SHARE_KERNEL, true, { MACS, IPV4(0x4000, 17), PORTS(4790) } },
	{ "a first fragment", SHARE_ENDPOINT, false, { MACS, IPV4(0x2000, 17), PORTS(4791) } },
	{ "a later fragment", SHARE_KERNEL, true, { MACS, IPV4(0x2001, 17), PORTS(4791) } },
	{ "TCP", SHARE_KERNEL, true, { MACS, IPV4(0x4000, 6), PORTS(4791) } },
	{ "ICMP", SHARE_KERNEL, true, { MACS, IPV4(0, 1), 8 } },
	{ "an ARP question", SHARE_BOTH, true, { MACS, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1 } },
	{ "an ARP answer", SHARE_BOTH, false, { MACS, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2 } },
	{ "PFC", SHARE_ENDPOINT, false, { MACS, 0x88, 0x08, 1, 1 } },
	{ "IPv6", SHARE_ENDPOINT, false, { MACS, 0x86, 0xdd, 0x60 } },
	{ "a tagged frame", SHARE_ENDPOINT, false, { MACS, 0x81, 0, 0, 100, 8, 0 } },
};

TABLE_TEST(traffic_share, frames, row, rows)
{
	cr_assert_eq(share_received(row->frame, sizeof(row->frame)), row->share, "%s", row->what);
	cr_assert_eq(share_may_leave(row->frame, sizeof(row->frame)), row->may_leave, "%s",
		     row->what);
}

// What is too short to tell is nobody else's, and never read behind its end.
TABLE_TEST(traffic_share, cut_frames, row, rows)
{
	for (uint32_t len = 0; len < sizeof(row->frame); len++) {
		uint8_t *cut = malloc(len == 0 ? 1 : len);
		enum share share;

		memcpy(cut, row->frame, len);
		share = share_received(cut, len);
		if (len < 14) {
			cr_assert_eq(share, SHARE_ENDPOINT, "%s cut at %u", row->what, len);
			cr_assert_not(share_may_leave(cut, len));
		} else if (row->share != SHARE_ENDPOINT) {
			cr_assert_eq(share, row->share, "%s cut at %u", row->what, len);
		}
		free(cut);
	}
}
