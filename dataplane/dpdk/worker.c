// SPDX-License-Identifier: BSD-3-Clause
//
// The loop: tick, receive from every port, take what other lcores have handed over, send to every
// port; one `now` per visit.
//
// Receiving goes round in single bursts, so no port waits longer than one burst of each other one.
// Sending to a port goes on until the core or the driver has had enough: a queue must stand because
// its port is slow, not because it was not asked.

#include "dataplane/dpdk/worker.h"

enum {
	AWAY_NS = 50000,      // a longer gap is more than a visit takes
	WARY_NS = 1000000000, // after one, others may follow for so long
};

static uint32_t receive(struct worker *worker, struct instance *in, port_t port, uint16_t queue,
			ns_t now)
{
	struct pktio *io = &in->io[port.v];
	struct pkt *pkts[PKTIO_BURST];
	uint32_t count = pktio_rx(io, queue, pkts);

	if (__builtin_expect(io->line != NULL, 0))
		count = pktio_impair(io, pkts, count, now);
	if (count == 0)
		return 0;
	if (__builtin_expect(io->taps->count != 0, 0))
		taps_in(io->taps, port, pkts, count);
	sw_rx(in->sw, port, pkts, count, now);
	actions_drain(worker, in, now);
	return count;
}

static uint32_t poll_rx(struct worker *worker, struct instance *in, ns_t now)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < in->port_count; i++) {
		port_t port = { (uint16_t)i };
		uint16_t queue = 0;

		if (!pktio_is_of(&in->io[i], worker->lcore) || !in->io[i].active ||
		    sw_held(in->sw, port))
			continue;
		do {
			total += receive(worker, in, port, queue, now);
			queue = pktio_next_rx(&in->io[i], queue);
		} while (queue != 0);
	}
	return total;
}

static uint32_t send_port(struct worker *worker, struct instance *in, port_t port, ns_t now)
{
	struct pktio *io = &in->io[port.v];
	struct pkt *pkts[PKTIO_BURST];
	uint32_t total = 0;

	for (uint32_t i = 0; i < PKTIO_TX_BURSTS && pktio_flush(io); i++) {
		uint32_t count = sw_tx(in->sw, port, pkts, PKTIO_BURST, now);

		if (__builtin_expect(io->taps->count != 0, 0))
			taps_out(io->taps, in->sw, port, pkts, count);
		if (count > 0)
			pktio_tx(io, pkts, count);
		actions_drain(worker, in, now);
		total += count;
		if (count < PKTIO_BURST)
			break;
	}
	return total;
}

static uint32_t poll_tx(struct worker *worker, struct instance *in, ns_t now)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < in->port_count; i++) {
		port_t port = { (uint16_t)i };

		if (!pktio_is_of(&in->io[i], worker->lcore) || !in->io[i].active ||
		    !pktio_flush(&in->io[i]))
			continue;
		if (sw_backlogged(in->sw, port))
			total += send_port(worker, in, port, now);
	}
	return total;
}

bool worker_visit(struct worker *worker, struct instance *in, ns_t now)
{
	uint32_t received;
	uint32_t taken;
	uint32_t sent;
	uint32_t handed;

	sw_tick(in->sw, worker->lcore, now);
	actions_drain(worker, in, now);
	received = poll_rx(worker, in, now);
	handed = sw_handed(in->sw, worker->lcore);
	if (handed != 0)
		idle_wake_peers(worker, handed);
	taken = sw_take(in->sw, worker->lcore, now);
	actions_drain(worker, in, now);
	sent = poll_tx(worker, in, now);
	worker->stats.rx_packets += received;
	worker->stats.tx_packets += sent;
	return received + taken + sent > 0;
}

void worker_renew_pauses(struct worker *worker, ns_t now)
{
	for (uint32_t i = 0; i < worker->instance_count; i++) {
		struct instance *in = worker->instance[i];

		sw_renew_pauses(in->sw, worker->lcore, now);
		actions_drain(worker, in, now);
	}
}

// A process that was off its core may soon be so again, for longer than PFC can be late.
static void measure_gap(struct worker *worker, ns_t now)
{
	uint64_t gap = ns_since(now, worker->visited);

	if (gap > worker->stats.max_gap_ns)
		worker->stats.max_gap_ns = gap;
	worker->visited = now;
	if (gap > AWAY_NS)
		worker->wary_until = ns_add(now, WARY_NS);
	if (ns_before(now, worker->wary_until))
		worker_renew_pauses(worker, now);
}

int worker_run(void *arg)
{
	struct worker *worker = arg;

	worker->visited = clock_now(&worker->clock);
	while (!worker->stop) {
		ns_t now = clock_now(&worker->clock);
		bool worked;

		poller_turn(&worker->poller);
		measure_gap(worker, now);
		worked = commands_apply(worker);
		if (worked)
			now = clock_now(&worker->clock);
		for (uint32_t i = 0; i < worker->instance_count; i++)
			worked |= worker_visit(worker, worker->instance[i], now);
		poller_turn(&worker->poller);
		worker->stats.polls++;
		worker->stats.busy_polls += worked;
		if (worked)
			idle_reset(worker);
		else
			idle_wait(worker, now);
	}
	return 0;
}
