// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of weft-traffic from stated counters, its text and its JSON. Bytes on the line are those
// of the headers: Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, AETH 4, ICRC 4, and 24 of FCS,
// preamble and gap.

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/table.h"
#include "traffic/report.h"

enum { HOSTS_MAX = 8 };

struct bed {
	struct traffic_config config;
	struct workload workload;
	struct job_result job;
	struct job_flow_result flow[HOSTS_MAX];
	struct report_host host[HOSTS_MAX];
	struct report_rank rank[HOSTS_MAX];
	struct report_flow rows[2 * HOSTS_MAX];
	struct report report;
};

static struct bed bed;

static void set(enum traffic_workload workload, uint32_t hosts, uint64_t size)
{
	memset(&bed, 0, sizeof(bed));
	traffic_config_init(&bed.config);
	bed.config.run.workload = workload;
	bed.config.run.size = size;
	bed.config.run.speed = 1000000000;
	bed.job.slowest_rank = JOB_NONE;
	bed.report.rank = bed.rank;
	bed.report.flow = bed.rows;
	for (uint32_t i = 0; i < HOSTS_MAX; i++)
		bed.host[i].job.waited_for = JOB_NONE;
	cr_assert_eq(workload_make(&bed.config, hosts, &bed.workload), 0);
}

static void make_stuck(uint64_t elapsed_ns, enum report_outcome outcome, bool stuck)
{
	report_make(&(struct report_input){ .config = &bed.config,
					    .workload = &bed.workload,
					    .job = &bed.job,
					    .flow = bed.flow,
					    .host = bed.host,
					    .elapsed_ns = elapsed_ns,
					    .stuck = stuck,
					    .outcome = outcome },
		    &bed.report);
}

static void make(uint64_t elapsed_ns, enum report_outcome outcome)
{
	make_stuck(elapsed_ns, outcome, false);
}

// --- ceilings ---------------------------------------------------------------------------------

struct ceiling_row {
	const char *what;
	enum rc_op op;
	uint64_t bytes;
	bool ipv6;
	bool selective;
	double line; // bytes
};

static const struct ceiling_row ceilings[] = {
	{ "a write of one packet", RC_WRITE, 1024, false, false, 58 + 16 + 1024 + 24 },
	{ "a write of two", RC_WRITE, 2048, false, false, 2 * (58 + 24) + 16 + 2048 },
	{ "a write of three, the last of five bytes, padded to eight", RC_WRITE, 2053, false, false,
	  3 * (58 + 24) + 16 + 2056 },
	{ "a selective write of three", RC_WRITE, 3072, false, true, 3 * (58 + 16 + 1024 + 24) },
	{ "a send of three", RC_SEND, 3072, false, false, 3 * (58 + 1024 + 24) },
	// AETH in the first and the last response.
	{ "a read of three", RC_READ, 3072, false, false, 3 * (58 + 1024 + 24) + 8 },
	{ "a read of one", RC_READ, 1024, false, false, 58 + 4 + 1024 + 24 },
	{ "a send over IPv6", RC_SEND, 1024, true, false, 78 + 1024 + 24 },
};

TABLE_TEST(traffic_report, efficiency, row, ceilings)
{
	traffic_config_init(&bed.config);
	bed.config.run.selective = row->selective;
	if (row->ipv6)
		bed.config.run.ip.family = IP_V6;
	cr_expect_float_eq(workload_efficiency(&bed.config, row->op, row->bytes),
			   (double)row->bytes / row->line, 1e-12, "%s", row->what);
}

struct shape_row {
	const char *what;
	enum traffic_workload workload;
	uint32_t hosts;
	bool bidirectional;
	uint64_t slow_bps; // of host 1; 0: as all
	double lines;      // of 1G that all flows together may fill
};

static const struct shape_row shapes[] = {
	{ "one flow", TRAFFIC_SEND, 2, false, 0, 1 },
	{ "both ways", TRAFFIC_SEND, 2, true, 0, 2 },
	{ "two pairs", TRAFFIC_READ, 4, false, 0, 2 },
	{ "incast is one port's", TRAFFIC_INCAST, 8, false, 0, 1 },
	{ "a permutation", TRAFFIC_PERMUTATION, 8, false, 0, 8 },
	{ "three to one, and a victim beside them", TRAFFIC_VICTIM, 5, false, 0, 4 / 3. },
	{ "to a host of half speed", TRAFFIC_SEND, 2, false, 500000000, 0.5 },
	{ "an incast of three, one at 200M: it sends a third", TRAFFIC_INCAST, 4, false, 200000000,
	  0.6 },
};

