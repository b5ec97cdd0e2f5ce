// SPDX-License-Identifier: BSD-3-Clause
//
// The rule about drops: which reasons grow at the port, what each means (schema/drops.def) and what
// to change. Of a queue, only what is lost on its way out counts.

#include "cli/why_rule.h"

#include <string.h>

#include "cli/keys.h"
#include "cli/reasons.h"

// Frames that are meant to be refused say something about their sender, not about the switch.
static const struct {
	enum why_severity severity;
	const char *advice;
} advices[REASON_COUNT] = {
	[REASON_PARSE_TRUNCATED] = { WHY_WARNING, "a sender makes broken frames: capture them" },
	[REASON_PARSE_LENGTH] = { WHY_WARNING, "a sender makes broken frames: capture them" },
	[REASON_PARSE_HEADER] = { WHY_WARNING, "a sender makes broken frames: capture them" },
	[REASON_PARSE_TAGS] = { WHY_WRONG, "send at most two VLAN tags" },
	[REASON_FRAME_OVERSIZE] = { WHY_WRONG,
				    "raise mtu of this port to the sender's, or lower it there" },
	[REASON_PFC_MALFORMED] = { WHY_WARNING, "the peer makes broken MAC control frames" },
	[REASON_SRC_MAC_INVALID] = { WHY_WARNING,
				     "a sender uses a source address that cannot be one" },
	[REASON_RESERVED_MAC] = { WHY_NOTE, "link-local protocols end here, as in every bridge" },
	[REASON_LLDP_POLICED] = { WHY_WARNING, "find who floods LLDP: weft show lldp neighbors" },
	[REASON_LACP_MALFORMED] = { WHY_WARNING, "the peer makes broken LACPDUs" },
	[REASON_LAG_NOT_COLLECTING] = { WHY_WRONG,
					"weft show lag: both ends must agree on the LAG" },
	[REASON_VLAN_NOT_MEMBER] = { WHY_WRONG,
				     "add the port to the VLAN of these frames: weft show vlan" },
	[REASON_SOURCE_GUARD] = { WHY_WRONG,
				  "add a binding for this host, or turn source_guard off" },
	[REASON_ACL_DENY] = { WHY_WRONG, "a row of the access list is named below; weft show acl" },
	[REASON_ACL_POLICED] = { WHY_WRONG, "raise rate of the row named below; weft show acl" },
	[REASON_PG_LOSSY_FULL] = { WHY_WRONG, "the group's limit is too low for the burst, or an "
					      "egress queue does not drain: raise "
					      "dynamic_th of its buffer_profile" },
	[REASON_CNP_PG_FULL] = { WHY_WRONG, "more CNPs than cnp_rate lets out: raise it, or find "
					    "who sends them: weft show roce" },
	[REASON_PG_LOSSLESS_FULL] = { WHY_WRONG, "headroom is too small, or the sender does not "
						 "obey PFC: weft show interface headroom, "
						 "and pfc_enable at the sender" },
	[REASON_DESCRIPTORS] = { WHY_WRONG, "raise descriptors" },
	[REASON_FLOOD_POLICED] = { WHY_WRONG, "raise flood_rate of the port, or find who floods" },
	[REASON_FLOOD_NOWHERE] = { WHY_NOTE, "no other port of the VLAN is up" },
	[REASON_COPY_NO_BUFFER] = { WHY_WARNING, "raise descriptors" },
	[REASON_SAME_PORT] = { WHY_WARNING,
			       "the hosts reach each other before the switch; nothing to do" },
	[REASON_UNKNOWN_LOSSLESS] = { WHY_WRONG, "the destination does not answer ARP or neighbour "
						 "discovery: weft show mac, weft show "
						 "arp" },
	[REASON_PFC_WD_RX] = { WHY_WRONG, "see the stormed queue: who pauses it without end?" },
	[REASON_NO_ROUTE] = { WHY_WRONG, "add a route or a host row: weft show route ADDRESS" },
	[REASON_BLACK_HOLE] = { WHY_WRONG,
				"a route to \"drop\" takes it: weft show route ADDRESS" },
	[REASON_GROUP_DEAD] = { WHY_WRONG, "no next hop is usable: weft show group" },
	[REASON_UNKNOWN_NEIGHBOR] = { WHY_WRONG, "the next hop does not answer: weft show arp" },
	[REASON_EXCEEDS_L3_MTU] = { WHY_WRONG, "raise mtu of the port it is routed to, or let "
					       "senders heed the ICMP that they get" },
	[REASON_TTL_EXPIRED] = { WHY_WRONG, "a routing loop, or a sender with a small TTL" },
	[REASON_NOT_ROUTABLE] = { WHY_WARNING, "only IP is routed" },
	[REASON_NOT_FLOODED] = { WHY_NOTE, "managed forwarding floods nothing" },
	[REASON_TURN_DENIED] = { WHY_WRONG, "the turn map forbids this way: weft show turns" },
	[REASON_LANE_TAG] = { WHY_WRONG, "set lane_tag at the other end" },
	[REASON_HELLO_MALFORMED] = { WHY_WARNING, "the peer speaks another version of hellos" },
	[REASON_LANE_MISMATCH] = { WHY_WRONG,
				   "weft show fabric links: ends differ in lanes or PFC" },
	[REASON_EGRESS_MISMATCH] = { WHY_WRONG,
				     "weft show fabric links: ends differ in lanes or PFC" },
	[REASON_EGRESS_DOWN] = { WHY_WRONG,
				 "frames are sent to a port that is down: its link, or a route" },
	[REASON_EGRESS_MTU] = { WHY_WRONG, "raise mtu of this port, or lower it at the senders" },
	[REASON_QUEUE_FULL] = { WHY_WRONG, "the queue's limit is too low for the burst, or "
					   "the line is too slow: weft show queue "
					   "watermark" },
	[REASON_CNP_QUEUE_FULL] = { WHY_WRONG, "more CNPs than cnp_rate lets out: raise it, or "
					       "find who sends them: weft show roce" },
	[REASON_QUEUE_WRED] = { WHY_WARNING,
				"senders without ECN are dropped as configured: weft show ecn" },
	[REASON_LINK_FLUSH] = { WHY_WRONG, "the link went down" },
	[REASON_TX_REFUSED] = { WHY_WRONG,
				"the device refuses these frames: their size, or its state" },
	[REASON_PFC_WD_TX] = { WHY_WRONG, "see the stormed queue: who pauses it without end?" },
};

