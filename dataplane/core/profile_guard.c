// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: bindings of source guard. Each makes one claim for its MAC address and one for its
// IP address, in a set behind the ports and the access list.

#include "dataplane/core/profile_build.h"

#include <errno.h>

static uint32_t slot_count(const struct sw_config *config)
{
	uint32_t count = 2; // one is always empty: that ends a search

	while (count < 4 * config->binding_count)
		count *= 2;
	return count;
}

size_t profile_guard_bytes(const struct sw_config *config)
{
	return slot_count(config) * sizeof(struct guard_slot);
}

static void add_claim(struct sw_profile *pf, const struct guard_slot *claim)
{
	struct guard_slot *slots = (struct guard_slot *)((uint8_t *)pf + pf->guard_at);

	slots[guard_find(slots, pf->guard_slots, claim)] = *claim;
}

static bool is_member(const struct sw_profile *pf, uint64_t vid, uint32_t port)
{
	const uint16_t index = pf->vlan_index[vid];

	return index != 0 && port_set_has(&pf->vlan[index - 1].members, (port_t){ (uint16_t)port });
}

static int add_binding(struct build *b, const struct binding_config *row)
{
	const uint32_t port = find_link(b->config, row->port);
	uint32_t first, end;
	const uint32_t bytes = ip_family_bits(row->ip.family) / 8;
	struct guard_slot claim = { .kind = GUARD_MAC };
	uint64_t vid = row->vlan;

	if (port == b->config->port_count)
		return build_fail(b, FAULT_UNKNOWN_PORT, row->line, "binding", row->port, 0, 0);
	if (find_links(b, row->port, row->line, "binding", &first, &end) != 0)
		return -EINVAL;
	if (vid == CONFIG_UNSET)
		vid = b->pf->port[port].pvid;
	if (!is_member(b->pf, vid, port))
		return build_fail(b, FAULT_BINDING_VLAN, row->line, "binding", row->port, vid, 0);
	if (row->mac == 0 || row->mac >> 40 & 1)
		return build_fail(b, FAULT_BINDING_MAC, row->line, "binding", row->port, 0, 0);
	claim.port = (uint16_t)port;
	claim.mac_vid = row->mac | vid << 48;
	add_claim(b->pf, &claim);
	if (row->ip.family == IP_NONE)
		return 0;
	claim.kind = row->ip.family == IP_V6 ? GUARD_IPV6 : GUARD_IPV4;
	for (uint32_t i = 0; i < bytes; i++)
		claim.ip = claim.ip << 8 | row->ip.address[i];
	add_claim(b->pf, &claim);
	return 0;
}

static uint8_t filters_of(uint64_t source_guard)
{
	if (source_guard == CONFIG_GUARD_OFF)
		return 0;
	return source_guard == CONFIG_GUARD_MAC ? FILTER_GUARD : FILTER_GUARD | FILTER_GUARD_IP;
}

int build_guard(struct build *b)
{
	const struct sw_config *config = b->config;
	int rc = 0;

	b->pf->guard_at = profile_ports_bytes(config) + profile_acl_bytes(config);
	b->pf->guard_slots = slot_count(config);
	for (uint32_t i = 0; rc == 0 && i < config->binding_count; i++)
		rc = add_binding(b, &config->binding[i]);
	for (uint32_t n = 0; n < config->port_count; n++)
		b->pf->port[n].filters |= filters_of(config->port[n].source_guard);
	return rc;
}
