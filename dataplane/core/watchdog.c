// SPDX-License-Identifier: BSD-3-Clause
//
// PFC watchdogs of the ports: samples for the state machines of pfc/watchdog.c, and mitigation on
// exactly one port and queue while a storm lasts, or for as long as the big red switch is on.
//
// Mitigation is four masks of a port that the path reads where it looks anyway, so that nothing is
// to be undone: `refused` (enqueue), `discarded` (rx), `muted` (announce), `unpaused` (sched). They
// are always what profile, storms and switch say at the moment; a change of any of them ends in
// watchdog_apply(). Received PFC is counted and timed as ever, masked or not: the end of a storm
// must be seen.

#include "dataplane/core/stage.h"

static struct watchdog_counts counts_now(const struct sw_lcore *lc, port_t port, uint32_t queue)
{
	const struct watchdog_profile *pf = &port_profile_of(lc, port)->watchdog[queue];
	const struct port_state *st = &lc->port[port.v];
	struct watchdog_counts counts = {
		.tx = st->queue[queue].stats.packets,
		.tx_dropped = st->queue[queue].stats.dropped_packets,
	};

	for (uint32_t left = pf->groups; left != 0; left &= left - 1) {
		const struct pg_stats *pg = &st->pg[__builtin_ctz(left)].stats;

		counts.rx += pg->packets;
		counts.rx_dropped += pg->dropped_packets;
	}
	return counts;
}

static struct watchdog_counts counts_since(struct watchdog_counts now, struct watchdog_counts then)
{
	return (struct watchdog_counts){
		.tx = now.tx - then.tx,
		.tx_dropped = now.tx_dropped - then.tx_dropped,
		.rx = now.rx - then.rx,
		.rx_dropped = now.rx_dropped - then.rx_dropped,
	};
}

static struct watchdog_counts counts_add(struct watchdog_counts a, struct watchdog_counts b)
{
	return (struct watchdog_counts){ a.tx + b.tx, a.tx_dropped + b.tx_dropped, a.rx + b.rx,
					 a.rx_dropped + b.rx_dropped };
}

// Begins or ends a spell of mitigation.
static void set_applied(struct sw_lcore *lc, port_t port, uint32_t queue, bool on)
{
	struct port_state *st = &lc->port[port.v];
	struct watchdog_state *wd = &st->watchdog[queue];
	const uint8_t bit = (uint8_t)(1u << queue);

	if (((st->applied & bit) != 0) == on)
		return;
	st->applied ^= bit;
	if (on) {
		wd->base = counts_now(lc, port, queue);
		return;
	}
	wd->last = counts_since(counts_now(lc, port, queue), wd->base);
	wd->ended = counts_add(wd->ended, wd->last);
}

struct masks {
	uint8_t refused, discarded, muted, unpaused;
};

static struct masks masks_of(const struct port_profile *pf, uint8_t applied)
{
	struct masks masks = { 0 };

	for (uint32_t left = applied; left != 0; left &= left - 1) {
		const uint32_t queue = (uint32_t)__builtin_ctz(left);
		const struct watchdog_profile *wd = &pf->watchdog[queue];
		const uint8_t bit = (uint8_t)(1u << queue);

		switch (wd->action) {
		case WATCHDOG_DROP:
			masks.refused |= bit;
			masks.discarded |= wd->groups;
			masks.muted |= wd->announced;
			break;
		case WATCHDOG_FORWARD: masks.unpaused |= bit; break;
		case WATCHDOG_ALERT: break;
		}
	}
	return masks;
}

void watchdog_apply(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = port_state_of(lc, port);
	const bool all = port_is_up(st) && (lc->big_red || lc->pf->big_red_switch);
	struct masks masks;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		set_applied(lc, port, i,
			    (pf->watched >> i & 1) && (all || st->watchdog[i].pfc.stormed));
	masks = masks_of(pf, st->applied);
	st->refused = port_is_up(st) ? masks.refused | st->hello.refused : UINT8_MAX;
	st->discarded = masks.discarded;
	st->muted = masks.muted;
	st->unpaused = masks.unpaused;
	for (uint32_t left = masks.refused & st->backlog_mask; left != 0; left &= left - 1)
		flush_queue(lc, port, (queue_t){ (uint8_t)__builtin_ctz(left) }, DROP_PFC_WD_TX);
	if (port_is_up(st))
		admit_announce(lc, port, now);
}

