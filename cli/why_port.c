// SPDX-License-Identifier: BSD-3-Clause
//
// Rules about the port as a whole: whether it is in use at all, what its device and its peer do to
// it, and the pools and descriptors that it shares with the rest of the switch.

#include "cli/why_rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/keys.h"
#include "cli/rate.h"

enum { FULL_PERCENT = 90 };

static bool is_present(const struct why *why)
{
	return !json_is_false(json_object_get(why->port, "present"));
}

void why_absent(struct why *why)
{
	if (is_present(why))
		return;
	why_advise(why_add(why, WHY_WRONG, "its device %s is not there",
			   why_text(why->port, "devargs")),
		   "the port comes back when its device does; check devargs");
}

void why_admin_down(struct why *why)
{
	if (!json_is_false(json_object_get(why->port, "admin")))
		return;
	why_advise(why_add(why, WHY_WRONG, "it is administratively down"),
		   "set admin = true of the port");
}

// Carrier, which hellos may overrule.
void why_link_down(struct why *why)
{
	const json_t *hello = json_object_get(why->port, "hello");
	const char *key = json_is_object(hello) ? "carrier" : "link";
	const json_t *object = json_is_object(hello) ? hello : why->port;

	if (!is_present(why) || !why_true(why->port, "admin") ||
	    !json_is_false(json_object_get(object, key)))
		return;
	why_advise(why_add(why, WHY_WRONG, "its link is down: no carrier from the other end"),
		   "check the cable, the other end's port, and weft show interface");
}

void why_hello_down(struct why *why)
{
	const json_t *hello = json_object_get(why->port, "hello");

	if (!why_true(hello, "carrier") || !json_is_false(json_object_get(hello, "used")))
		return;
	why_advise(why_add(why, WHY_WRONG,
			   "the link is up but not used: the peer's hellos say so (%s)",
			   why_text(hello, "why")),
		   "weft show fabric links at both ends");
}

void why_hello_mismatch(struct why *why)
{
	const json_t *hello = json_object_get(why->port, "hello");

	if (!why_true(hello, "used") || !json_is_false(json_object_get(hello, "lossless")))
		return;
	why_advise(why_add(why, WHY_WRONG, "it carries no lossless traffic: %s",
			   why_text(hello, "why")),
		   "give both ends the same lanes, lane_tag and pfc_enable");
}

// What loses frames when ends disagree on it; the rest is a difference worth knowing, which the
// switch's log tells no louder either.
static enum why_severity dcbx_severity(const json_t *row)
{
	const char *topic = why_text(row, "topic");

	return strcmp(topic, "PFC priorities") == 0 || strcmp(topic, "RoCE priority") == 0 ?
		       WHY_WARNING :
		       WHY_NOTE;
}

static void dcbx_row(struct why *why, const json_t *row)
{
	struct why_finding *finding;

	if (!why_true(row, "differs"))
		return;
	finding = why_add(why, dcbx_severity(row), "DCBX: %s", why_text(row, "why"));
	json_object_set(finding->evidence, "ours", json_object_get(row, "ours"));
	json_object_set(finding->evidence, "theirs", json_object_get(row, "theirs"));
	why_advise(finding, "make both ends agree; weft show dcbx %s", why->scene->port);
}

void why_dcbx(struct why *why)
{
	const json_t *ports = json_object_get(why->scene->lldp, "ports");
	const json_t *neighbors = NULL;

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (strcmp(why_text(port, "name"), why->scene->port) == 0)
			neighbors = json_object_get(port, "neighbors");
	}
	for (size_t i = 0; i < json_array_size(neighbors); i++) {
		const json_t *rows = json_object_get(json_array_get(neighbors, i), "comparison");

		for (size_t k = 0; k < json_array_size(rows); k++)
			dcbx_row(why, json_array_get(rows, k));
	}
}

void why_pfc_path(struct why *why)
{
	if (why_number(why->port, "pfc_enable") == 0 ||
	    strcmp(why_text(why->port, "pfc_path"), "none") != 0)
		return;
	why_advise(why_add(why, WHY_WRONG, "PFC does not get through its device: %s",
			   why_text(why->port, "pfc_path_reason")),
		   "see pfc_path in docs/configuration.md; without PFC nothing here is lossless");
}

