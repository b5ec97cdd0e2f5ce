// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of pfc/rx.c against a model that walks every nanosecond: at 512 Gbit/s a quantum is
// 1 ns, so the model is a countdown per priority, and a duration is the number of nanoseconds in
// which the countdown ran. The state machine under test is polled only now and then.

#include "pfc/pfc.h"
#include "tests/table.h"

#define NS_PER_QUANTUM_BPS 512000000000

enum { TICKS = 50000 };

struct model {
	uint32_t left[PRIO_COUNT]; // ns until the pause ends
	uint64_t paused_ns[PRIO_COUNT];
	uint64_t pauses[PRIO_COUNT];
	uint64_t resumes[PRIO_COUNT];
};

static void model_tick(struct model *model)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (model->left[prio] == 0)
			continue;
		model->paused_ns[prio]++;
		if (--model->left[prio] == 0)
			model->resumes[prio]++;
	}
}

static void model_set(struct model *model, uint32_t prio, uint32_t ns)
{
	model->pauses[prio] += model->left[prio] == 0 && ns > 0;
	model->resumes[prio] += model->left[prio] > 0 && ns == 0;
	model->left[prio] = ns;
}

static void model_frame(struct model *model, uint8_t obey, const struct pfc_frame *frame)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (frame->enable & obey & 1u << prio)
			model_set(model, prio, frame->quanta[prio]);
	}
}

static void model_resume(struct model *model, uint8_t keep)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if ((keep >> prio & 1) == 0)
			model_set(model, prio, 0);
	}
}

// Timers of all scales: many short ones that run out between polls, some long, some XON.
static struct pfc_frame random_frame(struct rng *rng)
{
	struct pfc_frame frame = { .enable = (uint8_t)(rng_next32(rng) & rng_next32(rng)) };

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
		frame.quanta[prio] = (uint16_t)rng_below(rng, 1u << rng_below(rng, 11));
	return frame;
}

// The state between polls may hold pauses that have run out; durations may not show it.
static void check_durations(const struct model *model, const struct pfc_rx_state *st, ns_t now)
{
	for (uint8_t prio = 0; prio < PRIO_COUNT; prio++)
		cr_assert_eq(pfc_rx_paused_ns(st, (prio_t){ prio }, now), model->paused_ns[prio],
			     "priority %u at %lu", prio, now.v);
}

static void check_poll(const struct model *model, struct pfc_rx_state *st, ns_t now)
{
	const uint8_t paused = pfc_rx_paused(st, now);
	uint64_t earliest = UINT64_MAX;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		cr_assert_eq(paused >> prio & 1, model->left[prio] > 0, "priority %u at %lu", prio,
			     now.v);
		cr_assert_eq(st->pauses[prio], model->pauses[prio]);
		cr_assert_eq(st->resumes[prio], model->resumes[prio]);
		if (model->left[prio] > 0)
			earliest = u64_min(earliest, now.v + model->left[prio]);
	}
	if (paused != 0)
		cr_assert_eq(st->expires.v, earliest, "the earliest end at %lu", now.v);
}

SEED_TEST(pfc_rx, durations_are_sums_of_intervals, rng, 48)
{
	struct pfc_rx_profile pf = { .obey = (uint8_t)rng_next32(rng), .bps = NS_PER_QUANTUM_BPS };
	struct pfc_rx_state st = { 0 };
	struct model model = { 0 };

	for (ns_t now = { 1 }; now.v < TICKS; now = ns_add(now, 1)) {
		const uint32_t event = rng_below(rng, 1000);

		model_tick(&model);
		if (event < 20) {
			const struct pfc_frame frame = random_frame(rng);

			model_frame(&model, pf.obey, &frame);
			pfc_rx_frame(&pf, &st, &frame, now);
		} else if (event == 20) {
			pf.obey = (uint8_t)rng_next32(rng);
			model_resume(&model, pf.obey);
			pfc_rx_resume(&st, pf.obey, now);
		} else if (event < 60) {
			check_poll(&model, &st, now);
		} else if (event < 100) {
			check_durations(&model, &st, now);
		}
	}
	check_poll(&model, &st, (ns_t){ TICKS - 1 });
	check_durations(&model, &st, (ns_t){ TICKS - 1 });
}

// Generator and receiver together over a link that loses every other frame: any frame that arrives
// pauses all that is in XOFF, so a lost XOFF costs one repeat; a lost XON costs the pause time.
SEED_TEST(pfc_rx, recovers_from_lost_frames, rng, 32)
{
	const uint64_t bps = 100000000000;
	const struct pfc_gen_profile gen_pf = { 0x18, 65535, pfc_quanta_ns(65535, bps) / 2 };
	const struct pfc_rx_profile rx_pf = { 0x18, bps };
	struct pfc_gen_state gen = { 0 };
	struct pfc_rx_state rx = { 0 };
	ns_t now = { 1 };

	for (uint32_t round = 0; round < 1000; round++) {
		const uint8_t wanted = (uint8_t)(0x18 & rng_next32(rng));
		struct pfc_frame frame;

		pfc_gen_update(&gen_pf, &gen, wanted, now);
		if (pfc_gen_frame(&gen_pf, &gen, now, &frame) && rng_below(rng, 2) == 0) {
			uint8_t wire[PFC_FRAME_BYTES];
			struct pfc_frame heard;

			pfc_frame_encode(&frame, (const uint8_t[6]){ 2 }, wire);
			cr_assert_eq(pfc_frame_decode(wire, sizeof(wire), 14, &heard),
				     PFC_FRAME_PFC);
			pfc_rx_frame(&rx_pf, &rx, &heard, now);
			cr_assert_eq(pfc_rx_paused(&rx, now) & wanted, wanted);
		}
		now = ns_add(now, 1 + rng_below(rng, (uint32_t)gen_pf.refresh_ns));
	}
	// All is released, and the XON is lost.
	pfc_gen_update(&gen_pf, &gen, 0, now);
	now = ns_add(now, 2 * gen_pf.refresh_ns + 1);
	cr_assert_eq(pfc_rx_paused(&rx, now), 0);
}
