// SPDX-License-Identifier: BSD-3-Clause
//
// DCQCN reaction point: the rate of one flow. A CNP cuts it by half of alpha, an estimate of how
// many periods have congestion; timer and byte counter raise it again, first back towards the rate
// before the cut (fast recovery), then by steps beyond it (additive, hyper increase): SIGCOMM 2015,
// section 3.1 and figure 7, after QCN (IEEE 802.1Q clause 32).
//
// Invariants: min <= rate <= target <= line; alpha in 0..1; the state at any time depends on the
// CNPs and the bytes sent, never on how often it was looked at: timers step by whole periods, and
// alpha is worked out at CNPs and cuts only.

#include "ecn/dcqcn.h"

#include "base/check.h"

// a * b / 2^shift without an overflow.
static uint64_t multiply(uint64_t a, uint64_t b, uint32_t shift)
{
	return (uint64_t)((unsigned __int128)a * b >> shift);
}

void dcqcn_rp_init(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st)
{
	WEFT_DEBUG_CHECK(pf->min_bps > 0 && pf->min_bps <= pf->line_bps);
	WEFT_DEBUG_CHECK(pf->alpha_ns > 0 && pf->timer_ns > 0 && pf->g > 0);
	*st = (struct dcqcn_rp_state){
		.rate_bps = pf->line_bps,
		.target_bps = pf->line_bps,
		.alpha = pf->alpha_initial,
		.alpha_next = NS_NEVER,
		.timer_next = NS_NEVER,
		.cut_at = NS_NEVER,
	};
}

// --- alpha ------------------------------------------------------------------------------------

// (1 - g) alpha + g, which is alpha + g (1 - alpha).
static uint64_t raised(uint64_t alpha, uint64_t g)
{
	return alpha + multiply(DCQCN_ONE - alpha, g, 32);
}

// alpha (1 - g)^periods by squaring, rounded down: below 64 rounds whatever the number of periods.
static uint64_t decayed(uint64_t alpha, uint64_t g, uint64_t periods)
{
	uint64_t power = (DCQCN_ONE - g) << 32; // in units of 2^-64: below 1, since g > 0

	for (; periods > 0 && alpha > 0; periods >>= 1) {
		if (periods & 1)
			alpha = multiply(alpha, power, 64);
		power = multiply(power, power, 64);
	}
	return alpha;
}

// Ends the periods of alpha up to now. The one with a CNP in it, if any, is the first of them.
static void alpha_to(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	uint64_t periods;

	if (ns_before(now, st->alpha_next))
		return;
	periods = ns_since(now, st->alpha_next) / pf->alpha_ns;
	st->alpha_next = ns_add(ns_add(st->alpha_next, periods * pf->alpha_ns), pf->alpha_ns);
	if (st->noted)
		st->alpha = raised(st->alpha, pf->g);
	else
		periods++;
	st->noted = false;
	st->alpha = decayed(st->alpha, pf->g, periods);
}

uint64_t dcqcn_rp_alpha(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st,
			ns_t now)
{
	struct dcqcn_rp_state copy = *st;

	dcqcn_rp_rate(pf, &copy, now);
	if (copy.limited)
		alpha_to(pf, &copy, now);
	return copy.alpha;
}

// --- increase ---------------------------------------------------------------------------------

// The step of the phase that a counter at `own` is in, and how many of its events belong to it. A
// counter that is not in use (NULL) holds nothing up.
//
// Stages count the increases before the one at hand: it is of fast recovery while both are below F,
// hyper when both are above, additive otherwise. So F recoveries come before the first step, as in
// the fluid model; with F = 1 and the timer alone there are one recovery, one step, and then hyper
// increase, as in ConnectX.
static uint64_t phase(const struct dcqcn_rp_profile *pf, uint8_t own, const uint8_t *other,
		      uint64_t *step)
{
	const uint8_t stages = pf->stages;

	if (own < stages && (other == NULL || *other < stages)) {
		*step = 0;
		return stages - own;
	}
	*step = pf->rai_bps;
	if (pf->rhai_bps == 0 || (other != NULL && *other <= stages))
		return UINT64_MAX;
	if (own <= stages)
		return stages + 1u - own;
	*step = pf->rhai_bps;
	return UINT64_MAX;
}

