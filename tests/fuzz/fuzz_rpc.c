// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the fabric's messages. The first byte chooses one, the others are it.
//
// Checked: what is read is complete, and what it writes reads back and writes the same again.

#include <event2/buffer.h>
#include <string.h>

#include "base/check.h"
#include "schema/fabric.gen.h"
#include "tests/fuzz/fuzz.h"

static const struct rpc_message *const types[] = {
	&rpc_hello_message,       &rpc_hello_reply_message,  &rpc_fetch_message,
	&rpc_fetch_reply_message, &rpc_ack_message,          &rpc_ack_reply_message,
	&rpc_report_message,      &rpc_report_reply_message, &rpc_enrol_message,
	&rpc_enrol_reply_message,
};

enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

static struct evbuffer *write_out(const struct rpc_message *type, const void *message)
{
	struct evbuffer *bytes = evbuffer_new();

	WEFT_CHECK(bytes != NULL && rpc_message_complete(type, message) == 0);
	rpc_message_marshal(type, message, bytes);
	return bytes;
}

static void check_again(const struct rpc_message *type, const void *message)
{
	void *other = rpc_message_new(type);
	struct evbuffer *bytes = write_out(type, message);
	struct evbuffer *copy = write_out(type, message);
	struct evbuffer *again;
	const size_t size = evbuffer_get_length(bytes);

	WEFT_CHECK(other != NULL && rpc_message_unmarshal(type, other, copy) == 0);
	again = write_out(type, other);
	WEFT_CHECK(evbuffer_get_length(again) == size);
	WEFT_CHECK(memcmp(evbuffer_pullup(again, -1), evbuffer_pullup(bytes, -1), size) == 0);
	evbuffer_free(again);
	evbuffer_free(copy);
	evbuffer_free(bytes);
	rpc_message_free(type, other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rpc_message *type = types[size == 0 ? 0 : data[0] % TYPE_COUNT];
	void *message = rpc_message_new(type);
	struct evbuffer *in = evbuffer_new();

	WEFT_CHECK(message != NULL && in != NULL);
	if (size > 1)
		evbuffer_add(in, data + 1, size - 1);
	if (rpc_message_unmarshal(type, message, in) == 0)
		check_again(type, message);
	evbuffer_free(in);
	rpc_message_free(type, message);
	return 0;
}
