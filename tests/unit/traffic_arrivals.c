// SPDX-License-Identifier: BSD-3-Clause
//
// Workloads whose messages have times of their own: files that say what is wrong with them, traces
// as flows, and a drawn load against what queueing theory says of it.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/table.h"
#include "tests/text_file.h"
#include "traffic/sizes_file.h"
#include "traffic/trace_file.h"
#include "traffic/workload.h"

#define GBPS 1000000000ull

// --- files ------------------------------------------------------------------------------------

struct file_row {
	const char *what;
	const char *text;
	const char *says; // behind the name of the file
};

static const struct file_row sizes_rows[] = {
	{ "nothing", "# nothing\n\n", ":2: no points\n" },
	{ "one field", "0 0\n100\n", ":2: 1 fields instead of bytes and a percentage\n" },
	{ "three fields", "0 0 0\n", ":1: 3 fields instead of bytes and a percentage\n" },
	{ "more than fit", "1 2 3 4 5 6 7 8 9\n", ":1: more than 8 fields\n" },
	{ "a word for bytes", "small 10\n", ":1: \"small\" is no size\n" },
	{ "a word for a percentage", "10 most\n", ":1: \"most\" is no percentage\n" },
	{ "a percentage with a sign", "10 -5\n", ":1: \"-5\" is no percentage\n" },
	{ "a percentage of two points", "10 5.5.5\n", ":1: \"5.5.5\" is no percentage\n" },
	{ "a point alone", "10 .\n", ":1: \".\" is no percentage\n" },
	{ "more than all", "10 100.5\n", ":1: \"100.5\" is no percentage\n" },
	{ "sizes that decrease", "10 10\n9 20\n", ":2: sizes must not decrease\n" },
	{ "percentages that decrease", "10 10\n\n20 9\n", ":3: percentages must not decrease\n" },
	{ "no end", "0 0\n1000 99\n", ":2: the last percentage is not 100\n" },
};

TABLE_TEST(traffic_arrivals, sizes, row, sizes_rows)
{
	char path[TEXT_FILE_PATH];
	char want[256];
	char *said = NULL;
	size_t len;
	struct sizes sizes;
	FILE *errors = open_memstream(&said, &len);
	int rc;

	text_file_make(row->text, path);
	rc = sizes_file_read(path, errors, &sizes);
	fclose(errors);
	unlink(path);
	snprintf(want, sizeof(want), "%s%s", path, row->says);
	cr_expect_lt(rc, 0, "%s", row->what);
	cr_expect_str_eq(said, want, "%s: %s", row->what, said);
	free(said);
}

static const struct file_row trace_rows[] = {
	{ "nothing", "", ":0: no messages\n" },
	{ "three fields", "0 1 2\n", ":1: 3 fields instead of time, src, dst and bytes\n" },
	{ "a word for a time", "now 0 1 5\n", ":1: \"now\" is no time\n" },
	{ "a time below the nanosecond", "0.0000000001 0 1 5\n",
	  ":1: \"0.0000000001\" is no time\n" },
	{ "a host that is none", "0 0 1 5\n0 4 1 5\n", ":2: \"4\" is no host: those are 0 to 3\n" },
	{ "a name for a host", "0 0 one 5\n", ":1: \"one\" is no host: those are 0 to 3\n" },
	{ "to itself", "0 2 2 5\n", ":1: from host 2 to itself\n" },
	{ "no bytes", "0 0 1 0\n", ":1: \"0\" is no size of 1 byte to 1 GiB\n" },
	{ "too many", "0 0 1 2G\n", ":1: \"2G\" is no size of 1 byte to 1 GiB\n" },
};