// `count` events of one phase. The gap between the rates converges, by half each time, on one that
// an event leaves as it is; from there on both rates rise by the step, until the target meets the
// line rate and the gap closes. So there are below 100 rounds.
static void raise_rates(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, uint64_t step,
			uint64_t count)
{
	while (count > 0) {
		const uint64_t gap = st->target_bps - st->rate_bps;
		uint64_t same;

		if (st->target_bps == pf->line_bps)
			step = 0;
		st->target_bps = u64_min(pf->line_bps, st->target_bps + step);
		// Rounded up, so that the rate meets the target.
		st->rate_bps += (st->target_bps - st->rate_bps + 1) / 2;
		count--;
		if (st->target_bps - st->rate_bps != gap)
			continue;
		same = count;
		if (step > 0)
			same = u64_min(count, (pf->line_bps - st->target_bps) / step);
		st->target_bps += same * step;
		st->rate_bps += same * step;
		count -= same;
	}
}

// `count` events of the counter at *own.
static void increase(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, uint8_t *own,
		     const uint8_t *other, uint64_t count)
{
	while (count > 0) {
		uint64_t step;
		const uint64_t events = u64_min(count, phase(pf, *own, other, &step));

		raise_rates(pf, st, step, events);
		*own = (uint8_t)u64_min(pf->stages + 1u, *own + u64_min(events, UINT8_MAX));
		count -= events;
	}
}

static void timer_to(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	uint64_t periods;

	if (ns_before(now, st->timer_next))
		return;
	periods = ns_since(now, st->timer_next) / pf->timer_ns;
	st->timer_next = ns_add(ns_add(st->timer_next, periods * pf->timer_ns), pf->timer_ns);
	increase(pf, st, &st->timer_stage, pf->byte_count > 0 ? &st->byte_stage : NULL,
		 periods + 1);
}

// --- cut --------------------------------------------------------------------------------------

static void cut(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t at)
{
	alpha_to(pf, st, at);
	if (pf->clamp_target || st->timer_stage > 0)
		st->target_bps = st->rate_bps;
	st->rate_bps -= multiply(st->rate_bps, st->alpha, 33);
	st->rate_bps = u64_max(st->rate_bps, pf->min_bps);
	st->timer_next = ns_add(at, pf->timer_ns);
	st->cut_last = at;
	st->cut_at = NS_NEVER;
	st->bytes = 0;
	st->timer_stage = 0;
	st->byte_stage = 0;
}

// Increases and the cut that waits, in the order of time; at the same time the increase is first.
static void catch_up(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	if (!st->limited)
		return;
	if (!ns_before(now, st->cut_at)) {
		timer_to(pf, st, st->cut_at);
		cut(pf, st, st->cut_at);
	}
	timer_to(pf, st, now);
}

// The next end of a period of cuts, counted from the last cut, which is one itself.
static ns_t cut_end(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st, ns_t now)
{
	const uint64_t since = ns_since(now, st->cut_last);
	uint64_t periods;

	if (pf->cut_ns == 0)
		return now;
	periods = u64_max(1, since / pf->cut_ns + (since % pf->cut_ns > 0));
	return ns_add(st->cut_last, periods * pf->cut_ns);
}

static void cnp_first(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	st->limited = true;
	st->alpha = pf->alpha_initial;
	st->alpha_next = ns_add(now, pf->alpha_ns);
	cut(pf, st, now);
}

static void cnp_event(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	if (ns_since(now, st->cut_last) < pf->cut_ns)
		return;
	cut(pf, st, now);
	st->alpha = raised(st->alpha, pf->g);
	st->alpha_next = ns_add(now, pf->alpha_ns);
}

static void cnp_periodic(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	alpha_to(pf, st, now);
	if (st->cut_at.v == NS_NEVER.v)
		st->cut_at = cut_end(pf, st, now);
	catch_up(pf, st, now);
	st->noted = true;
}

void dcqcn_rp_cnp(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	catch_up(pf, st, now);
	if (!st->limited)
		cnp_first(pf, st, now);
	else if (pf->periodic)
		cnp_periodic(pf, st, now);
	else
		cnp_event(pf, st, now);
}

// --- what the owner asks ----------------------------------------------------------------------

uint64_t dcqcn_rp_rate(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	catch_up(pf, st, now);
	return st->rate_bps;
}

void dcqcn_rp_sent(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, uint64_t bytes,
		   ns_t now)
{
	uint64_t sum;

	catch_up(pf, st, now);
	if (!st->limited || pf->byte_count == 0)
		return;
	sum = st->bytes + bytes;
	if (sum < pf->byte_count) {
		st->bytes = (uint32_t)sum;
		return;
	}
	st->bytes = (uint32_t)(sum % pf->byte_count);
	increase(pf, st, &st->byte_stage, &st->timer_stage, sum / pf->byte_count);
}

ns_t dcqcn_rp_deadline(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st)
{
	const bool full = st->rate_bps == pf->line_bps && st->target_bps == pf->line_bps;

	return full ? st->cut_at : ns_min(st->cut_at, st->timer_next);
}
