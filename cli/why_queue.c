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

static bool has_value(const json_t *list, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (json_equal(json_array_get(list, i), value))
			return true;
	}
	return false;
}

static bool shares_priority(const json_t *a, const json_t *b)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		if (has_value(b, json_array_get(a, i)))
			return true;
	}
	return false;
}

struct fillers {
	const json_t *priorities; // of the queue
	size_t len;
	char text[200];
};

static void add_filler(struct fillers *fillers, const json_t *port, uint32_t group)
{
	const json_t *pg = why_element(port, "priority_groups", group);
	const uint64_t used = why_number(pg, pg_key.curr_occupancy_bytes);
	const size_t left = sizeof(fillers->text) - fillers->len;
	int len;

	if (used == 0 || !shares_priority(fillers->priorities, json_object_get(pg, "priorities")))
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

	*fillers = (struct fillers){ json_object_get(queue_of(why), "priorities"), 0, "" };
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

// One priority that pauses the queue.
static void paused_by(struct why *why, uint32_t prio)
{
	const json_t *now = why_element(why->port, "priorities", prio);
	const bool paused = why_number(now, prio_key.rx_paused) != 0;
	const uint64_t us = why_grown(why, "priorities", prio, prio_key.rx_pause_duration_us);
	const uint64_t share = rate_share_ppm(us * 1000, why->elapsed_ns);
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

// Frames wait, and none left: nothing that is known holds them.
void why_stuck(struct why *why)
{
	const json_t *before = why_element(why->port_before, "queues", why->at);

	if (why->elapsed_ns == 0 || held_bytes(why) == 0 ||
	    why_number(before, queue_key.curr_occupancy_bytes) == 0 ||
	    why_grown(why, "queues", why->at, queue_key.packets) > 0 ||
	    queue_number(why, queue_key.pause_status) != 0 || why_true(queue_of(why), "blocked") ||
	    why_true(queue_of(why), "dequeue_disabled") || why_true(why->port, "tx_disabled"))
		return;
	why_advise(why_add(why, WHY_WRONG,
			   "it holds %s bytes and sent nothing in %" PRIu64
			   " ms, though nobody pauses it",
			   why_count(held_bytes(why)), why->elapsed_ns / 1000000),
		   "its device takes nothing: see refused frames, and whether its lcore is polled "
		   "(weft show lcores)");
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
	finding = why_add(why, WHY_WARNING,
			  "it holds %s bytes, %s Kmin %s (Kmax %s): %s frames/s are marked, and "
			  "their senders slow down",
			  why_count(held_bytes(why)),
			  !above                ? "below" :
			  held_bytes(why) > max ? "above Kmax and" :
						  "above",
			  why_count(min), why_count(max), why_count(why_rate(why, marked)));
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

// `port` marks unlike most of its fellows, who mark by `usual`.
static void add_outlier(struct why *why, const json_t *port, const json_t *usual, uint32_t same)
{
	const json_t *curve = curve_of(port, why->at);
	struct why_finding *finding;
	char here[64], there[64];

	curve_text(curve, here);
	curve_text(usual, there);
	finding = why_add(why, WHY_WARNING, "%s %s here, where %" PRIu32 " equal port%s: %s",
			  why_text(port, "name"), here, same,
			  same == 1 ? " does otherwise" : "s do otherwise", there);
	json_object_set(finding->evidence, "port", json_object_get(port, "name"));
	why_evidence(finding, "min_bytes", why_number(curve, "min_bytes"));
	why_evidence(finding, "usual_min_bytes", why_number(usual, "min_bytes"));
	why_evidence(finding, "max_bytes", why_number(curve, "max_bytes"));
	why_evidence(finding, "usual_max_bytes", why_number(usual, "max_bytes"));
	why_advise(finding,
		   "give queue %" PRIu32 " of %s the wred_profile of its fellows, unless "
		   "this is meant; weft show ecn",
		   why->at, why_text(port, "name"));
}

// The curve that most fellows have is the usual one, and who has another is named, be it this port
// or not. Of two that differ each may be wrong, and the other one is named.
void why_ecn_differs(struct why *why)
{
	const json_t *ports = json_object_get(why->scene->after, "ports");
	const json_t *usual = curve_of(why->port, why->at);
	uint32_t all;
	uint32_t most = alike(why, usual, &all);

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const uint32_t same = alike(why, curve_of(port, why->at), &all);

		if (is_fellow(why, port) && same > most) {
			most = same;
			usual = curve_of(port, why->at);
		}
	}
	if (most == all || most * 2 < all)
		return;
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (is_fellow(why, port) && !same_curve(curve_of(port, why->at), usual))
			add_outlier(why, port, usual, most);
	}
}

// --- scheduling ---------------------------------------------------------------------------------

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

void why_strict_above(struct why *why)
{
	uint64_t before = 0, all = 0;
	uint32_t most = 0;
	struct why_finding *finding;

	if (held_bytes(why) == 0)
		return;
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		all += wire_bytes(why, i);
		if (!goes_before(why, i))
			continue;
		before += wire_bytes(why, i);
		if (wire_bytes(why, i) > wire_bytes(why, most) || !goes_before(why, most))
			most = i;
	}
	if (all == 0 || rate_share_ppm(before, all) < MOST_PPM)
		return;
	finding = why_add(why, WHY_WARNING,
			  "strict queues go before it and sent %" PRIu64
			  "%% of what left the port, most of it queue %" PRIu32,
			  rate_share_ppm(before, all) / 10000, most);
	why_evidence(finding, "strict_share_ppm", rate_share_ppm(before, all));
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
