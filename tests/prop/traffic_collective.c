// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives over a network that carries pieces in any order: whatever goes first, every program
// ends, each receive is made once by the send that says so, and the result is right to the element.
// What a rank has to carry is what the literature says.

#include <string.h>

#include "tests/table.h"
#include "traffic/core/collective.h"

enum { RANKS = 17, PIECES = 4096 };

struct flight {
	uint32_t rank; // to
	struct collective_send send;
	uint8_t *bytes;
};

struct world {
	struct collective_config config;
	uint8_t *memory[RANKS];
	bool sent[RANKS][PIECES];
	bool received[RANKS][PIECES];
	struct flight flight[RANKS * PIECES];
	uint32_t flights;
};

static bool ready(const struct world *w, uint32_t rank, uint32_t index,
		  struct collective_send *send)
{
	if (w->sent[rank][index])
		return false;
	*send = collective_send(&w->config, rank, index);
	for (uint32_t i = 0; i < 2; i++) {
		if (send->needs[i] != COLLECTIVE_NONE && !w->received[rank][send->needs[i]])
			return false;
	}
	return true;
}

// Puts a piece on its way, if it may go, as it is at this moment.
static void launch_one(struct world *w, uint32_t rank, uint32_t index)
{
	struct flight *flight = &w->flight[w->flights];

	if (!ready(w, rank, index, &flight->send))
		return;
	w->sent[rank][index] = true;
	flight->rank = flight->send.to;
	flight->bytes = malloc(flight->send.bytes + 1);
	memcpy(flight->bytes, w->memory[rank] + flight->send.from, flight->send.bytes);
	w->flights++;
}

static void launch(struct world *w)
{
	for (uint32_t rank = 0; rank < w->config.rank_count; rank++) {
		for (uint32_t i = 0; i < collective_send_count(&w->config, rank); i++)
			launch_one(w, rank, i);
	}
}

static void deliver(struct world *w, uint32_t at)
{
	const struct flight flight = w->flight[at];
	const uint32_t index = flight.send.receive;
	uint8_t *memory = w->memory[flight.rank];
	struct collective_receive receive;

	w->flight[at] = w->flight[--w->flights];
	cr_assert_lt(index, collective_receive_count(&w->config, flight.rank));
	cr_assert(!w->received[flight.rank][index], "a receive is made twice");
	receive = collective_receive(&w->config, flight.rank, index);
	cr_assert_eq(receive.at, flight.send.at);
	cr_assert_eq(receive.bytes, flight.send.bytes);
	memcpy(memory + receive.at, flight.bytes, receive.bytes);
	if (receive.reduce)
		collective_reduce(memory + receive.into, memory + receive.at, receive.bytes);
	w->received[flight.rank][index] = true;
	free(flight.bytes);
}

static void run(struct world *w, struct rng *rng)
{
	for (uint32_t rank = 0; rank < w->config.rank_count; rank++) {
		w->memory[rank] = malloc(collective_memory(&w->config) + 1);
		collective_fill(&w->config, rank, 5, w->memory[rank]);
		cr_assert_leq(collective_send_count(&w->config, rank), PIECES);
	}
	for (launch(w); w->flights > 0; launch(w))
		deliver(w, rng_below(rng, w->flights));
	for (uint32_t rank = 0; rank < w->config.rank_count; rank++) {
		for (uint32_t i = 0; i < collective_receive_count(&w->config, rank); i++)
			cr_assert(w->received[rank][i], "rank %u waits for receive %u", rank, i);
		for (uint32_t i = 0; i < collective_send_count(&w->config, rank); i++)
			cr_assert(w->sent[rank][i], "rank %u never sends %u", rank, i);
		cr_assert_eq(collective_wrong(&w->config, rank, 5, w->memory[rank]), 0,
			     "kind %d, %u ranks, %lu elements: rank %u has %lu wrong",
			     w->config.kind, w->config.rank_count, w->config.elements, rank,
			     collective_wrong(&w->config, rank, 5, w->memory[rank]));
	}
}

static void free_world(struct world *w)
{
	for (uint32_t rank = 0; rank < w->config.rank_count; rank++)
		free(w->memory[rank]);
	free(w);
}

