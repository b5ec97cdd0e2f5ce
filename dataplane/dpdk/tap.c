// SPDX-License-Identifier: BSD-3-Clause
//
// A ring of bytes with one writer and one reader. Records do not wrap: what is left at the end of
// the ring and too short for one becomes a record that only says how long it is. Indices run
// freely; the writer publishes `head` once a record is whole, the reader `tail` once it is read.

#include "dataplane/dpdk/tap.h"

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "base/check.h"
#include "dataplane/dpdk/pool.h"

enum { RECORD_ALIGN = 8 };
static_assert(sizeof(struct tap_record) % RECORD_ALIGN == 0, "data begins on a word");

struct tap *tap_new(const struct tap_filter *filter, const struct clock *clock, uint64_t ring_bytes)
{
	struct tap *tap = aligned_alloc(64, (sizeof(*tap) + 63) & ~(size_t)63);

	WEFT_CHECK(ring_bytes >= TAP_RING_BYTES_MIN && (ring_bytes & (ring_bytes - 1)) == 0);
	if (tap == NULL)
		return NULL;
	*tap = (struct tap){ .filter = *filter, .clock = *clock, .bytes = ring_bytes };
	tap->ring = aligned_alloc(64, ring_bytes);
	if (tap->ring == NULL) {
		free(tap);
		return NULL;
	}
	memset(tap->ring, 0, ring_bytes); // no page fault on the lcore
	return tap;
}

void tap_free(struct tap *tap)
{
	if (tap == NULL)
		return;
	free(tap->ring);
	free(tap);
}

static struct tap_record *record_at(const struct tap *tap, uint64_t index)
{
	return (struct tap_record *)(tap->ring + (index & (tap->bytes - 1)));
}

const struct tap_record *tap_peek(struct tap *tap)
{
	const uint64_t head = __atomic_load_n(&tap->head, __ATOMIC_ACQUIRE);

	while (tap->tail != head) {
		const struct tap_record *record = record_at(tap, tap->tail);

		if (record->caught != UINT32_MAX)
			return record;
		tap_pop(tap, record);
	}
	return NULL;
}

void tap_pop(struct tap *tap, const struct tap_record *record)
{
	__atomic_store_n(&tap->tail, tap->tail + record->bytes, __ATOMIC_RELEASE);
}

static uint32_t port_index(port_t port)
{
	return port.v < CONFIG_PORT_MAX ? port.v : CONFIG_PORT_MAX;
}

uint64_t tap_lost(const struct tap *tap, port_t port)
{
	return __atomic_load_n(&tap->lost[port_index(port)], __ATOMIC_RELAXED);
}

bool taps_add(struct taps *taps, struct tap *tap)
{
	if (taps->count == TAPS_MAX)
		return false;
	taps->tap[taps->count++] = tap;
	return true;
}

void taps_remove(struct taps *taps, const struct tap *tap)
{
	for (uint32_t i = 0; i < taps->count; i++) {
		if (taps->tap[i] != tap)
			continue;
		taps->tap[i] = taps->tap[--taps->count];
		return;
	}
}

// Room for a record of `bytes`, or NULL. What is left of the ring before it is skipped.
static struct tap_record *reserve(struct tap *tap, uint64_t bytes)
{
	const uint64_t left = tap->bytes - (tap->head & (tap->bytes - 1));
	const uint64_t skip = bytes > left ? left : 0;

	if (tap->head + skip + bytes - tap->tail_seen > tap->bytes)
		tap->tail_seen = __atomic_load_n(&tap->tail, __ATOMIC_ACQUIRE);
	if (tap->head + skip + bytes - tap->tail_seen > tap->bytes)
		return NULL;
	if (skip > 0) {
		struct tap_record *record = record_at(tap, tap->head);

		// Of a record that short only these two are there.
		record->bytes = (uint32_t)skip;
		record->caught = UINT32_MAX;
		__atomic_store_n(&tap->head, tap->head + skip, __ATOMIC_RELEASE);
	}
	return record_at(tap, tap->head);
}

static void copy(uint8_t *out, const struct rte_mbuf *m, uint32_t bytes)
{
	while (bytes > 0) {
		const uint32_t part = bytes < m->data_len ? bytes : m->data_len;

		memcpy(out, rte_pktmbuf_mtod(m, const uint8_t *), part);
		out += part;
		bytes -= part;
		m = m->next;
	}
}

static void lose(struct tap *tap, uint32_t port)
{
	__atomic_store_n(&tap->lost[port], tap->lost[port] + 1, __ATOMIC_RELAXED);
	tap->pending[port]++;
}

