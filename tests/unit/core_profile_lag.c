// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/profile_lag.c: which ports make a LAG, and what names it may be called by. Every
// row edits the platform configuration of SONiC's virtual switch with two ports.

#include <stdlib.h>

#include "dataplane/core/profile.h"

#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PORTS = 2 };

#define G 1000000000ull

static void lag_of_two(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet4 Ethernet0");
}

static void lag_twice(struct sw_config *c)
{
	lag_of_two(c);
	setup_lag(c, "PortChannel1", "");
}

static void lag_named_like_a_port(struct sw_config *c)
{
	setup_lag(c, "Ethernet0", "Ethernet4");
}

static void lag_named_all(struct sw_config *c)
{
	setup_lag(c, "all", "Ethernet4");
}

static void lag_without_members(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", " ");
}

static void lag_of_no_such_port(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet0 Ethernet3");
}

static void port_in_two_lags(struct sw_config *c)
{
	lag_of_two(c);
	setup_lag(c, "PortChannel2", "Ethernet0");
}

static void port_in_a_lag_twice(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet0 Ethernet0");
}

static void lag_of_few_links(struct sw_config *c)
{
	lag_of_two(c);
	c->lag[0].min_links = 3;
}

static void lag_of_two_speeds(struct sw_config *c)
{
	lag_of_two(c);
	c->port[1].speed = 10 * G;
}

static void lag_of_two_pfc(struct sw_config *c)
{
	lag_of_two(c);
	c->port[1].pfc_asymmetric = 1;
}

static void lag_of_two_roles(struct sw_config *c)
{
	lag_of_two(c);
	c->port[0].role = CONFIG_ROLE_FABRIC;
}

static void lag_of_two_mtus(struct sw_config *c)
{
	lag_of_two(c);
	c->port[1].mtu = 1500;
}

static void lag_of_two_maps(struct sw_config *c)
{
	lag_of_two(c);
	c->port[1].default_tc = 2;
}

static void lag_of_two_queues(struct sw_config *c)
{
	lag_of_two(c);
	setup_scheduler(c, "s", CONFIG_SCHEDULER_DWRR, 7);
	setup_queue(c, "Ethernet4", 1, "s", "");
}

static void vlan_of_a_lag(struct sw_config *c)
{
	lag_of_two(c);
	setup_vlan(c, 10, "PortChannel1", "");
}

static void vlan_of_a_member(struct sw_config *c)
{
	lag_of_two(c);
	setup_vlan(c, 10, "Ethernet0", "");
}

static void lag_untagged_twice(struct sw_config *c)
{
	vlan_of_a_lag(c);
	setup_vlan(c, 20, "all", "");
}

static const struct {
	const char *what;
	void (*edit)(struct sw_config *c);
	enum profile_fault_id want;
	uint64_t have, allowed; // numbers of the fault, where they are the point
} lag_rows[] = {
	{ "a LAG", lag_of_two, FAULT_NONE, 0, 0 },
	{ "two LAGs of one name", lag_twice, FAULT_DUPLICATE_NAME, 0, 0 },
	{ "a LAG with a port's name", lag_named_like_a_port, FAULT_DUPLICATE_NAME, 0, 0 },
	{ "a LAG called all", lag_named_all, FAULT_BAD_NAME, 0, 0 },
	{ "a LAG without members", lag_without_members, FAULT_LAG_EMPTY, 0, 0 },
	{ "a LAG of no such port", lag_of_no_such_port, FAULT_UNKNOWN_PORT, 0, 0 },
	{ "a port in two LAGs", port_in_two_lags, FAULT_LAG_MEMBER_TWICE, 0, 0 },
	{ "a port in a LAG twice", port_in_a_lag_twice, FAULT_LAG_MEMBER_TWICE, 0, 0 },
	{ "more min_links than members", lag_of_few_links, FAULT_LAG_MIN_LINKS, 3, 2 },
	{ "members of two speeds", lag_of_two_speeds, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "members that obey differently", lag_of_two_pfc, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "members of two roles", lag_of_two_roles, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "members of two MTUs", lag_of_two_mtus, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "members of two classes", lag_of_two_maps, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "members of two schedulers", lag_of_two_queues, FAULT_LAG_MEMBERS_DIFFER, 0, 0 },
	{ "a VLAN of a LAG", vlan_of_a_lag, FAULT_NONE, 0, 0 },
	{ "a VLAN of a member", vlan_of_a_member, FAULT_LAG_MEMBER_NAMED, 0, 0 },
	{ "a LAG untagged in two VLANs", lag_untagged_twice, FAULT_VLAN_PORT_TWICE, 0, 0 },
};

TABLE_TEST(core_profile_lag, fault, row, lag_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct sw_profile *pf;
	struct profile_fault fault;

	row->edit(c);
	pf = calloc(1, profile_bytes(c));
	cr_assert_not_null(pf);
	profile_build(c, pf, &fault);
	free(pf);
	free(c);
	cr_assert_eq(fault.id, row->want, "%s: %s", row->what, profile_fault_texts[fault.id]);
	if (row->have != 0) {
		cr_expect_eq(fault.have, row->have, "%s: %lu", row->what, fault.have);
		cr_expect_eq(fault.want, row->allowed, "%s: %lu", row->what, fault.want);
	}
}
