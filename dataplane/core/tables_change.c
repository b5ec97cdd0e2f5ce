// SPDX-License-Identifier: BSD-3-Clause
//
// Changes of live tables, one row at a time, by the control thread while lcores read: a row of the
// destination table is written before the address that leads to it is published, and a row that was
// replaced is not used again before every lcore has passed between two polls (tables_quiesce()).

#include "dataplane/core/tables.h"

#include <errno.h>
#include <string.h>

static struct edge_key host_key(const struct ip_prefix *address)
{
	struct edge_key key = {
		.kind = address->family == IP_V6 ? EDGE_IPV6 : EDGE_IPV4,
		.len = ip_family_bits(address->family),
	};

	memcpy(key.address, address->address, sizeof(key.address));
	return key;
}

static void push(struct row_stack *stack, uint32_t row)
{
	stack->row[stack->count++] = row;
}

int tables_neighbor_set(struct sw_tables *t, const struct ip_prefix *address, uint16_t vid,
			uint64_t mac)
{
	const struct edge_key key = host_key(address);
	const uint32_t old = edge_table_get(t->where, &key);
	const struct dest *before = old == EDGE_TABLE_NONE ? NULL : &t->dest[old];
	uint32_t row;
	int rc;

	if (before != NULL && (before->kind != DEST_NEIGHBOR || before->is_static ||
			       (before->vid == vid && before->mac == mac)))
		return 0;
	if (t->free_rows.count == 0) {
		// Nobody would ask again for an address that leads to where it no longer is.
		tables_neighbor_delete(t, address);
		return -ENOSPC;
	}
	row = t->free_rows.row[t->free_rows.count - 1];
	t->dest[row] = (struct dest){ .kind = DEST_NEIGHBOR, .vid = vid, .mac = mac };
	rc = edge_table_set(t->where, &key, row);
	if (rc != 0) {
		t->dest[row].kind = DEST_FREE;
		return rc;
	}
	t->free_rows.count--;
	t->generation++;
	if (before != NULL)
		push(&t->gone_rows, old);
	return 0;
}

void tables_neighbor_delete(struct sw_tables *t, const struct ip_prefix *address)
{
	const struct edge_key key = host_key(address);
	const uint32_t row = edge_table_get(t->where, &key);

	if (row == EDGE_TABLE_NONE || t->dest[row].kind != DEST_NEIGHBOR || t->dest[row].is_static)
		return;
	edge_table_delete(t->where, &key);
	push(&t->gone_rows, row);
	t->generation++;
}

static struct dest *find_neighbor(const struct sw_tables *t, const struct ip_prefix *address)
{
	const struct edge_key key = host_key(address);
	const uint32_t row = edge_table_get(t->where, &key);

	return row == EDGE_TABLE_NONE || t->dest[row].kind != DEST_NEIGHBOR ? NULL : &t->dest[row];
}

bool tables_neighbor_used(struct sw_tables *t, const struct ip_prefix *address)
{
	struct dest *d = find_neighbor(t, address);

	if (d == NULL || __atomic_load_n(&d->number, __ATOMIC_RELAXED) == 0)
		return false;
	__atomic_store_n(&d->number, 0, __ATOMIC_RELAXED);
	return true;
}

bool tables_has_neighbor(const struct sw_tables *t, const struct ip_prefix *address)
{
	return find_neighbor(t, address) != NULL;
}

bool tables_neighbor_is_static(const struct sw_tables *t, const struct ip_prefix *address)
{
	const struct dest *d = find_neighbor(t, address);

	return d != NULL && d->is_static;
}

// Builds a group anew from its members beside the one in use, then publishes it.
static int rebuild(struct sw_tables *t, uint32_t group)
{
	const uint32_t first = t->first_member[group];
	const uint32_t count = t->first_member[group + 1] - first;
	const struct group *live = t->group[group];
	int rc;

	rc = group_build(t->spare[group], &t->member[first], count, t->bucket_room[group], live);
	if (rc != 0)
		return rc;
	__atomic_store_n(&t->group[group], t->spare[group], __ATOMIC_RELEASE);
	t->spare[group] = (struct group *)live;
	t->changing[group] = true;
	return 0;
}

static uint32_t group_of_member(const struct sw_tables *t, uint32_t member)
{
	uint32_t group = 0;

	while (t->first_member[group + 1] <= member)
		group++;
	return group;
}

int tables_next_hop_set(struct sw_tables *t, uint32_t next_hop, port_t port, uint64_t mac)
{
	uint32_t at = 0;
	struct group_member before;
	uint32_t group;
	int rc;

	if (next_hop >= t->next_hop_count || (port.v >= PORT_SET_MAX && port.v != PORT_NONE.v))
		return -EINVAL;
	while (t->member[at].next_hop != next_hop)
		at++;
	before = t->member[at];
	group = group_of_member(t, at);
	if (before.port.v != port.v && t->changing[group])
		return -EBUSY;
	if (mac != 0 && t->next_hop[next_hop].mac != mac) {
		__atomic_store_n(&t->next_hop[next_hop].mac, mac, __ATOMIC_RELAXED);
		t->generation++;
	}
	if (before.port.v == port.v)
		return 0;
	t->member[at].port = port;
	t->member[at].down = port.v == PORT_NONE.v;
	rc = rebuild(t, group);
	if (rc != 0)
		t->member[at] = before;
	else
		t->generation++;
	return rc;
}

int tables_edge_set(struct sw_tables *t, uint16_t edge, uint16_t group)
{
	if (edge >= t->edge_count || (group != GROUP_NONE && group >= t->group_count))
		return -EINVAL;
	__atomic_store_n(&t->edge_group[edge], group, __ATOMIC_RELEASE);
	t->generation++;
	return 0;
}

void tables_quiesce(struct sw_tables *t)
{
	const struct row_stack empty = { .row = t->old_rows.row };

	edge_table_quiesce(t->where);
	for (uint32_t i = 0; i < t->old_rows.count; i++)
		push(&t->free_rows, t->old_rows.row[i]);
	t->old_rows = t->gone_rows;
	t->gone_rows = empty;
	memset(t->changing, 0, t->group_count * sizeof(t->changing[0]));
}
