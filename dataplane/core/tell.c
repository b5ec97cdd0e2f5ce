// SPDX-License-Identifier: BSD-3-Clause
//
// Beside drop(): the sender of a packet that was to be routed may be told why it was not (RFC 1812
// 4.3.3, RFC 4443 3). The packet itself is dropped and counted like any other; the shell copies
// its head for the control thread before it is freed, so nothing here holds a charge.
//
// A flood of such packets costs the control thread no more than icmp_rate copies a second and
// lcore; the bucket is also what bounds the actions of one call.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

enum { DONT_FRAGMENT = 0x40 };

// What a policy dropped (a route that says drop, a turn) is no business of its sender.
static bool is_told(const struct pkt *p, enum drop_reason reason)
{
	if (reason == DROP_EXCEEDS_L3_MTU && p->l3 == PKT_L3_IPV4)
		return (p->data[p->l3_offset + 6] & DONT_FRAGMENT) != 0;
	return reason == DROP_NO_ROUTE || reason == DROP_GROUP_DEAD || reason == DROP_TTL_EXPIRED ||
	       reason == DROP_EXCEEDS_L3_MTU || reason == DROP_UNKNOWN_NEIGHBOR ||
	       reason == DROP_UNKNOWN_LOSSLESS;
}

void tell_sender(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason, ns_t now)
{
	struct sw_action *action;

	if (lc->pf->tell.bps == 0 || !is_told(p, reason))
		return;
	if (!pacer_ready(&lc->tell, now)) {
		lc->stats.icmp_policed++;
		return;
	}
	pacer_charge(&lc->pf->tell, &lc->tell, 1, now);
	action = action_add(lc, SW_ACTION_TELL, p);
	action->port = p->in_port;
	action->vid = frame_vid(port_profile_of(lc, p->in_port), p);
	action->reason = reason;
	if (reason == DROP_EXCEEDS_L3_MTU)
		action->mtu = port_profile_of(lc, p->out_port)->max_frame_bytes - ETHERNET_BYTES;
}
