// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of a configuration: laid out in one piece of memory, then filled row by row.
//
// Destinations are numbered: row 0 is the black hole, then one row per group, per interface (its
// own address and the network around it), per static neighbour, per host; the rest is for
// neighbours that are learned.

#include "dataplane/core/tables.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/core/profile_build.h"

enum {
	DEST_ROW_DROP = 0,
	DEST_ROW_GROUP = 1, // of group 0
	LINE_BYTES = 64,
};

// Takes pieces of one memory, in order; with `base` NULL it only counts.
struct layout {
	uint8_t *base;
	size_t used;
};

static void *take(struct layout *layout, size_t bytes)
{
	void *piece = layout->base == NULL ? NULL : layout->base + layout->used;

	layout->used += (bytes + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
	return piece;
}

static bool is_plain(const struct sw_config *config)
{
	return config->interface_count + config->next_hop_count + config->route_count +
			       config->edge_count + config->host_count + config->turn_count ==
		       0 &&
	       config->sw.forwarding == CONFIG_FORWARDING_STANDALONE;
}

// The first row of each group's name, in order; rows of one name need not stand together.
static bool is_first(const struct sw_config *config, uint32_t row)
{
	for (uint32_t i = 0; i < row; i++) {
		if (name_equal(config->next_hop[i].group, config->next_hop[row].group))
			return false;
	}
	return true;
}

static uint32_t count_groups(const struct sw_config *config)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < config->next_hop_count; i++)
		count += is_first(config, i);
	return count;
}

const char *tables_group_name(const struct sw_tables *t, const struct sw_config *config,
			      uint16_t group)
{
	return config->next_hop[t->member[t->first_member[group]].next_hop].group;
}

uint16_t tables_group_find(const struct sw_tables *t, const struct sw_config *config,
			   const char *name)
{
	for (uint16_t group = 0; group < t->group_count; group++) {
		if (name_equal(tables_group_name(t, config, group), name))
			return group;
	}
	return GROUP_NONE;
}

static uint32_t count_edges(const struct sw_config *config)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < config->edge_count; i++)
		count = u64_max(count, config->edge[i].number + 1);
	for (uint32_t i = 0; i < config->host_count; i++)
		count = u64_max(count, config->host[i].edge + 1);
	return (uint32_t)count;
}

static struct edge_table_size table_size(const struct sw_config *config, uint32_t neighbors)
{
	const uint32_t fixed = 2 * config->interface_count + config->neighbor_count +
			       config->route_count + config->host_count;
	const uint32_t rows = fixed + neighbors;

	// A prefix needs two nodes at most. Neighbours stand close together in their networks.
	return (struct edge_table_size){
		.ipv4_prefixes = rows,
		.ipv4_nodes = 2 * fixed + 2 * (neighbors < 4096 ? neighbors : 4096) + 2,
		.ipv6_prefixes = rows,
		.macs = config->host_count + 1,
		.hash_seed = hash_add(hash_text(config->sw.name), config->sw.seed),
	};
}

static struct row_stack take_stack(struct layout *layout, uint32_t rows)
{
	return (struct row_stack){ .row = take(layout, rows * sizeof(uint32_t)) };
}

