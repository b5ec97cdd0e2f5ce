// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of the control thread, applied between two polls. Each ends with a drain, since the core
// may have been asked for something that makes packets leave or end.

#include "dataplane/dpdk/worker.h"

#include <sched.h>

#include "base/check.h"
#include "dataplane/dpdk/snapshot.h"
#include "dataplane/dpdk/swap.h"

enum { COMMANDS_PER_POLL = 64 };

static void link_set(struct worker *worker, struct instance *in, port_t port, bool up, ns_t now)
{
	struct pktio *io = &in->io[port.v];

	if (up == io->active)
		return;
	io->active = up;
	sw_link(in->sw, port, up, now);
	if (up) {
		idle_watch(worker, io);
	} else {
		idle_unwatch(worker, io);
		pktio_abandon(io);
		pktio_clear_line(io);
	}
}

static void inject(struct instance *in, const struct message *message, ns_t now)
{
	sw_inject(in->sw, pkt_from_mbuf(message->mbuf), message->port, message->vid, now);
}

static void count_line(const struct impair_line *line, struct port_stats *stats)
{
	stats->impair_lost_packets = line->stats.lost;
	stats->impair_overrun_packets = line->stats.overrun;
	stats->impair_corrupted_packets = line->stats.corrupted;
	stats->impair_held_packets = line->held;
}

static void snapshot(struct worker *worker, struct instance *in, struct snapshot *out, ns_t now)
{
	snapshot_fill(out, in->sw, now);
	for (uint32_t i = 0; i < in->port_count; i++) {
		out->port[i].stats.tx_retried_packets = in->io[i].retried_packets;
		count_line(&in->io[i].line_memory, &out->port[i].stats);
	}
}

static void mac_list(struct worker *worker, struct instance *in, struct mac_list *out, ns_t now)
{
	out->now = now;
	out->count = sw_mac_walk(in->sw, worker->lcore, &out->at, out->entry, MAC_LIST_MAX);
}

static void acl_list(const struct instance *in, struct acl_list *out)
{
	const uint32_t total = sw_profile_of(in->sw)->acl_count;
	uint32_t row = out->at;

	for (out->count = 0; out->count < ACL_LIST_MAX && row < total; row++)
		sw_stats_acl(in->sw, row, &out->stats[out->count++]);
	out->at = row < total ? row : 0;
}

static void roce_list(const struct instance *in, struct roce_list *out, ns_t now)
{
	out->now = now;
	out->lcore_count = sw_profile_of(in->sw)->lcore_count;
	for (uint8_t i = 0; i < out->lcore_count; i++) {
		out->cnps[i] = *sw_cnp_flows(in->sw, (lcore_t){ i });
		out->flows[i] = *sw_roce_flows(in->sw, (lcore_t){ i });
	}
}

// A parked lcore touches nothing, so its peers are told before that their pauses go on. What it is
// away is a gap between two visits like any other.
static void park(struct worker *worker, struct meeting *meeting, ns_t now)
{
	worker_renew_pauses(worker, now);
	__atomic_add_fetch(&meeting->parked, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&meeting->over, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	__atomic_add_fetch(&meeting->resumed, 1, __ATOMIC_RELEASE);
}

// The others may take long to come, on a machine that has much else to do.
static void gather(struct worker *worker, const struct meeting *meeting)
{
	while (__atomic_load_n(&meeting->parked, __ATOMIC_ACQUIRE) < meeting->wanted) {
		worker_renew_pauses(worker, clock_now(&worker->clock));
		sched_yield();
	}
}

// The dice of the switch and of its impaired links, as when they began.
static void seed(struct worker *worker, struct instance *in, uint64_t seed)
{
	sw_seed(in->sw, worker->lcore, seed);
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (pktio_is_of(&in->io[i], worker->lcore) && in->io[i].line != NULL)
			rng_seed(&in->io[i].line->dice, seed + i);
	}
}

static void capture(struct worker *worker, struct instance *in, const struct message *message)
{
	struct taps *taps = &in->taps[worker->lcore.v];
	struct tap *tap = message->capture.tap[worker->lcore.v];

	if (!message->capture.on)
		taps_remove(taps, tap);
	else
		WEFT_CHECK(taps_add(taps, tap)); // the control thread counts them
}

