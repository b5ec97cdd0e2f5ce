// SPDX-License-Identifier: BSD-3-Clause
//
// Rules about one egress queue: who holds it, what goes before it, and how near it is to marking
// and dropping. A queue that holds nothing is not held by anything, except by a storm.

#include "cli/why_rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/keys.h"
#include "cli/rate.h"

enum {
	NEAR_PERCENT = 80,
	FULL_PERCENT = 95,
	MOST_PPM = 500000,
	WORTH_PPM = 10000,  // a pause of less than 1 % of the time is none to speak of
	WIRE_OVERHEAD = 24, // FCS, preamble and gap of a frame
	ETHER_BYTES = 22,   // header and two tags, which an MTU does not count
};

static const json_t *queue_of(const struct why *why)
{
	return why_element(why->port, "queues", why->at);
}

static uint64_t queue_number(const struct why *why, const char *key)
{
	return why_number(queue_of(why), key);
}

static uint64_t held_bytes(const struct why *why)
{
	return queue_number(why, queue_key.curr_occupancy_bytes);
}

struct fillers {
	const json_t *queue;
	size_t len;
	char text[200];
};

static void add_filler(struct fillers *fillers, const json_t *port, uint32_t group)
{
	const json_t *pg = why_element(port, "priority_groups", group);
	const uint64_t used = why_number(pg, pg_key.curr_occupancy_bytes);
	const size_t left = sizeof(fillers->text) - fillers->len;
	int len;

	if (used == 0 || !why_same_priority(fillers->queue, pg))
		return;
	len = snprintf(fillers->text + fillers->len, left,
		       "%s%s priority group %" PRIu32 " (%s bytes)",
		       fillers->len == 0 ? "; charged to " : ", ", why_text(port, "name"), group,
		       why_count(used));
	if ((size_t)len < left)
		fillers->len += (size_t)len;
	else
		fillers->text[fillers->len] = '\0'; // no room for a whole one
}

// Groups whose priority is the queue's: what waits in the queue is charged to them.
static void find_fillers(const struct why *why, struct fillers *fillers)
{
	const json_t *ports = json_object_get(why->scene->after, "ports");

	*fillers = (struct fillers){ queue_of(why), 0, "" };
	for (size_t i = 0; i < json_array_size(ports); i++) {
		for (uint32_t k = 0; k < PG_COUNT; k++)
			add_filler(fillers, json_array_get(ports, i), k);
	}
}

// Nothing was in it at either look, nor went through it or was dropped there in between.
static bool is_idle(const struct why *why)
{
	const json_t *before = why_element(why->port_before, "queues", why->at);

	return held_bytes(why) == 0 && why_number(before, queue_key.curr_occupancy_bytes) == 0 &&
	       why_grown(why, "queues", why->at, queue_key.packets) == 0 &&
	       why_grown(why, "queues", why->at, queue_key.dropped_packets) == 0;
}

static enum why_severity severity_of_pause(const struct why *why, bool paused, uint64_t share)
{
	if (is_idle(why))
		return WHY_NOTE;
	return paused || share >= MOST_PPM ? WHY_WRONG : WHY_WARNING;
}

// How much of the time between the looks a priority was paused, in ppm.
static uint64_t pause_share(const struct why *why, uint32_t prio)
{
	const uint64_t us = why_grown(why, "priorities", prio, prio_key.rx_pause_duration_us);

	return rate_share_ppm(us * 1000, why->elapsed_ns);
}

