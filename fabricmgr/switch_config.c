// SPDX-License-Identifier: BSD-3-Clause
//
// The order of a switch's configuration: what stands at the top level, then tables part by part.
//
// What the switch can make itself is left to it: a fabric of one lane with the class that the
// preset knows is the preset, whose headroom follows from the devices of the machine.

#include "fabricmgr/switch_config.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "fabricmgr/core/address.h"
#include "fabricmgr/memory.h"
#include "fabricmgr/switch_config_parts.h"
#include "schema/config.h"
#include "schema/config_limits.h"

enum { ROCE_DSCP = 26, ROCE_SHARE_PPM = 500000, HELLO_MTU_MIN = 640 };

// --- what is at the ports ---------------------------------------------------------------------

static void find_links(struct config_text *text)
{
	const struct fabric_graph *graph = &text->source->graph;
	const struct topo *topo = &graph->topo;

	for (uint32_t link = topo->link_first[text->at]; link < topo->link_first[text->at + 1];
	     link++) {
		const uint32_t cable = graph->link_cable[link] & ~FABRIC_FAR_END;
		struct config_port *port = &text->port[topo->link_port[link]];

		port->link = link;
		port->speed_bps = text->source->fabric.cables[cable].speed_bps;
		port->length_mm = text->source->fabric.cables[cable].length_mm;
	}
}

static void find_hosts(struct config_text *text)
{
	const struct fabric_graph *graph = &text->source->graph;
	const uint32_t edge = graph->switch_edge[text->at];

	if (edge == TOPO_NONE)
		return;
	for (uint32_t i = graph->topo.edge_first_host[edge];
	     i < graph->topo.edge_first_host[edge + 1]; i++) {
		const uint32_t host_port = graph->host_of[i];
		const struct fabric_host_port *host = &text->source->fabric.host_ports[host_port];
		struct config_port *port = &text->port[host->port];

		port->host_port = host_port;
		port->speed_bps = host->speed_bps;
		port->length_mm = host->length_mm;
	}
}

static void find_ports(struct config_text *text)
{
	text->port_count = config_switch(text)->port_count;
	if (text->port_count > CONFIG_PORT_MAX) {
		config_fail(text, -EOVERFLOW, "%u ports, and a switch has at most %d",
			    text->port_count, CONFIG_PORT_MAX);
		return;
	}
	text->port = arena_take(&text->keep, text->port_count, sizeof(*text->port));
	if (text->port == NULL) {
		config_fail(text, -ENOMEM, "memory is short");
		return;
	}
	for (uint32_t i = 0; i < text->port_count; i++)
		text->port[i] = (struct config_port){ .link = TOPO_NONE, .host_port = FABRIC_NONE };
	find_links(text);
	find_hosts(text);
}

// --- names ------------------------------------------------------------------------------------

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// As the switch takes them; a fabric that was imported may have others.
static bool is_name(const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if (!is_alnum(name[i]) && (i == 0 || strchr("_-.", name[i]) == NULL))
			return false;
	}
	return len > 0 && len < CONFIG_NAME_BYTES && strcmp(name, "all") != 0;
}

static void check_names(struct config_text *text)
{
	const struct fabric_switch *sw = config_switch(text);
	char name[FABRIC_NAME_BYTES];

	if (!is_name(sw->name))
		config_fail(text, -EINVAL, "is no name of a switch: letters, digits, _ - and .");
	for (uint32_t i = 0; i < text->port_count; i++) {
		if (!is_name(fabric_port_name(sw, (uint16_t)i, name)))
			config_fail(text, -EINVAL,
				    "%s is no name of a port: letters, digits, _ - and .", name);
	}
}

// --- the top level and ports ------------------------------------------------------------------

bool config_is_preset(const struct config_text *text)
{
	const struct qos_class *class = &text->options.class[0];

	return text->lanes == 1 && text->options.class_count == 1 && class->lossless &&
	       class->ecn && class->dscp == 1ull << ROCE_DSCP && class->share_ppm == ROCE_SHARE_PPM;
}

bool config_has_gateways(const struct config_text *text)
{
	return text->source->intent->fabric.addressing == INTENT_PER_LEAF &&
	       text->source->graph.switch_edge[text->at] != TOPO_NONE;
}

