// SPDX-License-Identifier: BSD-3-Clause
//
// An endpoint's memory, its queue pairs, and who of them may send. All memory is laid out once, in
// endpoint_init().

#include "traffic/core/endpoint_state.h"

#include <errno.h>

#include "base/check.h"
#include "base/hash.h"

// --- memory -----------------------------------------------------------------------------------

enum {
	CACHE_LINE = 64,
	REPAIRS = 8,    // gaps that a selective queue pair repairs at a time
	LOOK_MIN = 256, // rates that a look adds up, if so many queue pairs have data
};

// Lays out arrays one behind the other; with `base` NULL it only counts.
struct arena {
	uint8_t *base;
	size_t used;
};

static void *take(struct arena *arena, size_t count, size_t bytes)
{
	void *at = arena->base == NULL ? NULL : arena->base + arena->used;

	arena->used += (count * bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	return at;
}

// The sizes of these are powers of two.
static uint32_t room_for(uint32_t least)
{
	uint32_t count = 1;

	while (count < least)
		count *= 2;
	return count;
}

// Of a set of bits.
static uint32_t words_for(uint32_t bits)
{
	return (bits + 63) / 64;
}

// The arrays of one queue pair.
static struct rc_memory take_qp(struct arena *arena, const struct endpoint_profile *pf,
				const struct endpoint_state *st)
{
	struct rc_memory memory = {
		.send_count = pf->send_count,
		.receive_count = pf->receive_count,
		.read_count = room_for(pf->rc.read_depth),
		.early_count = pf->rc.selective ? room_for(pf->rc.window) : 0,
		.range_count = pf->rc.selective ? REPAIRS : 0,
	};

	memory.send = take(arena, memory.send_count, sizeof(*memory.send));
	memory.receive = take(arena, memory.receive_count, sizeof(*memory.receive));
	memory.read = take(arena, memory.read_count, sizeof(*memory.read));
	memory.early = take(arena, memory.early_count, sizeof(*memory.early));
	memory.range = take(arena, memory.range_count, sizeof(*memory.range));
	if (st != NULL) {
		memory.region = st->region;
		memory.region_count = st->region_count;
	}
	return memory;
}

// Returns what precedes the arrays of the queue pairs.
static struct endpoint_state *take_endpoint(struct arena *arena, const struct endpoint_profile *pf)
{
	struct endpoint_state *st = take(arena, 1, sizeof(*st));
	struct endpoint_qp *qp = take(arena, pf->qp_count, sizeof(*qp));
	struct heap_node *node = take(arena, pf->qp_count, sizeof(*node));
	uint32_t *place = take(arena, pf->qp_count, sizeof(*place));
	uint64_t *sends = take(arena, words_for(pf->qp_count), sizeof(*sends));
	struct endpoint_neighbor *neighbor = take(arena, pf->neighbor_count, sizeof(*neighbor));
	struct endpoint_lldp *lldp = take(arena, pf->lldp.interval_ns != 0, sizeof(*lldp));

	if (st != NULL) {
		st->qp = qp;
		st->sends = sends;
		st->neighbor = neighbor;
		st->lldp = pf->lldp.interval_ns != 0 ? lldp : NULL;
		heap_init(&st->timers, node, place, pf->qp_count);
	}
	return st;
}

size_t endpoint_bytes(const struct endpoint_profile *pf)
{
	struct arena count = { 0 };
	size_t fixed;

	take_endpoint(&count, pf);
	fixed = count.used;
	take_qp(&count, pf, NULL);
	return fixed + (count.used - fixed) * pf->qp_count;
}

struct endpoint_state *endpoint_init(const struct endpoint_profile *pf,
				     const struct rc_region *region, uint32_t region_count,
				     void *memory)
{
	struct arena arena = { .base = memory };
	struct endpoint_state *st = take_endpoint(&arena, pf);

	st->region = region;
	st->region_count = region_count;
	st->ask_at = NS_NEVER;
	st->storm_at = pf->trouble.storm_start;
	st->unannounced = (uint8_t)((pf->has_ipv4 ? 1 : 0) | (pf->has_ipv6 ? 2 : 0));
	rng_seed(&st->rng, pf->seed);
	for (uint32_t list = 0; list < ENDPOINT_LISTS; list++) {
		for (uint32_t i = 0; i < PRIO_COUNT; i++)
			st->list[list][i] = (struct endpoint_fifo){ ENDPOINT_NONE, ENDPOINT_NONE };
	}
	for (uint32_t i = 0; i < pf->qp_count; i++) {
		st->qp[i].memory = take_qp(&arena, pf, st);
		for (uint32_t list = 0; list < ENDPOINT_LISTS; list++)
			st->qp[i].next[list] = ENDPOINT_OUT;
	}
	endpoint_lldp_init(pf, st);
	return st;
}

// --- lists ------------------------------------------------------------------------------------

void endpoint_push(struct endpoint_state *st, enum endpoint_list list, uint32_t at, uint32_t qp)
{
	struct endpoint_fifo *fifo = &st->list[list][at];

	if (st->qp[qp].next[list] != ENDPOINT_OUT)
		return;
	st->qp[qp].next[list] = ENDPOINT_NONE;
	if (fifo->head == ENDPOINT_NONE)
		fifo->head = qp;
	else
		st->qp[fifo->tail].next[list] = qp;
	fifo->tail = qp;
	st->filled[list] |= (uint8_t)(1u << at);
}

uint32_t endpoint_pop(struct endpoint_state *st, enum endpoint_list list, uint32_t at)
{
	struct endpoint_fifo *fifo = &st->list[list][at];
	const uint32_t qp = fifo->head;

	if (qp == ENDPOINT_NONE)
		return qp;
	fifo->head = st->qp[qp].next[list];
	if (fifo->head == ENDPOINT_NONE)
		st->filled[list] &= (uint8_t) ~(1u << at);
	st->qp[qp].next[list] = ENDPOINT_OUT;
	return qp;
}

static void sort_list(struct endpoint_state *st, enum endpoint_list list)
{
	struct endpoint_fifo old[PRIO_COUNT];

	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		old[i] = st->list[list][i];
		st->list[list][i] = (struct endpoint_fifo){ ENDPOINT_NONE, ENDPOINT_NONE };
	}
	st->filled[list] = 0;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		uint32_t qp = old[i].head;

		while (qp != ENDPOINT_NONE) {
			const uint32_t next = st->qp[qp].next[list];

			st->qp[qp].next[list] = ENDPOINT_OUT;
			endpoint_push(st, list, st->qp[qp].prio, qp);
			qp = next;
		}
	}
}

