// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold of a fabric whatever it was read from: names are names and taken once, and a port
// has one cable. Ports are looked up in a list of who is plugged in where, one range per switch.

#include "fabricmgr/core/fabric.h"

#include <errno.h>
#include <string.h>

#include "fabricmgr/core/label.h"

// Ports of one host become consecutive, those of a host in the order in which they were added.
static int sort_host_ports(struct fabric *fabric, struct arena *scratch)
{
	const size_t bytes = sizeof(*fabric->host_ports);
	struct fabric_host_port *old;
	bool sorted = true;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < fabric->host_count; i++)
		fabric->hosts[i].port_count = 0;
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		fabric->hosts[fabric->host_ports[i].host].port_count++;
		sorted = sorted &&
			 (i == 0 || fabric->host_ports[i - 1].host <= fabric->host_ports[i].host);
	}
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		fabric->hosts[i].first_port = sum;
		sum += fabric->hosts[i].port_count;
	}
	if (sorted)
		return 0;
	old = arena_take_raw(scratch, fabric->host_port_count, bytes);
	if (old == NULL)
		return -ENOMEM;
	memcpy(old, fabric->host_ports, fabric->host_port_count * bytes);
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		fabric->host_ports[fabric->hosts[old[i].host].first_port++] = old[i];
	for (uint32_t i = 0; i < fabric->host_count; i++)
		fabric->hosts[i].first_port -= fabric->hosts[i].port_count;
	return 0;
}

static bool is_name(const char *name)
{
	const uint32_t len = label_length(name);

	for (uint32_t i = 0; i < len; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	return len > 0 && len < FABRIC_NAME_BYTES;
}

static void check_names(const struct fabric *fabric, struct fabric_faults *faults)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		const struct fabric_switch *sw = &fabric->switches[i];

		if (!is_name(sw->name))
			fabric_fail(faults, FABRIC_FAULT_BAD_NAME, sw->line, sw->name, "", 0, 0);
		else if (fabric_find_switch(fabric, sw->name) != i)
			fabric_fail(faults, FABRIC_FAULT_SWITCH_TWICE, sw->line, sw->name, "", 0,
				    0);
	}
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		const struct fabric_host *host = &fabric->hosts[i];

		if (!is_name(host->name))
			fabric_fail(faults, FABRIC_FAULT_BAD_NAME, host->line, host->name, "", 0,
				    0);
		else if (fabric_find_host(fabric, host->name) != i)
			fabric_fail(faults, FABRIC_FAULT_HOST_TWICE, host->line, host->name, "", 0,
				    0);
		else if (host->port_count == 0)
			fabric_fail(faults, FABRIC_FAULT_NO_HOST, host->line, host->name, "", 0, 0);
	}
}

// Nobody is plugged in anywhere.
static int plugs_init(const struct fabric *fabric, struct arena *arena, struct fabric_plugs *plugs)
{
	uint32_t sum = 0;

	plugs->first = arena_take_raw(arena, fabric->switch_count + 1u, sizeof(*plugs->first));
	if (plugs->first == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		plugs->first[i] = sum;
		sum += fabric->switches[i].port_count;
	}
	plugs->first[fabric->switch_count] = sum;
	plugs->user = arena_take(arena, sum, sizeof(*plugs->user));
	return plugs->user != NULL ? 0 : -ENOMEM;
}

static uint32_t line_of(const struct fabric *fabric, uint32_t user)
{
	return user < 2 * fabric->cable_count ?
		       fabric->cables[user / 2].line :
		       fabric->host_ports[user - 2 * fabric->cable_count].line;
}