// Takes every part. With memory, *t is filled with the parts' places and sizes.
static void lay_out(struct layout *layout, const struct sw_config *config, uint32_t ports,
		    uint32_t neighbors, struct sw_tables *t)
{
	const struct edge_table_size size = table_size(config, neighbors);
	const uint32_t groups = count_groups(config);
	const uint32_t edges = count_edges(config);
	const uint32_t dests = 1 + groups + 2 * config->interface_count + config->neighbor_count +
			       config->host_count + 2 * neighbors;
	const uint32_t lanes = config->sw.lanes == 0 ?
				       1 :
				       (uint32_t)__builtin_popcountll(config->sw.lanes);

	*t = (struct sw_tables){
		.dest_count = dests,
		.group_count = groups,
		.next_hop_count = config->next_hop_count,
		.edge_count = edges,
		.where = take(layout, edge_table_bytes(&size)),
		.dest = take(layout, dests * sizeof(struct dest)),
		.group = take(layout, groups * sizeof(struct group *)),
		.spare = take(layout, groups * sizeof(struct group *)),
		.changing = take(layout, groups * sizeof(bool)),
		.bucket_room = take(layout, groups * sizeof(uint16_t)),
		.next_hop = take(layout, config->next_hop_count * sizeof(struct next_hop)),
		.member = take(layout, config->next_hop_count * sizeof(struct group_member)),
		.first_member = take(layout, (groups + 1) * sizeof(uint32_t)),
		.edge_group = take(layout, edges * sizeof(uint16_t)),
		.free_rows = take_stack(layout, dests),
		.gone_rows = take_stack(layout, dests),
		.old_rows = take_stack(layout, dests),
		.turns = config->turn_count == 0 ? NULL :
						   take(layout, turn_map_bytes(ports, lanes)),
	};
	if (layout->base == NULL)
		return;
	edge_table_init(t->where, &size);
	for (uint32_t i = 0; i < edges; i++)
		t->edge_group[i] = GROUP_NONE;
	if (t->turns != NULL)
		turn_map_init(t->turns, ports, lanes);
}

// The members of a group from its rows, all with their weight, as if each were resolved.
static uint32_t group_rows(const struct sw_config *config, const char *name,
			   struct group_member *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < config->next_hop_count && count <= GROUP_MEMBER_MAX; i++) {
		const struct next_hop_config *row = &config->next_hop[i];

		if (!name_equal(row->group, name))
			continue;
		out[count++] = (struct group_member){
			.port = { (uint16_t)find_link(config, row->port) },
			.next_hop = (uint16_t)i,
			.weight = (uint16_t)row->weight,
			.bank = (uint8_t)row->bank,
		};
	}
	return count;
}

// Two places per group: one is read while the other is built.
static void take_groups(struct layout *layout, const struct sw_config *config, struct sw_tables *t)
{
	struct group_member members[GROUP_MEMBER_MAX + 1];
	uint32_t group = 0;

	for (uint32_t i = 0; i < config->next_hop_count; i++) {
		uint32_t count;
		uint32_t buckets;
		struct group *first;
		struct group *second;

		if (!is_first(config, i))
			continue;
		count = group_rows(config, config->next_hop[i].group, members);
		buckets = count > GROUP_MEMBER_MAX ? 0 : group_bucket_count(members, count);
		first = take(layout, group_bytes(buckets));
		second = take(layout, group_bytes(buckets));
		if (layout->base != NULL) {
			t->group[group] = first;
			t->spare[group] = second;
		}
		group++;
	}
}

size_t tables_bytes(const struct sw_config *config, uint32_t neighbors)
{
	struct layout layout = { 0 };
	struct sw_tables t;

	if (is_plain(config))
		return 0;
	take(&layout, sizeof(t));
	lay_out(&layout, config, config->port_count, neighbors, &t);
	take_groups(&layout, config, &t);
	return layout.used;
}

// --- rows -------------------------------------------------------------------------------------

static struct edge_key ip_key(const struct ip_prefix *prefix)
{
	struct edge_key key = { .kind = prefix->family == IP_V6 ? EDGE_IPV6 : EDGE_IPV4,
				.len = prefix->len };

	memcpy(key.address, prefix->address, sizeof(key.address));
	return key;
}

static struct edge_key mac_key(uint16_t vid, uint64_t mac)
{
	struct edge_key key = { .kind = EDGE_MAC, .vid = vid };

	store_be48(key.address, mac);
	return key;
}

static struct ip_prefix host_of(const struct ip_prefix *address)
{
	struct ip_prefix host = *address;

	host.len = ip_family_bits(host.family);
	return host;
}

static struct ip_prefix network_of(const struct ip_prefix *address)
{
	struct ip_prefix network = *address;

	for (uint32_t i = network.len; i < ip_family_bits(network.family); i++)
		network.address[i / 8] &= (uint8_t) ~(1u << (7 - i % 8));
	return network;
}

struct tables_build {
	struct build build; // without a profile to fill
	const struct sw_profile *pf;
	struct sw_tables *t;
	uint32_t dests; // given out
};

