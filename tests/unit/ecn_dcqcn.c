// SPDX-License-Identifier: BSD-3-Clause
//
// ecn/dcqcn_*.c against the laws of SIGCOMM 2015 and of ConnectX, event by event. Rates are chosen
// so that the laws give whole numbers; where a power of 255/256 or 1019/1024 enters, the value is
// worked out by hand and compared to a part in 10^8 (alpha has 32 bits, and is rounded down).

#include "ecn/dcqcn.h"

#include <math.h>
#include <string.h>

#include "sys/cfg_value.h"
#include "tests/table.h"

#define G 1000000000ull
#define M 1000000ull
#define US 1000ull
#define MS 1000000ull

enum { STEP_MAX = 14 };

enum op { END, CNP, SENT, LOOK };

// What happens at a time, and the rates after it. An expected rate below 0 is not compared.
struct step {
	uint64_t at_ns;
	enum op op;
	uint64_t bytes;
	double rate;
	double target;
};

static const struct {
	const char *what;
	enum dcqcn_preset preset;
	uint64_t line_bps;
	struct step step[STEP_MAX];
} law_rows[] = {
	{ "line rate until the first CNP, whatever the time",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, LOOK, 0, 40e9, 40e9 },
	    { 5 * MS, SENT, 30 * M, 40e9, 40e9 },
	    { 3600000 * MS, LOOK, 0, 40e9, 40e9 } } },
	{ "the first CNP halves the rate; five recoveries by the timer halve the gap, additive "
	  "increase stops at the line rate",
	  DCQCN_PAPER,
	  40 * G,
	  { { 1 * MS, CNP, 0, 20e9, 40e9 },
	    { 1 * MS + 55 * US - 1, LOOK, 0, 20e9, 40e9 },
	    { 1 * MS + 55 * US, LOOK, 0, 30e9, 40e9 },
	    { 1 * MS + 110 * US, LOOK, 0, 35e9, 40e9 },
	    { 1 * MS + 165 * US, LOOK, 0, 37.5e9, 40e9 },
	    { 1 * MS + 220 * US, LOOK, 0, 38.75e9, 40e9 },
	    { 1 * MS + 275 * US, LOOK, 0, 39.375e9, 40e9 },
	    { 1 * MS + 330 * US, LOOK, 0, 39.6875e9, 40e9 },
	    { 100 * MS, LOOK, 0, 40e9, 40e9 } } },
	{ "a CNP within the period of alpha: halved again, the target follows, steps of 40 Mb/s "
	  "from the sixth event on",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 50 * US, CNP, 0, 10e9, 20e9 },
	    { 105 * US, LOOK, 0, 15e9, 20e9 },
	    { 325 * US, LOOK, 0, 19.6875e9, 20e9 },
	    { 380 * US, LOOK, 0, 19.86375e9, 20.04e9 },
	    { 435 * US, LOOK, 0, 19.971875e9, 20.08e9 },
	    { 490 * US, LOOK, 0, (19.971875e9 + 20.12e9) / 2, 20.12e9 } } },
	{ "all of it in one look: the gap after n steps is 2^-n of the first plus (1 - 2^-n) steps",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 50 * US, CNP, 0, 10e9, 20e9 },
	    { (50 + 55 * 205) * US, LOOK, 0, 20e9 + 200 * 40e6 - 40e6, 28e9 } } },
	{ "alpha falls after 55 us without a CNP: 255/256, so the cut is 255/512 of 30 Gb/s",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 }, { 56 * US, CNP, 0, 15058593750, 30e9 } } },
	{ "and rises by 1/256 of what is missing: (65025 + 256) / 65536 at the third cut",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 56 * US, CNP, 0, 15058593750, 30e9 },
	    { 56 * US, CNP, 0, 15058593750 * (1 - 65281 / 131072.0), 15058593750 } } },
	{ "the byte counter alone: 10 MB since the cut, not a byte less",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, SENT, 9 * M, 40e9, 40e9 },
	    { 0, CNP, 0, 20e9, 40e9 },
	    { 1 * US, SENT, 10 * M - 1, 20e9, 40e9 },
	    { 2 * US, SENT, 1, 30e9, 40e9 },
	    { 3 * US, SENT, 10 * M + 1, 35e9, 40e9 },
	    { 4 * US, SENT, 10 * M - 1, 37.5e9, 40e9 },
	    { 5 * US, CNP, 0, 37.5e9 / 2, 37.5e9 },
	    { 6 * US, SENT, 9999999, 37.5e9 / 2, 37.5e9 } } },
	{ "six events at once of the byte counter: five recoveries and a step",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 1 * US, CNP, 0, 10e9, 20e9 },
	    { 2 * US, SENT, 60 * M, 19.86375e9, 20.04e9 } } },
	{ "either counter ends fast recovery: five by the timer, then one by bytes is a step",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 1 * US, CNP, 0, 10e9, 20e9 },
	    { 276 * US, LOOK, 0, 19.6875e9, 20e9 },
	    { 276 * US, SENT, 10 * M, 19.86375e9, 20.04e9 } } },
	{ "without hyper increase additive increase goes on, however many events of both",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 1 * US, CNP, 0, 10e9, 20e9 },
	    { (1 + 55 * 25) * US, LOOK, 0, -1, 20.8e9 },
	    { (1 + 55 * 25) * US, SENT, 200 * M, 21.6e9 - 40e6, 21.6e9 } } },
	{ "on a faster port paper is as it was published: 100 Gb/s, steps of 40 Mb/s",
	  DCQCN_PAPER,
	  100 * G,
	  { { 0, CNP, 0, 50e9, 100e9 },
	    { 1 * US, CNP, 0, 25e9, 50e9 },
	    { (1 + 55 * 6) * US, LOOK, 0, (50e9 - 25e9 / 32 + 50.04e9) / 2, 50.04e9 } } },
	{ "on a slower one it scales: 1 Gb/s, a fortieth, steps of 1 Mb/s and 250 kB",
	  DCQCN_PAPER,
	  1 * G,
	  { { 0, CNP, 0, 0.5e9, 1e9 },
	    { 1 * US, CNP, 0, 0.25e9, 0.5e9 },
	    { 2 * US, SENT, 6 * 250000, (0.5e9 - 0.25e9 / 32 + 0.501e9) / 2, 0.501e9 } } },
	{ "no rate below the least: 10 Mb/s of 40G",
	  DCQCN_PAPER,
	  40 * G,
	  { { 0, CNP, 0, 20e9, 40e9 },
	    { 1, CNP, 0, 10e9, 20e9 },
	    { 2, CNP, 0, 5e9, 10e9 },
	    { 3, CNP, 0, 2.5e9, 5e9 },
	    { 4, CNP, 0, 1.25e9, 2.5e9 },
	    { 5, CNP, 0, 0.625e9, 1.25e9 },
	    { 6, CNP, 0, 312.5e6, 0.625e9 },
	    { 7, CNP, 0, 156.25e6, 312.5e6 },
	    { 8, CNP, 0, 78.125e6, 156.25e6 },
	    { 9, CNP, 0, 39062500, 78.125e6 },
	    { 10, CNP, 0, 19531250, 39062500 },
	    { 11, CNP, 0, 10e6, 19531250 },
	    { 12, CNP, 0, 10e6, 10e6 } } },
	{ "cw: one recovery, one step of 40 Mb/s, then hyper increase, every 300 us; the target "
	  "stays where the timer has not raised the rate",
	  DCQCN_CW,
	  100 * G,
	  { { 0, CNP, 0, 50e9, 100e9 },
	    { 300 * US, LOOK, 0, 75e9, 100e9 },
	    { 301 * US, CNP, 0, 75e9, 100e9 },
	    // The period of cuts ends at 304. Alpha: 301 periods without a CNP, one with, two
	    // without: ((255/256)^302 + 1/256) (255/256)^2.
	    { 304 * US - 1, LOOK, 0, 75e9, 100e9 },
	    { 304 * US, LOOK, 0, 75e9 * (1 - 0.5 * 0.30815017970), 75e9 },
	    { 604 * US, LOOK, 0, 75e9 * (1 - 0.25 * 0.30815017970), 75e9 },
	    { 904 * US, LOOK, 0, -1, 75.04e9 },
	    { 1204 * US, LOOK, 0, -1, 75.14e9 },
	    { 1504 * US, LOOK, 0, -1, 75.24e9 } } },
	{ "cw: a CNP in the period of the first cut waits for its end; alpha (255/256)^2 of "
	  "65281/65536; the target stays",
	  DCQCN_CW,
	  100 * G,
	  { { 0, CNP, 0, 50e9, 100e9 },
	    { 1 * US, CNP, 0, 50e9, 100e9 },
	    { 1 * US + 500, CNP, 0, 50e9, 100e9 },
	    { 4 * US - 1, LOOK, 0, 50e9, 100e9 },
	    { 4 * US, LOOK, 0, 50e9 * (1 - 65281.0 * 65025 / 8589934592), 100e9 },
	    { 8 * US, LOOK, 0, -1, 100e9 },
	    { 304 * US - 1, LOOK, 0, 50e9 * (1 - 65281.0 * 65025 / 8589934592), 100e9 } } },
	{ "cw: after a pause the cut is at the end of a period counted from the last cut",
	  DCQCN_CW,
	  100 * G,
	  { { 0, CNP, 0, 50e9, 100e9 },
	    { 9 * US, CNP, 0, 50e9, 100e9 },
	    { 12 * US - 1, LOOK, 0, 50e9, 100e9 },
	    { 12 * US, LOOK, 0, -1, 100e9 } } },
	{ "cw: at the very end of a period the cut is at once",
	  DCQCN_CW,
	  100 * G,
	  { { 0, CNP, 0, 50e9, 100e9 },
	    { 8 * US, CNP, 0, 50e9 * (1 - 0.5 * 0.96917392448), 100e9 } } },
	{ "hpcc at 400G has four times the steps of 100G, and 4 Gb/s at least",
	  DCQCN_HPCC,
	  400 * G,
	  { { 0, CNP, 0, 200e9, 400e9 },
	    { 300 * US, LOOK, 0, 300e9, 400e9 },
	    { 300 * US, CNP, 0, 300e9 * (1 - 0.5 * 0.30907546879), 300e9 },
	    { 900 * US, LOOK, 0, -1, 300.08e9 },
	    { 1200 * US, LOOK, 0, -1, 300.88e9 } } },
	// By hand, k = 1019/1024 and g = 5/1024: alpha at 4 us is (1023/1024 k^3 + g) k, at 308 us
	// what is left of it after 302 periods, plus g, times k^2.
	{ "mellanox: 1023/1024 at first; F = 1 for both counters; hyper when both are beyond it",
	  DCQCN_MELLANOX,
	  100 * G,
	  { { 0, CNP, 0, 100e9 * (1 - 1023 / 2048.0), 100e9 },
	    { 1 * US, SENT, 32768, 100e9 * (1 - 1023 / 4096.0), 100e9 },
	    { 2 * US, CNP, 0, 100e9 * (1 - 1023 / 4096.0), 100e9 },
	    { 4 * US, LOOK, 0, 38093170644.0, 100e9 },
	    { 304 * US, LOOK, 0, 69046585322.0, 100e9 },
	    { 305 * US, CNP, 0, 69046585322.0, 100e9 },
	    { 308 * US, LOOK, 0, 61204298713.7, 69046585322.0 },
	    { 608 * US, LOOK, 0, 65125442017.9, 69046585322.0 },
	    { 908 * US, LOOK, 0, 67088513669.9, 69046585322.0 + 5e6 },
	    { 1208 * US, LOOK, 0, 68072549496.0, 69046585322.0 + 10e6 },
	    { 1208 * US, SENT, 3 * 32768, 68966705843.8, 69046585322.0 + 70e6 } } },
};

