// SPDX-License-Identifier: BSD-3-Clause
//
// Gives out a device's queues in the order of priorities. Priorities that pause one switch queue
// share its transmit queue, which then follows the lowest of them: a peer whose group is full
// announces all that stand for it.

#include "dataplane/dpdk/device_plan.h"

#include <string.h>

static void plan_tx(const struct port_profile *pf, struct device_plan *plan)
{
	plan->tx_count = 1;
	for (uint8_t prio = 0; prio < PRIO_COUNT; prio++) {
		const uint8_t queue = pf->prio_to_queue[prio];

		if (!(pf->rx.obey >> prio & 1) || plan->tx_queue[queue] != DEVICE_QUEUE_REST)
			continue;
		plan->tx_queue[queue] = plan->tx_count;
		plan->tx_prio[plan->tx_count++] = prio;
	}
}

// Fills in the receive queue of each priority group.
static void plan_groups(const struct port_profile *pf, struct device_plan *plan,
			uint8_t queue[PG_COUNT])
{
	plan->rx_count = 1;
	for (uint8_t prio = 0; prio < PRIO_COUNT; prio++) {
		const uint8_t pg = pf->prio_to_pg[prio];

		if (!(pf->gen.enable >> prio & 1))
			continue;
		if (queue[pg] != DEVICE_QUEUE_REST) {
			plan->shared_group = true;
			continue;
		}
		queue[pg] = plan->rx_count;
		plan->rx_prio[plan->rx_count++] = prio;
	}
}

// The group of a frame of class `tc`: a host port of a switch with lanes knows one of them
// (lane_parse()).
static uint8_t group_of(const struct sw_profile *sw, const struct port_profile *pf, uint8_t tc)
{
	if (pf->lanes && !pf->lane_tag && sw->tc_to_lane[tc] != LANE_NONE)
		tc = sw->lane_tc[0];
	return pf->tc_to_pg[tc];
}

// An access list may move any frame to a lossless class once it has been received.
static bool acl_makes_lossless(const struct sw_profile *sw, const struct port_profile *pf,
			       const uint8_t queue[PG_COUNT])
{
	const struct acl_row *row = acl_rows_of(sw);

	for (uint32_t i = 0; i < sw->acl_count; i++) {
		if (row[i].set_tc != ACL_KEEP &&
		    queue[group_of(sw, pf, row[i].set_tc)] != DEVICE_QUEUE_REST)
			return true;
	}
	return false;
}

void device_plan(const struct sw_profile *sw, port_t port, struct device_plan *plan)
{
	const struct port_profile *pf = &sw->port[port.v];
	uint8_t queue[PG_COUNT] = { 0 };

	memset(plan, 0, sizeof(*plan));
	plan_tx(pf, plan);
	plan_groups(pf, plan, queue);
	plan->by_dscp = pf->trust_dscp && !pf->lane_tag;
	for (uint32_t i = 0; i < 64; i++)
		plan->dscp_queue[i] = queue[group_of(sw, pf, pf->dscp_to_tc[i])];
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		plan->pcp_queue[i] = queue[group_of(sw, pf, pf->pcp_to_tc[i])];
	plan->ethertype_count = pf->lane_tag ? 0 : pf->map_ethertypes;
	for (uint32_t i = 0; i < plan->ethertype_count; i++) {
		plan->ethertype[i].ethertype = pf->ethertype_to_tc[i].ethertype;
		plan->ethertype[i].queue = queue[group_of(sw, pf, pf->ethertype_to_tc[i].tc)];
	}
	plan->strays = (!pf->lane_tag && queue[group_of(sw, pf, pf->default_tc)]) ||
		       acl_makes_lossless(sw, pf, queue);
}