static uint32_t add_dest(struct tables_build *b, const struct dest *dest)
{
	b->t->dest[b->dests] = *dest;
	return b->dests++;
}

// Two rows for one key contradict each other.
static int add_key(struct tables_build *b, const struct edge_key *key, uint32_t row, uint32_t line,
		   const char *object)
{
	if (edge_table_get(b->t->where, key) != EDGE_TABLE_NONE)
		return build_fail(&b->build, FAULT_DUPLICATE_NAME, line, object, "", 0, 0);
	if (edge_table_set(b->t->where, key, row) != 0)
		return build_fail(&b->build, FAULT_TABLE_FULL, line, object, "", 0, 0);
	return 0;
}

static int add_ip(struct tables_build *b, const struct ip_prefix *prefix, uint32_t row,
		  uint32_t line, const char *object)
{
	const struct edge_key key = ip_key(prefix);

	return add_key(b, &key, row, line, object);
}

static int need_vlan(struct tables_build *b, uint64_t vid, uint32_t line, const char *object)
{
	if (b->pf->vlan_index[vid] == 0)
		return build_fail(&b->build, FAULT_UNKNOWN_VLAN, line, object, "", vid, 0);
	return 0;
}

// A packet to a group address would be flooded, or policed as one: nobody routes to it.
static int need_one_host(struct tables_build *b, uint64_t mac, uint32_t line, const char *object)
{
	if (mac != CONFIG_UNSET && mac >> 40 & 1)
		return build_fail(&b->build, FAULT_GROUP_MAC, line, object, "mac", 0, 0);
	return 0;
}

// A VLAN may have several addresses in one network.
static bool has_network(const struct tables_build *b, const struct ip_prefix *network, uint16_t vid)
{
	const struct edge_key key = ip_key(network);
	const uint32_t at = edge_table_get(b->t->where, &key);

	return at != EDGE_TABLE_NONE && b->t->dest[at].kind == DEST_GLEAN &&
	       b->t->dest[at].vid == vid;
}

static int add_interfaces(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;
	int rc = 0;

	for (uint32_t i = 0; i < config->interface_count && rc == 0; i++) {
		const struct interface_config *row = &config->interface[i];
		const struct dest self = { .kind = DEST_SELF, .vid = (uint16_t)row->vlan };
		const struct dest glean = { .kind = DEST_GLEAN, .vid = (uint16_t)row->vlan };
		const struct ip_prefix host = host_of(&row->address);
		const struct ip_prefix network = network_of(&row->address);

		rc = need_vlan(b, row->vlan, row->line, "interface");
		if (rc == 0)
			rc = add_ip(b, &host, add_dest(b, &self), row->line, "interface");
		if (rc == 0 && network.len < host.len && !has_network(b, &network, glean.vid))
			rc = add_ip(b, &network, add_dest(b, &glean), row->line, "interface");
	}
	return rc;
}

static int add_neighbors(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;
	int rc = 0;

	for (uint32_t i = 0; i < config->neighbor_count && rc == 0; i++) {
		const struct neighbor_config *row = &config->neighbor[i];
		const struct ip_prefix host = host_of(&row->address);
		const struct dest dest = {
			.kind = DEST_NEIGHBOR,
			.is_static = true,
			.vid = (uint16_t)row->vlan,
			.mac = row->mac,
		};

		rc = need_vlan(b, row->vlan, row->line, "neighbor");
		if (rc == 0)
			rc = need_one_host(b, row->mac, row->line, "neighbor");
		if (rc == 0)
			rc = add_ip(b, &host, add_dest(b, &dest), row->line, "neighbor");
	}
	return rc;
}

static int check_next_hop(struct tables_build *b, uint32_t i)
{
	const struct next_hop_config *row = &b->build.config->next_hop[i];
	const bool has_port = row->port[0] != '\0';
	uint32_t first, end;
	int rc = 0;

	if (!has_port && row->address.family == IP_NONE)
		return build_fail(&b->build, FAULT_NEXT_HOP_NOWHERE, row->line, row->group, "", 0,
				  0);
	if (has_port && find_link(b->build.config, row->port) == b->build.config->port_count)
		return build_fail(&b->build, FAULT_UNKNOWN_PORT, row->line, "next_hop", row->port,
				  0, 0);
	if (has_port)
		rc = find_links(&b->build, row->port, row->line, "next_hop", &first, &end);
	if (rc == 0 && row->vlan != 0)
		rc = need_vlan(b, row->vlan, row->line, "next_hop");
	return rc == 0 ? need_one_host(b, row->mac, row->line, "next_hop") : rc;
}