void endpoint_sort(const struct endpoint_profile *pf, struct endpoint_state *st)
{
	memset(st->sends_of, 0, sizeof(st->sends_of));
	for (uint32_t i = 0; i < pf->qp_count; i++) {
		st->qp[i].prio = st->rules.dscp_to_prio[st->qp[i].path.dscp];
		st->sends_of[st->qp[i].prio] += st->qp[i].sends;
	}
	sort_list(st, ENDPOINT_DATA);
	sort_list(st, ENDPOINT_ANSWER);
}

// What is seen of the queue pair from outside.
static void note(struct endpoint_state *st, uint32_t qp, bool sends)
{
	struct endpoint_qp *q = &st->qp[qp];

	st->retransmits += q->rc.stats.retransmits - q->retransmits;
	q->retransmits = q->rc.stats.retransmits;
	if (q->sends == sends)
		return;
	q->sends = sends;
	st->sends[qp / 64] ^= 1ull << qp % 64;
	st->sends_of[q->prio] += sends ? 1 : UINT32_MAX;
}

void endpoint_wake(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		   ns_t now)
{
	struct endpoint_qp *q = &st->qp[qp];
	uint32_t kinds;
	ns_t at;

	if (q->path.dst_mac == 0)
		return;
	// Before the deadline is asked for: timers that are due have their effect here.
	kinds = rc_kinds(&pf->rc, &q->rc, now);
	at = rc_deadline(&pf->rc, &q->rc);
	note(st, qp, kinds >> RC_DATA & 1);
	if (kinds >> RC_ANSWER & 1)
		endpoint_push(st, ENDPOINT_ANSWER, q->prio, qp);
	if (kinds >> RC_DATA & 1) {
		if (pacer_ready(&q->pacer, now))
			endpoint_push(st, ENDPOINT_DATA, q->prio, qp);
		else
			at = ns_min(at, q->pacer.ready);
	}
	heap_set(&st->timers, qp, at);
}

