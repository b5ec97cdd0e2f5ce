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
	QUIET_NAPS = 100, // 10 ms behind munmap() the driver has done the rest as well
	NAPS_MAX = 50000, // 5 s: who takes longer is stuck, and must not hold up the rest
};

static const struct workers *waited_for;
static uint32_t turns; // odd while the interrupt thread is in munmap()

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

static uint32_t round_of(const struct worker *worker)
{
	return __atomic_load_n(&worker->round, __ATOMIC_ACQUIRE);
}

static void wait_for(const struct worker *worker)
{
	const uint32_t seen = round_of(worker);

	for (uint32_t i = 0; i < NAPS_MAX && seen % 2 != 0 && round_of(worker) == seen; i++)
		nap();
}

void unmap_waits_for(const struct workers *workers)
{
	__atomic_store_n(&waited_for, workers, __ATOMIC_RELEASE);
}

int munmap(void *address, size_t bytes)
{
	const struct workers *workers = __atomic_load_n(&waited_for, __ATOMIC_ACQUIRE);
	int rc;

	if (!rte_thread_is_intr())
		return (int)syscall(SYS_munmap, address, bytes);
	__atomic_fetch_add(&turns, 1, __ATOMIC_ACQ_REL);
	if (workers != NULL) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		for (uint32_t i = 0; i < workers->count; i++)
			wait_for(&workers->worker[i]);
	}
	rc = (int)syscall(SYS_munmap, address, bytes);
	__atomic_fetch_add(&turns, 1, __ATOMIC_ACQ_REL);
	return rc;
}

void unmap_settle(void)
{
	static uint32_t settled;
	uint32_t quiet = 0;

	for (uint32_t i = 0; i < NAPS_MAX && quiet < QUIET_NAPS; i++) {
		const uint32_t seen = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);

		if (seen == settled)
			return;
		nap();
		quiet++;
		if (seen % 2 != 0 || __atomic_load_n(&turns, __ATOMIC_ACQUIRE) != seen)
			quiet = 0;
		else if (quiet == QUIET_NAPS)
			settled = seen;
	}
}
