// SPDX-License-Identifier: BSD-3-Clause
//
// base/pacer.h against what a wire does: n bytes take 8n / rate, remainders included, and idle time
// is forgotten but for the burst.

#include "base/pacer.h"

#include "tests/table.h"

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t frame_bytes;
	uint32_t frames;
	uint64_t want_ns; // floor(frames * frame_bytes * 8 * 10^9 / bps)
} rate_rows[] = {
	{ "10G, 1538 bytes: 1230.4 ns each", 10000000000, 1538, 1000, 1230400 },
	{ "100G, 84 bytes: 6.72 ns each", 100000000000, 84, 1000000, 6720000 },
	{ "400G, 84 bytes: 1.68 ns each", 400000000000, 84, 1000000, 1680000 },
	{ "3 bit/s never divides: 8/3 s each", 3, 1, 10, 26666666666 },
	{ "one frame, rounded down", 100000000000, 84, 1, 6 },
	{ "1G, 64 bytes: 512 ns each", 1000000000, 64, 3, 1536 },
};

TABLE_TEST(pacer, long_run_rate_is_exact, row, rate_rows)
{
	const struct pacer_profile pf = { .bps = row->bps, .burst_ns = 1000 };
	struct pacer_state st = { 0 };

	for (uint32_t i = 0; i < row->frames; i++) {
		const ns_t now = st.ready;

		cr_assert(pacer_ready(&st, now), "%s", row->what);
		pacer_charge(&pf, &st, row->frame_bytes, now);
	}
	cr_assert_eq(st.ready.v, row->want_ns, "%s: %lu", row->what, st.ready.v);
}

Test(pacer, no_rate_is_no_limit)
{
	const struct pacer_profile pf = { .bps = 0 };
	struct pacer_state st = { 0 };

	pacer_charge(&pf, &st, UINT32_MAX, (ns_t){ 5 });
	cr_assert(pacer_ready(&st, (ns_t){ 5 }));
}

Test(pacer, not_ready_until_the_frame_has_left)
{
	const struct pacer_profile pf = { .bps = 1000000000, .burst_ns = 0 };
	struct pacer_state st = { 0 };

	pacer_charge(&pf, &st, 125, (ns_t){ 100 }); // 1000 ns
	cr_assert_not(pacer_ready(&st, (ns_t){ 1099 }));
	cr_assert(pacer_ready(&st, (ns_t){ 1100 }));
}

static const struct {
	const char *what;
	uint64_t burst_ns;
	uint64_t idle_ns;
	uint32_t want_frames; // of 1000 ns each that may go at once after the idle time
} burst_rows[] = {
	{ "no burst: one at a time", 0, 1000000, 1 },
	{ "the burst and the frame that begins at its end", 3000, 1000000, 4 },
	{ "less idle than the burst", 3000, 2000, 3 },
	{ "part of a frame counts as one", 500, 1000000, 1 },
};

TABLE_TEST(pacer, idle_time_is_forgotten_but_for_the_burst, row, burst_rows)
{
	const struct pacer_profile pf = { .bps = 1000000000, .burst_ns = row->burst_ns };
	struct pacer_state st = { .ready = { 5000 } };
	const ns_t now = { 5000 + row->idle_ns };
	uint32_t frames = 0;

	while (pacer_ready(&st, now) && frames < 100) {
		pacer_charge(&pf, &st, 125, now);
		frames++;
	}
	cr_assert_eq(frames, row->want_frames, "%s: %u", row->what, frames);
}
