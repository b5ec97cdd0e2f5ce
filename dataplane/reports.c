// SPDX-License-Identifier: BSD-3-Clause
//
// The slow path of the bridge. Order matters: the address goes ahead of the frame that it came
// with, through the same ring, so the first answer already finds its row. ARP and ND go on through
// the bridge unless the switch has answered them, or is managed.

#include "dataplane/reports.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/echo.h"
#include "dataplane/hello_words.h"
#include "dataplane/icmp_send.h"
#include "dataplane/lldp.h"
#include "dataplane/routes.h"
#include "sys/log.h"

static void set_mac(struct workers *workers, const struct message *report, uint64_t mac)
{
	const struct message message = {
		.kind = MESSAGE_MAC_SET,
		.instance = report->instance,
		.port = report->port,
		.vid = report->vid,
		.mac = mac,
	};

	workers_send(workers, &message);
}

static void inject(struct workers *workers, const struct message *report, struct rte_mbuf *m,
		   port_t port)
{
	const struct message message = {
		.kind = MESSAGE_INJECT,
		.instance = report->instance,
		.port = port,
		.vid = report->vid,
		.mbuf = m,
	};

	workers_send(workers, &message);
}

enum { REPORTS_AT_ONCE = 256 };

void reports_own_mac(const char *switch_name, uint8_t out[6])
{
	store_be48(out, hash_text(switch_name));
	out[0] = 2; // locally administered, one host
}

// Answers to our own questions end here, whichever of our addresses asked.
static bool is_for_us(const struct instance *in, uint64_t mac)
{
	uint8_t own[6];

	reports_own_mac(in->config->sw.name, own);
	return mac == load_be48(own) || mac == in->profile->router_mac;
}

// Sends the punted frame itself back to where it came from.
static void turn_around(struct workers *workers, const struct message *report)
{
	const struct message message = {
		.kind = MESSAGE_SEND,
		.instance = report->instance,
		.port = report->port,
		.vid = report->vid,
		.mbuf = report->mbuf,
	};

	workers_send(workers, &message);
}

// What is sent to an address of the switch: only an echo is answered.
static void handle_own(struct workers *workers, const struct message *report)
{
	const struct instance *in = report->instance;
	const struct pkt *p = pkt_of_mbuf(report->mbuf);

	if (routes_may_echo(in->routes) &&
	    echo_answer(p->data, p->head_len, p->l3_offset, p->l3 == PKT_L3_IPV6,
			in->profile->router_mac))
		turn_around(workers, report);
	else
		rte_pktmbuf_free(report->mbuf);
}

// Learns from ARP or ND and answers it. True when it may go on through the bridge as it was sent.
static bool handle_neighbor(struct workers *workers, const struct message *report)
{
	struct instance *in = report->instance;
	const struct pkt *p = pkt_of_mbuf(report->mbuf);
	const struct neighbor_view view = routes_view(in);
	struct neighbor_message message;
	struct neighbor_verdict verdict = { 0 };
	uint8_t frame[NEIGHBOR_FRAME_MAX];

	if (neighbor_read(p->data, p->head_len, p->l3_offset, p->l3 == PKT_L3_ARP, &message)) {
		routes_heard(in->routes, &message, report->port, report->vid);
		verdict = neighbor_judge(&view, &message, report->port, report->vid);
	}
	if (verdict.answer)
		routes_send(workers, in, report->port, report->vid, frame,
			    neighbor_answer(verdict.mac, &message, verdict.router, frame));
	return !verdict.answer && !in->profile->managed && !is_for_us(in, load_be48(p->data));
}

static void handle_punt(struct workers *workers, const struct message *report)
{
	const struct pkt *p = pkt_of_mbuf(report->mbuf);
	const uint64_t source = load_be48(p->data + 6);

	if (p->l3 == PKT_L3_LLDP) {
		lldp_heard(report->instance->lldp, report->port, report->mbuf, p->l3_offset);
		rte_pktmbuf_free(report->mbuf);
		return;
	}
	if (p->l3 != PKT_L3_ARP && p->l4 != PKT_L4_ND) {
		handle_own(workers, report);
		return;
	}
	if (!report->instance->profile->managed && !is_for_us(report->instance, source))
		set_mac(workers, report, source);
	if (handle_neighbor(workers, report))
		inject(workers, report, report->mbuf, report->port);
	else
		rte_pktmbuf_free(report->mbuf);
}