// One priority that pauses the queue.
static void paused_by(struct why *why, uint32_t prio)
{
	const json_t *now = why_element(why->port, "priorities", prio);
	const bool paused = why_number(now, prio_key.rx_paused) != 0;
	const uint64_t share = pause_share(why, prio);
	struct why_finding *finding;
	struct fillers fillers;
	char since[64] = "";

	if (!paused && share < WORTH_PPM)
		return;
	find_fillers(why, &fillers);
	if (paused)
		snprintf(since, sizeof(since), ", now for %s ms",
			 why_count(why_number(now, prio_key.rx_pause_recent_us) / 1000));
	finding = why_add(why, severity_of_pause(why, paused, share),
			  "the peer of %s pauses priority %" PRIu32 "%s (%" PRIu64
			  "%% of the last %" PRIu64 " ms): the queue holds %s bytes%s",
			  why->scene->port, prio, since, share / 10000, why->elapsed_ns / 1000000,
			  why_count(held_bytes(why)), fillers.text);
	why_evidence(finding, "priority", prio);
	why_evidence(finding, prio_key.rx_paused, paused);
	why_evidence(finding, "rx_pause_share_ppm", share);
	why_evidence(finding, prio_key.pfc_rx_pkts, why_number(now, prio_key.pfc_rx_pkts));
	why_evidence(finding, queue_key.curr_occupancy_bytes, held_bytes(why));
	why_advise(finding,
		   "the cause is behind the peer: a host that cannot take what it is sent, "
		   "or a queue further on; ask there%s",
		   json_object_get(queue_of(why), "pfc_wd") == NULL ?
			   ". A row of pfc_wd would end a pause that never ends" :
			   "");
}

void why_paused(struct why *why)
{
	const json_t *list = json_object_get(queue_of(why), "priorities");

	for (size_t i = 0; i < json_array_size(list); i++)
		paused_by(why, (uint32_t)json_integer_value(json_array_get(list, i)));
}

void why_blocked(struct why *why)
{
	if (why_true(queue_of(why), "dequeue_disabled"))
		why_advise(why_add(why, WHY_WRONG,
				   "sending is switched off by a test hook (dequeue-disable)"),
			   "weft debug dequeue-disable %s %u off", why->scene->port,
			   (unsigned int)why->at);
	if (!why_true(queue_of(why), "blocked"))
		return;
	why_advise(why_add(why, WHY_WRONG,
			   "the device does not take its frames: it is full, or its peer pauses "
			   "it; the queue holds %s bytes",
			   why_count(held_bytes(why))),
		   "the device does PFC itself, so look at its own counters (ethtool -S)");
}

void why_stormed(struct why *why)
{
	const json_t *wd = json_object_get(queue_of(why), "pfc_wd");
	const json_t *all = json_object_get(json_object_get(why->scene->after, "switch"), "pfc_wd");
	struct why_finding *finding;

	if (wd != NULL && why_true(all, "big_red_switch"))
		why_advise(why_add(why, WHY_WRONG,
				   "the big red switch applies its action %s, storm or none",
				   why_text(wd, "action")),
			   "weft debug big-red off");
	if (queue_number(why, queue_key.pfc_wd_status) == 0)
		return;
	finding =
		why_add(why, WHY_WRONG,
			"the PFC watchdog found a storm, and its action is %s: %s frames to it and "
			"%s in its priority group were dropped",
			why_text(wd, "action"),
			why_count(queue_number(why, queue_key.pfc_wd_tx_dropped_packets)),
			why_count(queue_number(why, queue_key.pfc_wd_rx_dropped_packets)));
	why_evidence(finding, queue_key.pfc_wd_deadlock_detected,
		     queue_number(why, queue_key.pfc_wd_deadlock_detected));
	why_advise(finding, "find who pauses without end behind this port; it ends by itself when "
			    "the pauses do");
}

// Bytes on the wire that a queue sent between the looks.
static uint64_t wire_bytes(const struct why *why, uint32_t queue)
{
	return why_grown(why, "queues", queue, queue_key.bytes) +
	       why_grown(why, "queues", queue, queue_key.packets) * WIRE_OVERHEAD;
}

static bool goes_before(const struct why *why, uint32_t other)
{
	if (!why_true(why_element(why->port, "queues", other), "strict"))
		return false;
	return !why_true(queue_of(why), "strict") || other > why->at;
}