void why_held(struct why *why)
{
	if (!why_true(why->port, "held"))
		return;
	why_advise(why_add(why, WHY_WARNING,
			   "it is not polled (pause = hold): a lossless priority group is in XOFF, "
			   "and its host waits with all that it sends"),
		   "look for the queue that the group's traffic waits in");
}

void why_tx_disabled(struct why *why)
{
	if (!why_true(why->port, "tx_disabled"))
		return;
	why_advise(why_add(why, WHY_WRONG, "sending is switched off by a test hook (tx-disable)"),
		   "weft debug tx-disable %s off", why->scene->port);
}

void why_rx_lost(struct why *why)
{
	const uint64_t lost = why_port_grown(why, port_key.rx_no_buffer) +
			      why_port_grown(why, port_key.rx_missed);
	struct why_finding *finding;

	if (lost == 0)
		return;
	finding = why_add(why, WHY_WRONG,
			  "its driver loses frames before the switch sees them: %s/s",
			  why_count(why_rate(why, lost)));
	why_evidence(finding, "rx_lost_packets", lost);
	why_advise(finding,
		   "raise rx_ring, or descriptors if it is for want of buffers; a poll gap "
		   "that is too long shows in weft show lcores");
}

void why_refused(struct why *why)
{
	const uint64_t refused = why_port_grown(why, port_key.tx_retried_packets);
	struct why_finding *finding;

	if (refused == 0)
		return;
	finding = why_add(why, WHY_WARNING,
			  "its device refuses frames for the moment: %s/s are offered again",
			  why_count(why_rate(why, refused)));
	why_evidence(finding, port_key.tx_retried_packets, refused);
	why_advise(finding,
		   "the device or what reads from it is slower than the port's rate; give "
		   "the port a speed below that, so that queues form where they can be seen");
}

void why_global_pause(struct why *why)
{
	const uint64_t frames = why_port_grown(why, port_key.pause_rx_pkts);
	struct why_finding *finding;

	if (frames == 0)
		return;
	finding = why_add(why, WHY_WARNING,
			  "the peer sends 802.3x PAUSE frames (%s/s), which are never obeyed",
			  why_count(why_rate(why, frames)));
	why_evidence(finding, port_key.pause_rx_pkts, frames);
	why_advise(finding,
		   "turn global pause off at the peer and PFC on for the lossless priority");
}

// Priorities of which PFC arrives and is not obeyed.
void why_pfc_ignored(struct why *why)
{
	const uint64_t enabled = why_number(why->port, "pfc_enable");

	if (why_true(why->port, "pfc_asymmetric"))
		return;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		const uint64_t frames = why_grown(why, "priorities", i, prio_key.pfc_rx_pkts);
		struct why_finding *finding;

		if (frames == 0 || (enabled >> i & 1))
			continue;
		finding = why_add(why, WHY_WARNING,
				  "the peer sends PFC for priority %" PRIu32
				  " (%s/s), which this port does not obey",
				  i, why_count(why_rate(why, frames)));
		why_evidence(finding, prio_key.pfc_rx_pkts, frames);
		why_advise(finding, "add %" PRIu32 " to pfc_enable, or take it out at the peer", i);
	}
}

void why_impaired(struct why *why)
{
	const uint64_t lost = why_port_grown(why, port_key.impair_lost_packets) +
			      why_port_grown(why, port_key.impair_overrun_packets) +
			      why_port_grown(why, port_key.impair_corrupted_packets);
	struct why_finding *finding;

	if (lost == 0)
		return;
	finding = why_add(why, WHY_WARNING,
			  "an impairment loses or corrupts received frames on purpose: %s/s",
			  why_count(why_rate(why, lost)));
	why_evidence(finding, "impaired_packets", lost);
	why_advise(finding, "take its row out of impairment when the test is over");
}

// --- the switch as a whole ----------------------------------------------------------------------

void why_unknown_mac(struct why *why)
{
	const json_t *sw = json_object_get(why->scene->after, "switch");
	const uint64_t held = why_number(sw, switch_key.held_packets);
	struct why_finding *finding;

	if (held == 0)
		return;
	finding = why_add(why, WHY_WARNING,
			  "%s frames of the switch wait for a destination that is not known yet",
			  why_count(held));
	why_evidence(finding, switch_key.held_packets, held);
	why_advise(finding,
		   "the destination must answer ARP or neighbour discovery: weft show mac, "
		   "weft show arp");
}

