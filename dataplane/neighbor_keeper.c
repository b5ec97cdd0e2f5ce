// SPDX-License-Identifier: BSD-3-Clause
//
// What the rules of neighbor_rules.h believe goes through a neighbour's state machine first, and
// from there into the tables. Everything is bounded: rows by neighbor_count, unknown addresses by
// NEIGHBOR_WANTED_MAX, questions by a bucket, and the rows that one call looks at.

#include "dataplane/neighbor_keeper.h"

#include <sys/random.h>

#include "dataplane/routes.h"

enum {
	TICKS_PER_SECOND = 20, // of the caller
	PROBES_MAX = 100,      // of one tick: who has no turn stays as it is until the next
	ASKS_PER_SECOND = 500,
	ASKS_AT_ONCE = 100,
};

static const struct pacer_profile asks_profile = {
	.bps = 8ull * ASKS_PER_SECOND,
	.burst_ns = ASKS_AT_ONCE * 1000000000ull / ASKS_PER_SECOND,
};

static struct neighbor_times times_of(const struct switch_config *sw)
{
	return (struct neighbor_times){
		.reachable_ns = sw->neighbor_reachable_time,
		.stale_ns = sw->neighbor_stale_time,
		.probe_ns = sw->neighbor_probe_interval,
		.solicit_ns = sw->solicit_time,
		.probe_count = (uint32_t)sw->neighbor_probe_count,
	};
}

int neighbor_keeper_open(struct neighbor_keeper *keeper, struct routes *routes,
			 const struct sw_config *config)
{
	const struct switch_config *sw = &config->sw;
	uint64_t key = sw->seed;

	*keeper = (struct neighbor_keeper){
		.routes = routes,
		.times = times_of(sw),
	};
	// Without a secret others could choose which addresses share a chain.
	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		key = sw->seed;
	rng_seed(&keeper->dice, key);
	return neighbor_table_open(&keeper->table, (uint32_t)sw->neighbor_count,
				   config->next_hop_count, rng_next64(&keeper->dice));
}

void neighbor_keeper_close(struct neighbor_keeper *keeper)
{
	neighbor_table_close(&keeper->table);
}

// --- asking -----------------------------------------------------------------------------------

// Questions to all reach every host of a VLAN.
static bool may_ask(struct neighbor_keeper *keeper, ns_t now)
{
	if (!pacer_ready(&keeper->asks, now)) {
		keeper->unasked++;
		return false;
	}
	pacer_charge(&asks_profile, &keeper->asks, 1, now);
	return true;
}

// To all of the VLAN, or to where the neighbour was. A next hop is asked where its packets go.
static void ask(struct neighbor_keeper *keeper, struct neighbor_row *row, bool all, ns_t now)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));
	const struct interface_config *interface = neighbor_interface(view.config, row->vid,
								      &row->key.address);
	const uint64_t to = all ? 0 : row->n.mac;
	port_t port = row->key.port;
	uint8_t frame[NEIGHBOR_FRAME_MAX];

	row->n.unnamed = interface == NULL;
	if (all && !may_ask(keeper, now))
		return;
	if (port.v == PORT_NONE.v && view.pf->managed) // the bridge knows nobody
		port = row->port;
	routes_ask(keeper->routes, port, row->vid, frame,
		   neighbor_ask(view.pf->router_mac, interface != NULL ? &interface->address : NULL,
				&row->key.address, to, frame));
}

void neighbor_keeper_want(struct neighbor_keeper *keeper, const struct ip_prefix *address,
			  uint16_t vid, ns_t now)
{
	const struct neighbor_key key = neighbor_host_key(address);
	struct neighbor_row *row = neighbor_table_find(&keeper->table, &key);

	if (row == NULL) {
		row = neighbor_table_want(&keeper->table, address, vid);
		neighbor_start(&keeper->times, &row->n, now);
		ask(keeper, row, true, now);
	} else if (neighbor_want(&keeper->times, &row->n, now) == NEIGHBOR_ASK_ALL) {
		ask(keeper, row, true, now);
	}
}

// --- hearing ----------------------------------------------------------------------------------