static bool near(double got, double want)
{
	return want < 0 || fabs(got - want) <= 1 + want * 1e-8;
}

TABLE_TEST(dcqcn, law, row, law_rows)
{
	const struct dcqcn_config config = dcqcn_config_of(row->preset);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;
	struct dcqcn_rp_state st;

	dcqcn_build(&config, row->line_bps, &pf, &np);
	dcqcn_rp_init(&pf, &st);
	for (const struct step *step = row->step; step->op != END; step++) {
		const ns_t now = { step->at_ns };
		uint64_t rate;

		if (step->op == CNP)
			dcqcn_rp_cnp(&pf, &st, now);
		if (step->op == SENT)
			dcqcn_rp_sent(&pf, &st, step->bytes, now);
		rate = dcqcn_rp_rate(&pf, &st, now);
		cr_assert(near((double)rate, step->rate), "%s: rate %lu at %lu ns, want %f",
			  row->what, rate, step->at_ns, step->rate);
		cr_assert(near((double)st.target_bps, step->target),
			  "%s: target %lu at %lu ns, want %f", row->what, st.target_bps,
			  step->at_ns, step->target);
	}
}

// What a preset says, and how it follows the speed of the port.
static const struct {
	const char *what;
	enum dcqcn_preset preset;
	uint64_t line_bps;
	struct dcqcn_rp_profile want;
	uint64_t np_ns;
} preset_rows[] = {
	{ "paper at its own speed",
	  DCQCN_PAPER,
	  40 * G,
	  { 40 * G, 10 * M, 40 * M, 0, DCQCN_ONE / 256, DCQCN_ONE, 55 * US, 0, 55 * US, 10 * M, 5,
	    false, true },
	  50 * US },
	{ "paper on a faster port",
	  DCQCN_PAPER,
	  400 * G,
	  { 400 * G, 10 * M, 40 * M, 0, DCQCN_ONE / 256, DCQCN_ONE, 55 * US, 0, 55 * US, 10 * M, 5,
	    false, true },
	  50 * US },
	{ "paper on a slower one",
	  DCQCN_PAPER,
	  10 * G,
	  { 10 * G, 2500000, 10 * M, 0, DCQCN_ONE / 256, DCQCN_ONE, 55 * US, 0, 55 * US, 2500000, 5,
	    false, true },
	  50 * US },
	{ "cw",
	  DCQCN_CW,
	  100 * G,
	  { 100 * G, 100 * M, 40 * M, 100 * M, DCQCN_ONE / 256, DCQCN_ONE, 1 * US, 4 * US, 300 * US,
	    0, 1, true, false },
	  0 },
	{ "cw at 25G",
	  DCQCN_CW,
	  25 * G,
	  { 25 * G, 25 * M, 10 * M, 25 * M, DCQCN_ONE / 256, DCQCN_ONE, 1 * US, 4 * US, 300 * US, 0,
	    1, true, false },
	  0 },
	{ "hpcc",
	  DCQCN_HPCC,
	  100 * G,
	  { 100 * G, 1 * G, 20 * M, 200 * M, DCQCN_ONE / 256, DCQCN_ONE, 1 * US, 4 * US, 300 * US,
	    0, 1, true, false },
	  0 },
	{ "hpcc at 400G",
	  DCQCN_HPCC,
	  400 * G,
	  { 400 * G, 4 * G, 80 * M, 800 * M, DCQCN_ONE / 256, DCQCN_ONE, 1 * US, 4 * US, 300 * US,
	    0, 1, true, false },
	  0 },
	{ "mellanox",
	  DCQCN_MELLANOX,
	  100 * G,
	  { 100 * G, 1 * M, 5 * M, 50 * M, 5 * DCQCN_ONE / 1024, 1023 * DCQCN_ONE / 1024, 1 * US,
	    4 * US, 300 * US, 32768, 1, true, false },
	  50 * US },
	{ "mellanox at 1G, a twenty-fifth",
	  DCQCN_MELLANOX,
	  1 * G,
	  { 1 * G, 40000, 200000, 2 * M, 5 * DCQCN_ONE / 1024, 1023 * DCQCN_ONE / 1024, 1 * US,
	    4 * US, 300 * US, 1310, 1, true, false },
	  50 * US },
	{ "what scales is at least 1 when it was something",
	  DCQCN_MELLANOX,
	  1,
	  { 1, 1, 1, 1, 5 * DCQCN_ONE / 1024, 1023 * DCQCN_ONE / 1024, 1 * US, 4 * US, 300 * US, 1,
	    1, true, false },
	  50 * US },
};

