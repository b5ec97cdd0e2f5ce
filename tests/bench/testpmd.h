// SPDX-License-Identifier: BSD-3-Clause
//
// DPDK's testpmd as a yardstick: a child process that forwards the same frames from the same kind
// of source on the same processor, one run at a time.
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/types.h"

struct testpmd {
	pid_t pid; // 0: none
	FILE *to;
	int from;
	char schedstat[96]; // file with the processor time of its forwarding thread
};

enum testpmd_mode { TESTPMD_IO, TESTPMD_MACSWAP };

// Starts testpmd with its forwarding thread on `cpu` and everything else on `other_cpu`; `pcap` is
// the file that its source repeats; `huge` asks for hugepages. False, with a message, when it does
// not come up in 20 s.
bool testpmd_open(struct testpmd *pmd, const char *pcap, int cpu, int other_cpu, bool huge);

// Forwards for `ms` milliseconds; returns the processor time its forwarding thread took in
// nanoseconds, and the packets it forwarded. 0 when testpmd does not answer.
uint64_t testpmd_run(struct testpmd *pmd, enum testpmd_mode mode, uint64_t ms, uint64_t *packets);

// Ends it, by its process id if it does not end by itself. Harmless when there is none.
void testpmd_close(struct testpmd *pmd);
