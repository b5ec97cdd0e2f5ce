// SPDX-License-Identifier: BSD-3-Clause
//
// What a change of a running switch would lose (schema/losses.def): a row per rule, with the switch
// in the state that the rule is about, and beside it changes that look alike and lose nothing. The
// numbers follow from the frames sent.

#include "tests/rig/rig.h"
#include "tests/rig/storm.h"
#include "tests/table.h"

enum {
	PORTS = 3,
	SRC = 0,
	DST = 1,
	LEN = 1000,
	INTO_HEADROOM = 21, // frames, the one that raised XOFF included
	MTU = 1500,
};

// Private headroom that is all of the profile's size: the group has no reserve.
static struct sw_config *unreserved(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XOFF_BYTES;
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].mtu = MTU;
	return c;
}

static void no_change(struct sw_config *c)
{
}

static void small_alpha(struct sw_config *c)
{
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = -8;
}

static void small_pool(struct sw_config *c)
{
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 100000;
}

static void larger_pool(struct sw_config *c)
{
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 2 * KVM_POOL_BYTES;
	setup_find_profile(c, KVM_QUEUE_LOSSLESS)->static_th = 0;
}

static void set_headroom(struct sw_config *c, uint64_t bytes)
{
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = bytes;
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = bytes;
}

static void less_headroom(struct sw_config *c)
{
	set_headroom(c, KVM_XOFF_BYTES - 1);
}

static void more_headroom(struct sw_config *c)
{
	set_headroom(c, KVM_XOFF_BYTES + 1);
}

static void share_headroom(struct sw_config *c)
{
	setup_find_pool(c, KVM_INGRESS_POOL)->xoff = KVM_XOFF_BYTES;
}

// Class 3 and all that leads to it.
static void go_lossy(struct sw_config *c)
{
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].pfc_enable = 0x10;
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0x10, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xef, KVM_PG_LOSSY);
}

static void small_mtu(struct sw_config *c)
{
	c->port[DST].mtu = MTU - 1;
}

static void large_mtu(struct sw_config *c)
{
	c->port[DST].mtu = MTU + 1;
}

static void take_vlan(struct sw_config *c)
{
	setup_vlan(c, 1, "Ethernet0 Ethernet4", "");
}

static void add_vlan(struct sw_config *c)
{
	setup_vlan(c, 1, "all", "");
	setup_vlan(c, 7, "", "all");
}

static void other_dscp(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "other", "4:4 5:3 *:0");
	setup_name(c->port[SRC].dscp_to_tc_map, "other");
}

static void more_dscp(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "other", "3:3 4:4 5:3 *:0");
	setup_name(c->port[SRC].dscp_to_tc_map, "other");
}

static void other_pcp(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_DOT1P_TO_TC, "other", "3:3 *:0");
	setup_name(c->port[SRC].dot1p_to_tc_map, "other");
}

static void other_trust(struct sw_config *c)
{
	c->port[SRC].trust = CONFIG_TRUST_PCP;
}

static void few_descriptors(struct sw_config *c)
{
	c->sw.descriptors -= c->sw.descriptors / 2;
}

static void with_lacp(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet0")->mode = CONFIG_LAG_LACP;
}

// Its second member is down.
static void with_links(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet0 Ethernet8")->min_links = 2;
}

static void with_lag(struct sw_config *c)
{
	setup_lag(c, "PortChannel1", "Ethernet0 Ethernet8");
}

static void big_red(struct sw_config *c)
{
	setup_pfc_wd(c, "all", WATCHDOG_DROP);
	c->sw.pfc_wd_big_red_switch = true;
}

static void big_red_alert(struct sw_config *c)
{
	setup_pfc_wd(c, "all", WATCHDOG_ALERT);
	c->sw.pfc_wd_big_red_switch = true;
}

