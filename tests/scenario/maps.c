// SPDX-License-Identifier: BSD-3-Clause
//
// DscpQueueMapping, DscpToPgMapping, Dot1pQueueMapping, Dot1pPgMapping: each of the 64 code points
// and 8 priorities end to end, seen in the counters of the ingress priority group and of the egress
// queue, for the stock maps, the RoCE maps and maps of our own.
//
// Expected classes are restated here from the published tables, not taken from the built-in texts.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum { LEN = 200 };

struct expect {
	uint8_t pg;
	uint8_t queue;
};

// SONiC qos_config.j2: DSCP 3, 4, 5, 8, 46, 48 have classes of their own, the rest is class 1.
static struct expect azure_dscp(uint32_t dscp)
{
	switch (dscp) {
	case 3: return (struct expect){ 3, 3 };
	case 4: return (struct expect){ 4, 4 };
	case 5: return (struct expect){ 0, 2 };
	case 8: return (struct expect){ 0, 0 };
	case 46: return (struct expect){ 0, 5 };
	case 48: return (struct expect){ 0, 6 };
	}
	return (struct expect){ 0, 1 };
}

static struct expect azure_dot1p(uint32_t pcp)
{
	static const struct expect rows[8] = { { 0, 1 }, { 0, 0 }, { 0, 2 }, { 3, 3 },
					       { 4, 4 }, { 0, 5 }, { 0, 6 }, { 7, 7 } };

	return rows[pcp];
}

static struct expect roce_dscp(uint32_t dscp)
{
	if (dscp == 26)
		return (struct expect){ 3, 3 };
	return dscp == 48 ? (struct expect){ 6, 6 } : (struct expect){ 0, 0 };
}

static struct expect roce_dot1p(uint32_t pcp)
{
	return roce_dscp(pcp == 3 ? 26 : pcp == 6 ? 48 : 0);
}

// DSCP d to class d / 8, class t to queue 7 - t; group 3 and 4 stay what they are.
static struct expect own_dscp(uint32_t dscp)
{
	uint8_t tc = (uint8_t)(dscp / 8);

	return (struct expect){ tc == 3 || tc == 4 ? tc : 0, (uint8_t)(7 - tc) };
}

static struct expect own_dot1p(uint32_t pcp)
{
	return own_dscp(pcp * 8);
}

static struct sw_config *config_with(const char *maps)
{
	struct sw_config *c = setup_kvm(2);
	bool roce = strcmp(maps, "roce") == 0;
	bool own = strcmp(maps, "own") == 0;

	for (uint32_t i = 0; i < 2 && (roce || own); i++) {
		struct port_config *port = &c->port[i];

		setup_name(port->dscp_to_tc_map, maps);
		setup_name(port->dot1p_to_tc_map, maps);
		setup_name(port->tc_to_queue_map, maps);
		setup_name(port->tc_to_pg_map, maps);
		setup_name(port->pfc_to_queue_map, maps);
		setup_name(port->pfc_to_pg_map, maps);
		if (roce)
			port->pfc_enable = 1 << 3;
	}
	if (roce) {
		setup_unbind_pgs(c);
		setup_pg(c, "all", 1 << 3, KVM_PG_LOSSLESS);
		setup_pg(c, "all", 0xf7, KVM_PG_LOSSY);
	}
	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "own",
		  "0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7");
	setup_map(c, CONFIG_MAP_DOT1P_TO_TC, "own", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7");
	setup_map(c, CONFIG_MAP_TC_TO_QUEUE, "own", "0:7 1:6 2:5 3:4 4:3 5:2 6:1 7:0");
	setup_map(c, CONFIG_MAP_TC_TO_PG, "own", "3:3 4:4 *:0");
	setup_map(c, CONFIG_MAP_PFC_TO_QUEUE, "own", "3:4 4:3");
	setup_map(c, CONFIG_MAP_PFC_TO_PG, "own", "3:3 4:4");
	return c;
}

static void check_landing(struct rig *rig, const struct frame *f, struct expect want,
			  const char *what, uint32_t key)
{
	uint64_t pg[PG_COUNT];
	uint64_t queue[QUEUE_COUNT];

	for (uint32_t i = 0; i < PG_COUNT; i++) {
		pg[i] = rig_pg(rig, 0, i).packets;
		queue[i] = rig_queue(rig, 1, i).packets;
	}
	rig_send(rig, 0, f);
	cr_assert_eq(rig_queue(rig, 1, want.queue).curr_occupancy_packets, 1, "%s %u", what, key);
	rig_advance(rig, 1000000);
	cr_assert_eq(rig_release(rig, 1, 2), 1);
	for (uint32_t i = 0; i < PG_COUNT; i++) {
		cr_assert_eq(rig_pg(rig, 0, i).packets - pg[i], i == want.pg, "%s %u pg %u", what,
			     key, i);
		cr_assert_eq(rig_queue(rig, 1, i).packets - queue[i], i == want.queue,
			     "%s %u queue %u", what, key, i);
	}
}

