// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of ecn/dcqcn_rp.c under random parameters, CNPs and traffic: it agrees with a model in
// double that walks through every single event, it does not notice when it is looked at, its rates
// keep their bounds, and without CNPs it is back at line rate after the number of events that the
// laws predict.

#include "ecn/dcqcn.h"

#include <math.h>
#include <string.h>

#include "tests/table.h"

enum { OPERATIONS = 3000 };

// --- a model that steps through events one by one -----------------------------------------------

struct model {
	double rate, target, alpha;
	uint64_t timer_next, alpha_next, cut_at, cut_last, bytes;
	uint64_t timer_events, byte_events; // since the last cut
	bool limited, noted;
};

static void model_raise(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t *events)
{
	const bool bytes = pf->byte_count > 0;
	const uint64_t most = bytes && m->byte_events > m->timer_events ? m->byte_events :
									  m->timer_events;
	const uint64_t least = bytes && m->byte_events < m->timer_events ? m->byte_events :
									   m->timer_events;

	if (most >= pf->stages && least > pf->stages && pf->rhai_bps > 0)
		m->target += (double)pf->rhai_bps;
	else if (most >= pf->stages)
		m->target += (double)pf->rai_bps;
	m->target = fmin(m->target, (double)pf->line_bps);
	m->rate = (m->rate + m->target) / 2;
	++*events;
}

static void model_cut(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t at)
{
	if (pf->clamp_target || m->timer_events > 0)
		m->target = m->rate;
	m->rate = fmax(m->rate * (1 - m->alpha / 2), (double)pf->min_bps);
	m->timer_events = m->byte_events = m->bytes = 0;
	m->timer_next = at + pf->timer_ns;
	m->cut_last = at;
	m->cut_at = UINT64_MAX;
}

static void model_walk(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t now)
{
	const double g = (double)pf->g / DCQCN_ONE;

	while (m->limited) {
		const uint64_t at = u64_min(m->timer_next, u64_min(m->alpha_next, m->cut_at));

		if (at > now)
			return;
		if (at == m->alpha_next) {
			m->alpha = (1 - g) * m->alpha + (m->noted ? g : 0);
			m->noted = false;
			m->alpha_next += pf->alpha_ns;
		}
		if (at == m->timer_next) {
			m->timer_next += pf->timer_ns;
			model_raise(pf, m, &m->timer_events);
		}
		if (at == m->cut_at)
			model_cut(pf, m, at);
	}
}

static void model_cnp_periodic(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t now)
{
	uint64_t end = m->cut_last;

	if (m->cut_at == UINT64_MAX) {
		while (pf->cut_ns > 0 && (end < now || end == m->cut_last))
			end += pf->cut_ns;
		m->cut_at = u64_max(end, now);
	}
	if (m->cut_at == now)
		model_cut(pf, m, now);
	m->noted = true;
}

static void model_cnp(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t now)
{
	const double g = (double)pf->g / DCQCN_ONE;

	if (!m->limited) {
		m->limited = true;
		m->alpha = (double)pf->alpha_initial / DCQCN_ONE;
		m->alpha_next = now + pf->alpha_ns;
		model_cut(pf, m, now);
	} else if (pf->periodic) {
		model_cnp_periodic(pf, m, now);
	} else if (now - m->cut_last >= pf->cut_ns) {
		model_cut(pf, m, now);
		m->alpha = (1 - g) * m->alpha + g;
		m->alpha_next = now + pf->alpha_ns;
	}
}

static void model_sent(const struct dcqcn_rp_profile *pf, struct model *m, uint64_t bytes)
{
	if (!m->limited || pf->byte_count == 0)
		return;
	for (m->bytes += bytes; m->bytes >= pf->byte_count; m->bytes -= pf->byte_count)
		model_raise(pf, m, &m->byte_events);
}

// --- dice -----------------------------------------------------------------------------------

static uint64_t pick(struct rng *rng, uint64_t low, uint64_t high)
{
	const double span = log((double)high / (double)low);

	return (uint64_t)((double)low * exp(span * rng_next32(rng) / UINT32_MAX));
}

static struct dcqcn_rp_profile random_profile(struct rng *rng)
{
	static const uint64_t line[] = { 1000000000, 25000000000, 100000000000, 400000000000 };
	struct dcqcn_config config = dcqcn_config_of(rng_below(rng, DCQCN_PRESET_COUNT));
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;

