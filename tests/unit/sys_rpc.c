// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of tests/data/rpc/kinds.rpc on the wire. A tag is 7 bits a byte; a length, like a
// number, is nibbles, the first of which counts those behind it less one, the least significant
// first (event_tagging.c of libevent).

#include "sys/rpc_message.h"

#include <errno.h>
#include <event2/tag.h>
#include <stdlib.h>

#include "tests/data/rpc/kinds.gen.h"
#include "tests/rpc_random.h"
#include "tests/table.h"

Test(rpc, bytes_of_a_message)
{
	static const uint8_t want[] = { 1, 3, 0x34, 0x32, 0x10, 2, 2, 'a', 'b' };
	struct kinds_leaf *leaf = kinds_leaf_new_with_arg(NULL);
	struct evbuffer *bytes = evbuffer_new();

	leaf->number = 0x1234;
	cr_assert_eq(kinds_leaf_complete(leaf), -1, "nothing is there yet");
	leaf->has_number = true;
	cr_assert_eq(kinds_leaf_complete(leaf), 0);
	cr_assert_eq(kinds_leaf_set_word(leaf, "abcdef"), -EMSGSIZE);
	cr_assert_eq(kinds_leaf_set_word(leaf, "abcde"), 0);
	cr_assert_eq(kinds_leaf_set_word(leaf, "ab"), 0);
	kinds_leaf_marshal(bytes, leaf);
	cr_assert_eq(evbuffer_get_length(bytes), sizeof(want));
	cr_assert_arr_eq(evbuffer_pullup(bytes, -1), want, sizeof(want));
	evbuffer_free(bytes);
	kinds_leaf_free(leaf);
}

static const struct {
	const char *what;
	uint8_t bytes[80];
	uint32_t size;
	int want;
} leaves[] = {
	{ "all there", { 1, 1, 5, 2, 2, 'a', 'b' }, 7, 0 },
	{ "without what is optional", { 1, 1, 5 }, 3, 0 },
	{ "in another order", { 2, 2, 'a', 'b', 1, 1, 5 }, 7, 0 },
	{ "nothing", { 0 }, 0, -1 },
	{ "without what must be there", { 2, 2, 'a', 'b' }, 4, -1 },
	{ "twice", { 1, 1, 5, 1, 1, 5 }, 6, -1 },
	{ "the longest string", { 1, 1, 5, 2, 5, 'a', 'b', 'c', 'd', 'e' }, 10, 0 },
	{ "one longer", { 1, 1, 5, 2, 6, 'a', 'b', 'c', 'd', 'e', 'f' }, 11, -1 },
	{ "an empty string", { 1, 1, 5, 2, 0 }, 5, 0 },
	{ "a string with an end inside", { 1, 1, 5, 2, 2, 'a', 0 }, 7, -1 },
	{ "a string that is cut", { 1, 1, 5, 2, 3, 'a', 'b' }, 7, -1 },
	{ "the largest number", { 1, 5, 0x7f, 0xff, 0xff, 0xff, 0xf0 }, 7, 0 },
	{ "a number of nine nibbles", { 1, 5, 0x8f, 0xff, 0xff, 0xff, 0xff }, 7, -1 },
	{ "a number in too many bytes", { 1, 6, 5, 0, 0, 0, 0, 0 }, 8, -1 },
	{ "a number with a byte behind it", { 1, 2, 5, 0 }, 4, -1 },
	{ "a number in no bytes", { 1, 0 }, 2, -1 },
	{ "a tag that must be understood", { 1, 1, 5, 63, 1, 0 }, 6, -1 },
	{ "tag 0", { 1, 1, 5, 0, 1, 0 }, 6, -1 },
	{ "a tag that may be skipped", { 1, 1, 5, 64, 2, 0, 0 }, 7, 0 },
	{ "a long one", { 1, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0 }, 10, 0 },
	{ "a longer one than there is", { 1, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x1f, 1, 0 }, 10, -1 },
	{ "a skipped one that is cut", { 1, 1, 5, 64, 3, 0, 0 }, 7, -1 },
	{ "a length beyond everything", { 1, 1, 5, 64, 0x7f, 0xff, 0xff, 0xff, 0xf0 }, 9, -1 },
	{ "as long as a message may be", { 1, 1, 5, 64, 0x1a, 0x30 }, 64, 0 },
	{ "one byte longer", { 1, 1, 5, 64, 0x1b, 0x30 }, 65, -1 },
};

TABLE_TEST(rpc, reads, row, leaves)
{
	struct evbuffer *bytes = rpc_buffer(row->bytes, row->size);
	struct kinds_leaf leaf = { 0 };

	cr_assert_eq(kinds_leaf_unmarshal(&leaf, bytes), row->want, "%s", row->what);
	cr_assert_eq(leaf.has_number, row->want == 0);
	kinds_leaf_clear(&leaf);
	evbuffer_free(bytes);
}

