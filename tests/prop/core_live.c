// SPDX-License-Identifier: BSD-3-Clause
//
// Changes of a running switch under lossless load: whatever sw_losses() finds nothing to lose in
// may be applied at any moment. Peers obey, as in core_buffers.c: after XOFF a group receives at
// most the headroom that it had when XOFF began, whatever the profile says by then. No lossless
// packet is dropped, every one that was taken leaves, and the sums are right after every step, over
// pools that come, go and change their size, limits of all kinds, private and shared headroom,
// cells and rates.

#include <string.h>

#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SEEDS = 25,
	CHANGES = 40, // applied, per seed: a thousand in all
	STEPS = 60,   // between two changes
	ROUNDS = 20 * CHANGES,
	PORTS = 4,
	LOSSLESS = 2, // groups 3 and 4 of each port
};

struct bench {
	struct rig *rig;
	struct rng *rng;
	struct sw_config before;
	uint64_t in_flight[PORTS][LOSSLESS]; // charged since XOFF began, its first packet included
	uint64_t allowed[PORTS][LOSSLESS];   // what may be
	uint64_t allowed_total;              // of all of them
	uint64_t xoffs, to_headroom, taken, applied, applied_in_xoff, refused;
};

static struct buffer_profile_config *lossless(const struct bench *b)
{
	return setup_find_profile(b->rig->config, KVM_PG_LOSSLESS);
}

static bool may_send(const struct bench *b, uint32_t port, uint32_t class, uint64_t charge)
{
	uint64_t total = charge;

	for (uint32_t i = 0; i < PORTS; i++)
		total += b->in_flight[i][0] + b->in_flight[i][1];
	return b->in_flight[port][class] + charge <= b->allowed[port][class] &&
	       total <= b->allowed_total;
}

// What a peer counts on is what there was when it was told to stop, or more that came since.
static void follow_headroom(struct bench *b)
{
	const uint64_t pool = setup_find_pool(b->rig->config, KVM_INGRESS_POOL)->xoff;
	const uint64_t total = pool != 0 ? pool : UINT64_MAX;
	bool any = false;

	for (uint32_t n = 0; n < PORTS * LOSSLESS; n++) {
		uint64_t *allowed = &b->allowed[n / LOSSLESS][n % LOSSLESS];
		const bool stopped = rig_pg(b->rig, n / LOSSLESS, 3 + n % LOSSLESS).xoff_state;

		if (!stopped)
			b->in_flight[n / LOSSLESS][n % LOSSLESS] = 0;
		*allowed = stopped ? u64_max(*allowed, lossless(b)->xoff) : lossless(b)->xoff;
		any |= stopped;
	}
	b->allowed_total = any ? u64_max(b->allowed_total, total) : total;
}

static void send_one(struct bench *b)
{
	const uint64_t cell = b->rig->config->sw.cell;
	const uint32_t port = rng_below(b->rng, PORTS);
	const uint32_t to = (port + 1 + rng_below(b->rng, PORTS - 1)) % PORTS;
	const uint32_t class = rng_below(b->rng, LOSSLESS + 1);
	const uint8_t dscp = class < LOSSLESS ? (uint8_t)(3 + class) : 0;
	struct frame f = rig_frame(port, to, dscp, 74 + rng_below(b->rng, 1400));
	const uint64_t charge = (f.len + cell - 1) / cell * cell;
	struct pg_stats before, after;

	if (class == LOSSLESS) {
		rig_send(b->rig, port, &f);
		return;
	}
	if (!may_send(b, port, class, charge))
		return;
	before = rig_pg(b->rig, port, 3 + class);
	rig_send(b->rig, port, &f);
	after = rig_pg(b->rig, port, 3 + class);
	cr_assert_eq(after.packets, before.packets + 1);
	b->taken++;
	b->xoffs += after.xoff_events - before.xoff_events;
	b->to_headroom += after.xoff_room_curr_occupancy_bytes >
			  before.xoff_room_curr_occupancy_bytes;
	if (after.xoff_state)
		b->in_flight[port][class] += charge;
}

