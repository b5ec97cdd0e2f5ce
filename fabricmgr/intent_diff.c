// SPDX-License-Identifier: BSD-3-Clause
//
// Objects are looked up in the other fabric by name: switches and hosts by theirs, cables and ports
// of hosts by that of the switch and the port that they are in. Rules that are not about one object
// (classes, engine and the like) are compared as a whole.

#include "fabricmgr/intent_diff.h"

#include <string.h>

#include "base/ip.h"

enum { PORT_BYTES = 2 * FABRIC_NAME_BYTES };

static const char *port_text(const struct fabric *fabric, uint32_t at, uint16_t port,
			     char out[PORT_BYTES])
{
	char name[FABRIC_NAME_BYTES];

	snprintf(out, PORT_BYTES, "%s:%s", fabric->switches[at].name,
		 fabric_port_name(&fabric->switches[at], port, name));
	return out;
}

static uint32_t diff_switches(const struct fabric *fabric, const struct fabric *other, char sign,
			      FILE *out)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		if (fabric_find_switch(other, fabric->switches[i].name) != FABRIC_NONE)
			continue;
		fprintf(out, "%c switch %s\n", sign, fabric->switches[i].name);
		lines++;
	}
	return lines;
}

// --- cables -------------------------------------------------------------------------------------

// The same cable in another fabric, by its link there; TOPO_NONE: there is none.
static uint32_t find_cable(const struct fabric *fabric, const struct fabric_cable *cable,
			   const struct source *other)
{
	const struct topo *topo = &other->graph.topo;
	uint32_t at[2];
	uint32_t link;

	for (uint32_t end = 0; end < 2; end++) {
		at[end] = fabric_find_switch(&other->fabric,
					     fabric->switches[cable->end_switch[end]].name);
		if (at[end] == FABRIC_NONE)
			return TOPO_NONE;
	}
	link = topo_link_at(topo, at[0], cable->end_port[0]);
	if (link == TOPO_NONE || topo_far(topo, link) != at[1] ||
	    topo->link_port[topo->link_peer[link]] != cable->end_port[1])
		return TOPO_NONE;
	return link;
}

static void print_cable(const struct fabric *fabric, const struct fabric_cable *cable, char sign,
			const char *more, FILE *out)
{
	char a[PORT_BYTES], b[PORT_BYTES];

	fprintf(out, "%c cable %s %s%s\n", sign,
		port_text(fabric, cable->end_switch[0], cable->end_port[0], a),
		port_text(fabric, cable->end_switch[1], cable->end_port[1], b), more);
}

static const char *cable_change(const struct fabric_cable *before, const struct fabric_cable *after)
{
	if (before->ignored != after->ignored)
		return after->ignored ? ": is ignored" : ": is not ignored any more";
	if (before->speed_bps != after->speed_bps)
		return ": its speed";
	if (before->length_mm != after->length_mm)
		return ": its length";
	return before->weight != after->weight ? ": its weight" : NULL;
}

static uint32_t lost_cables(const struct source *before, const struct source *after, FILE *out)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < before->fabric.cable_count; i++) {
		const struct fabric_cable *cable = &before->fabric.cables[i];

		if (find_cable(&before->fabric, cable, after) != TOPO_NONE)
			continue;
		print_cable(&before->fabric, cable, '-', "", out);
		lines++;
	}
	return lines;
}

static uint32_t new_cables(const struct source *before, const struct source *after, FILE *out)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < after->fabric.cable_count; i++) {
		const struct fabric_cable *cable = &after->fabric.cables[i];
		const uint32_t link = find_cable(&after->fabric, cable, before);
		const uint32_t was = link != TOPO_NONE ?
					     before->graph.link_cable[link] & ~FABRIC_FAR_END :
					     FABRIC_NONE;
		const char *change = was != FABRIC_NONE ?
					     cable_change(&before->fabric.cables[was], cable) :
					     "";

		if (change == NULL)
			continue;
		print_cable(&after->fabric, cable, was != FABRIC_NONE ? '~' : '+', change, out);
		lines++;
	}
	return lines;
}

