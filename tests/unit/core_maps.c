// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/maps.c: the syntax of maps, and what is built in: "AZURE" against its source
// (sonic-buildimage files/build_templates/qos_config.j2), "roce" against what RoCE hosts send: DSCP
// 26 or priority 3 for data, DSCP 48 or priority 6 for CNP.

#include "dataplane/core/maps.h"

#include <string.h>

#include "tests/table.h"

// --- syntax -------------------------------------------------------------------------------------

static const struct {
	const char *what;
	enum config_map_type type;
	const char *text;
	const char *want; // values of keys 0..7
} text_rows[] = {
	{ "one pair", CONFIG_MAP_TC_TO_QUEUE, "3:5", "00050000" },
	{ "pairs in any order", CONFIG_MAP_TC_TO_QUEUE, "7:1 0:2 3:5", "20050001" },
	{ "a range", CONFIG_MAP_TC_TO_QUEUE, "2-5:6", "00666600" },
	{ "a range of one", CONFIG_MAP_TC_TO_QUEUE, "2-2:6", "00600000" },
	{ "hexadecimal", CONFIG_MAP_DSCP_TO_TC, "0x3:0x4 0x5-0x6:1", "00040110" },
	{ "everything", CONFIG_MAP_TC_TO_PG, "*:7", "77777777" },
	{ "everything else", CONFIG_MAP_TC_TO_PG, "1:0 *:7", "70777777" },
	{ "nothing left for *", CONFIG_MAP_TC_TO_PG, "0-7:1 *:7", "11111111" },
	{ "many spaces", CONFIG_MAP_TC_TO_PG, "  1:2   3:4 ", "02040000" },
	{ "nothing for a class map", CONFIG_MAP_TC_TO_PG, "", "00000000" },
	{ "spaces only", CONFIG_MAP_DOT1P_TO_TC, "  ", "00000000" },
	{ "nothing for pfc_to_queue", CONFIG_MAP_PFC_TO_QUEUE, "", "01234567" },
	{ "nothing for pfc_to_pg", CONFIG_MAP_PFC_TO_PG, "", "01234567" },
	{ "unnamed priorities stay themselves", CONFIG_MAP_PFC_TO_PG, "3:4", "01244567" },
	{ "* is stronger than that", CONFIG_MAP_PFC_TO_QUEUE, "3:4 *:0", "00040000" },
};

TABLE_TEST(core_maps, reads, row, text_rows)
{
	struct class_map map;

	memset(&map, 0xa5, sizeof(map));
	cr_assert(map_parse(row->type, row->text, &map), "%s", row->what);
	for (uint32_t key = 0; key < 8; key++)
		cr_expect_eq(map.value[key], row->want[key] - '0', "%s: key %u is %u", row->what,
			     key, map.value[key]);
	cr_expect_eq(map.row_count, 0, "%s", row->what);
}