static const struct {
	const char *what;
	void (*change)(struct sw_config *c);
	enum sw_loss_id want; // LOSS_COUNT: none
	const char *object;
	uint32_t part;
	uint32_t count; // of losses in all
	bool full;      // with group 3 of SRC in its headroom
} loss_rows[] = {
	{ "nothing", no_change, LOSS_COUNT, "", 0, 0, true },
	{ "a limit below what is held: XOFF, and headroom as ever", small_alpha, LOSS_COUNT, "", 0,
	  0, true },
	{ "pool below what it holds", small_pool, LOSS_POOL_SIZE, KVM_INGRESS_POOL, 0, 1, true },
	{ "pool that holds nothing", small_pool, LOSS_COUNT, "", 0, 0, false },
	{ "larger pool", larger_pool, LOSS_COUNT, "", 0, 0, true },
	{ "less headroom in XOFF", less_headroom, LOSS_GROUP_HEADROOM, "Ethernet0", 3, 1, true },
	{ "less headroom that nobody needs", less_headroom, LOSS_COUNT, "", 0, 0, false },
	{ "more headroom in XOFF", more_headroom, LOSS_COUNT, "", 0, 0, true },
	{ "headroom that becomes common in XOFF", share_headroom, LOSS_POOL_HEADROOM,
	  KVM_INGRESS_POOL, 0, 1, true },
	{ "headroom that becomes common", share_headroom, LOSS_COUNT, "", 0, 0, false },
	{ "lossy group: of three ports, with DSCP and PCP 3", go_lossy, LOSS_GROUP_LOSSY,
	  "Ethernet0", 3, 9, false },
	{ "smaller MTU", small_mtu, LOSS_PORT_MTU, "Ethernet4", 0, 1, false },
	{ "larger MTU", large_mtu, LOSS_COUNT, "", 0, 0, false },
	{ "a VLAN taken away", take_vlan, LOSS_PORT_VLAN, "Ethernet8", 1, 1, false },
	{ "a VLAN more", add_vlan, LOSS_COUNT, "", 0, 0, false },
	{ "a code point that was lossless", other_dscp, LOSS_PORT_DSCP, "Ethernet0", 3, 1, false },
	{ "a code point more", more_dscp, LOSS_COUNT, "", 0, 0, false },
	{ "a priority that was lossless", other_pcp, LOSS_PORT_PCP, "Ethernet0", 4, 1, false },
	{ "another field", other_trust, LOSS_PORT_TRUST, "Ethernet0", 0, 1, false },
	{ "fewer descriptors than free", few_descriptors, LOSS_COUNT, "", 0, 0, true },
	{ "LACP begins", with_lacp, LOSS_PORT_LAG, "Ethernet0", 0, 2, false },
	{ "a LAG of two that are up", with_lag, LOSS_COUNT, "", 0, 0, false },
	{ "big red switch", big_red, LOSS_BIG_RED, "", 0, 1, false },
	{ "big red switch that only tells", big_red_alert, LOSS_COUNT, "", 0, 0, false },
};

TABLE_TEST(scenario, losses, row, loss_rows)
{
	struct rig *rig = rig_new(unreserved());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct sw_loss loss[16] = { 0 };
	uint32_t count;

	if (row->full) {
		rig_fill(rig, SRC, 3, &f);
		rig_send_many(rig, SRC, &f, INTO_HEADROOM - 1);
	}
	row->change(rig->config);
	count = rig_losses(rig, loss, 16);
	cr_assert_eq(count, row->count, "%s: %u", row->what, count);
	if (count > 0) {
		cr_assert_eq(loss[0].id, row->want, "%s", row->what);
		cr_assert_str_eq(loss[0].object, row->object, "%s", row->what);
		cr_assert_eq(loss[0].part, row->part, "%s", row->what);
	}
	// To say so changes nothing.
	cr_assert(sw_conserved(rig->sw));
	cr_assert_eq(rig_all_drops(rig), 0);
	while (rig_release(rig, DST, UINT64_MAX) > 0)
		;
	rig_end(rig);
}

