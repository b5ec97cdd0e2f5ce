// SPDX-License-Identifier: BSD-3-Clause
//
// The control thread is the only writer of a switch's tables. After changes one message goes to
// every lcore and back: each lcore passes between two polls on the way, so none of them looks at
// what was replaced any more (tables_quiesce()), and each routes the packets that it holds anew.
// What is gone twice over is free, so a change is followed by two such rounds.

#include "dataplane/routes.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "sys/log.h"

enum {
	ROUNDS = 2,             // until rows that were replaced are free
	ASKED_PER_SECOND = 256, // next hops, the rest has its turn in the next second
};

struct routes {
	struct workers *workers;
	struct instance *in;
	uint64_t generation; // of the tables, as of the last round
	uint32_t rounds;     // that are still to be made
	bool retry;          // packets may wait for what was heard
	bool made_room;      // in this second
	bool full;           // a neighbour found no room, which has been said
	uint32_t echoes;     // that may be answered in this second
	uint32_t ask_at;     // next hop to go on with
	struct icmp_sender icmp;
	struct neighbor_keeper keeper;
};

struct routes *routes_open(struct workers *workers, struct instance *in)
{
	struct routes *routes = calloc(1, sizeof(*routes));

	if (routes == NULL || neighbor_keeper_open(&routes->keeper, routes, in->config) != 0) {
		free(routes);
		log_err("%s: no memory for its routes", in->config->sw.name);
		return NULL;
	}
	routes->workers = workers;
	routes->in = in;
	routes->echoes = ROUTES_ECHOES;
	icmp_sender_init(&routes->icmp, in->config);
	return routes;
}

void routes_close(struct routes *routes)
{
	if (routes != NULL)
		neighbor_keeper_close(&routes->keeper);
	free(routes);
}

static ns_t now(const struct routes *routes)
{
	return clock_now(&routes->workers->worker[0].clock);
}

void routes_follow(struct routes *routes)
{
	const struct icmp_sender before = routes->icmp;

	routes->generation = routes->in->tables->generation;
	routes->rounds = 0;
	routes->full = false;
	routes->ask_at = 0;
	icmp_sender_init(&routes->icmp, routes->in->config);
	routes->icmp.sent = before.sent;
	routes->icmp.policed = before.policed;
	neighbor_keeper_follow(&routes->keeper, routes->in->config, now(routes));
	routes->retry = true;
	routes_settle(routes);
}

struct neighbor_view routes_view(const struct instance *in)
{
	return (struct neighbor_view){ in->config, in->profile, in->tables };
}

// Every lcore of the switch routes what it holds once more; when this returns, each has passed
// between two polls.
static void pass_lcores(struct routes *routes)
{
	struct message message = { .kind = MESSAGE_RETRY_HELD, .instance = routes->in };

	workers_call(routes->workers, &message);
}

static void make_round(struct routes *routes)
{
	pass_lcores(routes);
	tables_quiesce(routes->in->tables);
	routes->retry = false;
	routes->rounds -= routes->rounds > 0;
}

void routes_settle(struct routes *routes)
{
	if (routes == NULL)
		return;
	if (routes->generation != routes->in->tables->generation)
		routes->rounds = ROUNDS;
	routes->generation = routes->in->tables->generation;
	if (routes->retry || routes->rounds > 0)
		make_round(routes);
}

// Frees what waits for lcores only. Once a second is enough: rows come back with other rounds, too,
// and neighbours that find a full table must not keep every lcore busy.
static bool make_room(struct routes *routes)
{
	if (routes->made_room)
		return false;
	routes->made_room = true;
	for (uint32_t i = 0; i < ROUNDS; i++)
		make_round(routes);
	return true;
}

int routes_neighbor_found(struct routes *routes, const struct ip_prefix *address, uint16_t vid,
			  uint64_t mac)
{
	const struct instance *in = routes->in;
	const uint64_t before = in->tables->generation;
	int rc = tables_neighbor_set(in->tables, address, vid, mac);

	if (rc != 0 && make_room(routes))
		rc = tables_neighbor_set(in->tables, address, vid, mac);
	if (rc == 0) // what is known already takes no row
		routes->full &= in->tables->generation == before;
	else
		routes_neighbor_refused(routes, address);
	return rc;
}

void routes_neighbor_refused(struct routes *routes, const struct ip_prefix *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (routes->full)
		return;
	routes->full = true;
	inet_ntop(address->family == IP_V6 ? AF_INET6 : AF_INET, address->address, text,
		  sizeof(text));
	log_warn("%s: no room for neighbour %s: all are in use, see neighbor_count",
		 routes->in->config->sw.name, text);
}

void routes_neighbor_gone(struct routes *routes, const struct ip_prefix *address)
{
	tables_neighbor_delete(routes->in->tables, address);
}

// `mac` 0 and PORT_NONE: it is gone.
static void set_next_hop(struct routes *routes, uint32_t at, port_t port, uint64_t mac)
{
	struct instance *in = routes->in;
	int rc = tables_next_hop_set(in->tables, at, port, mac);

	if (rc != 0) { // the group has just changed
		make_round(routes);
		rc = tables_next_hop_set(in->tables, at, port, mac);
	}
	if (rc != 0)
		log_warn("%s: next hop %u of group %s: %s", in->config->sw.name, at,
			 in->config->next_hop[at].group, strerror(-rc));
}

static void find_next_hop(struct routes *routes, uint32_t at, port_t port, uint64_t mac)
{
	const struct instance *in = routes->in;

	set_next_hop(routes, at, in->profile->port[port.v].logical,
		     neighbor_next_hop_mac(in->config, at, mac));
}

