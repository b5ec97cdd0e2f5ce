// SPDX-License-Identifier: BSD-3-Clause
//
// The access list against a naive one: random rows of a configuration, random frames, and a matcher
// that reads the rows' own texts' numbers one after the other. The verdict, the row that decides
// and every counter must agree.

#include "base/bytes.h"
#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"
#include <stdio.h>
#include <string.h>

enum {
	PORTS = 4,
	HOSTS = 24,
	FRAMES = 120,
	ROWS_MAX = 200, // several words of the bit vectors
	GROUPS = 3,
	GROUP_HOSTS = 4,
};

// What a row asks for, in numbers; UINT32_MAX or an empty mask: nothing.
struct naive_row {
	enum acl_action action;
	uint32_t ports; // mask
	uint32_t src, src_bits, dst, dst_bits;
	bool src_v6, dst_v6;
	uint32_t src_group, dst_group;
	uint32_t proto, sport[2], dport[2], ethertype, vid, dscp, opcode, qp;
	uint8_t tc;
	uint64_t smac, smac_mask;
};

struct world {
	struct rng *rng;
	struct sw_config *config;
	uint32_t count;
	struct naive_row row[ROWS_MAX];
	uint32_t group[GROUPS][GROUP_HOSTS]; // addresses, IPv4 and behind fd00::/96 alike
	uint64_t packets[ROWS_MAX], bytes[ROWS_MAX], dropped[ROWS_MAX];
};

enum { ANY = UINT32_MAX };

static uint32_t below(struct world *w, uint32_t bound)
{
	return rng_below(w->rng, bound);
}

static bool one_in(struct world *w, uint32_t n)
{
	return random_one_in(w->rng, n);
}

static void ip_text(bool ipv6, uint32_t ip, uint32_t bits, char out[CONFIG_NAME_BYTES])
{
	if (ipv6)
		snprintf(out, CONFIG_NAME_BYTES, "fd00::%x:%x/%u", ip >> 16, ip & 0xffff,
			 96 + bits);
	else
		snprintf(out, CONFIG_NAME_BYTES, "%u.%u.%u.%u/%u", ip >> 24, ip >> 16 & 255,
			 ip >> 8 & 255, ip & 255, bits);
}

static uint32_t mask_of(uint32_t bits)
{
	return bits == 0 ? 0 : UINT32_MAX << (32 - bits);
}

static void random_prefix(struct world *w, uint32_t *ip, uint32_t *bits, bool *ipv6,
			  struct ip_prefix *out)
{
	char text[CONFIG_NAME_BYTES];

	*bits = one_in(w, 3) ? below(w, 33) : 28 + below(w, 5);
	*ip = frame_host_ip(below(w, HOSTS)) & mask_of(*bits);
	*ipv6 = one_in(w, 3);
	ip_text(*ipv6, *ip, *bits, text);
	setup_prefix(out, text);
}

static void random_address(struct world *w, struct naive_row *row, struct acl_config *c)
{
	switch (below(w, 4)) {
	case 0: random_prefix(w, &row->src, &row->src_bits, &row->src_v6, &c->src_ip); break;
	case 1:
		row->src_group = below(w, GROUPS);
		snprintf(c->src_group, CONFIG_NAME_BYTES, "g%u", row->src_group);
		break;
	default: break;
	}
	switch (below(w, 4)) {
	case 0: random_prefix(w, &row->dst, &row->dst_bits, &row->dst_v6, &c->dst_ip); break;
	case 1:
		row->dst_group = below(w, GROUPS);
		snprintf(c->dst_group, CONFIG_NAME_BYTES, "g%u", row->dst_group);
		break;
	default: break;
	}
}

static void random_range(struct world *w, uint32_t range[2], char out[CONFIG_NAME_BYTES])
{
	range[0] = 4788 + below(w, 6);
	range[1] = range[0] + (one_in(w, 2) ? below(w, 4) : 0);
	if (range[0] == range[1])
		snprintf(out, CONFIG_NAME_BYTES, "%u", range[0]);
	else
		snprintf(out, CONFIG_NAME_BYTES, "%u-%u", range[0], range[1]);
}

static void random_l4(struct world *w, struct naive_row *row, struct acl_config *c)
{
	if (one_in(w, 4))
		c->ip_protocol = row->proto = one_in(w, 2) ? 17 : 6;
	if (one_in(w, 5))
		random_range(w, row->sport, c->l4_src_port);
	if (one_in(w, 4))
		random_range(w, row->dport, c->l4_dst_port);
	if (one_in(w, 6))
		c->bth_opcode = row->opcode = below(w, 3);
	if (one_in(w, 6))
		c->bth_dst_qp = row->qp = below(w, 3);
}