// The figures of a loss are those of the switch at this moment.
Test(scenario, losses_numbers)
{
	struct rig *rig = rig_new(unreserved());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct sw_loss loss[4];

	rig_fill(rig, SRC, 3, &f);
	rig_send_many(rig, SRC, &f, INTO_HEADROOM - 1);
	less_headroom(rig->config);
	small_pool(rig->config);
	cr_assert_eq(rig_losses(rig, loss, 1), 2, "one more than there is room for");
	cr_assert_eq(rig_losses(rig, loss, 4), 2);
	cr_assert_eq(loss[0].id, LOSS_POOL_SIZE);
	cr_assert_eq(loss[0].have, (f.seq - INTO_HEADROOM) * LEN);
	cr_assert_eq(loss[0].want, 100000);
	cr_assert_eq(loss[1].id, LOSS_GROUP_HEADROOM);
	cr_assert_eq(loss[1].have, INTO_HEADROOM * LEN);
	cr_assert_eq(loss[1].want, KVM_XOFF_BYTES - 1);
	while (rig_release(rig, DST, UINT64_MAX) > 0)
		;
	cr_assert_eq(rig_losses(rig, loss, 4), 0, "nothing is held any more");
	rig_end(rig);
}

// A pool that shrinks under what it holds stops its senders and loses nothing while they obey:
// what is on its way finds all of its headroom.
Test(scenario, losses_small_pool_is_safe)
{
	struct rig *rig = rig_new(unreserved());
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig_send_many(rig, SRC, &f, 500);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 0);
	small_pool(rig->config);
	cr_assert_eq(rig_reload(rig), 0);
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 1);
	cr_assert_eq(rig->pfc[SRC].xoff[3], 1);
	rig_send_many(rig, SRC, &f, KVM_XOFF_BYTES / LEN - 1);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_drops(rig, SRC, DROP_PG_LOSSLESS_FULL), 1, "headroom, to the frame");
	while (rig_release(rig, DST, UINT64_MAX) > 0)
		;
	cr_assert_eq(rig->pfc[SRC].xon[3], 1);
	rig_end(rig);
}

// A LAG with fewer members in use than it asks for is down.
Test(scenario, losses_links)
{
	struct rig *rig = rig_new(unreserved());
	struct sw_loss loss[2];

	with_links(rig->config);
	cr_assert_eq(rig_losses(rig, loss, 2), 0);
	rig_link(rig, 2, false);
	cr_assert_eq(rig_losses(rig, loss, 2), 1);
	cr_assert_eq(loss[0].id, LOSS_PORT_LINKS);
	cr_assert_eq(loss[0].have, 1);
	cr_assert_eq(loss[0].want, 2);
	rig_end(rig);
}

// A storm whose action becomes drop would take what its queue holds.
Test(scenario, losses_storm)
{
	struct sw_config *c = unreserved();
	struct pfc_wd_config *wd = setup_pfc_wd(c, "Ethernet4", WATCHDOG_ALERT);
	struct rig *rig = rig_new(c);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct sw_loss loss[2];

	rig_send(rig, SRC, &f);
	cr_assert(sw_storm(rig->sw, (port_t){ DST }, (queue_t){ 3 }, true, rig->now));
	for (uint32_t i = 0; i < 10; i++)
		rig_advance(rig, 100000000);
	cr_assert_eq(rig->storms, 1);
	wd->action = WATCHDOG_FORWARD;
	cr_assert_eq(rig_losses(rig, loss, 2), 0);
	wd->action = WATCHDOG_DROP;
	cr_assert_eq(rig_losses(rig, loss, 2), 1);
	cr_assert_eq(loss[0].id, LOSS_QUEUE_STORM);
	cr_assert_eq(loss[0].part, 3);
	wd->action = WATCHDOG_ALERT;
	rig_release(rig, DST, UINT64_MAX);
	rig_end(rig);
}
