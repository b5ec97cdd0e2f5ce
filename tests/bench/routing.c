// SPDX-License-Identifier: BSD-3-Clause
//
// routing [--gate]: what look-ups cost, in cycles each when many follow each other, as the packets
// of a burst do, and what a changed row costs the control thread, in nanoseconds. Tables hold
// 65,536 rows of a kind: the hosts of a large fabric.
//
// Each figure is the best of several rounds, since other work on the machine only ever adds to it.
// The gate is twice the bound, for the same reason.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "base/rng.h"
#include "routing/edge_table.h"
#include "routing/group.h"
#include "routing/hash.h"
#include "routing/turn_map.h"
#include "tests/flows.h"

enum {
	ROWS = 65536,
	NODES = 2048,
	KEYS = 4096,
	ROUNDS = 200,
	CHANGE_ROUNDS = 20,
	CHANGES = 2048, // a round
	MEMBERS = 16,
	PORTS = 64,
};

struct stand {
	struct edge_table *table;
	struct edge_key row[3][ROWS];
	struct hash_key flow[KEYS];
	struct edge_key key[3][KEYS];
	uint32_t hash[KEYS];
	struct hash_profile profile;
	struct port_set usable;
	struct turn_map *turns;
	struct group *group;
};

static volatile uint64_t sink; // so that nothing measured is left out

static uint64_t hash_all(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		sum += hash_packet(&s->profile, &s->flow[i]);
	return sum;
}

static uint64_t pick_all(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		sum += group_pick(s->group, s->hash[i], &s->usable)->port.v;
	return sum;
}

static uint64_t turn_all(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		sum += turn_map_get(s->turns, (port_t){ s->hash[i] % PORTS },
				    (port_t){ s->hash[i] / PORTS % PORTS }, 0);
	return sum;
}

static uint64_t find_ipv4(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++) {
		const uint8_t *a = s->key[EDGE_IPV4][i].address;

		sum += edge_table_find_ipv4(s->table, (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 |
							      (uint32_t)a[2] << 8 | a[3]);
	}
	return sum;
}

static uint64_t find_ipv6(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		sum += edge_table_find_ipv6(s->table, s->key[EDGE_IPV6][i].address);
	return sum;
}

static uint64_t find_mac(const struct stand *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KEYS; i++) {
		const uint8_t *a = s->key[EDGE_MAC][i].address;

		sum += edge_table_find_mac(s->table, s->key[EDGE_MAC][i].vid,
					   0x020000000000u | (uint64_t)a[3] << 16 |
						   (uint64_t)a[4] << 8 | a[5]);
	}
	return sum;
}

// A /32 of 10.0.0.0/8, a /64 or a MAC of the number.
static struct edge_key host_key(enum edge_kind kind, uint32_t number)
{
	struct edge_key key = { .kind = (uint8_t)kind, .len = kind == EDGE_IPV4 ? 32 : 64 };
	const uint32_t at = kind == EDGE_IPV4 ? 0 : kind == EDGE_IPV6 ? 4 : 2;

	key.address[0] = kind == EDGE_IPV4 ? 10 : kind == EDGE_IPV6 ? 0x20 : 2;
	for (uint32_t i = 1; i < 4; i++)
		key.address[at + i] = (uint8_t)(number >> (24 - 8 * i));
	key.vid = kind == EDGE_MAC ? 1 : 0;
	return key;
}

static void fill_table(struct stand *s, struct rng *rng)
{
	const struct edge_table_size size = { ROWS + 64, NODES, ROWS + 64, ROWS + 64,
					      rng_next64(rng) };
	const size_t bytes = edge_table_bytes(&size);
	void *memory = aligned_alloc(64, bytes);

	s->table = edge_table_init(memory, &size);
	for (uint32_t i = 0; i < 3 * ROWS; i++) {
		const enum edge_kind kind = (enum edge_kind)(i % 3);
		const struct edge_key key = host_key(kind, i / 3);

		s->row[kind][i / 3] = key;
		if (edge_table_set(s->table, &key, i / 3) != 0)
			abort();
	}
	for (uint32_t i = 0; i < 3 * KEYS; i++)
		s->key[i % 3][i / 3] = s->row[i % 3][rng_below(rng, ROWS)];
	printf("  %-34s %8.1f MiB\n", "memory of the table", (double)bytes / (1 << 20));
}

