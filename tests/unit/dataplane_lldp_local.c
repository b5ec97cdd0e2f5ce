// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch says of a port, from configurations: the stock one of SONiC's virtual switch and
// edits of it. Shares follow from the weights by arithmetic, applications from the maps.

#include "dataplane/lldp_local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PORTS = 2, TTL = 121 };

static void set_text(char *out, size_t bytes, const char *text)
{
	snprintf(out, bytes, "%s", text);
}

static void say(struct sw_config *c, uint16_t port, struct lldp_info *out)
{
	struct sw_profile *pf = aligned_alloc(16, (profile_bytes(c) + 15) & ~(size_t)15);
	struct profile_fault fault;

	cr_assert_eq(profile_build(c, pf, &fault), 0, "%s", profile_fault_texts[fault.id]);
	lldp_local(c, pf, (port_t){ port }, TTL, out);
	free(pf);
	free(c);
}

Test(dataplane_lldp_local, identity)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct lldp_info info;

	set_text(c->sw.name, sizeof(c->sw.name), "leaf1");
	set_text(c->port[1].alias, sizeof(c->port[1].alias), "rack 7");
	c->port[1].mtu = 9100;
	setup_vlan(c, 20, "all", "");
	say(c, 1, &info);
	cr_expect_eq(info.chassis.subtype, LLDP_CHASSIS_MAC);
	cr_expect_eq(info.chassis.len, 6);
	cr_expect_eq(info.chassis.bytes[0], 2, "locally administered, one host");
	cr_expect_eq(info.port.subtype, LLDP_PORT_IFNAME);
	cr_expect_eq(memcmp(info.port.bytes, "Ethernet4", 9), 0);
	cr_expect_eq(info.ttl_seconds, TTL);
	cr_expect_eq(memcmp(info.port_description.bytes, "rack 7", 6), 0);
	cr_expect_eq(memcmp(info.system_name.bytes, "leaf1", 5), 0);
	cr_expect_eq(memcmp(info.system_description.bytes, "weft ", 5), 0);
	cr_expect_eq(info.enabled, LLDP_CAP_BRIDGE, "it has no address");
	cr_expect_eq(info.address_family, 0);
	cr_expect_eq(info.pvid, 20);
	cr_expect_eq(info.max_frame_bytes, 9100 + 14 + 4 + 4);
}

Test(dataplane_lldp_local, a_router_says_its_first_address)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct interface_config *row = setup_add_row(c, "interface");
	struct lldp_info info;

	row->vlan = 1;
	row->address = (struct ip_prefix){ IP_V4, 24, { 10, 1, 0, 1 } };
	set_text(c->sw.lldp_description, sizeof(c->sw.lldp_description), "the one by the door");
	say(c, 0, &info);
	cr_expect_eq(info.enabled, LLDP_CAP_BRIDGE | LLDP_CAP_ROUTER);
	cr_expect_eq(info.address_family, 1);
	cr_expect_eq(info.address_len, 4);
	cr_expect_eq(memcmp(info.address, (uint8_t[]){ 10, 1, 0, 1 }, 4), 0);
	cr_expect_eq(memcmp(info.system_description.bytes, "the one", 7), 0);
	cr_expect_eq(memcmp(info.port_description.bytes, "Ethernet0", 9), 0, "without an alias");
}

static void as_it_is(struct sw_config *c)
{
}

static void without_pfc(struct sw_config *c)
{
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].pfc_enable = 0;
	// Then groups have no headroom to give.
	for (uint32_t i = 0; i < c->buffer_pg_count; i++)
		set_text(c->buffer_pg[i].profile, sizeof(c->buffer_pg[i].profile), KVM_PG_LOSSY);
}

static void by_pcp(struct sw_config *c)
{
	c->port[0].trust = CONFIG_TRUST_PCP;
}

// RoCE hosts of NVIDIA and others mark with DSCP 26.
static void dscp_26(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "mine", "26:4 27:3 *:0");
	set_text(c->port[0].dscp_to_tc_map, sizeof(c->port[0].dscp_to_tc_map), "mine");
}

