// SPDX-License-Identifier: BSD-3-Clause
//
// The copy of the packet's head becomes the quote where it lies: the headers go in front of it,
// into the room that every mbuf has there.

#include "dataplane/icmp_send.h"

#include <string.h>
#include <sys/random.h>

#include "dataplane/icmp_error.h"
#include "dataplane/neighbor_rules.h"
#include "dataplane/routes.h"

void icmp_sender_init(struct icmp_sender *sender, const struct sw_config *config)
{
	const uint64_t rate = config->sw.icmp_rate != 0 ? config->sw.icmp_rate : 1;
	uint64_t key = config->sw.seed;

	// Without a secret others could choose whom to share a bucket with; no more than that.
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		key = config->sw.seed;
	*sender = (struct icmp_sender){ 0 };
	icmp_limit_init(&sender->limit, rate, config->sw.icmp_source_rate, key);
}

static enum icmp_cause cause_of(enum drop_reason reason)
{
	if (reason == DROP_TTL_EXPIRED)
		return ICMP_NO_HOPS;
	if (reason == DROP_EXCEEDS_L3_MTU)
		return ICMP_TOO_BIG;
	return reason == DROP_NO_ROUTE || reason == DROP_GROUP_DEAD ? ICMP_NO_ROUTE :
								      ICMP_NO_NEIGHBOR;
}

static void send_error(struct workers *workers, const struct message *report,
		       const struct icmp_subject *subject, const struct icmp_error *error)
{
	struct rte_mbuf *m = report->tell.mbuf;
	const struct message message = {
		.kind = MESSAGE_SEND,
		.instance = report->instance,
		.port = report->port,
		.vid = report->vid,
		.mbuf = m,
	};
	char *head;

	rte_pktmbuf_adj(m, (uint16_t)subject->l3_offset);
	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - error->quote_bytes));
	head = rte_pktmbuf_prepend(m, (uint16_t)error->head_bytes);
	if (head == NULL) {
		rte_pktmbuf_free(m);
		return;
	}
	memcpy(head, error->head, error->head_bytes);
	workers_send(workers, &message);
}

// Whether the error may be sent at all, and now; *error is it then.
static bool decide(struct workers *workers, const struct message *report,
		   const struct icmp_subject *subject, struct icmp_error *error)
{
	const struct instance *in = report->instance;
	struct icmp_sender *sender = routes_icmp(in->routes);
	const uint8_t *ip = subject->frame + subject->l3_offset;
	const struct neighbor_view view = routes_view(in);
	const struct ip_prefix *own;
	uint8_t source[16] = { 0 };

	own = neighbor_gateway(&view, report->vid, ip, subject->ipv6);
	if (own == NULL ||
	    (!subject->ipv6 && (neighbor_is_broadcast(in->config, ip + 12) ||
				neighbor_is_broadcast(in->config, ip + 16))) ||
	    !icmp_error_make(subject, in->profile->router_mac, own->address, error))
		return false;
	memcpy(source, ip + (subject->ipv6 ? 8 : 12), subject->ipv6 ? 16 : 4);
	if (!icmp_limit_take(&sender->limit, source, clock_now(&workers->worker[0].clock))) {
		sender->policed++;
		return false;
	}
	sender->sent++;
	return true;
}

void icmp_send(struct workers *workers, const struct message *report)
{
	struct rte_mbuf *m = report->tell.mbuf;
	const struct icmp_subject subject = {
		.frame = rte_pktmbuf_mtod(m, uint8_t *),
		.len = m->data_len,
		.l3_offset = report->tell.l3_offset,
		.ipv6 = report->tell.ipv6,
		.cause = cause_of(report->tell.reason),
		.mtu = report->tell.mtu,
	};
	struct icmp_error error;

	if (report->instance->routes != NULL && decide(workers, report, &subject, &error))
		send_error(workers, report, &subject, &error);
	else
		rte_pktmbuf_free(m);
}
