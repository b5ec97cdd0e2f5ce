// SPDX-License-Identifier: BSD-3-Clause
//
// Programs of different age: messages of schema/fabric.rpc as they were
// (tests/data/rpc/fabric-1.rpc) and as they are, at random, in both directions.

#include "schema/fabric.gen.h"

#include "tests/data/rpc/fabric-1.gen.h"
#include "tests/rpc_random.h"
#include "tests/table.h"

#define PAIR(name)                                                                                 \
	{                                                                                          \
#		name, &was_rpc_##name##_message, &rpc_##name##_message                            \
	}

static const struct {
	const char *what;
	const struct rpc_message *was;
	const struct rpc_message *is;
} pairs[] = {
	PAIR(generation),  PAIR(hello), PAIR(hello_reply), PAIR(fetch),  PAIR(table),
	PAIR(fetch_reply), PAIR(ack),   PAIR(ack_reply),   PAIR(report), PAIR(report_reply),
};

enum { ROUNDS = 50 };

// What `from` says, as `to` understands and repeats it.
static struct evbuffer *through(const struct rpc_message *to, struct evbuffer *bytes)
{
	void *message = rpc_message_new(to);
	struct evbuffer *again;

	cr_assert_eq(rpc_message_unmarshal(to, message, bytes), 0);
	again = rpc_bytes_of(to, message);
	rpc_message_free(to, message);
	return again;
}

static struct evbuffer *say(struct rng *rng, const struct rpc_message *type)
{
	void *message = rpc_message_new(type);
	struct evbuffer *bytes;

	rpc_random(rng, type, message);
	bytes = rpc_bytes_of(type, message);
	rpc_message_free(type, message);
	return bytes;
}

TABLE_TEST(rpc_versions, old_to_new, row, pairs)
{
	struct rng rng;

	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct evbuffer *said = say(&rng, row->was);
		struct evbuffer *want = rpc_buffer(evbuffer_pullup(said, -1),
						   evbuffer_get_length(said));
		struct evbuffer *got = through(row->is, said);

		cr_assert(rpc_same_bytes(got, want), "%s", row->what);
		evbuffer_free(said);
		evbuffer_free(want);
		evbuffer_free(got);
	}
}

// What the old one does not know it leaves out; what is left is a message of the new one.
TABLE_TEST(rpc_versions, new_to_old, row, pairs)
{
	struct rng rng;

	rng_seed(&rng, 2);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct evbuffer *said = say(&rng, row->is);
		const size_t size = evbuffer_get_length(said);
		struct evbuffer *old = through(row->was, said);
		struct evbuffer *back;

		cr_assert_leq(evbuffer_get_length(old), size);
		back = through(row->is, old);
		evbuffer_free(said);
		evbuffer_free(old);
		evbuffer_free(back);
	}
}

Test(rpc_versions, a_field_that_came_later_is_skipped)
{
	struct rpc_hello hello = { 0 };
	struct was_rpc_hello was = { 0 };
	struct evbuffer *bytes;

	hello.has_oldest_version = hello.has_newest_version = hello.has_table_version = true;
	hello.has_boot = hello.has_epoch = true;
	hello.boot = 77;
	cr_assert_eq(rpc_hello_set_name(&hello, "leaf1"), 0);
	cr_assert_eq(rpc_hello_set_software(&hello, "weft 9"), 0);
	bytes = rpc_bytes_of(&rpc_hello_message, &hello);
	cr_assert_eq(was_rpc_hello_unmarshal(&was, bytes), 0);
	cr_assert_str_eq(was.name, "leaf1");
	cr_assert_eq(was.boot, 77);
	evbuffer_free(bytes);
	rpc_hello_clear(&hello);
	was_rpc_hello_clear(&was);
}