static void holding(struct sw_config *c)
{
	c->port[0].pause = CONFIG_PAUSE_HOLD;
}

#define APPS 4
static const struct {
	const char *what;
	void (*edit)(struct sw_config *c);
	uint8_t pfc;
	bool held;
	uint32_t app_count;
	struct dcbx_app app[APPS]; // the rest is 0
} app_rows[] = {
	// AZURE: DSCP 3 is class 3, 4 is class 4.
	{ "stock",
	  as_it_is,
	  0x18,
	  false,
	  3,
	  { { 3, DCBX_SELECT_UDP, 4791 },
	    { 3, DCBX_SELECT_DSCP, 3 },
	    { 4, DCBX_SELECT_DSCP, 4 } } },
	{ "DSCP 26",
	  dscp_26,
	  0x18,
	  false,
	  3,
	  { { 3, DCBX_SELECT_UDP, 4791 },
	    { 4, DCBX_SELECT_DSCP, 26 },
	    { 3, DCBX_SELECT_DSCP, 27 } } },
	{ "DSCP does not count", by_pcp, 0x18, false, 1, { { 3, DCBX_SELECT_UDP, 4791 } } },
	{ "nothing is lossless", without_pfc, 0, false, 0, { { 0 } } },
	{ "the host is held back without PFC", holding, 0, true, 0, { { 0 } } },
};

TABLE_TEST(dataplane_lldp_local, applications, row, app_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct lldp_info info;

	row->edit(c);
	say(c, 0, &info);
	cr_expect(info.dcbx.pfc.present);
	cr_expect(!info.dcbx.pfc.willing);
	cr_expect_eq(info.dcbx.pfc.capability, 8);
	cr_expect_eq(info.dcbx.pfc.enable, row->pfc, "%s: %x", row->what, info.dcbx.pfc.enable);
	cr_expect_eq(info.dcbx.pfc.held, row->held, "%s", row->what);
	cr_expect_eq(info.dcbx.has_apps, row->app_count > 0, "%s", row->what);
	cr_expect_eq(info.dcbx.app_count, row->app_count, "%s: %u", row->what, info.dcbx.app_count);
	cr_expect_eq(memcmp(info.dcbx.app, row->app, sizeof(row->app)), 0, "%s", row->what);
}

// Text of the greatest length that a knob of this size has.
static void fill(char *out, size_t bytes, char with)
{
	memset(out, with, bytes - 1);
	out[bytes - 1] = '\0';
}

// The longest names, an IPv6 address, and every DSCP lossless.
static struct sw_config *the_most(void)
{
	struct sw_config *c = setup_kvm(1);
	struct interface_config *row = setup_add_row(c, "interface");

	fill(c->sw.name, sizeof(c->sw.name), 's');
	fill(c->sw.lldp_description, sizeof(c->sw.lldp_description), 'd');
	fill(c->port[0].name, sizeof(c->port[0].name), 'p');
	fill(c->port[0].alias, sizeof(c->port[0].alias), 'a');
	c->port[0].mtu = 9000;
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "mine", "*:3");
	set_text(c->port[0].dscp_to_tc_map, sizeof(c->port[0].dscp_to_tc_map), "mine");
	row->vlan = 1;
	row->address = (struct ip_prefix){ IP_V6, 64, { 0xfd, [15] = 1 } };
	return c;
}

