// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/profile_acl.c and profile_guard.c: what rows of an access list and bindings may
// not say, and where the fault points. Every row edits one of them for SONiC's virtual switch, two
// ports with classes 3 and 4 lossless.

#include <stdio.h>
#include <stdlib.h>

#include "dataplane/core/profile.h"

#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PORTS = 2, LINE = 77 };

static enum profile_fault_id build(const struct sw_config *c, struct profile_fault *fault)
{
	struct sw_profile *pf = calloc(1, profile_bytes(c));

	cr_assert_not_null(pf);
	profile_build(c, pf, fault);
	free(pf);
	return fault->id;
}

static const struct {
	const char *what;
	size_t offset; // of a NAME knob in the row
	const char *text;
	enum profile_fault_id fault;
} text_rows[] = {
#define TEXT(what, key, text, fault)                                                               \
	{                                                                                          \
		what, offsetof(struct acl_config, key), text, fault                                \
	}
	TEXT("a group that exists", src_group, "blue", FAULT_NONE),
	TEXT("a group that does not exist", src_group, "red", FAULT_UNKNOWN_ACL_GROUP),
	TEXT("one port", l4_src_port, "53", FAULT_NONE),
	TEXT("all ports", l4_dst_port, "0-65535", FAULT_NONE),
	TEXT("port 65536", l4_dst_port, "65536", FAULT_BAD_PORT_RANGE),
	TEXT("a range that descends", l4_src_port, "20-10", FAULT_BAD_PORT_RANGE),
	TEXT("half a range", l4_src_port, "20-", FAULT_BAD_PORT_RANGE),
	TEXT("an EtherType", ether_type, "0x0806", FAULT_NONE),
	TEXT("a wide EtherType", ether_type, "0x10000", FAULT_BAD_ETHER_TYPE),
	TEXT("a word for an EtherType", ether_type, "arp", FAULT_BAD_ETHER_TYPE),
#undef TEXT
};

TABLE_TEST(core_profile_acl, texts, row, text_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;
	struct acl_config *acl;

	setup_acl_group(c, "blue", "10.0.0.0/8");
	acl = setup_acl(c, "row", ACL_DENY);
	acl->line = LINE;
	setup_name((char *)acl + row->offset, row->text);
	cr_assert_eq(build(c, &fault), row->fault, "%s", profile_fault_texts[fault.id]);
	cr_assert_eq(fault.line, row->fault != FAULT_NONE ? LINE : 0);
	free(c);
}

static void ip_and_group(struct acl_config *row)
{
	setup_prefix(&row->src_ip, "10.0.0.1");
	setup_name(row->src_group, "blue");
}

static void source_prefix(struct acl_config *row)
{
	row->src_mac = 0x02005e000000;
	row->src_mac_mask = 0xffffff000000;
}

static void source_outside(struct acl_config *row)
{
	source_prefix(row);
	row->src_mac |= 1;
}

static void group_bit(struct acl_config *row)
{
	row->dst_mac = 0x010000000000;
	row->dst_mac_mask = row->dst_mac;
}

static void group_bit_outside(struct acl_config *row)
{
	group_bit(row);
	row->dst_mac |= 2;
}

static void unknown_port(struct acl_config *row)
{
	setup_text(row->in_ports, "Ethernet0 Ethernet99");
}

static void no_port(struct acl_config *row)
{
	setup_text(row->in_ports, "");
}

static void same_name(struct acl_config *row)
{
	setup_name(row->name, "before");
}

static void empty_remark(struct acl_config *row)
{
	row->action = ACL_REMARK;
}

static void stray_set(struct acl_config *row)
{
	row->set_tc = 1;
}

static void stray_rate(struct acl_config *row)
{
	row->rate = 1000000;
}

static void no_rate(struct acl_config *row)
{
	row->action = ACL_POLICE;
	row->tc = 1;
}

static void police(struct acl_config *row, uint8_t classes)
{
	row->action = ACL_POLICE;
	row->rate = 1000000;
	row->tc = classes;
}

static void police_all(struct acl_config *row)
{
	police(row, 0);
}

static void police_some_lossless(struct acl_config *row)
{
	police(row, 1 << 1 | 1 << 4);
}

static void police_lossy(struct acl_config *row)
{
	police(row, 0xff & ~(1 << 3 | 1 << 4));
}

static void police_remark_all(struct acl_config *row)
{
	police(row, 0);
	row->exceed = ACL_EXCEED_REMARK;
	row->set_dscp = 8;
}

static void police_remark_nothing(struct acl_config *row)
{
	police(row, 0);
	row->exceed = ACL_EXCEED_REMARK;
}

