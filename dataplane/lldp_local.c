// SPDX-License-Identifier: BSD-3-Clause
//
// A traffic class of IEEE 802.1Q is a queue here. Priorities reach it through the PCP map, those
// with PFC through the map by which PFC pauses queues. Queues that share by weight are ETS classes;
// their shares are rounded so that they sum to 100 (D.2.8.4).
//
// The switch is never willing: hosts follow it, not the other way round.

#include "dataplane/lldp_local.h"

#include <string.h>

#include "base/bytes.h"

enum {
	FCS_BYTES = 4,
	TAG_BYTES = 4,
	PERCENT = 100,
	DSCP_APPS_MAX = 24, // rows of single DSCPs, for a frame of bounded length
};

static const char default_description[] = "weft " WEFT_VERSION " software switch";

static void set_address(const struct sw_config *config, struct lldp_info *out)
{
	const struct ip_prefix *address = &config->interface[0].address;

	if (config->interface_count == 0)
		return;
	out->address_family = address->family == IP_V6 ? ADDRESS_FAMILY_IPV6 : ADDRESS_FAMILY_IPV4;
	out->address_len = ip_family_bits(address->family) / 8;
	memcpy(out->address, address->address, out->address_len);
}

// Queues that frames of the port can reach at all.
static uint8_t queues_in_use(const struct port_profile *port)
{
	uint8_t queues = (uint8_t)(1u << port->tc_to_queue[port->default_tc]);

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		queues |= (uint8_t)(1u << port->tc_to_queue[port->pcp_to_tc[i]]);
	for (uint32_t i = 0; i < sizeof(port->dscp_to_tc) && port->trust_dscp; i++)
		queues |= (uint8_t)(1u << port->tc_to_queue[port->dscp_to_tc[i]]);
	return queues;
}

// Shares in whole percent by the largest remainders; the sum is 100 unless nobody shares.
static void set_percent(const struct port_profile *port, uint8_t sharing, uint8_t percent[TC_COUNT])
{
	uint64_t rest[TC_COUNT] = { 0 };
	uint64_t sum = 0;
	uint32_t given = 0;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		sum += sharing >> i & 1 ? port->queue[i].quantum_bytes : 0;
	if (sum == 0)
		return;
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		const uint64_t part = sharing >> i & 1 ? port->queue[i].quantum_bytes : 0;

		percent[i] = (uint8_t)(part * PERCENT / sum);
		rest[i] = part * PERCENT % sum;
		given += percent[i];
	}
	for (; given < PERCENT; given++) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < QUEUE_COUNT; i++)
			best = rest[i] > rest[best] ? i : best;
		percent[best]++;
		rest[best] = 0;
	}
}

static void set_ets(const struct port_profile *port, uint8_t pfc, struct dcbx_ets *out)
{
	const uint8_t sharing = queues_in_use(port) & (uint8_t)~port->strict_mask;

	out->present = true;
	out->class_count = TC_COUNT;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		out->prio_class[i] = pfc >> i & 1 ? port->prio_to_queue[i] :
						    port->tc_to_queue[port->pcp_to_tc[i]];
		out->algorithm[i] = sharing >> i & 1 ? DCBX_TSA_ETS : DCBX_TSA_STRICT;
	}
	set_percent(port, sharing, out->percent);
}

// The priority that a class has in PFC frames, PRIO_COUNT: none, it is lossy.
static uint32_t lossless_priority(const struct port_profile *port, uint8_t pfc, uint8_t tc)
{
	uint32_t i = 0;

	while (i < PRIO_COUNT &&
	       !(pfc >> i & 1 && port->prio_to_queue[i] == port->tc_to_queue[tc] &&
		 port->prio_to_pg[i] == port->tc_to_pg[tc]))
		i++;
	return i;
}

static void add_app(struct dcbx *out, uint32_t priority, uint8_t selector, uint16_t protocol)
{
	out->app[out->app_count++] = (struct dcbx_app){ (uint8_t)priority, selector, protocol };
}

// RoCE belongs to the first lossless priority, in a fabric to that of the lane hosts enter on; and
// where DSCPs count, each that leads to a lossless class to the priority of that class.
static void set_apps(const struct sw_profile *pf, const struct port_profile *port, uint8_t pfc,
		     struct dcbx *out)
{
	uint32_t priority = PRIO_COUNT;

	if (pfc == 0)
		return;
	out->has_apps = true;
	if (pf->lane_count > 0)
		priority = lossless_priority(port, pfc, pf->lane_tc[0]);
	if (priority == PRIO_COUNT)
		priority = (uint32_t)__builtin_ctz(pfc);
	add_app(out, priority, DCBX_SELECT_UDP, ROCE_UDP_PORT);
	for (uint32_t i = 0; i < sizeof(port->dscp_to_tc) && port->trust_dscp; i++) {
		priority = lossless_priority(port, pfc, port->dscp_to_tc[i]);
		if (priority < PRIO_COUNT && out->app_count <= DSCP_APPS_MAX)
			add_app(out, priority, DCBX_SELECT_DSCP, (uint16_t)i);
	}
}

static void set_dcbx(const struct sw_profile *pf, port_t id, uint8_t pfc, struct dcbx *out)
{
	const struct port_profile *port = &pf->port[id.v];

	set_ets(port, pfc, &out->ets);
	out->recommended = out->ets;
	out->recommended.class_count = 0;
	out->pfc = (struct dcbx_pfc){
		.present = true, .capability = PRIO_COUNT, .enable = pfc, .held = port->hold
	};
	set_apps(pf, port, pfc, out);
}

void lldp_local(const struct sw_config *config, const struct sw_profile *pf, port_t id,
		uint16_t ttl_seconds, struct lldp_info *out)
{
	const struct port_profile *port = &pf->port[id.v];
	const struct port_config *row = &config->port[id.v];
	const char *description = config->sw.lldp_description;
	uint8_t mac[6];

	memset(out, 0, sizeof(*out));
	store_be48(mac, pf->lacp_system);
	lldp_set_id(&out->chassis, LLDP_CHASSIS_MAC, mac, sizeof(mac));
	lldp_set_id(&out->port, LLDP_PORT_IFNAME, row->name, strlen(row->name));
	out->ttl_seconds = ttl_seconds;
	lldp_set_text(&out->port_description, row->alias[0] != '\0' ? row->alias : row->name);
	lldp_set_text(&out->system_name, config->sw.name);
	lldp_set_text(&out->system_description,
		      description[0] != '\0' ? description : default_description);
	out->has_capabilities = true;
	out->capabilities = LLDP_CAP_BRIDGE | LLDP_CAP_ROUTER;
	out->enabled = LLDP_CAP_BRIDGE;
	if (config->interface_count > 0)
		out->enabled |= LLDP_CAP_ROUTER;
	set_address(config, out);
	out->pvid = port->pvid;
	out->max_frame_bytes = (uint16_t)(port->max_frame_bytes + TAG_BYTES + FCS_BYTES);
	set_dcbx(pf, id, port->gen.enable, &out->dcbx);
}
