// SPDX-License-Identifier: BSD-3-Clause
//
// What the core asks of its shell, carried out on the lcore; what needs thought goes to the control
// thread. Only flooded and new addresses take these paths, besides PFC and drops.

#include "dataplane/dpdk/worker.h"

#include <string.h>

// Copies are deep: a clone would keep the original's buffer charged to nobody.
static void flood(const struct worker *worker, struct instance *in, const struct sw_action *action,
		  ns_t now)
{
	const struct taps *taps = &in->taps[worker->lcore.v];
	struct rte_mbuf *original = mbuf_from_pkt(action->pkt);

	PORT_SET_FOR_EACH(port, &action->ports) {
		struct rte_mbuf *m = rte_pktmbuf_copy(original, in->pools->data, 0, UINT32_MAX);

		if (m == NULL && taps->count != 0)
			taps_drop(taps, action->pkt, DROP_COPY_NO_BUFFER);
		sw_copy(in->sw, action->pkt, m != NULL ? pkt_from_mbuf(m) : NULL, port, now);
	}
}

static void punt(struct worker *worker, struct instance *in, const struct sw_action *action)
{
	struct message message = {
		.kind = MESSAGE_PUNT,
		.instance = in,
		.port = action->port,
		.vid = action->pkt->vid,
		.mbuf = mbuf_from_pkt(action->pkt),
	};

	if (!channel_report(&worker->channel, &message))
		rte_pktmbuf_free(message.mbuf);
}

static void address(struct worker *worker, struct instance *in, const struct sw_action *action,
		    enum message_kind kind)
{
	const struct message message = {
		.kind = kind,
		.instance = in,
		.port = action->port,
		.vid = action->vid,
		.mac = action->mac,
	};

	channel_report(&worker->channel, &message);
}

// The destination's network address: of IPv4, of IPv6, or the GID of a RoCEv1 header, which is an
// IPv6 address in form.
static bool target_of(const struct pkt *p, struct message *message)
{
	uint32_t at = p->l3_offset;
	uint32_t bytes = 16;

	switch ((enum pkt_l3)p->l3) {
	case PKT_L3_IPV4:
		at += 16;
		bytes = 4;
		break;
	case PKT_L3_IPV6:
	case PKT_L3_ROCE_V1:
		at += 24;
		message->target.ipv6 = true;
		break;
	case PKT_L3_OTHER:
	case PKT_L3_ARP:
	case PKT_L3_MAC_CONTROL:
	case PKT_L3_SLOW:
	case PKT_L3_LLDP:
	case PKT_L3_HELLO: return false;
	}
	if (at + bytes > p->head_len)
		return false;
	memcpy(message->target.address, p->data + at, bytes);
	return true;
}

static void solicit(struct worker *worker, struct instance *in, const struct sw_action *action)
{
	struct message message = {
		.kind = MESSAGE_SOLICIT,
		.instance = in,
		.port = action->port,
		.vid = action->vid,
		.target.routed = (action->pkt->flags & PKT_ROUTED) != 0,
	};

	if (target_of(action->pkt, &message))
		channel_report(&worker->channel, &message);
}

enum { TELL_BYTES = 1280 }; // of the frame: no error quotes more

static void tell(struct worker *worker, struct instance *in, const struct sw_action *action)
{
	struct rte_mbuf *original = mbuf_from_pkt(action->pkt);
	const struct message message = {
		.kind = MESSAGE_TELL,
		.instance = in,
		.port = action->port,
		.vid = action->vid,
		.tell = { .mbuf = rte_pktmbuf_copy(original, in->pools->data, 0, TELL_BYTES),
			  .reason = action->reason,
			  .mtu = (uint16_t)action->mtu,
			  .l3_offset = action->pkt->l3_offset,
			  .ipv6 = action->pkt->l3 == PKT_L3_IPV6 },
	};

	if (message.tell.mbuf != NULL && !channel_report(&worker->channel, &message))
		rte_pktmbuf_free(message.tell.mbuf);
}

static void storm(struct worker *worker, struct instance *in, const struct sw_action *action)
{
	const struct message message = {
		.kind = MESSAGE_STORM,
		.instance = in,
		.port = action->port,
		.storm = { .queue = action->queue, .on = action->stormed },
	};

	channel_report(&worker->channel, &message);
}

static void peer(struct worker *worker, struct instance *in, const struct sw_action *action)
{
	const struct hello_peer *about = sw_peer(in->sw, action->port);
	const struct message message = {
		.kind = MESSAGE_PEER,
		.instance = in,
		.port = action->port,
		.peer = { .status = (uint8_t)about->status,
			  .mismatch = (uint8_t)about->mismatch,
			  .at = about->at,
			  .have = about->have,
			  .want = about->want,
			  .usable = about->usable },
	};

	channel_report(&worker->channel, &message);
}

static void release(const struct worker *worker, const struct instance *in,
		    const struct sw_action *action)
{
	const struct taps *taps = &in->taps[worker->lcore.v];

	if (__builtin_expect(taps->count != 0, 0) && action->reason != DROP_NONE)
		taps_drop(taps, action->pkt, action->reason);
	rte_pktmbuf_free(mbuf_of_pkt(action->pkt));
}

void actions_drain(struct worker *worker, struct instance *in, ns_t now)
{
	struct sw_action action;

	while (sw_action(in->sw, worker->lcore, &action, now)) {
		switch (action.kind) {
		case SW_ACTION_FREE: release(worker, in, &action); break;
		case SW_ACTION_PFC: pktio_pfc(&in->io[action.port.v], &action.pfc); break;
		case SW_ACTION_HELLO: pktio_hello(&in->io[action.port.v]); break;
		case SW_ACTION_PEER: peer(worker, in, &action); break;
		case SW_ACTION_LACP: pktio_lacp(&in->io[action.port.v]); break;
		case SW_ACTION_COPY: flood(worker, in, &action, now); break;
		case SW_ACTION_PUNT: punt(worker, in, &action); break;
		case SW_ACTION_LEARN: address(worker, in, &action, MESSAGE_LEARN); break;
		case SW_ACTION_FORGET: address(worker, in, &action, MESSAGE_FORGET); break;
		case SW_ACTION_SOLICIT: solicit(worker, in, &action); break;
		case SW_ACTION_TELL: tell(worker, in, &action); break;
		case SW_ACTION_STORM: storm(worker, in, &action); break;
		}
	}
}