	if (rng_below(rng, 4) > 0) {
		config.law = rng_below(rng, 2);
		config.clamp_target = rng_below(rng, 2);
		config.g = pick(rng, DCQCN_ONE / 4096, DCQCN_ONE);
		config.alpha_initial = pick(rng, DCQCN_ONE / 64, DCQCN_ONE);
		config.alpha_interval = pick(rng, 500, 100000);
		config.cut_interval = rng_below(rng, 4) == 0 ? 0 : pick(rng, 500, 100000);
		config.timer = pick(rng, 1000, 400000);
		config.byte_counter = rng_below(rng, 2) ? 0 : pick(rng, 2000, 10000000);
		config.stages = 1 + rng_below(rng, 6);
		config.rai = pick(rng, 1000000, 1000000000);
		config.rhai = rng_below(rng, 2) ? 0 : pick(rng, 1000000, 4000000000);
		config.min_rate = pick(rng, 1000, 1000000000);
	}
	dcqcn_build(&config, line[rng_below(rng, TABLE_COUNT(line))], &pf, &np);
	return pf;
}

// Mostly short, some long, and often none at all, so that things happen at the same time.
static uint64_t random_wait(struct rng *rng, const struct dcqcn_rp_profile *pf)
{
	switch (rng_below(rng, 8)) {
	case 0:
	case 1: return 0;
	case 2: return pf->timer_ns;
	case 3: return pf->cut_ns;
	case 4: return pf->alpha_ns;
	case 5: return rng_below(rng, 1 + (uint32_t)(20 * pf->timer_ns));
	default: return rng_below(rng, 10000);
	}
}

static void check_bounds(const struct dcqcn_rp_profile *pf, struct dcqcn_rp_state *st, ns_t now)
{
	const uint64_t rate = dcqcn_rp_rate(pf, st, now);

	cr_assert_geq(rate, pf->min_bps);
	cr_assert_leq(rate, st->target_bps);
	cr_assert_leq(st->target_bps, pf->line_bps);
	cr_assert_leq(dcqcn_rp_alpha(pf, st, now), DCQCN_ONE);
	cr_assert_leq(st->timer_stage, pf->stages + 1);
	cr_assert_leq(st->byte_stage, pf->stages + 1);
}

// A cut takes 2^-32 of the rate more or less for each unit that alpha is off, which is at most one
// for each of its last 1/g changes or so; increases round up by half a bit each and forget. So the
// two agree to 10^-5 with g at least 2^-12.
static void check_model(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st,
			const struct model *m, ns_t now)
{
	const double slack = 4 + m->rate * 1e-5;

	cr_assert(fabs((double)st->rate_bps - m->rate) <= slack, "rate %lu, want %f at %lu",
		  st->rate_bps, m->rate, now.v);
	cr_assert(fabs((double)st->target_bps - m->target) <= 4 + m->target * 1e-5,
		  "target %lu, want %f at %lu", st->target_bps, m->target, now.v);
	if (m->limited)
		cr_assert(fabs((double)dcqcn_rp_alpha(pf, st, now) / DCQCN_ONE - m->alpha) <= 1e-5,
			  "alpha %lu, want %f at %lu", dcqcn_rp_alpha(pf, st, now), m->alpha,
			  now.v);
}

// The rate is what it was until just before the deadline.
static void check_deadline(const struct dcqcn_rp_profile *pf, const struct dcqcn_rp_state *st,
			   ns_t now)
{
	const ns_t deadline = dcqcn_rp_deadline(pf, st);
	struct dcqcn_rp_state copy = *st;
	const ns_t last = { deadline.v == UINT64_MAX ? now.v + 1000000000 : deadline.v - 1 };

	cr_assert_gt(deadline.v, now.v);
	cr_assert_eq(dcqcn_rp_rate(pf, &copy, last), st->rate_bps);
}

