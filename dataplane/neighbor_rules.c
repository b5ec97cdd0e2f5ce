// SPDX-License-Identifier: BSD-3-Clause
//
// Who is asked, answered and believed. Rows of a configuration are few, and ARP is policed by the
// lcore, so everything here walks the rows; addresses of hosts, which are many, are looked up in
// the edge table. Nothing is changed here.

#include "dataplane/neighbor_rules.h"

#include <string.h>

#include "base/bytes.h"

static bool same_address(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->family == b->family && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static bool is_own(const struct sw_config *config, uint16_t vid, const struct ip_prefix *address)
{
	for (uint32_t i = 0; i < config->interface_count; i++) {
		if (config->interface[i].vlan == vid &&
		    same_address(&config->interface[i].address, address))
			return true;
	}
	return false;
}

static const struct dest *find(const struct sw_tables *t, const struct ip_prefix *address)
{
	const uint32_t row = address->family == IP_V6 ?
				     edge_table_find_ipv6(t->where, address->address) :
				     edge_table_find_ipv4(t->where, load_be32(address->address));

	return row == EDGE_TABLE_NONE ? NULL : &t->dest[row];
}

// An address elsewhere, where packets sent to the switch go on to.
static bool is_routed(const struct dest *d, uint16_t vid)
{
	switch ((enum dest_kind)d->kind) {
	case DEST_GROUP: return true;
	case DEST_NEIGHBOR:
	case DEST_EDGE: return d->vid != vid;
	case DEST_FREE:
	case DEST_DROP:
	case DEST_SELF:
	case DEST_GLEAN: break;
	}
	return false;
}

// Behind one port, or one LAG.
static bool same_link(const struct sw_profile *pf, port_t a, port_t b)
{
	return a.v == b.v || (a.v < pf->port_count && b.v < pf->port_count &&
			      pf->port[a.v].logical.v == pf->port[b.v].logical.v);
}

static bool is_reachable_host(const struct neighbor_view *view, const struct dest *d, port_t port,
			      uint16_t vid)
{
	const struct sw_tables *t = view->tables;

	if (d->kind != DEST_EDGE || d->vid != vid)
		return false;
	return d->number == t->self ? !same_link(view->pf, d->port, port) :
				      t->edge_group[d->number] != GROUP_NONE;
}

struct neighbor_verdict neighbor_judge(const struct neighbor_view *view,
				       const struct neighbor_message *message, port_t port,
				       uint16_t vid)
{
	const struct neighbor_verdict silence = { 0 };
	const struct neighbor_verdict self = { true, true, view->pf->router_mac };
	const struct dest *d;

	if (!message->request)
		return silence;
	if (is_own(view->config, vid, &message->target))
		return self;
	if (!view->pf->managed || message->sender.family == IP_NONE ||
	    same_address(&message->sender, &message->target) || view->tables == NULL)
		return silence;
	d = find(view->tables, &message->target);
	if (d == NULL)
		return silence;
	if (is_reachable_host(view, d, port, vid))
		return (struct neighbor_verdict){ .answer = true, .mac = d->mac };
	if (message->destination_mac == view->pf->router_mac && is_routed(d, vid) &&
	    view->pf->vlan_index[vid] != 0 && view->pf->vlan[view->pf->vlan_index[vid] - 1].routed)
		return self;
	return silence;
}

const struct interface_config *neighbor_interface(const struct sw_config *config, uint16_t vid,
						  const struct ip_prefix *address)
{
	for (uint32_t i = 0; i < config->interface_count; i++) {
		const struct interface_config *row = &config->interface[i];

		if (row->vlan == vid && row->address.family == address->family &&
		    ip_prefix_holds(&row->address, address->address))
			return is_own(config, vid, address) ? NULL : row;
	}
	return NULL;
}

const struct ip_prefix *neighbor_gateway(const struct neighbor_view *view, uint16_t vid,
					 const uint8_t *ip, bool ipv6)
{
	const struct ip_prefix *found = NULL;

	for (uint32_t i = 0; i < view->config->interface_count; i++) {
		const struct interface_config *row = &view->config->interface[i];

		if (row->vlan != vid || row->address.family != (ipv6 ? IP_V6 : IP_V4))
			continue;
		if (ip_prefix_holds(&row->address, ip + (ipv6 ? 8 : 12)))
			return &row->address;
		if (found == NULL)
			found = &row->address;
	}
	return found;
}

bool neighbor_is_broadcast(const struct sw_config *config, const uint8_t *address)
{
	for (uint32_t i = 0; i < config->interface_count; i++) {
		const struct ip_prefix *network = &config->interface[i].address;
		const uint32_t host = network->len < 31 ? UINT32_MAX >> network->len : 0;

		if (network->family != IP_V4 || host == 0 || !ip_prefix_holds(network, address))
			continue;
		if ((load_be32(address) & host) == host || (load_be32(address) & host) == 0)
			return true;
	}
	return false;
}

// A port's name, or a LAG's.
static port_t port_of(const struct neighbor_view *view, const char *name)
{
	const struct sw_config *config = view->config;

	for (uint32_t i = 0; i < config->port_count; i++) {
		if (strcmp(config->port[i].name, name) == 0)
			return (port_t){ (uint16_t)i };
	}
	for (uint32_t i = 0; i < view->pf->lag_count; i++) {
		if (strcmp(view->pf->lag[i].name, name) == 0)
			return view->pf->lag[i].logical;
	}
	return PORT_NONE;
}

static bool is_asked_for(const struct next_hop_config *row)
{
	return row->address.family != IP_NONE && (row->mac == CONFIG_UNSET || row->port[0] == '\0');
}

static bool has_address(const struct neighbor_view *view, uint32_t at,
			const struct ip_prefix *address)
{
	const struct next_hop_config *row = &view->config->next_hop[at];

	return is_asked_for(row) && same_address(&row->address, address);
}

bool neighbor_is_next_hop(const struct neighbor_view *view, uint32_t at,
			  const struct ip_prefix *address, uint16_t vid, port_t port)
{
	const struct next_hop_config *row = &view->config->next_hop[at];

	if (!has_address(view, at, address))
		return false;
	if (row->port[0] != '\0' && !same_link(view->pf, port_of(view, row->port), port))
		return false;
	return vid == (row->vlan != 0 ? row->vlan : view->pf->port[port.v].pvid);
}

struct neighbor_key neighbor_next_hop_key(const struct neighbor_view *view, uint32_t at)
{
	const struct next_hop_config *row = &view->config->next_hop[at];
	struct neighbor_key key = { .next_hop = true, .port = PORT_NONE };
	port_t port;

	if (!is_asked_for(row))
		return key;
	key.address = row->address;
	key.vid = (uint16_t)row->vlan;
	port = row->port[0] != '\0' ? port_of(view, row->port) : PORT_NONE;
	if (port.v >= view->pf->port_count)
		return key;
	key.port = view->pf->port[port.v].logical;
	if (key.vid == 0)
		key.vid = view->pf->port[port.v].pvid;
	return key;
}

bool neighbor_is_followed(const struct neighbor_view *view, uint32_t at,
			  const struct neighbor_key *key)
{
	struct neighbor_key own;

	if (!key->next_hop || !has_address(view, at, &key->address))
		return false;
	own = neighbor_next_hop_key(view, at);
	return neighbor_key_equal(&own, key);
}

static bool has_key(const struct neighbor_key *list, uint32_t count, const struct neighbor_key *key)
{
	for (uint32_t i = 0; i < count; i++) {
		if (neighbor_key_equal(&list[i], key))
			return true;
	}
	return false;
}

uint32_t neighbor_next_hop_keys(const struct neighbor_view *view, const struct ip_prefix *address,
				uint16_t vid, port_t port,
				struct neighbor_key out[NEIGHBOR_HOP_KEYS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < view->config->next_hop_count && count < NEIGHBOR_HOP_KEYS; i++) {
		struct neighbor_key key;

		if (!neighbor_is_next_hop(view, i, address, vid, port))
			continue;
		key = neighbor_next_hop_key(view, i);
		if (!has_key(out, count, &key))
			out[count++] = key;
	}
	return count;
}

uint64_t neighbor_next_hop_mac(const struct sw_config *config, uint32_t at, uint64_t mac)
{
	return config->next_hop[at].mac != CONFIG_UNSET ? config->next_hop[at].mac : mac;
}

struct neighbor_question neighbor_next_hop_question(const struct neighbor_view *view, uint32_t at)
{
	const struct next_hop_config *row = &view->config->next_hop[at];
	struct neighbor_question question = { .port = PORT_NONE, .vid = (uint16_t)row->vlan };
	const struct interface_config *interface = NULL;

	if (row->port[0] != '\0')
		question.port = port_of(view, row->port);
	if (question.vid == 0 && question.port.v != PORT_NONE.v)
		question.vid = view->pf->port[question.port.v].pvid;
	for (uint32_t i = 0; i < view->config->interface_count && interface == NULL; i++) {
		const uint16_t vid = (uint16_t)view->config->interface[i].vlan;

		if (question.vid == 0 || question.vid == vid)
			interface = neighbor_interface(view->config, vid, &row->address);
	}
	if (interface == NULL)
		return question;
	question.vid = (uint16_t)interface->vlan;
	question.sender = &interface->address;
	return question;
}

const struct group_member *neighbor_member_of(const struct sw_tables *t, uint32_t at)
{
	uint32_t i = 0;

	while (t->member[i].next_hop != at)
		i++;
	return &t->member[i];
}

bool neighbor_is_resolved(const struct neighbor_view *view, uint32_t at, const struct port_set *up)
{
	const struct next_hop_config *row = &view->config->next_hop[at];
	const struct group_member *m;

	if (!is_asked_for(row))
		return true;
	m = neighbor_member_of(view->tables, at);
	return !m->down && (row->port[0] != '\0' || port_set_has(up, m->port));
}
