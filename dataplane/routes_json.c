// SPDX-License-Identifier: BSD-3-Clause
//
// Tables become JSON. A value that cannot be made leaves its member out; the whole is well-formed.
// Names are those of the configuration, addresses are text as inet_ntop() writes it, numbers are in
// base units.

#include "dataplane/routes_json.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/units.h"
#include "dataplane/dpdk/snapshot.h"
#include "dataplane/routes.h"
#include "sys/cfg_address.h"

enum { ROWS_AT_ONCE = 64, TEXT_BYTES = 64, SEED_MAX_BITS = 32 };

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

static void set_mac(json_t *object, uint64_t mac)
{
	char text[MAC_TEXT_BYTES];

	mac_format(mac, text);
	set_text(object, "mac", text);
}

static void set_port(json_t *object, const struct instance *in, port_t port)
{
	if (port.v < in->port_count)
		set_text(object, "port", profile_link_name(in->profile, port));
}

static void address_text(bool ipv6, const uint8_t *address, char out[TEXT_BYTES])
{
	if (inet_ntop(ipv6 ? AF_INET6 : AF_INET, address, out, TEXT_BYTES) == NULL)
		out[0] = '\0';
}

// Calls for every row of the edge table.
typedef void row_fn(const struct instance *in, const struct edge_row *row, void *arg);

static void walk(const struct instance *in, row_fn *each, void *arg)
{
	struct edge_row rows[ROWS_AT_ONCE];
	uint64_t at = 0;

	if (in->tables == NULL)
		return;
	do {
		const uint32_t count = edge_table_walk(in->tables->where, &at, rows, ROWS_AT_ONCE);

		for (uint32_t i = 0; i < count; i++)
			each(in, &rows[i], arg);
	} while (at != 0);
}

// --- groups -----------------------------------------------------------------------------------

static bool is_usable(const struct instance *in, const struct group_member *m)
{
	return !m->down && sw_link_up(in->sw, m->port);
}

static uint32_t count_usable(const struct instance *in, uint16_t group)
{
	const struct sw_tables *t = in->tables;
	uint32_t count = 0;

	for (uint32_t i = t->first_member[group]; i < t->first_member[group + 1]; i++)
		count += is_usable(in, &t->member[i]);
	return count;
}

static void set_members(json_t *object, const struct instance *in, uint16_t group)
{
	set_number(object, "members",
		   in->tables->first_member[group + 1] - in->tables->first_member[group]);
	set_number(object, "usable_members", count_usable(in, group));
}

static uint32_t count_buckets(const struct group *g, uint32_t next_hop)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < g->bucket_count; i++)
		count += g->member[g->bucket[i]].next_hop == next_hop;
	return count;
}

static json_t *member_json(const struct instance *in, uint16_t group, const struct group_member *m)
{
	const struct next_hop_config *row = &in->config->next_hop[m->next_hop];
	const struct next_hop *hop = &in->tables->next_hop[m->next_hop];
	json_t *object = json_object();
	char text[TEXT_BYTES];

	set_text(object, "group", row->group);
	if (row->address.family != IP_NONE) {
		address_text(row->address.family == IP_V6, row->address.address, text);
		set_text(object, "address", text);
	}
	set_port(object, in, m->port);
	if (hop->vid != 0)
		set_number(object, "vlan", hop->vid);
	if (hop->mac != 0)
		set_mac(object, hop->mac);
	set_number(object, "weight", m->weight);
	set_number(object, "bank", m->bank);
	set_number(object, "buckets", count_buckets(in->tables->group[group], m->next_hop));
	if (m->down)
		set_text(object, "state", "unresolved");
	else
		set_text(object, "state", is_usable(in, m) ? "up" : "down");
	return object;
}

