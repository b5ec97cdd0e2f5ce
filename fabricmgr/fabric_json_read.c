// SPDX-License-Identifier: BSD-3-Clause
//
// Reading a fabric from JSON: switches first, since cables and hosts name them. A fault names the
// list, the object and the key.

#include "fabricmgr/fabric_json.h"

#include <errno.h>
#include <string.h>

#include "fabricmgr/fabric_json_fields.h"

static const char *read_name(const json_t *json, const char *key, const struct json_place *place)
{
	const json_t *value = json_object_get(json, key);

	if (json_is_string(value) && json_string_length(value) < FABRIC_NAME_BYTES)
		return json_string_value(value);
	json_refuse(place, key, "a name is wanted");
	return NULL;
}

// A switch and a port of it, by name.
static int read_end(const struct fabric *fabric, const json_t *json, const char *switch_key,
		    const char *port_key, const struct json_place *place, uint32_t *at,
		    uint16_t *port)
{
	const char *name = read_name(json, switch_key, place);
	const char *port_name = name != NULL ? read_name(json, port_key, place) : NULL;

	if (port_name == NULL)
		return -EINVAL;
	*at = fabric_find_switch(fabric, name);
	if (*at == FABRIC_NONE)
		return json_refuse(place, switch_key, "there is no such switch");
	if (!fabric_find_port(&fabric->switches[*at], port_name, port))
		return json_refuse(place, port_key, "the switch has no such port");
	return 0;
}

static int read_port_names(struct fabric *fabric, struct fabric_switch *sw, const json_t *names,
			   const struct json_place *place)
{
	const char **copies;

	if (names == NULL)
		return 0;
	if (!json_is_array(names) || json_array_size(names) != sw->port_count)
		return json_refuse(place, "port_names", "a name for each port is wanted");
	copies = arena_take(fabric->keep, sw->port_count, sizeof(char *));
	if (copies == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < sw->port_count; i++) {
		const json_t *name = json_array_get(names, i);

		if (!json_is_string(name) || json_string_length(name) >= FABRIC_NAME_BYTES)
			return json_refuse(place, "port_names", "a name for each port is wanted");
		copies[i] = fabric_text(fabric, json_string_value(name));
		if (copies[i] == NULL)
			return -ENOMEM;
	}
	sw->port_names = copies;
	return 0;
}

static int read_place(const struct fabric *fabric, struct fabric_switch *sw, const json_t *list,
		      const struct json_place *place)
{
	if (list == NULL)
		return 0;
	if (!json_is_array(list) || json_array_size(list) != fabric->dim_count)
		return json_refuse(place, "place", "a number for each of `dims` is wanted");
	for (uint32_t d = 0; d < fabric->dim_count; d++) {
		const json_t *number = json_array_get(list, d);

		if (!json_is_integer(number) || json_integer_value(number) < 0 ||
		    (uint64_t)json_integer_value(number) >= fabric->dims[d])
			return json_refuse(place, "place", "a number for each of `dims` is wanted");
		sw->place[d] = (uint16_t)json_integer_value(number);
	}
	sw->has_place = true;
	return 0;
}

static int read_switch(struct fabric *fabric, const json_t *json, const struct json_place *place)
{
	static const char *const others[] = { "name",       "ports",       "place",
					      "port_names", "port_prefix", NULL };
	const char *name = read_name(json, "name", place);
	const json_t *ports = json_object_get(json, "ports");
	const json_int_t count = json_integer_value(ports);
	struct fabric_switch *sw;
	const char *prefix;
	int rc;

	if (name == NULL)
		return -EINVAL;
	if (!json_is_integer(ports) || count < 0 || count > TOPO_PORT_MAX)
		return json_refuse(place, "ports", "a number of ports is wanted");
	sw = fabric_add_switch(fabric, name);
	if (sw == NULL)
		return -ENOMEM;
	sw->port_count = (uint16_t)count;
	if (json_object_get(json, "port_prefix") != NULL) {
		prefix = read_name(json, "port_prefix", place);
		if (prefix == NULL)
			return -EINVAL;
		sw->port_prefix = fabric_text(fabric, prefix);
		if (sw->port_prefix == NULL)
			return -ENOMEM;
	}
	rc = json_read_fields(sw, json_switch_fields, others, json, place);
	if (rc == 0)
		rc = read_port_names(fabric, sw, json_object_get(json, "port_names"), place);
	if (rc == 0)
		rc = read_place(fabric, sw, json_object_get(json, "place"), place);
	return rc;
}

static int read_cable(struct fabric *fabric, const json_t *json, const struct json_place *place)
{
	static const char *const others[] = { "a", "a_port", "b", "b_port", NULL };
	struct fabric_cable *cable;
	uint32_t at[2];
	uint16_t port[2];
	int rc = read_end(fabric, json, "a", "a_port", place, &at[0], &port[0]);

	if (rc == 0)
		rc = read_end(fabric, json, "b", "b_port", place, &at[1], &port[1]);
	if (rc != 0)
		return rc;
	cable = fabric_add_cable(fabric, at[0], port[0], at[1], port[1]);
	return cable == NULL ? -ENOMEM :
			       json_read_fields(cable, json_cable_fields, others, json, place);
}

static int read_host_port(struct fabric *fabric, uint32_t host, const json_t *json,
			  const struct json_place *place)
{
	static const char *const others[] = { "switch", "port", NULL };
	struct fabric_host_port *added;
	uint32_t at;
	uint16_t port;
	int rc = read_end(fabric, json, "switch", "port", place, &at, &port);

	if (rc != 0)
		return rc;
	added = fabric_add_host_port(fabric, host, at, port);
	return added == NULL ? -ENOMEM :
			       json_read_fields(added, json_host_port_fields, others, json, place);
}