// Reasons of what waits in queues, and what the queue lost for them.
static bool is_of_queues(enum reason_id id)
{
	return id == REASON_QUEUE_FULL || id == REASON_CNP_QUEUE_FULL || id == REASON_QUEUE_WRED ||
	       id == REASON_PFC_WD_TX;
}

static uint64_t lost_by_queue(const struct why *why, uint32_t queue)
{
	return why_grown(why, "queues", queue, queue_key.dropped_packets) +
	       why_grown(why, "queues", queue, queue_key.wred_dropped_packets) +
	       why_grown(why, "queues", queue, queue_key.pfc_wd_tx_dropped_packets);
}

// Whether drops for a reason may be of the queue that was asked about: not those of what the port
// receives, and those of queues only where this one lost something.
static bool concerns(const struct why *why, enum reason_id id)
{
	const int queue = why->scene->queue;

	if (queue == WHY_ANY_QUEUE || id == REASON_COUNT)
		return true;
	if (id == REASON_EGRESS_MISMATCH)
		return why_true(why_element(why->port, "queues", (uint32_t)queue), "lossless");
	return strcmp(reasons[id].side, "OUT") == 0 &&
	       (!is_of_queues(id) || lost_by_queue(why, (uint32_t)queue) > 0);
}

static void add_reason(struct why *why, const char *name, uint64_t packets)
{
	const enum reason_id id = reason_find(name);
	const bool known = id < REASON_COUNT;
	struct why_finding *finding;

	if (!concerns(why, id))
		return;
	finding = why_add(why, known ? advices[id].severity : WHY_WARNING,
			  "drops %s frames/s, %s: %s", why_count(why_rate(why, packets)), name,
			  known ? reasons[id].doc : "a reason that this command does not know");
	json_object_set_new(finding->evidence, "reason", json_string(name));
	why_evidence(finding, "packets", packets);
	if (known && advices[id].advice != NULL)
		why_advise(finding, "%s", advices[id].advice);
}

void why_drops(struct why *why)
{
	json_t *now = json_object_get(why->port, "drops");
	const json_t *then = json_object_get(why->port_before, "drops");
	const char *name;
	json_t *count;

	if (why->elapsed_ns == 0)
		return;
	json_object_foreach(now, name, count) {
		const uint64_t before = why_number(then, name);
		const uint64_t after = why_number(now, name);

		if (after > before)
			add_reason(why, name, after - before);
	}
}