json_t *routes_json_groups(const struct instance *in)
{
	const struct sw_tables *t = in->tables;
	json_t *answer = json_object();
	json_t *groups = json_array();
	json_t *members = json_array();

	for (uint16_t group = 0; t != NULL && group < t->group_count; group++) {
		json_t *object = json_object();

		set_text(object, "group", tables_group_name(in->tables, in->config, group));
		set_members(object, in, group);
		set_number(object, "buckets", t->group[group]->bucket_count);
		json_array_append_new(groups, object);
		for (uint32_t i = t->first_member[group]; i < t->first_member[group + 1]; i++)
			json_array_append_new(members, member_json(in, group, &t->member[i]));
	}
	json_object_set_new(answer, "groups", groups);
	json_object_set_new(answer, "members", members);
	return answer;
}

// --- routes -----------------------------------------------------------------------------------

static void set_edge(json_t *object, const struct instance *in, const struct dest *d)
{
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "edge %u port %u", d->number, d->port.v);
	set_text(object, "via", text);
	set_mac(object, d->mac);
	if (d->number != in->tables->self && in->tables->edge_group[d->number] == GROUP_NONE)
		set_text(object, "type", "unreachable");
}

static void set_dest(json_t *object, const struct instance *in, const struct dest *d)
{
	switch ((enum dest_kind)d->kind) {
	case DEST_FREE:
	case DEST_DROP: set_text(object, "type", "blackhole"); return;
	case DEST_SELF: set_text(object, "type", "local"); break;
	case DEST_GLEAN: set_text(object, "type", "connected"); break;
	case DEST_NEIGHBOR:
		set_text(object, "type", "neighbor");
		set_mac(object, d->mac);
		break;
	case DEST_GROUP:
		set_text(object, "type", "static");
		set_text(object, "via", tables_group_name(in->tables, in->config, d->number));
		set_members(object, in, d->number);
		return;
	case DEST_EDGE:
		set_text(object, "type", "host");
		set_edge(object, in, d);
		break;
	}
	set_number(object, "vlan", d->vid);
}

static json_t *route_json(const struct instance *in, const struct edge_key *key, uint32_t value)
{
	json_t *object = json_object();
	char address[TEXT_BYTES];
	char text[TEXT_BYTES + 8];

	address_text(key->kind == EDGE_IPV6, key->address, address);
	snprintf(text, sizeof(text), "%s/%u", address, key->len);
	set_text(object, "prefix", text);
	set_dest(object, in, &in->tables->dest[value]);
	return object;
}

static void add_route(const struct instance *in, const struct edge_row *row, void *list)
{
	if (row->key.kind != EDGE_MAC && in->tables->dest[row->value].kind != DEST_NEIGHBOR)
		json_array_append_new(list, route_json(in, &row->key, row->value));
}

// Bits behind the length of a key are 0.
static bool read_key(const char *text, struct edge_key *key)
{
	struct ip_prefix prefix;

	if (!ip_prefix_parse(text, &prefix) || !ip_prefix_canonical(&prefix))
		return false;
	*key = (struct edge_key){
		.kind = prefix.family == IP_V6 ? EDGE_IPV6 : EDGE_IPV4,
		.len = prefix.len,
	};
	memcpy(key->address, prefix.address, sizeof(prefix.address));
	return true;
}

static uint32_t find_row(const struct sw_tables *t, const struct edge_key *key, bool network)
{
	if (network)
		return edge_table_get(t->where, key);
	return key->kind == EDGE_IPV6 ? edge_table_find_ipv6(t->where, key->address) :
					edge_table_find_ipv4(t->where, load_be32(key->address));
}

// Shortens the key of a host to the longest that leads to where a look-up of its address came.
static void shorten(const struct sw_tables *t, struct edge_key *key)
{
	while (key->len > 0 && edge_table_get(t->where, key) == EDGE_TABLE_NONE) {
		key->len--;
		key->address[key->len / 8] &= (uint8_t) ~(1u << (7 - key->len % 8));
	}
}

