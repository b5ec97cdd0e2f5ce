// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: the access control list. Tells the rows of the configuration to the index, once per
// pass of its building, and keeps of each row what is done with a packet that meets it.
//
// A policer that drops is refused where it could meet a lossless class: the class was promised that
// congestion pauses its sender, and a rate limit that does not pause would break that promise in
// silence. A shaped queue limits such traffic and keeps it.

#include "dataplane/core/profile_build.h"

#include "base/units.h"

enum { CLASSES_ALL = 0xff };

#define MAC_ALL 0xffffffffffffu

// One pass over the rows.
struct pass {
	struct build *b;
	struct acl_builder *index;
	// Groups whose bounds the index knows, as source and as destination.
	bool told[2][CONFIG_ACL_GROUP_MAX];
};

// A side of a conversation.
struct side {
	const struct ip_prefix *ip;
	const char *group;
	const char *both; // names of the two knobs
	enum acl_field ipv4;
	enum acl_field ipv6;
	bool *told;
};

static size_t length(const char *text)
{
	size_t len = 0;

	while (len < CONFIG_NAME_BYTES && text[len] != '\0')
		len++;
	return len;
}

// The addresses of a prefix as numbers.
static void tell_prefix(struct pass *ps, const struct side *side, uint32_t i,
			const struct ip_prefix *prefix)
{
	const uint32_t bits = ip_family_bits(prefix->family);
	address_t first = 0;
	address_t rest = 0;

	for (uint32_t k = 0; k < bits; k++) {
		first = first << 1 | (prefix->address[k / 8] >> (7 - k % 8) & 1);
		rest = rest << 1 | (k >= prefix->len);
	}
	acl_build_range(ps->index, prefix->family == IP_V6 ? side->ipv6 : side->ipv4, i, first,
			first | rest);
}

static int tell_group(struct pass *ps, const struct side *side, uint32_t i)
{
	const struct sw_config *config = ps->b->config;
	bool found = false;

	for (uint32_t g = 0; g < config->acl_group_count; g++) {
		if (!name_equal(config->acl_group[g].name, side->group))
			continue;
		found = true;
		if (side->told[g] && acl_build_wants_bounds(ps->index))
			continue;
		side->told[g] = true;
		tell_prefix(ps, side, i, &config->acl_group[g].prefix);
	}
	return found ? 0 :
		       build_fail(ps->b, FAULT_UNKNOWN_ACL_GROUP, config->acl[i].line,
				  config->acl[i].name, side->group, 0, 0);
}

static int tell_side(struct pass *ps, const struct side *side, uint32_t i)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	const bool ip = side->ip->family != IP_NONE;
	const bool group = side->group[0] != '\0';

	if (!ip && !group)
		return 0;
	if (ip && group)
		return build_fail(ps->b, FAULT_ACL_ADDRESS_TWICE, row->line, row->name, side->both,
				  0, 0);
	acl_build_restrict(ps->index, side->ipv4, i);
	acl_build_restrict(ps->index, side->ipv6, i);
	if (group)
		return tell_group(ps, side, i);
	tell_prefix(ps, side, i, side->ip);
	return 0;
}

static int tell_addresses(struct pass *ps, uint32_t i)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	const struct side src = { &row->src_ip, row->src_group, "src_ip and src_group",
				  ACL_SRC_IPV4, ACL_SRC_IPV6,   ps->told[0] };
	const struct side dst = { &row->dst_ip, row->dst_group, "dst_ip and dst_group",
				  ACL_DST_IPV4, ACL_DST_IPV6,   ps->told[1] };
	int rc = tell_side(ps, &src, i);

	return rc != 0 ? rc : tell_side(ps, &dst, i);
}