static void check_profile(const char *what, const struct dcqcn_rp_profile *got,
			  const struct dcqcn_rp_profile *want)
{
	cr_assert_eq(got->line_bps, want->line_bps, "%s: line", what);
	cr_assert_eq(got->min_bps, want->min_bps, "%s: min_rate %lu", what, got->min_bps);
	cr_assert_eq(got->rai_bps, want->rai_bps, "%s: rai %lu", what, got->rai_bps);
	cr_assert_eq(got->rhai_bps, want->rhai_bps, "%s: rhai %lu", what, got->rhai_bps);
	cr_assert_eq(got->g, want->g, "%s: g %lu", what, got->g);
	cr_assert_eq(got->alpha_initial, want->alpha_initial, "%s: alpha_initial", what);
	cr_assert_eq(got->alpha_ns, want->alpha_ns, "%s: alpha_interval", what);
	cr_assert_eq(got->cut_ns, want->cut_ns, "%s: cut_interval", what);
	cr_assert_eq(got->timer_ns, want->timer_ns, "%s: timer", what);
	cr_assert_eq(got->byte_count, want->byte_count, "%s: %u bytes", what, got->byte_count);
	cr_assert_eq(got->stages, want->stages, "%s: stages", what);
	cr_assert_eq(got->periodic, want->periodic, "%s: law", what);
	cr_assert_eq(got->clamp_target, want->clamp_target, "%s: clamp_target", what);
}