// A message with everything, as long as its limits let it.
static void fill(struct kinds *kinds)
{
	kinds->has_number = kinds->has_large = kinds->has_address = kinds->has_maybe = true;
	kinds->has_leaf = kinds->has_pair = kinds->has_other = kinds->has_later = true;
	kinds->leaf = (struct kinds_leaf){ .number = 7, .has_number = true };
	kinds->other = (struct kinds_leaf){ .number = 8, .has_number = true };
	cr_assert_eq(kinds_set_word(kinds, "12345678"), 0);
	cr_assert_eq(kinds_set_blob(kinds, "\0\1\2\3\4\5", 6), 0);
	for (uint32_t i = 0; i < 3; i++)
		*kinds_add_numbers(kinds) = i;
	for (uint32_t i = 0; i < 2; i++)
		*kinds_add_larges(kinds) = UINT64_MAX - i;
	for (uint32_t i = 0; i < 4; i++)
		*kinds_add_leaves(kinds) = (struct kinds_leaf){ .number = i, .has_number = true };
}

Test(rpc, every_kind)
{
	struct kinds kinds = { 0 };
	struct kinds got = { 0 };
	struct evbuffer *bytes;

	fill(&kinds);
	cr_assert_null(kinds_add_numbers(&kinds));
	cr_assert_null(kinds_add_larges(&kinds));
	cr_assert_null(kinds_add_leaves(&kinds));
	cr_assert_eq(kinds_set_blob(&kinds, "1234567", 7), -EMSGSIZE);
	bytes = rpc_bytes_of(&kinds_message, &kinds);
	cr_assert_eq(kinds_unmarshal(&got, bytes), 0);
	cr_assert_str_eq(got.word, "12345678");
	cr_assert_eq(got.blob.size, 6);
	cr_assert_arr_eq(got.blob.data, "\0\1\2\3\4\5", 6);
	cr_assert_eq(got.other.number, 8);
	cr_assert_eq(got.numbers_count, 3);
	cr_assert_eq(got.larges[1], UINT64_MAX - 1);
	cr_assert_eq(got.leaves_count, 4);
	cr_assert_eq(got.leaves[3].number, 3);
	evbuffer_free(bytes);
	kinds_clear(&kinds);
	kinds_clear(&got);
}

// What is one more than a full message may have.
static const struct {
	const char *what;
	uint8_t bytes[16];
	uint32_t size;
} more[] = {
	{ "a number", { 10, 1, 0 }, 3 },
	{ "a large number", { 11, 1, 0 }, 3 },
	{ "a struct in an array", { 12, 3, 1, 1, 0 }, 5 },
	{ "a second struct", { 6, 3, 1, 1, 0 }, 5 },
	{ "a second string", { 3, 1, 'a' }, 3 },
};

TABLE_TEST(rpc, full, row, more)
{
	struct kinds kinds = { 0 };
	struct kinds got = { 0 };
	struct evbuffer *bytes;

	fill(&kinds);
	bytes = rpc_bytes_of(&kinds_message, &kinds);
	evbuffer_add(bytes, row->bytes, row->size);
	cr_assert_eq(kinds_unmarshal(&got, bytes), -1, "%s", row->what);
	evbuffer_free(bytes);
	kinds_clear(&kinds);
}

// Fields of a size of their own, and structs that are not whole.
static const struct {
	const char *what;
	uint32_t tag;
	const char *payload;
	uint32_t size;
	int want;
} replaced[] = {
	{ "as it must be", 5, "1234", 4, 0 },
	{ "fixed bytes too short", 5, "123", 3, -1 },
	{ "fixed bytes too long", 5, "12345", 5, -1 },
	{ "a struct without what must be there", 6, "\2\1a", 3, -1 },
	{ "an empty struct", 6, "", 0, -1 },
	{ "a struct that is cut", 6, "\1\3\5", 3, -1 },
};

TABLE_TEST(rpc, parts, row, replaced)
{
	struct evbuffer *bytes = evbuffer_new();
	struct kinds got = { 0 };

	evtag_marshal_int(bytes, 1, 1);
	evtag_marshal_int64(bytes, 2, 1);
	evtag_marshal_string(bytes, 3, "");
	evtag_marshal(bytes, 4, "", 0);
	if (row->tag != 5)
		evtag_marshal(bytes, 5, "1234", 4);
	if (row->tag != 6)
		evtag_marshal(bytes, 6, "\1\1\5", 3);
	evtag_marshal(bytes, row->tag, row->payload, row->size);
	cr_assert_eq(kinds_unmarshal(&got, bytes), row->want, "%s", row->what);
	kinds_clear(&got);
	evbuffer_free(bytes);
}

// Cut anywhere, a message is refused, or it is one that says less.
Test(rpc, cut_short)
{
	struct kinds kinds = { 0 };
	struct evbuffer *whole;
	uint32_t refused = 0;
	size_t size;

	fill(&kinds);
	whole = rpc_bytes_of(&kinds_message, &kinds);
	size = evbuffer_get_length(whole);
	for (size_t length = 0; length < size; length++) {
		struct evbuffer *part = rpc_buffer(evbuffer_pullup(whole, -1), length);
		struct evbuffer *want = rpc_buffer(evbuffer_pullup(whole, -1), length);
		struct kinds got = { 0 };

		if (kinds_unmarshal(&got, part) != 0) {
			refused++;
		} else {
			struct evbuffer *again = rpc_bytes_of(&kinds_message, &got);

			cr_assert(rpc_same_bytes(again, want));
			evbuffer_free(again);
		}
		kinds_clear(&got);
		evbuffer_free(part);
		evbuffer_free(want);
	}
	// Whole are those that end behind tag 6, 7, 8, 9 or one of 9 elements.
	cr_assert_eq(refused, size - 13);
	evbuffer_free(whole);
	kinds_clear(&kinds);
}
