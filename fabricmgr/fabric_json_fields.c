// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of fields, and values of each kind: numbers as they are, GUIDs in hexadecimal, and
// addresses as text.

#include "fabricmgr/fabric_json_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sys/cfg_address.h"

#define FIELD(type, member, kind, absent)                                                          \
	{                                                                                          \
#		member, kind, offsetof(struct type, member), absent                               \
	}

const struct json_field json_switch_fields[] = {
	FIELD(fabric_switch, level, FIELD_U8, FABRIC_LEVEL_NONE),
	FIELD(fabric_switch, pod, FIELD_U16, 0),
	FIELD(fabric_switch, guid, FIELD_GUID, 0),
	FIELD(fabric_switch, root, FIELD_BOOL, 0),
	FIELD(fabric_switch, ignored, FIELD_BOOL, 0),
	{ .key = NULL },
};

const struct json_field json_cable_fields[] = {
	FIELD(fabric_cable, weight, FIELD_U16, 1),    FIELD(fabric_cable, speed_bps, FIELD_U64, 0),
	FIELD(fabric_cable, length_mm, FIELD_U32, 0), FIELD(fabric_cable, wrap, FIELD_BOOL, 0),
	FIELD(fabric_cable, ignored, FIELD_BOOL, 0),  { .key = NULL },
};

const struct json_field json_host_fields[] = {
	FIELD(fabric_host, external, FIELD_BOOL, 0),
	{ .key = NULL },
};

const struct json_field json_host_port_fields[] = {
	FIELD(fabric_host_port, rail, FIELD_U16, 0),
	FIELD(fabric_host_port, length_mm, FIELD_U32, 0),
	FIELD(fabric_host_port, speed_bps, FIELD_U64, 0),
	FIELD(fabric_host_port, mac, FIELD_MAC, 0),
	FIELD(fabric_host_port, guid, FIELD_GUID, 0),
	FIELD(fabric_host_port, ip, FIELD_PREFIX, 0),
	FIELD(fabric_host_port, ip6, FIELD_PREFIX, 0),
	{ .key = NULL },
};

const char *const json_fabric_kinds[FABRIC_HYBRID + 1] = {
	[FABRIC_LINKS] = "links",
	[FABRIC_TREE] = "tree",
	[FABRIC_TORUS] = "torus",
	[FABRIC_HYBRID] = "hybrid",
};

// --- numbers ----------------------------------------------------------------------------------

static uint64_t get_number(const void *object, const struct json_field *field)
{
	const uint8_t *at = (const uint8_t *)object + field->offset;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (field->kind) {
	case FIELD_U8: return *at;
	case FIELD_BOOL: return *(const bool *)at;
	case FIELD_U16: memcpy(&u16, at, sizeof(u16)); return u16;
	case FIELD_U32: memcpy(&u32, at, sizeof(u32)); return u32;
	case FIELD_U64:
	case FIELD_GUID:
	case FIELD_MAC: memcpy(&u64, at, sizeof(u64)); return u64;
	case FIELD_PREFIX: return ((const struct ip_prefix *)at)->family;
	}
	return 0;
}

static uint64_t number_max(enum field_kind kind)
{
	switch (kind) {
	case FIELD_U8: return UINT8_MAX;
	case FIELD_BOOL: return 1;
	case FIELD_U16: return UINT16_MAX;
	case FIELD_U32: return UINT32_MAX;
	case FIELD_U64:
	case FIELD_GUID:
	case FIELD_MAC:
	case FIELD_PREFIX: return INT64_MAX;
	}
	return 0;
}

static void set_number(void *object, const struct json_field *field, uint64_t value)
{
	uint8_t *at = (uint8_t *)object + field->offset;
	const uint16_t u16 = (uint16_t)value;
	const uint32_t u32 = (uint32_t)value;

	switch (field->kind) {
	case FIELD_U8: *at = (uint8_t)value; return;
	case FIELD_BOOL: *(bool *)at = value != 0; return;
	case FIELD_U16: memcpy(at, &u16, sizeof(u16)); return;
	case FIELD_U32: memcpy(at, &u32, sizeof(u32)); return;
	case FIELD_U64:
	case FIELD_GUID:
	case FIELD_MAC: memcpy(at, &value, sizeof(value)); return;
	case FIELD_PREFIX: return;
	}
}

