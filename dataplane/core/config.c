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
#define ROWS(table, knobs, member, max)                                                            \
	{                                                                                          \
		table, knobs, COUNT_OF(knobs),                                                     \
			(uint32_t)sizeof(((struct sw_config *)0)->member[0]),                      \
			(uint32_t)offsetof(struct sw_config, member), max,                         \
			(uint32_t)offsetof(struct sw_config, member##_count)                       \
	}

const struct config_table config_tables[CONFIG_TABLE_COUNT] = {
	{ "", switch_knobs, COUNT_OF(switch_knobs), (uint32_t)sizeof(struct switch_config),
	  (uint32_t)offsetof(struct sw_config, sw), 1, UINT32_MAX },
	ROWS("buffer_pool", pool_knobs, pool, CONFIG_POOL_MAX),
	ROWS("buffer_profile", profile_knobs, profile, CONFIG_PROFILE_MAX),
	ROWS("port", port_knobs, port, CONFIG_PORT_MAX),
	ROWS("impairment", impairment_knobs, impairment, CONFIG_PORT_MAX),
	ROWS("buffer_pg", buffer_pg_knobs, buffer_pg, CONFIG_BINDING_MAX),
	ROWS("buffer_queue", buffer_queue_knobs, buffer_queue, CONFIG_BINDING_MAX),
	ROWS("map", map_knobs, map, CONFIG_MAP_MAX),
	ROWS("scheduler", scheduler_knobs, scheduler, CONFIG_SCHEDULER_MAX),
	ROWS("wred_profile", wred_knobs, wred, CONFIG_WRED_MAX),
	ROWS("queue", queue_knobs, queue, CONFIG_BINDING_MAX),
	ROWS("vlan", vlan_knobs, vlan, CONFIG_VLAN_MAX),
	ROWS("pfc_wd", pfc_wd_knobs, pfc_wd, CONFIG_PFC_WD_MAX),
	ROWS("lag", lag_knobs, lag, CONFIG_LAG_MAX),
	ROWS("interface", interface_knobs, interface, CONFIG_INTERFACE_MAX),
	ROWS("neighbor", neighbor_knobs, neighbor, CONFIG_NEIGHBOR_MAX),
	ROWS("next_hop", next_hop_knobs, next_hop, CONFIG_NEXT_HOP_MAX),
	ROWS("route", route_knobs, route, CONFIG_ROUTE_MAX),
	ROWS("edge", edge_knobs, edge, CONFIG_EDGE_MAX),
	ROWS("host", host_knobs, host, CONFIG_HOST_MAX),
	ROWS("turn", turn_knobs, turn, CONFIG_TURN_MAX),
	ROWS("binding", binding_knobs, binding, CONFIG_GUARD_BINDING_MAX),
	ROWS("acl_group", acl_group_knobs, acl_group, CONFIG_ACL_GROUP_MAX),
	ROWS("acl", acl_knobs, acl, CONFIG_ACL_MAX),
};