void endpoint_tick(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now)
{
	WEFT_CHECK(!ns_before(now, st->now));
	st->now = now;
	if (st->receiver.wanted != 0)
		receiver_tick(&st->receiver_pf, &st->receiver, now);
	// Each that is due once; what is due again at once comes with the next call.
	for (uint32_t i = 0; i < pf->qp_count && !ns_before(now, heap_next(&st->timers)); i++) {
		const uint32_t qp = st->timers.node[0].id;

		heap_remove(&st->timers, qp);
		endpoint_wake(pf, st, qp, now);
		endpoint_push(st, ENDPOINT_DONE, 0, qp);
	}
}

void endpoint_away(const struct endpoint_profile *pf, struct endpoint_state *st, uint64_t ns)
{
	for (uint32_t i = 0; i < pf->qp_count; i++) {
		if (st->qp[i].connected && rc_away(&st->qp[i].rc, ns))
			endpoint_wake(pf, st, i, st->now);
	}
}

// --- queue pairs ------------------------------------------------------------------------------

// The port that soft-RoCE would take: 0xc000 | a hash of the number.
static uint16_t entropy(uint32_t number)
{
	const uint64_t hash = hash_add(HASH_EMPTY, number);

	return (uint16_t)(0xc000 | ((hash ^ hash >> 32) & 0x3fff));
}

int endpoint_connect(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		     const struct endpoint_peer *peer, ns_t now)
{
	struct ip_prefix address = {
		.family = peer->ipv6 ? IP_V6 : IP_V4,
		.len = peer->ipv6 ? 128 : 32,
	};
	struct endpoint_qp *q = &st->qp[qp];
	int neighbor;

	if (qp >= pf->qp_count || q->connected || !(peer->ipv6 ? pf->has_ipv6 : pf->has_ipv4))
		return -EINVAL;
	memcpy(address.address, peer->ip, address.len / 8);
	neighbor = endpoint_neighbor_find(pf, st, &address, now);
	if (neighbor < 0)
		return neighbor;
	if (peer->mac != 0)
		endpoint_neighbor_resolve(pf, st, (uint32_t)neighbor, peer->mac, now);
	q->neighbor = (uint32_t)neighbor;
	q->peer_qp = peer->qp;
	q->prio = st->rules.dscp_to_prio[peer->dscp];
	q->path = (struct roce_path){
		.src_mac = pf->mac,
		.dst_mac = st->neighbor[neighbor].mac,
		.ipv6 = peer->ipv6,
		.src_port = peer->src_port != 0 ? peer->src_port : entropy(pf->qp_base + qp),
		.dscp = peer->dscp,
		.ecn = peer->ecn,
		.hop_limit = 64,
	};
	memcpy(q->path.dst_ip, peer->ip, address.len / 8);
	memcpy(q->path.src_ip, peer->ipv6 ? pf->ipv6 : pf->ipv4, address.len / 8);
	rc_init(&pf->rc, &q->rc, &q->memory, peer->qp, peer->send_psn, peer->receive_psn);
	if (pf->dcqcn)
		dcqcn_rp_init(&pf->rp, &q->rp);
	q->connected = true;
	return 0;
}

bool endpoint_resolved(const struct endpoint_state *st)
{
	return st->ask_at.v == NS_NEVER.v;
}