TABLE_TEST(dcqcn, preset, row, preset_rows)
{
	const struct dcqcn_config config = dcqcn_config_of(row->preset);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;

	dcqcn_build(&config, row->line_bps, &pf, &np);
	check_profile(row->what, &pf, &row->want);
	cr_assert_eq(np.interval_ns, row->np_ns, "%s: np_interval", row->what);
}

// Every knob by its name and text, as the command line sets it; nothing of the preset is left.
Test(dcqcn, each_parameter_can_be_set)
{
	static const char *const text[DCQCN_KNOB_COUNT][2] = {
		{ "preset", "hpcc" },
		{ "law", "event" },
		{ "g", "5/1024" },
		{ "alpha_initial", "0.5" },
		{ "alpha_interval", "2us" },
		{ "cut_interval", "3us" },
		{ "clamp_target", "true" },
		{ "timer", "1.5ms" },
		{ "byte_counter", "1MB" },
		{ "stages", "3" },
		{ "rai", "40M" },
		{ "rhai", "400M" },
		{ "min_rate", "7M" },
		{ "np_interval", "10us" },
	};
	static const struct dcqcn_rp_profile want = {
		25 * G,
		7 * M,
		40 * M,
		400 * M,
		5 * DCQCN_ONE / 1024,
		DCQCN_ONE / 2,
		2 * US,
		3 * US,
		1500 * US,
		1 * M,
		3,
		false,
		true,
	};
	struct dcqcn_config config;
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;

	for (uint32_t i = 0; i < DCQCN_KNOB_COUNT; i++) {
		const struct config_knob *knob = &dcqcn_knobs[i];
		uint8_t *field = (uint8_t *)&config + knob->offset;

		cfg_value_default(knob, field);
		cr_assert_str_eq(knob->key, text[i][0]);
		cr_assert_eq(cfg_value_parse(knob, text[i][1], field), CFG_VALUE_OK, "%s",
			     knob->key);
	}
	dcqcn_build(&config, 25 * G, &pf, &np);
	check_profile("all set", &pf, &want);
	cr_assert_eq(np.interval_ns, 10 * US);
}