SEED_TEST(dcqcn_rp, agrees_with_a_walk_through_events, rng, 40)
{
	const struct dcqcn_rp_profile pf = random_profile(rng);
	struct model model = { .rate = (double)pf.line_bps, .target = (double)pf.line_bps };
	struct dcqcn_rp_state st, looked;
	ns_t now = { 1 + rng_below(rng, 1000) };
	uint32_t cuts = 0;

	model.timer_next = model.alpha_next = model.cut_at = UINT64_MAX;
	dcqcn_rp_init(&pf, &st);
	looked = st;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		const uint64_t bytes = pick(rng, 1, 100000);
		const uint64_t part = rng_below(rng, (uint32_t)bytes);

		now = ns_add(now, random_wait(rng, &pf));
		model_walk(&pf, &model, now.v);
		switch (rng_below(rng, 4)) {
		case 0:
			dcqcn_rp_cnp(&pf, &st, now);
			dcqcn_rp_cnp(&pf, &looked, now);
			model_cnp(&pf, &model, now.v);
			cuts++;
			break;
		case 1: // in two parts, and looked at between them
			dcqcn_rp_sent(&pf, &st, bytes, now);
			dcqcn_rp_sent(&pf, &looked, part, now);
			dcqcn_rp_rate(&pf, &looked, now);
			dcqcn_rp_sent(&pf, &looked, bytes - part, now);
			model_sent(&pf, &model, bytes);
			break;
		default: // only one of the two is looked at
			dcqcn_rp_rate(&pf, &looked, now);
			check_bounds(&pf, &looked, now);
			check_deadline(&pf, &looked, now);
			continue;
		}
		dcqcn_rp_rate(&pf, &st, now);
		dcqcn_rp_rate(&pf, &looked, now);
		cr_assert_eq(memcmp(&st, &looked, sizeof(st)), 0, "looking changed it at %lu",
			     now.v);
		check_bounds(&pf, &st, now);
		check_model(&pf, &st, &model, now);
		check_deadline(&pf, &st, now);
	}
	cr_assert_gt(cuts, 0);
}

// Without CNPs the rate never falls. Fast recovery takes F events; then each adds its step to the
// target, of which there are so many to the line rate; and then the gap halves, rounded down, until
// nothing is left of it: at most as often as it has bits.
SEED_TEST(dcqcn_rp, recovers_in_the_predicted_number_of_events, rng, 40)
{
	struct dcqcn_rp_profile pf = random_profile(rng);
	struct dcqcn_rp_state st;
	ns_t now = { 1 };
	uint64_t events, gap;

	pf.byte_count = 0;
	pf.rai_bps = u64_max(pf.rai_bps, pf.line_bps / 5000);
	dcqcn_rp_init(&pf, &st);
	for (uint32_t i = 0; i < 30; i++) {
		now = ns_add(now, random_wait(rng, &pf));
		dcqcn_rp_cnp(&pf, &st, now);
	}
	now = ns_add(now, pf.cut_ns); // so that none waits
	dcqcn_rp_rate(&pf, &st, now);
	dcqcn_rp_cnp(&pf, &st, now);
	now = ns_add(now, pf.cut_ns);
	dcqcn_rp_rate(&pf, &st, now);
	// Counted from the last cut, by then some events may have been.
	gap = pf.line_bps - st.target_bps;
	events = u64_minus(pf.stages, st.timer_stage);
	if (pf.rhai_bps > 0) {
		const uint64_t additive = u64_min((uint64_t)pf.stages + 1 - st.timer_stage, 1);

		events += additive;
		gap = u64_minus(gap, additive * pf.rai_bps);
		events += (gap + pf.rhai_bps - 1) / pf.rhai_bps;
	} else {
		events += (gap + pf.rai_bps - 1) / pf.rai_bps;
	}
	now = st.timer_next;
	for (uint64_t i = 0; i < events; i++) {
		const uint64_t before = st.rate_bps;

		if (st.timer_stage >= pf.stages)
			cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v == UINT64_MAX,
				     before == pf.line_bps && st.target_bps == pf.line_bps);
		cr_assert_geq(dcqcn_rp_rate(&pf, &st, now), before);
		now = ns_add(now, pf.timer_ns);
	}
	cr_assert_eq(st.target_bps, pf.line_bps, "after %lu events: %lu", events, st.target_bps);
	gap = pf.line_bps - st.rate_bps;
	for (; gap > 0; gap /= 2)
		now = ns_add(now, pf.timer_ns);
	cr_assert_eq(dcqcn_rp_rate(&pf, &st, now), pf.line_bps);
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, UINT64_MAX);
}