static int tell_ports(struct pass *ps, uint32_t i)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	const char *names = row->in_ports;
	char name[CONFIG_NAME_BYTES];
	bool any = false;

	if (name_equal(names, "all"))
		return 0;
	acl_build_restrict(ps->index, ACL_IN_PORT, i);
	while (next_word(&names, name)) {
		uint32_t first, end;
		int rc = find_ports(ps->b, name, row->line, row->name, &first, &end);

		if (rc != 0)
			return rc;
		acl_build_range(ps->index, ACL_IN_PORT, i, first, end - 1);
		any = true;
	}
	return any ? 0 : build_fail(ps->b, FAULT_UNKNOWN_PORT, row->line, row->name, "", 0, 0);
}

// A number or a range "first-last" up to 65535.
static bool parse_port_range(const char *text, uint64_t *first, uint64_t *last)
{
	const size_t len = length(text);
	size_t dash = 0;

	while (dash < len && text[dash] != '-')
		dash++;
	if (!unit_parse(UNIT_COUNT, text, dash, first))
		return false;
	*last = *first;
	if (dash < len && !unit_parse(UNIT_COUNT, text + dash + 1, len - dash - 1, last))
		return false;
	return *first <= *last && *last <= UINT16_MAX;
}

static int tell_port_range(struct pass *ps, enum acl_field field, uint32_t i, const char *text)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	uint64_t first, last;

	if (text[0] == '\0')
		return 0;
	if (!parse_port_range(text, &first, &last))
		return build_fail(ps->b, FAULT_BAD_PORT_RANGE, row->line, row->name, text, 0, 0);
	acl_build_restrict(ps->index, field, i);
	acl_build_range(ps->index, field, i, first, last);
	return 0;
}

static void tell_number(struct pass *ps, enum acl_field field, uint32_t i, uint64_t value)
{
	if (value == CONFIG_UNSET)
		return;
	acl_build_restrict(ps->index, field, i);
	acl_build_range(ps->index, field, i, value, value);
}

static int tell_ether_type(struct pass *ps, uint32_t i)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	uint64_t value = CONFIG_UNSET;

	if (row->ether_type[0] != '\0' &&
	    (!unit_parse(UNIT_COUNT, row->ether_type, length(row->ether_type), &value) ||
	     value > UINT16_MAX))
		return build_fail(ps->b, FAULT_BAD_ETHER_TYPE, row->line, row->name,
				  row->ether_type, 0, 0);
	tell_number(ps, ACL_ETHER_TYPE, i, value);
	return 0;
}

static void tell_classes(struct pass *ps, uint32_t i)
{
	const uint64_t classes = ps->b->config->acl[i].tc;

	if (classes == 0 || classes == CLASSES_ALL)
		return;
	acl_build_restrict(ps->index, ACL_TC, i);
	for (uint32_t tc = 0; tc < TC_COUNT; tc++) {
		if (classes >> tc & 1)
			acl_build_range(ps->index, ACL_TC, i, tc, tc);
	}
}

// A mask whose ones come first is a range, which the index knows.
static bool is_prefix(uint64_t mask)
{
	const uint64_t rest = ~mask & MAC_ALL;

	return (rest & (rest + 1)) == 0;
}

static void tell_mac(struct pass *ps, enum acl_field field, uint32_t i, uint64_t mac, uint64_t mask)
{
	if (mac == CONFIG_UNSET || !is_prefix(mask))
		return;
	acl_build_restrict(ps->index, field, i);
	acl_build_range(ps->index, field, i, mac & mask, mac | (~mask & MAC_ALL));
}

static int tell_row(struct pass *ps, uint32_t i)
{
	const struct acl_config *row = &ps->b->config->acl[i];
	int rc = tell_ports(ps, i);

	tell_number(ps, ACL_IP_PROTOCOL, i, row->ip_protocol);
	tell_number(ps, ACL_VLAN_ID, i, row->vlan_id);
	tell_number(ps, ACL_DSCP, i, row->dscp);
	tell_number(ps, ACL_BTH_OPCODE, i, row->bth_opcode);
	tell_number(ps, ACL_BTH_DST_QP, i, row->bth_dst_qp);
	tell_classes(ps, i);
	tell_mac(ps, ACL_SRC_MAC, i, row->src_mac, row->src_mac_mask);
	tell_mac(ps, ACL_DST_MAC, i, row->dst_mac, row->dst_mac_mask);
	if (rc == 0)
		rc = tell_addresses(ps, i);
	if (rc == 0)
		rc = tell_port_range(ps, ACL_L4_SRC_PORT, i, row->l4_src_port);
	if (rc == 0)
		rc = tell_port_range(ps, ACL_L4_DST_PORT, i, row->l4_dst_port);
	return rc == 0 ? tell_ether_type(ps, i) : rc;
}

