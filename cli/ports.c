// SPDX-License-Identifier: BSD-3-Clause
//
// The switch's answer is read with jansson's null-tolerant getters: a member that is missing or of
// another type reads as absent and ends up as "-" in a table.

#include "cli/ports.h"

#include <errno.h>
#include <string.h>

#include "sys/nearest.h"

static const char *name_of(const json_t *port, const char *key)
{
	const char *name = json_string_value(json_object_get(port, key));

	return name != NULL ? name : "";
}

static bool wanted(const struct query *query, const json_t *port)
{
	return query->port == NULL || strcmp(query->port, name_of(port, "name")) == 0 ||
	       strcmp(query->port, name_of(port, "alias")) == 0;
}

int port_check(const struct query *query)
{
	const json_t *ports = json_object_get(query->reply, "ports");
	struct nearest near;
	size_t at = 0;

	if (query->port == NULL || port_next(query, &at) != NULL)
		return 0;
	near = nearest_to(query->port);
	for (size_t i = 0; i < json_array_size(ports); i++)
		nearest_offer(&near, name_of(json_array_get(ports, i), "name"));
	if (near.best != NULL)
		fprintf(stderr, "weft: no port %s; did you mean %s?\n", query->port, near.best);
	else
		fprintf(stderr, "weft: no port %s; see weft show interface\n", query->port);
	return -ENOENT;
}

const json_t *port_next(const struct query *query, size_t *at)
{
	const json_t *ports = json_object_get(query->reply, "ports");

	while (*at < json_array_size(ports)) {
		const json_t *port = json_array_get(ports, (*at)++);

		if (wanted(query, port))
			return port;
	}
	return NULL;
}

const json_t *port_element(const json_t *port, const char *list, size_t at)
{
	return json_array_get(json_object_get(port, list), at);
}

void port_row(struct table *table, const json_t *port, const char *list, const char *key)
{
	json_t *row = table_row(table);

	row_member(row, port, "name");
	for (size_t i = 1; i < table->column_count; i++)
		row_member(row, port_element(port, list, i - 1), key);
}

void row_mask(json_t *row, const json_t *object, const char *key)
{
	const json_t *mask = json_object_get(object, key);
	char text[2 * PRIO_COUNT + 1];
	size_t len = 0;

	for (size_t i = 0; json_is_integer(mask) && i < PRIO_COUNT; i++) {
		if (!(json_integer_value(mask) >> i & 1))
			continue;
		if (len > 0)
			text[len++] = ',';
		text[len++] = (char)('0' + i);
	}
	text[len] = '\0';
	if (!json_is_integer(mask))
		json_array_append_new(row, json_null());
	else
		row_text(row, len > 0 ? text : "N/A");
}
