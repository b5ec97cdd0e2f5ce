// SPDX-License-Identifier: BSD-3-Clause
//
// The form that ibnetdiscover prints, for ibsim and OpenSM's tools: one section per switch and host
// port with its cables, each told from both ends. A host is named by its description, adapter
// numbers from 1 behind it, as Linux does.

#include "fabricmgr/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fabricmgr/export_text.h"

// Where no GUID is known, these are made: the upper bits say what it is of.
#define SWITCH_GUIDS 0x2000000000000000u
#define HOST_GUIDS 0x1000000000000000u
#define LANES 4

// Who is at each port of each switch, and where ports of a switch begin.
struct plugs {
	const struct fabric *fabric;
	uint32_t *first; // [switch_count]
	uint32_t *user;  // end of a cable, or host port behind all ends; + 1, 0: nobody
};

static const struct {
	uint64_t lane_bps;
	const char *name;
} lane_speeds[] = {
	{ 2500000000, "SDR" },   { 5000000000, "DDR" },   { 10000000000, "QDR" },
	{ 14000000000, "FDR" },  { 25000000000, "EDR" },  { 50000000000, "HDR" },
	{ 100000000000, "NDR" }, { 200000000000, "XDR" },
};

static uint64_t switch_guid(const struct fabric *fabric, uint32_t at)
{
	return fabric->switches[at].guid != 0 ? fabric->switches[at].guid : SWITCH_GUIDS + at;
}

static uint64_t port_guid(const struct fabric *fabric, uint32_t port)
{
	return fabric->host_ports[port].guid != 0 ? fabric->host_ports[port].guid :
						    HOST_GUIDS + 2 * (uint64_t)port + 1;
}

// Each adapter has one port here. Its own GUID is the one before that of its port: so it is by
// custom, and ibsim gives ports those behind the adapter's, whatever the file says.
static uint64_t adapter_guid(const struct fabric *fabric, uint32_t port)
{
	return port_guid(fabric, port) - 1;
}

static void plug(struct plugs *plugs, uint32_t at, uint16_t port, uint32_t user)
{
	plugs->user[plugs->first[at] + port] = user + 1;
}