void routes_next_hop_found(struct routes *routes, const struct neighbor_key *key, port_t port,
			   uint64_t mac)
{
	const struct neighbor_view view = routes_view(routes->in);

	for (uint32_t i = 0; i < view.config->next_hop_count; i++) {
		if (neighbor_is_followed(&view, i, key))
			find_next_hop(routes, i, port, mac);
	}
}

void routes_next_hop_gone(struct routes *routes, const struct neighbor_key *key)
{
	const struct neighbor_view view = routes_view(routes->in);

	for (uint32_t i = 0; i < view.config->next_hop_count; i++) {
		if (neighbor_is_followed(&view, i, key))
			set_next_hop(routes, i, PORT_NONE, 0);
	}
}

void routes_heard(struct routes *routes, const struct neighbor_message *message, port_t port,
		  uint16_t vid)
{
	if (routes == NULL || message->sender.family == IP_NONE)
		return;
	routes->retry = true;
	neighbor_keeper_hear(&routes->keeper, message, port, vid, now(routes));
}

void routes_want(struct routes *routes, const struct ip_prefix *address, uint16_t vid)
{
	const bool nobody = address->family == IP_V4 &&
			    neighbor_is_broadcast(routes->in->config, address->address);

	if (!nobody)
		neighbor_keeper_want(&routes->keeper, address, vid, now(routes));
}

void routes_tick(struct routes *routes)
{
	if (routes == NULL)
		return;
	neighbor_keeper_tick(&routes->keeper, now(routes));
	routes_settle(routes);
}

const struct neighbor_table *routes_neighbors(const struct routes *routes)
{
	return routes == NULL ? NULL : &routes->keeper.table;
}

struct instance *routes_instance(const struct routes *routes)
{
	return routes->in;
}

// LAGs count as the port that stands for them.
static struct port_set ports_up(const struct instance *in)
{
	struct port_set up = { 0 };

	for (uint16_t i = 0; i < in->port_count; i++) {
		if (sw_link_reachable(in->sw, (port_t){ i }))
			port_set_add(&up, (port_t){ i });
	}
	return up;
}

void routes_learned(struct routes *routes, uint64_t mac, uint16_t vid, port_t port)
{
	struct neighbor_view view;

	if (routes == NULL)
		return;
	view = routes_view(routes->in);
	routes->retry = true;
	for (uint32_t i = 0; i < view.config->next_hop_count; i++) {
		if (view.tables->next_hop[i].mac == mac &&
		    neighbor_is_next_hop(&view, i, &view.config->next_hop[i].address, vid, port))
			find_next_hop(routes, i, port, mac);
	}
}

// In managed mode nothing is flooded, questions neither.
static void ask_next_hop(struct routes *routes, uint32_t at, const struct port_set *up)
{
	struct instance *in = routes->in;
	const struct neighbor_view view = routes_view(in);
	const struct neighbor_question question = neighbor_next_hop_question(&view, at);
	uint8_t frame[NEIGHBOR_FRAME_MAX];
	const bool everywhere = question.port.v == PORT_NONE.v;

	if (question.vid == 0 || (everywhere && view.pf->managed) ||
	    (!everywhere && !port_set_has(up, question.port)))
		return;
	routes_ask(routes, question.port, question.vid, frame,
		   neighbor_ask(view.pf->router_mac, question.sender,
				&view.config->next_hop[at].address, 0, frame));
}

void routes_second(struct routes *routes)
{
	struct neighbor_view view;
	struct port_set up;
	uint32_t asked = 0;

	if (routes == NULL)
		return;
	routes->echoes = ROUTES_ECHOES;
	routes->made_room = false;
	view = routes_view(routes->in);
	up = ports_up(routes->in);
	for (uint32_t i = 0; i < view.config->next_hop_count && asked < ASKED_PER_SECOND; i++) {
		const uint32_t at = (routes->ask_at + i) % view.config->next_hop_count;

		if (neighbor_is_resolved(&view, at, &up))
			continue;
		ask_next_hop(routes, at, &up);
		if (++asked == ASKED_PER_SECOND)
			routes->ask_at = at + 1;
	}
	routes_settle(routes);
}

bool routes_may_echo(struct routes *routes)
{
	if (routes == NULL || routes->echoes == 0)
		return false;
	routes->echoes--;
	return true;
}

void routes_count(const struct routes *routes, struct switch_stats *stats)
{
	if (routes == NULL)
		return;
	stats->icmp_sent += routes->icmp.sent;
	stats->icmp_policed += routes->icmp.policed;
	stats->neighbors = routes->keeper.table.known - routes->keeper.table.hops;
	stats->neighbors_wanted = routes->keeper.table.wanted;
	stats->neighbor_probes += routes->keeper.probes;
	stats->neighbor_dead += routes->keeper.dead;
	stats->neighbor_doubted += routes->keeper.doubted;
	stats->neighbor_refused += routes->keeper.refused;
	stats->solicit_policed += routes->keeper.unasked;
}

struct icmp_sender *routes_icmp(struct routes *routes)
{
	return routes == NULL ? NULL : &routes->icmp;
}

void routes_ask(struct routes *routes, port_t port, uint16_t vid, const uint8_t *frame,
		uint32_t len)
{
	routes_send(routes->workers, routes->in, port, vid, frame, len);
}

void routes_send(struct workers *workers, struct instance *in, port_t port, uint16_t vid,
		 const uint8_t *frame, uint32_t len)
{
	struct message message = {
		.kind = port.v == PORT_NONE.v ? MESSAGE_INJECT : MESSAGE_SEND,
		.instance = in,
		.port = port,
		.vid = vid,
		.mbuf = rte_pktmbuf_alloc(in->pools->control),
	};

	if (message.mbuf == NULL)
		return;
	memcpy(rte_pktmbuf_append(message.mbuf, (uint16_t)len), frame, len);
	workers_send(workers, &message);
}
