// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/classify.c: which field decides, and every code point of both built-in sets of
// maps. Code points that no map names go to the documented default and nowhere else, which other
// switches got wrong (sonic-net/sonic-buildimage 8770, 27310).
//
// Expected classes are the tables of qos_config.j2 ("AZURE") and those of maps.h ("roce").

#include "base/bytes.h"
#include "dataplane/core/maps.h"
#include "dataplane/core/stage.h"

#include "tests/table.h"

enum { CNP_TC = 6, DEFAULT_TC = 2 };

static void take_map(enum config_map_type type, const char *name, struct class_map *map)
{
	cr_assert(map_parse(type, map_builtin(type, name), map));
}

// A port with all maps of one name, that trusts DSCP.
static struct port_profile port_with(const char *name)
{
	struct port_profile pf = { .trust_dscp = true, .default_tc = DEFAULT_TC };
	struct class_map map;

	take_map(CONFIG_MAP_DSCP_TO_TC, name, &map);
	memcpy(pf.dscp_to_tc, map.value, sizeof(pf.dscp_to_tc));
	take_map(CONFIG_MAP_DOT1P_TO_TC, name, &map);
	memcpy(pf.pcp_to_tc, map.value, sizeof(pf.pcp_to_tc));
	take_map(CONFIG_MAP_TC_TO_QUEUE, name, &map);
	memcpy(pf.tc_to_queue, map.value, sizeof(pf.tc_to_queue));
	take_map(CONFIG_MAP_TC_TO_PG, name, &map);
	memcpy(pf.tc_to_pg, map.value, sizeof(pf.tc_to_pg));
	pf.cnp_pg = pf.tc_to_pg[CNP_TC];
	take_map(CONFIG_MAP_ETHERTYPE_TO_TC, name, &map);
	pf.map_ethertypes = map.row_count;
	for (uint32_t i = 0; i < map.row_count; i++) {
		pf.ethertype_to_tc[i].ethertype = map.row[i].ethertype;
		pf.ethertype_to_tc[i].tc = map.row[i].tc;
	}
	return pf;
}

// A packet as parse() leaves it, over `frame`, which gets the EtherType alone.
static struct pkt packet(uint8_t frame[64], enum pkt_l3 l3, uint16_t ethertype, uint32_t tagged_pcp)
{
	struct pkt p = { .data = frame, .len = 64, .head_len = 64, .l3 = (uint8_t)l3 };

	p.l3_offset = 14;
	if (tagged_pcp < 8) {
		p.l3_offset = 18;
		p.flags = PKT_TAGGED;
		p.tci = (uint16_t)(tagged_pcp << 13 | 100);
	}
	store_be16(frame + p.l3_offset - 2, ethertype);
	return p;
}

// --- every code point ---------------------------------------------------------------------------

static const struct {
	const char *name;
	const char *dscp_tc; // DSCP 0..63, eight to a group
	const char *pcp_tc;
	const char *tc_pg;
} map_rows[] = {
	{ "AZURE", "11134211 01111111 11111111 11111111 11111111 11111151 61111111 11111111",
	  "10234567", "00034007" },
	{ "roce", "00000000 00000000 00000000 00300000 00000000 00000000 60000000 00000000",
	  "00030060", "00030060" },
};

TABLE_TEST(core_classify, every_dscp, row, map_rows)
{
	const struct port_profile pf = port_with(row->name);
	uint8_t frame[64] = { 0 };

	for (uint32_t i = 0; i < 2 * 256; i++) {
		const bool v6 = i >= 256;
		struct pkt p = packet(frame, v6 ? PKT_L3_IPV6 : PKT_L3_IPV4, v6 ? 0x86dd : 0x0800,
				      i % 9); // untagged, or any priority: DSCP is trusted
		const uint32_t dscp = i % 256 / 4;
		const int tc = row->dscp_tc[dscp + dscp / 8] - '0';

		p.tos = (uint8_t)i; // every ECN too
		classify(&pf, CNP_TC, &p);
		cr_expect_eq(p.tc.v, tc, "%s: DSCP %u is class %u", row->name, dscp, p.tc.v);
		cr_expect_eq(p.queue.v, tc, "%s: DSCP %u in queue %u", row->name, dscp, p.queue.v);
		cr_expect_eq(p.pg.v, row->tc_pg[tc] - '0', "%s: DSCP %u in group %u", row->name,
			     dscp, p.pg.v);
	}
}

TABLE_TEST(core_classify, every_pcp, row, map_rows)
{
	struct port_profile pf = port_with(row->name);
	uint8_t frame[64] = { 0 };

	pf.trust_dscp = false;
	for (uint32_t pcp = 0; pcp < 8; pcp++) {
		struct pkt p = packet(frame, PKT_L3_IPV4, 0x0800, pcp);
		const int tc = row->pcp_tc[pcp] - '0';

		p.tos = 46 << 2;
		classify(&pf, CNP_TC, &p);
		cr_expect_eq(p.tc.v, tc, "%s: PCP %u is class %u", row->name, pcp, p.tc.v);
		cr_expect_eq(p.queue.v, tc, "%s: PCP %u in queue %u", row->name, pcp, p.queue.v);
		cr_expect_eq(p.pg.v, row->tc_pg[tc] - '0', "%s: PCP %u in group %u", row->name, pcp,
			     p.pg.v);
	}
}

// --- which field decides ------------------------------------------------------------------------

enum { UNTAGGED = 8 };

