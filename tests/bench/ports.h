// SPDX-License-Identifier: BSD-3-Clause
//
// The DPDK side of the stand: pcap files of the streams, an EAL on one processor, a port per stream
// that repeats its file, and a null port as the sink.
#pragma once

#include <rte_mempool.h>

#include "tests/bench/stream.h"

enum { PATH_BYTES = 96, PORTS_MEMORY_MB = 128 };

struct ports {
	char dir[PATH_BYTES]; // temporary, holds the files
	char pcap[STREAM_COUNT][PATH_BYTES + 32];
	struct rte_mempool *pool;
	uint16_t source[STREAM_COUNT];
	uint16_t sink;
};

// Starts all of it with the calling thread on `cpu`, in hugepages if `huge`. False, with a message,
// when that fails; close in either case.
bool ports_open(struct ports *ports, int cpu, bool huge);
void ports_close(struct ports *ports);
