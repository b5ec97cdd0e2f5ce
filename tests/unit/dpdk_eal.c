// SPDX-License-Identifier: BSD-3-Clause
//
// Starts the environment that dpdk_eal.h describes: no hugepages, no PCI, and files under a name of
// this process, which are removed again.

#include "tests/unit/dpdk_eal.h"

#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>

static char prefix[48];

bool unit_start_eal(void)
{
	char *argv[] = { "unit",        "-l",
			 "0",           "--no-huge",
			 "-m",          "128",
			 "--no-pci",    "--no-telemetry",
			 "--no-shconf", "--file-prefix",
			 prefix,        "--log-level=*:error" };

	snprintf(prefix, sizeof(prefix), "weft-unit-%d", (int)getpid());
	return rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) >= 0;
}

void unit_stop_eal(void)
{
	char path[80];

	// Not rte_eal_cleanup(): it frees what its interrupt thread may be reading.
	snprintf(path, sizeof(path), "/var/run/dpdk/%s", prefix);
	rmdir(path);
}