static void put_top(struct config_text *text)
{
	const struct fabric *fabric = &text->source->fabric;
	const uint32_t edge = text->source->graph.switch_edge[text->at];
	const char *name = config_switch(text)->name;

	config_text(text, "name", "%s", name);
	config_text(text, "forwarding", "managed");
	if (edge != TOPO_NONE)
		config_number(text, "edge_number", edge);
	// The seed that the balance of the plan was reckoned with.
	config_number(text, "ecmp_hash_seed", (uint32_t)hash_text(name));
	if (text->options.cell_bytes > 1)
		config_number(text, "cell", text->options.cell_bytes);
	if (config_has_gateways(text))
		config_mac(text, "router_mac", fabric_router_mac(fabric));
	if (config_is_preset(text))
		config_text(text, "roce", "lossless");
	else if (text->lab == NULL || text->lab->switch_knobs == NULL ||
		 strstr(text->lab->switch_knobs, "descriptors") == NULL)
		config_descriptors(text);
	if (config_lanes(text) != 0)
		config_mask(text, "lanes", config_lanes(text));
	if (text->lab != NULL && text->lab->switch_knobs != NULL)
		fprintf(text->out, "%s\n", text->lab->switch_knobs);
}

// Without a lab the machine has the devices: that of the text is a NIC that is nobody's.
static void put_devargs(struct config_text *text, uint32_t port)
{
	const struct switch_config_lab *lab = text->lab;
	char devargs[CONFIG_TEXT_BYTES];

	if (lab == NULL) {
		config_text(text, "devargs", "ffff:%02x:00.0", port);
		return;
	}
	config_text(text, "devargs", "%s",
		    lab->devargs(lab->arg, text->source, text->at, (uint16_t)port, devargs,
				 sizeof(devargs)));
	if (lab->port_knobs != NULL)
		fprintf(text->out, " %s", lab->port_knobs);
}

static void put_port(struct config_text *text, uint32_t i)
{
	const struct config_port *port = &text->port[i];

	if (!config_row(text, "port", CONFIG_PORT_MAX))
		return;
	config_port_name(text, "name", i);
	put_devargs(text, i);
	config_number(text, "mtu", text->options.mtu);
	if (config_is_free(port)) {
		config_bool(text, "admin", false);
	} else {
		config_unit(text, "speed", UNIT_BPS, port->speed_bps);
		config_unit(text, "cable", UNIT_METRES, (port->length_mm + 999ull) / 1000);
	}
	if (config_is_fabric(port)) {
		config_text(text, "role", "fabric");
		config_text(text, "hello", text->options.mtu < HELLO_MTU_MIN ? "off" : "required");
	}
	if (config_guard(text, i)[0] != '\0')
		config_text(text, "source_guard", "%s", config_guard(text, i));
	if (!config_is_preset(text))
		config_port_qos(text, port);
	else if (config_is_free(port))
		config_bool(text, "pfc_asymmetric", true);
	config_row_end(text);
}

void config_ports(struct config_text *text)
{
	for (uint32_t i = 0; i < text->port_count; i++)
		put_port(text, i);
}

// --- all of it --------------------------------------------------------------------------------

static uint32_t lanes_of(const struct qos *qos)
{
	uint32_t lanes = 1;

	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (qos->prio[i].use == QOS_LOSSLESS && qos->prio[i].lane >= lanes)
			lanes = qos->prio[i].lane + 1;
	}
	return lanes;
}

static void write_all(struct config_text *text, bool with_routes)
{
	if (text->qos->prio_count > PRIO_COUNT)
		config_fail(text, -EOVERFLOW, "%u priorities are needed, and there are %d",
			    text->qos->prio_count, PRIO_COUNT);
	config_check_lanes(text);
	find_ports(text);
	if (text->rc == 0)
		check_names(text);
	if (text->rc != 0)
		return;
	put_top(text);
	config_ports(text);
	config_qos(text);
	config_hosts(text);
	config_tenants(text);
	if (with_routes)
		config_routes(text);
	config_rows_end(text);
	if (ferror(text->out) != 0)
		config_fail(text, -EIO, "%s", strerror(EIO));
}

int switch_config_write(const struct source *source, const struct plan *plan, const struct qos *qos,
			uint32_t at, const struct switch_config_lab *lab, bool with_routes,
			FILE *out, FILE *errors)
{
	struct config_text text = {
		.source = source,
		.plan = plan,
		.qos = qos,
		.lab = lab,
		.at = at,
		.out = out,
		.errors = errors,
		.lanes = lanes_of(qos),
	};

	text.options = source_qos(source, text.lanes);
	if (memory_open(&text.keep) && memory_open(&text.scratch))
		write_all(&text, with_routes);
	else
		config_fail(&text, -ENOMEM, "memory is short");
	memory_close(&text.keep);
	memory_close(&text.scratch);
	return text.rc;
}
