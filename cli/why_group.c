// SPDX-License-Identifier: BSD-3-Clause
//
// Rules about a priority group: whether it pauses the senders behind its port, how near it is to
// that, and whether its pauses lasted. A group in XOFF is the other end of a queue somewhere that
// cannot send; it says where to look next.

#include "cli/why_rule.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/keys.h"
#include "cli/rate.h"

enum { NEAR_PERCENT = 80 };

static const json_t *group_of(const struct why *why)
{
	return why_element(why->port, "priority_groups", why->at);
}

// The priorities that announce the group, as "3,4"; its own number when the answer has none.
static void priorities_text(const struct why *why, char out[2 * PRIO_COUNT + 1])
{
	const json_t *list = json_object_get(group_of(why), "priorities");
	size_t at = 0;

	for (size_t i = 0; i < json_array_size(list) && i < PRIO_COUNT; i++) {
		if (at > 0)
			out[at++] = ',';
		out[at++] = (char)('0' + json_integer_value(json_array_get(list, i)) % PRIO_COUNT);
	}
	if (at == 0)
		out[at++] = (char)('0' + why->at);
	out[at] = '\0';
}

// The longest time in XOFF of a priority that announces the group, in ppm of the time looked at.
static uint64_t paused_share(const struct why *why)
{
	const json_t *list = json_object_get(group_of(why), "priorities");
	uint64_t most = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const uint32_t prio = (uint32_t)json_integer_value(json_array_get(list, i));
		const uint64_t us = why_grown(why, "priorities", prio,
					      prio_key.tx_pause_duration_us);

		if (us > most)
			most = us;
	}
	return rate_share_ppm(most * 1000, why->elapsed_ns);
}

static void add_evidence(struct why_finding *finding, const json_t *pg)
{
	why_evidence(finding, pg_key.curr_occupancy_bytes,
		     why_number(pg, pg_key.curr_occupancy_bytes));
	why_evidence(finding, pg_key.xoff_threshold_bytes,
		     why_number(pg, pg_key.xoff_threshold_bytes));
	why_evidence(finding, pg_key.xoff_room_curr_occupancy_bytes,
		     why_number(pg, pg_key.xoff_room_curr_occupancy_bytes));
	why_evidence(finding, "xoff_bytes", why_number(pg, "xoff_bytes"));
}

void why_group_xoff(struct why *why)
{
	const json_t *pg = group_of(why);
	const uint64_t share = paused_share(why);
	const bool now = why_number(pg, pg_key.xoff_state) != 0;
	char priorities[2 * PRIO_COUNT + 1];
	struct why_finding *finding;

	if (!now && share < 10000)
		return;
	priorities_text(why, priorities);
	finding = why_add(
		why, WHY_WARNING,
		"%s the senders behind %s for priority %s (%" PRIu64 "%% of the last %" PRIu64
		" ms): the group holds %s of its limit of %s bytes, and %s of %s bytes of headroom",
		now ? "pauses" : "has paused", why->scene->port, priorities, share / 10000,
		why->elapsed_ns / 1000000, why_count(why_number(pg, pg_key.curr_occupancy_bytes)),
		why_count(why_number(pg, pg_key.xoff_threshold_bytes)),
		why_count(why_number(pg, pg_key.xoff_room_curr_occupancy_bytes)),
		why_count(why_number(pg, "xoff_bytes")));
	add_evidence(finding, pg);
	why_evidence(finding, "xoff_share_ppm", share);
	why_advise(finding, "look for the queue that its traffic waits in: weft show why of the "
			    "ports that these senders send to");
}

void why_group_near(struct why *why)
{
	const json_t *pg = group_of(why);
	const uint64_t limit = why_number(pg, pg_key.xoff_threshold_bytes);
	const uint64_t used = why_number(pg, pg_key.curr_occupancy_bytes);
	struct why_finding *finding;

	if (why_number(pg, pg_key.xoff_state) != 0 || !why_reaches(used, limit, NEAR_PERCENT))
		return;
	finding = why_add(why, WHY_WARNING, "is near XOFF: it holds %s of its limit of %s bytes",
			  why_count(used), why_count(limit));
	add_evidence(finding, pg);
	why_advise(finding, "a larger dynamic_th or size of its buffer_profile puts XOFF off; the "
			    "queue that its traffic waits in is the cause");
}

void why_headroom(struct why *why)
{
	const json_t *pg = group_of(why);
	const uint64_t need = why_number(why->port, "headroom_need_bytes");
	const uint64_t have = why_number(pg, "xoff_bytes");
	struct why_finding *finding;

	if (!why_true(pg, "lossless") || need <= have)
		return;
	finding = why_add(why, WHY_NOTE,
			  "has %s bytes of headroom where %s are needed: a burst after XOFF may be "
			  "lost",
			  why_count(have), why_count(need));
	why_evidence(finding, "xoff_bytes", have);
	why_evidence(finding, "headroom_need_bytes", need);
	why_advise(finding, "raise xoff of its buffer_profile, or shorten tx_ring and peer_ring; "
			    "weft show interface headroom");
}

// Pauses that ran out between the looks, and ever, of the priorities that announce the group.
static uint64_t lapses(const struct why *why, uint64_t *ever)
{
	const json_t *list = json_object_get(group_of(why), "priorities");
	uint64_t fresh = 0;

	*ever = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const uint32_t prio = (uint32_t)json_integer_value(json_array_get(list, i));

		fresh += why_grown(why, "priorities", prio, prio_key.tx_pause_lapses);
		*ever += why_number(why_element(why->port, "priorities", prio),
				    prio_key.tx_pause_lapses);
	}
	return fresh;
}

void why_lapsed(struct why *why)
{
	const uint64_t gap = why_number(why->port, "max_poll_gap_ns");
	uint64_t ever;
	const uint64_t fresh = lapses(why, &ever);
	struct why_finding *finding;

	if (ever == 0)
		return;
	finding =
		why_add(why, fresh > 0 ? WHY_WRONG : WHY_NOTE,
			"let a pause run out %s times, %s of them just now: the switch was away "
			"for up to %s us, longer than a pause lasts, so the sender resumed on its "
			"own, and headroom need not hold what it sent",
			why_count(ever), why_count(fresh), why_count(gap / 1000));
	why_evidence(finding, prio_key.tx_pause_lapses, ever);
	why_evidence(finding, "max_poll_gap_ns", gap);
	why_advise(finding, "give each lcore a processor of its own (--lcore), raise pfc_quanta to "
			    "65535 or lower the port's speed, which makes pauses longer");
}