json_t *routes_json(const struct instance *in, const char *prefix)
{
	struct edge_key key = { 0 };
	const bool network = prefix != NULL && strchr(prefix, '/') != NULL;
	json_t *answer;
	json_t *list;
	uint32_t row = EDGE_TABLE_NONE;

	if (prefix != NULL && !read_key(prefix, &key))
		return NULL;
	answer = json_object();
	list = json_array();
	if (prefix == NULL)
		walk(in, add_route, list);
	else if (in->tables != NULL)
		row = find_row(in->tables, &key, network);
	if (row != EDGE_TABLE_NONE) {
		if (!network)
			shorten(in->tables, &key);
		json_array_append_new(list, route_json(in, &key, row));
	}
	json_object_set_new(answer, "routes", list);
	return answer;
}

// --- neighbours -------------------------------------------------------------------------------

struct places {
	struct mac_entry *entry; // sorted
	size_t count;
	json_t *list;
	ns_t now;
};

static int compare(const void *a, const void *b)
{
	const struct mac_entry *x = a;
	const struct mac_entry *y = b;

	if (x->mac != y->mac)
		return x->mac < y->mac ? -1 : 1;
	return (x->vid > y->vid) - (x->vid < y->vid);
}

// The whole address table of the bridge. Empty when memory is short.
static void read_places(struct workers *workers, struct instance *in, struct places *places)
{
	struct mac_list list = { 0 };
	const size_t most = in->profile->mac_count;

	places->entry = calloc(most, sizeof(*places->entry));
	if (places->entry == NULL)
		return;
	while (workers_next_macs(workers, in, &list)) {
		for (uint32_t i = 0; i < list.count && places->count < most; i++)
			places->entry[places->count++] = list.entry[i];
	}
	qsort(places->entry, places->count, sizeof(*places->entry), compare);
}

static void set_state(json_t *object, const struct neighbor_row *row, ns_t now)
{
	if (row == NULL)
		return;
	set_text(object, "state", neighbor_state_names[row->n.state]);
	set_number(object, "age_ns", ns_since(now, row->n.heard));
}

static void add_neighbor(const struct instance *in, const struct edge_row *row, void *arg)
{
	struct places *places = arg;
	const struct dest *d = &in->tables->dest[row->value];
	const struct mac_entry wanted = { .mac = d->mac, .vid = d->vid };
	const struct neighbor_table *known = routes_neighbors(in->routes);
	struct neighbor_key key = { .port = PORT_NONE };
	const struct mac_entry *at;
	json_t *object;
	char text[TEXT_BYTES];

	if (d->kind != DEST_NEIGHBOR)
		return;
	key.address.family = row->key.kind == EDGE_IPV6 ? IP_V6 : IP_V4;
	memcpy(key.address.address, row->key.address, sizeof(key.address.address));
	object = json_object();
	address_text(row->key.kind == EDGE_IPV6, row->key.address, text);
	set_text(object, "address", text);
	set_number(object, "vlan", d->vid);
	set_mac(object, d->mac);
	at = places->count == 0 ? NULL :
				  bsearch(&wanted, places->entry, places->count,
					  sizeof(*places->entry), compare);
	if (at != NULL)
		set_port(object, in, at->port);
	set_text(object, "type", d->is_static ? "static" : "learned");
	if (known != NULL && !d->is_static)
		set_state(object, neighbor_table_find(known, &key), places->now);
	json_array_append_new(places->list, object);
}

// A next hop that is listed as a host, too.
static bool is_listed(const struct instance *in, const struct neighbor_table *known,
		      const struct neighbor_row *row)
{
	const struct neighbor_key key = neighbor_host_key(&row->key.address);
	const struct neighbor_row *host = neighbor_table_find(known, &key);

	return tables_has_neighbor(in->tables, &row->key.address) &&
	       (host == NULL || host->vid == row->vid);
}

