// SPDX-License-Identifier: BSD-3-Clause
//
// Where messages of a perftest go in the peer's memory: as perftest does it, each queue pair has a
// place of its own, and small messages go round in as many bytes of it as the peer said, in steps
// of whole cache lines. And what is made of the options.

#include "tests/table.h"
#include "traffic/perftest_work.h"

struct target_row {
	const char *what;
	uint64_t size;
	uint32_t buffer_bytes;
	uint32_t line_bytes;
	uint32_t qp;
	uint64_t message;
	uint64_t target;
};

static const uint64_t places[] = { 0x10000, 0x11000 };

static const struct target_row targets[] = {
	{ "the first one", 1, 4096, 64, 0, 0, 0x10000 },
	{ "a cache line on", 1, 4096, 64, 0, 1, 0x10040 },
	{ "the last one of a page", 1, 4096, 64, 0, 63, 0x10fc0 },
	{ "round again", 1, 4096, 64, 0, 64, 0x10000 },
	{ "the other queue pair", 1, 4096, 64, 1, 65, 0x11040 },
	{ "a peer of longer lines", 1, 4096, 128, 0, 1, 0x10080 },
	{ "a peer of shorter lines", 1, 4096, 32, 0, 1, 0x10040 },
	{ "two lines", 65, 4096, 64, 0, 3, 0x10180 },
	{ "half a page", 2048, 4096, 64, 0, 3, 0x10800 },
	{ "more than half a page", 2049, 4096, 64, 0, 3, 0x10000 },
	{ "more than a page", 65536, 4096, 64, 1, 7, 0x11000 },
	{ "larger pages", 65536, 131072, 64, 0, 3, 0x20000 },
};

TABLE_TEST(traffic_perftest_work, target, row, targets)
{
	const struct perftest_shape shape = { RC_WRITE, false, 2, row->size, 20 };
	const struct perftest_side peer = {
		.buffer_bytes = row->buffer_bytes,
		.line_bytes = row->line_bytes,
		.keys = { { .va = places[0] }, { .va = places[1] } },
	};

	cr_assert_eq(perftest_work_target(&shape, &peer, row->qp, row->message), row->target, "%s",
		     row->what);
}

struct make_row {
	const char *what;
	bool listen;
	bool both;
	uint64_t qps;
	uint64_t size;
	bool works;
	uint64_t place; // of a queue pair: pages of the largest kind at least, whole lines
};

static const struct make_row made[] = {
	{ "a client", false, false, 1, 1, true, 65536 },
	{ "a server", true, false, 1, 65536, false, 65536 },
	{ "a server both ways", true, true, 8, 65537, true, 65600 },
	{ "two queue pairs", false, true, 2, 1 << 20, true, 1 << 20 },
};

TABLE_TEST(traffic_perftest_work, make, row, made)
{
	struct traffic_config config;
	struct perftest_work work;

	traffic_config_init(&config);
	config.run.listen = row->listen;
	config.run.bidirectional = row->both;
	config.run.qps = row->qps;
	config.run.size = row->size;
	config.run.iters = 20;
	cr_assert_eq(perftest_work_make(&config, &work), 0);
	cr_assert_eq(work.works, row->works, "%s", row->what);
	cr_assert_eq(work.shape.count, 20 * row->qps);
	cr_assert_eq(work.region.bytes, row->place * row->qps, "%s", row->what);
	cr_assert_eq(perftest_work_va(&work, (uint32_t)row->qps - 1),
		     work.region.va + (row->qps - 1) * row->place);
	perftest_work_free(&work);
}
