// SPDX-License-Identifier: BSD-3-Clause
//
// One rule for each value of a field that makes a frame lossless; all others stay in the queue of
// the rest. The fields are those of classify(): a row of the EtherType map, DSCP where it is
// trusted, else the PCP of the outer tag, which for IP is not looked at where DSCP is trusted.

#include "dataplane/dpdk/port_steer.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_flow.h>

enum { ETHERTYPE_ROCE_V1 = 0x8915, PCP_SHIFT = 13, DSCP_SHIFT = 2, V6_CLASS_SHIFT = 20 };

static int add_rule(uint16_t ethdev, const struct rte_flow_item *items, uint16_t queue)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_action_queue to = { .index = queue };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };

	if (rte_flow_create(ethdev, &attr, items, actions, &error) != NULL)
		return 0;
	return rte_errno != 0 ? -rte_errno : -EIO;
}

// Frames with this EtherType, without a tag and behind one.
static int add_ethertype(uint16_t ethdev, uint16_t ethertype, uint16_t queue)
{
	const struct rte_flow_item_eth eth = { .type = rte_cpu_to_be_16(ethertype) };
	const struct rte_flow_item_eth eth_mask = { .type = 0xffff };
	const struct rte_flow_item_vlan vlan = { .inner_type = rte_cpu_to_be_16(ethertype) };
	const struct rte_flow_item_vlan vlan_mask = { .inner_type = 0xffff };
	const struct rte_flow_item plain[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &eth, .mask = &eth_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_item tagged[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_VLAN, .spec = &vlan, .mask = &vlan_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	int rc = add_rule(ethdev, plain, queue);

	return rc != 0 ? rc : add_rule(ethdev, tagged, queue);
}

// Frames of this priority, of one EtherType behind the tag or (0) of any.
static int add_pcp(uint16_t ethdev, uint32_t pcp, uint16_t ethertype, uint16_t queue)
{
	const struct rte_flow_item_vlan vlan = {
		.tci = rte_cpu_to_be_16((uint16_t)(pcp << PCP_SHIFT)),
		.inner_type = rte_cpu_to_be_16(ethertype),
	};
	const struct rte_flow_item_vlan mask = {
		.tci = RTE_BE16(7 << PCP_SHIFT),
		.inner_type = ethertype != 0 ? 0xffff : 0,
	};
	const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_VLAN, .spec = &vlan, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};

	return add_rule(ethdev, items, queue);
}

// IP packets of this DSCP, without a tag and behind one.
static int add_ip(uint16_t ethdev, const struct rte_flow_item *ip, uint16_t queue)
{
	const struct rte_flow_item plain[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		*ip,
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_item tagged[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_VLAN },
		*ip,
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	int rc = add_rule(ethdev, plain, queue);

	return rc != 0 ? rc : add_rule(ethdev, tagged, queue);
}

static int add_dscp(uint16_t ethdev, uint32_t dscp, uint16_t queue)
{
	const uint32_t class = dscp << DSCP_SHIFT;
	const struct rte_flow_item_ipv4 v4 = { .hdr.type_of_service = (uint8_t) class };
	const struct rte_flow_item_ipv4 v4_mask = { .hdr.type_of_service = 0x3f << DSCP_SHIFT };
	const struct rte_flow_item_ipv6 v6 = {
		.hdr.vtc_flow = rte_cpu_to_be_32(class << V6_CLASS_SHIFT),
	};
	const struct rte_flow_item_ipv6 v6_mask = {
		.hdr.vtc_flow = RTE_BE32(0x3fu << DSCP_SHIFT << V6_CLASS_SHIFT),
	};
	const struct rte_flow_item ip[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &v4, .mask = &v4_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV6, .spec = &v6, .mask = &v6_mask },
	};
	int rc = add_ip(ethdev, &ip[0], queue);

	return rc != 0 ? rc : add_ip(ethdev, &ip[1], queue);
}

int port_steer(uint16_t ethdev, const struct device_plan *plan)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < plan->ethertype_count; i++) {
		if (plan->ethertype[i].queue != DEVICE_QUEUE_REST)
			rc = add_ethertype(ethdev, plan->ethertype[i].ethertype,
					   plan->ethertype[i].queue);
	}
	for (uint32_t i = 0; rc == 0 && i < PRIO_COUNT; i++) {
		if (plan->pcp_queue[i] != DEVICE_QUEUE_REST)
			rc = add_pcp(ethdev, i, plan->by_dscp ? ETHERTYPE_ROCE_V1 : 0,
				     plan->pcp_queue[i]);
	}
	for (uint32_t i = 0; rc == 0 && plan->by_dscp && i < 64; i++) {
		if (plan->dscp_queue[i] != DEVICE_QUEUE_REST)
			rc = add_dscp(ethdev, i, plan->dscp_queue[i]);
	}
	return rc;
}
