// SPDX-License-Identifier: BSD-3-Clause
//
// What a person reads about two ends that differ: a row for each topic, and for what is no
// difference. The sentences are the interface: scripts and the documentation quote them.

#include "dataplane/dcbx_words.h"

#include "tests/table.h"

#define ETS_OF(...)                                                                                \
	{                                                                                          \
		.present = true, .prio_class = { 0, 1, 2, 3, 4, 5, 6, 7 }, __VA_ARGS__             \
	}
#define PFC_OF(mask)                                                                               \
	{                                                                                          \
		.present = true, .capability = 8, .enable = (mask)                                 \
	}
#define ROCE_OF(prio, select) .has_apps = true, .app_count = 1, .app = { { prio, select, 4791 } }
#define ALL_ETS                                                                                    \
	{                                                                                          \
		2, 2, 2, 2, 2, 2, 2, 2                                                             \
	}

static const struct {
	const char *what;
	struct dcbx ours, theirs;
	uint8_t found;
	enum dcbx_topic topic;
	const char *words; // of that topic
} rows[] = {
	{ "PFC",
	  { .pfc = PFC_OF(0x18) },
	  { .pfc = PFC_OF(0x08) },
	  1 << DCBX_PFC,
	  DCBX_PFC,
	  "peer host enables PFC on 3, this port on 3-4" },
	{ "PFC nowhere",
	  { .pfc = PFC_OF(0x08) },
	  { .pfc = PFC_OF(0) },
	  1 << DCBX_PFC,
	  DCBX_PFC,
	  "peer host enables PFC on none, this port on 3" },
	{ "PFC of a host that the port holds",
	  { .pfc = { .present = true, .capability = 8, .held = true } },
	  { .pfc = PFC_OF(0x08) },
	  0,
	  DCBX_PFC,
	  "peer host enables PFC on 3, this port on none" },
	{ "PFC is not said",
	  { .pfc = PFC_OF(0x08) },
	  { .has_apps = false },
	  0,
	  DCBX_PFC,
	  "peer host enables PFC on -, this port on 3" },
	{ "how many classes could have it does not matter",
	  { .pfc = PFC_OF(0x08) },
	  { .pfc = { .present = true, .willing = true, .capability = 1, .enable = 0x08 } },
	  0,
	  DCBX_PFC,
	  "peer host enables PFC on 3, this port on 3" },
	{ "RoCE",
	  { ROCE_OF(3, DCBX_SELECT_UDP) },
	  { ROCE_OF(0, DCBX_SELECT_PORT) },
	  1 << DCBX_ROCE,
	  DCBX_ROCE,
	  "peer host has RoCE (UDP 4791) on priority 0, this port on 3" },
	{ "the port of TCP is another",
	  { ROCE_OF(3, DCBX_SELECT_UDP) },
	  { ROCE_OF(0, DCBX_SELECT_TCP) },
	  0,
	  DCBX_ROCE,
	  "peer host has RoCE (UDP 4791) on priority -, this port on 3" },
	{ "classes",
	  { .ets = ETS_OF() },
	  { .ets = { .present = true } },
	  1 << DCBX_CLASSES,
	  DCBX_CLASSES,
	  "peer host has priorities in classes 0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0, "
	  "this port in 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7" },
	{ "shares",
	  { .ets = { .present = true,
		     .prio_class = { 0, 0, 0, 3 },
		     .percent = { 50, 0, 0, 50 },
		     .algorithm = ALL_ETS } },
	  { .ets = { .present = true,
		     .prio_class = { 0, 0, 0, 3 },
		     .percent = { 100 },
		     .algorithm = { 2 } } },
	  1 << DCBX_SHARES,
	  DCBX_SHARES,
	  "peer host shares its bandwidth 0:100% 3:strict, this port 0:50% 3:50%" },
	{ "roundings are no difference",
	  { .ets = { .present = true,
		     .percent = { 33, 33, 34 },
		     .prio_class = { 0, 1, 2 },
		     .algorithm = ALL_ETS } },
	  { .ets = { .present = true,
		     .percent = { 34, 33, 33 },
		     .prio_class = { 0, 1, 2 },
		     .algorithm = ALL_ETS } },
	  0,
	  DCBX_SHARES,
	  "peer host shares its bandwidth 0:34% 1:33% 2:33%, this port 0:33% 1:33% 2:34%" },
	{ "classes that nothing is in do not count",
	  { .ets = { .present = true, .percent = { 100 }, .algorithm = { 2, 0, 0 } } },
	  { .ets = { .present = true, .percent = { 100 }, .algorithm = { 2, 1, 255 } } },
	  0,
	  DCBX_SHARES,
	  "peer host shares its bandwidth 0:100%, this port 0:100%" },
	{ "rare algorithms",
	  { .ets = { .present = true, .prio_class = { 0, 1 }, .algorithm = { 1, 255 } } },
	  { .ets = { .present = true, .prio_class = { 0, 1 }, .algorithm = { 1, 255 } } },
	  0,
	  DCBX_SHARES,
	  "peer host shares its bandwidth 0:credit 1:algorithm 255, this port 0:credit "
	  "1:algorithm 255" },
};

TABLE_TEST(dcbx_words, words, row, rows)
{
	char out[DCBX_WORDS_BYTES];

	cr_expect_eq(dcbx_differences(&row->ours, &row->theirs), row->found, "%s: %x", row->what,
		     dcbx_differences(&row->ours, &row->theirs));
	dcbx_words(&row->ours, &row->theirs, "host", row->topic, out);
	cr_expect_str_eq(out, row->words, "%s: %s", row->what, out);
}