static void set_up(struct stand *s)
{
	struct group_member member[MEMBERS];
	struct rng rng;

	rng_seed(&rng, 1);
	fill_table(s, &rng);
	s->profile = (struct hash_profile){ .fields = HASH_FIELDS_DEFAULT, .seed = 10 };
	s->turns = malloc(turn_map_bytes(PORTS, 2));
	turn_map_init(s->turns, PORTS, 2);
	for (uint16_t i = 0; i < MEMBERS; i++) {
		member[i] = (struct group_member){ .port = { i }, .next_hop = i, .weight = 1 };
		port_set_add(&s->usable, member[i].port);
	}
	s->group = malloc(group_bytes(group_bucket_count(member, MEMBERS)));
	if (group_build(s->group, member, MEMBERS, 0, NULL) != 0)
		abort();
	for (uint32_t i = 0; i < KEYS; i++) {
		s->hash[i] = rng_next32(&rng);
		s->flow[i] = flow_key(VARY_SRC_IP, false, rng_next32(&rng));
	}
}

// Cycles of one of KEYS. All functions are known here, but each is measured as a call.
static double cycles(const struct stand *s, uint64_t (*run)(const struct stand *))
{
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t start = rte_rdtsc_precise();

		sink += run(s);
		best = u64_min(best, rte_rdtsc_precise() - start);
	}
	return (double)best / KEYS;
}

static double show(const char *what, double value, const char *unit)
{
	printf("  %-34s %8.1f %s\n", what, value, unit);
	return value;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

enum change { CHANGE_VALUE, CHANGE_ROW };

static void change_row(struct stand *s, const struct edge_key *key, enum change change,
		       uint32_t value)
{
	if (change == CHANGE_ROW) {
		sink += (uint64_t)edge_table_delete(s->table, key);
		edge_table_quiesce(s->table);
		edge_table_quiesce(s->table);
	}
	sink += (uint64_t)edge_table_set(s->table, key, value);
}

// Nanoseconds of one change; a row that goes and comes back is two.
static double change_ns(struct stand *s, enum edge_kind kind, enum change change)
{
	uint64_t best = UINT64_MAX;

	for (uint32_t round = 0; round < CHANGE_ROUNDS; round++) {
		const uint64_t start = now_ns();

		for (uint32_t i = 0; i < CHANGES; i++)
			change_row(s, &s->row[kind][i * 31 + round], change, i);
		best = u64_min(best, now_ns() - start);
	}
	return (double)best / (change == CHANGE_ROW ? 2 * CHANGES : CHANGES);
}

static double show_changes(struct stand *s)
{
	double worst = 0;

	for (uint32_t kind = 0; kind < 3; kind++) {
		static const char *const names[] = { "IPv4", "IPv6", "MAC" };
		char what[64];

		snprintf(what, sizeof(what), "%s, change a value", names[kind]);
		worst += show(what, change_ns(s, (enum edge_kind)kind, CHANGE_VALUE), "ns");
		snprintf(what, sizeof(what), "%s, add or delete a row", names[kind]);
		worst += show(what, change_ns(s, (enum edge_kind)kind, CHANGE_ROW), "ns");
	}
	return worst / 6;
}

int main(int argc, char **argv)
{
	static const double hash_bound = 25, change_bound_ns = 1000;
	struct stand *s = calloc(1, sizeof(*s));
	double mix, change;

	set_up(s);
	mix = show("hash, MIX, RoCE over IPv4", cycles(s, hash_all), "cycles");
	s->profile.symmetric = true;
	show("hash, MIX, symmetric", cycles(s, hash_all), "cycles");
	s->profile.symmetric = false;
	s->profile.algorithm = HASH_CRC;
	show("hash, CRC, RoCE over IPv4", cycles(s, hash_all), "cycles");
	show("group, 16 members", cycles(s, pick_all), "cycles");
	port_set_remove(&s->usable, (port_t){ 3 });
	show("group, 1 of 16 ports lost", cycles(s, pick_all), "cycles");
	show("turn map", cycles(s, turn_all), "cycles");
	show("edge table, IPv4 /32", cycles(s, find_ipv4), "cycles");
	show("edge table, IPv6 /64", cycles(s, find_ipv6), "cycles");
	show("edge table, MAC", cycles(s, find_mac), "cycles");
	change = show_changes(s);
	if (argc > 1 && strcmp(argv[1], "--gate") == 0 &&
	    (mix > 2 * hash_bound || change > 2 * change_bound_ns)) {
		printf("FAIL: a hash in %.0f cycles, a change of a row in %.0f ns\n",
		       2 * hash_bound, 2 * change_bound_ns);
		return 1;
	}
	return 0;
}
