// SPDX-License-Identifier: BSD-3-Clause
//
// The rule about drops: which reasons grow at the port, what each means (schema/drops.def) and what
// to change. A reason without advice here is still named with its meaning.

#include "cli/why_rule.h"

#include <string.h>

static const struct {
	const char *name;
	const char *doc;
} reasons[] = {
#define DROP(name, side, doc) { #name, doc },
#include "schema/drops.def"
#undef DROP
};

// Frames that are meant to be refused say something about their sender, not about the switch.
static const struct {
	const char *name;
	enum why_severity severity;
	const char *advice;
} advices[] = {
	{ "PARSE_TRUNCATED", WHY_WARNING, "a sender makes broken frames: capture them" },
	{ "PARSE_LENGTH", WHY_WARNING, "a sender makes broken frames: capture them" },
	{ "PARSE_HEADER", WHY_WARNING, "a sender makes broken frames: capture them" },
	{ "PARSE_TAGS", WHY_WRONG, "send at most two VLAN tags" },
	{ "FRAME_OVERSIZE", WHY_WRONG,
	  "raise mtu of this port to the sender's, or lower it there" },
	{ "PFC_MALFORMED", WHY_WARNING, "the peer makes broken MAC control frames" },
	{ "SRC_MAC_INVALID", WHY_WARNING, "a sender uses a source address that cannot be one" },
	{ "RESERVED_MAC", WHY_NOTE, "link-local protocols end here, as in every bridge" },
	{ "LLDP_POLICED", WHY_WARNING, "find who floods LLDP: weft show lldp neighbors" },
	{ "LACP_MALFORMED", WHY_WARNING, "the peer makes broken LACPDUs" },
	{ "LAG_NOT_COLLECTING", WHY_WRONG, "weft show lag: both ends must agree on the LAG" },
	{ "VLAN_NOT_MEMBER", WHY_WRONG,
	  "add the port to the VLAN of these frames: weft show vlan" },
	{ "SOURCE_GUARD", WHY_WRONG, "add a binding for this host, or turn source_guard off" },
	{ "ACL_DENY", WHY_WRONG, "a row of the access list is named below; weft show acl" },
	{ "ACL_POLICED", WHY_WRONG, "raise rate of the row named below; weft show acl" },
	{ "PG_LOSSY_FULL", WHY_WRONG,
	  "the group's limit is too low for the burst, or an egress queue does not drain: raise "
	  "dynamic_th of its buffer_profile" },
	{ "PG_LOSSLESS_FULL", WHY_WRONG,
	  "headroom is too small, or the sender does not obey PFC: weft show interface headroom, "
	  "and pfc_enable at the sender" },
	{ "DESCRIPTORS", WHY_WRONG, "raise descriptors" },
	{ "FLOOD_POLICED", WHY_WRONG, "raise flood_rate of the port, or find who floods" },
	{ "FLOOD_NOWHERE", WHY_NOTE, "no other port of the VLAN is up" },
	{ "COPY_NO_BUFFER", WHY_WARNING, "raise descriptors" },
	{ "SAME_PORT", WHY_WARNING, "the hosts reach each other before the switch; nothing to do" },
	{ "UNKNOWN_LOSSLESS", WHY_WRONG,
	  "the destination does not answer ARP or neighbour discovery: weft show mac, weft show "
	  "arp" },
	{ "PFC_WD_RX", WHY_WRONG, "see the stormed queue: who pauses it without end?" },
	{ "NO_ROUTE", WHY_WRONG, "add a route or a host row: weft show route ADDRESS" },
	{ "BLACK_HOLE", WHY_WRONG, "a route to \"drop\" takes it: weft show route ADDRESS" },
	{ "GROUP_DEAD", WHY_WRONG, "no next hop is usable: weft show group" },
	{ "UNKNOWN_NEIGHBOR", WHY_WRONG, "the next hop does not answer: weft show arp" },
	{ "EXCEEDS_L3_MTU", WHY_WRONG,
	  "raise mtu of the port it is routed to, or let senders heed the ICMP that they get" },
	{ "TTL_EXPIRED", WHY_WRONG, "a routing loop, or a sender with a small TTL" },
	{ "NOT_ROUTABLE", WHY_WARNING, "only IP is routed" },
	{ "NOT_FLOODED", WHY_NOTE, "managed forwarding floods nothing" },
	{ "TURN_DENIED", WHY_WRONG, "the turn map forbids this way: weft show turns" },
	{ "LANE_TAG", WHY_WRONG, "set lane_tag at the other end" },
	{ "HELLO_MALFORMED", WHY_WARNING, "the peer speaks another version of hellos" },
	{ "LANE_MISMATCH", WHY_WRONG, "weft show fabric links: ends differ in lanes or PFC" },
	{ "EGRESS_MISMATCH", WHY_WRONG, "weft show fabric links: ends differ in lanes or PFC" },
	{ "EGRESS_DOWN", WHY_WRONG,
	  "frames are sent to a port that is down: its link, or a route" },
	{ "EGRESS_MTU", WHY_WRONG, "raise mtu of this port, or lower it at the senders" },
	{ "QUEUE_FULL", WHY_WRONG,
	  "the queue's limit is too low for the burst, or the line is too slow: weft show queue "
	  "watermark" },
	{ "QUEUE_WRED", WHY_WARNING,
	  "senders without ECN are dropped as configured: weft show ecn" },
	{ "LINK_FLUSH", WHY_WRONG, "the link went down" },
	{ "TX_REFUSED", WHY_WRONG, "the device refuses these frames: their size, or its state" },
	{ "PFC_WD_TX", WHY_WRONG, "see the stormed queue: who pauses it without end?" },
};

static const char *meaning(const char *reason)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (strcmp(reasons[i].name, reason) == 0)
			return reasons[i].doc;
	}
	return "a reason that this command does not know";
}

static const char *advice_for(const char *reason, enum why_severity *severity)
{
	*severity = WHY_WARNING;
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (strcmp(advices[i].name, reason) != 0)
			continue;
		*severity = advices[i].severity;
		return advices[i].advice;
	}
	return "";
}

void why_drops(struct why *why)
{
	json_t *now = json_object_get(why->port, "drops");
	const json_t *then = json_object_get(why->port_before, "drops");
	const char *reason;
	json_t *count;

	if (why->elapsed_ns == 0)
		return;
	json_object_foreach(now, reason, count) {
		const uint64_t before = why_number(then, reason);
		const uint64_t after = why_number(now, reason);
		enum why_severity severity;
		struct why_finding *finding;
		const char *advice = advice_for(reason, &severity);

		if (after <= before)
			continue;
		finding = why_add(why, severity, "drops %s frames/s, %s: %s",
				  why_count(why_rate(why, after - before)), reason,
				  meaning(reason));
		json_object_set_new(finding->evidence, "reason", json_string(reason));
		why_evidence(finding, "packets", after - before);
		why_advise(finding, "%s", advice);
	}
}
