// SPDX-License-Identifier: BSD-3-Clause
//
// The DPDK environment of the process, started once from the program's options.
//
// Two lcores: the main thread becomes one of them, so that it may allocate mbufs as fast as the
// forwarding lcore.
#pragma once

#include "base/types.h"

enum eal_memory {
	EAL_MEMORY_AUTO, // hugepages if enough are free
	EAL_MEMORY_HUGE,
	EAL_MEMORY_NO_HUGE,
};

enum { EAL_PCI_MAX = 32 };

struct eal_options {
	const char *name; // keeps this process apart from others
	enum eal_memory memory;
	uint64_t memory_bytes;        // what the program will need
	int cpu;                      // of the forwarding lcore, -1: any
	const char *pci[EAL_PCI_MAX]; // addresses of the NICs to touch
	uint32_t pci_count;
};

enum { EAL_LCORE_CONTROL = 0, EAL_LCORE_FORWARD = 1 };

// Starts the EAL: the calling thread becomes lcore EAL_LCORE_CONTROL, free to run on any processor,
// and lcore EAL_LCORE_FORWARD waits for work. 0 or -errno, logged.
int eal_start(const struct eal_options *options);

// Gives everything back.
void eal_stop(void);
