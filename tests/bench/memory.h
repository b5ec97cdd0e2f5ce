// SPDX-License-Identifier: BSD-3-Clause
//
// Hugepages for the time of a run. Without them half of the cycles of a small packet are page
// walks, so numbers with and without cannot be compared. Where the machine has none free, the
// kernel is allowed to make some on demand (nr_overcommit_hugepages), which go back to it as
// ordinary memory when the programs end. Where that is not allowed either, everybody runs without.
#pragma once

#include "base/types.h"

// Sees to it that `bytes` of hugepages can be had; false: they cannot.
bool memory_borrow(uint64_t bytes);

// Undoes what memory_borrow() changed.
void memory_return(void);
