// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a switch's configuration, for the files switch_config*.c alone. Each part writes
// rows of its tables; the first row that a switch has no room for is said once, and from then on
// nothing is written: what went wrong is found at the end, not after every row.
#pragma once

#include <errno.h>

#include "base/units.h"
#include "fabricmgr/core/tenants.h"
#include "fabricmgr/switch_config.h"
#include "schema/config.h"

// What the fabric has at a port. Ports that nothing is plugged into are of no kind.
struct config_port {
	uint64_t speed_bps;
	uint32_t length_mm;
	uint32_t link;      // of the graph, TOPO_NONE: none
	uint32_t host_port; // FABRIC_NONE: none
};

struct config_text {
	const struct source *source;
	const struct plan *plan;
	const struct qos *qos;
	const struct switch_config_lab *lab; // NULL: a manager sends the text
	uint32_t at;
	FILE *out;
	FILE *errors;
	struct arena keep;    // of this text
	struct arena scratch; // empty between parts
	// What the parts have in common.
	struct qos_options options;
	uint32_t lanes;
	uint32_t port_count;
	struct config_port *port;
	// The rows of the table at hand.
	const char *table;
	uint32_t row_count;
	uint32_t row_max;
	int rc; // the first failure
};

static inline const struct fabric_switch *config_switch(const struct config_text *text)
{
	return &text->source->fabric.switches[text->at];
}

static inline bool config_is_fabric(const struct config_port *port)
{
	return port->link != TOPO_NONE;
}

static inline bool config_is_free(const struct config_port *port)
{
	return port->link == TOPO_NONE && port->host_port == FABRIC_NONE;
}

// The first failure, with a line on `errors`.
__attribute__((format(printf, 3, 4))) void config_fail(struct config_text *text, int rc,
						       const char *format, ...);

// --- rows (switch_config_rows.c) --------------------------------------------------------------

// Begins a row of a table, of which a switch takes so many; false: it has no room, or something
// has failed before. Rows of a table stand together.
bool config_row(struct config_text *text, const char *table, uint32_t max);
void config_row_end(struct config_text *text);

// Ends the last table.
void config_rows_end(struct config_text *text);

// Knobs: "key = VALUE;", in a row or at the top level.
__attribute__((format(printf, 3, 4))) void config_text(struct config_text *text, const char *key,
						       const char *format, ...); // in quotes
void config_bool(struct config_text *text, const char *key, bool value);
void config_number(struct config_text *text, const char *key, uint64_t value);
void config_unit(struct config_text *text, const char *key, enum unit unit, uint64_t value);
void config_mask(struct config_text *text, const char *key, uint8_t mask);
void config_mac(struct config_text *text, const char *key, uint64_t mac);
void config_ip(struct config_text *text, const char *key, const struct ip_prefix *ip);

// The name of a port, as a knob.
void config_port_name(struct config_text *text, const char *key, uint32_t port);

// --- parts ------------------------------------------------------------------------------------

// Whether the preset "lossless" makes all that the fabric wants of QoS.
bool config_is_preset(const struct config_text *text);

// Whether the intent says how long a storm is, rather than the ports.
static inline bool config_has_watchdog(const struct config_text *text)
{
	return text->source->intent->fabric.watchdog != CONFIG_UNSET;
}

// Whether the switch is a gateway for its hosts.
bool config_has_gateways(const struct config_text *text);

// Lossless priorities of a port.
uint8_t config_lossless(const struct config_text *text, const struct config_port *port);

// The knob `lanes`: 0 for one lane.
uint8_t config_lanes(const struct config_text *text);

// Priorities of a use.
uint8_t config_used_by(const struct config_text *text, enum qos_use use);

// What a port that somebody is at needs.
struct config_needs {
	uint64_t xoff;
	uint64_t descriptors;
	uint64_t resume;
	uint64_t ecn_min;
	uint64_t ecn_max;
	uint64_t detection_ms;
};

struct config_needs config_needs_of(struct config_text *text, const struct config_port *port);

// Whether an earlier port is of the same speed and, unless `any_length`, cable.
bool config_is_repeated(const struct config_text *text, uint32_t at, bool any_length);

// Whether a switch can keep the lanes.
void config_check_lanes(struct config_text *text);

// Knobs of classes: at the top level, and in the row of a port.
void config_descriptors(struct config_text *text);
void config_port_qos(struct config_text *text, const struct config_port *port);

void config_ports(struct config_text *text);
void config_buffers(struct config_text *text);
void config_free_buffers(struct config_text *text); // beside the preset: those of ports of nobody
void config_watchdogs(struct config_text *text);
void config_qos(struct config_text *text);
// Rules of tenants, and the knob source_guard of a port: "" is none.
void config_tenants(struct config_text *text);
const char *config_guard(const struct config_text *text, uint32_t port);
void config_hosts(struct config_text *text);
void config_routes(struct config_text *text);
