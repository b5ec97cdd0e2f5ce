// SPDX-License-Identifier: BSD-3-Clause
//
// What a person reads about a fabric port: one row for each state and each way in which two ends
// can differ, from either side. The sentences are the interface: scripts and the documentation
// quote them.

#include "dataplane/hello_words.h"

#include "tests/table.h"

static const struct {
	const char *what;
	struct hello_peer peer;
	const char *words;
} rows[] = {
	{ "all is well", { .status = HELLO_UP, .usable = true }, "" },
	{ "nothing heard, nothing asked for", { .status = HELLO_UNHEARD, .usable = true }, "" },
	{ "waits", { .status = HELLO_UNHEARD }, "not used: waits for hellos both ways" },
	{ "silence wins over lanes",
	  { .status = HELLO_SILENT, .mismatch = HELLO_LANE_TAG },
	  "not used: no hello from the peer any more" },
	{ "deaf", { .status = HELLO_DEAF }, "not used: the peer does not hear our hellos" },
	{ "one lane",
	  { .status = HELLO_UP, .mismatch = HELLO_LANE_COUNT, .have = 2, .want = 1 },
	  "no lossless traffic: peer has 1 lane, we have 2" },
	{ "two lanes",
	  { .status = HELLO_UP, .mismatch = HELLO_LANE_COUNT, .have = 1, .want = 2 },
	  "no lossless traffic: peer has 2 lanes, we have 1" },
	{ "tags",
	  { .status = HELLO_UP, .mismatch = HELLO_LANE_TAG, .have = 1 },
	  "no lossless traffic: lane_tag is off at the peer, on here" },
	{ "priority",
	  { .status = HELLO_UP, .mismatch = HELLO_LANE_PRIORITY, .at = 1, .have = 4, .want = 5 },
	  "no lossless traffic: lane 1 is priority 5 at the peer, 4 here" },
	{ "PFC",
	  { .status = HELLO_UP, .mismatch = HELLO_PFC_SENT, .have = 0x58, .want = 0 },
	  "no lossless traffic: PFC is on for priorities none at the peer, 3-4,6 here" },
	{ "it ignores",
	  { .status = HELLO_UP, .mismatch = HELLO_PFC_OBEYED, .want = 0x10 },
	  "no lossless traffic: the peer does not obey PFC of priorities 4" },
	{ "we ignore",
	  { .status = HELLO_UP, .mismatch = HELLO_PFC_OBEYED, .have = 0xff },
	  "no lossless traffic: we do not obey the peer's PFC of priorities 0-7" },
};

TABLE_TEST(hello_words, words, row, rows)
{
	char out[HELLO_WORDS_BYTES];

	hello_words(&row->peer, out);
	cr_assert_str_eq(out, row->words, "%s: %s", row->what, out);
}
