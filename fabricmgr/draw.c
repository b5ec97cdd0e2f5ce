// SPDX-License-Identifier: BSD-3-Clause
//
// Writing the drawing: links first, so that switches lie on top of them, then switches with their
// hosts, then what the picture shows in words. Texts are escaped for XML; numbers have one decimal.

#include "fabricmgr/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "fabricmgr/draw_place.h"

enum {
	BOX_WIDTH = 56,
	BOX_HEIGHT = 22,
	HOST_STEP = 9,
	HOSTS_DRAWN = 6, // of a switch; more are counted
	NAME_DRAWN = 9,  // characters of a name that fit into a box; the rest is in its title
};

struct canvas {
	const struct fabric *fabric;
	const struct fabric_graph *graph;
	const double *load;
	double load_max;
	struct drawing drawing;
	FILE *out;
};

static void write_text(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		default: fputc(*text, out); break;
		}
	}
}

static const char style[] = "<style>\n"
			    "text { font: 10px sans-serif; text-anchor: middle; fill: #222 }\n"
			    ".words { font-size: 14px; text-anchor: start }\n"
			    "line, path { stroke: #8a94a0; stroke-width: 1.2; fill: none }\n"
			    ".lost { stroke: #c22; stroke-dasharray: 5 4 }\n"
			    "rect { fill: #e8eef6; stroke: #345; rx: 4 }\n"
			    ".gone { fill: #fbe3e3; stroke: #c22; stroke-dasharray: 5 4 }\n"
			    "circle { fill: #345 }\n"
			    "</style>\n";

// From grey over orange to red.
static void write_colour(const struct canvas *c, uint32_t link)
{
	const double both = fmax(c->load[link], c->load[c->graph->topo.link_peer[link]]);
	const double part = c->load_max > 0 ? both / c->load_max : 0;

	fprintf(c->out, " style=\"stroke:rgb(%d,%d,%d);stroke-width:%.1f\"", (int)(138 + 82 * part),
		(int)(148 - 100 * part), (int)(160 - 140 * part), 1 + 2 * part);
}

// A link that closes a ring, or that crosses the grid, bends so that it does not cover others.
static void write_path(const struct canvas *c, struct point a, struct point b)
{
	const double x = b.x - a.x;
	const double y = b.y - a.y;
	const double bend = c->drawing.shape == DRAW_GRID && hypot(x, y) > 100 ? 0.12 : 0;

	fprintf(c->out, "<path d=\"M%.1f %.1f Q%.1f %.1f %.1f %.1f\"", a.x, a.y,
		(a.x + b.x) / 2 - bend * y, (a.y + b.y) / 2 + bend * x, b.x, b.y);
}

static void write_end(const struct canvas *c, const struct fabric_cable *cable, uint32_t side)
{
	const struct fabric_switch *sw = &c->fabric->switches[cable->end_switch[side]];
	char name[FABRIC_NAME_BYTES];

	write_text(c->out, sw->name);
	fputc(' ', c->out);
	write_text(c->out, fabric_port_name(sw, cable->end_port[side], name));
}

static void draw_cable(const struct canvas *c, uint32_t number)
{
	const struct fabric_cable *cable = &c->fabric->cables[number];
	const uint32_t link = c->graph->cable_link[number];
	const bool up = topo_link_up(&c->graph->topo, &c->graph->state, link);

	write_path(c, c->drawing.at[cable->end_switch[0]], c->drawing.at[cable->end_switch[1]]);
	if (!up)
		fputs(" class=\"lost\"", c->out);
	else if (c->load != NULL)
		write_colour(c, link);
	fputs("><title>", c->out);
	write_end(c, cable, 0);
	fputs(" - ", c->out);
	write_end(c, cable, 1);
	if (!up)
		fputs(", lost", c->out);
	else if (c->load != NULL)
		fprintf(c->out, ", load %.4g and %.4g", c->load[link],
			c->load[c->graph->topo.link_peer[link]]);
	fputs("</title></path>\n", c->out);
}

static void draw_hosts(const struct canvas *c, uint32_t number)
{
	const uint32_t edge = c->graph->switch_edge[number];
	const struct point at = c->drawing.at[number];
	const double y = at.y + BOX_HEIGHT;
	uint32_t count, drawn;

	if (edge == TOPO_NONE)
		return;
	count = topo_edge_hosts(&c->graph->topo, edge);
	drawn = count > HOSTS_DRAWN ? 0 : count;
	for (uint32_t i = 0; i < drawn; i++) {
		const uint32_t host = c->graph->topo.edge_first_host[edge] + i;
		const struct fabric_host_port *port =
			&c->fabric->host_ports[c->graph->host_of[host]];

		fprintf(c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
			at.x + (i - (drawn - 1) / 2.0) * HOST_STEP, y);
		write_text(c->out, c->fabric->hosts[port->host].name);
		fputs("</title></circle>\n", c->out);
	}
	if (drawn == 0)
		fprintf(c->out, "<text x=\"%.1f\" y=\"%.1f\">%" PRIu32 " hosts</text>\n", at.x,
			y + 4, count);
}

// The end of a name tells more than its beginning.
static void draw_switch(const struct canvas *c, uint32_t number)
{
	const struct fabric_switch *sw = &c->fabric->switches[number];
	const struct point at = c->drawing.at[number];
	uint32_t len = 0;

	while (sw->name[len] != '\0')
		len++;
	fprintf(c->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"%s><title>",
		at.x - BOX_WIDTH / 2.0, at.y - BOX_HEIGHT / 2.0, BOX_WIDTH, BOX_HEIGHT,
		c->graph->state.switch_lost[number] ? " class=\"gone\"" : "");
	write_text(c->out, sw->name);
	fprintf(c->out, "</title></rect>\n<text x=\"%.1f\" y=\"%.1f\">", at.x, at.y + 4);
	write_text(c->out, len > NAME_DRAWN ? sw->name + len - NAME_DRAWN : sw->name);
	fputs("</text>\n", c->out);
	draw_hosts(c, number);
}

static void draw_words(const struct canvas *c)
{
	fputs("<text class=\"words\" x=\"12\" y=\"22\">", c->out);
	write_text(c->out, c->fabric->name);
	fprintf(c->out, ": %" PRIu32 " switches, %" PRIu32 " cables, %" PRIu32 " hosts",
		c->fabric->switch_count, c->fabric->cable_count, c->fabric->host_count);
	if (c->load != NULL)
		fprintf(c->out, ", heaviest link %.4g", c->load_max);
	fputs("</text>\n", c->out);
}

static double heaviest(const struct topo *topo, const double *load)
{
	double max = 0;

	for (uint32_t link = 0; load != NULL && link < topo->link_count; link++)
		max = fmax(max, load[link]);
	return max;
}

int draw_svg(const struct fabric *fabric, const struct fabric_graph *graph, const double *load,
	     FILE *out)
{
	struct canvas c = {
		.fabric = fabric,
		.graph = graph,
		.load = load,
		.load_max = heaviest(&graph->topo, load),
		.out = out,
	};
	const int rc = draw_place(fabric, graph, &c.drawing);

	if (rc != 0)
		return rc;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\""
		" viewBox=\"0 0 %.0f %.0f\">\n",
		c.drawing.width, c.drawing.height, c.drawing.width, c.drawing.height);
	fputs(style, out);
	fputs("<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n", out);
	for (uint32_t i = 0; i < fabric->cable_count; i++)
		draw_cable(&c, i);
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		draw_switch(&c, i);
	draw_words(&c);
	fputs("</svg>\n", out);
	free(c.drawing.at);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
