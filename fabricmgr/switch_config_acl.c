// SPDX-License-Identifier: BSD-3-Clause
//
// Tenants as rules for the ports of a switch: a tenant's port may send to what tenants_plan()
// permits and to no other host. Link-local addresses are hosts' as well: the one that follows from
// a MAC address is permitted, no other. What is addressed to no host is for gateways and groups,
// or, where there are uplinks, for whoever is behind them: a fabric without uplinks lets nothing
// else pass, since a switch forwards by MAC address, too.
//
// What a host says of itself is held to its port by source guard, so nobody takes another's part.

#include "fabricmgr/switch_config_parts.h"

#include <stdlib.h>
#include <string.h>

#include "fabricmgr/core/address.h"
#include "schema/config_limits.h"

enum {
	GROUP_NAME_BYTES = CONFIG_NAME_BYTES,
	TENANT_NAME_BYTES = 32, // of a name that rows are called by
	LINK_LOCAL_LEN = 10,
};

#define MAC_GROUP 0x010000000000u
#define MAC_ALL 0xffffffffffffu

static uint32_t tenant_of(const struct config_text *text, uint32_t port)
{
	const struct fabric *fabric = &text->source->fabric;
	const uint32_t host_port = text->port[port].host_port;

	return host_port == FABRIC_NONE ? 0 :
					  fabric->hosts[fabric->host_ports[host_port].host].tenant;
}

// "tenant.red", or by number where the name is long or has quotes.
static void name_tenant(const struct config_text *text, uint32_t tenant, char out[GROUP_NAME_BYTES])
{
	const char *name = text->source->fabric.tenants[tenant];

	if (strlen(name) < TENANT_NAME_BYTES && strpbrk(name, "\"\\") == NULL)
		snprintf(out, GROUP_NAME_BYTES, "tenant.%.*s", TENANT_NAME_BYTES, name);
	else
		snprintf(out, GROUP_NAME_BYTES, "tenant%u", tenant);
}

// --- who may be sent to -----------------------------------------------------------------------

static void put_member(struct config_text *text, const char *group, const struct ip_prefix *prefix)
{
	if (!config_row(text, "acl_group", CONFIG_ACL_GROUP_MAX))
		return;
	config_text(text, "name", "%s", group);
	config_ip(text, "prefix", prefix);
	config_row_end(text);
}

// fe80:: and the modified EUI-64 of the address (RFC 4291 appendix A).
static struct ip_prefix link_local_of(uint64_t mac)
{
	struct ip_prefix ip = { .family = IP_V6, .len = 128, .address = { 0xfe, 0x80 } };

	for (uint32_t i = 0; i < 3; i++) {
		ip.address[8 + i] = (uint8_t)(mac >> (40 - 8 * i));
		ip.address[13 + i] = (uint8_t)(mac >> (16 - 8 * i));
	}
	ip.address[8] ^= 0x02;
	ip.address[11] = 0xff;
	ip.address[12] = 0xfe;
	return ip;
}

static void put_tenant(struct config_text *text, const struct tenants *tenants, uint32_t tenant)
{
	const struct fabric *fabric = &text->source->fabric;
	char group[GROUP_NAME_BYTES];

	name_tenant(text, tenant, group);
	for (uint32_t i = 0; i < tenants->rule_count; i++) {
		if (tenants->rule[i].tenant == tenant)
			put_member(text, group, &tenants->rule[i].to);
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host *host = &fabric->hosts[fabric->host_ports[i].host];
		const struct ip_prefix ip = link_local_of(fabric_host_mac(fabric, i));

		if (!host->external && (host->tenant == 0 || host->tenant == tenant))
			put_member(text, group, &ip);
	}
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ip_prefix));
}

// Every host's addresses: those of all tenants together, each prefix once.
static void put_hosts(struct config_text *text, const struct tenants *tenants)
{
	const struct ip_prefix local = { .family = IP_V6,
					 .len = LINK_LOCAL_LEN,
					 .address = { 0xfe, 0x80 } };
	struct ip_prefix *prefix = arena_take(&text->keep, tenants->rule_count, sizeof(*prefix));

	if (prefix == NULL) {
		config_fail(text, -ENOMEM, "memory is short");
		return;
	}
	for (uint32_t i = 0; i < tenants->rule_count; i++)
		prefix[i] = tenants->rule[i].to;
	qsort(prefix, tenants->rule_count, sizeof(*prefix), compare);
	for (uint32_t i = 0; i < tenants->rule_count; i++) {
		if (i == 0 || compare(&prefix[i - 1], &prefix[i]) != 0)
			put_member(text, "hosts", &prefix[i]);
	}
	put_member(text, "hosts", &local);
}

// --- rules ------------------------------------------------------------------------------------

// Names of as many ports of the tenant from `port` on as a knob takes; returns where to go on.
static uint32_t take_ports(const struct config_text *text, uint32_t tenant, uint32_t port,
			   char out[CONFIG_TEXT_BYTES])
{
	size_t len = 0;

	out[0] = '\0';
	for (; port < text->port_count; port++) {
		char name[FABRIC_NAME_BYTES];

		if (tenant_of(text, port) != tenant)
			continue;
		fabric_port_name(config_switch(text), (uint16_t)port, name);
		if (len + strlen(name) + 2 > CONFIG_TEXT_BYTES)
			break;
		len += (size_t)snprintf(out + len, CONFIG_TEXT_BYTES - len, "%s%s",
					len > 0 ? " " : "", name);
	}
	return port;
}

