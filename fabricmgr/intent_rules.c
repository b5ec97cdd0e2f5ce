// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of an intent that change what is there: tenants of hosts, roots, single links, and what is
// planned without.

#include "fabricmgr/intent_rows.h"

#include <stdlib.h>
#include <string.h>

// --- tenants ----------------------------------------------------------------------------------

static void join(struct maker *maker, const struct intent_tenant *row, uint32_t tenant,
		 const char *name)
{
	uint32_t host;

	if (!maker_host(maker, row->line, "tenants.hosts", name, &host))
		return;
	if (maker->fabric->hosts[host].tenant != 0 && maker->fabric->hosts[host].tenant != tenant)
		maker_complain(maker, row->line, "tenants.hosts", "%s is of tenant %s already",
			       name, maker->fabric->tenants[maker->fabric->hosts[host].tenant]);
	maker->fabric->hosts[host].tenant = tenant;
}

// The number that a name ends in, and how long what is before it is. False: none, or a long one.
static bool split(const char *name, size_t *stem, unsigned long *number)
{
	const size_t len = strlen(name);

	*stem = len;
	while (*stem > 0 && name[*stem - 1] >= '0' && name[*stem - 1] <= '9')
		(*stem)--;
	*number = strtoul(name + *stem, NULL, 10);
	return *stem < len && len - *stem <= 7;
}

// "host1..host16", or one host.
static void join_range(struct maker *maker, const struct intent_tenant *row, uint32_t tenant,
		       char *text)
{
	char *dots = strstr(text, "..");
	unsigned long first, last;
	size_t stem, other;

	if (text[0] == '\0')
		return;
	if (dots == NULL) {
		join(maker, row, tenant, text);
		return;
	}
	*dots = '\0';
	dots += 2;
	if (!split(text, &stem, &first) || !split(dots, &other, &last) || stem != other ||
	    memcmp(text, dots, stem) != 0 || first > last) {
		maker_complain(maker, row->line, "tenants.hosts",
			       "%s..%s is not a range such as host1..host16", text, dots);
		return;
	}
	for (unsigned long n = first; n <= last && maker->error_count < MAKER_ERRORS_MAX; n++) {
		char name[CONFIG_TEXT_BYTES + 24];

		snprintf(name, sizeof(name), "%.*s%lu", (int)stem, text, n);
		join(maker, row, tenant, name);
	}
}

bool maker_tenants(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->intent->tenant_count; i++) {
		const struct intent_tenant *row = &maker->intent->tenant[i];
		const uint32_t tenant = fabric_tenant(maker->fabric, row->name);
		char hosts[CONFIG_TEXT_BYTES];
		char *rest = hosts;

		if (tenant == FABRIC_NONE)
			return false;
		memcpy(hosts, row->hosts, sizeof(hosts));
		for (char *word = strsep(&rest, ", "); word != NULL; word = strsep(&rest, ", "))
			join_range(maker, row, tenant, word);
	}
	return true;
}

// --- switches and links -----------------------------------------------------------------------

void maker_roots(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->intent->root_count; i++) {
		const struct intent_root *row = &maker->intent->root[i];
		uint32_t at;

		if (maker_switch(maker, row->line, "roots", row->name, &at))
			maker->fabric->switches[at].root = true;
	}
}

// What is plugged in at a place; FABRIC_NONE after a complaint.
static uint32_t find_plug(struct maker *maker, const struct fabric_plugs *plugs, uint32_t line,
			  const char *where, const char *text, const struct maker_end *end)
{
	const uint32_t plug = fabric_plug(plugs, end->at, end->port);

	if (plug == FABRIC_NONE)
		maker_complain(maker, line, where, "nothing is plugged in at %s", text);
	return plug;
}

static void change(struct maker *maker, const struct fabric_plugs *plugs,
		   const struct intent_cable *row)
{
	struct fabric *fabric = maker->fabric;
	struct fabric_host_port *port;
	struct fabric_cable *cable;
	struct maker_end end;
	uint32_t plug;

	if (!maker_end(maker, row->line, "cables.at", row->at, &end))
		return;
	plug = find_plug(maker, plugs, row->line, "cables.at", row->at, &end);
	if (plug == FABRIC_NONE)
		return;
	cable = plug < 2 * fabric->cable_count ? &fabric->cables[plug / 2] : NULL;
	port = cable == NULL ? &fabric->host_ports[plug - 2 * fabric->cable_count] : NULL;
	if (row->speed != CONFIG_UNSET)
		*(cable != NULL ? &cable->speed_bps : &port->speed_bps) = row->speed;
	if (row->length != CONFIG_UNSET)
		*(cable != NULL ? &cable->length_mm :
				  &port->length_mm) = (uint32_t)(row->length * 1000);
	if (row->weight != CONFIG_UNSET && cable != NULL)
		cable->weight = (uint16_t)row->weight;
	else if (row->weight != CONFIG_UNSET)
		maker_complain(maker, row->line, "cables.weight",
			       "%s leads to a host; links between switches have weights", row->at);
}

static void leave_out(struct maker *maker, const struct fabric_plugs *plugs,
		      const struct intent_ignore *row)
{
	struct maker_end end;
	uint32_t plug;

	if (!maker_end(maker, row->line, "ignore", row->name, &end))
		return;
	if (!end.has_port) {
		maker->fabric->switches[end.at].ignored = true;
		return;
	}
	plug = find_plug(maker, plugs, row->line, "ignore", row->name, &end);
	if (plug == FABRIC_NONE)
		return;
	if (plug < 2 * maker->fabric->cable_count)
		maker->fabric->cables[plug / 2].ignored = true;
	else
		maker_complain(maker, row->line, "ignore",
			       "%s leads to a host; links between switches can be ignored",
			       row->name);
}

bool maker_cables(struct maker *maker)
{
	const size_t mark = arena_mark(maker->scratch);
	struct fabric_plugs plugs;

	if (maker->intent->cable_count + maker->intent->ignore_count == 0)
		return true;
	if (fabric_plugs_build(maker->fabric, maker->scratch, &plugs) < 0)
		return false;
	for (uint32_t i = 0; i < maker->intent->cable_count; i++)
		change(maker, &plugs, &maker->intent->cable[i]);
	for (uint32_t i = 0; i < maker->intent->ignore_count; i++)
		leave_out(maker, &plugs, &maker->intent->ignore[i]);
	arena_release(maker->scratch, mark);
	return true;
}
