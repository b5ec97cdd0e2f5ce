// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of neighbour ageing under random times and answers: who answers is never given up
// while in use, who is silent is given up in bounded time, questions are bounded, and the table of
// neighbours is a map of limited size, whoever scans or invents addresses.

#include "dataplane/neighbor_table.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/table.h"

#define MS 1000000ull
#define MAC 0x020000000001u

static struct neighbor_times random_times(struct rng *rng)
{
	return (struct neighbor_times){
		.reachable_ns = (1000 + rng_below(rng, 60000)) * MS,
		.stale_ns = (1000 + rng_below(rng, 600000)) * MS,
		.probe_ns = (100 + rng_below(rng, 5000)) * MS,
		.solicit_ns = (100 + rng_below(rng, 3000)) * MS,
		.probe_count = 1 + rng_below(rng, 8),
	};
}

// The caller ticks every 1 to 50 ms.
static ns_t later(struct rng *rng, ns_t now)
{
	return ns_add(now, (1 + rng_below(rng, 50)) * MS);
}

static void check(const struct neighbor *n, ns_t now)
{
	cr_assert(neighbor_is_known(n) ? n->mac == MAC : n->mac == 0);
	cr_assert_neq(n->at.v, NS_NEVER.v);
	cr_assert_leq(n->heard.v, now.v);
}

// Every question is answered, after less than a probe interval; packets flow all the time. One
// without a sender is answered to all.
SEED_TEST(neighbors, who_answers_is_kept, rng, 60)
{
	const struct neighbor_times times = random_times(rng);
	const bool unnamed = rng_below(rng, 2) != 0;
	const struct neighbor_claim claim = { MAC, !unnamed, rng_below(rng, 2) != 0, unnamed };
	struct neighbor n;
	ns_t now = { 1000 * MS };
	ns_t answer = NS_NEVER;
	uint32_t probes = 0;

	neighbor_start(&times, &n, now);
	neighbor_hear(&times, &n, &claim, rng_next32(rng), now);
	for (uint32_t i = 0; i < 20000; i++) {
		enum neighbor_task task;

		now = later(rng, now);
		if (answer.v <= now.v) {
			cr_assert_eq(neighbor_hear(&times, &n, &claim, rng_next32(rng), now),
				     NEIGHBOR_SAME);
			answer = NS_NEVER;
		}
		task = neighbor_tick(&times, &n, true, now);
		cr_assert(task == NEIGHBOR_NOTHING || task == NEIGHBOR_ASK_IT);
		if (task == NEIGHBOR_ASK_IT && answer.v == NS_NEVER.v) {
			probes++;
			n.unnamed = unnamed;
			answer = ns_add(now, rng_next64(rng) % (times.probe_ns - 51 * MS));
		}
		check(&n, now);
		cr_assert(neighbor_is_known(&n));
	}
	cr_assert_gt(probes, 0);
}

// From its last answer on nobody hears it: gone within the longest reachable time, the delay, and
// all probes, each late by a tick; and it was asked as often as the configuration says.
SEED_TEST(neighbors, who_is_silent_is_given_up, rng, 200)
{
	const struct neighbor_times times = random_times(rng);
	const struct neighbor_claim claim = { MAC, true, true, false };
	const uint64_t most = times.reachable_ns * 3 / 2 + 5000 * MS +
			      times.probe_count * times.probe_ns +
			      50 * MS * (times.probe_count + 4);
	const ns_t start = { 1000 * MS };
	struct neighbor n;
	ns_t now = start;
	enum neighbor_task task;
	uint32_t probes = 0;

	neighbor_start(&times, &n, now);
	neighbor_hear(&times, &n, &claim, rng_next32(rng), now);
	do {
		now = later(rng, now);
		task = neighbor_tick(&times, &n, true, now);
		probes += task == NEIGHBOR_ASK_IT;
		cr_assert_leq(ns_since(now, start), most);
	} while (task != NEIGHBOR_DEAD);
	cr_assert_eq(probes, times.probe_count);
	cr_assert_geq(ns_since(now, start),
		      times.reachable_ns / 2 + times.probe_count * times.probe_ns);
}

// Packets for an address that nobody has, without end: a share of questions for each wait, and a
// pause of one probe interval after it.
SEED_TEST(neighbors, questions_for_nobody_are_bounded, rng, 100)
{
	const struct neighbor_times times = random_times(rng);
	const ns_t start = { 1000 * MS };
	const uint64_t period = times.solicit_ns + times.probe_ns;
	struct neighbor n;
	ns_t now = start;
	uint64_t asked = 1;

	neighbor_start(&times, &n, now);
	for (uint32_t i = 0; i < 5000; i++) {
		enum neighbor_task task;

		now = later(rng, now);
		asked += neighbor_want(&times, &n, now) == NEIGHBOR_ASK_ALL;
		task = neighbor_tick(&times, &n, false, now);
		asked += task == NEIGHBOR_ASK_ALL;
		if (task != NEIGHBOR_FORGET)
			continue;
		neighbor_start(&times, &n, now);
		asked++;
	}
	cr_assert_leq(asked, (ns_since(now, start) / period + 1) * times.probe_count);
}