// What strict queues that go before it sent of all that left the port between the looks, in ppm,
// and which of them sent most.
static uint64_t share_before(const struct why *why, uint32_t *most)
{
	uint64_t before = 0, all = 0, best = 0;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		const uint64_t bytes = wire_bytes(why, i);

		all += bytes;
		if (!goes_before(why, i))
			continue;
		before += bytes;
		if (bytes > best) {
			best = bytes;
			*most = i;
		}
	}
	return rate_share_ppm(before, all);
}

// Whether the peer paused the queue at the second look, or for long enough before it.
static bool was_paused(const struct why *why)
{
	const json_t *list = json_object_get(queue_of(why), "priorities");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const uint32_t prio = (uint32_t)json_integer_value(json_array_get(list, i));

		if (pause_share(why, prio) >= WORTH_PPM)
			return true;
	}
	return queue_number(why, queue_key.pause_status) != 0;
}

static bool port_sent(const struct why *why)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		if (why_grown(why, "queues", i, queue_key.packets) > 0)
			return true;
	}
	return false;
}

// Whether its shaper may let no frame through between the looks: the next one may be as long as all
// that waits, or as the port's MTU.
static bool shaper_waits(const struct why *why)
{
	const uint64_t pir = queue_number(why, "pir_bps");
	const uint64_t mtu = why_number(why->port, "mtu");
	uint64_t bytes = held_bytes(why);

	if (mtu > 0 && bytes > mtu + ETHER_BYTES)
		bytes = mtu + ETHER_BYTES;
	return pir > 0 && (unsigned __int128)pir * why->elapsed_ns / 1000000000 <
				  (unsigned __int128)(bytes + WIRE_OVERHEAD) * 8;
}

// Whether something that is known lets none of its frames go: who pauses it, a hook, a shaper, or
// strict queues that take most of what leaves.
static bool is_explained(const struct why *why)
{
	return was_paused(why) || shaper_waits(why) || why_true(queue_of(why), "blocked") ||
	       why_true(queue_of(why), "dequeue_disabled") || why_true(why->port, "tx_disabled") ||
	       share_before(why, &(uint32_t){ 0 }) >= MOST_PPM;
}

// Frames wait, and none left: nothing that is known holds them. While other queues of the port
// send, its device takes frames, and it may be that a slow line has not come round to this one.
void why_stuck(struct why *why)
{
	const json_t *before = why_element(why->port_before, "queues", why->at);
	const bool others = port_sent(why);

	if (why->elapsed_ns == 0 || held_bytes(why) == 0 ||
	    why_number(before, queue_key.curr_occupancy_bytes) == 0 ||
	    why_grown(why, "queues", why->at, queue_key.packets) > 0 || is_explained(why))
		return;
	why_advise(why_add(why, others ? WHY_WARNING : WHY_WRONG,
			   "it holds %s bytes and sent nothing in %" PRIu64 " ms, though %s",
			   why_count(held_bytes(why)), why->elapsed_ns / 1000000,
			   others ? "other queues of its port did" : "nobody pauses it"),
		   "%s",
		   others ? "the scheduler does not come to it: see weights (weft show scheduler), "
			    "and look again for longer (-i)" :
			    "its device takes nothing: see refused frames, and whether its lcore "
			    "is polled (weft show lcores)");
}

void why_queue_near(struct why *why)
{
	const uint64_t limit = queue_number(why, "limit_bytes");
	struct why_finding *finding;

	if (why_true(queue_of(why), "lossless") ||
	    !why_reaches(held_bytes(why), limit, NEAR_PERCENT))
		return;
	finding = why_add(why, WHY_WARNING,
			  "it holds %s of at most %s bytes: what comes beyond is dropped",
			  why_count(held_bytes(why)), why_count(limit));
	why_evidence(finding, queue_key.curr_occupancy_bytes, held_bytes(why));
	why_evidence(finding, "limit_bytes", limit);
	why_advise(finding, "raise dynamic_th or size of its buffer_profile, or send less to it");
}

// The marking law of a queue, NULL: it does not mark.
static const json_t *curve_of(const json_t *port, uint32_t queue)
{
	const json_t *curve = json_object_get(why_element(port, "queues", queue), "ecn");

	return json_is_object(curve) ? curve : NULL;
}