static const struct {
	const char *what;
	void (*edit)(struct acl_config *row);
	enum profile_fault_id fault;
	uint64_t have;
} rule_rows[] = {
	{ "address and group", ip_and_group, FAULT_ACL_ADDRESS_TWICE, 0 },
	{ "a MAC prefix", source_prefix, FAULT_NONE, 0 },
	{ "bits outside of the mask", source_outside, FAULT_ACL_MAC_MASK, 0 },
	{ "the group bit", group_bit, FAULT_NONE, 0 },
	{ "bits outside of a mask that is no prefix", group_bit_outside, FAULT_ACL_MAC_MASK, 0 },
	{ "a port that does not exist", unknown_port, FAULT_UNKNOWN_PORT, 0 },
	{ "no port", no_port, FAULT_UNKNOWN_PORT, 0 },
	{ "a name used twice", same_name, FAULT_DUPLICATE_NAME, 0 },
	{ "a remark of nothing", empty_remark, FAULT_ACL_NO_REMARK, 0 },
	{ "set_tc without a remark", stray_set, FAULT_ACL_STRAY_KNOB, 0 },
	{ "a rate without a policer", stray_rate, FAULT_ACL_STRAY_KNOB, 0 },
	{ "a policer without a rate", no_rate, FAULT_ACL_NO_RATE, 0 },
	{ "a policer that drops lossless traffic", police_all, FAULT_ACL_POLICE_LOSSLESS, 3 },
	{ "one lossless class among others", police_some_lossless, FAULT_ACL_POLICE_LOSSLESS, 4 },
	{ "a policer of lossy classes", police_lossy, FAULT_NONE, 0 },
	{ "a policer that remarks lossless traffic", police_remark_all, FAULT_NONE, 0 },
	{ "a policer that remarks nothing", police_remark_nothing, FAULT_ACL_NO_REMARK, 0 },
};

TABLE_TEST(core_profile_acl, rules, row, rule_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;
	struct acl_config *acl;

	setup_acl_group(c, "blue", "10.0.0.0/8");
	setup_acl(c, "before", ACL_COUNT);
	acl = setup_acl(c, "row", ACL_DENY);
	acl->line = LINE;
	row->edit(acl);
	cr_assert_eq(build(c, &fault), row->fault, "%s", profile_fault_texts[fault.id]);
	cr_assert_eq(fault.have, row->have);
	cr_assert_eq(fault.line, row->fault != FAULT_NONE ? LINE : 0);
	free(c);
}

// As many rows and members as a configuration can have.
Test(core_profile_acl, full_table)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;

	for (uint32_t i = 0; i < CONFIG_ACL_MAX; i++) {
		char text[CONFIG_NAME_BYTES];

		snprintf(text, sizeof(text), "row%u", i);
		setup_acl(c, text, ACL_DENY);
		snprintf(text, sizeof(text), "10.%u.%u.0/24", i >> 8, i & 255);
		setup_prefix(&c->acl[i].src_ip, text);
		snprintf(text, sizeof(text), "fd00::%x", i);
		setup_prefix(&c->acl[i].dst_ip, text);
	}
	cr_assert_eq(build(c, &fault), FAULT_NONE);
	free(c);
}

// --- bindings of source guard -------------------------------------------------------------------

static const struct {
	const char *what;
	const char *port;
	uint64_t vlan, mac;
	enum profile_fault_id fault;
	uint64_t have;
} binding_rows[] = {
	{ "the port's own VLAN", "Ethernet0", CONFIG_UNSET, 0x020000000001, FAULT_NONE, 0 },
	{ "a VLAN it carries", "Ethernet0", 7, 0x020000000001, FAULT_NONE, 0 },
	{ "a VLAN it is not in", "Ethernet4", 7, 0x020000000001, FAULT_BINDING_VLAN, 7 },
	{ "no such VLAN", "Ethernet0", 8, 0x020000000001, FAULT_BINDING_VLAN, 8 },
	{ "no such port", "Ethernet8", 7, 0x020000000001, FAULT_UNKNOWN_PORT, 0 },
	{ "all ports at once", "all", CONFIG_UNSET, 0x020000000001, FAULT_UNKNOWN_PORT, 0 },
	{ "a group address", "Ethernet0", 7, 0x010000000001, FAULT_BINDING_MAC, 0 },
	{ "no address", "Ethernet0", 7, 0, FAULT_BINDING_MAC, 0 },
};

TABLE_TEST(core_profile_acl, bindings, row, binding_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;

	setup_vlan(c, 7, "", "Ethernet0");
	setup_binding(c, row->port, row->mac, "10.0.0.1");
	c->binding[0].vlan = row->vlan;
	c->binding[0].line = LINE;
	cr_assert_eq(build(c, &fault), row->fault, "%s", profile_fault_texts[fault.id]);
	cr_assert_eq(fault.have, row->have);
	cr_assert_eq(fault.line, row->fault != FAULT_NONE ? LINE : 0);
	free(c);
}