// --- the table --------------------------------------------------------------------------------

// Three next hops share each address with a host: at two ports, and anywhere in another VLAN.
enum { LIMIT = 100, HOP_LIMIT = 450, ADDRESSES = 600, OF_ADDRESS = 4 };

static struct ip_prefix address_of(uint32_t i);

static struct neighbor_key key_of(uint32_t i)
{
	static const struct neighbor_key place[OF_ADDRESS] = {
		{ .port = PORT_NONE },
		{ .next_hop = true, .vid = 10, .port = { 1 } },
		{ .next_hop = true, .vid = 10, .port = { 2 } },
		{ .next_hop = true, .vid = 20, .port = PORT_NONE },
	};
	struct neighbor_key key = place[i % OF_ADDRESS];

	key.address = address_of(i / OF_ADDRESS);
	return key;
}

static struct ip_prefix address_of(uint32_t i)
{
	struct ip_prefix address = { .family = i % 2 ? IP_V6 : IP_V4,
				     .len = i % 2 ? 128 : 32,
				     .address = { 10 } };

	store_be16(address.address + (i % 2 ? 14 : 2), (uint16_t)(i / 2));
	return address;
}

struct model {
	uint8_t in[ADDRESSES]; // 0: no row, 1: wanted, 2: known
	uint32_t hosts;        // known ones
};

static void check_table(const struct neighbor_table *t, const struct model *model)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < ADDRESSES; i++) {
		const struct neighbor_key key = key_of(i);
		const struct neighbor_row *row = neighbor_table_find(t, &key);
		const bool is_wanted = row != NULL && row < t->row + NEIGHBOR_WANTED_MAX;

		wanted += is_wanted;
		if (model->in[i] == 2)
			cr_assert(row != NULL && !is_wanted && row->vid == i);
		else
			cr_assert(row == NULL || is_wanted);
	}
	cr_assert_eq(t->wanted, wanted);
	cr_assert_eq(t->known - t->hops, model->hosts);
	cr_assert_leq(model->hosts, LIMIT);
}

static void know(struct neighbor_table *t, struct model *model, uint32_t i, struct rng *rng,
		 ns_t now)
{
	const struct neighbor_key key = key_of(i);
	struct ip_prefix evicted;
	struct neighbor_row *row = neighbor_table_know(t, &key, (uint16_t)i, &evicted);

	if (row == NULL) {
		cr_assert_not(key.next_hop, "there is room for each");
		cr_assert_eq(model->hosts, LIMIT);
		return;
	}
	row->n.heard = now;
	row->n.state = rng_below(rng, 3) ? NEIGHBOR_STALE : NEIGHBOR_REACHABLE;
	model->in[i] = 2;
	model->hosts += !key.next_hop;
	if (evicted.family == IP_NONE)
		return;
	cr_assert_not(key.next_hop);
	cr_assert_eq(model->hosts, LIMIT + 1, "nobody makes room while there is some");
	for (uint32_t k = 0; k < ADDRESSES; k += OF_ADDRESS) {
		const struct ip_prefix other = key_of(k).address;

		if (k != i && memcmp(&other, &evicted, sizeof(other)) == 0) {
			cr_assert_eq(model->in[k], 2);
			model->in[k] = 0;
			model->hosts--;
		}
	}
	cr_assert_eq(model->hosts, LIMIT);
}

SEED_TEST(neighbors, table_is_a_map, rng, 30)
{
	struct neighbor_table t;
	struct model model = { 0 };

	cr_assert_eq(neighbor_table_open(&t, LIMIT, HOP_LIMIT, rng_next64(rng)), 0);
	for (uint32_t step = 0; step < 2000; step++) {
		const uint32_t i = rng_below(rng, ADDRESSES);
		const struct neighbor_key key = key_of(i);
		struct neighbor_row *row = neighbor_table_find(&t, &key);

		if (rng_below(rng, 4) == 0 && row != NULL) {
			neighbor_table_remove(&t, row);
			model.hosts -= model.in[i] == 2 && !key.next_hop;
			model.in[i] = 0;
		} else if (model.in[i] == 2) {
			row->n.state = NEIGHBOR_REACHABLE;
		} else if (rng_below(rng, 2) == 0 && row == NULL && !key.next_hop) {
			neighbor_table_want(&t, &key.address, (uint16_t)i);
		} else {
			know(&t, &model, i, rng, (ns_t){ step });
		}
		if (step % 50 == 0)
			check_table(&t, &model);
	}
	check_table(&t, &model);
	neighbor_table_close(&t);
}

