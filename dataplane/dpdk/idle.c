// SPDX-License-Identifier: BSD-3-Clause
//
// Back-off of an idle lcore: spin, then yield, then sleep a little, then longer or until a receive
// interrupt.
//
// It never sleeps while a priority group is in XOFF, a queue holds packets or a driver has refused
// some: then every visit counts, and giving the processor to whoever is ready is all it does. A
// sleep ends before the next deadline of each switch, and before a port's receive ring could fill
// (idle_ns, from the driver table).

#include "dataplane/dpdk/worker.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_pause.h>

enum {
	SPINS = 32,
	YIELDS = 64, // empty polls until the first sleep
	NAPS = 320,  // empty polls until longer sleeps
	NAP_NS = 20000,
	INTERRUPT_WAIT_MS = 100,
	EVENTS_MAX = 16,
};

static bool busy(const struct instance *in, lcore_t lcore)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		const struct pktio *io = &in->io[i];
		port_t port = { (uint16_t)i };

		if (!pktio_is_of(io, lcore))
			continue;
		if (io->pending_count > 0 || io->due.enable != 0 || sw_xoff(in->sw, port) != 0 ||
		    sw_held(in->sw, port) || sw_backlogged(in->sw, port))
			return true;
	}
	return false;
}

// When the next frame comes to the end of an impaired link.
static ns_t lines_deadline(const struct instance *in, lcore_t lcore)
{
	ns_t at = NS_NEVER;

	for (uint32_t i = 0; i < in->port_count; i++) {
		if (pktio_is_of(&in->io[i], lcore) && in->io[i].line != NULL)
			at = ns_min(at, impair_deadline(in->io[i].line));
	}
	return at;
}

// How long the lcore may sleep: 0 while there is something to watch.
static uint64_t sleep_ns(const struct worker *worker, ns_t now)
{
	uint64_t limit = UINT64_MAX;

	for (uint32_t i = 0; i < worker->instance_count; i++) {
		const struct instance *in = worker->instance[i];

		if (busy(in, worker->lcore))
			return 0;
		limit = u64_min(limit, ns_since(sw_deadline(in->sw, worker->lcore, now), now));
		limit = u64_min(limit, ns_since(lines_deadline(in, worker->lcore), now));
	}
	return limit;
}

// What the receive rings of a switch allow, and whether each port can end a sleep by itself.
static uint64_t ring_ns(const struct instance *in, lcore_t lcore, uint64_t limit, bool *interrupts)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (!pktio_is_of(&in->io[i], lcore) || !in->io[i].active)
			continue;
		*interrupts &= in->io[i].watched;
		limit = u64_min(limit, in->io[i].idle_ns);
	}
	return limit;
}

static uint64_t rings_ns(const struct worker *worker, bool *interrupts)
{
	uint64_t limit = IDLE_NS_MAX;

	*interrupts = true;
	for (uint32_t i = 0; i < worker->instance_count; i++)
		limit = ring_ns(worker->instance[i], worker->lcore, limit, interrupts);
	return limit;
}

// Drivers whose file descriptor needs no arming have no such call, and say so with an error.
static void arm_port(const struct pktio *io, lcore_t lcore, bool on)
{
	if (!pktio_is_of(io, lcore) || !io->watched)
		return;
	if (on)
		rte_eth_dev_rx_intr_enable(io->ethdev, 0);
	else
		rte_eth_dev_rx_intr_disable(io->ethdev, 0);
}

static void arm(struct worker *worker, bool on)
{
	for (uint32_t i = 0; i < worker->instance_count; i++) {
		const struct instance *in = worker->instance[i];

		for (uint32_t k = 0; k < in->port_count; k++)
			arm_port(&in->io[k], worker->lcore, on);
	}
	worker->idle.armed = on;
}

// False when another lcore has handed over a packet meanwhile. Either it sees that this lcore is
// asleep and wakes it, or what it has handed over is seen here: each side writes, then looks.
static bool fall_asleep(struct worker *worker)
{
	if (worker->peers->count == 1)
		return true;
	__atomic_store_n(&worker->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < worker->instance_count; i++) {
		if (sw_handed_waits(worker->instance[i]->sw, worker->lcore))
			return false;
	}
	return true;
}

