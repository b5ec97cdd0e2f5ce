// SPDX-License-Identifier: BSD-3-Clause
//
// The DPDK environment of the process, started once from the program's options.
//
// The main thread becomes an lcore too, so that it may allocate mbufs as fast as those that
// forward.
#pragma once

#include "dataplane/core/profile.h"

enum eal_memory {
	EAL_MEMORY_AUTO, // hugepages if enough are free
	EAL_MEMORY_HUGE,
	EAL_MEMORY_NO_HUGE,
};

enum { EAL_PCI_MAX = 32 };

struct eal_options {
	const char *name;    // keeps this process apart from others
	const char *run_dir; // telemetry's socket is RUN_DIR/dpdk/weft-NAME/dpdk_telemetry.v2
	enum eal_memory memory;
	uint64_t memory_bytes;        // what the program will need
	uint32_t lcore_count;         // forwarding lcores
	uint32_t cpu_count;           // 0: any processor for each of them
	int cpu[LCORE_MAX];           // else of lcore n
	const char *pci[EAL_PCI_MAX]; // addresses of the NICs to touch
	uint32_t pci_count;
};

enum { EAL_LCORE_CONTROL = 0, EAL_LCORE_FORWARD = 1 };

// Starts the EAL: the calling thread becomes lcore EAL_LCORE_CONTROL, free to run on any processor,
// and the lcores from EAL_LCORE_FORWARD on wait for work. 0 or -errno, logged.
int eal_start(const struct eal_options *options);

// Gives everything back.
void eal_stop(void);