// The defaults of the rows are a configuration; what a preset says is within what may be set.
Test(dcqcn, rows_are_whole)
{
	struct dcqcn_config config;
	struct dcqcn_rp_profile pf, paper;
	struct dcqcn_np_profile np;

	for (uint32_t i = 0; i < DCQCN_KNOB_COUNT; i++)
		cfg_value_default(&dcqcn_knobs[i], (uint8_t *)&config + dcqcn_knobs[i].offset);
	dcqcn_build(&config, 40 * G, &pf, &np);
	config = dcqcn_config_of(DCQCN_PAPER);
	dcqcn_build(&config, 40 * G, &paper, &np);
	check_profile("defaults", &pf, &paper);
	for (enum dcqcn_preset preset = 0; preset < DCQCN_PRESET_COUNT; preset++) {
#define DCQCN_KNOB(key, kind, def, min, max, words, doc, scale, ...)                               \
	{                                                                                          \
		static const uint64_t value[] = { __VA_ARGS__ };                                   \
		if (CONFIG_##kind != CONFIG_ENUM)                                                  \
			cr_assert((int64_t)value[preset] >= (min) &&                               \
					  (int64_t)value[preset] <= (max),                         \
				  #key);                                                           \
	}
#include "schema/dcqcn.def"
	}
}

// The least rate cannot be above the line rate.
Test(dcqcn, min_rate_of_a_slow_port)
{
	struct dcqcn_config config = dcqcn_config_of(DCQCN_CW);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;
	struct dcqcn_rp_state st;

	config.min_rate = 10 * G;
	dcqcn_build(&config, 1 * G, &pf, &np);
	cr_assert_eq(pf.min_bps, 1 * G);
	dcqcn_rp_init(&pf, &st);
	dcqcn_rp_cnp(&pf, &st, (ns_t){ 5 });
	cr_assert_eq(dcqcn_rp_rate(&pf, &st, (ns_t){ 5 }), 1 * G);
}

static const struct {
	const char *what;
	enum dcqcn_preset preset;
	uint64_t line_bps;
	bool known;
	struct red_curve want;
} red_rows[] = {
	{ "paper", DCQCN_PAPER, 100 * G, true, { 5000, 200000, 10000 } },
	{ "paper at 10G", DCQCN_PAPER, 10 * G, true, { 1250, 50000, 10000 } },
	{ "cw", DCQCN_CW, 100 * G, true, { 100000, 400000, 200000 } },
	{ "cw at 25G", DCQCN_CW, 25 * G, true, { 25000, 100000, 200000 } },
	{ "hpcc", DCQCN_HPCC, 100 * G, true, { 400000, 1600000, 200000 } },
	{ "hpcc at 400G", DCQCN_HPCC, 400 * G, true, { 1600000, 6400000, 200000 } },
	{ "mellanox leaves it to the switch", DCQCN_MELLANOX, 100 * G, false, { 1, 2, 3 } },
};

TABLE_TEST(dcqcn, thresholds, row, red_rows)
{
	struct red_curve curve = { 1, 2, 3 };

	cr_assert_eq(dcqcn_preset_red(row->preset, row->line_bps, &curve), row->known, "%s",
		     row->what);
	cr_assert_eq(curve.min_bytes, row->want.min_bytes, "%s", row->what);
	cr_assert_eq(curve.max_bytes, row->want.max_bytes, "%s", row->what);
	cr_assert_eq(curve.prob_ppm, row->want.prob_ppm, "%s", row->what);
}

// When the owner has to look again.
Test(dcqcn, deadline)
{
	const struct dcqcn_config config = dcqcn_config_of(DCQCN_CW);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;
	struct dcqcn_rp_state st;

	dcqcn_build(&config, 100 * G, &pf, &np);
	dcqcn_rp_init(&pf, &st);
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, UINT64_MAX, "not limited");
	dcqcn_rp_cnp(&pf, &st, (ns_t){ 7 });
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, 300 * US + 7, "the timer");
	dcqcn_rp_cnp(&pf, &st, (ns_t){ 8 });
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, 4 * US + 7, "the cut that waits");
	dcqcn_rp_rate(&pf, &st, (ns_t){ 5 * US });
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, 304 * US + 7, "the timer, begun anew");
	cr_assert_eq(dcqcn_rp_rate(&pf, &st, (ns_t){ 3600000 * MS }), 100 * G);
	cr_assert_eq(dcqcn_rp_deadline(&pf, &st).v, UINT64_MAX, "line rate again");
}

