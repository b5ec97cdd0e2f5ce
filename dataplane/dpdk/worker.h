// SPDX-License-Identifier: BSD-3-Clause
//
// A forwarding lcore: polls the ports that are its own, carries out what the core asks for and
// applies the control thread's messages between polls. Lcore n of the process is lcore n of each
// switch that has so many.
#pragma once

#include <rte_interrupts.h>

#include "dataplane/dpdk/channel.h"
#include "dataplane/dpdk/clock.h"
#include "dataplane/dpdk/instance.h"
#include "sys/dpdk/unmap.h"

enum { WORKER_INSTANCE_MAX = 128 };

struct lcore_stats {
	uint64_t polls;      // visits of the loop
	uint64_t busy_polls; // of them, with something to do
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t sleeps;          // timed sleeps
	uint64_t interrupt_waits; // sleeps that a receive interrupt may end
	uint64_t max_gap_ns;      // longest time between two visits, wanted sleep not counted
	uint64_t reports_lost;    // messages that the control thread had no room for
};

// Back-off of an idle lcore, see idle.c.
struct idle {
	uint32_t empty_polls; // in a row
	bool armed;           // receive interrupts are on
	bool wake_known;      // the channel's eventfd is in this thread's epoll set
	struct rte_epoll_event wake_event;
};

struct worker {
	// control: rw until the lcore starts, ro afterwards
	struct clock clock;
	lcore_t lcore; // of each switch
	struct workers *peers;
	struct channel channel;
	struct instance *instance[WORKER_INSTANCE_MAX];
	uint32_t instance_count;
	bool busy_poll; // never sleep
	// lcore: rw
	bool stop;
	ns_t visited;    // time of the last visit, moved on by wanted sleep
	ns_t wary_until; // pauses are repeated more often until then
	struct idle idle;
	struct lcore_stats stats;
	// lcore: rw, others: ro
	uint32_t asleep; // may need waking, see idle.c
	struct poller poller;
};

// All forwarding lcores of the process.
struct workers {
	uint32_t count;
	struct worker worker[LCORE_MAX];
};

// One visit of a switch: timers, then a burst from every port, then what may leave. True when there
// was something to do.
bool worker_visit(struct worker *worker, struct instance *in, ns_t now);

// Repeats the pauses that the lcore's peers were told, unless that was lately.
void worker_renew_pauses(struct worker *worker, ns_t now);

// The lcore's function; returns 0 after MESSAGE_STOP.
int worker_run(void *worker);

// --- actions.c --------------------------------------------------------------------------------

// Carries out all that the core asks for at the moment.
void actions_drain(struct worker *worker, struct instance *in, ns_t now);

// --- commands.c -------------------------------------------------------------------------------

// Applies waiting messages, at most a burst of them; true when there were any. They take their
// time: that of the caller is old then.
bool commands_apply(struct worker *worker);

// --- workers.c, control thread ----------------------------------------------------------------

// Sends a message to whom its kind concerns: the owner of the port, one lcore, or all that the
// switch has. Waits for room.
void workers_send(struct workers *workers, const struct message *message);

// Likewise, and waits until all of them have applied it. What needs the whole switch to be still
// (statistics, a profile) is done by the first lcore while the others wait.
void workers_call(struct workers *workers, struct message *message);

// Takes the next piece of the address table, lcore by lcore, beginning with a list of zeros. False
// when there was none left.
bool workers_next_macs(struct workers *workers, struct instance *in, struct mac_list *list);

// Asks every lcore of the process for its own statistics.
void workers_stats(struct workers *workers, struct lcore_stats out[LCORE_MAX]);

// Nobody is behind this port any more: its lcore has forgotten its own copy, the others are told.
void workers_forget_port(struct workers *workers, struct instance *in, port_t port);

// --- idle.c -----------------------------------------------------------------------------------

// After a poll that found nothing: waits a little, never beyond a deadline of a switch.
void idle_wait(struct worker *worker, ns_t now);

// After a poll that found something.
void idle_reset(struct worker *worker);

// Wakes those of the lcores (a bit each) that sleep.
void idle_wake_peers(struct worker *worker, uint32_t lcores);

// Adds a port that came up to what ends an interrupt wait, if its driver can, and removes it.
void idle_watch(struct worker *worker, struct pktio *io);
void idle_unwatch(struct worker *worker, struct pktio *io);