// For a packet that was routed the gateway asks; any other destination is asked for by a probe,
// whose answer comes back to this switch alone.
static void handle_solicit(struct workers *workers, const struct message *report)
{
	struct instance *in = report->instance;
	const uint8_t *address = report->target.address;
	const uint8_t *mapped = report->target.ipv6 ? neighbor_mapped_ipv4(address) : NULL;
	struct ip_prefix target = { .family = IP_V4, .len = 32 };
	uint8_t frame[NEIGHBOR_FRAME_MAX];
	uint8_t own[6];

	if (in->profile->managed)
		return;
	if (report->target.ipv6 && mapped == NULL)
		target = (struct ip_prefix){ .family = IP_V6, .len = 128 };
	memcpy(target.address, mapped != NULL ? mapped : address, target.len / 8);
	if (in->routes != NULL && report->target.routed &&
	    neighbor_interface(in->config, report->vid, &target) != NULL) {
		routes_want(in->routes, &target, report->vid);
		return;
	}
	reports_own_mac(in->config->sw.name, own);
	routes_send(workers, in, PORT_NONE, report->vid, frame,
		    neighbor_ask(load_be48(own), NULL, &target, 0, frame));
}

// The field's own words: its scripts look for them.
static void handle_storm(const struct message *report)
{
	const struct instance *in = report->instance;
	const char *port = in->config->port[report->port.v].name;

	if (report->storm.on)
		log_warn("%s: PFC Watchdog detected PFC storm on port %s, queue index %u",
			 in->config->sw.name, port, report->storm.queue.v);
	else
		log_info("%s: PFC Watchdog storm restored on port %s, queue index %u",
			 in->config->sw.name, port, report->storm.queue.v);
}

static void handle_peer(struct workers *workers, const struct message *report)
{
	struct instance *in = report->instance;
	const char *name = in->config->sw.name;
	const char *port = in->config->port[report->port.v].name;
	const struct hello_peer peer = {
		.status = (enum hello_status)report->peer.status,
		.mismatch = (enum hello_mismatch)report->peer.mismatch,
		.at = report->peer.at,
		.have = report->peer.have,
		.want = report->peer.want,
		.usable = report->peer.usable,
	};
	char words[HELLO_WORDS_BYTES];

	if (!peer.usable)
		workers_forget_port(workers, in, report->port);
	hello_words(&peer, words);
	if (words[0] != '\0')
		log_warn("%s: %s: %s", name, port, words);
	else if (peer.status == HELLO_UP)
		log_info("%s: %s: the peer is there and agrees on lanes", name, port);
}

static void handle(struct workers *workers, const struct message *report)
{
	switch (report->kind) {
	case MESSAGE_PUNT: handle_punt(workers, report); break;
	case MESSAGE_LEARN:
		set_mac(workers, report, report->mac);
		routes_learned(report->instance->routes, report->mac, report->vid, report->port);
		break;
	case MESSAGE_FORGET: workers_send(workers, report); break;
	case MESSAGE_SOLICIT: handle_solicit(workers, report); break;
	case MESSAGE_TELL: icmp_send(workers, report); break;
	case MESSAGE_STORM: handle_storm(report); break;
	case MESSAGE_PEER: handle_peer(workers, report); break;
	case MESSAGE_LINK:
	case MESSAGE_PROFILE:
	case MESSAGE_SWAP:
	case MESSAGE_MAC_SET:
	case MESSAGE_MAC_FORGET_PORT:
	case MESSAGE_MAC_AGE:
	case MESSAGE_MAC_LIST:
	case MESSAGE_ACL_LIST:
	case MESSAGE_ROCE_LIST:
	case MESSAGE_INJECT:
	case MESSAGE_SEND:
	case MESSAGE_FRAME:
	case MESSAGE_RETRY_HELD:
	case MESSAGE_RX_LOST:
	case MESSAGE_SNAPSHOT:
	case MESSAGE_CLEAR_WATERMARKS:
	case MESSAGE_LCORE_STATS:
	case MESSAGE_CLEAR_GAP:
	case MESSAGE_FORCE_STORM:
	case MESSAGE_BIG_RED:
	case MESSAGE_TX_DISABLE:
	case MESSAGE_DEQUEUE_DISABLE:
	case MESSAGE_SEED:
	case MESSAGE_CAPTURE:
	case MESSAGE_PARK:
	case MESSAGE_STOP: break; // of the other direction
	}
}

static void read_channel(struct workers *workers, struct channel *channel)
{
	struct message report;

	channel_awake(channel);
	for (uint32_t n = 0; n < REPORTS_AT_ONCE; n++) {
		if (!channel_read(channel, &report))
			return;
		handle(workers, &report);
	}
	// Timers and requests have their turn before the rest.
	channel_rewake(channel);
}

void reports_handle(struct workers *workers)
{
	for (uint32_t i = 0; i < workers->count; i++)
		read_channel(workers, &workers->worker[i].channel);
	for (uint32_t i = 0; i < workers->worker[0].instance_count; i++)
		routes_settle(workers->worker[0].instance[i]->routes);
}