static void note_turn(struct sw_lcore *lc, port_t port)
{
	port_set_add(&lc->storm_ports, port);
}

// What a device does not take is held by PFC that it obeys itself: by nothing else does a queue
// stand still for as long as a watchdog waits, but by a test that wants to be taken for PFC.
static uint64_t blocked_since_last(struct port_state *st, uint32_t queue, ns_t now)
{
	struct queue_state *q = &st->queue[queue];
	uint64_t total = q->blocked_ns;
	uint64_t blocked;

	if (blocked_queues(st) >> queue & 1)
		total += ns_since(now, q->blocked_at);
	blocked = total - q->watched_blocked_ns;
	q->watched_blocked_ns = total;
	return blocked;
}

static uint64_t paused_since_last(const struct watchdog_profile *pf, struct port_state *st,
				  uint32_t queue, ns_t now)
{
	uint64_t paused = blocked_since_last(st, queue, now);

	for (uint32_t left = pf->priorities; left != 0; left &= left - 1) {
		const prio_t prio = { (uint8_t)__builtin_ctz(left) };
		const uint64_t total = pfc_rx_paused_ns(&st->rx, prio, now);

		paused = u64_max(paused, total - st->watched_paused_ns[prio.v]);
		st->watched_paused_ns[prio.v] = total;
	}
	return paused;
}

static void start(struct sw_lcore *lc, port_t port, uint32_t queue, ns_t now)
{
	const struct watchdog_profile *pf = &port_profile_of(lc, port)->watchdog[queue];
	struct port_state *st = &lc->port[port.v];

	paused_since_last(pf, st, queue, now);
	if (pfc_watchdog_start(&pf->pfc, &st->watchdog[queue].pfc, st->queue[queue].stats.packets,
			       now))
		note_turn(lc, port);
	if (port_profile_of(lc, port)->watched >> queue & 1 && port_is_up(st))
		lc->watchdog_at = ns_min(lc->watchdog_at, st->watchdog[queue].pfc.next);
}

void watchdog_link(struct sw_lcore *lc, port_t port, ns_t now)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		start(lc, port, i, now);
	watchdog_apply(lc, port, now);
	lc->tick_at = ns_min(lc->tick_at, lc->watchdog_at);
}

void watchdog_rebind(struct sw_lcore *lc, const struct sw_profile *old, ns_t now)
{
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		uint32_t changed = old->port[n].watched ^ lc->pf->port[n].watched;

		if (!lcore_owns(lc, (port_t){ n }))
			continue;
		for (; changed != 0; changed &= changed - 1)
			start(lc, (port_t){ n }, (uint32_t)__builtin_ctz(changed), now);
		watchdog_apply(lc, (port_t){ n }, now);
	}
	lc->tick_at = ns_min(lc->tick_at, lc->watchdog_at);
}

// One queue whose poll may be due. True when a storm began or ended.
static bool poll_queue(struct sw_lcore *lc, port_t port, uint32_t queue, ns_t now)
{
	const struct watchdog_profile *pf = &port_profile_of(lc, port)->watchdog[queue];
	struct port_state *st = &lc->port[port.v];
	struct pfc_watchdog_state *wd = &st->watchdog[queue].pfc;
	const struct queue_state *q = &st->queue[queue];
	enum pfc_watchdog_event event = PFC_WATCHDOG_QUIET;

	if (!ns_before(now, wd->next)) {
		const struct pfc_watchdog_sample sample = {
			.head_since = q->head != NULL ? q->head->at : NS_NEVER,
			.dequeued = q->stats.packets,
			.paused_ns = paused_since_last(pf, st, queue, now),
		};

		event = pfc_watchdog_poll(&pf->pfc, wd, &sample, now);
	}
	lc->watchdog_at = ns_min(lc->watchdog_at, wd->next);
	return event != PFC_WATCHDOG_QUIET;
}

