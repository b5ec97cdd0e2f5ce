// SPDX-License-Identifier: BSD-3-Clause
//
// A topology file of containerlab (containerlab.dev, topology definition): YAML with nodes and
// links. Values are in double quotes, which YAML reads as JSON does, so no name means anything
// else.

#include "fabricmgr/export.h"

#include <errno.h>
#include <inttypes.h>

#include "fabricmgr/export_text.h"

#define ESCAPED "\"\\"

static void write_text(FILE *out, const char *text)
{
	export_quoted(out, text, ESCAPED);
}

static void write_node(const char *name, const char *image, const char *role, FILE *out)
{
	fputs("    ", out);
	write_text(out, name);
	fputs(":\n      kind: linux\n      image: ", out);
	write_text(out, image);
	fprintf(out, "\n      labels:\n        role: %s\n", role);
}

// Labels that say which interface is which port.
static void write_ports(const struct fabric_switch *sw, FILE *out)
{
	for (uint32_t port = 0; port < sw->port_count; port++) {
		char name[FABRIC_NAME_BYTES];

		fprintf(out, "        eth%" PRIu32 ": ", port + 1);
		write_text(out, fabric_port_name(sw, (uint16_t)port, name));
		fputc('\n', out);
	}
}

static void write_end(const char *name, uint32_t port, FILE *out)
{
	fputc('"', out);
	export_text(out, name, ESCAPED);
	fprintf(out, ":eth%" PRIu32 "\"", port + 1);
}

static void write_links(const struct fabric *fabric, FILE *out)
{
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];
		const struct fabric_switch *a = &fabric->switches[cable->end_switch[0]];
		const struct fabric_switch *b = &fabric->switches[cable->end_switch[1]];

		if (export_ignores(fabric, cable))
			continue;
		fputs("    - endpoints: [", out);
		write_end(a->name, cable->end_port[0], out);
		fputs(", ", out);
		write_end(b->name, cable->end_port[1], out);
		fputs("]\n", out);
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];
		const struct fabric_host *host = &fabric->hosts[port->host];

		if (fabric->switches[port->at].ignored)
			continue;
		fputs("    - endpoints: [", out);
		write_end(fabric->switches[port->at].name, port->port, out);
		fputs(", ", out);
		write_end(host->name, i - host->first_port, out);
		fputs("]\n", out);
	}
}

int export_containerlab(const struct fabric *fabric, const char *image, FILE *out)
{
	fputs("name: ", out);
	write_text(out, fabric->name);
	fputs("\ntopology:\n  nodes:\n", out);
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		const struct fabric_switch *sw = &fabric->switches[i];

		if (sw->ignored)
			continue;
		write_node(sw->name, image, "switch", out);
		write_ports(sw, out);
	}
	for (uint32_t i = 0; i < fabric->host_count; i++)
		write_node(fabric->hosts[i].name, image,
			   fabric->hosts[i].external ? "external" : "host", out);
	fputs("  links:\n", out);
	write_links(fabric, out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
