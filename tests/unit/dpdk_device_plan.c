// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/dpdk/device_plan.c: which queue of a device is for what. What a device steers by its
// fields must go where the switch charges it, so every code point is compared with classify();
// and pfc_xstat.c: names of statistics that drivers really have.

#include <stdlib.h>

#include "base/bytes.h"
#include "dataplane/core/stage.h"
#include "dataplane/dpdk/device_plan.h"
#include "dataplane/dpdk/pfc_xstat.h"
#include "tests/keep.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { CNP_TC = 6 };

static void nothing(struct sw_config *c)
{
	(void)c;
}

static void trust_pcp(struct sw_config *c)
{
	c->port[0].trust = CONFIG_TRUST_PCP;
}

static void roce_v1_map(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_ETHERTYPE_TO_TC, "own", "0x8915:4");
	setup_name(c->port[0].ethertype_to_tc_map, "own");
}

static void obey_all(struct sw_config *c)
{
	c->port[0].pfc_asymmetric = true;
}

// Priorities 3 and 4 stand for group 3, and pause one queue each.
static void one_group(struct sw_config *c)
{
	setup_map(c, CONFIG_MAP_TC_TO_PG, "own", "3:3 4:3 *:0");
	setup_map(c, CONFIG_MAP_PFC_TO_PG, "own", "3:3 4:3");
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0x08, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xf7, KVM_PG_LOSSY);
	for (uint32_t i = 0; i < c->port_count; i++) {
		setup_name(c->port[i].tc_to_pg_map, "own");
		setup_name(c->port[i].pfc_to_pg_map, "own");
	}
}

static void lossless_default(struct sw_config *c)
{
	c->port[0].default_tc = 3;
}

static void lossy_default(struct sw_config *c)
{
	c->port[0].default_tc = 1;
}

static void no_pfc(struct sw_config *c)
{
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0xff, KVM_PG_LOSSY);
	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].pfc_enable = 0;
}

static const struct {
	const char *what;
	void (*edit)(struct sw_config *c);
	uint8_t tx_count, rx_count;
	bool shared_group, strays;
} rows[] = {
	{ "two priorities", nothing, 3, 3, false, false },
	{ "by PCP", trust_pcp, 3, 3, false, false },
	{ "an EtherType map", roce_v1_map, 3, 3, false, false },
	{ "every priority is obeyed, two are generated", obey_all, 9, 3, false, false },
	{ "one group of two priorities", one_group, 3, 2, true, false },
	{ "a lossless default", lossless_default, 3, 3, false, true },
	{ "a lossy default", lossy_default, 3, 3, false, false },
	{ "no PFC", no_pfc, 1, 1, false, false },
};

static const struct sw_profile *build(struct sw_config *c)
{
	struct sw_profile *pf = keep(aligned_alloc(64, (profile_bytes(c) + 63) & ~63ul));
	struct profile_fault fault;

	profile_build(c, pf, &fault);
	free(c);
	cr_assert_eq(fault.id, FAULT_NONE, "%s", profile_fault_texts[fault.id]);
	return pf;
}

// The receive queue of a group by its definition: the one of the lowest priority that announces it.
static uint8_t queue_of_group(const struct port_profile *pf, const struct device_plan *plan,
			      uint8_t pg)
{
	for (uint8_t i = 1; i < plan->rx_count; i++) {
		if (pf->prio_to_pg[plan->rx_prio[i]] == pg)
			return i;
	}
	return DEVICE_QUEUE_REST;
}

static uint8_t classified(const struct port_profile *pf, const struct device_plan *plan,
			  enum pkt_l3 l3, uint16_t ethertype, uint32_t tagged_pcp, uint8_t dscp)
{
	uint8_t frame[64] = { 0 };
	struct pkt p = { .data = frame, .len = 64, .head_len = 64, .l3 = (uint8_t)l3 };

	p.l3_offset = 14;
	p.tos = (uint8_t)(dscp << 2);
	if (tagged_pcp < PRIO_COUNT) {
		p.l3_offset = 18;
		p.flags = PKT_TAGGED;
		p.tci = (uint16_t)(tagged_pcp << 13);
	}
	store_be16(frame + p.l3_offset - 2, ethertype);
	classify(pf, CNP_TC, &p);
	return queue_of_group(pf, plan, p.pg.v);
}

static uint8_t queue_of_ethertype(const struct device_plan *plan, uint16_t ethertype,
				  uint8_t otherwise)
{
	for (uint32_t i = 0; i < plan->ethertype_count; i++) {
		if (plan->ethertype[i].ethertype == ethertype)
			return plan->ethertype[i].queue;
	}
	return otherwise;
}