TABLE_TEST(traffic_report, ceiling, row, shapes)
{
	double one;

	set(row->workload, row->hosts, 1 << 20);
	bed.config.run.bidirectional = row->bidirectional;
	workload_free(&bed.workload);
	cr_assert_eq(workload_make(&bed.config, row->hosts, &bed.workload), 0);
	if (row->slow_bps != 0) {
		bed.config.rank[0] = (struct rank_config){ .rank = 1, .speed = row->slow_bps };
		bed.config.rank_count = 1;
	}
	one = 1e9 * workload_efficiency(&bed.config, bed.workload.flow[0].op, 1 << 20);
	cr_expect_float_eq(workload_ceiling_bps(&bed.config, &bed.workload), row->lines * one, 1,
			   "%s", row->what);
}

// Collectives of four in which everybody carries the same: the slowest host says how long it takes.
struct slow_row {
	const char *what;
	enum traffic_workload workload;
	uint64_t slow_bps; // of host 1
	double ratio;      // of the ceiling to that with all hosts at 1G
};

static const struct slow_row slow_rows[] = {
	{ "all alike", TRAFFIC_ALL_REDUCE, 1000000000, 1 },
	{ "one at half speed", TRAFFIC_ALL_REDUCE, 500000000, 0.5 },
	{ "one that is faster than all others", TRAFFIC_ALL_GATHER, 2000000000, 1 },
	{ "an all-to-all", TRAFFIC_ALL_TO_ALL, 250000000, 0.25 },
};

TABLE_TEST(traffic_report, slow_host, row, slow_rows)
{
	double all;
	double ideal;

	set(row->workload, 4, 1 << 20);
	all = workload_ceiling_bps(&bed.config, &bed.workload);
	ideal = workload_ideal_ns(&bed.config, &bed.workload);
	bed.config.rank[0] = (struct rank_config){ .rank = 1, .speed = row->slow_bps };
	bed.config.rank_count = 1;
	cr_expect_float_eq(workload_ceiling_bps(&bed.config, &bed.workload) / all, row->ratio, 1e-9,
			   "%s", row->what);
	cr_expect_float_eq(ideal / workload_ideal_ns(&bed.config, &bed.workload), row->ratio, 1e-9,
			   "%s", row->what);
}

// --- figures ----------------------------------------------------------------------------------

// Two senders to one in 10 ms: 3 MB and 1 MB, of which host 1 needed all the time and host 2 half.
static void incast(void)
{
	set(TRAFFIC_INCAST, 3, 1000000);
	bed.flow[0] = (struct job_flow_result){
		.bytes = 3000000, .messages = 3, .first = { 1000 }, .last = { 40001000 }
	};
	bed.flow[1] = (struct job_flow_result){
		.bytes = 1000000, .messages = 1, .first = { 1000 }, .last = { 20001000 }
	};
	bed.job.bytes = 4000000;
	bed.job.peak_bytes = 125000;
	for (uint64_t us = 1; us <= 5; us++)
		histogram_add(&bed.job.latency, us * 1000);
	bed.host[0].stats.prio[3].rx_ce = 7;
	bed.host[0].stats.prio[3].tx_pfc = 2;
	bed.host[1].stats.rx_cnp = 5;
	bed.host[1].stats.prio[3].rx_pfc = 4;
	bed.host[2].stats.prio[3].rx_pfc = 1;
	bed.host[1].rc.tx_bytes = 3000000;
	bed.host[2].rc.tx_bytes = 1000000;
	bed.host[0].rc.rx_bytes = 4000000;
	bed.host[1].paused_ns = 5000000;
	bed.host[1].job.cause_ns[JOB_CAUSE_PORT] = 20000000;
}

Test(traffic_report, flows)
{
	const struct report *r = &bed.report;

	incast();
	make(50000000, REPORT_DONE);
	// 32 Mbit in 40 ms.
	cr_expect_float_eq(r->goodput_gbps, 0.8, 1e-9);
	cr_expect_float_eq(r->peak_gbps, 1.0, 1e-9);
	cr_expect_float_eq(r->message_rate_mpps, 0.0001, 1e-12);
	// Rates are 0.6 and 0.4 Gb/s: 1 / (2 (0.36 + 0.16)).
	cr_expect_float_eq(r->jain, 1 / 1.04, 1e-9);
	cr_expect_eq(r->iterations, 4);
	cr_expect_eq(r->ce_marked, 7);
	cr_expect_eq(r->cnps, 5);
	cr_expect_eq(r->pauses_received, 5);
	cr_expect_eq(r->pauses_sent, 2);
	cr_expect_float_eq(r->latency_min_us, 1, 1e-9);
	cr_expect_float_eq(r->latency_avg_us, 3, 1e-9);
	cr_expect_float_eq(r->latency_max_us, 5, 1e-9);
	// The variance of 1 to 5 is 2; buckets are 3.2 % wide.
	cr_expect_float_eq(r->latency_stdev_us, 1.414, 0.05);
	cr_expect_float_eq(r->rank[1].tx_gbps, 0.48, 1e-9);
	cr_expect_float_eq(r->rank[1].paused_us, 5000, 1e-9);
	cr_assert_eq(r->flow_count, 2);
	cr_expect_eq(r->flow[1].src, 2);
	cr_expect_eq(r->flow[1].dst, 0);
	cr_expect_eq(r->flow[1].bytes, 1000000);
	cr_expect_float_eq(r->flow[1].gbps, 0.4, 1e-9);
	cr_expect_eq(r->good, 1);
	cr_expect_str_eq(r->outcome, "done");
}