static void random_mac(struct world *w, struct naive_row *row, struct acl_config *c)
{
	static const uint64_t masks[] = { 0xffffffffffff, 0xfffffffffff8, 0xff00000000ff,
					  0x000000000001 };

	row->smac_mask = masks[below(w, 4)];
	row->smac = frame_host_mac(below(w, HOSTS)) & row->smac_mask;
	c->src_mac = row->smac;
	c->src_mac_mask = row->smac_mask;
}

static void random_l2(struct world *w, struct naive_row *row, struct acl_config *c)
{
	static const uint16_t ethertypes[] = { 0x0800, 0x86dd, 0x0806, 0x88b5, 0x8915 };

	if (one_in(w, 4)) {
		const uint32_t port = below(w, PORTS);

		row->ports = 1u << port;
		setup_port_name(port, c->in_ports);
	}
	if (one_in(w, 6)) {
		row->ethertype = ethertypes[below(w, 5)];
		snprintf(c->ether_type, CONFIG_NAME_BYTES, "0x%04x", row->ethertype);
	}
	if (one_in(w, 8))
		c->vlan_id = row->vid = 1 + below(w, 2);
	if (one_in(w, 6))
		c->dscp = row->dscp = below(w, 5);
	if (one_in(w, 6)) {
		row->tc = (uint8_t)(1 + below(w, 255));
		c->tc = row->tc;
	}
	if (one_in(w, 5))
		random_mac(w, row, c);
}

static void random_row(struct world *w, uint32_t i)
{
	static const enum acl_action actions[] = { ACL_PERMIT, ACL_DENY, ACL_COUNT };
	struct naive_row *row = &w->row[i];
	char name[16];
	struct acl_config *c;

	*row = (struct naive_row){ .action = actions[below(w, 3)],
				   .ports = ANY,
				   .src = ANY,
				   .dst = ANY,
				   .src_bits = ANY,
				   .dst_bits = ANY,
				   .src_group = ANY,
				   .dst_group = ANY,
				   .proto = ANY,
				   .sport = { ANY },
				   .dport = { ANY },
				   .ethertype = ANY,
				   .vid = ANY,
				   .dscp = ANY,
				   .opcode = ANY,
				   .qp = ANY };
	snprintf(name, sizeof(name), "row%u", i);
	c = setup_acl(w->config, name, row->action);
	random_address(w, row, c);
	random_l4(w, row, c);
	random_l2(w, row, c);
}

static void random_groups(struct world *w)
{
	for (uint32_t g = 0; g < GROUPS; g++) {
		for (uint32_t k = 0; k < GROUP_HOSTS; k++) {
			char text[CONFIG_NAME_BYTES];
			char name[8];

			w->group[g][k] = frame_host_ip(below(w, HOSTS));
			snprintf(name, sizeof(name), "g%u", g);
			ip_text(false, w->group[g][k], 32, text);
			setup_acl_group(w->config, name, text);
			ip_text(true, w->group[g][k], 32, text);
			setup_acl_group(w->config, name, text);
		}
	}
}

// --- the naive matcher ------------------------------------------------------------------------

static bool has_addresses(const struct frame *f)
{
	return f->kind != FRAME_PLAIN;
}

static bool frame_is_v6(const struct frame *f)
{
	return f->kind == FRAME_ROCE_V1 ||
	       (f->ipv6 && f->kind != FRAME_ARP_REQUEST && f->kind != FRAME_ARP_REPLY);
}

static bool in_group(const struct world *w, uint32_t group, uint32_t ip)
{
	for (uint32_t k = 0; k < GROUP_HOSTS; k++) {
		if (w->group[group][k] == ip)
			return true;
	}
	return false;
}

static bool side_meets(const struct world *w, const struct frame *f, uint32_t want, uint32_t bits,
		       bool want_v6, uint32_t group, uint32_t ip)
{
	if (group != ANY)
		return has_addresses(f) && in_group(w, group, ip);
	if (bits == ANY)
		return true;
	return has_addresses(f) && frame_is_v6(f) == want_v6 && (ip & mask_of(bits)) == want;
}

static bool has_ports(const struct frame *f)
{
	return f->kind == FRAME_ROCE || f->kind == FRAME_UDP || f->kind == FRAME_TCP;
}

static bool port_meets(const struct frame *f, const uint32_t range[2], uint32_t port)
{
	return range[0] == ANY || (has_ports(f) && range[0] <= port && port <= range[1]);
}

static bool l4_meets(const struct frame *f, const struct naive_row *row)
{
	const bool roce = f->kind == FRAME_ROCE || f->kind == FRAME_ROCE_V1;
	const uint32_t proto = f->kind == FRAME_TCP ? 6 : 17;

	return (row->proto == ANY || (has_ports(f) && row->proto == proto)) &&
	       port_meets(f, row->sport, f->src_port) &&
	       port_meets(f, row->dport, f->kind == FRAME_ROCE ? 4791 : f->dst_port) &&
	       (row->opcode == ANY || (roce && row->opcode == f->opcode)) &&
	       (row->qp == ANY || (roce && row->qp == f->qp));
}