SEED_TEST(traffic_collective, ends_right_in_any_order, rng, 60)
{
	for (uint32_t kind = 0; kind < COLLECTIVE_KINDS; kind++) {
		struct world *w = calloc(1, sizeof(*w));
		const char *what;

		w->config = (struct collective_config){
			.kind = kind,
			.rank_count = 2 + rng_below(rng, RANKS - 1),
			.elements = rng_below(rng, 4) == 0 ? rng_below(rng, 20) :
							     rng_below(rng, 3000),
			.slice_bytes = rng_below(rng, 2) == 0 ? 0 : 4 * (50 + rng_below(rng, 200)),
			.skew_percent = kind == COLLECTIVE_ALL_TO_ALL ? rng_below(rng, 400) : 0,
		};
		cr_assert_eq(collective_check(&w->config, &what), 0);
		run(w, rng);
		free_world(w);
	}
}

// A result with one element changed is not taken for right.
SEED_TEST(traffic_collective, one_wrong_element_is_seen, rng, 5)
{
	for (uint32_t kind = 0; kind < COLLECTIVE_KINDS; kind++) {
		struct world *w = calloc(1, sizeof(*w));
		struct collective_part part = { 0, 1000 };
		uint64_t at;

		w->config = (struct collective_config){ .kind = kind,
							.rank_count = 5,
							.elements = 1000 };
		run(w, rng);
		if (kind == COLLECTIVE_REDUCE_SCATTER)
			part = collective_own(&w->config, 2);
		if (kind == COLLECTIVE_ALL_TO_ALL)
			part.first = collective_block_result(&w->config, 2, 0);
		at = part.first + rng_below(rng, (uint32_t)part.count);
		w->memory[2][4 * at + 2] ^= 0x40;
		cr_assert_eq(collective_wrong(&w->config, 2, 5, w->memory[2]), 1);
		cr_assert_neq(collective_wrong(&w->config, 2, 6, w->memory[2]), 1);
		free_world(w);
	}
}

struct bytes_row {
	const char *what;
	enum collective_kind kind;
	uint32_t ranks;
	uint32_t times; // of the data's bytes ...
	uint32_t over;  // ... over
};

// Bytes through a rank's port, of E = 5,040 elements, which all of the numbers divide.
static const struct bytes_row bytes_rows[] = {
	{ "ring all-reduce: 2 (n-1)/n", COLLECTIVE_ALL_REDUCE, 8, 14, 8 },
	{ "ring all-reduce of two", COLLECTIVE_ALL_REDUCE, 2, 2, 2 },
	{ "all-gather: (n-1)/n", COLLECTIVE_ALL_GATHER, 7, 6, 7 },
	{ "reduce-scatter: (n-1)/n", COLLECTIVE_REDUCE_SCATTER, 9, 8, 9 },
	{ "all-to-all: (n-1)/n", COLLECTIVE_ALL_TO_ALL, 10, 9, 10 },
	{ "double tree: 2", COLLECTIVE_ALL_REDUCE_TREE, 8, 2, 1 },
	{ "double tree of an odd number: 2", COLLECTIVE_ALL_REDUCE_TREE, 15, 2, 1 },
};

TABLE_TEST(traffic_collective, port_bytes, row, bytes_rows)
{
	const struct collective_config config = { .kind = row->kind,
						  .rank_count = row->ranks,
						  .elements = 5040 };

	cr_assert_eq(collective_port_bytes(&config), 5040ull * 4 * row->times / row->over,
		     "%s: %lu", row->what, collective_port_bytes(&config));
}

// The bus bandwidth of 64 MiB round a ring of eight at 12.5 GB/s, nccl-tests' own arithmetic:
// 9395.2 us, algbw 7.143 GB/s, busbw 12.5 GB/s.
Test(traffic_collective, bus_bandwidth_is_that_of_nccl_tests)
{
	const struct collective_config config = { .kind = COLLECTIVE_ALL_REDUCE,
						  .rank_count = 8,
						  .elements = 16 << 20 };
	const uint64_t ps = collective_port_bytes(&config) * 80; // at 12.5 GB/s

	cr_assert_eq(ps / 100000, 93952);
	cr_assert_eq(collective_bus_ppm(&config), 1750000);
}