// A row for one that is to be known. NULL: there is no room.
static struct neighbor_row *know(struct neighbor_keeper *keeper, const struct neighbor_key *key,
				 uint16_t vid)
{
	struct neighbor_row *row = neighbor_table_find(&keeper->table, key);
	struct ip_prefix evicted;

	if (row != NULL && neighbor_is_known(&row->n))
		return row;
	row = neighbor_table_know(&keeper->table, key, vid, &evicted);
	if (evicted.family != IP_NONE)
		routes_neighbor_gone(keeper->routes, &evicted);
	return row;
}

// In the network of an interface of its VLAN, and not of the configuration.
static bool is_neighbor(const struct neighbor_view *view, const struct ip_prefix *address,
			uint16_t vid)
{
	return !view->pf->managed && neighbor_interface(view->config, vid, address) != NULL &&
	       !tables_neighbor_is_static(view->tables, address);
}

static void believe(struct neighbor_keeper *keeper, struct neighbor_row *row, port_t port,
		    uint16_t vid)
{
	row->vid = vid;
	row->port = port;
	if (row->key.next_hop) {
		routes_next_hop_found(keeper->routes, &row->key, port, row->n.mac);
	} else if (routes_neighbor_found(keeper->routes, &row->key.address, vid, row->n.mac) != 0) {
		keeper->refused++;
		neighbor_table_remove(&keeper->table, row);
	}
}

// What a message says of one neighbour. False when it is not believed.
static bool hear(struct neighbor_keeper *keeper, const struct neighbor_key *key,
		 const struct neighbor_message *message, port_t port, uint16_t vid, ns_t now)
{
	const struct neighbor_claim claim = { message->mac, message->solicited, message->override,
					      message->to_all };
	struct neighbor_row *row = know(keeper, key, vid);

	if (row == NULL) {
		keeper->refused++;
		routes_neighbor_refused(keeper->routes, &key->address);
		return true;
	}
	if (neighbor_hear(&keeper->times, &row->n, &claim, rng_next32(&keeper->dice), now) ==
	    NEIGHBOR_DOUBTED)
		return false;
	believe(keeper, row, port, vid);
	return true;
}

// A router may be a host of the switch and several next hops.
void neighbor_keeper_hear(struct neighbor_keeper *keeper, const struct neighbor_message *message,
			  port_t port, uint16_t vid, ns_t now)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));
	const struct neighbor_key host = neighbor_host_key(&message->sender);
	struct neighbor_key hop[NEIGHBOR_HOP_KEYS];
	const uint32_t count = neighbor_next_hop_keys(&view, &message->sender, vid, port, hop);
	bool believed = true;

	if (is_neighbor(&view, &message->sender, vid))
		believed = hear(keeper, &host, message, port, vid, now);
	for (uint32_t i = 0; i < count; i++)
		believed &= hear(keeper, &hop[i], message, port, vid, now);
	keeper->doubted += !believed;
}

// --- another configuration --------------------------------------------------------------------

// Whether next hop `at` has been found, as far as it had to be.
static bool is_found(const struct neighbor_view *view, uint32_t at)
{
	const struct group_member *m = neighbor_member_of(view->tables, at);

	return !m->down && m->port.v < view->pf->port_count;
}

static bool is_followed(const struct neighbor_view *view, const struct neighbor_key *key)
{
	for (uint32_t i = 0; i < view->config->next_hop_count; i++) {
		if (neighbor_is_followed(view, i, key) && is_found(view, i))
			return true;
	}
	return false;
}

// Whether a neighbour is one of the configuration in use, too.
static bool stays(struct neighbor_keeper *keeper, const struct neighbor_row *row)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));

	if (row->key.next_hop)
		return is_followed(&view, &row->key);
	return is_neighbor(&view, &row->key.address, row->vid) &&
	       (!neighbor_is_known(&row->n) || tables_has_neighbor(view.tables, &row->key.address));
}

// Gives up what is sent to a neighbour.
static void withdraw(struct neighbor_keeper *keeper, const struct neighbor_row *row)
{
	if (row->key.next_hop)
		routes_next_hop_gone(keeper->routes, &row->key);
	else
		routes_neighbor_gone(keeper->routes, &row->key.address);
}

