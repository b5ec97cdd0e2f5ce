// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of libevent's RPC: devtools/rpcgen.py turns an .rpc file into plain structs and tables
// of their fields, and this file marshals them by table, as tags of event2/tag.h. So there is one
// decoder, and it is bounded: it takes no memory before a length has been held against the limit of
// the schema and against the bytes that are there.
//
// In a struct, NAME is the value and has_NAME says that it is there; an array has NAME and
// NAME_count. Strings, bytes and arrays belong to the message. Generated are T_new_with_arg,
// T_free, T_clear, T_complete, T_marshal and T_unmarshal, as EVRPC_GENERATE and EVRPC_REGISTER
// expect, and T_set_NAME and T_add_NAME for what is allocated.
#pragma once

#include <stddef.h>

#include "base/types.h"

struct evbuffer;

// Who meets an unknown tag below this refuses the message; others are skipped.
enum { RPC_TAG_OPTIONAL = 64 };

enum rpc_type {
	RPC_INT,    // uint32_t
	RPC_INT64,  // uint64_t
	RPC_STRING, // char *, without a 0 byte inside
	RPC_BYTES,  // struct rpc_bytes
	RPC_FIXED,  // uint8_t[]
	RPC_STRUCT, // the struct itself
};

struct rpc_bytes {
	uint8_t *data;
	uint32_t size;
};

struct rpc_message;

struct rpc_field {
	uint32_t tag;
	enum rpc_type type;
	bool is_array;
	bool is_optional;
	uint32_t size_max;  // bytes on the wire; of each element
	uint32_t count_max; // of an array
	size_t size;        // of the value in memory, or of an element
	size_t value_at;
	size_t has_at; // of bool has_NAME, or of uint32_t NAME_count
	const struct rpc_message *of;
};

struct rpc_message {
	size_t size; // of the struct
	uint32_t size_max;
	uint32_t field_count;
	const struct rpc_field *field; // by rising tag
};

// Zeroed, NULL: no memory.
void *rpc_message_new(const struct rpc_message *type);
void rpc_message_free(const struct rpc_message *type, void *message);
void rpc_message_clear(const struct rpc_message *type, void *message);

// Whether everything that is not optional is there: 0, else -1.
int rpc_message_complete(const struct rpc_message *type, const void *message);

// Appends a complete message. It may be longer in all than its limit: the other end refuses it.
void rpc_message_marshal(const struct rpc_message *type, const void *message, struct evbuffer *out);

// Replaces the message by what all of `in` says. 0, or -1: cut short, over a limit, a field twice
// or missing, a tag that must be understood and is not, or no memory; the message is empty then.
int rpc_message_unmarshal(const struct rpc_message *type, void *message, struct evbuffer *in);

// Setters behind the generated ones. 0, -EMSGSIZE or -ENOMEM, and the message is as it was.
int rpc_set_string(const struct rpc_field *field, void *message, const char *text);
int rpc_set_bytes(const struct rpc_field *field, void *message, const void *data, size_t size);

// A zeroed element more, NULL: too many, or no memory. Moves the array.
void *rpc_add(const struct rpc_field *field, void *message);
