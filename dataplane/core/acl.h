// SPDX-License-Identifier: BSD-3-Clause
//
// The access control list of a switch: rows as the packet path reads them, and what each has seen.
// Fields and actions have SAI's names (saiacl.h).
//
// Rows are tried in the order of the configuration. The first whose fields all meet the packet
// decides, except that `count` counts and lets the next row try. What no row decides is permitted.
// A field that the packet does not have (ports of a later fragment) meets no row that asks for it.
//
// Addresses are those of IPv4 and IPv6 headers, of a GRH (RoCEv1; an IPv4-mapped pair of GIDs
// counts as IPv4), and of ARP: sender and target. Neighbour discovery to a group counts as sent to
// its target, so that rows about hosts cover how they find each other.
#pragma once

#include "base/pacer.h"
#include "dataplane/core/acl_index.h"
#include "schema/config.h"

enum acl_action { ACL_PERMIT, ACL_DENY, ACL_COUNT, ACL_REMARK, ACL_POLICE };
enum acl_exceed { ACL_EXCEED_DENY, ACL_EXCEED_REMARK };

enum { ACL_KEEP = 0xff }; // of set_dscp and set_tc: leaves it alone

struct acl_mac_mask {
	uint64_t value;
	uint64_t mask; // 0: any
};

struct acl_row {
	char name[CONFIG_NAME_BYTES];
	uint8_t action;   // enum acl_action
	uint8_t exceed;   // enum acl_exceed: what becomes of a packet over the rate
	uint8_t set_dscp; // by remark
	uint8_t set_tc;   // by remark; a CNP keeps its class
	bool masked;      // a MAC mask is left to test after the index: it is no prefix
	struct acl_mac_mask src_mac;
	struct acl_mac_mask dst_mac;
	struct pacer_profile rate; // police: bytes of frames without FCS, the share of one lcore
};