TABLE_TEST(traffic_arrivals, trace, row, trace_rows)
{
	char path[TEXT_FILE_PATH];
	char want[256];
	char *said = NULL;
	size_t len;
	struct trace trace;
	FILE *errors = open_memstream(&said, &len);
	int rc;

	text_file_make(row->text, path);
	rc = trace_file_read(path, 4, errors, &trace);
	fclose(errors);
	unlink(path);
	snprintf(want, sizeof(want), "%s%s", path, row->says);
	cr_expect_lt(rc, 0, "%s", row->what);
	cr_expect_str_eq(said, want, "%s: %s", row->what, said);
	cr_expect_null(trace.row);
	free(said);
}

// A line that never ends does not take memory.
Test(traffic_arrivals, long_line)
{
	char text[1001] = { 0 };
	char path[TEXT_FILE_PATH];
	char *said = NULL;
	size_t len;
	struct sizes sizes;
	FILE *errors = open_memstream(&said, &len);

	memset(text, '1', sizeof(text) - 1);
	text_file_make(text, path);
	cr_expect_lt(sizes_file_read(path, errors, &sizes), 0);
	fclose(errors);
	unlink(path);
	cr_expect_not_null(strstr(said, ":1: longer than 255 bytes\n"), "%s", said);
	free(said);
}

// Behind it the rest of the line would not be read.
Test(traffic_arrivals, nul_byte)
{
	static const char text[] = "10 50\n20\0 60\n30 100\n";
	char path[TEXT_FILE_PATH];
	char *said = NULL;
	size_t len;
	struct sizes sizes;
	FILE *errors = open_memstream(&said, &len);
	FILE *file;

	text_file_make("", path);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(text, 1, sizeof(text) - 1, file), sizeof(text) - 1);
	fclose(file);
	cr_expect_lt(sizes_file_read(path, errors, &sizes), 0);
	fclose(errors);
	unlink(path);
	cr_expect_not_null(strstr(said, ":2: a NUL byte\n"), "%s", said);
	free(said);
}

// --- traces -----------------------------------------------------------------------------------

static struct traffic_config config;
static struct workload workload;

static void make(uint32_t hosts)
{
	cr_assert_eq(workload_make(&config, hosts, &workload), 0);
}

// Lines in any order, times and separators of all kinds; two queue pairs take turns.
Test(traffic_arrivals, trace_as_flows)
{
	char path[TEXT_FILE_PATH];

	text_file_make("# time,src,dst,bytes\n"
		       "2ms,3,0,64K\n"
		       "0.001 0 1 1000 # the second\n"
		       "500us\t0\t1\t2000\n"
		       "1.5 0 1 3000\n",
		       path);
	traffic_config_init(&config);
	config.run.workload = TRAFFIC_TRACE;
	config.run.qps = 2;
	config.run.speed = GBPS;
	snprintf(config.run.trace, sizeof(config.run.trace), "%s", path);
	make(4);
	unlink(path);
	cr_assert_eq(workload.job.flow_count, 4);
	cr_assert_eq(workload.arrival_count, 4);
	cr_expect(workload.flow[0].src == 0 && workload.flow[0].dst == 1);
	cr_expect(workload.flow[2].src == 3 && workload.flow[2].dst == 0);
	cr_assert_eq(workload.flow[0].messages, 2);
	cr_assert_eq(workload.flow[1].messages, 1);
	cr_assert_eq(workload.flow[2].messages, 1);
	cr_assert_eq(workload.flow[3].messages, 0);
	cr_expect_eq(workload.flow[0].arrival[0].at.v, 500000);
	cr_expect_eq(workload.flow[0].arrival[0].bytes, 2000);
	cr_expect_eq(workload.flow[0].arrival[1].at.v, 1500000000);
	cr_expect_eq(workload.flow[1].arrival[0].at.v, 1000000);
	cr_expect_eq(workload.flow[0].bytes, 3000);
	cr_expect_eq(workload.flow[2].bytes, 65536);
	// 1000 bytes in one frame: 58 of headers and ICRC, 16 of the RETH, 24 of the wire.
	cr_expect_eq(workload.flow[1].arrival[0].ideal_ns, (1000 + 58 + 16 + 24) * 8 + 1);
	workload_free(&workload);
}

