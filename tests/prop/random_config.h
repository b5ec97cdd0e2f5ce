// SPDX-License-Identifier: BSD-3-Clause
//
// Random but valid switch configurations for property tests: pools small enough that a few hundred
// frames fill them, every kind of limit, private and shared headroom, cells, schedulers and
// marking. One throw of the dice per expression: C leaves the order of several to the compiler, and
// a seed would mean another run with each.
#pragma once

#include "base/rng.h"
#include "tests/rig/setup.h"

// A power of two or a value in between, at random, in first..last.
static inline uint64_t random_between(struct rng *rng, uint64_t first, uint64_t last)
{
	return first + rng_next64(rng) % (last - first + 1);
}

static inline bool random_one_in(struct rng *rng, uint32_t n)
{
	return rng_below(rng, n) == 0;
}

static inline void random_threshold(struct rng *rng, struct buffer_profile_config *row,
				    int64_t least_alpha)
{
	row->dynamic_th = CONFIG_UNSET_INT;
	row->static_th = CONFIG_UNSET;
	if (random_one_in(rng, 4))
		row->static_th = random_between(rng, 500, 60000);
	else
		row->dynamic_th = least_alpha +
				  (int64_t)rng_below(rng, (uint32_t)(8 - least_alpha));
}

static inline void random_buffers(struct rng *rng, struct sw_config *c)
{
	struct buffer_profile_config *lossless = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct buffer_profile_config *row;
	bool shared = random_one_in(rng, 2);

	lossless->xoff = random_between(rng, 9300, 30000); // holds a largest frame
	lossless->size = shared ? random_between(rng, 0, 4000) :
				  random_between(rng, 0, 4000) + lossless->xoff;
	lossless->xon = random_between(rng, 0, 5000);
	lossless->xon_offset = random_one_in(rng, 2) ? 0 : random_between(rng, 1, 20000);
	random_threshold(rng, lossless, -8);
	random_threshold(rng, setup_find_profile(c, KVM_PG_LOSSY), -3);
	row = setup_find_profile(c, KVM_QUEUE_LOSSY);
	row->size = random_between(rng, 0, 3000);
	random_threshold(rng, row, -8);
	setup_find_profile(c, KVM_QUEUE_LOSSLESS)->static_th = 0;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = random_between(rng, 60000, 250000);
	setup_find_pool(c, KVM_INGRESS_POOL)->xoff =
		shared ? random_between(rng, lossless->xoff, 3 * lossless->xoff) : 0;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = random_between(rng, 120000, 250000);
}

static inline void random_queues(struct rng *rng, struct sw_config *c)
{
	static const char *const name[] = { "s0", "s1", "s2" };
	struct wred_config *wred = setup_wred(c, "wred", random_between(rng, 0, 20000), 0, 0);

	wred->green_max_threshold = wred->green_min_threshold + random_between(rng, 0, 40000);
	wred->green_drop_probability = random_between(rng, 0, 1000000);
	wred->wred_green_enable = random_one_in(rng, 3);
	wred->mark_at = rng_below(rng, 2);
	for (uint32_t i = 0; i < 3; i++) {
		bool strict = random_one_in(rng, 4);
		uint64_t weight = random_between(rng, 1, 100);
		struct scheduler_config *row = setup_scheduler(
			c, name[i], strict ? CONFIG_SCHEDULER_STRICT : CONFIG_SCHEDULER_DWRR,
			weight);

		row->pir = random_one_in(rng, 3) ? random_between(rng, 100, 9000) * 1000000 : 0;
	}
	for (uint32_t q = 0; q < QUEUE_COUNT; q++) {
		const char *scheduler = name[rng_below(rng, 3)];

		setup_queue(c, "all", (uint8_t)(1u << q), scheduler,
			    random_one_in(rng, 2) ? "wred" : "");
	}
}

// `ports` ports; the caller may change the result further.
static inline struct sw_config *random_config(struct rng *rng, uint32_t ports)
{
	static const uint64_t cell[] = { 1, 1, 80, 144, 208 };
	struct sw_config *c = setup_kvm(ports);

	c->sw.cell = cell[rng_below(rng, 5)];
	c->sw.seed = rng_next64(rng) >> 1;
	c->sw.mac_count = 16;
	c->sw.solicit_time = 2000000;
	for (uint32_t i = 0; i < ports; i++) {
		c->port[i].speed = random_one_in(rng, 4) ? 0 : 10000000000;
		c->port[i].burst = random_between(rng, 0, 100000);
		c->port[i].pfc_asymmetric = rng_below(rng, 2);
		c->port[i].flood_rate = random_one_in(rng, 2) ? 0 : 1000000000;
		c->port[i].pfc_quanta = random_between(rng, 200, 65535); // 10 us at least
	}
	random_buffers(rng, c);
	random_queues(rng, c);
	return c;
}
