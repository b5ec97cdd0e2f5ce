// SPDX-License-Identifier: BSD-3-Clause
//
// An intent becomes that of a lab by its rates, which keep their proportions: what is planned, and
// where queues form, is as with the real ones. Rings are short and frames of usual length, so that
// headroom, and with it the number of packet buffers, stays small.

#include "cli/lab_fabric.h"

#include <errno.h>
#include <string.h>

#include "cli/plan_show.h"
#include "cli/run.h"
#include "fabricmgr/core/address.h"
#include "fabricmgr/switch_config.h"
#include "sys/cfg_load.h"
#include "sys/cfg_row.h"
#include "sys/file_replace.h"
#include "sys/nearest.h"

#define WATCHDOG_NS 5000000000ull

enum {
	SPEED_MIN = 1000000,
	MTU_MAX = 1500,
	RING = 16, // frames
	POLL_GAP_NS = 1000000,
	CELL_BYTES = 256, // a small frame costs as much buffer as a descriptor is worth
	SWITCHES_MAX = 128,
	SOCKET_PATH_MAX = 107,
};

// --- the intent -------------------------------------------------------------------------------

static void scale_row(const struct config_table *table, uint8_t *row, uint64_t to, uint64_t from)
{
	for (uint32_t i = 0; i < table->knob_count; i++) {
		const struct config_knob *knob = &table->knobs[i];
		uint64_t bps;

		if (knob->kind != CONFIG_BPS)
			continue;
		memcpy(&bps, row + knob->offset, sizeof(bps));
		if (bps == CONFIG_UNSET)
			continue;
		bps = (uint64_t)((double)bps * (double)to / (double)from + 0.5);
		if (bps < SPEED_MIN)
			bps = SPEED_MIN;
		memcpy(row + knob->offset, &bps, sizeof(bps));
	}
}

// Every rate there is, times to / from.
static void scale(struct intent *intent, uint64_t to, uint64_t from)
{
	for (uint32_t i = 0; i < INTENT_TABLE_COUNT; i++) {
		const struct config_table *table = &intent_tables[i];

		for (uint32_t row = 0; row < cfg_row_count(table, intent); row++)
			scale_row(table, cfg_row(table, intent, row), to, from);
	}
}

uint64_t lab_fabric_fastest(const struct fabric *fabric)
{
	uint64_t bps = SPEED_MIN;

	for (uint32_t i = 0; i < fabric->cable_count; i++)
		bps = fabric->cables[i].speed_bps > bps ? fabric->cables[i].speed_bps : bps;
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		bps = fabric->host_ports[i].speed_bps > bps ? fabric->host_ports[i].speed_bps : bps;
	return bps;
}

static void emulate(struct intent *intent)
{
	if (intent->fabric.mtu > MTU_MAX)
		intent->fabric.mtu = MTU_MAX;
	intent->fabric.ring = RING;
	intent->fabric.poll_gap = POLL_GAP_NS;
	// At a thousandth of the rate a queue is held a thousand times as long.
	if (intent->fabric.watchdog == CONFIG_UNSET)
		intent->fabric.watchdog = WATCHDOG_NS;
	if (intent->fabric.cell < CELL_BYTES)
		intent->fabric.cell = CELL_BYTES;
}

