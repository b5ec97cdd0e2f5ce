// SPDX-License-Identifier: BSD-3-Clause
//
// Nothing of what is said is kept but the frame that says it: each second it is made anew from the
// configuration and profile as they are, so whatever changes them needs no word to this file. Only
// compare() replaces it, so that no change is sent before neighbours are judged by it.

#include "dataplane/lldp.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/dcbx_words.h"
#include "dataplane/lldp_local.h"
#include "sys/log.h"

enum {
	RECEIVE_MAX = 9600,
	LINES_MAX =
		32, // in the log, of one port and minute: a peer decides how much there is to say
	LINES_SECONDS = 60,
};
static_assert((int)DCBX_TOPIC_COUNT <= (int)LLDP_NOTES, "a note for each topic");

struct lldp_link {
	struct lldp_port port;
	struct port_stats stats; // LLDP_*; the other rows are 0
	uint32_t lines;          // logged in this minute
	uint32_t len;            // of the frame that is sent
	uint8_t frame[LLDP_FRAME_MAX];
};

struct lldp {
	struct workers *workers;
	struct instance *in;
	uint32_t heard; // neighbours so far
	uint32_t seconds;
	struct lldp_link link[CONFIG_PORT_MAX];
};

struct lldp *lldp_open(struct workers *workers, struct instance *in)
{
	struct lldp *lldp = calloc(1, sizeof(*lldp));

	if (lldp == NULL) {
		log_err("%s: no memory for LLDP", in->config->sw.name);
		return NULL;
	}
	lldp->workers = workers;
	lldp->in = in;
	return lldp;
}

ns_t lldp_now(const struct lldp *lldp)
{
	return clock_now(&lldp->workers->worker[0].clock);
}

const struct lldp_port *lldp_port_of(const struct lldp *lldp, port_t port)
{
	return &lldp->link[port.v].port;
}

struct lldp_profile lldp_profile_of(const struct lldp *lldp, port_t port)
{
	const struct switch_config *sw = &lldp->in->config->sw;
	const uint64_t mode = sw->lldp ? lldp->in->config->port[port.v].lldp : CONFIG_LLDP_OFF;

	return (struct lldp_profile){
		.interval_ns = sw->lldp_interval,
		.send = mode == CONFIG_LLDP_ON || mode == CONFIG_LLDP_TX,
		.receive = mode == CONFIG_LLDP_ON || mode == CONFIG_LLDP_RX,
	};
}

void lldp_ours(const struct lldp *lldp, port_t port, struct lldp_info *out)
{
	const struct lldp_profile pf = lldp_profile_of(lldp, port);

	lldp_local(lldp->in->config, lldp->in->profile, port, lldp_ttl(&pf), out);
}

void lldp_name(const struct lldp_info *info, char out[LLDP_WORDS_BYTES])
{
	if (lldp_text_words(&info->system_name, out) == 0)
		lldp_chassis_words(&info->chassis, out);
}

static uint32_t make(const struct lldp *lldp, port_t port, const struct lldp_info *info,
		     uint8_t out[LLDP_FRAME_MAX])
{
	return lldp_encode(info, lldp->in->port[port.v].mac, out);
}

static void send_frame(struct lldp *lldp, port_t port, const uint8_t *frame, uint32_t len)
{
	struct message message = {
		.kind = MESSAGE_FRAME,
		.instance = lldp->in,
		.port = port,
		.mbuf = rte_pktmbuf_alloc(lldp->in->pools->control),
	};

	if (message.mbuf == NULL)
		return; // the next one comes soon enough
	memcpy(rte_pktmbuf_append(message.mbuf, (uint16_t)len), frame, len);
	workers_send(lldp->workers, &message);
}

static void say_goodbye(struct lldp *lldp, port_t port)
{
	uint8_t frame[LLDP_FRAME_MAX];
	struct lldp_info info;
	uint32_t len;

	lldp_ours(lldp, port, &info);
	info.ttl_seconds = 0;
	len = make(lldp, port, &info, frame);
	send_frame(lldp, port, frame, len);
}