static int tell_rows(struct build *b, struct acl_builder *index)
{
	struct pass ps = { .b = b, .index = index };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->config->acl_count; i++)
		rc = tell_row(&ps, i);
	return rc;
}

static size_t rows_bytes(const struct sw_config *config)
{
	return (config->acl_count * sizeof(struct acl_row) + 15) & ~(size_t)15;
}

// A wrong row ends the count early, and profile_build() before the memory is used.
size_t profile_acl_bytes(const struct sw_config *config)
{
	struct profile_fault ignored;
	struct build b = { config, NULL, &ignored };
	struct acl_builder index;

	if (config->acl_count == 0)
		return 0;
	acl_build_begin(&index, config->acl_count);
	tell_rows(&b, &index);
	return rows_bytes(config) + acl_build_bytes(&index);
}

static int build_index(struct build *b)
{
	struct acl_builder index;
	int rc;

	acl_build_begin(&index, b->config->acl_count);
	rc = tell_rows(b, &index);
	if (rc != 0)
		return rc;
	acl_build_bounds(&index, (uint8_t *)b->pf + b->pf->acl_index_at);
	tell_rows(b, &index);
	acl_build_rows(&index);
	tell_rows(b, &index);
	acl_build_end(&index);
	return 0;
}

// Ports that the row looks at, which all exist.
static void find_row_ports(struct build *b, const struct acl_config *row, struct port_set *out)
{
	const char *names = row->in_ports;
	char name[CONFIG_NAME_BYTES];

	*out = (struct port_set){ 0 };
	while (next_word(&names, name)) {
		uint32_t first, end;

		find_ports(b, name, row->line, row->name, &first, &end);
		for (uint32_t n = first; n < end; n++)
			port_set_add(out, (port_t){ (uint16_t)n });
	}
}

// The first class of `classes` that is lossless on the port, TC_COUNT when none is.
static uint32_t first_lossless(const struct port_profile *port, uint64_t classes)
{
	uint32_t tc = 0;

	while (tc < TC_COUNT && !(classes >> tc & 1 && port->pg[port->tc_to_pg[tc]].lossless))
		tc++;
	return tc;
}

static int check_police(struct build *b, const struct acl_config *row, const struct port_set *ports)
{
	const uint64_t classes = row->tc != 0 ? row->tc : CLASSES_ALL;

	if (row->action != ACL_POLICE || row->exceed != ACL_EXCEED_DENY)
		return 0;
	PORT_SET_FOR_EACH(n, ports) {
		const struct port_profile *port = &b->pf->port[n.v];
		const uint32_t tc = first_lossless(port, classes);

		if (tc < TC_COUNT)
			return build_fail(b, FAULT_ACL_POLICE_LOSSLESS, row->line, row->name,
					  port->name, tc, 0);
	}
	return 0;
}

// Knobs of an action stand with that action only, and complete.
static int check_action(struct build *b, const struct acl_config *row)
{
	const bool polices = row->action == ACL_POLICE;
	const bool remarks = row->action == ACL_REMARK ||
			     (polices && row->exceed == ACL_EXCEED_REMARK);
	const bool sets = row->set_dscp != CONFIG_UNSET || row->set_tc != CONFIG_UNSET;

	if (remarks && !sets)
		return build_fail(b, FAULT_ACL_NO_REMARK, row->line, row->name, "", 0, 0);
	if (!remarks && sets)
		return build_fail(b, FAULT_ACL_STRAY_KNOB, row->line, row->name,
				  "set_dscp or set_tc", 0, 0);
	if (polices && row->rate == 0)
		return build_fail(b, FAULT_ACL_NO_RATE, row->line, row->name, "", 0, 0);
	if (!polices && (row->rate != 0 || row->exceed != ACL_EXCEED_DENY))
		return build_fail(b, FAULT_ACL_STRAY_KNOB, row->line, row->name, "rate or exceed",
				  0, 0);
	return 0;
}