TABLE_TEST(device_plan, steers_as_it_is_charged, row, rows)
{
	struct sw_config *c = setup_kvm(2);
	struct device_plan plan;
	const struct sw_profile *sw;
	const struct port_profile *pf;

	row->edit(c);
	sw = build(c);
	pf = &sw->port[0];
	device_plan(sw, (port_t){ 0 }, &plan);
	cr_assert_eq(plan.tx_count, row->tx_count, "%s: %u", row->what, plan.tx_count);
	cr_assert_eq(plan.rx_count, row->rx_count, "%s: %u", row->what, plan.rx_count);
	cr_assert_eq(plan.shared_group, row->shared_group, "%s", row->what);
	cr_assert_eq(plan.strays, row->strays, "%s", row->what);
	for (uint8_t dscp = 0; dscp < 64; dscp++) {
		const uint8_t ip = classified(pf, &plan, PKT_L3_IPV4, 0x0800, 8, dscp);
		const uint8_t tagged = classified(pf, &plan, PKT_L3_IPV6, 0x86dd, 3, dscp);

		if (plan.by_dscp)
			cr_assert_eq(plan.dscp_queue[dscp], ip, "%s: DSCP %u", row->what, dscp);
		cr_assert_eq(plan.by_dscp ? plan.dscp_queue[dscp] : plan.pcp_queue[3], tagged,
			     "%s: DSCP %u behind a tag", row->what, dscp);
	}
	for (uint8_t pcp = 0; pcp < PRIO_COUNT; pcp++)
		cr_assert_eq(queue_of_ethertype(&plan, 0x8915, plan.pcp_queue[pcp]),
			     classified(pf, &plan, PKT_L3_ROCE_V1, 0x8915, pcp, 0), "%s: PCP %u",
			     row->what, pcp);
}

// Each obeyed priority pauses the queue that it shall pause, and no queue of another.
TABLE_TEST(device_plan, pauses_the_right_queue, row, rows)
{
	struct sw_config *c = setup_kvm(2);
	struct device_plan plan;
	const struct sw_profile *sw;
	const struct port_profile *pf;

	row->edit(c);
	sw = build(c);
	pf = &sw->port[0];
	device_plan(sw, (port_t){ 0 }, &plan);
	for (uint8_t queue = 0; queue < QUEUE_COUNT; queue++) {
		const uint8_t at = plan.tx_queue[queue];
		bool obeyed = false;

		for (uint8_t prio = 0; prio < PRIO_COUNT; prio++)
			obeyed |= (pf->rx.obey >> prio & 1) && pf->prio_to_queue[prio] == queue;
		cr_assert_eq(at != DEVICE_QUEUE_REST, obeyed, "%s: queue %u", row->what, queue);
		if (obeyed)
			cr_assert_eq(pf->prio_to_queue[plan.tx_prio[at]], queue, "%s", row->what);
	}
}

static const struct {
	const char *name;
	bool counts;
	bool received;
	uint8_t prio;
} names[] = {
	{ "rx_priority0_xon_packets", true, true, 0 },   // ixgbe, i40e, ice
	{ "tx_priority7_xoff_packets", true, false, 7 }, // likewise
	{ "tx_priority3_xon_to_xoff_packets", false, 0, 0 },
	{ "mac_rx_pfc_pri3_pkt_num", true, true, 3 }, // hns3
	{ "mac_tx_pfc_pri4_pkt_num", true, false, 4 },
	{ "rx_prio5_pause", true, true, 5 }, // mlx5, as ethtool calls it
	{ "tx_prio5_pause_duration", false, 0, 0 },
	{ "rx_prio5_bytes", false, 0, 0 },
	{ "rx_prio5_packets", false, 0, 0 },
	{ "tx_pfc_frames_priority_2", true, false, 2 },
	{ "rx_pfc_ena_frames_pri1", true, true, 1 }, // bnxt
	{ "rx_pfc_frames", false, 0, 0 },
	{ "rx_xoff_packets", false, 0, 0 },
	{ "rx_priority8_xoff_packets", false, 0, 0 },
	{ "rx_priority12_xoff_packets", false, 0, 0 },
	{ "rx_good_packets", false, 0, 0 },
	{ "", false, 0, 0 },
};

TABLE_TEST(pfc_xstat, parse, row, names)
{
	struct pfc_xstat out = { 0 };

	cr_assert_eq(pfc_xstat_parse(row->name, &out), row->counts, "%s", row->name);
	if (!row->counts)
		return;
	cr_assert_eq(out.received, row->received, "%s", row->name);
	cr_assert_eq(out.prio.v, row->prio, "%s", row->name);
}