// The host that the data comes to posts a READ.
Test(traffic_arrivals, trace_of_reads)
{
	char path[TEXT_FILE_PATH];

	text_file_make("0 2 1 1000\n", path);
	traffic_config_init(&config);
	config.run.workload = TRAFFIC_TRACE;
	config.run.op = TRAFFIC_READ;
	snprintf(config.run.trace, sizeof(config.run.trace), "%s", path);
	make(4);
	unlink(path);
	cr_expect(workload.flow[0].src == 1 && workload.flow[0].dst == 2);
	workload_free(&workload);
}

// --- load -------------------------------------------------------------------------------------

static void set_load(enum traffic_workload kind, uint64_t load_ppm, const char *sizes)
{
	traffic_config_init(&config);
	config.run.workload = kind;
	config.run.load = load_ppm;
	config.run.speed = GBPS;
	config.run.size = 10000;
	snprintf(config.run.sizes, sizeof(config.run.sizes), "%s", sizes);
}

// Bits on the line of a host, out or in, by its rate and the time.
static double load_of(uint32_t rank, bool in, uint64_t ns)
{
	double bytes = 0;

	for (uint32_t i = 0; i < workload.job.flow_count; i++) {
		const struct job_flow *flow = &workload.flow[i];

		for (uint64_t k = 0; (in ? flow->dst : flow->src) == rank && k < flow->messages;
		     k++)
			bytes += workload_line_bytes(&config, flow->op, flow->arrival[k].bytes);
	}
	return 8 * bytes * 1e9 / (double)ns / (double)traffic_host_bps(&config, rank);
}

struct load_row {
	const char *what;
	enum traffic_workload kind;
	uint32_t hosts;
	uint32_t qps;
	uint32_t burst;
	uint64_t slow_bps; // of host 1; 0: as all
	uint32_t rank;     // whose port carries the load
	bool in;
	double other; // part of it that host 2 sends
};

static const struct load_row load_rows[] = {
	{ "a pair", TRAFFIC_WRITE, 4, 1, 1, 0, 0, false, 1 },
	{ "a pair with eight queue pairs", TRAFFIC_WRITE, 4, 8, 1, 0, 0, false, 1 },
	{ "a pair, in bursts", TRAFFIC_WRITE, 4, 1, 10, 0, 0, false, 1 },
	{ "an incast is a load of the one that all send to", TRAFFIC_INCAST, 5, 1, 1, 0, 0, true,
	  0.25 },
	{ "each to each", TRAFFIC_MESH, 4, 1, 1, 0, 0, false, 1 },
	{ "to a host of half speed: its line counts", TRAFFIC_WRITE, 4, 1, 1, GBPS / 2, 1, true,
	  0.5 },
};

// A minute of 10 kB messages at 60 % of 1 Gb/s are 410,000: a load is within 0.2 % of what was
// asked for, 0.5 % in bursts and a fourth of them.
TABLE_TEST(traffic_arrivals, load, row, load_rows)
{
	const uint64_t ns = 60 * GBPS;

	set_load(row->kind, 600000, "");
	config.run.duration = ns;
	config.run.qps = row->qps;
	config.run.burst_messages = row->burst;
	if (row->slow_bps != 0) {
		config.rank[0] = (struct rank_config){ .rank = 1, .speed = row->slow_bps };
		config.rank_count = 1;
	}
	make(row->hosts);
	cr_expect_float_eq(load_of(row->rank, row->in, ns), 0.6, 0.005, "%s: %f", row->what,
			   load_of(row->rank, row->in, ns));
	cr_expect_float_eq(load_of(2, false, ns), row->other * 0.6, 0.01, "%s: %f", row->what,
			   load_of(2, false, ns));
	workload_free(&workload);
}

struct example_row {
	const char *what; // its name
	double mean;      // bytes, as the file says
};

static const struct example_row examples[] = {
	{ "web-search", 1.71e6 },
	{ "hadoop", 120e3 },
};