static const struct {
	const char *what;
	enum config_map_type type;
	const char *text;
} bad_rows[] = {
	{ "a key beyond DSCP", CONFIG_MAP_DSCP_TO_TC, "64:0" },
	{ "a key beyond PCP", CONFIG_MAP_DOT1P_TO_TC, "8:0" },
	{ "a key beyond TC, to a queue", CONFIG_MAP_TC_TO_QUEUE, "8:0" },
	{ "a key beyond TC, to a group", CONFIG_MAP_TC_TO_PG, "8:0" },
	{ "a key beyond PFC, to a queue", CONFIG_MAP_PFC_TO_QUEUE, "8:0" },
	{ "a key beyond PFC, to a group", CONFIG_MAP_PFC_TO_PG, "8:0" },
	{ "a key beyond EtherTypes", CONFIG_MAP_ETHERTYPE_TO_TC, "0x10000:0" },
	{ "a length", CONFIG_MAP_ETHERTYPE_TO_TC, "0x05ff:0" },
	{ "a key that wraps 32 bits", CONFIG_MAP_DSCP_TO_TC, "4294967296:0" },
	{ "a key that wraps 64 bits", CONFIG_MAP_DSCP_TO_TC, "18446744073709551616:0" },
	{ "a value beyond 7", CONFIG_MAP_DSCP_TO_TC, "3:8" },
	{ "a value that wraps 8 bits", CONFIG_MAP_DSCP_TO_TC, "3:256" },
	{ "a value beyond 7 for *", CONFIG_MAP_DSCP_TO_TC, "*:8" },
	{ "a key twice", CONFIG_MAP_DSCP_TO_TC, "3:3 3:3" },
	{ "a key in a range again", CONFIG_MAP_DSCP_TO_TC, "3:3 0-8:1" },
	{ "an EtherType twice", CONFIG_MAP_ETHERTYPE_TO_TC, "0x8915:3 35093:4" },
	{ "* first", CONFIG_MAP_DSCP_TO_TC, "*:1 3:3" },
	{ "* twice", CONFIG_MAP_DSCP_TO_TC, "*:1 *:1" },
	{ "* of EtherTypes", CONFIG_MAP_ETHERTYPE_TO_TC, "*:1" },
	{ "a range that falls", CONFIG_MAP_DSCP_TO_TC, "8-7:1" },
	{ "a range that ends outside", CONFIG_MAP_DSCP_TO_TC, "60-64:1" },
	{ "a range without a start", CONFIG_MAP_DSCP_TO_TC, "-8:1" },
	{ "a range without an end", CONFIG_MAP_DSCP_TO_TC, "8-:1" },
	{ "a range of three", CONFIG_MAP_DSCP_TO_TC, "1-2-3:1" },
	{ "a range of values", CONFIG_MAP_DSCP_TO_TC, "1:1-2" },
	{ "a range that ends in *", CONFIG_MAP_DSCP_TO_TC, "1-*:1" },
	{ "more EtherTypes than rows", CONFIG_MAP_ETHERTYPE_TO_TC, "0x0800-0xffff:1" },
	{ "no colon", CONFIG_MAP_DSCP_TO_TC, "3" },
	{ "no key", CONFIG_MAP_DSCP_TO_TC, ":3" },
	{ "no value", CONFIG_MAP_DSCP_TO_TC, "3:" },
	{ "two colons", CONFIG_MAP_DSCP_TO_TC, "3:3:3" },
	{ "a colon alone", CONFIG_MAP_DSCP_TO_TC, ":" },
	{ "spaces around the colon", CONFIG_MAP_DSCP_TO_TC, "3 : 3" },
	{ "a comma", CONFIG_MAP_DSCP_TO_TC, "3:3,4:4" },
	{ "a tab", CONFIG_MAP_DSCP_TO_TC, "3:3\t4:4" },
	{ "a sign", CONFIG_MAP_DSCP_TO_TC, "+3:3" },
	{ "a word", CONFIG_MAP_DSCP_TO_TC, "three:3" },
	{ "garbage behind good pairs", CONFIG_MAP_DSCP_TO_TC, "3:3 4:4 x" },
};

TABLE_TEST(core_maps, refuses, row, bad_rows)
{
	struct class_map map, before;

	memset(&map, 0xa5, sizeof(map));
	before = map;
	cr_expect_not(map_parse(row->type, row->text, &map), "%s: %s", row->what, row->text);
	cr_expect_eq(memcmp(&map, &before, sizeof(map)), 0, "%s: changed", row->what);
}

Test(core_maps, ethertypes_are_rows)
{
	struct class_map map;

	cr_assert(map_parse(CONFIG_MAP_ETHERTYPE_TO_TC,
			    "0x8915:3 0x0600-0x0601:7 2054:0 0xfffc-0xffff:1", &map));
	cr_assert_eq(map.row_count, CLASS_MAP_ETHERTYPES);
	cr_expect(map.row[0].ethertype == 0x8915 && map.row[0].tc == 3);
	cr_expect(map.row[2].ethertype == 0x0601 && map.row[2].tc == 7);
	cr_expect(map.row[3].ethertype == 0x0806 && map.row[3].tc == 0);
	cr_expect(map.row[7].ethertype == 0xffff && map.row[7].tc == 1);
}

