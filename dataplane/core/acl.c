// SPDX-License-Identifier: BSD-3-Clause
//
// Between classification and admission: the access control list. Finds the row that decides about a
// packet, counts, and does what the row says: a refused packet has charged nothing yet, and a
// remarked one is admitted to the group of its new class.
//
// A port without rows never comes here (filter.c). Counters and policers of a row are the polling
// lcore's own: with several lcores each has a set, and a reader adds them up.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

enum {
	ARP_SENDER = 14, // of the IPv4 address, from the start of the ARP header
	ARP_TARGET = 24,
	IPV4_SOURCE = 12,
	IPV4_DESTINATION = 16,
	IPV6_SOURCE = 8,
	IPV6_DESTINATION = 24,
	ND_TARGET = 8, // from the start of the ICMPv6 header
	UDP_BYTES = 8,
};

static address_t load_ipv6(const uint8_t *at)
{
	return (address_t)load_be64(at) << 64 | load_be64(at + 8);
}

static void ipv4_pair(const uint8_t *l3, uint32_t source, uint32_t destination,
		      struct acl_addresses *out)
{
	out->kind = ACL_ADDRESS_IPV4;
	out->src = load_be32(l3 + source);
	out->dst = load_be32(l3 + destination);
}

static void ipv6_pair(const struct pkt *p, struct acl_addresses *out)
{
	const uint8_t *l3 = p->data + p->l3_offset;

	out->kind = ACL_ADDRESS_IPV6;
	out->src = load_ipv6(l3 + IPV6_SOURCE);
	out->dst = load_ipv6(l3 + IPV6_DESTINATION);
}

static bool is_mapped(address_t address)
{
	return address >> 32 == 0xffff;
}

void acl_addresses(const struct pkt *p, struct acl_addresses *out)
{
	const uint8_t *l3 = p->data + p->l3_offset;

	switch ((enum pkt_l3)p->l3) {
	case PKT_L3_IPV4: ipv4_pair(l3, IPV4_SOURCE, IPV4_DESTINATION, out); return;
	case PKT_L3_ARP: ipv4_pair(l3, ARP_SENDER, ARP_TARGET, out); return;
	case PKT_L3_IPV6:
		ipv6_pair(p, out);
		if (p->l4 == PKT_L4_ND && p->flags & PKT_GROUP)
			out->dst = load_ipv6(p->data + p->l4_offset + ND_TARGET);
		return;
	case PKT_L3_ROCE_V1:
		ipv6_pair(p, out);
		if (!is_mapped(out->src) || !is_mapped(out->dst))
			return;
		out->kind = ACL_ADDRESS_IPV4;
		out->src = (uint32_t)out->src;
		out->dst = (uint32_t)out->dst;
		return;
	case PKT_L3_OTHER:
	case PKT_L3_MAC_CONTROL:
	case PKT_L3_SLOW:
	case PKT_L3_LLDP:
	case PKT_L3_HELLO: break;
	}
	out->kind = ACL_ADDRESS_NONE;
}

// The UDP or TCP header, NULL when the packet has no ports.
static const uint8_t *ports_of(const struct pkt *p)
{
	switch ((enum pkt_l4)p->l4) {
	case PKT_L4_TCP:
	case PKT_L4_UDP: return p->data + p->l4_offset;
	case PKT_L4_BTH: return p->l3 == PKT_L3_ROCE_V1 ? NULL : p->data + p->l4_offset - UDP_BYTES;
	case PKT_L4_OTHER:
	case PKT_L4_ND:
	case PKT_L4_FRAGMENT: break;
	}
	return NULL;
}

static bool is_ip(const struct pkt *p)
{
	return p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6;
}

// A packet while its fields are asked for.
struct packet {
	const struct pkt *p;
	const uint8_t *ports;
	struct acl_addresses addresses;
	uint16_t vid;
};

// The packet's value of a field, false when it has none.
static bool field_value(const struct packet *in, enum acl_field field, address_t *out)
{
	const struct pkt *p = in->p;
	const struct acl_addresses *a = &in->addresses;

	switch (field) {
	case ACL_IN_PORT: *out = p->in_port.v; return true;
	case ACL_SRC_IPV4: *out = a->src; return a->kind == ACL_ADDRESS_IPV4;
	case ACL_SRC_IPV6: *out = a->src; return a->kind == ACL_ADDRESS_IPV6;
	case ACL_DST_IPV4: *out = a->dst; return a->kind == ACL_ADDRESS_IPV4;
	case ACL_DST_IPV6: *out = a->dst; return a->kind == ACL_ADDRESS_IPV6;
	case ACL_IP_PROTOCOL: *out = is_ip(p) ? parse_ip_protocol(p) : 0; return is_ip(p);
	case ACL_L4_SRC_PORT:
		*out = in->ports != NULL ? load_be16(in->ports) : 0;
		return in->ports != NULL;
	case ACL_L4_DST_PORT:
		*out = in->ports != NULL ? load_be16(in->ports + 2) : 0;
		return in->ports != NULL;
	case ACL_ETHER_TYPE: *out = load_be16(p->data + p->l3_offset - 2); return true;
	case ACL_SRC_MAC: *out = load_be48(p->data + 6); return true;
	case ACL_DST_MAC: *out = load_be48(p->data); return true;
	case ACL_VLAN_ID: *out = in->vid; return true;
	case ACL_DSCP: *out = pkt_dscp(p); return is_ip(p);
	case ACL_TC: *out = p->tc.v; return true;
	case ACL_BTH_OPCODE: *out = p->opcode; return p->l4 == PKT_L4_BTH;
	case ACL_BTH_DST_QP: *out = p->dst_qp; return p->l4 == PKT_L4_BTH;
	case ACL_FIELD_COUNT: break;
	}
	return false;
}