static const struct {
	const char *what;
	const char *maps;
	bool trust_dscp;
	enum pkt_l3 l3;
	uint16_t ethertype;
	uint32_t pcp; // UNTAGGED: no tag
	uint32_t dscp;
	uint32_t flags;
	uint32_t want;
} order_rows[] = {
	{ "CNP before its DSCP", "AZURE", true, PKT_L3_IPV4, 0x0800, UNTAGGED, 3, PKT_CNP, 6 },
	{ "CNP before its tag", "AZURE", false, PKT_L3_IPV6, 0x86dd, 3, 3, PKT_CNP, 6 },
	{ "CNP before its EtherType", "roce", true, PKT_L3_ROCE_V1, 0x8915, 3, 0, PKT_CNP, 6 },
	{ "RoCEv1 by EtherType", "roce", true, PKT_L3_ROCE_V1, 0x8915, UNTAGGED, 0, 0, 3 },
	{ "RoCEv1 by EtherType before its tag", "roce", true, PKT_L3_ROCE_V1, 0x8915, 6, 0, 0, 3 },
	{ "RoCEv1 without a row, by tag", "AZURE", true, PKT_L3_ROCE_V1, 0x8915, 4, 3, 0, 4 },
	{ "RoCEv1 without a row or tag", "AZURE", true, PKT_L3_ROCE_V1, 0x8915, UNTAGGED, 3, 0,
	  DEFAULT_TC },
	{ "another EtherType than the row's", "roce", true, PKT_L3_OTHER, 0x8914, 3, 0, 0, 3 },
	{ "DSCP before a tag", "roce", true, PKT_L3_IPV4, 0x0800, 6, 26, 0, 3 },
	{ "DSCP not trusted, tagged", "roce", false, PKT_L3_IPV4, 0x0800, 6, 26, 0, 6 },
	{ "DSCP not trusted, untagged", "roce", false, PKT_L3_IPV6, 0x86dd, UNTAGGED, 26, 0,
	  DEFAULT_TC },
	{ "not IP, tagged", "roce", true, PKT_L3_ARP, 0x0806, 6, 0, 0, 6 },
	{ "not IP, untagged", "roce", true, PKT_L3_ARP, 0x0806, UNTAGGED, 0, 0, DEFAULT_TC },
	{ "priority 0 is a priority", "AZURE", true, PKT_L3_OTHER, 0x88b5, 0, 0, 0, 1 },
	{ "LLDP, untagged", "AZURE", true, PKT_L3_LLDP, 0x88cc, UNTAGGED, 0, 0, DEFAULT_TC },
};

TABLE_TEST(core_classify, order, row, order_rows)
{
	struct port_profile pf = port_with(row->maps);
	uint8_t frame[64] = { 0 };
	struct pkt p = packet(frame, row->l3, row->ethertype, row->pcp);

	pf.trust_dscp = row->trust_dscp;
	p.tos = (uint8_t)(row->dscp << 2);
	p.flags |= (uint8_t)row->flags;
	classify(&pf, CNP_TC, &p);
	cr_expect_eq(p.tc.v, row->want, "%s: class %u", row->what, p.tc.v);
	cr_expect_eq(p.queue.v, pf.tc_to_queue[row->want], "%s: queue %u", row->what, p.queue.v);
	cr_expect_eq(p.pg.v, pf.tc_to_pg[row->want], "%s: group %u", row->what, p.pg.v);
}

Test(core_classify, cnp_class_is_configured)
{
	struct port_profile pf = port_with("AZURE");
	uint8_t frame[64] = { 0 };

	pf.cnp_pg = 5; // of its own: no map leads to it
	for (uint8_t cnp_tc = 0; cnp_tc < TC_COUNT; cnp_tc++) {
		struct pkt p = packet(frame, PKT_L3_IPV4, 0x0800, UNTAGGED);

		p.flags |= PKT_CNP;
		classify(&pf, cnp_tc, &p);
		cr_expect_eq(p.tc.v, cnp_tc);
		cr_expect_eq(p.queue.v, cnp_tc);
		cr_expect_eq(p.pg.v, 5);
	}
}

// Every row of a full EtherType map counts, the last like the first.
Test(core_classify, every_ethertype_row)
{
	struct port_profile pf = port_with("AZURE");
	uint8_t frame[64] = { 0 };

	pf.map_ethertypes = CLASS_MAP_ETHERTYPES;
	for (uint16_t i = 0; i < CLASS_MAP_ETHERTYPES; i++) {
		pf.ethertype_to_tc[i].ethertype = 0x9000 + i;
		pf.ethertype_to_tc[i].tc = (uint8_t)(7 - i);
	}
	for (uint16_t i = 0; i < CLASS_MAP_ETHERTYPES; i++) {
		struct pkt p = packet(frame, PKT_L3_OTHER, 0x9000 + i, i % 2 ? UNTAGGED : 3);

		classify(&pf, CNP_TC, &p);
		cr_expect_eq(p.tc.v, 7 - i, "row %u: class %u", i, p.tc.v);
	}
}

// Queue, group and class are three things: none is the index of another.
Test(core_classify, maps_do_not_mix)
{
	struct port_profile pf = port_with("AZURE");
	uint8_t frame[64] = { 0 };
	struct pkt p = packet(frame, PKT_L3_IPV4, 0x0800, UNTAGGED);

	p.tos = 46 << 2; // class 5
	pf.tc_to_queue[5] = 2;
	pf.tc_to_pg[5] = 7;
	classify(&pf, CNP_TC, &p);
	cr_expect_eq(p.tc.v, 5);
	cr_expect_eq(p.queue.v, 2);
	cr_expect_eq(p.pg.v, 7);
}