static void plug(const struct fabric *fabric, struct fabric_plugs *plugs, uint32_t at,
		 uint16_t port, uint32_t user, struct fabric_faults *faults)
{
	const struct fabric_switch *sw = &fabric->switches[at];
	const uint32_t line = line_of(fabric, user);
	char name[FABRIC_NAME_BYTES];
	uint32_t *taken;

	if (port >= sw->port_count) {
		fabric_fail(faults, FABRIC_FAULT_PORT_MISSING, line, sw->name, "", port,
			    sw->port_count);
		return;
	}
	taken = &plugs->user[plugs->first[at] + port];
	if (*taken != 0)
		fabric_fail(faults, FABRIC_FAULT_PORT_TAKEN, line, sw->name,
			    fabric_port_name(sw, port, name), line_of(fabric, *taken - 1), 0);
	*taken = user + 1;
}

static void check_cable(const struct fabric *fabric, const struct fabric_cable *cable,
			struct fabric_faults *faults)
{
	const struct fabric_switch *sw = &fabric->switches[cable->end_switch[0]];
	enum fabric_fault_kind kind = FABRIC_FAULT_NONE;
	char name[FABRIC_NAME_BYTES];

	if (cable->end_switch[0] == cable->end_switch[1])
		kind = FABRIC_FAULT_LOOPED;
	else if (cable->weight == 0)
		kind = FABRIC_FAULT_NO_WEIGHT;
	if (kind != FABRIC_FAULT_NONE)
		fabric_fail(faults, kind, cable->line, sw->name,
			    fabric_port_name(sw, cable->end_port[0], name), 0, 0);
}

int fabric_finish(struct fabric *fabric, struct arena *scratch, struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	struct fabric_plugs plugs;

	if (sort_host_ports(fabric, scratch) < 0 || plugs_init(fabric, scratch, &plugs) < 0) {
		arena_release(scratch, mark);
		return -ENOMEM;
	}
	if (fabric->switch_count == 0)
		fabric_fail(faults, FABRIC_FAULT_NO_SWITCH, 0, fabric->name, "", 0, 0);
	if (fabric->switch_count > TOPO_SWITCH_MAX)
		fabric_fail(faults, FABRIC_FAULT_TOO_LARGE, 0, "switches", "", fabric->switch_count,
			    TOPO_SWITCH_MAX);
	check_names(fabric, faults);
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		check_cable(fabric, cable, faults);
		for (uint32_t side = 0; side < 2; side++)
			plug(fabric, &plugs, cable->end_switch[side], cable->end_port[side],
			     2 * i + side, faults);
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		plug(fabric, &plugs, fabric->host_ports[i].at, fabric->host_ports[i].port,
		     2 * fabric->cable_count + i, faults);
	arena_release(scratch, mark);
	return faults->count > 0 ? -EINVAL : 0;
}

int fabric_plugs_build(const struct fabric *fabric, struct arena *arena, struct fabric_plugs *plugs)
{
	if (plugs_init(fabric, arena, plugs) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i / 2];

		plugs->user[plugs->first[cable->end_switch[i % 2]] + cable->end_port[i % 2]] = i +
											       1;
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];

		plugs->user[plugs->first[port->at] + port->port] = 2 * fabric->cable_count + i + 1;
	}
	return 0;
}

// --- ports ------------------------------------------------------------------------------------

const char *fabric_port_name(const struct fabric_switch *sw, uint16_t port,
			     char out[FABRIC_NAME_BYTES])
{
	struct label label = { .len = 0 };

	if (sw->port_names != NULL && port < sw->port_count && sw->port_names[port] != NULL)
		label_add(&label, sw->port_names[port]);
	else
		label_number(label_add(&label, sw->port_prefix), port);
	memcpy(out, label.text, sizeof(label.text));
	return out;
}

bool fabric_find_port(const struct fabric_switch *sw, const char *text, uint16_t *port)
{
	const bool bare = text[0] >= '0' && text[0] <= '9';

	for (uint32_t i = 0; i < sw->port_count; i++) {
		const struct label number = label_of("", i);
		char name[FABRIC_NAME_BYTES];

		if (label_equal(fabric_port_name(sw, (uint16_t)i, name), text) ||
		    (bare && label_equal(number.text, text))) {
			*port = (uint16_t)i;
			return true;
		}
	}
	return false;
}
