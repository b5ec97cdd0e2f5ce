// SPDX-License-Identifier: BSD-3-Clause
//
// The slow path of the bridge. Order matters: the address goes ahead of the frame that it came
// with, through the same ring, so the first answer already finds its row.

#include "dataplane/reports.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/neighbor.h"
#include "sys/log.h"

static void set_mac(struct worker *worker, const struct message *report, uint64_t mac)
{
	const struct message message = {
		.kind = MESSAGE_MAC_SET,
		.instance = report->instance,
		.port = report->port,
		.vid = report->vid,
		.mac = mac,
	};

	channel_send(&worker->channel, &message);
}

static void inject(struct worker *worker, const struct message *report, struct rte_mbuf *m,
		   port_t port)
{
	const struct message message = {
		.kind = MESSAGE_INJECT,
		.instance = report->instance,
		.port = port,
		.vid = report->vid,
		.mbuf = m,
	};

	channel_send(&worker->channel, &message);
}

enum { REPORTS_AT_ONCE = 256 };

void reports_own_mac(const char *switch_name, uint8_t out[6])
{
	store_be48(out, hash_text(switch_name));
	out[0] = 2; // locally administered, one host
}

// Answers to our own questions end here; everything else goes on as it was sent.
static bool is_for_us(const struct instance *in, const struct rte_mbuf *m)
{
	uint8_t own[6];

	reports_own_mac(in->config->sw.name, own);
	return memcmp(rte_pktmbuf_mtod(m, const uint8_t *), own, sizeof(own)) == 0;
}

static void handle_punt(struct worker *worker, const struct message *report,
			struct report_stats *stats)
{
	const struct pkt *p = pkt_of_mbuf(report->mbuf);

	stats->punted++;
	if (p->l3 == PKT_L3_LLDP) {
		stats->lldp++;
		rte_pktmbuf_free(report->mbuf);
		return;
	}
	set_mac(worker, report, load_be48(p->data + 6));
	if (is_for_us(report->instance, report->mbuf))
		rte_pktmbuf_free(report->mbuf);
	else
		inject(worker, report, report->mbuf, report->port);
}

static void handle_solicit(struct worker *worker, const struct message *report,
			   struct report_stats *stats)
{
	const uint8_t *address = report->target.address;
	const uint8_t *ipv4 = report->target.ipv6 ? neighbor_mapped_ipv4(address) : address;
	struct rte_mbuf *m = rte_pktmbuf_alloc(report->instance->pools->control);
	uint8_t frame[NEIGHBOR_FRAME_MAX];
	uint8_t own[6];
	uint32_t len;

	if (m == NULL)
		return;
	reports_own_mac(report->instance->config->sw.name, own);
	len = ipv4 != NULL ? neighbor_arp_probe(own, ipv4, frame) :
			     neighbor_solicitation(own, address, frame);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	stats->solicited++;
	inject(worker, report, m, PORT_NONE);
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

static void handle(struct worker *worker, const struct message *report, struct report_stats *stats)
{
	switch (report->kind) {
	case MESSAGE_PUNT: handle_punt(worker, report, stats); break;
	case MESSAGE_LEARN:
		stats->learned++;
		set_mac(worker, report, report->mac);
		break;
	case MESSAGE_SOLICIT: handle_solicit(worker, report, stats); break;
	case MESSAGE_STORM: handle_storm(report); break;
	case MESSAGE_LINK:
	case MESSAGE_PROFILE:
	case MESSAGE_MAC_SET:
	case MESSAGE_MAC_DELETE:
	case MESSAGE_MAC_AGE:
	case MESSAGE_MAC_LIST:
	case MESSAGE_ACL_LIST:
	case MESSAGE_INJECT:
	case MESSAGE_RX_LOST:
	case MESSAGE_SNAPSHOT:
	case MESSAGE_CLEAR_WATERMARKS:
	case MESSAGE_LCORE_STATS:
	case MESSAGE_CLEAR_GAP:
	case MESSAGE_FORCE_STORM:
	case MESSAGE_BIG_RED:
	case MESSAGE_STOP: break; // of the other direction
	}
}

void reports_handle(struct worker *worker, struct report_stats *stats)
{
	struct message report;

	channel_awake(&worker->channel);
	for (uint32_t n = 0; n < REPORTS_AT_ONCE; n++) {
		if (!channel_read(&worker->channel, &report))
			return;
		handle(worker, &report, stats);
	}
	// Timers and requests have their turn before the rest.
	channel_rewake(&worker->channel);
}