// The mean of what is drawn is that of the curve, and the load that of the line.
TABLE_TEST(traffic_arrivals, example, row, examples)
{
	const uint64_t ns = 20000 * GBPS;
	double bytes = 0;
	char path[256];

	snprintf(path, sizeof(path), EXAMPLES "/sizes/%s", row->what);
	set_load(TRAFFIC_WRITE, 500000, path);
	config.run.duration = ns;
	if (row->mean < 1e6)
		config.run.duration = ns / 20;
	make(2);
	for (uint32_t i = 0; i < workload.arrival_count; i++)
		bytes += (double)workload.arrival[i].bytes;
	// The deviations are 5 and 4 times the mean, of more than 470,000 messages.
	cr_assert_gt(workload.arrival_count, 470000);
	cr_expect_float_eq(bytes / workload.arrival_count / row->mean, 1, 0.03, "%s: %f", row->what,
			   bytes / workload.arrival_count);
	cr_expect_float_eq(load_of(0, false, config.run.duration), 0.5, 0.015, "%s: %f", row->what,
			   load_of(0, false, config.run.duration));
	workload_free(&workload);
}

struct wait_row {
	const char *what;
	uint64_t load_ppm;
	const char *sizes;
	double variation; // of service times: E[S^2] / E[S]^2
};

// Sizes evenly spread from 0 to a mean of half of the largest: E[S^2] / E[S]^2 = (1/3) / (1/4).
static const struct wait_row wait_rows[] = {
	{ "half, all of one size", 500000, "", 1 },
	{ "80 percent, all of one size", 800000, "", 1 },
	{ "half, sizes evenly spread", 500000, "0 0\n1000000 100\n", 4. / 3 },
};

// One queue behind such arrivals waits as Pollaczek and Khinchine say: load / (1 - load) times half
// of E[S^2] / E[S].
TABLE_TEST(traffic_arrivals, wait, row, wait_rows)
{
	const double load = (double)row->load_ppm / 1e6;
	char path[TEXT_FILE_PATH] = "";
	double wait = 0, waits = 0, service = 0, before = 0;

	if (row->sizes[0] != '\0')
		text_file_make(row->sizes, path);
	set_load(TRAFFIC_WRITE, row->load_ppm, path);
	config.run.iters = 1000000;
	make(2);
	for (uint32_t i = 0; i < workload.arrival_count; i++) {
		const struct job_arrival *arrival = &workload.arrival[i];
		const double at = (double)arrival->at.v;

		wait = fmax(0, wait - (at - before));
		waits += wait;
		before = at;
		wait += (double)arrival->ideal_ns;
		service += (double)arrival->ideal_ns;
	}
	cr_expect_float_eq(waits / service / (load / (1 - load) * row->variation / 2), 1, 0.04,
			   "%s: %f", row->what, waits / service);
	if (row->sizes[0] != '\0')
		unlink(path);
	workload_free(&workload);
}

// The same seed is the same run, another one another.
Test(traffic_arrivals, seeds)
{
	struct workload first, second, other;

	set_load(TRAFFIC_MESH, 500000, EXAMPLES "/sizes/hadoop");
	cr_assert_eq(workload_make(&config, 8, &first), 0);
	cr_assert_eq(workload_make(&config, 8, &second), 0);
	config.run.seed++;
	cr_assert_eq(workload_make(&config, 8, &other), 0);
	cr_assert_eq(first.arrival_count, 8 * 7 * 20);
	cr_expect_arr_eq(first.arrival, second.arrival,
			 first.arrival_count * sizeof(*first.arrival));
	cr_expect_arr_neq(first.arrival, other.arrival,
			  first.arrival_count * sizeof(*first.arrival));
	// Nor do two flows have the same dice.
	cr_expect_neq(first.flow[0].arrival[0].at.v, first.flow[1].arrival[0].at.v);
	workload_free(&first);
	workload_free(&second);
	workload_free(&other);
}
