// SPDX-License-Identifier: BSD-3-Clause
//
// The interrupt thread takes memory away, as the memif driver does when a peer leaves, while a
// poller looks at it: without the wait, reading it would be the end of the test. Other threads do
// not wait.

#include <sched.h>
#include <sys/mman.h>

#include <rte_alarm.h>
#include <rte_cycles.h>

#include "sys/dpdk/unmap.h"
#include "tests/table.h"
#include "tests/unit/dpdk_eal.h"

enum { PAGE = 4096, READ_MS = 20, PATIENCE_S = 20 };

static struct {
	struct poller poller;
	uint8_t *page;
	uint32_t begun; // in the interrupt thread
	uint32_t done;
} bench;

static uint8_t *map_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(page, MAP_FAILED);
	memset(page, 7, PAGE);
	return page;
}

static void take_away(void *arg)
{
	__atomic_store_n(&bench.begun, 1, __ATOMIC_RELEASE);
	munmap(bench.page, PAGE);
	__atomic_store_n(&bench.done, 1, __ATOMIC_RELEASE);
}

static bool is_set(const uint32_t *flag)
{
	const uint64_t end = rte_get_timer_cycles() + PATIENCE_S * rte_get_timer_hz();

	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0 && rte_get_timer_cycles() < end)
		sched_yield();
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0;
}

Test(dpdk_unmap, waits_for_a_visit)
{
	const volatile uint8_t *byte;
	uint64_t end;

	cr_assert(unit_start_eal());
	bench.page = map_page();
	byte = bench.page;
	unmap_waits_for(&bench.poller);
	poller_turn(&bench.poller);
	cr_assert_eq(rte_eal_alarm_set(1, take_away, NULL), 0);
	cr_assert(is_set(&bench.begun));
	end = rte_get_timer_cycles() + READ_MS * rte_get_timer_hz() / 1000;
	while (rte_get_timer_cycles() < end)
		cr_assert_eq(*byte, 7);
	cr_assert_eq(__atomic_load_n(&bench.done, __ATOMIC_ACQUIRE), 0);
	poller_turn(&bench.poller);
	cr_assert(is_set(&bench.done));
	// Between visits nobody waits, and one that is forgotten is not waited for.
	bench.done = 0;
	bench.page = map_page();
	cr_assert_eq(rte_eal_alarm_set(1, take_away, NULL), 0);
	cr_assert(is_set(&bench.done));
	poller_turn(&bench.poller);
	unmap_forget_all();
	bench.done = 0;
	bench.page = map_page();
	cr_assert_eq(rte_eal_alarm_set(1, take_away, NULL), 0);
	cr_assert(is_set(&bench.done));
	unit_stop_eal();
}

// The one in a visit here is this very thread.
Test(dpdk_unmap, leaves_other_threads_alone)
{
	cr_assert(unit_start_eal());
	unmap_waits_for(&bench.poller);
	poller_turn(&bench.poller);
	cr_assert_eq(munmap(map_page(), PAGE), 0);
	unit_stop_eal();
}
