// SPDX-License-Identifier: BSD-3-Clause
//
// Fields of a fabric's objects that are plain values, and their keys in JSON. Reading and writing
// go by the same tables, so that neither can forget one. Internal to fabric_json_*.c.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "fabricmgr/core/fabric.h"

enum field_kind {
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_U64,
	FIELD_BOOL,
	FIELD_GUID, // in hexadecimal
	FIELD_MAC,
	FIELD_PREFIX,
};

// A number that is `absent` is not written, and is what a key that is not there means.
struct json_field {
	const char *key;
	enum field_kind kind;
	size_t offset;
	uint64_t absent;
};

// Tables end with a row without a key.
extern const struct json_field json_switch_fields[];
extern const struct json_field json_cable_fields[];
extern const struct json_field json_host_fields[];
extern const struct json_field json_host_port_fields[];

extern const char *const json_fabric_kinds[FABRIC_HYBRID + 1];

// Where reading is: the third of "switches", or with `list` NULL at the top, for messages.
struct json_place {
	const char *list;
	size_t index;
	FILE *errors;
};

// Says what is wrong with a key; -EINVAL.
int json_refuse(const struct json_place *place, const char *key, const char *what);

// Fields that are not absent, into an object. 0, or -1: memory is short.
int json_write_fields(json_t *json, const void *object, const struct json_field *fields);

// The keys of a table; keys of `others`, ended by NULL, are read elsewhere, and any further one is
// refused. 0, or -EINVAL.
int json_read_fields(void *object, const struct json_field *fields, const char *const *others,
		     const json_t *json, const struct json_place *place);
