// SPDX-License-Identifier: BSD-3-Clause
//
// How many rows of each table of schema/config.def a switch takes: the size of its configuration in
// memory, and what those who write one must keep to.
#pragma once

enum {
	CONFIG_POOL_MAX = 8,
	CONFIG_PROFILE_MAX = 64,
	CONFIG_PORT_MAX = 256,
	CONFIG_BINDING_MAX = 1024,
	CONFIG_MAP_MAX = 64,
	CONFIG_SCHEDULER_MAX = 32,
	CONFIG_WRED_MAX = 32,
	CONFIG_VLAN_MAX = 256,
	CONFIG_PFC_WD_MAX = 256,
	CONFIG_LAG_MAX = 64,
	CONFIG_INTERFACE_MAX = 256,
	CONFIG_NEIGHBOR_MAX = 1024,
	CONFIG_NEXT_HOP_MAX = 1024,
	CONFIG_ROUTE_MAX = 1024,
	CONFIG_EDGE_MAX = 1024,
	CONFIG_HOST_MAX = 4096,
	CONFIG_TURN_MAX = 4096,
	CONFIG_GUARD_BINDING_MAX = 4096,
	CONFIG_ACL_GROUP_MAX = 4096,
	CONFIG_ACL_MAX = 4096,
};
