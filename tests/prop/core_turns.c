// SPDX-License-Identifier: BSD-3-Clause
//
// Tables that are wrong on purpose: every switch of a ring sends each destination wherever it
// likes, and changes its mind half way. With the turn map on no packet loops and no buffers wait
// for each other: all traffic ends, as a delivery or as a counted drop, and every queue runs dry.
// The same tables without the map are the control: some loop for ever.
//
// Why it must hold (Dally and Seitz 1987): on each direction of the ring a packet crosses the
// dateline once, from lane 0 to lane 1, so the dependencies between (link, lane) pairs are a line.

#include "base/rng.h"
#include "tests/rig/ring.h"
#include "tests/table.h"

enum {
	ROUNDS = 40, // fabrics per seed
	SWITCH_MIN = 3,
	FLOWS = 3, // per host
	FRAMES = 60,
	LEN = 1226,
	POOL_BYTES = 60000,
	PRIO_LOSSLESS = 3,
	PRIO_LOSSY = 0,
};

#define MS 1000000ull

// The longest a run may take: all frames one after the other over one link are 8 x 3 x 60 us, and
// none crosses a link more than twice.
#define LIMIT (20 * MS)

struct fabric {
	struct ring ring;
	uint64_t frames;
};

// An edge one of: nowhere, next, before, both by hash; half the hosts at a wrong edge.
static void random_routes(struct rng *rng, struct sw_config *c, uint32_t self, uint32_t count)
{
	for (uint32_t host = 0; host < count; host++) {
		if (rng_below(rng, 2) == 0)
			c->host[host].edge = rng_below(rng, count);
	}
	for (uint32_t to = 0; to < count; to++) {
		if (to != self)
			ring_route(c, to, rng_below(rng, 8) == 0 ? 0 : 2 * (1 + rng_below(rng, 3)));
	}
}

static struct fabric random_fabric(struct rng *rng, bool lanes)
{
	const uint32_t count = SWITCH_MIN + rng_below(rng, RING_MAX - SWITCH_MIN + 1);
	struct sw_config *switches[RING_MAX];
	struct host_config hosts[RING_MAX];
	struct fabric fabric = { .frames = (uint64_t)count * FLOWS * FRAMES };

	for (uint32_t i = 0; i < count; i++) {
		switches[i] = ring_switch(i, count, lanes, POOL_BYTES);
		random_routes(rng, switches[i], i, count);
		host_config_init(&hosts[i], i);
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t flow = 0; flow < FLOWS; flow++) {
			const uint32_t to = (i + 1 + rng_below(rng, count - 1)) % count;
			const bool lossless = rng_below(rng, 4) != 0;

			ring_flow(hosts, i, to, lossless ? PRIO_LOSSLESS : PRIO_LOSSY, LEN, FRAMES);
		}
	}
	fabric.ring = ring_new(switches, hosts, count);
	return fabric;
}

// Points one edge of a switch elsewhere, as a manager in error would.
static void change_route(struct rng *rng, struct fabric *fabric)
{
	const uint32_t i = rng_below(rng, fabric->ring.count);
	struct sw_tables *t = net_rig(fabric->ring.net, fabric->ring.sw[i])->tables;

	if (t->group_count > 0 && t->edge_count > 0)
		tables_edge_set(t, (uint16_t)rng_below(rng, t->edge_count),
				(uint16_t)rng_below(rng, t->group_count));
}

static bool runs_dry(struct rng *rng, struct fabric *fabric)
{
	for (uint64_t at = 0; at < MS; at += MS / 10) {
		net_run(fabric->ring.net, at);
		change_route(rng, fabric);
	}
	return net_run_dry(fabric->ring.net, LIMIT);
}

static void check_ended(const struct fabric *fabric)
{
	const struct ring *ring = &fabric->ring;
	uint64_t received = ring_received(ring, PRIO_LOSSLESS) + ring_received(ring, PRIO_LOSSY);

	for (uint32_t i = 0; i < ring->count; i++) // at the wrong host
		received += net_host_stats(ring->net, ring->host[i]).rx_stray;
	cr_assert_eq(received + ring_all_drops(ring), fabric->frames);
	// Lossless frames are dropped for what the tables say, never for want of buffer.
	cr_assert_eq(ring_drops(ring, DROP_PG_LOSSLESS_FULL), 0);
}