// Idle until the end of time, after the slowest steps there are: 2^41 bit/s by one bit/s.
Test(dcqcn, idle_for_ever_costs_nothing, .timeout = 5)
{
	struct dcqcn_config config = dcqcn_config_of(DCQCN_CW);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;
	struct dcqcn_rp_state st;

	config.law = DCQCN_EVENT;
	config.cut_interval = 0;
	config.clamp_target = true;
	config.rai = 1;
	config.rhai = 0;
	config.timer = 1 * US;
	dcqcn_build(&config, 1ull << 41, &pf, &np);
	dcqcn_rp_init(&pf, &st);
	for (uint64_t i = 0; i < 4; i++)
		dcqcn_rp_cnp(&pf, &st, (ns_t){ 0 });
	// The target is an eighth; after 2^40 events, of which one is a recovery, half is added.
	dcqcn_rp_rate(&pf, &st, (ns_t){ (1ull << 40) * US });
	cr_assert_eq(st.target_bps, (1ull << 38) + (1ull << 40) - 1);
	cr_assert_leq(st.target_bps - st.rate_bps, 1);
	cr_assert_eq(dcqcn_rp_rate(&pf, &st, (ns_t){ UINT64_MAX }), 1ull << 41);
	dcqcn_rp_cnp(&pf, &st, (ns_t){ UINT64_MAX });
	cr_assert_geq(dcqcn_rp_rate(&pf, &st, (ns_t){ UINT64_MAX }), 1000);
}