// Room for another number of neighbours. Without memory for it the old one stays.
static void resize(struct neighbor_keeper *keeper, uint32_t limit, uint32_t hop_limit)
{
	struct neighbor_table old = keeper->table;

	if (neighbor_table_open(&keeper->table, limit, hop_limit, rng_next64(&keeper->dice)) != 0) {
		keeper->table = old;
		return;
	}
	for (uint32_t i = NEIGHBOR_WANTED_MAX; i < old.count; i++) {
		const struct neighbor_row *from = &old.row[i];
		struct neighbor_row *row;

		if (from->key.address.family == IP_NONE)
			continue;
		row = know(keeper, &from->key, from->vid);
		if (row == NULL) {
			withdraw(keeper, from);
			continue;
		}
		row->n = from->n;
		row->port = from->port;
	}
	neighbor_table_close(&old);
}

// A next hop that was carried to the tables in use under another port or VLAN: it is stale, since
// nobody asked there.
static void adopt(struct neighbor_keeper *keeper, uint32_t at, ns_t now)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));
	const struct neighbor_key key = neighbor_next_hop_key(&view, at);
	const struct neighbor_claim claim = { view.tables->next_hop[at].mac, false, true, false };
	struct neighbor_row *row;

	if (key.address.family == IP_NONE || !is_found(&view, at))
		return;
	row = know(keeper, &key, key.vid);
	if (row == NULL || neighbor_is_known(&row->n))
		return;
	neighbor_hear(&keeper->times, &row->n, &claim, rng_next32(&keeper->dice), now);
	row->port = neighbor_member_of(view.tables, at)->port;
	if (row->vid == 0)
		row->vid = view.pf->port[row->port.v].pvid;
}

void neighbor_keeper_follow(struct neighbor_keeper *keeper, const struct sw_config *config,
			    ns_t now)
{
	const uint32_t limit = (uint32_t)config->sw.neighbor_count;
	const struct neighbor_table *t = &keeper->table;

	keeper->times = times_of(&config->sw);
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->row[i].key.address.family != IP_NONE && !stays(keeper, &t->row[i]))
			neighbor_table_remove(&keeper->table, &t->row[i]);
	}
	if (t->limit != limit || t->hop_limit != config->next_hop_count)
		resize(keeper, limit, config->next_hop_count);
	for (uint32_t i = 0; i < config->next_hop_count; i++)
		adopt(keeper, i, now);
}

// --- time -------------------------------------------------------------------------------------

static void forget(struct neighbor_keeper *keeper, struct neighbor_row *row)
{
	withdraw(keeper, row);
	neighbor_table_remove(&keeper->table, row);
}

static void visit(struct neighbor_keeper *keeper, struct neighbor_row *row, ns_t now)
{
	struct sw_tables *t = routes_instance(keeper->routes)->tables;
	const bool used = neighbor_is_known(&row->n) &&
			  (row->key.next_hop || tables_neighbor_used(t, &row->key.address));

	if (keeper->probes_left == 0 &&
	    (row->n.state == NEIGHBOR_DELAY || row->n.state == NEIGHBOR_PROBE))
		return;
	switch (neighbor_tick(&keeper->times, &row->n, used, now)) {
	case NEIGHBOR_NOTHING: break;
	case NEIGHBOR_ASK_ALL: ask(keeper, row, true, now); break;
	case NEIGHBOR_ASK_IT:
		keeper->probes++;
		keeper->probes_left--;
		ask(keeper, row, false, now);
		break;
	case NEIGHBOR_FORGET: forget(keeper, row); break;
	case NEIGHBOR_DEAD:
		keeper->dead++;
		forget(keeper, row);
		break;
	}
}

void neighbor_keeper_tick(struct neighbor_keeper *keeper, ns_t now)
{
	struct neighbor_turn turn = neighbor_table_turn(&keeper->table, TICKS_PER_SECOND);
	struct neighbor_row *row;

	keeper->probes_left = PROBES_MAX;
	while ((row = neighbor_table_next(&keeper->table, &turn)) != NULL)
		visit(keeper, row, now);
}
