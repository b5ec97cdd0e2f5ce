// SPDX-License-Identifier: BSD-3-Clause
//
// DOT in the convention that import_dot() reads: every edge names the ports of both ends, and nodes
// say what they are. Names have no blanks and no control characters; quotes and backslashes in them
// are escaped.

#include "fabricmgr/export.h"

#include <errno.h>
#include <inttypes.h>

#include "base/units.h"
#include "fabricmgr/export_text.h"

enum { MM_PER_M = 1000 };

static void write_id(FILE *out, const char *text)
{
	export_quoted(out, text, "\"");
}

static const char *function_of(const struct fabric_switch *sw)
{
	static const char *const levels[] = { "leaf", "spine", "core" };

	return sw->level < sizeof(levels) / sizeof(levels[0]) ? levels[sw->level] : "switch";
}

static void write_nodes(const struct fabric *fabric, FILE *out)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		const struct fabric_switch *sw = &fabric->switches[i];

		if (sw->ignored)
			continue;
		fputc('\t', out);
		write_id(out, sw->name);
		fprintf(out, " [function=%s];\n", function_of(sw));
	}
	for (uint32_t i = 0; i < fabric->host_count; i++) {
		fputc('\t', out);
		write_id(out, fabric->hosts[i].name);
		fprintf(out, " [function=%s];\n", fabric->hosts[i].external ? "external" : "host");
	}
}

static void write_end(const struct fabric *fabric, uint32_t at, uint16_t port, FILE *out)
{
	const struct fabric_switch *sw = &fabric->switches[at];
	char name[FABRIC_NAME_BYTES];

	write_id(out, sw->name);
	fputc(':', out);
	write_id(out, fabric_port_name(sw, port, name));
}

// Lengths are whole metres here; a part of one counts as one.
static void write_attributes(uint64_t speed_bps, uint32_t length_mm, uint16_t weight, FILE *out)
{
	const char *before = " [";
	char text[UNIT_TEXT_BYTES];

	if (speed_bps != 0) {
		unit_format(UNIT_BPS, speed_bps, text);
		fprintf(out, "%sspeed=\"%s\"", before, text);
		before = ", ";
	}
	if (length_mm != 0) {
		fprintf(out, "%slength=\"%" PRIu32 "m\"", before,
			length_mm / MM_PER_M + (length_mm % MM_PER_M != 0));
		before = ", ";
	}
	if (weight != 1) {
		fprintf(out, "%sweight=%u", before, weight);
		before = ", ";
	}
	fputs(before[0] == ',' ? "];\n" : ";\n", out);
}

static void write_cables(const struct fabric *fabric, FILE *out)
{
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		if (export_ignores(fabric, cable))
			continue;
		fputc('\t', out);
		write_end(fabric, cable->end_switch[0], cable->end_port[0], out);
		fputs(" -- ", out);
		write_end(fabric, cable->end_switch[1], cable->end_port[1], out);
		write_attributes(cable->speed_bps, cable->length_mm, cable->weight, out);
	}
}

// Ports of a host are called eth0 and so on, in their order.
static void write_host_ports(const struct fabric *fabric, FILE *out)
{
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];
		const struct fabric_host *host = &fabric->hosts[port->host];

		if (fabric->switches[port->at].ignored)
			continue;
		fputc('\t', out);
		write_end(fabric, port->at, port->port, out);
		fputs(" -- ", out);
		write_id(out, host->name);
		fprintf(out, ":\"eth%" PRIu32 "\"", i - host->first_port);
		write_attributes(port->speed_bps, port->length_mm, 1, out);
	}
}

int export_dot(const struct fabric *fabric, FILE *out)
{
	fputs("graph ", out);
	write_id(out, fabric->name);
	fputs(" {\n", out);
	write_nodes(fabric, out);
	write_cables(fabric, out);
	write_host_ports(fabric, out);
	fputs("}\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
