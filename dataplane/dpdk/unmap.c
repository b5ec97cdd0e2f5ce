// SPDX-License-Identifier: BSD-3-Clause
//
// munmap() of the whole process: the driver's call comes here, since a program's own function
// stands in for that of a library. An lcore says by one counter whether it is in a visit (odd),
// and fences nothing: membarrier() does that for it, at the one moment when it matters.

#include "dataplane/dpdk/unmap.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	NAP_NS = 100000,
	NAPS_MAX =
		50000, // 5 s: an lcore that takes longer is stuck, and no peer may hold up the rest
};

static const struct workers *waited_for;

static uint32_t round_of(const struct worker *worker)
{
	return __atomic_load_n(&worker->round, __ATOMIC_ACQUIRE);
}

static void wait_for(const struct worker *worker)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const uint32_t seen = round_of(worker);

	for (uint32_t i = 0; i < NAPS_MAX && seen % 2 != 0 && round_of(worker) == seen; i++)
		nanosleep(&nap, NULL);
}

void unmap_waits_for(const struct workers *workers)
{
	__atomic_store_n(&waited_for, workers, __ATOMIC_RELEASE);
}

int munmap(void *address, size_t bytes)
{
	const struct workers *workers = __atomic_load_n(&waited_for, __ATOMIC_ACQUIRE);

	if (workers != NULL && rte_thread_is_intr()) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		for (uint32_t i = 0; i < workers->count; i++)
			wait_for(&workers->worker[i]);
	}
	return (int)syscall(SYS_munmap, address, bytes);
}