static int plugs_init(const struct fabric *fabric, struct plugs *plugs)
{
	uint32_t sum = 0;

	*plugs = (struct plugs){
		.fabric = fabric,
		.first = calloc(fabric->switch_count, sizeof(*plugs->first)),
	};
	if (plugs->first == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		plugs->first[i] = sum;
		sum += fabric->switches[i].port_count;
	}
	plugs->user = calloc(sum, sizeof(*plugs->user));
	if (plugs->user == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		if (export_ignores(fabric, cable))
			continue;
		for (uint32_t side = 0; side < 2; side++)
			plug(plugs, cable->end_switch[side], cable->end_port[side], 2 * i + side);
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		plug(plugs, fabric->host_ports[i].at, fabric->host_ports[i].port,
		     2 * fabric->cable_count + i);
	return 0;
}

// 1 for a switch that uses its port 0, which InfiniBand keeps for management.
static uint32_t shift_of(const struct plugs *plugs, uint32_t at)
{
	return plugs->fabric->switches[at].port_count > 0 && plugs->user[plugs->first[at]] != 0;
}

static void write_speed(uint64_t bps, FILE *out)
{
	const char *name = "SDR";

	for (uint32_t i = 0; i < sizeof(lane_speeds) / sizeof(lane_speeds[0]); i++) {
		if (bps >= LANES * lane_speeds[i].lane_bps)
			name = lane_speeds[i].name;
	}
	fprintf(out, " %dx%s\n", LANES, name);
}

static void write_description(const struct fabric *fabric, uint32_t port, FILE *out)
{
	const struct fabric_host *host = &fabric->hosts[fabric->host_ports[port].host];

	fprintf(out, "\"%s HCA-%" PRIu32 "\"", host->name, port - host->first_port + 1);
}

static char kind_of(const struct fabric *fabric, uint32_t port)
{
	return fabric->hosts[fabric->host_ports[port].host].external ? 'R' : 'H';
}

static void write_cable(const struct plugs *plugs, uint32_t user, FILE *out)
{
	const struct fabric *fabric = plugs->fabric;
	const struct fabric_cable *cable = &fabric->cables[user / 2];
	const uint32_t far = 1 - user % 2;
	const uint32_t at = cable->end_switch[far];

	fprintf(out, "\"S-%016" PRIx64 "\"[%" PRIu32 "]\t\t# \"%s\" lid %" PRIu32,
		switch_guid(fabric, at), cable->end_port[far] + shift_of(plugs, at),
		fabric->switches[at].name, at + 1);
	write_speed(cable->speed_bps, out);
}

static void write_adapter(const struct plugs *plugs, uint32_t port, FILE *out)
{
	const struct fabric *fabric = plugs->fabric;

	fprintf(out, "\"%c-%016" PRIx64 "\"[1](%" PRIx64 ")\t\t# ", kind_of(fabric, port),
		adapter_guid(fabric, port), port_guid(fabric, port));
	write_description(fabric, port, out);
	fprintf(out, " lid %" PRIu32, fabric->switch_count + port + 1);
	write_speed(fabric->host_ports[port].speed_bps, out);
}

static void write_switch(const struct plugs *plugs, uint32_t at, FILE *out)
{
	const struct fabric *fabric = plugs->fabric;
	const struct fabric_switch *sw = &fabric->switches[at];
	const uint32_t shift = shift_of(plugs, at);
	const uint64_t guid = switch_guid(fabric, at);

	fprintf(out, "\nswitchguid=0x%" PRIx64 "(%" PRIx64 ")\n", guid, guid);
	fprintf(out,
		"Switch\t%" PRIu32 " \"S-%016" PRIx64 "\"\t\t# \"%s\" port 0 lid %" PRIu32
		" lmc 0\n",
		sw->port_count + shift - 1, guid, sw->name, at + 1);
	for (uint32_t port = 0; port < sw->port_count; port++) {
		const uint32_t user = plugs->user[plugs->first[at] + port];

		if (user == 0)
			continue;
		fprintf(out, "[%" PRIu32 "]\t", port + shift);
		if (user - 1 < 2 * fabric->cable_count)
			write_cable(plugs, user - 1, out);
		else
			write_adapter(plugs, user - 1 - 2 * fabric->cable_count, out);
	}
}

static void write_host_port(const struct plugs *plugs, uint32_t number, FILE *out)
{
	const struct fabric *fabric = plugs->fabric;
	const struct fabric_host_port *port = &fabric->host_ports[number];
	const char kind = kind_of(fabric, number);
	const uint64_t guid = adapter_guid(fabric, number);

	fprintf(out, "\n%sguid=0x%" PRIx64 "\n%s\t1 \"%c-%016" PRIx64 "\"\t\t# ",
		kind == 'R' ? "rt" : "ca", guid, kind == 'R' ? "Rt" : "Ca", kind, guid);
	write_description(fabric, number, out);
	fprintf(out,
		"\n[1](%" PRIx64 ")\t\"S-%016" PRIx64 "\"[%" PRIu32 "]\t\t# lid %" PRIu32
		" lmc 0 \"%s\" lid %" PRIu32,
		port_guid(fabric, number), switch_guid(fabric, port->at),
		port->port + shift_of(plugs, port->at), fabric->switch_count + number + 1,
		fabric->switches[port->at].name, port->at + 1);
	write_speed(port->speed_bps, out);
}

int export_ibnet(const struct fabric *fabric, FILE *out)
{
	struct plugs plugs;
	int rc = plugs_init(fabric, &plugs);

	for (uint32_t i = 0; rc == 0 && i < fabric->switch_count; i++) {
		if (!fabric->switches[i].ignored)
			write_switch(&plugs, i, out);
	}
	for (uint32_t i = 0; rc == 0 && i < fabric->host_port_count; i++) {
		if (!fabric->switches[fabric->host_ports[i].at].ignored)
			write_host_port(&plugs, i, out);
	}
	free(plugs.first);
	free(plugs.user);
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = -EIO;
	return rc;
}