static bool may_log(struct lldp *lldp, port_t port)
{
	struct lldp_link *link = &lldp->link[port.v];

	if (link->lines < LINES_MAX && ++link->lines == LINES_MAX)
		log_warn("%s: %s: neighbours change too often over LLDP to log it all",
			 lldp->in->config->sw.name, lldp->in->config->port[port.v].name);
	return link->lines < LINES_MAX;
}

static void log_neighbor(struct lldp *lldp, port_t port, const struct lldp_info *info,
			 const char *what)
{
	char name[LLDP_WORDS_BYTES];
	char at[LLDP_WORDS_BYTES];

	if (!may_log(lldp, port))
		return;
	lldp_name(info, name);
	lldp_port_words(&info->port, at);
	log_info("%s: %s: LLDP neighbour %s, port %s, %s", lldp->in->config->sw.name,
		 lldp->in->config->port[port.v].name, name, at, what);
}

// False when there are too many lines already.
static bool log_topic(struct lldp *lldp, port_t port, enum dcbx_topic topic, const char *words)
{
	const char *name = lldp->in->config->sw.name;
	const char *at = lldp->in->config->port[port.v].name;

	if (!may_log(lldp, port))
		return false;
	switch (topic) {
	case DCBX_PFC:
	case DCBX_ROCE: log_warn("%s: %s: %s", name, at, words); break;
	case DCBX_CLASSES:
	case DCBX_SHARES: log_info("%s: %s: %s", name, at, words); break;
	case DCBX_TOPIC_COUNT: break;
	}
	return true;
}

// Logs the words unless they are those of last time. Returns those in the log, as one number.
static uint64_t log_difference(struct lldp *lldp, port_t port, const struct lldp_info *ours,
			       const struct lldp_neighbor *neighbor, enum dcbx_topic topic)
{
	char words[DCBX_WORDS_BYTES];
	char name[LLDP_WORDS_BYTES];
	uint64_t said;

	lldp_name(&neighbor->info, name);
	dcbx_words(&ours->dcbx, &neighbor->info.dcbx, name, topic, words);
	said = hash_text(words);
	if (said != neighbor->note[topic] && !log_topic(lldp, port, topic, words))
		return neighbor->note[topic];
	return said;
}

// Says how a neighbour differs, once for each way, and once that it no longer does.
static void judge(struct lldp *lldp, port_t port, const struct lldp_info *ours,
		  struct lldp_neighbor *neighbor)
{
	const uint8_t found = dcbx_differences(&ours->dcbx, &neighbor->info.dcbx);
	char name[LLDP_WORDS_BYTES];
	bool differed = false;

	for (uint32_t i = 0; i < DCBX_TOPIC_COUNT; i++) {
		differed |= neighbor->note[i] != 0;
		if (found >> i & 1)
			neighbor->note[i] = log_difference(lldp, port, ours, neighbor,
							   (enum dcbx_topic)i);
		else if (found != 0)
			neighbor->note[i] = 0;
	}
	if (found != 0 || !differed || !may_log(lldp, port))
		return;
	memset(neighbor->note, 0, sizeof(neighbor->note));
	lldp_name(&neighbor->info, name);
	log_info("%s: %s: peer %s agrees on PFC and classes now", lldp->in->config->sw.name,
		 lldp->in->config->port[port.v].name, name);
}

void lldp_heard(struct lldp *lldp, port_t port, const struct rte_mbuf *frame, uint32_t at)
{
	uint8_t memory[RECEIVE_MAX];
	const uint32_t len = rte_pktmbuf_pkt_len(frame);
	struct lldp_link *link;
	struct lldp_profile pf;
	const uint8_t *bytes;
	struct lldp_info info, ours;
	uint32_t place;

	if (lldp == NULL || port.v >= lldp->in->port_count || len > RECEIVE_MAX)
		return;
	bytes = rte_pktmbuf_read(frame, 0, len, memory);
	pf = lldp_profile_of(lldp, port);
	if (bytes == NULL || !pf.receive || load_be48(bytes) != NEAREST_BRIDGE_ADDRESS)
		return;
	link = &lldp->link[port.v];
	link->stats.lldp_rx_pkts++;
	if (!lldp_decode(bytes, len, at, &info)) {
		link->stats.lldp_rx_discarded_pkts++;
		return;
	}
	link->stats.lldp_rx_discarded_tlvs += info.discarded;
	link->stats.lldp_rx_unknown_tlvs += info.unknown;
	switch (lldp_port_heard(&pf, &link->port, &info, lldp->heard + 1, lldp_now(lldp), &place)) {
	case LLDP_NEW:
		lldp->heard++;
		log_neighbor(lldp, port, &info, "is there");
		break;
	case LLDP_CHANGED: break;
	case LLDP_LEFT:
		log_neighbor(lldp, port, &link->port.neighbor[place].info, "has left");
		return;
	case LLDP_NO_ROOM: link->stats.lldp_refused_pkts++; return;
	case LLDP_SAME: return;
	}
	lldp_ours(lldp, port, &ours);
	judge(lldp, port, &ours, &link->port.neighbor[place]);
}