Test(core_maps, a_last_range_fills_all_dscps)
{
	struct class_map map;

	cr_assert(map_parse(CONFIG_MAP_DSCP_TO_TC, "0-62:5 63:6", &map));
	for (uint32_t dscp = 0; dscp < 64; dscp++)
		cr_expect_eq(map.value[dscp], dscp == 63 ? 6 : 5, "DSCP %u", dscp);
}

// --- built in -----------------------------------------------------------------------------------

static const struct {
	const char *name;
	enum config_map_type type;
	const char *want; // values of keys 0..7
} builtin_rows[] = {
	{ "AZURE", CONFIG_MAP_DOT1P_TO_TC, "10234567" },
	{ "AZURE", CONFIG_MAP_TC_TO_QUEUE, "01234567" },
	{ "AZURE", CONFIG_MAP_TC_TO_PG, "00034007" },
	{ "AZURE", CONFIG_MAP_PFC_TO_QUEUE, "01234567" },
	{ "AZURE", CONFIG_MAP_PFC_TO_PG, "01234567" },
	{ "roce", CONFIG_MAP_DOT1P_TO_TC, "00030060" },
	{ "roce", CONFIG_MAP_TC_TO_QUEUE, "01234567" },
	{ "roce", CONFIG_MAP_TC_TO_PG, "00030060" },
	{ "roce", CONFIG_MAP_PFC_TO_QUEUE, "01234567" },
	{ "roce", CONFIG_MAP_PFC_TO_PG, "01234567" },
};

TABLE_TEST(core_maps, builtin, row, builtin_rows)
{
	struct class_map map;

	cr_assert(map_parse(row->type, map_builtin(row->type, row->name), &map));
	for (uint32_t key = 0; key < 8; key++)
		cr_expect_eq(map.value[key], row->want[key] - '0', "%s type %d: key %u is %u",
			     row->name, row->type, key, map.value[key]);
}

static const struct {
	const char *name;
	const char *want; // values of DSCP 0..63, eight to a group
} dscp_rows[] = {
	{ "AZURE", "11134211 01111111 11111111 11111111 11111111 11111151 61111111 11111111" },
	{ "roce", "00000000 00000000 00000000 00300000 00000000 00000000 60000000 00000000" },
};

TABLE_TEST(core_maps, builtin_dscp, row, dscp_rows)
{
	struct class_map map;

	cr_assert(map_parse(CONFIG_MAP_DSCP_TO_TC, map_builtin(CONFIG_MAP_DSCP_TO_TC, row->name),
			    &map));
	for (uint32_t dscp = 0; dscp < 64; dscp++)
		cr_expect_eq(map.value[dscp], row->want[dscp + dscp / 8] - '0', "%s: DSCP %u is %u",
			     row->name, dscp, map.value[dscp]);
}

Test(core_maps, builtin_ethertypes)
{
	const enum config_map_type type = CONFIG_MAP_ETHERTYPE_TO_TC;
	struct class_map map;

	cr_assert(map_parse(type, map_builtin(type, "AZURE"), &map));
	cr_expect_eq(map.row_count, 0);
	cr_assert(map_parse(type, map_builtin(type, "roce"), &map));
	cr_assert_eq(map.row_count, 1);
	cr_expect(map.row[0].ethertype == 0x8915 && map.row[0].tc == 3);
}

static const struct {
	const char *name;
} unknown_rows[] = { { "" }, { "azure" }, { "AZUR" }, { "AZURE2" }, { "ROCE" }, { "roce " } };

TABLE_TEST(core_maps, not_builtin, row, unknown_rows)
{
	cr_expect_null(map_builtin(CONFIG_MAP_DSCP_TO_TC, row->name), "\"%s\"", row->name);
}
