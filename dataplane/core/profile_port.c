// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: ports. Resolves the seven QoS maps of each port, its rates and its PFC behaviour.
//
// A map is looked up among the configuration's rows of its type first, then among those built in,
// so a configuration may replace "AZURE" as a whole.

#include "dataplane/core/profile_build.h"

enum { FLOOD_BURST_BYTES = 32 * 1024 }; // what a policed port may flood at once

// The rate of a port that has none: gives a quantum its length until a driver knows better.
static const uint64_t unpaced_bps = 10000000000;

static int resolve_map(struct build *b, const struct port_config *row, enum config_map_type type,
		       const char *name, struct class_map *out)
{
	const char *text;

	if (name[0] == '\0')
		name = "AZURE";
	text = map_builtin(type, name);
	for (uint32_t i = 0; i < b->config->map_count; i++) {
		const struct map_config *map = &b->config->map[i];

		if (map->type != type || !name_equal(map->name, name))
			continue;
		if (!map_parse(type, map->map, out))
			return build_fail(b, FAULT_BAD_MAP, map->line, map->name, map->map, 0, 0);
		return 0;
	}
	if (text == NULL || !map_parse(type, text, out))
		return build_fail(b, FAULT_UNKNOWN_MAP, row->line, row->name, name, 0, 0);
	return 0;
}

static int resolve_maps(struct build *b, const struct port_config *row, struct port_profile *port)
{
	struct class_map ethertypes = { 0 };
	const struct {
		enum config_map_type type;
		const char *name;
		uint8_t *out; // NULL: ethertypes
		size_t count;
	} maps[] = {
		{ CONFIG_MAP_DSCP_TO_TC, row->dscp_to_tc_map, port->dscp_to_tc, 64 },
		{ CONFIG_MAP_DOT1P_TO_TC, row->dot1p_to_tc_map, port->pcp_to_tc, PRIO_COUNT },
		{ CONFIG_MAP_ETHERTYPE_TO_TC, row->ethertype_to_tc_map, NULL, 0 },
		{ CONFIG_MAP_TC_TO_QUEUE, row->tc_to_queue_map, port->tc_to_queue, TC_COUNT },
		{ CONFIG_MAP_TC_TO_PG, row->tc_to_pg_map, port->tc_to_pg, TC_COUNT },
		{ CONFIG_MAP_PFC_TO_QUEUE, row->pfc_to_queue_map, port->prio_to_queue, PRIO_COUNT },
		{ CONFIG_MAP_PFC_TO_PG, row->pfc_to_pg_map, port->prio_to_pg, PRIO_COUNT },
	};

	for (uint32_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct class_map map = { 0 };
		int rc = resolve_map(b, row, maps[i].type, maps[i].name, &map);

		if (rc != 0)
			return rc;
		if (maps[i].out != NULL)
			memcpy(maps[i].out, map.value, maps[i].count);
		else
			ethertypes = map;
	}
	port->map_ethertypes = ethertypes.row_count;
	for (uint32_t i = 0; i < ethertypes.row_count; i++) {
		port->ethertype_to_tc[i].ethertype = ethertypes.row[i].ethertype;
		port->ethertype_to_tc[i].tc = ethertypes.row[i].tc;
	}
	return 0;
}

// How long a pause lasts follows from the rate at which the peer counts its quanta.
static void set_rate(struct port_profile *port, uint64_t bps)
{
	port->rx.bps = bps;
	port->gen.refresh_ns = u64_max(pfc_quanta_ns(port->gen.quanta, bps) / 2, 1);
}

static void build_pfc(const struct port_config *row, struct port_profile *port)
{
	port->hold = row->pause == CONFIG_PAUSE_HOLD;
	port->fabric = row->role == CONFIG_ROLE_FABRIC;
	port->lane_tag = row->lane_tag != 0;
	port->rx.obey = row->pfc_asymmetric ? 0xff : (uint8_t)row->pfc_enable;
	port->gen.enable = port->hold ? 0 : (uint8_t)row->pfc_enable;
	port->held.enable = port->hold ? (uint8_t)row->pfc_enable : 0;
	port->gen.quanta = (uint16_t)row->pfc_quanta;
	set_rate(port, row->speed != 0 ? row->speed : unpaced_bps);
}

void profile_adopt_rate(struct sw_profile *pf, port_t port, uint64_t bps)
{
	set_rate(&pf->port[port.v], bps);
	if (pf->port[port.v].cnp_follows_rate)
		cap_cnp_queue(pf, &pf->port[port.v]);
}

// A fabric link that is not polled holds up every lane and every PFC frame of its neighbour, which
// is how one slow host would stop a fabric.
static int check_hold(struct build *b, const struct port_config *row,
		      const struct port_profile *port)
{
	if (!port->hold || !port->fabric)
		return 0;
	return build_fail(b, FAULT_HOLD_FABRIC, row->line, row->name, "", 0, 0);
}

// Two ports on one device would close it under each other.
static int check_device(struct build *b, uint32_t port)
{
	const struct port_config *row = &b->config->port[port];
	size_t len = device_name_length(row->devargs);
	char name[CONFIG_NAME_BYTES] = { 0 };

	if (config_link_name(row->devargs) != NULL)
		return 0;
	memcpy(name, row->devargs, len < sizeof(name) ? len : sizeof(name) - 1);
	for (uint32_t i = 0; i < port; i++) {
		const char *other = b->config->port[i].devargs;

		if (device_name_length(other) == len && memcmp(other, row->devargs, len) == 0)
			return build_fail(b, FAULT_DUPLICATE_DEVICE, row->line, row->name, name, 0,
					  0);
	}
	return 0;
}

int build_ports(struct build *b)
{
	for (uint32_t i = 0; i < b->config->port_count; i++) {
		const struct port_config *row = &b->config->port[i];
		struct port_profile *port = &b->pf->port[i];
		int rc;

		if (find_port(b->config, row->name) != i)
			return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
		name_copy(port->name, row->name);
		port->trust_dscp = row->trust == CONFIG_TRUST_DSCP;
		port->default_tc = (uint8_t)row->default_tc;
		port->max_frame_bytes = (uint32_t)row->mtu + ETHERNET_BYTES;
		port->mac_limit = (uint32_t)row->mac_limit;
		port->lcore = (lcore_t){ (uint8_t)row->lcore };
		if (b->pf->lcore_count <= row->lcore)
			b->pf->lcore_count = (uint32_t)row->lcore + 1;
		port->line = (struct pacer_profile){ row->speed, row->burst };
		port->flood = (struct pacer_profile){ row->flood_rate, bytes_ns(FLOOD_BURST_BYTES,
										row->flood_rate) };
		build_pfc(row, port);
		rc = check_hold(b, row, port);
		if (rc == 0)
			rc = check_device(b, i);
		if (rc == 0)
			rc = resolve_maps(b, row, port);
		if (rc != 0)
			return rc;
	}
	return 0;
}