static const struct {
	const char *what;
	const char *maps;
	enum frame_kind kind;
	bool ipv6;
	bool pcp; // key is the PCP of a tag
	bool trust_pcp;
	enum { AZURE, ROCE, OWN } want;
} map_rows[] = {
	{ "AZURE DSCP, RoCE", "AZURE", FRAME_ROCE, false, false, false, AZURE },
	{ "AZURE DSCP, TCP", "AZURE", FRAME_TCP, false, false, false, AZURE },
	{ "AZURE DSCP, IPv6 UDP", "AZURE", FRAME_UDP, true, false, false, AZURE },
	{ "roce DSCP", "roce", FRAME_ROCE, false, false, false, ROCE },
	{ "roce DSCP, IPv6", "roce", FRAME_ROCE, true, false, false, ROCE },
	{ "own DSCP", "own", FRAME_UDP, false, false, false, OWN },
	{ "AZURE dot1p, not IP", "AZURE", FRAME_PLAIN, false, true, false, AZURE },
	{ "AZURE dot1p, trusted over DSCP", "AZURE", FRAME_UDP, false, true, true, AZURE },
	{ "roce dot1p, trusted", "roce", FRAME_TCP, true, true, true, ROCE },
	{ "own dot1p, not IP", "own", FRAME_PLAIN, false, true, false, OWN },
};

static struct expect expected(int maps, bool pcp, uint32_t key)
{
	switch (maps) {
	case ROCE: return pcp ? roce_dot1p(key) : roce_dscp(key);
	case OWN: return pcp ? own_dot1p(key) : own_dscp(key);
	default: return pcp ? azure_dot1p(key) : azure_dscp(key);
	}
}

TABLE_TEST(scenario, maps, row, map_rows)
{
	struct sw_config *c = config_with(row->maps);
	struct rig *rig;

	c->port[0].trust = row->trust_pcp ? CONFIG_TRUST_PCP : CONFIG_TRUST_DSCP;
	rig = rig_new(c);
	for (uint32_t key = 0; key < (row->pcp ? 8 : 64); key++) {
		struct frame f = rig_frame(0, 1, row->pcp ? 3 : (uint8_t)key, LEN);

		f.kind = row->kind;
		f.ipv6 = row->ipv6;
		f.ethertype = 0x88b5;
		if (row->pcp) {
			f.tag_count = 1;
			f.tag[0].tci = (uint16_t)(key << 13);
		}
		check_landing(rig, &f, expected((int)row->want, row->pcp, key), row->what, key);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A tag does not matter where DSCP is trusted, and DSCP not where there is none.
Test(scenario, maps_precedence)
{
	struct sw_config *c = config_with("AZURE");
	struct frame f = rig_frame(0, 1, 4, LEN);
	struct rig *rig;

	c->port[0].default_tc = 2;
	rig = rig_new(c);
	f.tag_count = 1;
	f.tag[0].tci = 3 << 13;
	check_landing(rig, &f, (struct expect){ 4, 4 }, "DSCP before PCP", 0);
	f.tag_count = 0;
	f.kind = FRAME_PLAIN;
	f.ethertype = 0x88b5;
	check_landing(rig, &f, (struct expect){ 0, 2 }, "untagged, not IP: default_tc", 0);
	rig_end(rig);
}

// RoCEv1 has its class by EtherType, before the PCP.
Test(scenario, maps_ethertype)
{
	struct sw_config *c = config_with("AZURE");
	struct frame f = rig_frame(0, 1, 0, LEN);
	struct rig *rig;

	setup_map(c, CONFIG_MAP_ETHERTYPE_TO_TC, "types", "0x8915:4 0x88b5:5");
	setup_name(c->port[0].ethertype_to_tc_map, "types");
	rig = rig_new(c);
	f.kind = FRAME_ROCE_V1;
	check_landing(rig, &f, (struct expect){ 4, 4 }, "RoCEv1", 0);
	f.tag_count = 1;
	f.tag[0].tci = 3 << 13;
	check_landing(rig, &f, (struct expect){ 4, 4 }, "RoCEv1 with a tag", 0);
	f.kind = FRAME_PLAIN;
	f.ethertype = 0x88b5;
	check_landing(rig, &f, (struct expect){ 0, 5 }, "own EtherType", 0);
	rig_end(rig);
}

// CNPs go to class 6 whatever their DSCP.
Test(scenario, maps_cnp)
{
	struct rig *rig = rig_new(config_with("AZURE"));
	struct frame f = rig_frame(0, 1, 3, LEN);

	f.opcode = 0x81;
	for (uint8_t dscp = 0; dscp < 64; dscp++) {
		f.dscp = dscp;
		check_landing(rig, &f, (struct expect){ 0, 6 }, "CNP", dscp);
	}
	cr_assert_eq(rig_port(rig, 0).cnp_rx_packets, 64);
	cr_assert_eq(rig_port(rig, 1).cnp_tx_packets, 64);
	cr_assert_eq(sw_cnp_flows(rig->sw, LCORE_FIRST)->flow[0].count, 64);
	rig_end(rig);
}