static int check_masks(struct build *b, const struct acl_config *row)
{
	if (row->src_mac != CONFIG_UNSET && row->src_mac & ~row->src_mac_mask)
		return build_fail(b, FAULT_ACL_MAC_MASK, row->line, row->name, "src_mac", 0, 0);
	if (row->dst_mac != CONFIG_UNSET && row->dst_mac & ~row->dst_mac_mask)
		return build_fail(b, FAULT_ACL_MAC_MASK, row->line, row->name, "dst_mac", 0, 0);
	return 0;
}

static int check_row(struct build *b, uint32_t i, const struct port_set *ports)
{
	const struct acl_config *row = &b->config->acl[i];
	int rc;

	for (uint32_t k = 0; k < i; k++) {
		if (name_equal(b->config->acl[k].name, row->name))
			return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
	}
	rc = check_masks(b, row);
	if (rc == 0)
		rc = check_action(b, row);
	return rc != 0 ? rc : check_police(b, row, ports);
}

static void fill_mac_mask(uint64_t mac, uint64_t mask, struct acl_mac_mask *out, bool *masked)
{
	if (mac == CONFIG_UNSET || is_prefix(mask))
		return;
	*out = (struct acl_mac_mask){ mac, mask };
	*masked = true;
}

// On how many lcores the row has a policer.
static uint32_t lcores_of(const struct sw_profile *pf, const struct port_set *ports)
{
	uint64_t lcores = 0;

	PORT_SET_FOR_EACH(n, ports)
		lcores |= 1ull << pf->port[n.v].lcore.v;
	return (uint32_t)__builtin_popcountll(lcores);
}

static void fill_row(const struct acl_config *row, uint32_t lcores, struct acl_row *out)
{
	const uint64_t bps = row->rate != 0 ? u64_max(row->rate / lcores, 1) : 0;

	name_copy(out->name, row->name);
	out->action = (uint8_t)row->action;
	out->exceed = (uint8_t)row->exceed;
	out->set_dscp = row->set_dscp == CONFIG_UNSET ? ACL_KEEP : (uint8_t)row->set_dscp;
	out->set_tc = row->set_tc == CONFIG_UNSET ? ACL_KEEP : (uint8_t)row->set_tc;
	out->rate = (struct pacer_profile){ bps, bytes_ns(row->burst / lcores, bps) };
	fill_mac_mask(row->src_mac, row->src_mac_mask, &out->src_mac, &out->masked);
	fill_mac_mask(row->dst_mac, row->dst_mac_mask, &out->dst_mac, &out->masked);
}

int build_acl(struct build *b)
{
	const struct sw_config *config = b->config;
	struct sw_profile *pf = b->pf;
	struct acl_row *rows;
	int rc;

	pf->acl_count = config->acl_count;
	pf->acl_capacity = (uint32_t)u64_max(config->sw.acl_count, config->acl_count);
	pf->acl_rows_at = profile_ports_bytes(config);
	pf->acl_index_at = pf->acl_rows_at + rows_bytes(config);
	if (config->acl_count == 0)
		return 0;
	rows = (struct acl_row *)((uint8_t *)pf + pf->acl_rows_at);
	rc = build_index(b);
	for (uint32_t i = 0; rc == 0 && i < config->acl_count; i++) {
		struct port_set ports;

		find_row_ports(b, &config->acl[i], &ports);
		rc = check_row(b, i, &ports);
		fill_row(&config->acl[i], lcores_of(pf, &ports), &rows[i]);
		PORT_SET_FOR_EACH(n, &ports)
			pf->port[n.v].filters |= FILTER_ACL;
	}
	return rc;
}
