// SPDX-License-Identifier: BSD-3-Clause
//
// The DPDK environment of weft-traffic: one lcore, the main thread, free to run on any processor,
// and memory without hugepages, of a size given in advance.

#include "traffic/port_host.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "sys/dpdk/interrupt.h"
#include "sys/dpdk/unmap.h"
#include "traffic/port_memory.h"

enum {
	ARGS_MAX = 2 * RTE_MAX_ETHPORTS + 16,
	ARG_BYTES = SPEC_BYTES,
	PAGE_BYTES = 4096,
	MEGABYTE = 1 << 20,
	FIXED_BYTES = 48 * MEGABYTE, // of the environment itself
	PORT_BYTES = 4 * MEGABYTE,   // of a driver, and caches of the pool
	SOFTWARE_MBUFS = 255,        // its rings copy, so few are on their way
	HARDWARE_MBUFS = 2047,
	KERNEL_MBUFS = 8191, // AF_XDP fills rings of its own
};

struct arguments {
	char text[ARGS_MAX][ARG_BYTES];
	char *argv[ARGS_MAX + 1];
	int argc;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *args, const char *format,
						      ...)
{
	va_list list;

	if (args->argc == ARGS_MAX)
		return;
	va_start(list, format);
	vsnprintf(args->text[args->argc], ARG_BYTES, format, list);
	va_end(list);
	args->argv[args->argc] = args->text[args->argc];
	args->argc++;
}

uint32_t port_mbuf_count(const char *device)
{
	if (spec_is_pair(device) || strncmp(device, "net_memif", 9) == 0)
		return SOFTWARE_MBUFS;
	return strncmp(device, "net_af_xdp", 10) == 0 ? KERNEL_MBUFS : HARDWARE_MBUFS;
}

// Without hugepages an object takes whole pages.
static uint64_t needed(const struct port_host *host, uint32_t count)
{
	const uint64_t object = RTE_ALIGN_CEIL(sizeof(struct rte_mbuf) + PORT_MBUF_ROOM + 128u,
					       (unsigned)PAGE_BYTES);
	uint64_t bytes = FIXED_BYTES;

	for (uint32_t i = 0; i < count; i++)
		bytes += port_mbuf_count(host[i].device) * object + PORT_BYTES;
	return bytes;
}

// Processors that this process may use, as the EAL wants them: the one lcore runs on any.
static void add_lcores(struct arguments *args)
{
	char text[ARG_BYTES - sizeof("--lcores=0@()")] = "";
	size_t len = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && len + 16 < sizeof(text); cpu++) {
		if (CPU_ISSET(cpu, &set))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
						len == 0 ? "" : ",", cpu);
	}
	add(args, "--lcores=0@(%s)", text);
}

int port_hosts_start_dpdk(const struct port_host *host, uint32_t count, uint64_t memory_bytes)
{
	struct arguments *args = calloc(1, sizeof(*args));
	uint32_t nics = 0;
	int rc;

	if (args == NULL)
		return -ENOMEM;
	if (memory_bytes == 0)
		memory_bytes = needed(host, count);
	add(args, "weft-traffic");
	add_lcores(args);
	add(args, "--no-huge");
	add(args, "-m");
	add(args, "%" PRIu64, memory_bytes / MEGABYTE + 1);
	add(args, "--no-shconf");
	add(args, "--no-telemetry");
	add(args, "--file-prefix=weft-traffic-%d", getpid());
	// A client that is refused says so at each try; who has no link in the end is said here.
	// For what is loaded later the EAL takes the first level that fits, not the last.
	add(args, "--log-level=pmd.net.memif:critical");
	add(args, "--log-level=*:error");
	for (uint32_t i = 0; i < count; i++) {
		if (!spec_is_pci(host[i].device))
			continue;
		add(args, "-a");
		add(args, "%s", host[i].device);
		nics++;
	}
	if (nics == 0)
		add(args, "--no-pci");
	rc = rte_eal_init(args->argc, args->argv) < 0 ? -rte_errno : 0;
	// The EAL makes a directory, puts nothing into it, as it shares nothing, and leaves it
	// behind.
	rmdir(rte_eal_get_runtime_dir());
	if (rc != 0)
		fprintf(stderr, "weft-traffic: the DPDK environment does not start: %s\n",
			strerror(-rc));
	free(args);
	return rc;
}

void port_hosts_stop_dpdk(void)
{
	unmap_forget_all();
	interrupt_end();
	rte_eal_cleanup();
}