// Those that nothing is sent to: asked for, or a next hop outside of the switch's networks.
static void add_others(const struct instance *in, struct places *places)
{
	const struct neighbor_table *known = routes_neighbors(in->routes);

	for (uint32_t i = 0; known != NULL && i < known->count; i++) {
		const struct neighbor_row *row = &known->row[i];
		json_t *object;
		char text[TEXT_BYTES];

		if (row->key.address.family == IP_NONE || is_listed(in, known, row))
			continue;
		object = json_object();
		address_text(row->key.address.family == IP_V6, row->key.address.address, text);
		set_text(object, "address", text);
		set_number(object, "vlan", row->vid);
		if (row->n.mac != 0)
			set_mac(object, row->n.mac);
		set_port(object, in, row->port);
		set_text(object, "type", row->key.next_hop ? "next_hop" : "wanted");
		set_state(object, row, places->now);
		json_array_append_new(places->list, object);
	}
}

json_t *routes_json_neighbors(struct workers *workers, struct instance *in)
{
	json_t *answer = json_object();
	struct places places = { .list = json_array(),
				 .now = clock_now(&workers->worker[0].clock) };

	if (in->tables != NULL)
		read_places(workers, in, &places);
	walk(in, add_neighbor, &places);
	add_others(in, &places);
	free(places.entry);
	json_object_set_new(answer, "neighbors", places.list);
	return answer;
}

// --- hash and turns ---------------------------------------------------------------------------

static json_t *names_json(const char *const *names, uint32_t count, uint32_t mask)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++) {
		if (mask >> i & 1)
			json_array_append_new(list, json_string(names[i]));
	}
	return list;
}

json_t *routes_json_hash(const struct instance *in)
{
	const struct hash_profile *pf = &in->profile->ecmp_hash;
	json_t *answer = json_object();
	json_t *hash = json_object();
	json_t *can = json_object();

	set_text(hash, "hash", "ecmp");
	set_text(hash, "algorithm", hash_algorithm_names[pf->algorithm]);
	set_number(hash, "seed", pf->seed);
	set_number(hash, "offset", pf->rotation);
	json_object_set_new(hash, "symmetric", json_boolean(pf->symmetric));
	json_object_set_new(hash, "fields",
			    names_json(hash_field_names, HASH_FIELD_COUNT, pf->fields));
	json_object_set_new(can, "fields",
			    names_json(hash_field_names, HASH_FIELD_COUNT, UINT32_MAX));
	json_object_set_new(can, "algorithms",
			    names_json(hash_algorithm_names, HASH_ALGORITHM_COUNT, UINT32_MAX));
	set_number(can, "seed_max", UINT32_MAX);
	set_number(can, "offset_max", SEED_MAX_BITS - 1);
	json_object_set_new(answer, "ecmp", hash);
	json_object_set_new(answer, "capabilities", can);
	return answer;
}

static void add_turns(json_t *list, const struct instance *in, uint32_t from, uint32_t to)
{
	const struct turn_map *turns = in->tables->turns;

	for (uint32_t lane = 0; lane < turns->lane_count; lane++) {
		const uint8_t out = turn_map_get(turns, (port_t){ (uint16_t)from },
						 (port_t){ (uint16_t)to }, lane);
		json_t *object;

		if (out == TURN_DENY)
			continue;
		object = json_object();
		set_text(object, "in", in->config->port[from].name);
		set_text(object, "out", in->config->port[to].name);
		set_number(object, "lane", lane);
		set_number(object, "to", out);
		json_array_append_new(list, object);
	}
}

json_t *routes_json_turns(const struct instance *in)
{
	const bool has_map = in->tables != NULL && in->tables->turns != NULL;
	json_t *answer = json_object();
	json_t *list = json_array();

	for (uint32_t i = 0; has_map && i < in->port_count * in->port_count; i++)
		add_turns(list, in, i / in->port_count, i % in->port_count);
	json_object_set_new(answer, "judged", json_boolean(has_map));
	json_object_set_new(answer, "turns", list);
	return answer;
}