// Headroom has descriptors of its own: senders are paused before those are used.
void why_descriptors(struct why *why)
{
	const json_t *sw = json_object_get(why->scene->after, "switch");
	const uint64_t all = why_number(sw, "shared_descriptors");
	const uint64_t in_use = why_number(sw, switch_key.descriptors_in_use);
	const uint64_t headroom = why_number(sw, switch_key.headroom_descriptors_in_use);
	const uint64_t used = in_use > headroom ? in_use - headroom : 0;
	struct why_finding *finding;

	if (!why_reaches(used, all, FULL_PERCENT))
		return;
	finding = why_add(why, WHY_WARNING,
			  "the switch uses %s of %s packet descriptors that are shared: many small "
			  "frames pause senders before bytes do",
			  why_count(used), why_count(all));
	why_evidence(finding, "shared_descriptors_in_use", used);
	why_evidence(finding, "shared_descriptors", all);
	why_advise(finding, "raise descriptors");
}

static bool uses_pool(const struct why *why, const char *list, const char *pool)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		const json_t *one = why_element(why->port, list, i);

		if (why_number(one, queue_key.curr_occupancy_bytes) > 0 &&
		    strcmp(why_text(one, "pool"), pool) == 0)
			return true;
	}
	return false;
}

// Pools in which something of this port is, or of the one queue of it.
static bool concerns(const struct why *why, const char *pool)
{
	const int queue = why->scene->queue;

	if (queue == WHY_ANY_QUEUE)
		return uses_pool(why, "queues", pool) || uses_pool(why, "priority_groups", pool);
	return strcmp(why_text(why_element(why->port, "queues", (uint32_t)queue), "pool"), pool) ==
	       0;
}

void why_pool_full(struct why *why)
{
	const json_t *pools = json_object_get(why->scene->after, "pools");

	for (size_t i = 0; i < json_array_size(pools); i++) {
		const json_t *pool = json_array_get(pools, i);
		const char *name = why_text(pool, "name");
		const uint64_t all = why_number(pool, "shared_bytes");
		const uint64_t used = why_number(pool, pool_key.shared_curr_occupancy_bytes);
		struct why_finding *finding;

		if (!why_reaches(used, all, FULL_PERCENT) || !concerns(why, name))
			continue;
		finding = why_add(why, WHY_WARNING, "pool %s is nearly full: %s of %s shared bytes",
				  name, why_count(used), why_count(all));
		why_evidence(finding, pool_key.shared_curr_occupancy_bytes, used);
		why_evidence(finding, "shared_bytes", all);
		why_advise(finding, "raise its size, or lower dynamic_th of who takes most: weft "
				    "show buffer, weft show queue watermark");
	}
}

static const json_t *acl_before(const struct why *why, const json_t *row, size_t at)
{
	const json_t *one = json_array_get(json_object_get(why->scene->acl_before, "rows"), at);

	return json_equal(json_object_get(one, "name"), json_object_get(row, "name")) ? one : NULL;
}

// Rows of the access list that drop something now; named only where the port loses to the list.
void why_acl(struct why *why)
{
	const json_t *rows = json_object_get(why->scene->acl_after, "rows");
	const json_t *now = json_object_get(why->port, "drops");
	const json_t *then = json_object_get(why->port_before, "drops");

	if (why_number(now, "ACL_DENY") <= why_number(then, "ACL_DENY") &&
	    why_number(now, "ACL_POLICED") <= why_number(then, "ACL_POLICED"))
		return;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		struct why_finding *finding;
		uint64_t dropped;

		if (why->elapsed_ns == 0 ||
		    !rate_difference(acl_before(why, row, i), row, "dropped_packets", &dropped) ||
		    dropped == 0)
			continue;
		finding = why_add(why, WHY_WRONG, "row \"%s\" of the access list (%s) drops %s/s",
				  why_text(row, "name"), why_text(row, "action"),
				  why_count(why_rate(why, dropped)));
		why_evidence(finding, "dropped_packets", dropped);
		why_advise(finding,
			   "change acl row \"%s\" if this traffic is wanted; weft show acl",
			   why_text(row, "name"));
	}
}
