// SPDX-License-Identifier: BSD-3-Clause
//
// Carries what ARP and ND have found from the tables of one configuration to those of the next, so
// that a change of something else costs no host its way.
//
// Nothing is believed that the next configuration would not learn by itself: a neighbour must lie
// in one of its networks and VLANs, a next hop must be asked for with the same address.

#include "dataplane/routes.h"

#include <string.h>

enum { ROWS_AT_ONCE = 64 };

// False when there is no more room for neighbours.
static bool carry_neighbor(const struct neighbor_view *next, struct sw_tables *tables,
			   const struct edge_row *row, const struct dest *d)
{
	struct ip_prefix address = {
		.family = row->key.kind == EDGE_IPV6 ? IP_V6 : IP_V4,
		.len = row->key.len,
	};

	if (d->kind != DEST_NEIGHBOR || d->is_static)
		return true;
	memcpy(address.address, row->key.address, sizeof(address.address));
	if (neighbor_interface(next->config, d->vid, &address) == NULL)
		return true;
	return tables_neighbor_set(tables, &address, d->vid, d->mac) == 0;
}

static void carry_neighbors(const struct sw_tables *old, const struct neighbor_view *next,
			    struct sw_tables *tables)
{
	struct edge_row rows[ROWS_AT_ONCE];
	uint64_t at = 0;
	bool room = true;

	do {
		const uint32_t count = edge_table_walk(old->where, &at, rows, ROWS_AT_ONCE);

		for (uint32_t i = 0; i < count && room; i++)
			room = rows[i].key.kind == EDGE_MAC ||
			       carry_neighbor(next, tables, &rows[i], &old->dest[rows[i].value]);
	} while (at != 0 && room);
}

// What next hop `at` of the tables in use was found to be, to those of the next that ask for the
// same address.
static void carry_next_hop(const struct instance *in, uint32_t at, const struct neighbor_view *next,
			   struct sw_tables *tables)
{
	const struct next_hop_config *row = &in->config->next_hop[at];
	const struct group_member *m = neighbor_member_of(in->tables, at);
	uint16_t vid = (uint16_t)row->vlan;

	if (m->down || m->port.v == PORT_NONE.v)
		return;
	if (vid == 0)
		vid = in->profile->port[m->port.v].pvid;
	for (uint32_t to = 0; to < next->config->next_hop_count; to++) {
		if (!neighbor_is_next_hop(next, to, &row->address, vid, m->port))
			continue;
		tables_quiesce(tables); // nobody else has seen them
		tables_next_hop_set(tables, to, next->pf->port[m->port.v].logical,
				    neighbor_next_hop_mac(next->config, to,
							  in->tables->next_hop[at].mac));
	}
}

void routes_carry(const struct instance *in, const struct neighbor_view *next,
		  struct sw_tables *tables)
{
	if (in->tables == NULL)
		return;
	if (!next->pf->managed)
		carry_neighbors(in->tables, next, tables);
	for (uint32_t at = 0; at < in->config->next_hop_count; at++)
		carry_next_hop(in, at, next, tables);
}
