// SPDX-License-Identifier: BSD-3-Clause
//
// munmap() of the whole process: the driver's call comes here, since a program's own function
// stands in for that of a library, whether that is linked or loaded. Calls of other threads, and of
// libc to itself, are none of its business. A poller says by one counter whether it is in a visit
// (odd), and fences nothing: membarrier() does that for it, at the one moment when it matters.

#include "sys/dpdk/unmap.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "base/check.h"

enum {
	NAP_NS = 100000,
	NAPS_MAX = 50000, // 5 s: who takes longer is stuck, and must not hold up the rest
	DRAIN_NS = 10000000,
};

static const struct poller *waited_for[POLLER_MAX];
static uint32_t waited_count;

static void nap(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static uint32_t turns_of(const struct poller *poller)
{
	return __atomic_load_n(&poller->turns, __ATOMIC_ACQUIRE);
}

static void wait_for(const struct poller *poller)
{
	const uint32_t seen = turns_of(poller);

	for (uint32_t i = 0; i < NAPS_MAX && seen % 2 != 0 && turns_of(poller) == seen; i++)
		nap(NAP_NS);
}

// Behind it, whoever begins a visit sees what this thread has written, or this thread sees the
// visit. Without the call of the kernel, a store has long left its processor after 10 ms.
static void fence_all(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		nap(DRAIN_NS);
}

void unmap_waits_for(const struct poller *poller)
{
	WEFT_CHECK(waited_count < POLLER_MAX);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	waited_for[waited_count] = poller;
	__atomic_store_n(&waited_count, waited_count + 1, __ATOMIC_RELEASE);
}

void unmap_forget_all(void)
{
	__atomic_store_n(&waited_count, 0, __ATOMIC_RELEASE);
}

int munmap(void *address, size_t bytes)
{
	const uint32_t count = rte_thread_is_intr() ?
				       __atomic_load_n(&waited_count, __ATOMIC_ACQUIRE) :
				       0;

	if (count != 0)
		fence_all();
	for (uint32_t i = 0; i < count; i++)
		wait_for(waited_for[i]);
	return (int)syscall(SYS_munmap, address, bytes);
}
