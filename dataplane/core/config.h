// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration of one switch as read from a file: rows of schema/config.def in the field's
// vocabulary, values in base units, names not yet resolved. profile.c turns it into a profile.
#pragma once

#include "schema/config.h"
#include "schema/config_limits.h"

#define SWITCH_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct switch_config {
	uint32_t line;
#include "schema/config.def"
};

#define POOL_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct pool_config {
	uint32_t line;
#include "schema/config.def"
};

#define PROFILE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct buffer_profile_config {
	uint32_t line;
#include "schema/config.def"
};

#define PORT_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct port_config {
	uint32_t line;
#include "schema/config.def"
};

#define IMPAIRMENT_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct impairment_config {
	uint32_t line;
#include "schema/config.def"
};

#define PG_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct buffer_pg_config {
	uint32_t line;
#include "schema/config.def"
};

#define BUFFER_QUEUE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct buffer_queue_config {
	uint32_t line;
#include "schema/config.def"
};

#define MAP_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct map_config {
	uint32_t line;
#include "schema/config.def"
};

#define SCHEDULER_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct scheduler_config {
	uint32_t line;
#include "schema/config.def"
};

#define WRED_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct wred_config {
	uint32_t line;
#include "schema/config.def"
};

#define QUEUE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct queue_config {
	uint32_t line;
#include "schema/config.def"
};

#define VLAN_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct vlan_config {
	uint32_t line;
#include "schema/config.def"
};

#define PFC_WD_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct pfc_wd_config {
	uint32_t line;
#include "schema/config.def"
};

#define BINDING_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct binding_config {
	uint32_t line;
#include "schema/config.def"
};

#define ACL_GROUP_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct acl_group_config {
	uint32_t line;
#include "schema/config.def"
};

#define ACL_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct acl_config {
	uint32_t line;
#include "schema/config.def"
};

enum { ETHERNET_BYTES = 14 }; // Ethernet header without tags, which no MTU counts

// The name of the in-memory link that a port with these devargs is an end of, or NULL. It is no
// device: two ports have it.
static inline const char *config_link_name(const char *devargs)
{
	static const char prefix[] = "link:";
	uint32_t i = 0;

	while (prefix[i] != '\0' && devargs[i] == prefix[i])
		i++;
	return prefix[i] == '\0' ? devargs + i : NULL;
}

#define LAG_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct lag_config {
	uint32_t line;
#include "schema/config.def"
};

#define INTERFACE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct interface_config {
	uint32_t line;
#include "schema/config.def"
};

#define NEIGHBOR_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct neighbor_config {
	uint32_t line;
#include "schema/config.def"
};

#define NEXT_HOP_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct next_hop_config {
	uint32_t line;
#include "schema/config.def"
};

#define ROUTE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct route_config {
	uint32_t line;
#include "schema/config.def"
};

#define EDGE_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct edge_config {
	uint32_t line;
#include "schema/config.def"
};

#define HOST_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct fabric_host_config {
	uint32_t line;
#include "schema/config.def"
};

#define TURN_KNOB(key, kind, def, min, max, words, doc) CONFIG_FIELD(kind, key);
struct turn_config {
	uint32_t line;
#include "schema/config.def"
};