struct fault_row {
	const char *what;
	uint64_t retransmits;
	uint64_t gaps;
	uint64_t overflow;
	uint64_t failed;
	bool pfc;
	enum report_outcome outcome;
	uint64_t drops; // that are reported
	bool good;
};

static const struct fault_row faults[] = {
	{ "nothing", 0, 0, 0, 0, true, REPORT_DONE, 0, true },
	{ "not over in time", 0, 0, 0, 0, true, REPORT_TIMEOUT, 0, false },
	{ "sent again with PFC", 1, 0, 0, 0, true, REPORT_DONE, 0, false },
	{ "a gap with PFC", 0, 1, 0, 0, true, REPORT_DONE, 1, false },
	{ "an overflow with PFC", 0, 0, 3, 0, true, REPORT_DONE, 3, false },
	{ "losses without PFC are what it is about", 9, 8, 7, 0, false, REPORT_DONE, 0, true },
	{ "a message that failed", 0, 0, 0, 1, false, REPORT_FAILED, 0, false },
};

TABLE_TEST(traffic_report, fault, row, faults)
{
	set(TRAFFIC_WRITE, 2, 1000);
	bed.config.run.pfc = row->pfc;
	bed.host[0].rc.retransmits = row->retransmits;
	bed.host[1].rc.naks_sent = row->gaps;
	bed.host[1].stats.prio[3].rx_overflow = row->overflow;
	bed.job.failed = row->failed;
	make(1000, row->outcome);
	cr_expect_eq(bed.report.lossless_drops, row->drops, "%s", row->what);
	cr_expect_eq(bed.report.good, row->good, "%s", row->what);
}

struct stop_row {
	const char *what;
	uint64_t messages; // done before
	bool stuck;
	bool good;
};

static const struct stop_row stops[] = {
	{ "after messages, which is no fault", 3, false, true },
	{ "before anything was measured", 0, false, false },
	{ "while messages were on their way for ever", 3, true, false },
};

TABLE_TEST(traffic_report, stop, row, stops)
{
	set(TRAFFIC_WRITE, 2, 1000);
	bed.flow[0].messages = row->messages;
	make_stuck(1000, REPORT_STOPPED, row->stuck);
	cr_expect_eq(bed.report.good, row->good, "%s", row->what);
	cr_expect_str_eq(bed.report.outcome, "stopped", "%s", row->what);
}

// 64 MiB ring all-reduce of 8 at 100G: at 12.5 GB/s of payload it takes 9395.24 us.
static void all_reduce(void)
{
	set(TRAFFIC_ALL_REDUCE, 8, 64 << 20);
	bed.config.run.speed = 100000000000;
	histogram_add(&bed.job.iteration, 9395240);
	bed.job.checked = 8 << 24;
	bed.job.slowest_rank = 5;
	bed.job.cause = JOB_CAUSE_PAUSED;
	for (uint32_t i = 0; i < 8; i++)
		bed.host[i].rc.rx_bytes = 117440512;
}

Test(traffic_report, collective)
{
	const struct report *r = &bed.report;
	double efficiency;

	all_reduce();
	make(10000000, REPORT_DONE);
	efficiency = workload_efficiency(&bed.config, RC_WRITE, 64 << 10);
	cr_expect_float_eq(r->algbw_gbs, 7.143, 0.0005);
	cr_expect_float_eq(r->busbw_gbs, 12.5, 0.0005);
	cr_expect_float_eq(r->goodput_gbps, 100, 0.001);
	cr_expect_float_eq(r->ideal_us, 9395.24 / efficiency, 0.01);
	cr_expect_float_eq(r->ideal_ratio, 1 / efficiency, 1e-5);
	cr_expect_float_eq(r->jain, 1, 1e-12);
	cr_expect_eq(r->slowest_rank, 5);
	cr_expect_str_eq(r->cause, "paused");
	cr_expect_eq(r->elements, 1 << 24);
	cr_expect_eq(r->good, 1);
	bed.job.wrong = 1;
	make(10000000, REPORT_DONE);
	cr_expect_eq(bed.report.good, 0);
}

// --- text -------------------------------------------------------------------------------------

