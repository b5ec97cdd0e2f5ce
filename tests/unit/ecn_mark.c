// SPDX-License-Identifier: BSD-3-Clause
//
// ecn/mark.c against the RED law: the probability is 0 below Kmin, rises linearly to Pmax at Kmax
// and is 1 above; Kmin = Kmax is a step. Exact at every edge, and in distribution against the
// binomial law.

#include "ecn/ecn.h"

#include <math.h>

#include "tests/table.h"

#define K 1024ull
#define M (1024ull * 1024)
#define ALWAYS (1ull << 32)

static const struct {
	const char *what;
	struct red_curve curve;
	uint64_t queue_bytes;
	uint64_t want; // floor(2^32 * p)
} law_rows[] = {
	// SONiC's AZURE_LOSSLESS: 1 MiB, 2 MiB, 5 %. 2^32 / 20 is 214748364.8.
	{ "empty", { M, 2 * M, 50000 }, 0, 0 },
	{ "a byte below Kmin", { M, 2 * M, 50000 }, M - 1, 0 },
	{ "at Kmin", { M, 2 * M, 50000 }, M, 0 },
	{ "a byte above Kmin: 2^32 / 20 / 2^20 is 204.8", { M, 2 * M, 50000 }, M + 1, 204 },
	{ "a quarter", { M, 2 * M, 50000 }, M + 256 * K, 53687091 },
	{ "half way", { M, 2 * M, 50000 }, M + 512 * K, 107374182 },
	{ "a byte below Kmax", { M, 2 * M, 50000 }, 2 * M - 1, 214748160 },
	{ "at Kmax", { M, 2 * M, 50000 }, 2 * M, 214748364 },
	{ "a byte above Kmax", { M, 2 * M, 50000 }, 2 * M + 1, ALWAYS },
	{ "far above", { M, 2 * M, 50000 }, UINT64_MAX, ALWAYS },
	{ "a step: below", { M, M, 50000 }, M - 1, 0 },
	{ "a step: at", { M, M, 50000 }, M, ALWAYS },
	{ "a step: above", { M, M, 50000 }, M + 1, ALWAYS },
	{ "a step without probability is still a step", { M, M, 0 }, M, ALWAYS },
	{ "a step at zero is always", { 0, 0, 0 }, 0, ALWAYS },
	{ "no probability up to Kmax", { M, 2 * M, 0 }, 2 * M, 0 },
	{ "no probability, above Kmax", { M, 2 * M, 0 }, 2 * M + 1, ALWAYS },
	{ "certainty at Kmax", { M, 2 * M, 1000000 }, 2 * M, ALWAYS },
	{ "certainty half way", { M, 2 * M, 1000000 }, M + 512 * K, 1ull << 31 },
	{ "one part per million at Kmax: 4294.967296", { 0, M, 1 }, M, 4294 },
	{ "less than 2^-32", { 0, 1ull << 40, 1 }, 1, 0 },
	{ "a terabyte of queue: half of 20 %", { 0, 1ull << 40, 200000 }, 1ull << 39, 429496729 },
	{ "a curve over all of 64 bits", { 0, UINT64_MAX, 1000000 }, UINT64_MAX, ALWAYS },
	{ "DCQCN at 100G: 5 KB, 200 KB, 1 %: 50000 / 195000",
	  { 5000, 200000, 10000 },
	  55000,
	  11012736 },
};

TABLE_TEST(red, law, row, law_rows)
{
	const struct wred_profile pf = { .ecn = true, .mark = row->curve };
	const uint64_t got = red_probability(&row->curve, row->queue_bytes);

	cr_assert_eq(got, row->want, "%s: %lu, want %lu", row->what, got, row->want);
	// The dice that hit are exactly those below it.
	if (row->want > 0)
		cr_assert_eq(ecn_mark_verdict(&pf, ECN_ECT0, row->queue_bytes,
					      (uint32_t)(row->want - 1)),
			     ECN_MARK, "%s: the last that hits", row->what);
	if (row->want < ALWAYS)
		cr_assert_eq(ecn_mark_verdict(&pf, ECN_ECT0, row->queue_bytes, (uint32_t)row->want),
			     ECN_PASS, "%s: the first that does not", row->what);
}

enum { MARK_ONLY, DROP_ONLY, BOTH, NEITHER };

static const struct wred_profile profiles[] = {
	[MARK_ONLY] = { .ecn = true, .mark = { K, K, 0 }, .drop = { K, K, 0 } },
	[DROP_ONLY] = { .wred = true, .mark = { K, K, 0 }, .drop = { K, K, 0 } },
	[BOTH] = { .ecn = true, .wred = true, .mark = { K, K, 0 }, .drop = { 2 * K, 2 * K, 0 } },
	[NEITHER] = { .mark = { K, K, 0 }, .drop = { K, K, 0 } },
};