// Puts the frame of an mbuf into the ring, described by `about`.
static void put(struct tap *tap, const struct tap_record *about, const struct rte_mbuf *m)
{
	const uint32_t port = port_index(about->port);
	const uint32_t caught = m->pkt_len < tap->filter.snaplen ? m->pkt_len : tap->filter.snaplen;
	const uint64_t bytes = (sizeof(*about) + caught + RECORD_ALIGN - 1) &
			       ~(uint64_t)(RECORD_ALIGN - 1);
	struct tap_record *record = reserve(tap, bytes);

	if (record == NULL) {
		lose(tap, port);
		return;
	}
	*record = *about;
	record->bytes = (uint32_t)bytes;
	record->caught = caught;
	record->len = m->pkt_len;
	record->at = clock_now(&tap->clock);
	record->lost = tap->pending[port];
	tap->pending[port] = 0;
	copy(record->data, m, caught);
	__atomic_store_n(&tap->head, tap->head + bytes, __ATOMIC_RELEASE);
}

static struct tap_record describe(enum tap_what what, port_t port, const struct pkt *p)
{
	return (struct tap_record){
		.what = (uint8_t)what,
		.port = port,
		.in_port = p->in_port,
		.out_port = p->out_port,
		.queue = p->queue.v,
		.pg = p->pg.v,
		.flags = p->flags,
		.ecn = pkt_ecn(p),
	};
}

void taps_drop(const struct taps *taps, const struct pkt *p, enum drop_reason reason)
{
	const bool out = drop_infos[reason].side == DROP_SIDE_OUT && p->out_port.v != PORT_NONE.v;
	const port_t port = out ? p->out_port : p->in_port;
	struct tap_record about = describe(TAP_DROPPED, port, p);

	about.reason = (uint8_t)reason;
	for (uint32_t i = 0; i < taps->count; i++) {
		const struct tap_filter *filter = &taps->tap[i]->filter;

		if (filter->kind == TAP_DROPS && filter->reasons >> reason & 1 &&
		    (filter->port.v == PORT_NONE.v || filter->port.v == port.v))
			put(taps->tap[i], &about, mbuf_from_pkt(p));
	}
}

void taps_in(const struct taps *taps, port_t port, struct pkt *const *pkts, uint32_t count)
{
	const struct tap_record about = {
		.what = TAP_RECEIVED,
		.port = port,
		.in_port = port,
		.out_port = PORT_NONE,
	};

	for (uint32_t i = 0; i < taps->count; i++) {
		const struct tap_filter *filter = &taps->tap[i]->filter;

		if (filter->kind != TAP_PORT || filter->port.v != port.v || !filter->in)
			continue;
		for (uint32_t k = 0; k < count; k++)
			put(taps->tap[i], &about, mbuf_of_pkt(pkts[k]));
	}
}

static bool takes_out(const struct tap_filter *filter, port_t port, queue_t queue)
{
	if (filter->port.v != port.v)
		return false;
	return (filter->kind == TAP_QUEUE && filter->queue.v == queue.v) ||
	       (filter->kind == TAP_PORT && filter->out);
}

static void put_sent(struct tap *tap, const struct sw *sw, port_t port, struct pkt *const *pkts,
		     uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		struct tap_record about = describe(TAP_SENT, port, pkts[k]);

		if (!takes_out(&tap->filter, port, pkts[k]->queue))
			continue;
		about.queued_bytes = sw_tx_queued(sw, pkts, count, k);
		put(tap, &about, mbuf_from_pkt(pkts[k]));
	}
}

void taps_out(const struct taps *taps, const struct sw *sw, port_t port, struct pkt *const *pkts,
	      uint32_t count)
{
	for (uint32_t i = 0; i < taps->count; i++)
		put_sent(taps->tap[i], sw, port, pkts, count);
}

void taps_own(const struct taps *taps, port_t port, const struct rte_mbuf *m)
{
	const struct tap_record about = {
		.what = TAP_OWN,
		.port = port,
		.in_port = PORT_NONE,
		.out_port = port,
	};

	for (uint32_t i = 0; i < taps->count; i++) {
		const struct tap_filter *filter = &taps->tap[i]->filter;

		if (filter->kind != TAP_PORT || filter->port.v != port.v || !filter->out)
			continue;
		if (m != NULL)
			put(taps->tap[i], &about, m);
		else
			lose(taps->tap[i], port_index(port));
	}
}