// Of 64 lossless DSCPs the first 24 are said, so that the frame has room for all that a
// configuration can say. Length by the clauses of each TLV: two bytes of head, four of an
// organisation, and what is in it.
Test(dataplane_lldp_local, the_most_that_can_be_said_fits)
{
	const uint32_t name = CONFIG_NAME_BYTES - 1, text = CONFIG_TEXT_BYTES - 1, apps = 1 + 24;
	const uint32_t names = (2 + 1 + 6) + (2 + 1 + name) + (2 + name) + (2 + name) + (2 + text);
	const uint32_t numbers = (2 + 2) + (2 + 4) + (2 + 2 + 16 + 6) + (6 + 2) + (6 + 2);
	const uint32_t dcbx = (6 + 21) * 2 + (6 + 2) + (6 + 1 + 3 * apps);
	uint8_t frame[LLDP_FRAME_MAX], mac[6] = { 2 };
	struct lldp_info info, read;
	uint32_t len;

	say(the_most(), 0, &info);
	cr_expect(info.dcbx.has_apps);
	cr_assert_eq(info.dcbx.app_count, apps, "%u", info.dcbx.app_count);
	for (uint32_t i = 1; i < apps; i++) {
		cr_expect_eq(info.dcbx.app[i].selector, DCBX_SELECT_DSCP);
		cr_expect_eq(info.dcbx.app[i].protocol, i - 1);
		cr_expect_eq(info.dcbx.app[i].priority, 3);
	}
	len = lldp_encode(&info, mac, frame);
	cr_expect_eq(len, 14 + names + numbers + dcbx + 2, "%u", len);
	cr_assert(lldp_decode(frame, len, 14, &read));
	cr_expect_eq(read.dcbx.app_count, apps, "nothing was left out");
	cr_expect_eq(read.port_description.len, name);
	cr_expect_eq(read.system_description.len, text);
	cr_expect_eq(read.address_len, 16);
}

// Weights of the DWRR queues; 0 is a strict one.
static const struct {
	const char *what;
	uint8_t weight[QUEUE_COUNT];
	uint8_t percent[TC_COUNT];
} share_rows[] = {
	{ "all alike: 12.5 each, the first four take what is left",
	  { 1, 1, 1, 1, 1, 1, 1, 1 },
	  { 13, 13, 13, 13, 12, 12, 12, 12 } },
	{ "ten times as much", { 10, 10, 10, 100, 100, 10, 0, 0 }, { 4, 4, 4, 42, 42, 4, 0, 0 } },
	{ "one for all", { 0, 0, 0, 1, 0, 0, 0, 0 }, { 0, 0, 0, 100, 0, 0, 0, 0 } },
	{ "all strict", { 0 }, { 0 } },
};

TABLE_TEST(dataplane_lldp_local, shares, row, share_rows)
{
	static const char *const names[] = { "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" };
	struct sw_config *c = setup_kvm(PORTS);
	uint32_t sum = 0, sharing = 0;
	struct lldp_info info;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		const bool strict = row->weight[i] == 0;

		setup_scheduler(c, names[i],
				strict ? CONFIG_SCHEDULER_STRICT : CONFIG_SCHEDULER_DWRR,
				strict ? 1 : row->weight[i]);
		setup_queue(c, "all", (uint8_t)(1u << i), names[i], "");
	}
	say(c, 0, &info);
	cr_expect_eq(info.dcbx.ets.class_count, 8);
	for (uint32_t i = 0; i < TC_COUNT; i++) {
		const uint8_t algorithm = row->weight[i] == 0 ? DCBX_TSA_STRICT : DCBX_TSA_ETS;

		cr_expect_eq(info.dcbx.ets.algorithm[i], algorithm, "%s: %u", row->what, i);
		cr_expect_eq(info.dcbx.ets.percent[i], row->percent[i], "%s: class %u has %u",
			     row->what, i, info.dcbx.ets.percent[i]);
		// Through AZURE, PCP 0 and 1 change places.
		cr_expect_eq(info.dcbx.ets.prio_class[i], i < 2 ? 1 - i : i, "%s: %u", row->what,
			     i);
		sum += info.dcbx.ets.percent[i];
		sharing += algorithm == DCBX_TSA_ETS;
	}
	cr_expect_eq(sum, sharing > 0 ? 100 : 0);
	cr_expect_eq(memcmp(info.dcbx.ets.percent, info.dcbx.recommended.percent, TC_COUNT), 0);
}