// A row about addresses asks for both kinds of them, so that a packet without any meets none such.
// Of the kind that the packet does not have nothing is asked then.
static uint32_t other_kind(enum acl_address_kind kind)
{
	switch (kind) {
	case ACL_ADDRESS_NONE: break;
	case ACL_ADDRESS_IPV4: return 1u << ACL_SRC_IPV6 | 1u << ACL_DST_IPV6;
	case ACL_ADDRESS_IPV6: return 1u << ACL_SRC_IPV4 | 1u << ACL_DST_IPV4;
	}
	return 0;
}

static void make_query(const struct acl_index *index, const struct port_profile *port,
		       const struct pkt *p, struct acl_query *query)
{
	struct packet in = { .p = p, .ports = ports_of(p), .vid = frame_vid(port, p) };

	query->count = 0;
	acl_addresses(p, &in.addresses);
	for (uint32_t left = index->fields & ~other_kind(in.addresses.kind); left != 0;
	     left &= left - 1) {
		const enum acl_field field = (enum acl_field)__builtin_ctz(left);
		address_t value;

		if (field_value(&in, field, &value))
			acl_query_value(index, query, field, value);
		else
			acl_query_absent(index, query, field);
	}
}

static bool meets_masks(const struct acl_row *row, const struct pkt *p)
{
	return ((load_be48(p->data + 6) ^ row->src_mac.value) & row->src_mac.mask) == 0 &&
	       ((load_be48(p->data) ^ row->dst_mac.value) & row->dst_mac.mask) == 0;
}

// Rewrites code point and class. RoCE's ICRC takes the traffic class and the header checksum as
// ones (IBTA A17.3.3), so it stays right; the ECN bits stay as they are.
static void remark(const struct acl_row *row, const struct port_profile *port, struct pkt *p)
{
	if (row->set_dscp != ACL_KEEP && is_ip(p)) {
		p->tos = (uint8_t)(row->set_dscp << 2 | pkt_ecn(p));
		if (p->l3 == PKT_L3_IPV4)
			ip_dscp_set_v4(p->data + p->l3_offset, row->set_dscp);
		else
			ip_dscp_set_v6(p->data + p->l3_offset, row->set_dscp);
	}
	if (row->set_tc == ACL_KEEP || p->flags & PKT_CNP)
		return;
	p->tc = (tc_t){ row->set_tc };
	p->pg = (pg_t){ port->tc_to_pg[row->set_tc] };
}

static enum drop_reason police(const struct acl_row *row, const struct port_profile *port,
			       struct acl_state *st, struct pkt *p, ns_t now)
{
	if (pacer_ready(&st->rate, now)) {
		pacer_charge(&row->rate, &st->rate, p->len, now);
		return DROP_NONE;
	}
	if (row->exceed == ACL_EXCEED_DENY)
		return DROP_ACL_POLICED;
	remark(row, port, p);
	return DROP_NONE;
}

// What the row that decides does with the packet.
static enum drop_reason act(const struct acl_row *row, const struct port_profile *port,
			    struct acl_state *st, struct pkt *p, ns_t now)
{
	switch ((enum acl_action)row->action) {
	case ACL_PERMIT:
	case ACL_COUNT: break;
	case ACL_DENY: return DROP_ACL_DENY;
	case ACL_REMARK: remark(row, port, p); break;
	case ACL_POLICE: return police(row, port, st, p, now);
	}
	return DROP_NONE;
}

enum drop_reason acl_apply(const struct sw_profile *pf, const struct port_profile *port,
			   struct acl_state *state, struct pkt *p, ns_t now)
{
	const struct acl_index *index = acl_index_of(pf);
	const struct acl_row *rows = acl_rows_of(pf);
	struct acl_query query;

	make_query(index, port, p, &query);
	for (uint32_t i = acl_query_next(index, &query, 0); i < index->row_count;
	     i = acl_query_next(index, &query, i + 1)) {
		enum drop_reason reason;

		if (rows[i].masked && !meets_masks(&rows[i], p))
			continue;
		state[i].stats.packets++;
		state[i].stats.bytes += p->len;
		reason = act(&rows[i], port, &state[i], p, now);
		state[i].stats.dropped_packets += reason != DROP_NONE;
		if (rows[i].action != ACL_COUNT)
			return reason;
	}
	return DROP_NONE;
}
