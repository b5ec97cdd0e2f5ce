// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of the wire that several parts of the switch must agree on. What one file alone needs
// stands in that file.
#pragma once

// The nearest bridge (IEEE 802.1Q table 8-1): no bridge forwards it. LLDP and hellos go there.
#define NEAREST_BRIDGE_ADDRESS 0x0180c200000eu

enum {
	LLDP_ETHERTYPE = 0x88cc, // IEEE 802.1AB 7.3
	ROCE_UDP_PORT = 4791,    // RoCEv2 (InfiniBand Architecture annex A17)
};

// IANA address family numbers.
enum { ADDRESS_FAMILY_IPV4 = 1, ADDRESS_FAMILY_IPV6 = 2 };