static char *text_of(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report_text(&bed.config, &bed.report, out);
	fclose(out);
	return text;
}

// The ceiling: 1 MB in 977 packets, all of 1024 bytes but the last of 576.
static const char incast_text[] =
	"# weft-traffic incast: 3 hosts, MTU 1024, done in 0.050 s\n"
	"-----------------------------------------------------------------------------------"
	"----\n"
	" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
	" 1000000    4              1.00               0.80                 0.000100\n"
	"-----------------------------------------------------------------------------------"
	"----\n"
	"goodput 0.800 Gb/s, 86.4 % of the ceiling 0.926; Jain 0.9615\n"
	"latency: min 1.0, median 3.0, 99 % 5.0, max 5.0 us over 4000000 bytes\n"
	"lossless drops 0, retransmits 0, timeouts 0, CE 7, CNPs 5, pauses received 5, sent 2\n"
	"\n"
	"flow              messages           bytes      Gb/s\n"
	"   1 -> 0                3         3000000     0.600\n"
	"   2 -> 0                1         1000000     0.400\n"
	"\n"
	"                                                       time % in ...\n"
	"host   tx Gb/s   rx Gb/s  resent   gaps      CE    CNPs   pause  again    held  marked    "
	"port    peer   of host\n"
	"   0     0.000     0.640       0      0       7       0     0.0    0.0     0.0     0.0   "
	"  0.0     0.0       -\n"
	"   1     0.480     0.000       0      0       0       5    10.0    0.0     0.0     0.0    "
	"40.0     0.0       -\n"
	"   2     0.160     0.000       0      0       0       0     0.0    0.0     0.0     0.0   "
	"  0.0     0.0       -\n";

Test(traffic_report, text)
{
	char *text;

	incast();
	make(50000000, REPORT_DONE);
	text = text_of();
	cr_expect_str_eq(text, incast_text, "%s", text);
	free(text);
}

static const char *const all_reduce_lines[] = {
	"#        size         count      type   redop    root      time   algbw   busbw #wrong"
	"      time   algbw   busbw #wrong\n",
	"     67108864      16777216     float     sum      -1       N/A     N/A     N/A    N/A"
	"   9395.24    7.14   12.50      0\n",
	"# Out of bounds values : 0 OK\n",
	"# Avg bus bandwidth    : 12.5\n",
	"slowest: host 5, cause: paused\n",
};

TABLE_TEST(traffic_report, columns, row, all_reduce_lines)
{
	char *text;

	all_reduce();
	make(10000000, REPORT_DONE);
	text = text_of();
	cr_expect_not_null(strstr(text, *row), "%s", text);
	free(text);
}

// --- JSON -------------------------------------------------------------------------------------

static json_t *json_of(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *json;

	cr_assert_eq(report_json(&bed.config, &bed.report, out), 0);
	fclose(out);
	json = json_loads(text, 0, NULL);
	cr_assert_not_null(json, "%s", text);
	free(text);
	return json;
}

Test(traffic_report, json_of_flows)
{
	json_t *json;
	json_t *rank;

	incast();
	make(50000000, REPORT_DONE);
	json = json_of();
	cr_expect_float_eq(json_number_value(json_object_get(json, "goodput_gbps")), 0.8, 1e-6);
	cr_expect_eq(json_integer_value(json_object_get(json, "cnps")), 5);
	cr_expect_str_eq(json_string_value(json_object_get(json, "workload")), "incast");
	cr_expect_null(json_object_get(json, "busbw_gbs"));
	cr_expect_eq(json_array_size(json_object_get(json, "ranks")), 3);
	cr_expect_eq(json_array_size(json_object_get(json, "flows")), 2);
	rank = json_array_get(json_object_get(json, "ranks"), 1);
	cr_expect_eq(json_integer_value(json_object_get(rank, "tx_bytes")), 3000000);
	cr_expect(json_is_null(json_object_get(rank, "waited_for")));
	json_decref(json);
}

// What scripts rely on.
static const char *const keys[] = {
	"goodput_gbps",   "ceiling_gbps",   "jain",        "lossless_drops",
	"retransmits",    "ce_marked",      "cnps",        "pauses_received",
	"latency_p50_us", "latency_p99_us", "algbw_gbs",   "busbw_gbs",
	"ideal_us",       "time_us",        "ideal_ratio", "wrong",
	"slowest_rank",   "cause",
};

TABLE_TEST(traffic_report, json_of_a_collective, row, keys)
{
	json_t *json;

	all_reduce();
	make(10000000, REPORT_DONE);
	json = json_of();
	cr_expect_not_null(json_object_get(json, *row), "%s", *row);
	cr_expect_null(json_object_get(json, "peak_gbps"));
	cr_expect_eq(json_integer_value(json_object_get(json, "slowest_rank")), 5);
	json_decref(json);
}
