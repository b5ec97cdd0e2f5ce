// SPDX-License-Identifier: BSD-3-Clause
//
// The mixing step of this library's hashes: a full 64 x 64 multiplication whose halves are folded.
// Every bit of the result depends on every bit of both arguments. The constants are odd, with as
// many ones as zeros.
#pragma once

#include "base/types.h"

#define FOLD_A 0xa0761d6478bd642fu
#define FOLD_B 0xe7037ed1a0b428dbu
#define FOLD_C 0x8ebc6af09c88c6e3u
#define FOLD_D 0x589965cc75374cc3u

static inline uint64_t fold_multiply(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}