// Alpha as it stands, without looking at the flow.
Test(dcqcn, alpha)
{
	const struct dcqcn_config config = dcqcn_config_of(DCQCN_PAPER);
	struct dcqcn_rp_profile pf;
	struct dcqcn_np_profile np;
	struct dcqcn_rp_state st, before;

	dcqcn_build(&config, 40 * G, &pf, &np);
	dcqcn_rp_init(&pf, &st);
	cr_assert_eq(dcqcn_rp_alpha(&pf, &st, (ns_t){ 9 }), DCQCN_ONE);
	dcqcn_rp_cnp(&pf, &st, (ns_t){ 0 });
	before = st;
	cr_assert_eq(dcqcn_rp_alpha(&pf, &st, (ns_t){ 55 * US - 1 }), DCQCN_ONE);
	cr_assert_eq(dcqcn_rp_alpha(&pf, &st, (ns_t){ 55 * US }), 255 * (DCQCN_ONE / 256));
	cr_assert_eq(dcqcn_rp_alpha(&pf, &st, (ns_t){ 165 * US }), 255ull * 255 * 255 << 8);
	cr_assert_eq(dcqcn_rp_alpha(&pf, &st, (ns_t){ 3600000 * MS }), 0);
	cr_assert_eq(memcmp(&st, &before, sizeof(st)), 0);
}

// The notification point: at most one CNP per interval.
static const struct {
	const char *what;
	uint64_t interval_ns;
	struct {
		uint64_t at_ns;
		bool cnp;
	} packet[8];
} np_rows[] = {
	{ "50 us",
	  50 * US,
	  { { 0, true },
	    { 1, false },
	    { 50 * US - 1, false },
	    { 50 * US, true },
	    { 99 * US, false },
	    { 120 * US, true },
	    { 169 * US, false },
	    { 170 * US, true } } },
	{ "0: each marked packet",
	  0,
	  { { 0, true },
	    { 0, true },
	    { 1, true },
	    { 1, true },
	    { 2, true },
	    { 2, true },
	    { 2, true },
	    { 2, true } } },
	{ "4 us, the first packet late",
	  4 * US,
	  { { 5 * MS, true },
	    { 5 * MS + 4 * US - 1, false },
	    { 5 * MS + 4 * US, true },
	    { 5 * MS + 8 * US, true },
	    { 5 * MS + 8 * US, false },
	    { 5 * MS + 11 * US, false },
	    { 5 * MS + 12 * US, true },
	    { 9 * MS, true } } },
};

TABLE_TEST(dcqcn, notification_point, row, np_rows)
{
	const struct dcqcn_np_profile pf = { row->interval_ns };
	struct dcqcn_np_state st = { 0 };

	for (size_t i = 0; i < TABLE_COUNT(row->packet); i++)
		cr_assert_eq(dcqcn_np_marked(&pf, &st, (ns_t){ row->packet[i].at_ns }),
			     row->packet[i].cnp, "%s: packet %zu", row->what, i);
}