void why_above_kmin(struct why *why)
{
	const json_t *ecn = curve_of(why->port, why->at);
	const uint64_t min = why_number(ecn, "min_bytes");
	const uint64_t max = why_number(ecn, "max_bytes");
	const uint64_t marked = why_grown(why, "queues", why->at,
					  queue_key.wred_ecn_marked_packets);
	const bool above = held_bytes(why) > 0 && held_bytes(why) >= min;
	struct why_finding *finding;

	if (ecn == NULL || (!above && marked == 0))
		return;
	finding = why_add(why, marked > 0 ? WHY_WARNING : WHY_NOTE,
			  "it holds %s bytes, %s Kmin %s (Kmax %s): %s frames/s are marked%s",
			  why_count(held_bytes(why)),
			  !above                ? "below" :
			  held_bytes(why) > max ? "above Kmax and" :
						  "above",
			  why_count(min), why_count(max), why_count(why_rate(why, marked)),
			  marked > 0 ? ", and their senders slow down" : "");
	why_evidence(finding, queue_key.curr_occupancy_bytes, held_bytes(why));
	why_evidence(finding, "min_bytes", min);
	why_evidence(finding, "max_bytes", max);
	why_evidence(finding, queue_key.wred_ecn_marked_packets, marked);
	why_advise(finding, "this is congestion control at work; if senders do not slow down, see "
			    "that CNPs reach them (weft show roce)");
}

// --- ECN thresholds of equal ports --------------------------------------------------------------

// Ports whose queue should mark alike: the same rate, and lossless alike.
static bool is_fellow(const struct why *why, const json_t *port)
{
	return json_equal(json_object_get(port, "speed_bps"),
			  json_object_get(why->port, "speed_bps")) &&
	       why_true(why_element(port, "queues", why->at), "lossless") ==
		       why_true(queue_of(why), "lossless");
}

static bool same_curve(const json_t *a, const json_t *b)
{
	return (a == NULL && b == NULL) || json_equal(a, b);
}

// How many fellows mark as this one does, itself included; *all: how many there are.
static uint32_t alike(const struct why *why, const json_t *curve, uint32_t *all)
{
	const json_t *ports = json_object_get(why->scene->after, "ports");
	uint32_t same = 0;

	*all = 0;
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (!is_fellow(why, port))
			continue;
		(*all)++;
		same += same_curve(curve_of(port, why->at), curve);
	}
	return same;
}

static void curve_text(const json_t *curve, char out[64])
{
	if (curve == NULL)
		snprintf(out, 64, "does not mark");
	else
		snprintf(out, 64, "marks from %s to %s bytes",
			 why_count(why_number(curve, "min_bytes")),
			 why_count(why_number(curve, "max_bytes")));
}

// `port`, and `more` others, mark unlike most of their fellows, who mark by `usual`.
static void add_outlier(struct why *why, const json_t *port, uint32_t more, const json_t *usual,
			uint32_t same)
{
	const json_t *curve = curve_of(port, why->at);
	struct why_finding *finding;
	char here[64], there[64];
	char others[48] = "";

	curve_text(curve, here);
	curve_text(usual, there);
	if (more > 0)
		snprintf(others, sizeof(others), " (%" PRIu32 " more differ, too)", more);
	finding = why_add(why, WHY_NOTE, "%s %s here%s, where %" PRIu32 " equal port%s: %s",
			  why_text(port, "name"), here, others, same,
			  same == 1 ? " does otherwise" : "s do otherwise", there);
	json_object_set(finding->evidence, "port", json_object_get(port, "name"));
	why_evidence(finding, "differing_ports", more + 1);
	why_evidence(finding, "min_bytes", why_number(curve, "min_bytes"));
	why_evidence(finding, "usual_min_bytes", why_number(usual, "min_bytes"));
	why_evidence(finding, "max_bytes", why_number(curve, "max_bytes"));
	why_evidence(finding, "usual_max_bytes", why_number(usual, "max_bytes"));
	why_advise(finding,
		   "give queue %" PRIu32 " of %s the wred_profile of its fellows, unless "
		   "this is meant; weft show ecn",
		   why->at, why_text(port, "name"));
}

