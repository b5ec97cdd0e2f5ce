// SPDX-License-Identifier: BSD-3-Clause
//
// How long the PFC watchdog of a switch takes: detection and restoration over many phases of
// storms, polls and late ticks; what is too short, too idle or too steady to turn it.

#include "tests/rig/storm.h"
#include "tests/table.h"

enum { SRC = 0, DST = 1, PORTS = 4, LEN = 1000, MINUTE_MS = 60000 };

static void queue_frame(struct rig *rig, uint8_t prio)
{
	struct frame f = rig_frame(SRC, DST, prio, LEN);

	rig_send_many(rig, SRC, &f, 1);
}

static void check_within(uint64_t measured_ns, uint64_t time_ns, uint64_t poll_ns, uint64_t late_ns)
{
	cr_assert_gt(measured_ns, time_ns);
	cr_assert_leq(measured_ns, time_ns + poll_ns + late_ns);
}

// Ticks come every `tick_ns` at the latest, so that much is added to the window.
static uint64_t time_until(struct rig *rig, struct storm *storm, bool stormed, uint64_t tick_ns)
{
	ns_t from = rig->now;

	for (uint32_t i = 0; i < 1000000 && rig_queue(rig, DST, 3).pfc_wd_status != stormed; i++)
		storm_step(rig, storm, tick_ns);
	cr_assert_eq(rig_queue(rig, DST, 3).pfc_wd_status, stormed);
	return ns_since(rig->now, from);
}

SEED_TEST(pfcwd, timer_accuracy, rng, 60)
{
	struct sw_config *c = storm_config(PORTS, WATCHDOG_DROP);
	struct storm storm = { 0 };
	uint64_t tick_ns = 10000 + rng_below(rng, 2000000);
	uint64_t poll_ns = (100 + rng_below(rng, 901)) * STORM_MS;
	struct rig *rig;

	c->sw.pfc_wd_poll_interval = poll_ns;
	c->pfc_wd[0].detection_time = poll_ns + rng_below(rng, 1000) * STORM_MS;
	c->pfc_wd[0].restoration_time = poll_ns + rng_below(rng, 1000) * STORM_MS;
	rig = rig_new(c);
	for (uint32_t i = 0; i < 3; i++) {
		storm_step(rig, &storm, rng_next64(rng) % poll_ns);
		storm.enable[DST] = 1 << 3;
		storm.next[DST] = rig->now;
		storm_step(rig, &storm, 0);
		queue_frame(rig, 3);
		check_within(time_until(rig, &storm, true, tick_ns), c->pfc_wd[0].detection_time,
			     poll_ns, tick_ns);
		storm_step(rig, &storm, rng_next64(rng) % (2 * poll_ns));
		storm_stop(rig, &storm, DST);
		check_within(time_until(rig, &storm, false, tick_ns), c->pfc_wd[0].restoration_time,
			     poll_ns, tick_ns);
	}
	cr_assert_eq(rig->storms, 3);
	cr_assert_eq(rig->restores, 3);
	rig_end(rig);
}

// A peer that stops without an XON: the storm ends when its last timer does.
Test(pfcwd, timer_runs_out)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 1 << 3 };
	uint64_t took;

	storm_step(rig, &storm, 0);
	queue_frame(rig, 3);
	storm_wait(rig, &storm, DST, 3, true, 400);
	storm.enable[DST] = 0;
	took = storm_wait(rig, &storm, DST, 3, false, 600);
	cr_assert_geq(took, STORM_RESTORATION);
	cr_assert_leq(took, STORM_RESTORATION + STORM_POLL + 4); // a pause is 3.355 ms
	rig_end(rig);
}

// Without traffic there is no storm, however long the pause; the first frame starts the clock.
Test(pfcwd, no_traffic)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { .enable[DST] = 0x18 };
	uint64_t took;

	storm_step(rig, &storm, 10000 * STORM_MS);
	cr_assert_geq(rig_prio(rig, DST, 3).rx_pause_duration_us, 9999000);
	cr_assert_eq(rig->storms, 0);
	queue_frame(rig, 3);
	took = storm_wait(rig, &storm, DST, 3, true, 400);
	cr_assert_gt(took, STORM_DETECTION);
	cr_assert_leq(took, STORM_DETECTION + STORM_POLL + 1);
	cr_assert_eq(rig_queue(rig, DST, 4).pfc_wd_deadlock_detected, 0);
	rig_end(rig);
}

