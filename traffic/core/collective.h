// SPDX-License-Identifier: BSD-3-Clause
//
// Collective operations as programs. A rank's program is a set of sends, each of which may go once
// the receives that it needs are done, and a set of receives, each of which is a piece that one
// peer puts into this rank's memory; some are then reduced into the data. The order of receives is
// free. Who carries the pieces is the caller's; here are the algorithms, their data and their cost.
//
// Nothing is stored: a program is computed row by row from (config, rank, index).
//
// Memory of a rank: `collective_memory()` bytes. First its data: a contribution in the beginning,
// the result in the end. Behind it scratch, where pieces that are to be reduced arrive, each in a
// place of its own, so that no sender waits for a receiver to have emptied it.
//
// Ring and tree all-reduce: Patarasuk and Yuan 2009; Sanders, Speck and Traeff 2009.
#pragma once

#include "base/types.h"

enum collective_kind {
	COLLECTIVE_ALL_REDUCE,      // round a ring
	COLLECTIVE_ALL_REDUCE_TREE, // two binary trees, each for half the data, pipelined
	COLLECTIVE_ALL_GATHER,      // round a ring
	COLLECTIVE_REDUCE_SCATTER,  // round a ring
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_KINDS,
};

enum { COLLECTIVE_RANK_MAX = 1024, COLLECTIVE_NONE = UINT32_MAX, COLLECTIVE_ELEMENT_BYTES = 4 };

struct collective_config {
	enum collective_kind kind;
	uint32_t rank_count; // 2..COLLECTIVE_RANK_MAX
	// Elements as nccl-tests counts its size: of a rank's buffer for all-reduce, of the input
	// of reduce-scatter, of the gathered result, of all that a rank sends in an all-to-all,
	// itself included.
	uint64_t elements;    // of 4 bytes; at most 2^28
	uint32_t slice_bytes; // longer pieces are cut up, so that their ways overlap; 0: never
	// All-to-all as in a mixture of experts: rank 0 gets so many percent more than the last
	// rank, those between in even steps. 0: all the same.
	uint32_t skew_percent;
};

// A piece on its way. Offsets are into the memory of the rank in question.
struct collective_send {
	uint32_t to;
	uint32_t receive;  // index of the receive at the peer that it makes
	uint64_t from;     // offset here
	uint64_t at;       // offset there
	uint64_t bytes;    // may be 0: then it only says that its sender has come so far
	uint32_t needs[2]; // receives of this rank that must be done before; COLLECTIVE_NONE
};

struct collective_receive {
	uint32_t from;
	uint64_t at; // offset here
	uint64_t bytes;
	bool reduce;   // added to the data at `into`
	uint64_t into; // offset
};

// 0, or -EINVAL with what is wrong in *what (static text).
int collective_check(const struct collective_config *config, const char **what);

uint32_t collective_send_count(const struct collective_config *config, uint32_t rank);
uint32_t collective_receive_count(const struct collective_config *config, uint32_t rank);
struct collective_send collective_send(const struct collective_config *config, uint32_t rank,
				       uint32_t index);
struct collective_receive collective_receive(const struct collective_config *config, uint32_t rank,
					     uint32_t index);

// Sends of `rank` that need this receive, at most two: writes their indices and returns how many.
uint32_t collective_unblocks(const struct collective_config *config, uint32_t rank,
			     uint32_t receive, uint32_t out[2]);

// Bytes of a rank's memory.
uint64_t collective_memory(const struct collective_config *config);

// Fills a rank's data with its contribution: whole numbers as floats, small enough that sums are
// exact in any order, different for each iteration.
void collective_fill(const struct collective_config *config, uint32_t rank, uint32_t iteration,
		     uint8_t *memory);

// data[0..count-1] += more[0..count-1].
void collective_reduce(uint8_t *data, const uint8_t *more, uint64_t bytes);

// Elements of the result that are not what they should be.
uint64_t collective_wrong(const struct collective_config *config, uint32_t rank, uint32_t iteration,
			  const uint8_t *memory);

// The largest number of bytes that one rank sends or receives: what a network without contention
// cannot beat is that over the rate of a port.
uint64_t collective_port_bytes(const struct collective_config *config);

// Steps that follow one another, each of which waits for at least one message's latency.
uint32_t collective_steps(const struct collective_config *config);

// busbw / algbw x 1000000, as nccl-tests has it (PERFORMANCE.md): 2(n-1)/n for all-reduce, (n-1)/n
// for the others.
uint64_t collective_bus_ppm(const struct collective_config *config);

// --- between collective.c and collective_data.c -----------------------------------------------

// Where a rank's own part lies: its contribution to an all-gather, its result of a reduce-scatter.
struct collective_part {
	uint64_t first; // element
	uint64_t count;
};
struct collective_part collective_own(const struct collective_config *config, uint32_t rank);

// The block for rank `to` in every rank's data, and where the one from `from` arrives (all-to-all).
struct collective_part collective_block(const struct collective_config *config, uint32_t to);
uint64_t collective_block_result(const struct collective_config *config, uint32_t rank,
				 uint32_t from);