// --- writing ----------------------------------------------------------------------------------

static json_t *field_value(const void *object, const struct json_field *field)
{
	const uint64_t number = get_number(object, field);
	char text[IP_PREFIX_TEXT_BYTES];

	switch (field->kind) {
	case FIELD_BOOL: return json_boolean(number != 0);
	case FIELD_GUID: return json_sprintf("0x%" PRIx64, number);
	case FIELD_MAC: mac_format(number, text); return json_string(text);
	case FIELD_PREFIX:
		ip_prefix_format((const void *)((const uint8_t *)object + field->offset), text);
		return json_string(text);
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64: return json_integer((json_int_t)number);
	}
	return NULL;
}

int json_write_fields(json_t *json, const void *object, const struct json_field *fields)
{
	int rc = 0;

	for (const struct json_field *field = fields; field->key != NULL; field++) {
		if (get_number(object, field) != field->absent)
			rc |= json_object_set_new(json, field->key, field_value(object, field));
	}
	return rc;
}

// --- reading ----------------------------------------------------------------------------------

int json_refuse(const struct json_place *place, const char *key, const char *what)
{
	if (place->list == NULL)
		fprintf(place->errors, "%s: %s\n", key, what);
	else
		fprintf(place->errors, "%s[%zu].%s: %s\n", place->list, place->index, key, what);
	return -EINVAL;
}

static int read_text_field(void *object, const struct json_field *field, const char *text,
			   const struct json_place *place)
{
	uint64_t number;
	char *end;

	if (field->kind == FIELD_PREFIX) {
		void *prefix = (uint8_t *)object + field->offset;

		return ip_prefix_parse(text, prefix) ?
			       0 :
			       json_refuse(place, field->key, "not an address");
	}
	if (field->kind == FIELD_MAC) {
		if (!mac_parse(text, &number))
			return json_refuse(place, field->key, "not a MAC address");
		set_number(object, field, number);
		return 0;
	}
	errno = 0;
	number = strtoull(text, &end, 16);
	if (errno != 0 || end == text || *end != '\0')
		return json_refuse(place, field->key, "not a GUID in hexadecimal");
	set_number(object, field, number);
	return 0;
}

static int read_field(void *object, const struct json_field *field, const json_t *value,
		      const struct json_place *place)
{
	const json_int_t number = json_integer_value(value);

	switch (field->kind) {
	case FIELD_GUID:
	case FIELD_MAC:
	case FIELD_PREFIX:
		if (!json_is_string(value))
			return json_refuse(place, field->key, "a text is wanted");
		return read_text_field(object, field, json_string_value(value), place);
	case FIELD_BOOL:
		if (!json_is_boolean(value))
			return json_refuse(place, field->key, "true or false is wanted");
		set_number(object, field, json_is_true(value));
		return 0;
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		if (!json_is_integer(value) || number < 0 ||
		    (uint64_t)number > number_max(field->kind))
			return json_refuse(place, field->key, "a whole number in range is wanted");
		set_number(object, field, (uint64_t)number);
		return 0;
	}
	return 0;
}

static const struct json_field *find_field(const struct json_field *fields, const char *key)
{
	const struct json_field *field = fields;

	while (field->key != NULL && strcmp(field->key, key) != 0)
		field++;
	return field->key != NULL ? field : NULL;
}

int json_read_fields(void *object, const struct json_field *fields, const char *const *others,
		     const json_t *json, const struct json_place *place)
{
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach((json_t *)json, key, value) {
		const struct json_field *field = find_field(fields, key);
		const char *const *other = others;

		while (*other != NULL && strcmp(*other, key) != 0)
			other++;
		if (field != NULL)
			rc = read_field(object, field, value, place);
		else if (*other == NULL)
			rc = json_refuse(place, key, "there is no such key");
		if (rc != 0)
			return rc;
	}
	return 0;
}