bool endpoint_post(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		   const struct rc_work *work, ns_t now)
{
	if (!st->qp[qp].connected || !rc_post(&pf->rc, &st->qp[qp].rc, work, now))
		return false;
	// More work changes nothing for one whose turn will come.
	if (st->qp[qp].next[ENDPOINT_DATA] == ENDPOINT_OUT || !st->qp[qp].sends)
		endpoint_wake(pf, st, qp, now);
	return true;
}

bool endpoint_post_receive(struct endpoint_state *st, uint32_t qp, const struct rc_receive *receive)
{
	return st->qp[qp].connected && rc_post_receive(&st->qp[qp].rc, receive);
}

bool endpoint_complete(struct endpoint_state *st, uint32_t *qp, struct rc_completion *out)
{
	for (;;) {
		const uint32_t first = st->list[ENDPOINT_DONE][0].head;

		if (first == ENDPOINT_NONE)
			return false;
		*qp = first;
		if (rc_complete(&st->qp[first].rc, out))
			return true;
		endpoint_pop(st, ENDPOINT_DONE, 0);
	}
}

// --- what it has seen -------------------------------------------------------------------------

void endpoint_stats_read(const struct endpoint_profile *pf, const struct endpoint_state *st,
			 struct endpoint_stats *out, struct rc_stats *rc)
{
	*out = st->stats;
	*rc = (struct rc_stats){ 0 };
	for (uint32_t i = 0; i < pf->qp_count; i++)
		rc_stats_add(rc, &st->qp[i].rc.stats);
}

void endpoint_qp_read(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		      ns_t now, struct endpoint_qp_view *out)
{
	struct endpoint_qp *q = &st->qp[qp];

	*out = (struct endpoint_qp_view){
		.rc = q->rc.stats,
		.rate_bps = pf->dcqcn ? dcqcn_rp_rate(&pf->rp, &q->rp, now) : pf->bps,
		.rx_ce = q->rx_ce,
		.rx_cnp = q->rx_cnp,
		.tx_cnp = q->tx_cnp,
	};
}

// The rate that DCQCN leaves to all that have data: that of a few, each time others, and as much
// for the rest. A sum that has reached the line says all there is to say.
static uint64_t rate_of(const struct endpoint_profile *pf, struct endpoint_state *st,
			uint32_t sending, ns_t now)
{
	const uint32_t words = words_for(pf->qp_count);
	uint32_t count = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < words && count < LOOK_MIN && sum < pf->bps; i++) {
		const uint32_t word = (st->look_at + i) % words;

		for (uint64_t bits = st->sends[word]; bits != 0; bits &= bits - 1) {
			struct endpoint_qp *q =
				&st->qp[word * 64 + (uint32_t)__builtin_ctzll(bits)];

			sum += dcqcn_rp_rate(&pf->rp, &q->rp, now);
			count++;
		}
	}
	st->look_at = (st->look_at + LOOK_MIN / 64) % words;
	return count == 0 || sum >= pf->bps ? sum : sum / count * sending;
}

void endpoint_look(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
		   struct sight *out)
{
	const uint8_t paused = pfc_rx_paused(&st->pause, now);
	uint32_t sending = 0, free = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		sending += st->sends_of[i];
		free += paused >> i & 1 ? 0 : st->sends_of[i];
	}
	*out = (struct sight){
		.line_bps = pf->bps,
		.retransmits = st->retransmits,
		.sending = sending != 0,
		.paused = sending != 0 && free == 0,
	};
	if (sending != 0)
		out->rate_bps = pf->dcqcn ? rate_of(pf, st, sending, now) : pf->bps;
}

uint64_t endpoint_paused_ns(const struct endpoint_state *st, prio_t prio, ns_t now)
{
	return pfc_rx_paused_ns(&st->pause, prio, now);
}

uint64_t endpoint_pausing_ns(const struct endpoint_state *st, prio_t prio, ns_t now)
{
	return pfc_gen_paused_ns(&st->receiver.gen, prio, now);
}
