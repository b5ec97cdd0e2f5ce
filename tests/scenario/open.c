// SPDX-License-Identifier: BSD-3-Clause
//
// Workloads of weft-traffic whose messages have times of their own, over endpoints and the switch
// itself in virtual time: completion times against those of a queue, computed from the same
// arrivals, and the times of a trace.

#include <math.h>

#include "tests/rig/crew.h"
#include "tests/table.h"
#include "tests/text_file.h"
#include "traffic/workload.h"

enum { DELAY_NS = 250, DSCP = 3, RANKS_MAX = 4 };

#define GBPS 1000000000ull
#define MS 1000000ull

struct stage {
	struct traffic_config config;
	struct workload workload;
	struct net *net;
	struct rig *rig;
	struct crew crew;
};

static struct stage stage;

// A switch with lossless ports of 1 Gb/s and a rank of the workload on each; lengths alone count.
static void stage_run(uint32_t ranks)
{
	struct sw_config *c = setup_kvm(ranks);
	uint32_t sw;

	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].speed = GBPS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 4000000;
	cr_assert_eq(workload_make(&stage.config, ranks, &stage.workload), 0);
	stage.net = net_new();
	stage.rig = rig_new(c);
	sw = net_add_switch(stage.net, stage.rig);
	crew_init(&stage.crew, stage.net, &stage.workload.job, false);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		const struct endpoint_profile pf = crew_profile(&stage.crew, rank, GBPS);

		net_join(stage.net, crew_add(&stage.crew, rank, &pf), 0, sw, rank, GBPS, DELAY_NS);
	}
	crew_connect(&stage.crew);
	cr_assert(crew_run(&stage.crew, 100000 * MS));
	cr_assert_eq(rig_all_drops(stage.rig), 0);
	cr_assert_eq(crew_stats(&stage.crew).retransmits, 0);
}

static void stage_end(void)
{
	net_end(stage.net);
	crew_end(&stage.crew);
	workload_free(&stage.workload);
}

static void set(enum traffic_workload kind)
{
	traffic_config_init(&stage.config);
	stage.config.run.workload = kind;
	stage.config.run.speed = GBPS;
	stage.config.run.dscp = DSCP;
	// A wire each way to the switch and to the host, what the switch has to receive before it
	// sends on, a packet there and an ACK back, and that ACK itself.
	stage.config.run.rtt = 4 * DELAY_NS + (1024 + 82 + 2 * 86) * 8;
}

static struct job_result result(void)
{
	static struct job_result result;

	job_result(stage.crew.job, &result);
	return result;
}

// --- a load -----------------------------------------------------------------------------------

struct sums {
	double time; // of all messages
	double slowdown;
	uint64_t most;
};

// What one queue does to the arrivals of the first flow: each message waits for those before it,
// and takes its ideal time then.
static struct sums queue_of(void)
{
	const struct job_flow *flow = &stage.workload.flow[0];
	const double rtt = (double)stage.config.run.rtt;
	double idle = 0; // when the line is
	struct sums sums = { 0 };

	for (uint64_t i = 0; i < flow->messages; i++) {
		const struct job_arrival *arrival = &flow->arrival[i];
		const double at = (double)arrival->at.v;
		double time;

		idle = fmax(idle, at) + (double)arrival->ideal_ns - rtt;
		time = idle - at + rtt;
		sums.time += time;
		sums.slowdown += time / (double)arrival->ideal_ns;
		sums.most = u64_max(sums.most, (uint64_t)time);
	}
	return sums;
}

struct fifo_row {
	const char *what;
	uint64_t load_ppm;
	const char *sizes; // a file, or all of 20 kB
};

static const struct fifo_row fifo_rows[] = {
	{ "half, all of one size", 500000, "" },
	{ "90 percent, all of one size", 900000, "" },
	{ "half, of a Hadoop cluster", 500000, EXAMPLES "/sizes/hadoop" },
};

// Messages of one queue pair come one behind the other.
TABLE_TEST(open, one_queue_pair, row, fifo_rows)
{
	struct job_result got;
	struct sums want;

	set(TRAFFIC_WRITE);
	stage.config.run.load = row->load_ppm;
	stage.config.run.size = 20000;
	stage.config.run.iters = 1000;
	stage.config.run.depth = 64;
	snprintf(stage.config.run.sizes, sizeof(stage.config.run.sizes), "%s", row->sizes);
	stage_run(2);
	got = result();
	want = queue_of();
	cr_assert_eq(got.latency.count, 1000);
	cr_log_info("%s: mean %.0f of %.0f ns, most %lu of %lu, slowdown %.3f of %.3f", row->what,
		    (double)got.latency.sum / 1000, want.time / 1000, got.latency.most, want.most,
		    (double)got.slowdown.sum / 1e6, want.slowdown / 1000);
	cr_expect_float_eq((double)got.latency.sum / want.time, 1, 0.005, "%s", row->what);
	cr_expect_float_eq((double)got.slowdown.sum / 1e3 / want.slowdown, 1, 0.005, "%s",
			   row->what);
	cr_expect_float_eq((double)got.latency.most / (double)want.most, 1, 0.005, "%s", row->what);
	stage_end();
}

