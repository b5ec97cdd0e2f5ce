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
				   rng_next64(&keeper->dice));
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

// To all of the VLAN, or to where the neighbour was.
static void ask(struct neighbor_keeper *keeper, struct neighbor_row *row, bool all, ns_t now)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));
	const struct interface_config *interface = neighbor_interface(view.config, row->vid,
								      &row->address);
	const uint64_t to = all ? 0 : row->n.mac;
	uint8_t frame[NEIGHBOR_FRAME_MAX];

	row->n.unnamed = interface == NULL;
	if (all && !may_ask(keeper, now))
		return;
	// In managed mode the bridge knows nobody.
	routes_ask(keeper->routes, view.pf->managed ? row->port : PORT_NONE, row->vid, frame,
		   neighbor_ask(view.pf->router_mac, interface != NULL ? &interface->address : NULL,
				&row->address, to, frame));
}

void neighbor_keeper_want(struct neighbor_keeper *keeper, const struct ip_prefix *address,
			  uint16_t vid, ns_t now)
{
	struct neighbor_row *row = neighbor_table_find(&keeper->table, address);

	if (row == NULL) {
		row = neighbor_table_want(&keeper->table, address, vid);
		neighbor_start(&keeper->times, &row->n, now);
		ask(keeper, row, true, now);
	} else if (neighbor_want(&keeper->times, &row->n, now) == NEIGHBOR_ASK_ALL) {
		ask(keeper, row, true, now);
	}
}

// --- hearing ----------------------------------------------------------------------------------

static bool is_next_hop(const struct neighbor_view *view, const struct ip_prefix *address,
			uint16_t vid, port_t port)
{
	for (uint32_t i = 0; i < view->config->next_hop_count; i++) {
		if (neighbor_is_next_hop(view, i, address, vid, port))
			return true;
	}
	return false;
}

// A row for an address that is to be known. NULL: there is no room.
static struct neighbor_row *know(struct neighbor_keeper *keeper, const struct ip_prefix *address,
				 uint16_t vid)
{
	struct neighbor_row *row = neighbor_table_find(&keeper->table, address);
	struct ip_prefix evicted;

	if (row != NULL && neighbor_is_known(&row->n))
		return row;
	row = neighbor_table_know(&keeper->table, address, vid, &evicted);
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
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));

	row->vid = vid;
	row->port = port;
	row->next_hop = is_next_hop(&view, &row->address, vid, port);
	if (is_neighbor(&view, &row->address, vid) &&
	    routes_neighbor_found(keeper->routes, &row->address, vid, row->n.mac) != 0 &&
	    !row->next_hop) {
		keeper->refused++;
		neighbor_table_remove(&keeper->table, row);
		return;
	}
	if (row->next_hop)
		routes_next_hop_found(keeper->routes, &row->address, vid, port, row->n.mac);
}

void neighbor_keeper_hear(struct neighbor_keeper *keeper, const struct neighbor_message *message,
			  port_t port, uint16_t vid, ns_t now)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));
	const struct neighbor_claim claim = { message->mac, message->solicited, message->override,
					      message->to_all };
	struct neighbor_row *row;

	if (!is_neighbor(&view, &message->sender, vid) &&
	    !is_next_hop(&view, &message->sender, vid, port))
		return;
	row = know(keeper, &message->sender, vid);
	if (row == NULL) {
		keeper->refused++;
		routes_neighbor_refused(keeper->routes, &message->sender);
		return;
	}
	if (neighbor_hear(&keeper->times, &row->n, &claim, rng_next32(&keeper->dice), now) ==
	    NEIGHBOR_DOUBTED)
		keeper->doubted++;
	else
		believe(keeper, row, port, vid);
}

// --- another configuration --------------------------------------------------------------------

// Whether a neighbour is one of the configuration in use, too.
static bool stays(struct neighbor_keeper *keeper, struct neighbor_row *row)
{
	const struct neighbor_view view = routes_view(routes_instance(keeper->routes));

	if (!neighbor_is_known(&row->n))
		return is_neighbor(&view, &row->address, row->vid);
	row->next_hop = is_next_hop(&view, &row->address, row->vid, row->port);
	return row->next_hop || (is_neighbor(&view, &row->address, row->vid) &&
				 tables_has_neighbor(view.tables, &row->address));
}

// Room for another number of neighbours. Without memory for it the old one stays.
static void resize(struct neighbor_keeper *keeper, uint32_t limit)
{
	struct neighbor_table old = keeper->table;
	struct ip_prefix evicted;

	if (neighbor_table_open(&keeper->table, limit, rng_next64(&keeper->dice)) != 0) {
		keeper->table = old;
		return;
	}
	for (uint32_t i = NEIGHBOR_WANTED_MAX; i < old.count; i++) {
		const struct neighbor_row *from = &old.row[i];
		struct neighbor_row *row;

		if (from->address.family == IP_NONE)
			continue;
		row = neighbor_table_know(&keeper->table, &from->address, from->vid, &evicted);
		if (evicted.family != IP_NONE)
			routes_neighbor_gone(keeper->routes, &evicted);
		if (row == NULL) {
			routes_neighbor_gone(keeper->routes, &from->address);
			continue;
		}
		row->n = from->n;
		row->port = from->port;
		row->next_hop = from->next_hop;
	}
	neighbor_table_close(&old);
}

void neighbor_keeper_follow(struct neighbor_keeper *keeper, const struct sw_config *config)
{
	const uint32_t limit = (uint32_t)config->sw.neighbor_count;

	keeper->times = times_of(&config->sw);
	for (uint32_t i = 0; i < keeper->table.count; i++) {
		struct neighbor_row *row = &keeper->table.row[i];

		if (row->address.family != IP_NONE && !stays(keeper, row))
			neighbor_table_remove(&keeper->table, row);
	}
	if (keeper->table.count != NEIGHBOR_WANTED_MAX + limit)
		resize(keeper, limit);
}

// --- time -------------------------------------------------------------------------------------

static void forget(struct neighbor_keeper *keeper, struct neighbor_row *row)
{
	routes_neighbor_gone(keeper->routes, &row->address);
	if (row->next_hop)
		routes_next_hop_gone(keeper->routes, &row->address);
	neighbor_table_remove(&keeper->table, row);
}

static void visit(struct neighbor_keeper *keeper, struct neighbor_row *row, ns_t now)
{
	struct sw_tables *t = routes_instance(keeper->routes)->tables;
	const bool used = neighbor_is_known(&row->n) &&
			  (tables_neighbor_used(t, &row->address) || row->next_hop);

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