// The curve that most fellows have: this port's own, unless more have another.
static const json_t *usual_curve(const struct why *why, uint32_t *most, uint32_t *all)
{
	const json_t *ports = json_object_get(why->scene->after, "ports");
	const json_t *usual = curve_of(why->port, why->at);

	*most = alike(why, usual, all);
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const uint32_t same = alike(why, curve_of(port, why->at), all);

		if (is_fellow(why, port) && same > *most) {
			*most = same;
			usual = curve_of(port, why->at);
		}
	}
	return usual;
}

// Who has another curve than most is named, this port before others, be it one of many. Of two
// that differ each may be wrong, and the other one is named.
void why_ecn_differs(struct why *why)
{
	const json_t *ports = json_object_get(why->scene->after, "ports");
	uint32_t most, all;
	const json_t *usual = usual_curve(why, &most, &all);
	const json_t *named = NULL;
	uint32_t count = 0;

	if (most * 2 < all)
		return;
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (!is_fellow(why, port) || same_curve(curve_of(port, why->at), usual))
			continue;
		count++;
		if (named == NULL || port == why->port)
			named = port;
	}
	if (named != NULL)
		add_outlier(why, named, count - 1, usual, most);
}

// --- scheduling ---------------------------------------------------------------------------------

void why_strict_above(struct why *why)
{
	uint32_t most = 0;
	const uint64_t share = share_before(why, &most);
	struct why_finding *finding;

	if (held_bytes(why) == 0 || share < MOST_PPM)
		return;
	finding = why_add(why, WHY_WARNING,
			  "strict queues go before it and sent %" PRIu64
			  "%% of what left the port, most of it queue %" PRIu32,
			  share / 10000, most);
	why_evidence(finding, "strict_share_ppm", share);
	why_advise(finding, "give the scheduler of queue %" PRIu32 " a pir, or make it DWRR", most);
}

void why_shaped(struct why *why)
{
	const uint64_t pir = queue_number(why, "pir_bps");
	struct why_finding *finding;
	char text[UNIT_TEXT_BYTES];
	uint64_t bps;

	if (pir == 0 || held_bytes(why) == 0 || why->elapsed_ns == 0)
		return;
	bps = rate_per_second(wire_bytes(why, why->at), 8, why->elapsed_ns);
	if (!why_reaches(bps, pir, FULL_PERCENT))
		return;
	unit_format(UNIT_BPS, pir, text);
	finding = why_add(why, WHY_WARNING, "its shaper lets %s through, and more waits (%s bytes)",
			  text, why_count(held_bytes(why)));
	why_evidence(finding, "pir_bps", pir);
	why_evidence(finding, "tx_bps", bps);
	why_advise(finding, "raise pir of its scheduler (of the CNP queue: cnp_rate)");
}

void why_line_full(struct why *why)
{
	const uint64_t speed = why_number(why->port, "speed_bps");
	struct why_finding *finding;
	char text[UNIT_TEXT_BYTES];
	uint64_t bytes = 0;
	uint64_t bps;

	if (speed == 0 || held_bytes(why) == 0 || why->elapsed_ns == 0)
		return;
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		bytes += wire_bytes(why, i);
	bps = rate_per_second(bytes, 8, why->elapsed_ns);
	if (!why_reaches(bps, speed, FULL_PERCENT))
		return;
	unit_format(UNIT_BPS, speed, text);
	finding = why_add(why, WHY_WARNING,
			  "the line is full: %s leave, and more arrives than that", text);
	why_evidence(finding, "tx_bps", bps);
	why_evidence(finding, "speed_bps", speed);
	why_advise(finding, "more senders than the line can serve meet here; senders that heed ECN "
			    "slow down by themselves");
}