static void check(struct bench *b)
{
	cr_assert(sw_conserved(b->rig->sw));
	for (uint32_t port = 0; port < PORTS; port++)
		cr_assert_eq(rig_drops(b->rig, port, DROP_PG_LOSSLESS_FULL), 0);
	follow_headroom(b);
}

static void random_step(struct bench *b)
{
	const uint32_t port = rng_below(b->rng, PORTS);

	switch (rng_below(b->rng, 12)) {
	case 0: rig_send_pfc(b->rig, port, 0x18, (uint16_t)rng_below(b->rng, 3000)); break;
	case 1: rig_advance(b->rig, rng_below(b->rng, 20000)); break;
	case 2: rig_release(b->rig, port, 1 + rng_below(b->rng, 30)); break;
	default: send_one(b); break;
	}
	follow_headroom(b);
}

// A pool that other configurations do not have takes the lossy queues, or gives them back.
static void toggle_pool(struct sw_config *c)
{
	struct buffer_profile_config *queue = setup_find_profile(c, KVM_QUEUE_LOSSY);

	if (strcmp(queue->pool, KVM_LOSSY_POOL) != 0) {
		c->pool_count--;
		setup_name(queue->pool, KVM_LOSSY_POOL);
		return;
	}
	setup_pool(c, "more", CONFIG_POOL_EGRESS, 300000);
	setup_name(queue->pool, "more");
}

static void change_config(struct bench *b)
{
	struct sw_config *c = b->rig->config;

	switch (rng_below(b->rng, 4)) {
	case 0: random_buffers(b->rng, c); break;
	case 1: toggle_pool(c); break;
	case 2:
		lossless(b)->xon = random_between(b->rng, 0, 5000);
		random_threshold(b->rng, lossless(b), -8);
		break;
	default:
		c->sw.cell = random_one_in(b->rng, 2) ? 1 : 80;
		for (uint32_t i = 0; i < PORTS; i++) {
			c->port[i].speed = random_one_in(b->rng, 2) ? 0 : 10000000000;
			c->port[i].pfc_quanta = random_between(b->rng, 200, 65535);
		}
		break;
	}
}

// A change that would lose something is taken back.
static void change(struct bench *b)
{
	struct sw_loss loss;
	bool in_xoff = false;

	memcpy(&b->before, b->rig->config, sizeof(b->before));
	change_config(b);
	if (rig_losses(b->rig, &loss, 1) > 0) {
		memcpy(b->rig->config, &b->before, sizeof(b->before));
		b->refused++;
		return;
	}
	for (uint32_t n = 0; n < PORTS * LOSSLESS; n++)
		in_xoff |= b->in_flight[n / LOSSLESS][n % LOSSLESS] > 0;
	cr_assert_eq(rig_reload(b->rig), 0);
	b->applied++;
	b->applied_in_xoff += in_xoff;
}

// All lossless packets that were taken have left.
static void check_all_sent(struct bench *b)
{
	uint64_t sent = 0;

	cr_assert(rig_run_dry(b->rig, 10000));
	cr_assert(rig_is_open(b->rig));
	for (uint32_t n = 0; n < PORTS * LOSSLESS; n++)
		sent += rig_queue(b->rig, n / LOSSLESS, 3 + n % LOSSLESS).packets;
	cr_assert_eq(sent, b->taken);
}

SEED_TEST(prop, core_live, rng, SEEDS)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct sw_config *c = random_config(rng, PORTS);

	cr_assert_not_null(b);
	b->rng = rng;
	c->wred[0].wred_green_enable = false; // lossless queues mark, and drop nothing
	b->rig = rig_new(c);
	follow_headroom(b);
	for (uint32_t round = 0; b->applied < CHANGES; round++) {
		cr_assert_lt(round, ROUNDS, "%lu applied, %lu refused", b->applied, b->refused);
		for (uint32_t i = 0; i < STEPS; i++)
			random_step(b);
		change(b);
		check(b);
	}
	cr_assert_gt(b->xoffs, 0);
	cr_assert_gt(b->to_headroom, 0);
	cr_assert_gt(b->applied_in_xoff, 0);
	cr_assert_gt(b->refused, 0);
	check_all_sent(b);
	rig_end(b->rig);
	free(b);
}