static void apply(struct worker *worker, const struct message *m, ns_t now)
{
	struct instance *in = m->instance;

	switch (m->kind) {
	case MESSAGE_LINK: link_set(worker, in, m->port, m->up, now); break;
	case MESSAGE_PROFILE: WEFT_CHECK(sw_set_profile(in->sw, m->profile, now) == 0); break;
	case MESSAGE_SWAP: swap_apply(worker, in, m->swap, now); break;
	case MESSAGE_MAC_SET:
		sw_mac_set(in->sw, worker->lcore, m->mac, m->vid, m->port, now);
		break;
	case MESSAGE_FORGET: sw_mac_forget(in->sw, worker->lcore, m->mac, m->vid, m->port); break;
	case MESSAGE_MAC_FORGET_PORT: sw_mac_forget_port(in->sw, worker->lcore, m->port); break;
	case MESSAGE_MAC_AGE: sw_mac_age(in->sw, worker->lcore, m->count, now); break;
	case MESSAGE_MAC_LIST: mac_list(worker, in, m->macs, now); break;
	case MESSAGE_ACL_LIST: acl_list(in, m->acl); break;
	case MESSAGE_ROCE_LIST: roce_list(in, m->roce, now); break;
	case MESSAGE_INJECT: inject(in, m, now); break;
	case MESSAGE_SEND: sw_send(in->sw, pkt_from_mbuf(m->mbuf), m->port, m->vid, now); break;
	case MESSAGE_FRAME: pktio_own(&in->io[m->port.v], m->mbuf); break;
	case MESSAGE_RETRY_HELD: sw_retry_held(in->sw, worker->lcore, now); break;
	case MESSAGE_RX_LOST:
		sw_count_rx_lost(in->sw, m->port, m->lost.no_buffer, m->lost.missed);
		break;
	case MESSAGE_SNAPSHOT: snapshot(worker, in, m->snapshot, now); break;
	case MESSAGE_CLEAR_WATERMARKS: sw_clear_watermarks(in->sw, m->watermark); break;
	case MESSAGE_LCORE_STATS:
		worker->stats.reports_lost = worker->channel.lost;
		*m->stats = worker->stats;
		break;
	case MESSAGE_CLEAR_GAP: worker->stats.max_gap_ns = 0; break;
	case MESSAGE_FORCE_STORM:
		*m->storm.accepted = sw_storm(in->sw, m->port, m->storm.queue, m->storm.on, now);
		break;
	case MESSAGE_BIG_RED: sw_big_red(in->sw, worker->lcore, m->up, now); break;
	case MESSAGE_TX_DISABLE: sw_tx_disable(in->sw, m->port, m->up, now); break;
	case MESSAGE_DEQUEUE_DISABLE:
		sw_dequeue_disable(in->sw, m->port, m->block.queues, m->block.on, now);
		break;
	case MESSAGE_SEED: seed(worker, in, m->seed); break;
	case MESSAGE_CAPTURE: capture(worker, in, m); break;
	case MESSAGE_PARK: park(worker, m->meeting, now); break;
	case MESSAGE_STOP: worker->stop = true; break;
	case MESSAGE_PUNT:
	case MESSAGE_LEARN:
	case MESSAGE_STORM:
	case MESSAGE_PEER:
	case MESSAGE_TELL:
	case MESSAGE_SOLICIT: break; // of the other direction
	}
	if (in != NULL)
		actions_drain(worker, in, now);
}

bool commands_apply(struct worker *worker)
{
	struct message message;
	uint32_t count;

	for (count = 0; count < COMMANDS_PER_POLL; count++) {
		if (!channel_take(&worker->channel, &message))
			break;
		if (message.meeting != NULL && message.kind != MESSAGE_PARK)
			gather(worker, message.meeting);
		apply(worker, &message, clock_now(&worker->clock));
		if (message.meeting != NULL && message.kind != MESSAGE_PARK)
			__atomic_store_n(&message.meeting->over, 1, __ATOMIC_RELEASE);
		channel_done(&message);
	}
	return count > 0;
}