static const struct {
	const char *what;
	int profile;
	enum ecn_codepoint codepoint;
	uint64_t queue_bytes;
	enum ecn_verdict mark, drop;
} verdict_rows[] = {
	{ "ECT(0) is marked", MARK_ONLY, ECN_ECT0, K, ECN_MARK, ECN_PASS },
	{ "ECT(1) is marked", MARK_ONLY, ECN_ECT1, K, ECN_MARK, ECN_PASS },
	{ "CE stays CE", MARK_ONLY, ECN_CE, K, ECN_MARK, ECN_PASS },
	{ "not ECT passes: PFC protects it", MARK_ONLY, ECN_NOT_ECT, K, ECN_PASS, ECN_PASS },
	{ "nothing below the threshold", MARK_ONLY, ECN_ECT0, K - 1, ECN_PASS, ECN_PASS },
	{ "both: ECT is marked, never dropped", BOTH, ECN_ECT0, 9 * K, ECN_MARK, ECN_PASS },
	{ "both: CE is never dropped", BOTH, ECN_CE, 9 * K, ECN_MARK, ECN_PASS },
	{ "both: not ECT is dropped", BOTH, ECN_NOT_ECT, 2 * K, ECN_PASS, ECN_DROP },
	{ "both: the thresholds are independent", BOTH, ECN_NOT_ECT, 2 * K - 1, ECN_PASS,
	  ECN_PASS },
	{ "both: marking has its own", BOTH, ECN_ECT1, 2 * K - 1, ECN_MARK, ECN_PASS },
	{ "marking off: not ECT is dropped", DROP_ONLY, ECN_NOT_ECT, K, ECN_PASS, ECN_DROP },
	{ "marking off: ECT is no privilege", DROP_ONLY, ECN_ECT0, K, ECN_PASS, ECN_DROP },
	{ "all off", NEITHER, ECN_ECT0, 9 * K, ECN_PASS, ECN_PASS },
	{ "all off, not ECT", NEITHER, ECN_NOT_ECT, 9 * K, ECN_PASS, ECN_PASS },
};

TABLE_TEST(ecn_verdict, follows_codepoint_and_profile, row, verdict_rows)
{
	const struct wred_profile *pf = &profiles[row->profile];

	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t dice = (const uint32_t[]){ 0, 1u << 31, UINT32_MAX }[i];

		cr_assert_eq(ecn_mark_verdict(pf, row->codepoint, row->queue_bytes, dice),
			     row->mark, "%s: mark", row->what);
		cr_assert_eq(ecn_drop_verdict(pf, row->codepoint, row->queue_bytes, dice),
			     row->drop, "%s: drop", row->what);
	}
}

static const struct {
	const char *what;
	struct red_curve curve;
	uint64_t queue_bytes;
	double p;
} accuracy_rows[] = {
	{ "AZURE_LOSSLESS, half way", { M, 2 * M, 50000 }, M + 512 * K, 0.025 },
	{ "AZURE_LOSSLESS, at Kmax", { M, 2 * M, 50000 }, 2 * M, 0.05 },
	{ "AZURE_LOSSLESS, a sixteenth", { M, 2 * M, 50000 }, M + 64 * K, 0.003125 },
	{ "hpcc, half way to 20 %", { 400000, 1600000, 200000 }, 1000000, 0.1 },
	{ "half", { 0, M, 1000000 }, 512 * K, 0.5 },
	{ "almost always", { 0, 1000, 1000000 }, 999, 0.999 },
};

// Over 64 seeds of 65536 packets each: every run within 6 standard deviations of the binomial law
// (a false alarm has probability 2e-9 per run), and the whole of 4 million packets within 5 (6e-7),
// which is 0.00025 of all packets at p = 0.1.
TABLE_TEST(red, accuracy_over_seeds, row, accuracy_rows)
{
	const struct wred_profile pf = { .ecn = true, .mark = row->curve };
	const double seeds = 64, packets = 65536;
	double total = 0;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		const double sigma = sqrt(packets * row->p * (1 - row->p));
		uint32_t marked = 0;
		struct rng rng;

		rng_seed(&rng, seed);
		for (uint32_t i = 0; i < packets; i++)
			marked += ecn_mark_verdict(&pf, ECN_ECT0, row->queue_bytes,
						   rng_next32(&rng)) == ECN_MARK;
		cr_assert_leq(fabs(marked - packets * row->p), 6 * sigma, "%s: seed %lu: %u",
			      row->what, seed, marked);
		total += marked;
	}
	cr_assert_leq(fabs(total - seeds * packets * row->p),
		      5 * sqrt(seeds * packets * row->p * (1 - row->p)), "%s: %f of %f", row->what,
		      total, seeds * packets);
}