static bool is_resolved(const struct next_hop_config *row)
{
	return row->port[0] != '\0' && (row->mac != CONFIG_UNSET || row->address.family == IP_NONE);
}

static int add_group(struct tables_build *b, uint32_t group, const char *name, uint32_t line)
{
	struct sw_tables *t = b->t;
	struct group_member members[GROUP_MEMBER_MAX + 1];
	const uint32_t count = group_rows(b->build.config, name, members);
	const uint32_t first = t->first_member[group];
	uint32_t buckets;

	if (count > GROUP_MEMBER_MAX)
		return build_fail(&b->build, FAULT_TOO_MANY, line, name, "members", 0,
				  GROUP_MEMBER_MAX);
	buckets = group_bucket_count(members, count);
	t->bucket_room[group] = (uint16_t)buckets;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_resolved(&b->build.config->next_hop[members[i].next_hop])) {
			members[i].down = true;
			members[i].port = PORT_NONE;
		}
		t->member[first + i] = members[i];
	}
	t->first_member[group + 1] = first + count;
	if (group_build((struct group *)t->group[group], members, count, buckets, NULL) != 0)
		return build_fail(&b->build, FAULT_TOO_MANY, line, name, "weights", 0,
				  GROUP_BUCKET_MAX);
	return 0;
}

static int add_groups(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;
	uint16_t group = 0;
	int rc = 0;

	for (uint32_t i = 0; i < config->next_hop_count && rc == 0; i++) {
		const struct next_hop_config *row = &config->next_hop[i];
		const struct dest dest = { .kind = DEST_GROUP, .number = group };

		rc = check_next_hop(b, i);
		b->t->next_hop[i] = (struct next_hop){
			.mac = row->mac == CONFIG_UNSET ? 0 : row->mac,
			.vid = (uint16_t)row->vlan,
			.routed = row->mac != CONFIG_UNSET || row->address.family != IP_NONE,
		};
		if (rc != 0 || !is_first(config, i))
			continue;
		add_dest(b, &dest);
		rc = add_group(b, group++, row->group, row->line);
	}
	return rc;
}

static int add_routes(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;
	int rc = 0;

	for (uint32_t i = 0; i < config->route_count && rc == 0; i++) {
		const struct route_config *row = &config->route[i];
		const uint16_t group = tables_group_find(b->t, config, row->via);
		uint32_t dest = DEST_ROW_DROP;

		if (group != GROUP_NONE)
			dest = DEST_ROW_GROUP + group;
		else if (!name_equal(row->via, "drop"))
			return build_fail(&b->build, FAULT_UNKNOWN_GROUP, row->line, "route",
					  row->via, 0, 0);
		rc = add_ip(b, &row->prefix, dest, row->line, "route");
	}
	return rc;
}

static int add_edges(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;

	for (uint32_t i = 0; i < config->edge_count; i++) {
		const struct edge_config *row = &config->edge[i];
		const uint16_t group = tables_group_find(b->t, config, row->via);

		if (group == GROUP_NONE)
			return build_fail(&b->build, FAULT_UNKNOWN_GROUP, row->line, "edge",
					  row->via, 0, 0);
		if (b->t->edge_group[row->number] != GROUP_NONE)
			return build_fail(&b->build, FAULT_DUPLICATE_NAME, row->line, "edge", "", 0,
					  0);
		b->t->edge_group[row->number] = group;
	}
	return 0;
}