SEED_TEST(turns, nothing_loops_whatever_the_tables_say, rng, 50)
{
	uint64_t xoffs = 0;
	uint64_t second_lane = 0;
	uint64_t denied = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct fabric fabric = random_fabric(rng, true);

		cr_assert(runs_dry(rng, &fabric), "round %u", round);
		check_ended(&fabric);
		xoffs += ring_xoffs(&fabric.ring, PRIO_LOSSLESS);
		second_lane += ring_xoffs(&fabric.ring, PRIO_LOSSLESS + 1);
		denied += ring_drops(&fabric.ring, DROP_TURN_DENIED);
		net_end(fabric.ring.net);
	}
	// What could have gone wrong was there.
	cr_assert_gt(xoffs, 0);
	cr_assert_gt(second_lane, 0);
	cr_assert_gt(denied, 0);
}

// --- with hellos ------------------------------------------------------------------------------

enum { HELLO_MS = 1, HELLO_MULTIPLIER = 3 };

static void turn_hellos_on(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->ring.count; i++) {
		struct rig *rig = net_rig(fabric->ring.net, fabric->ring.sw[i]);

		setup_port_name(i, rig->config->sw.name); // any name will do, if it is its own
		rig->config->sw.hello_interval = HELLO_MS * MS;
		rig->config->sw.hello_multiplier = HELLO_MULTIPLIER;
		rig->config->port[RING_NEXT].hello = CONFIG_HELLO_ON;
		rig->config->port[RING_BEFORE].hello = CONFIG_HELLO_ON;
		cr_assert_eq(rig_reload(rig), 0);
	}
}

// Over all switches.
static uint64_t queued(const struct ring *ring)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < ring->count; i++)
		count += rig_switch(net_rig(ring->net, ring->sw[i])).queued_packets;
	return count;
}

static uint64_t masked(const struct ring *ring)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < ring->count; i++) {
		const struct rig *rig = net_rig(ring->net, ring->sw[i]);

		count += rig_port(rig, RING_NEXT).hello_masked_edges;
		count += rig_port(rig, RING_BEFORE).hello_masked_edges;
	}
	return count;
}

// Hellos never end, so what must end is all that is queued.
static void check_hellos(struct rng *rng, struct fabric *fabric, bool lies)
{
	const uint32_t liar = fabric->ring.sw[rng_below(rng, fabric->ring.count)];

	turn_hellos_on(fabric);
	net_watch(fabric->ring.net);
	for (uint64_t at = 0; at < MS; at += MS / 10) {
		net_run(fabric->ring.net, at);
		change_route(rng, fabric);
		if (lies)
			net_mute(fabric->ring.net, liar, RING_NEXT, at > MS / 2);
	}
	net_run(fabric->ring.net, LIMIT);
	cr_assert_eq(queued(&fabric->ring), 0);
	if (lies)
		cr_assert_gt(rig_port(net_rig(fabric->ring.net, liar), RING_NEXT).hello_downs, 0);
	else
		check_ended(fabric);
}

SEED_TEST(turns, masks_and_lying_links_make_no_loop_either, rng, 10)
{
	uint64_t masks = 0;

	for (uint32_t round = 0; round < ROUNDS / 4; round++) {
		struct fabric fabric = random_fabric(rng, true);

		check_hellos(rng, &fabric, round % 2 == 1);
		masks += masked(&fabric.ring);
		net_end(fabric.ring.net);
	}
	cr_assert_gt(masks, 0);
}

Test(turns, without_the_map_the_same_tables_do_loop)
{
	struct rng rng;
	uint32_t endless = 0;

	rng_seed(&rng, 1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct fabric fabric = random_fabric(&rng, false);

		endless += !runs_dry(&rng, &fabric);
		net_end(fabric.ring.net);
	}
	cr_assert_gt(endless, 0);
}
