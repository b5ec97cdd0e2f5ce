// SPDX-License-Identifier: BSD-3-Clause
//
// Before stage 1, on ports with an impairment: see impair.h.
//
// A frame takes its time on the wire at `rate`, then the dice decide, then comes the delay. The
// dice are thrown equally often for every frame, so that one knob does not change what another
// does: the same frames are lost with and without jitter.

#include "dataplane/core/impair.h"

#include "base/bytes.h"
#include "pfc/pfc.h"

enum {
	PPM = 1000000,
	WIRE_EXTRA_BYTES = 24, // FCS, preamble, start delimiter and gap
	WIRE_MIN_BYTES = 84,
	ADDRESS_BYTES = 12,
	TYPE_END = 14,
};

void impair_init(struct impair_line *line, uint64_t seed)
{
	*line = (struct impair_line){ 0 };
	rng_seed(&line->dice, seed);
}

static bool hits(struct impair_line *line, uint32_t ppm)
{
	return rng_below(&line->dice, PPM) < ppm;
}

static bool is_control(const struct pkt *p)
{
	return p->head_len >= TYPE_END && load_be16(p->data + ADDRESS_BYTES) == PFC_ETHERTYPE;
}

// One bit, so that no checksum misses it; not of the addresses, so that it still gets somewhere.
static void corrupt(struct impair_line *line, struct pkt *p, uint32_t dice)
{
	uint32_t bytes = p->head_len - (uint32_t)ADDRESS_BYTES;
	uint32_t bit = (uint32_t)((uint64_t)dice * (8 * bytes) >> 32);

	p->data[ADDRESS_BYTES + bit / 8] ^= (uint8_t)(1u << bit % 8);
	line->stats.corrupted++;
}

static void push(struct impair_line *line, struct impair_queue *q, struct pkt *p, ns_t at)
{
	q->last = (ns_t){ u64_max(q->last.v, at.v) };
	p->at = q->last;
	p->next = NULL;
	if (q->head == NULL)
		q->head = p;
	else
		q->tail->next = p;
	q->tail = p;
	line->held++;
}

static struct pkt *pop(struct impair_line *line, struct impair_queue *q)
{
	struct pkt *p = q->head;

	q->head = p->next;
	p->next = NULL;
	line->held--;
	return p;
}

// False when the frame is lost.
static bool take(const struct impair_profile *pf, struct impair_line *line, struct pkt *p, ns_t now)
{
	const bool lost = hits(line, pf->loss_ppm);
	const bool corrupted = hits(line, pf->corrupt_ppm);
	const uint32_t which = rng_next32(&line->dice);
	const uint64_t jitter = rng_next64(&line->dice) % (pf->jitter_ns + 1);
	const bool control = is_control(p);
	ns_t at = now;

	line->stats.taken++;
	if (pf->rate.bps != 0) {
		pacer_charge(&pf->rate, &line->rate,
			     u64_max(p->len + WIRE_EXTRA_BYTES, WIRE_MIN_BYTES), now);
		at = line->rate.ready;
	}
	if (lost) {
		line->stats.lost++;
		return false;
	}
	if (line->held >= line->limit) {
		line->stats.overrun++;
		return false;
	}
	if (corrupted && p->head_len > ADDRESS_BYTES)
		corrupt(line, p, which);
	at = ns_add(at, pf->delay_ns + jitter + (control ? pf->pfc_delay_ns : 0));
	push(line, control ? &line->control : &line->data, p, at);
	return true;
}

uint32_t impair_take(const struct impair_profile *pf, struct impair_line *line, struct pkt **pkts,
		     uint32_t count, ns_t now)
{
	uint32_t lost = 0;

	if (pf->limit != 0)
		line->limit = pf->limit;
	else if (line->held == 0)
		line->limit = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++) {
		if (!take(pf, line, pkts[i], now))
			pkts[lost++] = pkts[i];
	}
	return lost;
}

static ns_t end_of(const struct impair_queue *q)
{
	return q->head != NULL ? q->head->at : NS_NEVER;
}

uint32_t impair_give(struct impair_line *line, struct pkt **pkts, uint32_t max, ns_t now)
{
	uint32_t count = 0;

	while (count < max && line->held > 0 && impair_deadline(line).v <= now.v) {
		bool data = ns_before(end_of(&line->data), end_of(&line->control));

		pkts[count++] = pop(line, data ? &line->data : &line->control);
	}
	line->stats.given += count;
	return count;
}

ns_t impair_deadline(const struct impair_line *line)
{
	return ns_min(end_of(&line->data), end_of(&line->control));
}

uint32_t impair_clear(struct impair_line *line, struct pkt **pkts, uint32_t max)
{
	uint32_t count = 0;

	while (count < max && line->held > 0)
		pkts[count++] = pop(line, line->data.head != NULL ? &line->data : &line->control);
	line->stats.lost += count;
	return count;
}