static int add_hosts(struct tables_build *b)
{
	const struct sw_config *config = b->build.config;
	int rc = 0;

	for (uint32_t i = 0; i < config->host_count && rc == 0; i++) {
		const struct fabric_host_config *row = &config->host[i];
		const struct edge_key key = mac_key((uint16_t)row->vlan, row->mac);
		const struct dest dest = {
			.kind = DEST_EDGE,
			.vid = (uint16_t)row->vlan,
			.number = (uint16_t)row->edge,
			.port = { (uint16_t)row->port },
			.mac = row->mac,
		};
		uint32_t at = edge_table_get(b->t->where, &key);

		if (at != EDGE_TABLE_NONE &&
		    (b->t->dest[at].number != dest.number || b->t->dest[at].port.v != dest.port.v))
			return build_fail(&b->build, FAULT_HOST_TWICE, row->line, "host", "", 0, 0);
		if (row->edge == b->t->self && row->port >= config->port_count)
			return build_fail(&b->build, FAULT_UNKNOWN_PORT, row->line, "host", "", 0,
					  0);
		rc = need_one_host(b, row->mac, row->line, "host");
		if (rc == 0 && at == EDGE_TABLE_NONE) {
			at = add_dest(b, &dest);
			rc = add_key(b, &key, at, row->line, "host");
		}
		if (rc == 0 && row->prefix.family != IP_NONE)
			rc = add_ip(b, &row->prefix, at, row->line, "host");
	}
	return rc;
}

// From one port to a range of them.
static void allow(struct turn_map *turns, uint32_t in, uint32_t out, uint32_t end,
		  const struct turn_config *row)
{
	for (; out < end; out++) {
		if (in != out)
			turn_map_allow(turns, (port_t){ (uint16_t)in }, (port_t){ (uint16_t)out },
				       (uint32_t)row->lane, (uint32_t)row->to);
	}
}

static int add_turn(struct tables_build *b, const struct turn_config *row)
{
	uint32_t in, in_end, out, out_end;
	int rc = find_links(&b->build, row->in, row->line, "turn", &in, &in_end);

	if (rc == 0)
		rc = find_links(&b->build, row->out, row->line, "turn", &out, &out_end);
	if (rc != 0)
		return rc;
	if (row->lane >= b->t->turns->lane_count || row->to >= b->t->turns->lane_count)
		return build_fail(&b->build, FAULT_UNKNOWN_LANE, row->line, "turn", "",
				  u64_max(row->lane, row->to), b->t->turns->lane_count);
	for (; in < in_end; in++)
		allow(b->t->turns, in, out, out_end, row);
	return 0;
}

static int add_turns(struct tables_build *b)
{
	int rc = 0;

	for (uint32_t i = 0; i < b->build.config->turn_count && rc == 0; i++)
		rc = add_turn(b, &b->build.config->turn[i]);
	return rc;
}

// Groups first: routes and edges name them.
static int add_rows(struct tables_build *b)
{
	int rc = add_groups(b);

	if (rc == 0)
		rc = add_interfaces(b);
	if (rc == 0)
		rc = add_neighbors(b);
	if (rc == 0)
		rc = add_routes(b);
	if (rc == 0)
		rc = add_edges(b);
	if (rc == 0)
		rc = add_hosts(b);
	return rc == 0 ? add_turns(b) : rc;
}

static void free_rest(struct tables_build *b)
{
	struct row_stack *free_rows = &b->t->free_rows;

	for (uint32_t i = b->t->dest_count; i-- > b->dests;)
		free_rows->row[free_rows->count++] = i;
}

int tables_build(const struct sw_config *config, const struct sw_profile *pf, uint32_t neighbors,
		 void *memory, struct sw_tables **out, struct profile_fault *fault)
{
	struct layout layout = { .base = memory };
	struct sw_tables *t = take(&layout, sizeof(*t));
	struct tables_build b = {
		.build = { .config = config, .fault = fault },
		.pf = pf,
		.t = t,
	};
	const struct dest hole = { .kind = DEST_DROP };
	int rc;

	*fault = (struct profile_fault){ 0 };
	memset(memory, 0, tables_bytes(config, neighbors));
	lay_out(&layout, config, pf->port_count, neighbors, t);
	take_groups(&layout, config, t);
	t->self = pf->edge_number;
	add_dest(&b, &hole);
	rc = add_rows(&b);
	free_rest(&b);
	*out = t;
	return rc;
}
