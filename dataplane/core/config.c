// SPDX-License-Identifier: BSD-3-Clause
//
// The descriptor tables of schema/config.def: constants only, walked by the loader, the dump, the
// CLI and the documentation. A knob that has no row here does not exist.

#include "dataplane/core/config.h"

#define KNOB(type, key, kind, def, min, max, words, doc)                                           \
	{ #key, def, words, doc, min, max, (uint32_t)offsetof(struct type, key), CONFIG_##kind },

#define SWITCH_KNOB(...) KNOB(switch_config, __VA_ARGS__)
static const struct config_knob switch_knobs[] = {
#include "schema/config.def"
};

#define POOL_KNOB(...) KNOB(pool_config, __VA_ARGS__)
static const struct config_knob pool_knobs[] = {
#include "schema/config.def"
};

#define PROFILE_KNOB(...) KNOB(buffer_profile_config, __VA_ARGS__)
static const struct config_knob profile_knobs[] = {
#include "schema/config.def"
};

#define PORT_KNOB(...) KNOB(port_config, __VA_ARGS__)
static const struct config_knob port_knobs[] = {
#include "schema/config.def"
};

#define IMPAIRMENT_KNOB(...) KNOB(impairment_config, __VA_ARGS__)
static const struct config_knob impairment_knobs[] = {
#include "schema/config.def"
};

#define PG_KNOB(...) KNOB(buffer_pg_config, __VA_ARGS__)
static const struct config_knob buffer_pg_knobs[] = {
#include "schema/config.def"
};

#define BUFFER_QUEUE_KNOB(...) KNOB(buffer_queue_config, __VA_ARGS__)
static const struct config_knob buffer_queue_knobs[] = {
#include "schema/config.def"
};

#define MAP_KNOB(...) KNOB(map_config, __VA_ARGS__)
static const struct config_knob map_knobs[] = {
#include "schema/config.def"
};

#define SCHEDULER_KNOB(...) KNOB(scheduler_config, __VA_ARGS__)
static const struct config_knob scheduler_knobs[] = {
#include "schema/config.def"
};

#define WRED_KNOB(...) KNOB(wred_config, __VA_ARGS__)
static const struct config_knob wred_knobs[] = {
#include "schema/config.def"
};

#define QUEUE_KNOB(...) KNOB(queue_config, __VA_ARGS__)
static const struct config_knob queue_knobs[] = {
#include "schema/config.def"
};

#define VLAN_KNOB(...) KNOB(vlan_config, __VA_ARGS__)
static const struct config_knob vlan_knobs[] = {
#include "schema/config.def"
};

#define PFC_WD_KNOB(...) KNOB(pfc_wd_config, __VA_ARGS__)
static const struct config_knob pfc_wd_knobs[] = {
#include "schema/config.def"
};

#define LAG_KNOB(...) KNOB(lag_config, __VA_ARGS__)
static const struct config_knob lag_knobs[] = {
#include "schema/config.def"
};

#define INTERFACE_KNOB(...) KNOB(interface_config, __VA_ARGS__)
static const struct config_knob interface_knobs[] = {
#include "schema/config.def"
};

#define NEIGHBOR_KNOB(...) KNOB(neighbor_config, __VA_ARGS__)
static const struct config_knob neighbor_knobs[] = {
#include "schema/config.def"
};

#define NEXT_HOP_KNOB(...) KNOB(next_hop_config, __VA_ARGS__)
static const struct config_knob next_hop_knobs[] = {
#include "schema/config.def"
};

#define ROUTE_KNOB(...) KNOB(route_config, __VA_ARGS__)
static const struct config_knob route_knobs[] = {
#include "schema/config.def"
};

#define EDGE_KNOB(...) KNOB(edge_config, __VA_ARGS__)
static const struct config_knob edge_knobs[] = {
#include "schema/config.def"
};

#define HOST_KNOB(...) KNOB(fabric_host_config, __VA_ARGS__)
static const struct config_knob host_knobs[] = {
#include "schema/config.def"
};

#define TURN_KNOB(...) KNOB(turn_config, __VA_ARGS__)
static const struct config_knob turn_knobs[] = {
#include "schema/config.def"
};

#define BINDING_KNOB(...) KNOB(binding_config, __VA_ARGS__)
static const struct config_knob binding_knobs[] = {
#include "schema/config.def"
};

#define ACL_GROUP_KNOB(...) KNOB(acl_group_config, __VA_ARGS__)
static const struct config_knob acl_group_knobs[] = {
#include "schema/config.def"
};

#define ACL_KNOB(...) KNOB(acl_config, __VA_ARGS__)
static const struct config_knob acl_knobs[] = {
#include "schema/config.def"
};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
// The first `key` knobs of a table tell its rows apart.
#define ROWS(table, knobs, member, max, key, ordered)                                              \
	{                                                                                          \
		table, knobs, COUNT_OF(knobs),                                                     \
			(uint32_t)sizeof(((struct sw_config *)0)->member[0]),                      \
			(uint32_t)offsetof(struct sw_config, member), max,                         \
			(uint32_t)offsetof(struct sw_config, member##_count), key, ordered         \
	}
enum { ANY_ORDER = false, ORDERED = true };

const struct config_table config_tables[CONFIG_TABLE_COUNT] = {
	{ "", switch_knobs, COUNT_OF(switch_knobs), (uint32_t)sizeof(struct switch_config),
	  (uint32_t)offsetof(struct sw_config, sw), 1, UINT32_MAX, 0, ANY_ORDER },
	ROWS("buffer_pool", pool_knobs, pool, CONFIG_POOL_MAX, 1, ANY_ORDER),
	ROWS("buffer_profile", profile_knobs, profile, CONFIG_PROFILE_MAX, 1, ANY_ORDER),
	ROWS("port", port_knobs, port, CONFIG_PORT_MAX, 1, ORDERED),
	ROWS("impairment", impairment_knobs, impairment, CONFIG_PORT_MAX, 1, ORDERED),
	ROWS("buffer_pg", buffer_pg_knobs, buffer_pg, CONFIG_BINDING_MAX, 2, ANY_ORDER),
	ROWS("buffer_queue", buffer_queue_knobs, buffer_queue, CONFIG_BINDING_MAX, 2, ANY_ORDER),
	ROWS("map", map_knobs, map, CONFIG_MAP_MAX, 2, ANY_ORDER),
	ROWS("scheduler", scheduler_knobs, scheduler, CONFIG_SCHEDULER_MAX, 1, ANY_ORDER),
	ROWS("wred_profile", wred_knobs, wred, CONFIG_WRED_MAX, 1, ANY_ORDER),
	ROWS("queue", queue_knobs, queue, CONFIG_BINDING_MAX, 2, ANY_ORDER),
	ROWS("vlan", vlan_knobs, vlan, CONFIG_VLAN_MAX, 1, ANY_ORDER),
	ROWS("pfc_wd", pfc_wd_knobs, pfc_wd, CONFIG_PFC_WD_MAX, 2, ANY_ORDER),
	ROWS("lag", lag_knobs, lag, CONFIG_LAG_MAX, 1, ORDERED),
	ROWS("interface", interface_knobs, interface, CONFIG_INTERFACE_MAX, 2, ANY_ORDER),
	ROWS("neighbor", neighbor_knobs, neighbor, CONFIG_NEIGHBOR_MAX, 2, ANY_ORDER),
	ROWS("next_hop", next_hop_knobs, next_hop, CONFIG_NEXT_HOP_MAX, 4, ANY_ORDER),
	ROWS("route", route_knobs, route, CONFIG_ROUTE_MAX, 1, ANY_ORDER),
	ROWS("edge", edge_knobs, edge, CONFIG_EDGE_MAX, 1, ANY_ORDER),
	ROWS("host", host_knobs, host, CONFIG_HOST_MAX, 3, ANY_ORDER),
	ROWS("turn", turn_knobs, turn, CONFIG_TURN_MAX, 3, ANY_ORDER),
	ROWS("binding", binding_knobs, binding, CONFIG_GUARD_BINDING_MAX, 4, ANY_ORDER),
	ROWS("acl_group", acl_group_knobs, acl_group, CONFIG_ACL_GROUP_MAX, 2, ANY_ORDER),
	ROWS("acl", acl_knobs, acl, CONFIG_ACL_MAX, 1, ORDERED),
};