static int write_intent(const struct lab *lab, const struct intent *intent)
{
	char path[LAB_PATH_BYTES];
	struct file_replace replace;
	int rc = file_replace_open(&replace, lab_path(lab, "fabric.cfg", path));

	if (rc == 0)
		rc = cfg_dump(intent, intent_tables, INTENT_TABLE_COUNT, replace.file);
	if (rc == 0)
		rc = file_replace_finish(&replace);
	if (rc < 0)
		fprintf(stderr, "weft: %s: %s\n", path, strerror(-rc));
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

// Importers know cables alone; what goes with an intent (classes, engines) has nowhere to stand.
static bool is_import(const char *path)
{
	return strncmp(path, "ibnetdiscover:", 14) == 0 || strncmp(path, "dot:", 4) == 0 ||
	       strncmp(path, "json:", 5) == 0;
}

int lab_fabric_write(const struct lab *lab, const char *path, uint64_t speed_bps)
{
	struct source source;
	int status = EXIT_USAGE;

	if (is_import(path)) {
		fprintf(stderr, "weft: %s: a lab is built from an intent file\n", path);
		return EXIT_USAGE;
	}
	if (source_open(&source, path, stderr) == 0) {
		scale(source.intent, speed_bps, lab_fabric_fastest(&source.fabric));
		emulate(source.intent);
		status = write_intent(lab, source.intent);
	}
	source_close(&source);
	return status;
}

int lab_fabric_open(const struct lab *lab, struct lab_fabric *fabric)
{
	lab_path(lab, "fabric.cfg", fabric->path);
	fabric->options = (struct plan_options){ .fabric = fabric->path, .seed = 1 };
	fabric->open = true;
	return plan_work_open(&fabric->options, &fabric->work);
}

void lab_fabric_close(struct lab_fabric *fabric)
{
	if (fabric->open)
		plan_work_close(&fabric->work);
	fabric->open = false;
}

int lab_fabric_plan(struct lab_fabric *fabric)
{
	int status = plan_work_plan(&fabric->options, &fabric->work);

	if (status == EXIT_DONE)
		status = plan_work_prove(&fabric->work);
	if (status != EXIT_REFUSED)
		return status;
	plan_show_refusals(&fabric->work, stderr);
	fputs("weft: there is no good plan of this fabric; weft plan shows why\n", stderr);
	return EXIT_USAGE;
}

// --- limits of one machine --------------------------------------------------------------------

static bool is_long(const struct lab *lab, const char *dir, const char *name, const char *suffix)
{
	char path[2 * LAB_PATH_BYTES];
	const int len = snprintf(path, sizeof(path), "%s/%s/%s%s", lab->dir, dir, name, suffix);

	if (len <= SOCKET_PATH_MAX)
		return false;
	fprintf(stderr, "weft: %s: longer than the %d bytes of the name of a socket; --dir DIR\n",
		path, SOCKET_PATH_MAX);
	return true;
}

int lab_fabric_check(const struct lab *lab, const struct lab_fabric *fabric)
{
	const struct fabric *own = &fabric->work.source.fabric;

	if (own->switch_count > SWITCHES_MAX) {
		fprintf(stderr, "weft: %s has %u switches, a lab at most %d\n", own->name,
			own->switch_count, SWITCHES_MAX);
		return EXIT_USAGE;
	}
	if (own->host_port_count > LAB_DEVICES_MAX) {
		fprintf(stderr,
			"weft: %s has %u ports of hosts, a lab at most %d: as many devices as a "
			"process of DPDK may have\n",
			own->name, own->host_port_count, LAB_DEVICES_MAX);
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; i < own->switch_count; i++) {
		if (is_long(lab, "run", own->switches[i].name, ".sock"))
			return EXIT_USAGE;
	}
	return EXIT_DONE;
}

// --- finding ----------------------------------------------------------------------------------

static int no_such(const char *text, const char *kind, const struct nearest *near)
{
	fprintf(stderr, "weft: %s: the lab has no such %s", text, kind);
	if (near != NULL && near->best != NULL)
		fprintf(stderr, "; did you mean %s?", near->best);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static int find_switch(const struct fabric *own, const char *name, uint32_t *at)
{
	struct nearest near = nearest_to(name);

	*at = fabric_find_switch(own, name);
	if (*at != FABRIC_NONE)
		return EXIT_DONE;
	for (uint32_t i = 0; i < own->switch_count; i++)
		nearest_offer(&near, own->switches[i].name);
	return no_such(name, "switch", &near);
}

int lab_fabric_find_cable(const struct lab_fabric *fabric, const char *text,
			  struct lab_cable *cable)
{
	const struct source *source = &fabric->work.source;
	const struct fabric *own = &source->fabric;
	const char *colon = strrchr(text, ':');
	char name[FABRIC_NAME_BYTES];
	uint32_t at, link, peer;
	uint16_t port;
	int status;

	*cable = (struct lab_cable){ .name = { NULL, NULL } };
	if (colon == NULL || colon - text >= FABRIC_NAME_BYTES) {
		fprintf(stderr, "weft: %s: is not SWITCH:PORT, such as %s:Ethernet0\n", text,
			own->switches[0].name);
		return EXIT_USAGE;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	status = find_switch(own, name, &at);
	if (status != EXIT_DONE)
		return status;
	if (!fabric_find_port(&own->switches[at], colon + 1, &port))
		return no_such(text, "port", NULL);
	cable->name[0] = own->switches[at].name;
	snprintf(cable->port[0], FABRIC_NAME_BYTES, "%s",
		 fabric_port_name(&own->switches[at], port, name));
	link = topo_link_at(&source->graph.topo, at, port);
	if (link == TOPO_NONE)
		return EXIT_DONE;
	peer = source->graph.topo.link_peer[link];
	at = source->graph.topo.link_switch[peer];
	cable->name[1] = own->switches[at].name;
	snprintf(cable->port[1], FABRIC_NAME_BYTES, "%s",
		 fabric_port_name(&own->switches[at], source->graph.topo.link_port[peer], name));
	return EXIT_DONE;
}

uint32_t lab_fabric_find_host(const struct lab_fabric *fabric, const char *name)
{
	const struct fabric *own = &fabric->work.source.fabric;
	const uint32_t host = fabric_find_host(own, name);
	struct nearest near = nearest_to(name);

	if (host != FABRIC_NONE)
		return host;
	for (uint32_t i = 0; i < own->host_count; i++)
		nearest_offer(&near, own->hosts[i].name);
	no_such(name, "host", &near);
	return FABRIC_NONE;
}