static int read_tenant(struct fabric *fabric, struct fabric_host *host, const json_t *json,
		       const struct json_place *place)
{
	const char *name;

	if (json_object_get(json, "tenant") == NULL)
		return 0;
	name = read_name(json, "tenant", place);
	if (name == NULL)
		return -EINVAL;
	host->tenant = fabric_tenant(fabric, name);
	return host->tenant == FABRIC_NONE ? -ENOMEM : 0;
}

static int read_host(struct fabric *fabric, const json_t *json, const struct json_place *place)
{
	static const char *const others[] = { "name", "tenant", "ports", NULL };
	const char *name = read_name(json, "name", place);
	const json_t *ports = json_object_get(json, "ports");
	struct fabric_host *host;
	int rc;

	if (name == NULL)
		return -EINVAL;
	if (!json_is_array(ports))
		return json_refuse(place, "ports", "a list is wanted");
	host = fabric_add_host(fabric, name);
	if (host == NULL)
		return -ENOMEM;
	rc = read_tenant(fabric, host, json, place);
	if (rc == 0)
		rc = json_read_fields(host, json_host_fields, others, json, place);
	for (size_t i = 0; rc == 0 && i < json_array_size(ports); i++)
		rc = read_host_port(fabric, fabric->host_count - 1, json_array_get(ports, i),
				    place);
	return rc;
}

typedef int (*read_fn)(struct fabric *fabric, const json_t *json, const struct json_place *place);

static int read_list(struct fabric *fabric, const json_t *json, const char *key, read_fn read,
		     FILE *errors)
{
	const json_t *list = json_object_get(json, key);
	struct json_place place = { .list = NULL, .errors = errors };
	int rc = 0;

	if (list != NULL && !json_is_array(list))
		return json_refuse(&place, key, "a list is wanted");
	place.list = key;
	for (place.index = 0; rc == 0 && place.index < json_array_size(list); place.index++) {
		const json_t *object = json_array_get(list, place.index);

		if (!json_is_object(object))
			return json_refuse(&place, "", "an object is wanted");
		rc = read(fabric, object, &place);
	}
	return rc;
}

static int read_shift(struct fabric *fabric, const json_t *rows, uint32_t d,
		      const struct json_place *place)
{
	const json_t *row = json_array_get(rows, d);

	for (uint32_t e = 0; e < fabric->dim_count; e++) {
		const json_int_t by = json_integer_value(json_array_get(row, e));

		if (by < 0 || by > UINT16_MAX)
			return json_refuse(place, "shift", "a shift is 0 to 65535");
		fabric->shift[d][e] = (uint32_t)by;
	}
	return 0;
}

static int read_dims(struct fabric *fabric, const json_t *json, const struct json_place *place)
{
	const json_t *dims = json_object_get(json, "dims");
	int rc = 0;

	if (json_array_size(dims) > FABRIC_DIMS_MAX)
		return json_refuse(place, "dims", "there are at most 6");
	fabric->dim_count = (uint32_t)json_array_size(dims);
	for (uint32_t d = 0; rc == 0 && d < fabric->dim_count; d++) {
		const json_int_t length = json_integer_value(json_array_get(dims, d));

		if (length < 1 || length > UINT16_MAX)
			return json_refuse(place, "dims", "a length is 1 to 65535");
		fabric->dims[d] = (uint32_t)length;
		rc = read_shift(fabric, json_object_get(json, "shift"), d, place);
	}
	return rc;
}

static int read_kind(struct fabric *fabric, const json_t *json, const struct json_place *place)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	for (uint32_t i = 0;
	     kind != NULL && i < sizeof(json_fabric_kinds) / sizeof(json_fabric_kinds[0]); i++) {
		if (strcmp(kind, json_fabric_kinds[i]) != 0)
			continue;
		fabric->kind = (enum fabric_kind)i;
		return 0;
	}
	return kind == NULL ? 0 :
			      json_refuse(place, "kind", "links, tree, torus or hybrid is wanted");
}

int fabric_from_json(const json_t *object, struct fabric *fabric, FILE *errors)
{
	static const struct json_field none[] = { { .key = NULL } };
	static const char *const others[] = { "name",     "kind",   "dims",  "shift",
					      "switches", "cables", "hosts", NULL };
	const struct json_place place = { .list = NULL, .errors = errors };
	int rc;

	if (!json_is_object(object))
		return json_refuse(&place, "fabric", "an object is wanted");
	rc = json_read_fields(fabric, none, others, object, &place);
	if (rc == 0)
		rc = read_kind(fabric, object, &place);
	if (rc == 0)
		rc = read_dims(fabric, object, &place);
	if (rc == 0 && json_object_get(object, "name") != NULL) {
		const char *name = read_name(object, "name", &place);

		fabric->name = name != NULL ? fabric_text(fabric, name) : NULL;
		rc = name == NULL ? -EINVAL : fabric->name == NULL ? -ENOMEM : 0;
	}
	if (rc == 0)
		rc = read_list(fabric, object, "switches", read_switch, errors);
	if (rc == 0)
		rc = read_list(fabric, object, "cables", read_cable, errors);
	if (rc == 0)
		rc = read_list(fabric, object, "hosts", read_host, errors);
	return rc;
}
