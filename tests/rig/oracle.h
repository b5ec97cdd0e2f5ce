// SPDX-License-Identifier: BSD-3-Clause
//
// What the SAI buffer formula says, for tests: computed here from the configuration's numbers,
// never from the code under test. Written for one resource at a time; a test names its assumptions.
//
// A dynamic limit of alpha = 2^-k on a pool with S shared bytes admits x shared bytes to each of m
// equal users while x <= (S - m x) / 2^k, so the fixed point is x = S / (2^k + m).
#pragma once

#include "base/types.h"

// Largest shared use of each of `users` equal users, alpha = 2^-shift.
static inline uint64_t oracle_fixed_point(uint64_t shared_bytes, uint32_t shift, uint64_t users)
{
	return shared_bytes / ((1ull << shift) + users);
}

// Whole frames of `len` that fit into `bytes`.
static inline uint64_t oracle_frames(uint64_t bytes, uint32_t len)
{
	return bytes / len;
}

// Frames that a lone group holds before XOFF: reserve, then shared up to the fixed point.
static inline uint64_t oracle_xoff_frames(uint64_t reserve, uint64_t shared_bytes, uint32_t shift,
					  uint32_t len)
{
	return oracle_frames(reserve + oracle_fixed_point(shared_bytes, shift, 1), len);
}

// Largest occupancy of a lone group at which XON by xon_offset is due: x shared bytes with
// x + offset <= (S - x) / 2^k, that is x = (S - 2^k offset) / (2^k + 1), and the reserve on top.
static inline uint64_t oracle_xon_bytes(uint64_t reserve, uint64_t shared_bytes, uint32_t shift,
					uint64_t offset)
{
	return reserve + (shared_bytes - (offset << shift)) / ((1ull << shift) + 1);
}