void idle_wake_peers(struct worker *worker, uint32_t lcores)
{
	const uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; lcores != 0; lcores &= lcores - 1) {
		const struct worker *peer = &worker->peers->worker[__builtin_ctz(lcores)];

		// A counter that is full wakes as well.
		if (__atomic_load_n(&peer->asleep, __ATOMIC_RELAXED) != 0 &&
		    write(peer->channel.wake_lcore, &one, sizeof(one)) < 0)
			continue;
	}
}

// Time that was wanted is no gap between two visits; waking up late is one.
static void slept(struct worker *worker, uint64_t wanted_ns)
{
	worker->visited = ns_min(clock_now(&worker->clock), ns_add(worker->visited, wanted_ns));
}

static void wait_for_interrupt(struct worker *worker, uint64_t limit_ns)
{
	struct rte_epoll_event events[EVENTS_MAX];
	uint64_t ms = u64_min(limit_ns / 1000000, INTERRUPT_WAIT_MS);
	uint64_t count;

	worker->stats.interrupt_waits++;
	if (fall_asleep(worker))
		rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, EVENTS_MAX, (int)ms);
	__atomic_store_n(&worker->asleep, 0, __ATOMIC_RELAXED);
	if (read(worker->channel.wake_lcore, &count, sizeof(count)) < 0 && errno != EAGAIN)
		worker->idle.wake_known = false;
	slept(worker, ms * 1000000);
}

// With peers a nap ends when one of them hands over a packet.
static void nap(struct worker *worker, uint64_t ns)
{
	const struct timespec wait = { .tv_nsec = (long)ns };
	struct pollfd wake = { .fd = worker->channel.wake_lcore, .events = POLLIN };
	uint64_t count;

	worker->stats.sleeps++;
	if (worker->peers->count == 1) {
		nanosleep(&wait, NULL);
		slept(worker, ns);
		return;
	}
	if (fall_asleep(worker) && ppoll(&wake, 1, &wait, NULL) > 0 &&
	    read(wake.fd, &count, sizeof(count)) < 0)
		worker->idle.wake_known = false;
	__atomic_store_n(&worker->asleep, 0, __ATOMIC_RELAXED);
	slept(worker, ns);
}

void idle_wait(struct worker *worker, ns_t now)
{
	struct idle *idle = &worker->idle;
	uint64_t limit;
	uint64_t ring_limit;
	bool interrupts;

	idle->empty_polls++;
	if (worker->busy_poll || idle->empty_polls < SPINS) {
		rte_pause();
		return;
	}
	limit = idle->empty_polls < YIELDS ? 0 : sleep_ns(worker, now);
	if (limit < NAP_NS) {
		sched_yield();
		return;
	}
	ring_limit = rings_ns(worker, &interrupts);
	if (idle->empty_polls < NAPS) {
		nap(worker, u64_min(NAP_NS, ring_limit));
		return;
	}
	if (!interrupts || !idle->wake_known || limit < 1000000) {
		nap(worker, u64_min(limit, ring_limit));
		return;
	}
	// Armed first and polled once more: what arrived in between has raised no interrupt.
	if (!idle->armed)
		arm(worker, true);
	else
		wait_for_interrupt(worker, limit);
}

void idle_reset(struct worker *worker)
{
	worker->idle.empty_polls = 0;
	if (worker->idle.armed)
		arm(worker, false);
}

// The channel's eventfd joins the thread's own epoll set with the first port.
static void know_wake(struct worker *worker)
{
	struct idle *idle = &worker->idle;

	if (idle->wake_known)
		return;
	idle->wake_event.epdata.event = EPOLLIN;
	idle->wake_known = rte_epoll_ctl(RTE_EPOLL_PER_THREAD, EPOLL_CTL_ADD,
					 worker->channel.wake_lcore, &idle->wake_event) == 0;
}

void idle_watch(struct worker *worker, struct pktio *io)
{
	if (!io->interrupts)
		return;
	know_wake(worker);
	io->watched = rte_eth_dev_rx_intr_ctl_q(io->ethdev, 0, RTE_EPOLL_PER_THREAD,
						RTE_INTR_EVENT_ADD, NULL) == 0;
}

void idle_unwatch(struct worker *worker, struct pktio *io)
{
	if (!io->watched)
		return;
	if (worker->idle.armed)
		arm(worker, false);
	rte_eth_dev_rx_intr_ctl_q(io->ethdev, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL, NULL);
	io->watched = false;
}