enum config_roce { CONFIG_ROCE_OFF, CONFIG_ROCE_LOSSLESS, CONFIG_ROCE_LOSSY, CONFIG_ROCE_SONIC };
enum config_pause { CONFIG_PAUSE_FRAMES, CONFIG_PAUSE_HOLD };
enum config_steer { CONFIG_STEER_ALL, CONFIG_STEER_ROCE };
enum config_lag_mode { CONFIG_LAG_STATIC, CONFIG_LAG_LACP };
enum config_lacp_rate { CONFIG_LACP_SLOW, CONFIG_LACP_FAST };
enum config_role { CONFIG_ROLE_EDGE, CONFIG_ROLE_FABRIC };
enum config_hello { CONFIG_HELLO_OFF, CONFIG_HELLO_ON, CONFIG_HELLO_REQUIRED };
enum config_lldp { CONFIG_LLDP_OFF, CONFIG_LLDP_ON, CONFIG_LLDP_RX, CONFIG_LLDP_TX };
enum config_forwarding { CONFIG_FORWARDING_STANDALONE, CONFIG_FORWARDING_MANAGED };
enum config_source_guard { CONFIG_GUARD_OFF, CONFIG_GUARD_MAC, CONFIG_GUARD_IP };
enum config_trust { CONFIG_TRUST_DSCP, CONFIG_TRUST_PCP };
enum config_pool_type { CONFIG_POOL_INGRESS, CONFIG_POOL_EGRESS };
enum config_pool_mode { CONFIG_POOL_STATIC, CONFIG_POOL_DYNAMIC };
enum config_ecn { CONFIG_ECN_NONE, CONFIG_ECN_ALL };
enum config_scheduler_type { CONFIG_SCHEDULER_STRICT, CONFIG_SCHEDULER_DWRR };
enum config_map_type {
	CONFIG_MAP_DSCP_TO_TC,
	CONFIG_MAP_DOT1P_TO_TC,
	CONFIG_MAP_ETHERTYPE_TO_TC,
	CONFIG_MAP_TC_TO_QUEUE,
	CONFIG_MAP_TC_TO_PG,
	CONFIG_MAP_PFC_TO_QUEUE,
	CONFIG_MAP_PFC_TO_PG,
};

// About 6 MB; lives in the shell's heap.
struct sw_config {
	struct switch_config sw;
	uint32_t pool_count;
	uint32_t profile_count;
	uint32_t port_count;
	uint32_t impairment_count;
	uint32_t buffer_pg_count;
	uint32_t buffer_queue_count;
	uint32_t map_count;
	uint32_t scheduler_count;
	uint32_t wred_count;
	uint32_t queue_count;
	uint32_t vlan_count;
	uint32_t pfc_wd_count;
	uint32_t lag_count;
	uint32_t interface_count;
	uint32_t neighbor_count;
	uint32_t next_hop_count;
	uint32_t route_count;
	uint32_t edge_count;
	uint32_t host_count;
	uint32_t turn_count;
	uint32_t binding_count;
	uint32_t acl_group_count;
	uint32_t acl_count;
	struct pool_config pool[CONFIG_POOL_MAX];
	struct buffer_profile_config profile[CONFIG_PROFILE_MAX];
	struct port_config port[CONFIG_PORT_MAX];
	struct impairment_config impairment[CONFIG_PORT_MAX];
	struct buffer_pg_config buffer_pg[CONFIG_BINDING_MAX];
	struct buffer_queue_config buffer_queue[CONFIG_BINDING_MAX];
	struct map_config map[CONFIG_MAP_MAX];
	struct scheduler_config scheduler[CONFIG_SCHEDULER_MAX];
	struct wred_config wred[CONFIG_WRED_MAX];
	struct queue_config queue[CONFIG_BINDING_MAX];
	struct vlan_config vlan[CONFIG_VLAN_MAX];
	struct pfc_wd_config pfc_wd[CONFIG_PFC_WD_MAX];
	struct lag_config lag[CONFIG_LAG_MAX];
	struct interface_config interface[CONFIG_INTERFACE_MAX];
	struct neighbor_config neighbor[CONFIG_NEIGHBOR_MAX];
	struct next_hop_config next_hop[CONFIG_NEXT_HOP_MAX];
	struct route_config route[CONFIG_ROUTE_MAX];
	struct edge_config edge[CONFIG_EDGE_MAX];
	struct fabric_host_config host[CONFIG_HOST_MAX];
	struct turn_config turn[CONFIG_TURN_MAX];
	struct binding_config binding[CONFIG_GUARD_BINDING_MAX];
	struct acl_group_config acl_group[CONFIG_ACL_GROUP_MAX];
	struct acl_config acl[CONFIG_ACL_MAX];
};

enum { CONFIG_TABLE_COUNT = 24 };

// The descriptors of all of it: [0] is the top level, then buffer_pool, buffer_profile, port,
// impairment, buffer_pg, buffer_queue, map, scheduler, wred_profile, queue, vlan, pfc_wd,
// lag, interface, neighbor, next_hop, route, edge, host, turn, acl_group,
// acl, binding.
extern const struct config_table config_tables[CONFIG_TABLE_COUNT];