// A scan of a /16 leaves those alone that are known, and no more than its own share behind.
Test(neighbors, a_scan_fills_nothing)
{
	struct neighbor_table t;
	struct ip_prefix evicted;
	struct neighbor_key host = { .address = { .family = IP_V4, .len = 32, .address = { 11 } },
				     .port = PORT_NONE };

	cr_assert_eq(neighbor_table_open(&t, LIMIT, 0, 1), 0);
	neighbor_table_know(&t, &host, 1, &evicted)->n.state = NEIGHBOR_STALE;
	for (uint32_t i = 0; i < 65536; i++) {
		struct ip_prefix address = { .family = IP_V4, .len = 32, .address = { 10 } };

		store_be16(address.address + 2, (uint16_t)i);
		neighbor_table_want(&t, &address, 1);
	}
	cr_assert_eq(t.wanted, NEIGHBOR_WANTED_MAX);
	cr_assert_eq(t.known, 1);
	cr_assert_not_null(neighbor_table_find(&t, &host));
	neighbor_table_close(&t);
}

// Whoever speaks for thousands of addresses displaces those that nobody uses, never those in use.
Test(neighbors, invented_ones_displace_none_in_use)
{
	struct neighbor_table t;
	struct ip_prefix evicted;
	uint32_t refused = 0;

	cr_assert_eq(neighbor_table_open(&t, LIMIT, 0, 1), 0);
	for (uint32_t i = 0; i < LIMIT; i++) {
		const struct neighbor_key key = key_of(i * OF_ADDRESS);
		struct neighbor_row *row = neighbor_table_know(&t, &key, 1, &evicted);

		row->n.state = i % 2 ? NEIGHBOR_STALE : NEIGHBOR_REACHABLE;
	}
	for (uint32_t i = LIMIT; i < ADDRESSES; i++) {
		const struct neighbor_key key = key_of(i * OF_ADDRESS);
		struct neighbor_row *row = neighbor_table_know(&t, &key, 1, &evicted);

		refused += row == NULL;
		if (row != NULL)
			row->n.state = NEIGHBOR_STALE;
	}
	cr_assert_eq(refused, 0);
	for (uint32_t i = 0; i < LIMIT; i += 2) {
		const struct neighbor_key key = key_of(i * OF_ADDRESS);

		cr_assert_not_null(neighbor_table_find(&t, &key));
	}
	neighbor_table_close(&t);
}

// Counts the rows of a turn: wanted ones, known ones, and of these the ones that had none before.
static uint32_t take_turn(struct neighbor_table *t, struct neighbor_turn *turn, uint32_t *known,
			  uint32_t *fresh)
{
	struct neighbor_row *row;
	uint32_t wanted = 0;

	*known = 0;
	while ((row = neighbor_table_next(t, turn)) != NULL) {
		if (row < t->row + NEIGHBOR_WANTED_MAX) {
			wanted++;
			continue;
		}
		*known += 1;
		*fresh += row->vid == 1;
		row->vid = 2;
	}
	return wanted;
}

// Packets wait for those that are asked for, so each tick looks at every one of them, however many
// are known; those have their turn within a second, in shares of a bounded size.
SEED_TEST(neighbors, none_waits_long_for_its_turn, rng, 30)
{
	enum { TICKS = 20 };
	const uint32_t limit = 16 + rng_below(rng, rng_below(rng, 2) ? 500 : 60000);
	const uint32_t share = limit / TICKS + 1 > 1024 ? limit / TICKS + 1 : 1024;
	struct neighbor_table t;
	struct ip_prefix evicted;
	uint32_t turns = 0;

	cr_assert_eq(neighbor_table_open(&t, limit, 0, rng_next64(rng)), 0);
	for (uint32_t i = 0; i < limit + NEIGHBOR_WANTED_MAX; i++) {
		struct neighbor_key key = { .port = PORT_NONE };
		struct ip_prefix *address = &key.address;

		address->family = IP_V4;
		store_be32(address->address, 0x0a000000 + i);
		if (i < limit)
			neighbor_table_know(&t, &key, 1, &evicted);
		else
			neighbor_table_want(&t, address, 1);
	}
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		struct neighbor_turn turn = neighbor_table_turn(&t, TICKS);
		uint32_t known;

		cr_assert_eq(take_turn(&t, &turn, &known, &turns), NEIGHBOR_WANTED_MAX);
		cr_assert_leq(known, share);
	}
	cr_assert_eq(turns, limit);
	neighbor_table_close(&t);
}
