// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 6: which queue of a port sends next.
//
// Strict queues go first, the highest index before the others, and before all of them the CNP
// queue: its shaper keeps it from starving anybody. The rest share what is left by deficit weighted
// round robin in bytes (Shreedhar and Varghese 1995). A quantum is at least the largest frame, so a
// visit always sends and picking is O(1).
//
// A queue that is empty keeps no deficit, and one that is paused or over its shaper earns none
// while the others are served: it is not visited.

#include "dataplane/core/stage.h"

static uint8_t paused_queues(const struct port_profile *pf, const struct port_state *st,
			     uint8_t priorities)
{
	uint8_t queues = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		queues |= (uint8_t)((priorities >> i & 1) << pf->prio_to_queue[i]);
	return queues & (uint8_t)~st->unpaused;
}

void sched_update_pauses(const struct port_profile *pf, struct port_state *st, ns_t now)
{
	uint8_t priorities = st->rx.paused == 0 ? 0 : pfc_rx_paused(&st->rx, now);
	uint8_t paused = st->blocked | (priorities == 0 ? 0 : paused_queues(pf, st, priorities));
	uint8_t resumed = st->paused_mask & (uint8_t)~paused;

	st->paused_mask = paused;
	for (uint32_t i = 0; resumed != 0 && i < QUEUE_COUNT; i++) {
		if (resumed >> i & 1)
			pacer_restart(&st->queue[i].shaper, now);
	}
}

static uint8_t shaped_ready(const struct port_profile *pf, const struct port_state *st, ns_t now)
{
	uint8_t ready = 0;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		ready |= (uint8_t)(pacer_ready(&st->queue[i].shaper, now) << i);
	return ready | (uint8_t)~pf->shaped_mask;
}

// The next queue after `current` in the round, the first of the set behind its last.
static uint32_t next_in_round(uint8_t eligible, uint32_t current)
{
	uint32_t later = eligible & ~((2u << current) - 1);

	return (uint32_t)__builtin_ctz(later != 0 ? later : eligible);
}

uint32_t sched_next(const struct port_profile *pf, struct port_state *st, ns_t now)
{
	uint8_t eligible = st->backlog_mask & (uint8_t)~st->paused_mask;
	uint8_t strict;

	if (eligible & pf->shaped_mask)
		eligible &= shaped_ready(pf, st, now);
	strict = eligible & pf->strict_mask;
	if (strict & pf->cnp_mask)
		return (uint32_t)__builtin_ctz(pf->cnp_mask);
	if (strict != 0)
		return 31u - (uint32_t)__builtin_clz(strict);
	if (eligible == 0)
		return SCHED_NONE;
	for (;;) {
		queue_t current = { st->dwrr_current };
		struct queue_state *q = queue_state_of(st, current);

		if (eligible >> current.v & 1 && q->deficit >= q->head->len) {
			q->deficit -= q->head->len;
			return current.v;
		}
		st->dwrr_current = (uint8_t)next_in_round(eligible, current.v);
		q = &st->queue[st->dwrr_current];
		if (q->deficit < q->head->len) // a visit that a pause cut short goes on
			q->deficit += pf->queue[st->dwrr_current].quantum_bytes;
	}
}

ns_t sched_deadline(const struct port_profile *pf, const struct port_state *st, ns_t now)
{
	uint8_t paused = st->rx.paused == 0 ? 0 : paused_queues(pf, st, st->rx.paused);
	ns_t at = st->backlog_mask & paused ? st->rx.expires : NS_NEVER;

	if (ahead_ready(st))
		at = now;
	paused |= st->blocked; // the shell watches for the end of that
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		if (!(st->backlog_mask >> i & 1) || paused >> i & 1)
			continue;
		if (pf->shaped_mask >> i & 1)
			at = ns_min(at, st->queue[i].shaper.ready);
		else
			at = now;
	}
	return at.v < st->line.ready.v ? st->line.ready : at;
}
