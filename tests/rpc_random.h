// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of any schema at random, by their tables of fields, and their bytes. Strings and bytes
// are of any length up to a few dozen, arrays of a few elements, each optional field is there or
// not, and numbers have any count of bits.
#pragma once

#include <criterion/criterion.h>
#include <event2/buffer.h>
#include <string.h>

#include "base/rng.h"
#include "sys/rpc_message.h"

enum { RPC_RANDOM_BYTES = 40, RPC_RANDOM_COUNT = 9 };

static void rpc_random(struct rng *rng, const struct rpc_message *type, void *message);

static void rpc_random_bytes(struct rng *rng, const struct rpc_field *field, void *message)
{
	uint8_t data[RPC_RANDOM_BYTES + 1];
	const uint32_t most = field->size_max < RPC_RANDOM_BYTES ? field->size_max :
								   (uint32_t)RPC_RANDOM_BYTES;
	const uint32_t size = rng_below(rng, most + 1);

	for (uint32_t i = 0; i < size; i++)
		data[i] = (uint8_t)(1 + rng_below(rng, 255));
	data[size] = 0;
	if (field->type == RPC_STRING)
		cr_assert_eq(rpc_set_string(field, message, (const char *)data), 0);
	else
		cr_assert_eq(rpc_set_bytes(field, message, data, size), 0);
}

// A number of any length.
static uint64_t rpc_random_number(struct rng *rng)
{
	return rng_next64(rng) >> rng_below(rng, 64);
}

static void rpc_random_value(struct rng *rng, const struct rpc_field *field, void *message,
			     void *value)
{
	uint8_t *byte = value;

	switch (field->type) {
	case RPC_INT: *(uint32_t *)value = (uint32_t)rpc_random_number(rng); break;
	case RPC_INT64: *(uint64_t *)value = rpc_random_number(rng); break;
	case RPC_STRING:
	case RPC_BYTES: rpc_random_bytes(rng, field, message); break;
	case RPC_FIXED:
		for (size_t i = 0; i < field->size; i++)
			byte[i] = (uint8_t)rng_next32(rng);
		break;
	case RPC_STRUCT: rpc_random(rng, field->of, value); break;
	}
}

// Fills an empty message.
static void rpc_random(struct rng *rng, const struct rpc_message *type, void *message)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rpc_field *field = &type->field[i];
		const uint32_t most = field->count_max < RPC_RANDOM_COUNT ?
					      field->count_max :
					      (uint32_t)RPC_RANDOM_COUNT;
		const uint32_t count = field->is_array ? rng_below(rng, most + 1) : 0;

		for (uint32_t n = 0; n < count; n++)
			rpc_random_value(rng, field, message, rpc_add(field, message));
		if (field->is_array || (field->is_optional && rng_below(rng, 2) == 0))
			continue;
		rpc_random_value(rng, field, message, (uint8_t *)message + field->value_at);
		*(bool *)((uint8_t *)message + field->has_at) = true;
	}
}

static inline struct evbuffer *rpc_bytes_of(const struct rpc_message *type, const void *message)
{
	struct evbuffer *bytes = evbuffer_new();

	cr_assert_not_null(bytes);
	cr_assert_eq(rpc_message_complete(type, message), 0);
	rpc_message_marshal(type, message, bytes);
	return bytes;
}

// A buffer with these bytes.
static inline struct evbuffer *rpc_buffer(const void *data, size_t size)
{
	struct evbuffer *bytes = evbuffer_new();

	cr_assert_not_null(bytes);
	cr_assert_eq(evbuffer_add(bytes, data, size), 0);
	return bytes;
}

static inline bool rpc_same_bytes(struct evbuffer *a, struct evbuffer *b)
{
	const size_t size = evbuffer_get_length(a);

	return size == evbuffer_get_length(b) &&
	       (size == 0 || memcmp(evbuffer_pullup(a, -1), evbuffer_pullup(b, -1), size) == 0);
}
