// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/impair.c alone: when frames come to the end of a line, which are lost or changed,
// and that every frame is accounted for. Dice are judged by the binomial law: at n frames and
// probability q a count within five standard deviations, sqrt(n q (1 - q)).

#include "dataplane/core/impair.h"

#include <string.h>

#include "tests/table.h"

enum { FRAMES_MAX = 64, LEN = 101 }; // 125 bytes of wire: a microsecond at 1 Gbit/s

struct bench {
	struct impair_line line;
	struct pkt pkt[FRAMES_MAX];
	uint8_t data[FRAMES_MAX][LEN];
};

// A data frame, or a PFC frame when `control`.
static struct pkt *frame(struct bench *b, uint32_t i, bool control)
{
	memset(b->data[i], 0x5a, LEN);
	b->data[i][12] = control ? 0x88 : 0x08;
	b->data[i][13] = control ? 0x08 : 0x00;
	b->pkt[i] = (struct pkt){ .data = b->data[i], .len = LEN, .head_len = LEN };
	return &b->pkt[i];
}

// Returns whether it was taken.
static bool take(struct bench *b, const struct impair_profile *pf, uint32_t i, bool control,
		 uint64_t now)
{
	struct pkt *p = frame(b, i, control);

	return impair_take(pf, &b->line, &p, 1, (ns_t){ now }) == 0;
}

// The frame that comes to the end at `at` and not before, as an index.
static uint32_t give_at(struct bench *b, uint64_t at)
{
	struct pkt *p;

	cr_assert_eq(impair_deadline(&b->line).v, at, "%lu", impair_deadline(&b->line).v);
	cr_assert_eq(impair_give(&b->line, &p, 1, (ns_t){ at - 1 }), 0);
	cr_assert_eq(impair_give(&b->line, &p, 1, (ns_t){ at }), 1);
	return (uint32_t)(p - b->pkt);
}

static void check_sum(const struct impair_line *line)
{
	cr_assert_eq(line->stats.taken,
		     line->stats.given + line->stats.lost + line->stats.overrun + line->held);
}

// Frames 0, 1 and 2 are received at the same time; when do they come to the end?
static const struct {
	const char *what;
	struct impair_profile pf;
	bool control[3];
	struct {
		uint32_t frame;
		uint64_t at;
	} want[3];
} time_rows[] = {
	{ "delay", { .delay_ns = 500 }, { false }, { { 0, 1500 }, { 1, 1500 }, { 2, 1500 } } },
	{ "rate: a frame each microsecond",
	  { .rate = { 1000000000, 0 } },
	  { false },
	  { { 0, 2000 }, { 1, 3000 }, { 2, 4000 } } },
	{ "rate and delay",
	  { .rate = { 1000000000, 0 }, .delay_ns = 10 },
	  { false },
	  { { 0, 2010 }, { 1, 3010 }, { 2, 4010 } } },
	{ "a PFC frame is obeyed late, data overtakes it",
	  { .delay_ns = 10, .pfc_delay_ns = 100 },
	  { false, true, false },
	  { { 0, 1010 }, { 2, 1010 }, { 1, 1110 } } },
	{ "a PFC frame takes its turn on the wire",
	  { .rate = { 1000000000, 0 }, .pfc_delay_ns = 5000 },
	  { true, false, false },
	  { { 1, 3000 }, { 2, 4000 }, { 0, 7000 } } },
};

TABLE_TEST(impair, times, row, time_rows)
{
	struct impair_profile pf = row->pf;
	struct bench b;

	pf.limit = 10;
	impair_init(&b.line, 1);
	cr_assert_eq(impair_deadline(&b.line).v, UINT64_MAX);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert(take(&b, &pf, i, row->control[i], 1000));
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_eq(give_at(&b, row->want[i].at), row->want[i].frame, "%s: %u", row->what,
			     i);
	cr_assert_eq(impair_deadline(&b.line).v, UINT64_MAX);
	check_sum(&b.line);
}

// Never before the delay nor after the jitter, all over the range, and never out of order.
Test(impair, jitter)
{
	const struct impair_profile pf = { .delay_ns = 1000, .jitter_ns = 999, .limit = 1 };
	uint32_t quarter[4] = { 0 };
	struct bench b;

	impair_init(&b.line, 7);
	for (uint32_t i = 0; i < 4000; i++) {
		uint64_t late;

		cr_assert(take(&b, &pf, 0, false, i * 10000ull));
		late = impair_deadline(&b.line).v - i * 10000ull;
		cr_assert(late >= 1000 && late <= 1999, "%lu", late);
		quarter[(late - 1000) / 250]++;
		give_at(&b, i * 10000ull + late);
	}
	for (uint32_t i = 0; i < 4; i++) // 1000 +- 5 * 27.4
		cr_assert(quarter[i] > 863 && quarter[i] < 1137, "%u", quarter[i]);
}

Test(impair, jitter_keeps_the_order)
{
	const struct impair_profile pf = { .jitter_ns = 100000, .limit = FRAMES_MAX };
	struct pkt *got[FRAMES_MAX];
	struct bench b;

	impair_init(&b.line, 7);
	for (uint32_t i = 0; i < FRAMES_MAX; i++)
		take(&b, &pf, i, false, i);
	cr_assert_eq(impair_give(&b.line, got, FRAMES_MAX, (ns_t){ 200000 }), FRAMES_MAX);
	for (uint32_t i = 0; i < FRAMES_MAX; i++)
		cr_assert_eq(got[i], &b.pkt[i]);
}

