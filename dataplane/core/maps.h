// SPDX-License-Identifier: BSD-3-Clause
//
// QoS maps as people write them: "3:3 48:6 *:1". The maps that are built in are texts of the same
// syntax, so a configuration may show them, copy them and replace them.
//
// A text is pairs `key:value` separated by spaces. Numbers are decimal or 0x hexadecimal; a key may
// be a range "8-15"; a key is named once; `*`, every key not named, comes last. Values are 0..7.
//
//	type                         keys            a key that is not named, without `*`
//	dscp_to_tc                   0..63           0
//	dot1p_to_tc                  0..7            0
//	tc_to_queue, tc_to_pg        0..7            0
//	pfc_to_queue, pfc_to_pg      0..7            itself, so that it pauses no other queue
//	ethertype_to_tc              0x0600..0xffff  has no class of its own; `*` is not allowed
#pragma once

#include "dataplane/core/config.h"

enum {
	CLASS_MAP_KEYS = 64,
	CLASS_MAP_ETHERTYPES = 8,
};

struct class_map {
	uint8_t value[CLASS_MAP_KEYS]; // by key; all but ethertype_to_tc
	uint8_t row_count;             // ethertype_to_tc
	struct {
		uint16_t ethertype;
		uint8_t tc;
	} row[CLASS_MAP_ETHERTYPES];
};

// Parses `text` as a map of `type`. Keys beyond the type's range have value 0 in `out`. False, and
// *out untouched, when it is not such a text, or names more EtherTypes than there are rows.
bool map_parse(enum config_map_type type, const char *text, struct class_map *out);

// The text of a built-in map, NULL when `name` is not built in. "AZURE" is what SONiC ships
// (qos_config.j2). "roce" is the usual lossless RoCE setup: DSCP 26 or priority 3 is RDMA in class
// 3, DSCP 48 or priority 6 is CNP in class 6, everything else is class 0.
const char *map_builtin(enum config_map_type type, const char *name);