static void put_rule(struct config_text *text, const char *tenant, uint32_t part, bool permit,
		     const char *ports)
{
	if (!config_row(text, "acl", CONFIG_ACL_MAX))
		return;
	config_text(text, "name", "%s.%s%u", tenant, permit ? "own" : "other", part);
	config_text(text, "action", permit ? "permit" : "deny");
	config_text(text, "in_ports", "%s", ports);
	config_text(text, "dst_group", "%s", permit ? tenant : "hosts");
	config_row_end(text);
}

// "NAME.KIND", with a destination MAC address of which the bits of the mask count.
static void put_mac_rule(struct config_text *text, const char *kind, const char *action,
			 uint64_t mac, uint64_t mask, const char *ports)
{
	if (!config_row(text, "acl", CONFIG_ACL_MAX))
		return;
	config_text(text, "name", "%s", kind);
	config_text(text, "action", "%s", action);
	config_text(text, "in_ports", "%s", ports);
	if (mask != 0) {
		config_mac(text, "dst_mac", mac);
		config_mac(text, "dst_mac_mask", mask);
	}
	config_row_end(text);
}

static bool has_uplinks(const struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		if (fabric->hosts[i].external)
			return true;
	}
	return false;
}

// What no rule of a tenant has decided.
static void put_rest(struct config_text *text, const char *tenant, uint32_t part, const char *ports)
{
	const struct fabric *fabric = &text->source->fabric;
	char name[GROUP_NAME_BYTES + 16];

	if (has_uplinks(fabric))
		return;
	if (config_has_gateways(text)) {
		snprintf(name, sizeof(name), "%s.gateway%u", tenant, part);
		put_mac_rule(text, name, "permit", fabric_router_mac(fabric), MAC_ALL, ports);
	}
	snprintf(name, sizeof(name), "%s.group%u", tenant, part);
	put_mac_rule(text, name, "permit", MAC_GROUP, MAC_GROUP, ports);
	snprintf(name, sizeof(name), "%s.rest%u", tenant, part);
	put_mac_rule(text, name, "deny", 0, 0, ports);
}

static void put_rules(struct config_text *text, uint32_t tenant)
{
	char name[GROUP_NAME_BYTES];
	char ports[CONFIG_TEXT_BYTES];
	uint32_t port = 0;

	name_tenant(text, tenant, name);
	for (uint32_t part = 1; text->rc == 0 && port < text->port_count; part++) {
		port = take_ports(text, tenant, port, ports);
		if (ports[0] == '\0')
			return;
		put_rule(text, name, part, true, ports);
		put_rule(text, name, part, false, ports);
		put_rest(text, name, part, ports);
	}
}

static void put_binding(struct config_text *text, uint32_t port, const struct ip_prefix *ip)
{
	const uint32_t host_port = text->port[port].host_port;
	struct ip_prefix host = *ip;

	if (!config_row(text, "binding", CONFIG_GUARD_BINDING_MAX))
		return;
	host.len = ip_family_bits(ip->family);
	config_port_name(text, "port", port);
	config_mac(text, "mac", fabric_host_mac(&text->source->fabric, host_port));
	if (ip->family != IP_NONE)
		config_ip(text, "ip", &host);
	config_row_end(text);
}

static void put_bindings(struct config_text *text)
{
	for (uint32_t i = 0; i < text->port_count; i++) {
		const struct fabric_host_port *host;

		if (tenant_of(text, i) == 0)
			continue;
		host = &text->source->fabric.host_ports[text->port[i].host_port];
		if (host->ip.family != IP_NONE || host->ip6.family == IP_NONE)
			put_binding(text, i, &host->ip);
		if (host->ip6.family != IP_NONE)
			put_binding(text, i, &host->ip6);
	}
}

const char *config_guard(const struct config_text *text, uint32_t port)
{
	const struct fabric_host_port *host;

	if (tenant_of(text, port) == 0)
		return "";
	host = &text->source->fabric.host_ports[text->port[port].host_port];
	return host->ip.family != IP_NONE || host->ip6.family != IP_NONE ? "ip" : "mac";
}

void config_tenants(struct config_text *text)
{
	const uint32_t tenants_here = text->source->fabric.tenant_count;
	uint8_t *here = arena_take(&text->keep, tenants_here, 1);
	struct tenants tenants;
	bool any = false;

	if (here == NULL ||
	    tenants_plan(&text->source->fabric, &text->keep, &text->scratch, &tenants) < 0) {
		config_fail(text, -ENOMEM, "memory is short");
		return;
	}
	for (uint32_t i = 0; i < text->port_count; i++) {
		here[tenant_of(text, i)] = 1;
		any |= tenant_of(text, i) != 0;
	}
	if (!any)
		return;
	put_bindings(text);
	put_hosts(text, &tenants);
	for (uint32_t t = 1; t < tenants_here; t++) {
		if (here[t])
			put_tenant(text, &tenants, t);
	}
	for (uint32_t t = 1; t < tenants_here; t++) {
		if (here[t])
			put_rules(text, t);
	}
}