// --- hosts --------------------------------------------------------------------------------------

static const char *tenant_of(const struct fabric *fabric, const struct fabric_host *host)
{
	return host->tenant != 0 ? fabric->tenants[host->tenant] : "";
}

static bool same_port(const struct fabric *a, const struct fabric_host_port *p,
		      const struct fabric *b, const struct fabric_host_port *q)
{
	return strcmp(a->switches[p->at].name, b->switches[q->at].name) == 0 &&
	       p->port == q->port && p->rail == q->rail && p->speed_bps == q->speed_bps &&
	       p->length_mm == q->length_mm && p->mac == q->mac &&
	       memcmp(&p->ip, &q->ip, sizeof(p->ip)) == 0 &&
	       memcmp(&p->ip6, &q->ip6, sizeof(p->ip6)) == 0;
}

static bool same_ports(const struct fabric *a, const struct fabric_host *host,
		       const struct fabric *b, const struct fabric_host *other)
{
	if (host->port_count != other->port_count)
		return false;
	for (uint32_t i = 0; i < host->port_count; i++) {
		if (!same_port(a, &a->host_ports[host->first_port + i], b,
			       &b->host_ports[other->first_port + i]))
			return false;
	}
	return true;
}

// Hosts that only one has, or with `changed` those that both have differently.
static uint32_t diff_hosts(const struct fabric *fabric, const struct fabric *other, char sign,
			   bool changed, FILE *out)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < fabric->host_count; i++) {
		const struct fabric_host *host = &fabric->hosts[i];
		const uint32_t at = fabric_find_host(other, host->name);
		const struct fabric_host *twin = at != FABRIC_NONE ? &other->hosts[at] : NULL;

		if ((twin != NULL) != changed)
			continue;
		if (twin != NULL && same_ports(fabric, host, other, twin) &&
		    strcmp(tenant_of(fabric, host), tenant_of(other, twin)) == 0)
			continue;
		fprintf(out, "%c host %s%s\n", sign, host->name,
			twin == NULL                          ? "" :
			same_ports(fabric, host, other, twin) ? ": its tenant" :
								": its ports or addresses");
		lines++;
	}
	return lines;
}

// --- rules --------------------------------------------------------------------------------------

static bool same_class(const struct intent_class *a, const struct intent_class *b)
{
	struct intent_class copy = *a;

	copy.line = b->line;
	return memcmp(&copy, b, sizeof(copy)) == 0;
}

static uint32_t diff_rules(const struct intent *before, const struct intent *after, FILE *out)
{
	struct intent_fabric top = before->fabric;
	bool same = before->class_count == after->class_count;
	uint32_t lines = 0;

	for (uint32_t i = 0; same && i < after->class_count; i++)
		same = same_class(&before->class[i], &after -> class[i]);
	if (!same) {
		fputs("~ classes\n", out);
		lines++;
	}
	top.line = after->fabric.line;
	// NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): intents are of calloc()
	if (memcmp(&top, &after->fabric, sizeof(top)) != 0) {
		fputs("~ knobs of the top level\n", out);
		lines++;
	}
	return lines;
}

uint32_t intent_diff(const struct source *before, const struct source *after, FILE *out)
{
	const struct fabric *a = &before->fabric;
	const struct fabric *b = &after->fabric;
	uint32_t lines = diff_switches(a, b, '-', out);

	lines += lost_cables(before, after, out);
	lines += diff_hosts(a, b, '-', false, out);
	lines += diff_switches(b, a, '+', out);
	lines += new_cables(before, after, out);
	lines += diff_hosts(b, a, '+', false, out);
	lines += diff_hosts(b, a, '~', true, out);
	return lines + diff_rules(before->intent, after->intent, out);
}
