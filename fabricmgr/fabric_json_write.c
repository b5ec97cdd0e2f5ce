// SPDX-License-Identifier: BSD-3-Clause
//
// Writing a fabric as JSON: names in place of numbers, and keys at their defaults left out. An
// error of jansson's is short memory; it is collected and looked at once for each object.

#include "fabricmgr/fabric_json.h"

#include <string.h>

#include "fabricmgr/fabric_json_fields.h"

static json_t *port_json(const struct fabric *fabric, uint32_t at, uint16_t port)
{
	char name[FABRIC_NAME_BYTES];

	return json_string(fabric_port_name(&fabric->switches[at], port, name));
}

static json_t *switch_json(const struct fabric *fabric, uint32_t number)
{
	const struct fabric_switch *sw = &fabric->switches[number];
	json_t *json = json_pack("{s:s, s:i}", "name", sw->name, "ports", sw->port_count);
	int rc = json == NULL || json_write_fields(json, sw, json_switch_fields) != 0;

	if (strcmp(sw->port_prefix, "Ethernet") != 0)
		rc |= json_object_set_new(json, "port_prefix", json_string(sw->port_prefix));
	if (sw->has_place) {
		json_t *place = json_array();

		for (uint32_t d = 0; d < fabric->dim_count; d++)
			rc |= json_array_append_new(place, json_integer(sw->place[d]));
		rc |= json_object_set_new(json, "place", place);
	}
	if (sw->port_names != NULL) {
		json_t *names = json_array();

		for (uint32_t i = 0; i < sw->port_count; i++)
			rc |= json_array_append_new(names, port_json(fabric, number, (uint16_t)i));
		rc |= json_object_set_new(json, "port_names", names);
	}
	if (rc == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *cable_json(const struct fabric *fabric, uint32_t number)
{
	const struct fabric_cable *cable = &fabric->cables[number];
	const uint32_t a = cable->end_switch[0];
	const uint32_t b = cable->end_switch[1];
	json_t *json = json_pack("{s:s, s:o, s:s, s:o}", "a", fabric->switches[a].name, "a_port",
				 port_json(fabric, a, cable->end_port[0]), "b",
				 fabric->switches[b].name, "b_port",
				 port_json(fabric, b, cable->end_port[1]));

	if (json != NULL && json_write_fields(json, cable, json_cable_fields) == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *host_port_json(const struct fabric *fabric, const struct fabric_host_port *port)
{
	json_t *json = json_pack("{s:s, s:o}", "switch", fabric->switches[port->at].name, "port",
				 port_json(fabric, port->at, port->port));

	if (json != NULL && json_write_fields(json, port, json_host_port_fields) == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *host_json(const struct fabric *fabric, uint32_t number)
{
	const struct fabric_host *host = &fabric->hosts[number];
	json_t *ports = json_array();
	json_t *json = json_pack("{s:s, s:O}", "name", host->name, "ports", ports);
	int rc = json == NULL || json_write_fields(json, host, json_host_fields) != 0;

	if (host->tenant != 0)
		rc |= json_object_set_new(json, "tenant",
					  json_string(fabric->tenants[host->tenant]));
	for (uint32_t i = 0; i < host->port_count; i++)
		rc |= json_array_append_new(
			ports, host_port_json(fabric, &fabric->host_ports[host->first_port + i]));
	json_decref(ports);
	if (rc == 0)
		return json;
	json_decref(json);
	return NULL;
}

typedef json_t *(*object_fn)(const struct fabric *fabric, uint32_t number);

static int write_list(json_t *json, const char *key, const struct fabric *fabric, uint32_t count,
		      object_fn object)
{
	json_t *list = json_array();
	int rc = 0;

	for (uint32_t i = 0; i < count; i++)
		rc |= json_array_append_new(list, object(fabric, i));
	return rc | json_object_set_new(json, key, list);
}

static int write_torus(json_t *json, const struct fabric *fabric)
{
	json_t *dims = json_array();
	json_t *shifts = json_array();
	int rc = 0;

	for (uint32_t d = 0; d < fabric->dim_count; d++) {
		json_t *shift = json_array();

		rc |= json_array_append_new(dims, json_integer(fabric->dims[d]));
		for (uint32_t e = 0; e < fabric->dim_count; e++)
			rc |= json_array_append_new(shift, json_integer(fabric->shift[d][e]));
		rc |= json_array_append_new(shifts, shift);
	}
	return rc | json_object_set_new(json, "dims", dims) |
	       json_object_set_new(json, "shift", shifts);
}

json_t *fabric_to_json(const struct fabric *fabric)
{
	json_t *json = json_pack("{s:s, s:s}", "name", fabric->name, "kind",
				 json_fabric_kinds[fabric->kind]);
	int rc = json == NULL;

	if (fabric->dim_count > 0)
		rc |= write_torus(json, fabric);
	rc |= write_list(json, "switches", fabric, fabric->switch_count, switch_json);
	rc |= write_list(json, "cables", fabric, fabric->cable_count, cable_json);
	rc |= write_list(json, "hosts", fabric, fabric->host_count, host_json);
	if (rc == 0)
		return json;
	json_decref(json);
	return NULL;
}