static const struct {
	const char *what;
	uint32_t ppm;
	uint32_t least, most; // of 100000
} loss_rows[] = {
	{ "none", 0, 0, 0 },
	{ "100 ppm: 10 +- 5 * 3.2", 100, 0, 25 },
	{ "1 %: 1000 +- 5 * 31.5", 10000, 843, 1157 },
	{ "30 %: 30000 +- 5 * 144.9", 300000, 29276, 30724 },
	{ "all", 1000000, 100000, 100000 },
};

TABLE_TEST(impair, loss, row, loss_rows)
{
	const struct impair_profile pf = { .loss_ppm = row->ppm, .limit = 1 };
	struct bench b;
	struct pkt *p;

	impair_init(&b.line, 3);
	for (uint32_t i = 0; i < 100000; i++) {
		if (take(&b, &pf, 0, false, i))
			cr_assert_eq(impair_give(&b.line, &p, 1, (ns_t){ i }), 1);
	}
	cr_assert(b.line.stats.lost >= row->least && b.line.stats.lost <= row->most, "%s: %lu",
		  row->what, b.line.stats.lost);
	check_sum(&b.line);
}

// Other knobs do not change which frames are lost.
Test(impair, same_seed_same_losses)
{
	const struct impair_profile plain = { .loss_ppm = 500000, .limit = FRAMES_MAX };
	const struct impair_profile more = { .loss_ppm = 500000,
					     .corrupt_ppm = 300000,
					     .jitter_ns = 77,
					     .delay_ns = 5,
					     .limit = FRAMES_MAX };
	struct bench a, b, c;
	uint32_t other = 0;

	impair_init(&a.line, 11);
	impair_init(&b.line, 11);
	impair_init(&c.line, 12);
	for (uint32_t i = 0; i < FRAMES_MAX; i++) {
		bool taken = take(&a, &plain, i, false, i);

		cr_assert_eq(take(&b, &more, i, false, i), taken);
		other += take(&c, &plain, i, false, i) != taken;
	}
	cr_assert_gt(a.line.stats.lost, 0);
	cr_assert_lt(a.line.stats.lost, FRAMES_MAX);
	cr_assert_gt(other, 0);
}

// One bit, behind the addresses, and in time in every byte.
Test(impair, corruption)
{
	const struct impair_profile pf = { .corrupt_ppm = 1000000, .limit = 1 };
	uint32_t hit[LEN] = { 0 };
	struct bench b;
	struct pkt *p;

	impair_init(&b.line, 5);
	for (uint32_t i = 0; i < 5000; i++) {
		uint8_t clean[LEN];
		uint32_t bits = 0;

		frame(&b, 0, false);
		memcpy(clean, b.data[0], LEN);
		take(&b, &pf, 0, false, i);
		for (uint32_t k = 0; k < LEN; k++) {
			uint8_t flipped = clean[k] ^ b.data[0][k];

			bits += (uint32_t)__builtin_popcount(flipped);
			hit[k] += flipped != 0;
		}
		cr_assert_eq(bits, 1);
		cr_assert_eq(impair_give(&b.line, &p, 1, (ns_t){ i }), 1);
	}
	cr_assert_eq(b.line.stats.corrupted, 5000);
	for (uint32_t k = 0; k < LEN; k++)
		cr_assert_eq(hit[k] > 0, k >= 12, "byte %u", k);
}

// What does not fit is handed back, first in the array, and the rest is on the line.
Test(impair, limit)
{
	const struct impair_profile pf = { .delay_ns = 100, .limit = 3 };
	struct pkt *pkts[5];
	struct bench b;

	impair_init(&b.line, 1);
	for (uint32_t i = 0; i < 5; i++)
		pkts[i] = frame(&b, i, false);
	cr_assert_eq(impair_take(&pf, &b.line, pkts, 5, (ns_t){ 0 }), 2);
	cr_assert_eq(pkts[0], &b.pkt[3]);
	cr_assert_eq(pkts[1], &b.pkt[4]);
	cr_assert_eq(b.line.stats.overrun, 2);
	cr_assert_eq(impair_give(&b.line, pkts, 2, (ns_t){ 100 }), 2);
	check_sum(&b.line);
	cr_assert_eq(impair_clear(&b.line, pkts, 5), 1);
	cr_assert_eq(pkts[0], &b.pkt[2]);
	cr_assert_eq(impair_clear(&b.line, pkts, 5), 0);
	cr_assert_eq(b.line.stats.lost, 1);
	check_sum(&b.line);
}

// Frames wait behind those that are still delayed, but no more of them than before.
Test(impair, limit_stays_while_frames_are_held)
{
	const struct impair_profile pf = { .delay_ns = 100, .limit = 3 };
	const struct impair_profile off = { 0 };
	struct bench b;

	impair_init(&b.line, 1);
	cr_assert(take(&b, &pf, 0, false, 0));
	cr_assert(take(&b, &off, 1, false, 10));
	cr_assert(take(&b, &off, 2, false, 20));
	cr_assert_not(take(&b, &off, 3, false, 30));
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_eq(give_at(&b, 100), i);
	for (uint32_t i = 0; i < 5; i++)
		cr_assert(take(&b, &off, i, false, 200));
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(give_at(&b, 200), i);
	cr_assert_eq(b.line.stats.overrun, 1);
	check_sum(&b.line);
}