struct sharing_row {
	const char *what;
	const char *sizes;
};

static const struct sharing_row sharing_rows[] = {
	{ "all of one size", "20000 100\n" },
	{ "sizes evenly spread", "0 0\n40000 100\n" },
};

// Many queue pairs share the line packet by packet, so that a message takes 1 / (1 - load) times as
// long as alone, whatever its size is and those of the others are (Kleinrock's processor sharing):
// 2 at half of the line, where one queue would make it 1.5 and 1.67.
TABLE_TEST(open, many_queue_pairs, row, sharing_rows)
{
	char path[TEXT_FILE_PATH];
	struct job_result got;
	double alone = 0, rtt, took;

	set(TRAFFIC_WRITE);
	rtt = 6400 * (double)stage.config.run.rtt;
	text_file_make(row->sizes, path);
	stage.config.run.load = 500000;
	stage.config.run.iters = 100;
	stage.config.run.qps = 64;
	snprintf(stage.config.run.sizes, sizeof(stage.config.run.sizes), "%s", path);
	stage_run(2);
	unlink(path);
	got = result();
	cr_assert_eq(got.latency.count, 6400);
	for (uint32_t i = 0; i < stage.workload.arrival_count; i++)
		alone += (double)stage.workload.arrival[i].ideal_ns;
	took = ((double)got.latency.sum - rtt) / (alone - rtt);
	cr_log_info("%s: %.3f times as long as alone", row->what, took);
	cr_expect_float_eq(took, 2, 0.16, "%s: %f", row->what, took);
	stage_end();
}

// --- a trace ----------------------------------------------------------------------------------

// Each message leaves at its time, whatever the others do.
Test(open, trace)
{
	static const uint64_t starts[] = { 3 * MS, 1 * MS, 2 * MS, 2 * MS + 1 };
	char path[TEXT_FILE_PATH];
	struct job_size_result small;
	struct job_result got;

	text_file_make("3ms 0 1 10\n"
		       "0.001 0 3 1M\n"
		       "2ms 1 3 100\n"
		       "0.002000001 2 0 100\n",
		       path);
	set(TRAFFIC_TRACE);
	snprintf(stage.config.run.trace, sizeof(stage.config.run.trace), "%s", path);
	stage_run(RANKS_MAX);
	unlink(path);
	got = result();
	for (uint32_t i = 0; i < 4; i++) {
		struct job_flow_result flow;

		job_flow_result(stage.crew.job, i, &flow);
		cr_expect_eq(flow.messages, 1);
		// A wake-up of the crew is a nanosecond later.
		cr_expect(flow.first.v - starts[i] <= 1, "%u: %lu", i, flow.first.v);
	}
	cr_expect_leq(got.lateness.most, 1);
	cr_expect_eq(got.latency.count, 4);
	// The three small ones: alone on their lines, but for a packet of the large one at the
	// switch.
	job_size_result(stage.crew.job, 0, &small);
	cr_expect_eq(small.time.count, 3);
	cr_expect_leq(small.time.most, (100 + 98) * 8 + stage.config.run.rtt + 2 * (1024 + 98) * 8);
	stage_end();
}

// More than the depth of a queue pair lets be on their way: they wait for it, and that is told.
Test(open, lateness)
{
	char path[TEXT_FILE_PATH];
	struct job_result got;

	text_file_make("0 0 1 100000\n0 0 1 100000\n0 0 1 100000\n", path);
	set(TRAFFIC_TRACE);
	stage.config.run.depth = 1;
	snprintf(stage.config.run.trace, sizeof(stage.config.run.trace), "%s", path);
	stage_run(2);
	unlink(path);
	got = result();
	// 98 packets each, of which the first has 16 bytes of RETH, and the way of an ACK; before
	// the first is the question for an address.
	cr_expect_geq(got.lateness.most, 2 * (100000 + 98 * 82) * 8ull);
	cr_expect_leq(got.lateness.most,
		      2 * ((100000 + 98 * 82 + 16) * 8 + stage.config.run.rtt) + 5000);
	cr_expect_geq(got.latency.most, 3 * (100000 + 98 * 82) * 8ull);
	stage_end();
}
