// SPDX-License-Identifier: BSD-3-Clause
//
// The fabric's text is copied whole; then what is the switch's own is put in its place, knob by
// knob by their descriptors, and routes become rows.

#include "dataplane/fabric_merge.h"

#include <errno.h>
#include <string.h>

#include "dataplane/fabric_rows.h"
#include "sys/cfg_row.h"
#include "sys/cfg_value.h"

static const char *const switch_knobs[] = {
#define SWITCH_LOCAL(key, doc) #key,
#include "schema/local_knobs.def"
};

static const char *const port_knobs[] = {
#define PORT_LOCAL(key, doc) #key,
#include "schema/local_knobs.def"
};

static const char *const local_tables[] = {
#define TABLE_LOCAL(key, doc) #key,
#include "schema/local_knobs.def"
};

enum { NO_PORT = UINT32_MAX };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct config_table *table_of(const char *name)
{
	return cfg_find_table(config_tables, CONFIG_TABLE_COUNT, name);
}

// What the file says about one row of a table, into what the fabric says.
static void take_knobs(const char *name, const char *const *keys, size_t count, const void *own,
		       void *row)
{
	const struct config_table *table = table_of(name);

	for (size_t i = 0; i < count; i++) {
		const struct config_knob *knob = cfg_find_knob(table, keys[i]);

		memcpy((uint8_t *)row + knob->offset, (const uint8_t *)own + knob->offset,
		       cfg_field_bytes(knob->kind));
	}
}

static void take_tables(const struct sw_config *own, struct sw_config *out)
{
	for (size_t i = 0; i < COUNT(local_tables); i++) {
		const struct config_table *table = table_of(local_tables[i]);
		const uint32_t count = cfg_row_count(table, own);

		cfg_set_row_count(table, out, count);
		memcpy(cfg_row(table, out, 0), cfg_row_const(table, own, 0),
		       (size_t)count * table->row_bytes);
	}
}

static uint32_t find_port(const struct sw_config *config, const char *name)
{
	for (uint32_t i = 0; i < config->port_count; i++) {
		if (strcmp(config->port[i].name, name) == 0)
			return i;
	}
	return NO_PORT;
}

// Where each port of the fabric is.
static int find_ports(const struct sw_config *own, const struct sw_config *fabric,
		      struct fabric_ports *ports, FILE *errors)
{
	bool taken[CONFIG_PORT_MAX] = { false };
	int rc = 0;

	ports->count = fabric->port_count;
	for (uint32_t i = 0; i < fabric->port_count; i++) {
		const char *name = fabric->port[i].name;
		const uint32_t at = find_port(own, name);

		if (at == NO_PORT || taken[at]) {
			fprintf(errors, "the fabric %s port %s%s\n",
				at == NO_PORT ? "wants a" : "has two of", name,
				at == NO_PORT ? ", which the switch's file does not have" : "");
			rc = -EINVAL;
			continue;
		}
		taken[at] = true;
		ports->at[i] = (uint16_t)at;
		ports->closed[i] = fabric->port[i].admin == 0;
	}
	return rc;
}

static void merge_ports(const struct sw_config *own, const struct sw_config *fabric,
			const struct fabric_ports *ports, struct sw_config *out)
{
	out->port_count = own->port_count;
	memcpy(out->port, own->port, own->port_count * sizeof(own->port[0]));
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct port_config *from = &own->port[ports->at[i]];
		struct port_config *to = &out->port[ports->at[i]];

		*to = fabric->port[i];
		to->line = from->line;
		take_knobs("port", port_knobs, COUNT(port_knobs), from, to);
	}
}

// Hosts of this switch are behind ports of the fabric's numbers.
static int place_hosts(const struct fabric_ports *ports, struct sw_config *out, FILE *errors)
{
	for (uint32_t i = 0; i < out->host_count; i++) {
		struct fabric_host_config *host = &out->host[i];

		if (host->edge != out->sw.edge_number)
			continue;
		if (host->port >= ports->count) {
			fprintf(errors, "the fabric has a host at port %u of %u\n",
				(uint32_t)host->port, ports->count);
			return -EINVAL;
		}
		host->port = ports->at[host->port];
	}
	return 0;
}

int fabric_merge(const struct sw_config *own, const struct fabric_side *fabric,
		 struct sw_config *out, FILE *errors)
{
	struct fabric_ports ports;
	int rc;

	if (strcmp(own->sw.name, fabric->config->sw.name) != 0) {
		fprintf(errors, "the fabric's tables are those of switch %s\n",
			fabric->config->sw.name);
		return -EINVAL;
	}
	rc = find_ports(own, fabric->config, &ports, errors);
	if (rc != 0)
		return rc;
	*out = *fabric->config;
	// They stand in another file than errors name.
	cfg_clear_lines(out, config_tables, CONFIG_TABLE_COUNT);
	take_knobs(CFG_TOP_NAME, switch_knobs, COUNT(switch_knobs), &own->sw, &out->sw);
	take_tables(own, out);
	merge_ports(own, fabric->config, &ports, out);
	rc = place_hosts(&ports, out, errors);
	return rc == 0 ? fabric_rows_write(fabric->routes, &ports, out, errors) : rc;
}

void fabric_merge_none(struct sw_config *config)
{
	config->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	if (config->pool_count == 0 && config->sw.roce == CONFIG_ROCE_OFF)
		config->sw.roce = CONFIG_ROCE_LOSSLESS;
}
