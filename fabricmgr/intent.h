// SPDX-License-Identifier: BSD-3-Clause
//
// What a person writes about a fabric: rows of schema/intent.def, names not yet resolved, and how
// they are read. intent_fabric.h makes a fabric of them.
#pragma once

#include <stdio.h>

#include "schema/config.h"

enum {
	INTENT_CLASS_MAX = 8,
	INTENT_CLOS_MAX = 8,
	INTENT_TWIST_MAX = 30,
	INTENT_NODE_MAX = 65535,
	INTENT_LINK_MAX = 1 << 18,
	INTENT_MEMBER_MAX = 1 << 18,
	INTENT_UPLINK_MAX = 1024,
	INTENT_TENANT_MAX = 4095,
	INTENT_NAME_MAX = 65535,
	INTENT_TABLE_COUNT = 17,
};

// Words of the knobs, in order.
enum { INTENT_SINGLE, INTENT_DUAL, INTENT_RAILS };
enum { INTENT_FLAT, INTENT_PER_LEAF };
enum { INTENT_PLAIN, INTENT_EXACT };

#define FABRIC_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_fabric {
	uint32_t line;
#include "schema/intent.def"
};

#define FAT_TREE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_fat_tree {
	uint32_t line;
#include "schema/intent.def"
};

#define LEAF_SPINE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_leaf_spine {
	uint32_t line;
#include "schema/intent.def"
};

#define CLOS_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_clos {
	uint32_t line;
#include "schema/intent.def"
};

#define TORUS_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_torus {
	uint32_t line;
#include "schema/intent.def"
};

#define TWIST_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_twist {
	uint32_t line;
#include "schema/intent.def"
};

#define HYBRID_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_hybrid {
	uint32_t line;
#include "schema/intent.def"
};

#define TIER_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_tier {
	uint32_t line;
#include "schema/intent.def"
};

#define NODE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_node {
	uint32_t line;
#include "schema/intent.def"
};

#define LINK_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_link {
	uint32_t line;
#include "schema/intent.def"
};

#define CABLE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_cable {
	uint32_t line;
#include "schema/intent.def"
};

#define MEMBER_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_member {
	uint32_t line;
#include "schema/intent.def"
};

#define UPLINK_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_uplink {
	uint32_t line;
#include "schema/intent.def"
};

#define ROOT_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_root {
	uint32_t line;
#include "schema/intent.def"
};

#define IGNORE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_ignore {
	uint32_t line;
#include "schema/intent.def"
};

#define CLASS_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_class {
	uint32_t line;
#include "schema/intent.def"
};

#define TENANT_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct intent_tenant {
	uint32_t line;
#include "schema/intent.def"
};

struct intent {
	struct intent_fabric fabric;
	uint32_t fat_tree_count;
	struct intent_fat_tree fat_tree[1];
	uint32_t leaf_spine_count;
	struct intent_leaf_spine leaf_spine[1];
	uint32_t clos_count;
	struct intent_clos clos[INTENT_CLOS_MAX];
	uint32_t torus_count;
	struct intent_torus torus[1];
	uint32_t twist_count;
	struct intent_twist twist[INTENT_TWIST_MAX];
	uint32_t hybrid_count;
	struct intent_hybrid hybrid[1];
	uint32_t tier_count;
	struct intent_tier tier[INTENT_CLOS_MAX];
	uint32_t node_count;
	struct intent_node node[INTENT_NODE_MAX];
	uint32_t link_count;
	struct intent_link link[INTENT_LINK_MAX];
	uint32_t cable_count;
	struct intent_cable cable[INTENT_LINK_MAX];
	uint32_t member_count;
	struct intent_member member[INTENT_MEMBER_MAX];
	uint32_t uplink_count;
	struct intent_uplink uplink[INTENT_UPLINK_MAX];
	uint32_t root_count;
	struct intent_root root[INTENT_NAME_MAX];
	uint32_t ignore_count;
	struct intent_ignore ignore[INTENT_NAME_MAX];
	uint32_t class_count;
	struct intent_class class[INTENT_CLASS_MAX];
	uint32_t tenant_count;
	struct intent_tenant tenant[INTENT_TENANT_MAX];
};

extern const struct config_table intent_tables[INTENT_TABLE_COUNT];

// Reads an intent file into memory of its own, to be freed; rows that are not used are not touched.
// 0, or -errno after lines "FILE:LINE: TABLE.KNOB: what" on `errors`.
int intent_load(const char *path, struct intent **intent, FILE *errors);

// What a fabric has that comes from elsewhere and without an intent: all defaults, to be freed.
// NULL: memory is short.
struct intent *intent_default(void);