ns_t watchdog_tick(struct sw_lcore *lc, ns_t now)
{
	if (ns_before(now, lc->watchdog_at))
		return lc->watchdog_at;
	lc->watchdog_at = NS_NEVER;
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		const uint8_t watched = lc->pf->port[n].watched;
		bool turned = false;

		if (watched == 0 || !lcore_owns(lc, (port_t){ n }) || !port_is_up(&lc->port[n]))
			continue;
		for (uint32_t left = watched; left != 0; left &= left - 1)
			turned |= poll_queue(lc, (port_t){ n }, (uint32_t)__builtin_ctz(left), now);
		if (!turned)
			continue;
		note_turn(lc, (port_t){ n });
		watchdog_apply(lc, (port_t){ n }, now);
	}
	return lc->watchdog_at;
}

// Queues whose storm is not as it was last told.
static uint8_t untold(const struct port_state *st)
{
	uint8_t stormed = 0;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		stormed |= (uint8_t)(st->watchdog[i].pfc.stormed << i);
	return stormed ^ st->storm_told;
}

bool watchdog_report(struct sw_lcore *lc, struct sw_action *out)
{
	PORT_SET_FOR_EACH(port, &lc->storm_ports) {
		struct port_state *st = &lc->port[port.v];
		const uint8_t left = untold(st);
		uint8_t queue;

		if (left == 0) {
			port_set_remove(&lc->storm_ports, port);
			continue;
		}
		queue = (uint8_t)__builtin_ctz(left);
		st->storm_told ^= (uint8_t)(1u << queue);
		*out = (struct sw_action){
			.kind = SW_ACTION_STORM,
			.port = port,
			.queue = { queue },
			.stormed = st->watchdog[queue].pfc.stormed,
		};
		return true;
	}
	return false;
}

bool sw_storm(struct sw *sw, port_t port, queue_t queue, bool on, ns_t now)
{
	struct port_state *st = &sw->port[port.v];

	lcore_of_port(sw, port)->now = now;
	if (!(sw->pf->port[port.v].watched >> queue.v & 1) || !port_is_up(st))
		return false;
	pfc_watchdog_force(&st->watchdog[queue.v].pfc, on, now);
	return true;
}

void sw_big_red(struct sw *sw, lcore_t lcore, bool on, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];

	lc->now = now;
	lc->big_red = on;
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (lcore_owns(lc, (port_t){ n }))
			watchdog_apply(lc, (port_t){ n }, now);
	}
}

bool sw_big_red_on(const struct sw *sw)
{
	return sw->pf->big_red_switch || sw->lcore[0].big_red;
}

void watchdog_stats(const struct sw_lcore *lc, port_t port, queue_t queue, struct queue_stats *out)
{
	const struct port_state *st = &lc->port[port.v];
	const struct watchdog_state *wd = &st->watchdog[queue.v];
	struct watchdog_counts last = wd->last;
	struct watchdog_counts total = wd->ended;

	if (st->applied >> queue.v & 1) {
		last = counts_since(counts_now(lc, port, queue.v), wd->base);
		total = counts_add(total, last);
	}
	out->pfc_wd_status = wd->pfc.stormed;
	out->pfc_wd_deadlock_detected = wd->pfc.detected;
	out->pfc_wd_deadlock_restored = wd->pfc.restored;
	out->pfc_wd_tx_packets = total.tx;
	out->pfc_wd_tx_dropped_packets = total.tx_dropped;
	out->pfc_wd_rx_packets = total.rx;
	out->pfc_wd_rx_dropped_packets = total.rx_dropped;
	out->pfc_wd_tx_packets_last = last.tx;
	out->pfc_wd_tx_dropped_packets_last = last.tx_dropped;
	out->pfc_wd_rx_packets_last = last.rx;
	out->pfc_wd_rx_dropped_packets_last = last.rx_dropped;
}
