// SPDX-License-Identifier: BSD-3-Clause
//
// Marshalling by tables of fields. event2/tag.h reads and writes headers and integers; what follows
// a header is taken here, since the readers there take memory for any length that they are told.

#include "sys/rpc_message.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/tag.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 4 };

static void *value_of(const struct rpc_field *field, void *message)
{
	return (uint8_t *)message + field->value_at;
}

static bool *has_of(const struct rpc_field *field, void *message)
{
	return (bool *)((uint8_t *)message + field->has_at);
}

static uint32_t *count_of(const struct rpc_field *field, void *message)
{
	return (uint32_t *)(void *)((uint8_t *)message + field->has_at);
}

// How many values there are, and where.
static uint32_t values_of(const struct rpc_field *field, const void *message, const uint8_t **first)
{
	const uint8_t *at = (const uint8_t *)message + field->value_at;
	const uint8_t *has = (const uint8_t *)message + field->has_at;
	uint32_t count;

	*first = at;
	if (!field->is_array)
		return *(const bool *)has;
	memcpy(&count, has, sizeof(count));
	memcpy(first, at, sizeof(*first));
	return count;
}

static void clear_value(const struct rpc_field *field, void *value)
{
	switch (field->type) {
	case RPC_STRING: free(*(char **)value); break;
	case RPC_BYTES: free(((struct rpc_bytes *)value)->data); break;
	case RPC_STRUCT: rpc_message_clear(field->of, value); break;
	case RPC_INT:
	case RPC_INT64:
	case RPC_FIXED: break;
	}
}

void rpc_message_clear(const struct rpc_message *type, void *message)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rpc_field *field = &type->field[i];
		const uint8_t *first;
		const uint32_t count = values_of(field, message, &first);

		for (uint32_t n = 0; n < count; n++)
			clear_value(field, (uint8_t *)(uintptr_t)first + n * field->size);
		if (field->is_array)
			free(*(void **)value_of(field, message));
	}
	memset(message, 0, type->size);
}

void *rpc_message_new(const struct rpc_message *type)
{
	return calloc(1, type->size);
}

void rpc_message_free(const struct rpc_message *type, void *message)
{
	if (message == NULL)
		return;
	rpc_message_clear(type, message);
	free(message);
}

static bool is_complete(const struct rpc_field *field, const void *message)
{
	const uint8_t *first;
	const uint32_t count = values_of(field, message, &first);

	if (count == 0)
		return field->is_array || field->is_optional;
	for (uint32_t n = 0; n < count && field->type == RPC_STRUCT; n++) {
		if (rpc_message_complete(field->of, first + n * field->size) != 0)
			return false;
	}
	return true;
}

int rpc_message_complete(const struct rpc_message *type, const void *message)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (!is_complete(&type->field[i], message))
			return -1;
	}
	return 0;
}

static void marshal_struct(const struct rpc_field *field, const void *value, struct evbuffer *out)
{
	struct evbuffer *inner = evbuffer_new();

	if (inner == NULL)
		return;
	rpc_message_marshal(field->of, value, inner);
	evtag_marshal_buffer(out, field->tag, inner);
	evbuffer_free(inner);
}

static void marshal_value(const struct rpc_field *field, const void *value, struct evbuffer *out)
{
	const struct rpc_bytes *bytes = value;

	switch (field->type) {
	case RPC_INT: evtag_marshal_int(out, field->tag, *(const uint32_t *)value); break;
	case RPC_INT64: evtag_marshal_int64(out, field->tag, *(const uint64_t *)value); break;
	case RPC_STRING: evtag_marshal_string(out, field->tag, *(char *const *)value); break;
	case RPC_BYTES: evtag_marshal(out, field->tag, bytes->data, bytes->size); break;
	case RPC_FIXED: evtag_marshal(out, field->tag, value, (uint32_t)field->size); break;
	case RPC_STRUCT: marshal_struct(field, value, out); break;
	}
}

void rpc_message_marshal(const struct rpc_message *type, const void *message, struct evbuffer *out)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rpc_field *field = &type->field[i];
		const uint8_t *first;
		const uint32_t count = values_of(field, message, &first);

		for (uint32_t n = 0; n < count; n++)
			marshal_value(field, first + n * field->size, out);
	}
}

// Payload of a tag into memory of its own, with a 0 byte behind it. NULL: not all there, or no
// memory.
static uint8_t *take_payload(struct evbuffer *in, uint32_t size)
{
	uint32_t tag;
	uint8_t *data;

	if (evtag_unmarshal_header(in, &tag) != (int)size || evbuffer_get_length(in) < size)
		return NULL;
	data = calloc(1, (size_t)size + 1);
	if (data != NULL && evbuffer_remove(in, data, size) != (int)size) {
		free(data);
		return NULL;
	}
	return data;
}

static int get_string(struct evbuffer *in, uint32_t size, char **text)
{
	*text = (char *)take_payload(in, size);
	return *text != NULL && strlen(*text) == size ? 0 : -1;
}

