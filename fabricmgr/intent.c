// SPDX-License-Identifier: BSD-3-Clause
//
// The descriptor tables of schema/intent.def, as those of a switch's configuration are made:
// loader, errors and documentation walk them.

#include "fabricmgr/intent.h"

#include <stdlib.h>

#include "sys/cfg_load.h"
#include "sys/cfg_row.h"

#define KNOB(type, key, kind, def, min, max, words, doc)                                           \
	{ #key, def, words, doc, min, max, (uint32_t)offsetof(struct type, key), CONFIG_##kind },

#define FABRIC_KNOB(...) KNOB(intent_fabric, __VA_ARGS__)
static const struct config_knob fabric_knobs[] = {
#include "schema/intent.def"
};

#define FAT_TREE_KNOB(...) KNOB(intent_fat_tree, __VA_ARGS__)
static const struct config_knob fat_tree_knobs[] = {
#include "schema/intent.def"
};

#define LEAF_SPINE_KNOB(...) KNOB(intent_leaf_spine, __VA_ARGS__)
static const struct config_knob leaf_spine_knobs[] = {
#include "schema/intent.def"
};

#define CLOS_KNOB(...) KNOB(intent_clos, __VA_ARGS__)
static const struct config_knob clos_knobs[] = {
#include "schema/intent.def"
};

#define TORUS_KNOB(...) KNOB(intent_torus, __VA_ARGS__)
static const struct config_knob torus_knobs[] = {
#include "schema/intent.def"
};

#define TWIST_KNOB(...) KNOB(intent_twist, __VA_ARGS__)
static const struct config_knob twist_knobs[] = {
#include "schema/intent.def"
};

#define HYBRID_KNOB(...) KNOB(intent_hybrid, __VA_ARGS__)
static const struct config_knob hybrid_knobs[] = {
#include "schema/intent.def"
};

#define TIER_KNOB(...) KNOB(intent_tier, __VA_ARGS__)
static const struct config_knob tier_knobs[] = {
#include "schema/intent.def"
};

#define NODE_KNOB(...) KNOB(intent_node, __VA_ARGS__)
static const struct config_knob node_knobs[] = {
#include "schema/intent.def"
};

#define LINK_KNOB(...) KNOB(intent_link, __VA_ARGS__)
static const struct config_knob link_knobs[] = {
#include "schema/intent.def"
};

#define CABLE_KNOB(...) KNOB(intent_cable, __VA_ARGS__)
static const struct config_knob cable_knobs[] = {
#include "schema/intent.def"
};

#define MEMBER_KNOB(...) KNOB(intent_member, __VA_ARGS__)
static const struct config_knob member_knobs[] = {
#include "schema/intent.def"
};

#define UPLINK_KNOB(...) KNOB(intent_uplink, __VA_ARGS__)
static const struct config_knob uplink_knobs[] = {
#include "schema/intent.def"
};

#define ROOT_KNOB(...) KNOB(intent_root, __VA_ARGS__)
static const struct config_knob root_knobs[] = {
#include "schema/intent.def"
};

#define IGNORE_KNOB(...) KNOB(intent_ignore, __VA_ARGS__)
static const struct config_knob ignore_knobs[] = {
#include "schema/intent.def"
};

#define CLASS_KNOB(...) KNOB(intent_class, __VA_ARGS__)
static const struct config_knob class_knobs[] = {
#include "schema/intent.def"
};

#define TENANT_KNOB(...) KNOB(intent_tenant, __VA_ARGS__)
static const struct config_knob tenant_knobs[] = {
#include "schema/intent.def"
};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
// The first `key` knobs of a table tell its rows apart.
#define ROWS(table, knobs, member, key, ordered)                                                   \
	{                                                                                          \
		table, knobs, COUNT_OF(knobs), (uint32_t)sizeof(((struct intent *)0)->member[0]),  \
			(uint32_t)offsetof(struct intent, member),                                 \
			COUNT_OF(((struct intent *)0)->member),                                    \
			(uint32_t)offsetof(struct intent, member##_count), key, ordered            \
	}
enum { ANY_ORDER = false, ORDERED = true };

const struct config_table intent_tables[INTENT_TABLE_COUNT] = {
	{ "", fabric_knobs, COUNT_OF(fabric_knobs), (uint32_t)sizeof(struct intent_fabric),
	  (uint32_t)offsetof(struct intent, fabric), 1, UINT32_MAX, 0, ANY_ORDER },
	ROWS("fat_tree", fat_tree_knobs, fat_tree, 1, ANY_ORDER),
	ROWS("leaf_spine", leaf_spine_knobs, leaf_spine, 1, ANY_ORDER),
	ROWS("clos", clos_knobs, clos, 1, ORDERED),
	ROWS("torus", torus_knobs, torus, 1, ANY_ORDER),
	ROWS("twists", twist_knobs, twist, 2, ANY_ORDER),
	ROWS("hybrid", hybrid_knobs, hybrid, 1, ANY_ORDER),
	ROWS("tiers", tier_knobs, tier, 1, ANY_ORDER),
	ROWS("switches", node_knobs, node, 1, ORDERED),
	ROWS("links", link_knobs, link, 2, ORDERED),
	ROWS("cables", cable_knobs, cable, 1, ANY_ORDER),
	ROWS("hosts", member_knobs, member, 2, ORDERED),
	ROWS("uplinks", uplink_knobs, uplink, 2, ORDERED),
	ROWS("roots", root_knobs, root, 1, ORDERED),
	ROWS("ignore", ignore_knobs, ignore, 1, ANY_ORDER),
	ROWS("classes", class_knobs, class, 1, ORDERED),
	ROWS("tenants", tenant_knobs, tenant, 2, ORDERED),
};

int intent_load(const char *path, struct intent **intent, FILE *errors)
{
	void *config;
	const int rc = cfg_load_new(path, intent_tables, INTENT_TABLE_COUNT, &config, errors);

	if (rc == 0)
		*intent = config;
	return rc;
}

struct intent *intent_default(void)
{
	struct intent *intent = calloc(1, sizeof(*intent));

	if (intent != NULL)
		cfg_row_default(&intent_tables[0], (uint8_t *)&intent->fabric);
	return intent;
}