static void poll_link(struct lldp *lldp, port_t port, ns_t now)
{
	const struct lldp_profile pf = lldp_profile_of(lldp, port);
	struct lldp_link *link = &lldp->link[port.v];
	const bool was_up = link->port.up;
	struct lldp_info info;

	if (!pf.send && lldp_port_ends(&link->port))
		say_goodbye(lldp, port);
	lldp_port_link(&link->port, lldp->in->io[port.v].active && (pf.send || pf.receive), now);
	if (link->port.up && !was_up) {
		lldp_ours(lldp, port, &info);
		link->len = make(lldp, port, &info, link->frame);
	}
	if (!lldp_port_due(&pf, &link->port, now))
		return;
	link->stats.lldp_tx_pkts++;
	send_frame(lldp, port, link->frame, link->len);
}

void lldp_poll(struct lldp *lldp)
{
	const ns_t now = lldp_now(lldp);

	for (uint16_t i = 0; i < lldp->in->port_count; i++)
		poll_link(lldp, (port_t){ i }, now);
}

// What is said may have changed, and with it how neighbours differ. `again`: not all of it could be
// logged.
static void compare(struct lldp *lldp, port_t port, bool again)
{
	struct lldp_link *link = &lldp->link[port.v];
	uint8_t frame[LLDP_FRAME_MAX];
	struct lldp_info info;
	uint32_t len;

	lldp_ours(lldp, port, &info);
	len = make(lldp, port, &info, frame);
	if (len != link->len || memcmp(frame, link->frame, len) != 0) {
		memcpy(link->frame, frame, len);
		link->len = len;
		lldp_port_changed(&link->port);
	} else if (!again) {
		return;
	}
	for (uint32_t i = 0; i < link->port.neighbor_count; i++)
		judge(lldp, port, &info, &link->port.neighbor[i]);
}

void lldp_second(struct lldp *lldp)
{
	const ns_t now = lldp_now(lldp);
	struct lldp_neighbor gone;

	lldp->seconds++;
	for (uint16_t i = 0; i < lldp->in->port_count; i++) {
		struct lldp_port *port = &lldp->link[i].port;
		bool again = false;

		if (lldp->seconds % LINES_SECONDS == 0) {
			again = lldp->link[i].lines == LINES_MAX;
			lldp->link[i].lines = 0;
		}
		while (lldp_port_expire(port, now, &gone)) {
			lldp->link[i].stats.lldp_ageouts++;
			log_neighbor(lldp, (port_t){ i }, &gone.info, "is silent and forgotten");
		}
		if (port->up)
			compare(lldp, (port_t){ i }, again);
	}
}

static void add_rows(const struct port_stats *ours, struct port_stats *out)
{
	const struct stat_table *table = &stat_tables[STAT_PORT];

	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t at = table->rows[i].offset;

		*(uint64_t *)((uint8_t *)out + at) +=
			*(const uint64_t *)((const uint8_t *)ours + at);
	}
}

void lldp_count(const struct lldp *lldp, struct snapshot *snapshot)
{
	for (uint16_t i = 0; lldp != NULL && i < lldp->in->port_count; i++)
		add_rows(&lldp->link[i].stats, &snapshot->port[i].stats);
}

void lldp_close(struct lldp *lldp)
{
	for (uint16_t i = 0; lldp != NULL && i < lldp->in->port_count; i++) {
		if (lldp_port_ends(&lldp->link[i].port))
			say_goodbye(lldp, (port_t){ i });
	}
	free(lldp);
}