static int get_bytes(struct evbuffer *in, uint32_t size, struct rpc_bytes *bytes)
{
	bytes->data = take_payload(in, size);
	bytes->size = size;
	return bytes->data != NULL ? 0 : -1;
}

static int get_struct(const struct rpc_field *field, struct evbuffer *in, uint32_t size,
		      void *value)
{
	struct evbuffer *inner = evbuffer_new();
	uint32_t tag;
	int rc = -1;

	if (inner != NULL && evtag_unmarshal_header(in, &tag) == (int)size &&
	    evbuffer_remove_buffer(in, inner, size) == (int)size)
		rc = rpc_message_unmarshal(field->of, value, inner);
	if (inner != NULL)
		evbuffer_free(inner);
	return rc;
}

static int get_value(const struct rpc_field *field, struct evbuffer *in, uint32_t size, void *value)
{
	int used;

	switch (field->type) {
	case RPC_INT:
		used = evtag_unmarshal_int(in, field->tag, value);
		return used == (int)size ? 0 : -1;
	case RPC_INT64:
		used = evtag_unmarshal_int64(in, field->tag, value);
		return used == (int)size ? 0 : -1;
	case RPC_STRING: return get_string(in, size, value);
	case RPC_BYTES: return get_bytes(in, size, value);
	case RPC_FIXED: return evtag_unmarshal_fixed(in, field->tag, value, field->size);
	case RPC_STRUCT: return get_struct(field, in, size, value);
	}
	return -1;
}

static const struct rpc_field *find_field(const struct rpc_message *type, uint32_t tag)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		if (type->field[i].tag == tag)
			return &type->field[i];
	}
	return NULL;
}

static int get_field(const struct rpc_field *field, struct evbuffer *in, uint32_t size,
		     void *message)
{
	void *value;

	if (size > field->size_max || (field->type == RPC_FIXED && size != field->size))
		return -1;
	if (field->is_array) {
		value = rpc_add(field, message);
		return value == NULL ? -1 : get_value(field, in, size, value);
	}
	if (*has_of(field, message))
		return -1;
	*has_of(field, message) = true;
	return get_value(field, in, size, value_of(field, message));
}

// One tag and what it holds; a tag that is skipped has to be there whole as well.
static int get_tag(const struct rpc_message *type, void *message, struct evbuffer *in)
{
	const struct rpc_field *field;
	uint32_t tag, size, whole;

	if (evtag_peek(in, &tag) < 0 || evtag_payload_length(in, &size) < 0 ||
	    size > evbuffer_get_length(in) || evtag_peek_length(in, &whole) < 0 ||
	    whole > evbuffer_get_length(in))
		return -1;
	field = find_field(type, tag);
	if (field != NULL)
		return get_field(field, in, size, message);
	return tag < RPC_TAG_OPTIONAL ? -1 : evbuffer_drain(in, whole);
}

int rpc_message_unmarshal(const struct rpc_message *type, void *message, struct evbuffer *in)
{
	int rc = evbuffer_get_length(in) > type->size_max ? -1 : 0;

	rpc_message_clear(type, message);
	while (rc == 0 && evbuffer_get_length(in) > 0)
		rc = get_tag(type, message, in);
	if (rc == 0)
		rc = rpc_message_complete(type, message);
	if (rc != 0)
		rpc_message_clear(type, message);
	return rc == 0 ? 0 : -1;
}

int rpc_set_string(const struct rpc_field *field, void *message, const char *text)
{
	char **value = value_of(field, message);
	char *copy;

	if (strlen(text) > field->size_max)
		return -EMSGSIZE;
	copy = strdup(text);
	if (copy == NULL)
		return -ENOMEM;
	free(*value);
	*value = copy;
	*has_of(field, message) = true;
	return 0;
}

int rpc_set_bytes(const struct rpc_field *field, void *message, const void *data, size_t size)
{
	struct rpc_bytes *value = value_of(field, message);
	uint8_t *copy;

	if (size > field->size_max)
		return -EMSGSIZE;
	copy = malloc(size + 1);
	if (copy == NULL)
		return -ENOMEM;
	if (size != 0)
		memcpy(copy, data, size);
	free(value->data);
	*value = (struct rpc_bytes){ .data = copy, .size = (uint32_t)size };
	*has_of(field, message) = true;
	return 0;
}

void *rpc_add(const struct rpc_field *field, void *message)
{
	uint8_t **first = value_of(field, message);
	uint32_t *count = count_of(field, message);
	uint8_t *element;

	if (*count >= field->count_max)
		return NULL;
	// Full at every power of two.
	if (*count == 0 || (*count >= ARRAY_FIRST && (*count & (*count - 1)) == 0)) {
		const size_t room = *count == 0 ? ARRAY_FIRST : 2 * (size_t)*count;
		uint8_t *larger = realloc(*first, room * field->size);

		if (larger == NULL)
			return NULL;
		*first = larger;
	}
	element = *first + *count * field->size;
	memset(element, 0, field->size);
	++*count;
	return element;
}