// Bursts of pauses shorter than detection, again and again: nothing is detected, nothing lost.
Test(pfcwd, burst_storm)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct storm storm = { 0 };
	uint64_t sent = 0;

	for (uint32_t burst = 0; burst < 100; burst++) {
		storm.enable[DST] = 1 << 3;
		storm_step(rig, &storm, 0);
		queue_frame(rig, 3);
		storm_step(rig, &storm, (STORM_DETECTION - burst % 50) * STORM_MS);
		storm_stop(rig, &storm, DST);
		sent += rig_release(rig, DST, UINT64_MAX);
		storm_step(rig, &storm, (1 + burst % 7) * STORM_MS);
	}
	cr_assert_eq(sent, 100);
	cr_assert_eq(rig->storms, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Storms on every port at 1 Gb/s for twenty minutes, with traffic now and then: each queue is
// detected once and none is restored until the storm ends, and then each of them is.
static const struct {
	const char *what;
	uint8_t enable;
} long_rows[] = {
	{ "one lossless priority", 1 << 3 },
	{ "every lossless priority", 0x18 },
};

static void send_two(struct rig *rig, uint32_t from)
{
	struct frame a = rig_frame(from, (from + 1) % PORTS, 3, LEN);
	struct frame b = rig_frame(from, (from + 2) % PORTS, 4, LEN);

	rig_send_many(rig, from, &a, 1);
	rig_send_many(rig, from, &b, 1);
}

TABLE_TEST(pfcwd, twenty_minutes, row, long_rows)
{
	const uint64_t queues = (uint64_t)__builtin_popcount(row->enable) * PORTS;
	struct sw_config *c = storm_config(PORTS, WATCHDOG_DROP);
	struct storm storm = { 0 };
	struct rig *rig;
	uint64_t passed = 0;

	for (uint32_t i = 0; i < PORTS; i++) {
		c->port[i].speed = 1000000000;
		storm.enable[i] = row->enable;
	}
	rig = rig_new(c);
	storm_step(rig, &storm, 0);
	for (uint32_t ms = 0; ms < 20 * MINUTE_MS; ms += 20) {
		for (uint32_t i = 0; ms % 100 == 0 && i < PORTS; i++)
			send_two(rig, i);
		storm_step(rig, &storm, 20 * STORM_MS);
		for (uint32_t i = 0; i < PORTS; i++)
			passed += rig_release(rig, i, PORTS);
	}
	cr_assert_eq(rig->storms, queues, "%s", row->what);
	cr_assert_eq(rig->restores, 0, "%s", row->what);
	// What no storm holds goes on all the time.
	cr_assert_eq(passed, row->enable == 0x18 ? 0 : 20 * MINUTE_MS / 100 * PORTS);
	for (uint32_t i = 0; i < PORTS; i++) {
		for (uint32_t queue = 3; queue <= 4; queue++)
			cr_assert_eq(rig_queue(rig, i, queue).pfc_wd_status,
				     row->enable >> queue & 1, "%s", row->what);
		storm_stop(rig, &storm, i);
	}
	storm_step(rig, &storm, (STORM_RESTORATION + STORM_POLL) * STORM_MS);
	cr_assert_eq(rig->restores, queues, "%s", row->what);
	for (uint32_t i = 0; i < PORTS; i++)
		cr_assert_eq(rig->pfc[i].count, 0);
	rig_end(rig);
}

// A polled shell sleeps until sw_deadline(): it never sleeps past a poll of the watchdog, and
// without a watchdog there is nothing to wake up for.
Test(pfcwd, deadline)
{
	struct sw_config *c = storm_config(PORTS, WATCHDOG_DROP);
	struct rig *rig = rig_new(c);

	for (uint32_t i = 0; i < 100; i++) {
		ns_t at = sw_deadline(rig->sw, LCORE_FIRST, rig->now);

		cr_assert_gt(at.v, rig->now.v);
		cr_assert_leq(at.v, rig->now.v + STORM_POLL * STORM_MS);
		rig_advance(rig, ns_since(at, rig->now));
	}
	rig_end(rig);
	rig = rig_new(setup_kvm(PORTS));
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, NS_NEVER.v);
	rig_end(rig);
}

// The history of a priority is that of the wire: a pause of 1 ms, one of 3.355 ms renewed once, and
// one that lasts.
Test(pfcwd, history)
{
	struct rig *rig = rig_new(storm_config(PORTS, WATCHDOG_DROP));
	struct prio_stats prio;
	ns_t at;

	rig_send_pfc(rig, DST, 1 << 3, 19532); // 51.2 ns each: 1000038 ns
	rig_advance(rig, 5 * STORM_MS);
	prio = rig_prio(rig, DST, 3);
	cr_assert_eq(prio.rx_pause_transitions, 1);
	cr_assert_eq(prio.rx_pause_duration_us, 1000);
	cr_assert_eq(prio.rx_pause_recent_us, 1000);
	at = rig->now;
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_advance(rig, 3 * STORM_MS);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_advance(rig, 10 * STORM_MS);
	prio = rig_prio(rig, DST, 3);
	cr_assert_eq(prio.rx_pause_transitions, 2);
	cr_assert_eq(prio.rx_pause_recent_us, 6355);
	cr_assert_eq(prio.rx_pause_duration_us, 7355);
	cr_assert_eq(prio.rx_pause_recent_at_ns, at.v);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_advance(rig, STORM_MS);
	prio = rig_prio(rig, DST, 3);
	cr_assert_eq(prio.rx_pause_recent_us, 1000);
	cr_assert_eq(prio.rx_pause_recent_at_ns, rig->now.v - STORM_MS);
	cr_assert_eq(rig_prio(rig, DST, 4).rx_pause_recent_at_ns, 0);
	rig_end(rig);
}