// Class by AZURE: the DSCP of IP, else the PCP of tagged frames (0 here: class 1), else 0.
static uint32_t class_of(const struct frame *f)
{
	static const uint8_t by_dscp[] = { 1, 1, 1, 3, 4 };

	if (has_ports(f))
		return by_dscp[f->dscp];
	return f->tag_count > 0 ? 1 : 0;
}

static bool l2_meets(const struct frame *f, uint32_t port, const struct naive_row *row)
{
	const uint32_t vid = f->tag_count > 0 && f->tag[0].tci != 0 ? f->tag[0].tci : 1;

	return row->ports >> port & 1 &&
	       (row->ethertype == ANY || row->ethertype == frame_ethertype(f)) &&
	       (row->vid == ANY || row->vid == vid) &&
	       (row->dscp == ANY || (has_ports(f) && row->dscp == f->dscp)) &&
	       (row->tc == 0 || row->tc >> class_of(f) & 1) &&
	       (f->src & row->smac_mask) == row->smac;
}

static bool meets(const struct world *w, const struct frame *f, uint32_t port,
		  const struct naive_row *row)
{
	return l2_meets(f, port, row) && l4_meets(f, row) &&
	       side_meets(w, f, row->src, row->src_bits, row->src_v6, row->src_group, f->src_ip) &&
	       side_meets(w, f, row->dst, row->dst_bits, row->dst_v6, row->dst_group, f->dst_ip);
}

// Whether the frame is denied; counts.
static bool denied(struct world *w, const struct frame *f, uint32_t port, uint32_t len)
{
	for (uint32_t i = 0; i < w->count; i++) {
		const struct naive_row *row = &w->row[i];

		if (!meets(w, f, port, row))
			continue;
		w->packets[i]++;
		w->bytes[i] += len;
		w->dropped[i] += row->action == ACL_DENY;
		if (row->action != ACL_COUNT)
			return row->action == ACL_DENY;
	}
	return false;
}

static struct frame random_frame(struct world *w, uint32_t port)
{
	static const enum frame_kind kinds[] = { FRAME_ROCE,  FRAME_UDP,         FRAME_TCP,
						 FRAME_PLAIN, FRAME_ARP_REQUEST, FRAME_ROCE_V1 };
	struct frame f = rig_frame(below(w, HOSTS), below(w, HOSTS), (uint8_t)below(w, 5), 128);

	f.kind = kinds[below(w, 6)];
	f.ipv6 = one_in(w, 3);
	f.ethertype = 0x88b5;
	f.opcode = (uint8_t)below(w, 3);
	f.qp = below(w, 3);
	f.src_port = (uint16_t)(4787 + below(w, 9));
	f.dst_port = (uint16_t)(4787 + below(w, 9));
	if (f.dst_port == 4791) // a UDP frame to it would be RoCE
		f.dst_port = 4787;
	f.tag_count = one_in(w, 3);
	f.tag[0].tci = (uint16_t)below(w, 3);
	return f;
}

static void check_counters(const struct world *w, const struct rig *rig)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct acl_stats st;

		sw_stats_acl(rig->sw, i, &st);
		cr_assert_eq(st.packets, w->packets[i], "row %u", i);
		cr_assert_eq(st.bytes, w->bytes[i], "row %u", i);
		cr_assert_eq(st.dropped_packets, w->dropped[i], "row %u", i);
	}
}

SEED_TEST(prop, core_acl, rng, 250)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t want[PORTS] = { 0 };
	struct rig *rig;

	w->rng = rng;
	w->config = setup_kvm(PORTS);
	random_groups(w);
	w->count = 1 + below(w, one_in(w, 3) ? ROWS_MAX : 12);
	for (uint32_t i = 0; i < w->count; i++)
		random_row(w, i);
	rig = rig_new(w->config);
	rig->answer_punt = false;
	for (uint32_t n = 0; n < FRAMES; n++) {
		const uint32_t port = below(w, PORTS);
		struct frame f = random_frame(w, port);
		struct pkt *p = rig_build(rig, &f);

		want[port] += denied(w, &f, port, p->len);
		rig_rx(rig, port, &p, 1);
		for (uint32_t k = 0; k < PORTS; k++)
			rig_release(rig, k, UINT64_MAX);
		cr_assert(sw_conserved(rig->sw));
	}
	for (uint32_t port = 0; port < PORTS; port++)
		cr_assert_eq(rig_drops(rig, port, DROP_ACL_DENY), want[port]);
	check_counters(w, rig);
	rig_end(rig);
	free(w);
}
