// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs over endpoints and the switch itself, in virtual time: collectives whose data is reduced and
// looked at, how near they come to what the ports allow, and who is to blame when they do not.

#include <string.h>

#include "tests/rig/crew.h"
#include "tests/table.h"

enum { RANKS = 8, DELAY_NS = 250 };

#define GBPS 1000000000ull
#define MS 1000000ull

struct stage {
	struct net *net;
	struct rig *rig;
	struct crew crew;
};

// A switch with lossless ports of 1 Gb/s and a rank on each; `slow` has half of that.
static void stage_init(struct stage *stage, const struct job_config *config, bool data,
		       uint32_t slow)
{
	struct sw_config *c = setup_kvm(config->rank_count);
	uint32_t sw;

	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].speed = GBPS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 4000000;
	stage->net = net_new();
	stage->rig = rig_new(c);
	sw = net_add_switch(stage->net, stage->rig);
	crew_init(&stage->crew, stage->net, config, data);
	for (uint32_t rank = 0; rank < config->rank_count; rank++) {
		const struct endpoint_profile pf = crew_profile(&stage->crew, rank,
								rank == slow ? GBPS / 2 : GBPS);

		net_join(stage->net, crew_add(&stage->crew, rank, &pf), 0, sw, rank, GBPS,
			 DELAY_NS);
	}
	crew_connect(&stage->crew);
}

static void stage_end(struct stage *stage)
{
	cr_assert_eq(rig_all_drops(stage->rig), 0);
	net_end(stage->net);
	crew_end(&stage->crew);
}

// --- collectives ------------------------------------------------------------------------------

struct collective_row {
	const char *what;
	enum collective_kind kind;
	uint64_t elements;
	uint32_t least_percent; // of what the ports allow
};

static const struct collective_row collective_rows[] = {
	{ "ring all-reduce of 1 MB", COLLECTIVE_ALL_REDUCE, 1 << 18, 95 },
	{ "ring all-reduce of 4 MB", COLLECTIVE_ALL_REDUCE, 1 << 20, 97 },
	{ "tree all-reduce of 1 MB", COLLECTIVE_ALL_REDUCE_TREE, 1 << 18, 60 },
	{ "all-gather of 1 MB", COLLECTIVE_ALL_GATHER, 1 << 18, 95 },
	{ "reduce-scatter of 1 MB", COLLECTIVE_REDUCE_SCATTER, 1 << 18, 95 },
	{ "all-to-all of 1 MB", COLLECTIVE_ALL_TO_ALL, 1 << 18, 80 },
	{ "all-reduce of one element", COLLECTIVE_ALL_REDUCE, 1, 0 },
};

// Frames of 1024 bytes and 82 of headers and wire; the first of a message has 16 more, one with an
// immediate 4.
static double ideal_ns(const struct job_config *config)
{
	return (double)collective_port_bytes(&config->collective) * 8 * (1024 + 82) / 1024;
}

TABLE_TEST(job, collective, row, collective_rows)
{
	const struct job_config config = { .rank_count = RANKS,
					   .receive_depth = 64,
					   .collective = { .kind = row->kind,
							   .rank_count = RANKS,
							   .elements = row->elements,
							   .slice_bytes = 64 << 10 },
					   .iterations = 2,
					   .warmup = 1,
					   .dscp = 3 };
	struct stage stage;
	struct job_result result;
	double percent;

	stage_init(&stage, &config, true, JOB_NONE);
	cr_assert(crew_run(&stage.crew, 10000 * MS), "%s: does not end", row->what);
	job_result(stage.crew.job, &result);
	cr_assert_eq(result.failed, 0);
	cr_assert_eq(result.iteration.count, 2);
	cr_assert_eq(result.checked, 2 * RANKS * row->elements);
	cr_assert_eq(result.wrong, 0, "%s: %lu wrong", row->what, result.wrong);
	cr_assert_eq(crew_stats(&stage.crew).retransmits, 0);
	percent = 100 * ideal_ns(&config) / (double)result.iteration.least;
	cr_log_info("%s: %.1f us, %.1f %% of the ideal", row->what,
		    (double)result.iteration.least / 1000, percent);
	cr_assert_leq(percent, 100.5);
	cr_assert_geq(percent, row->least_percent, "%s: %.1f %%", row->what, percent);
	stage_end(&stage);
}

// A host whose port sends at half the speed of the others is the one that all wait for.
Test(job, a_slow_host_is_named)
{
	const struct job_config config = { .rank_count = RANKS,
					   .receive_depth = 64,
					   .collective = { .kind = COLLECTIVE_ALL_REDUCE,
							   .rank_count = RANKS,
							   .elements = 1 << 20,
							   .slice_bytes = 64 << 10 },
					   .iterations = 1,
					   .dscp = 3 };
	struct job_rank_result after;
	struct job_result result;
	struct stage stage;

	stage_init(&stage, &config, true, 5);
	cr_assert(crew_run(&stage.crew, 10000 * MS));
	job_result(stage.crew.job, &result);
	cr_assert_eq(result.wrong, 0);
	cr_assert_eq(result.slowest_rank, 5);
	cr_assert_eq(result.cause, JOB_CAUSE_PORT);
	job_rank_result(stage.crew.job, 6, &after);
	cr_assert_eq(after.waited_for, 5);
	cr_assert_gt(after.cause_ns[JOB_CAUSE_PEER], after.cause_ns[JOB_CAUSE_PORT] / 2);
	stage_end(&stage);
}

// --- flows ------------------------------------------------------------------------------------

struct flow_row {
	const char *what;
	struct job_flow flow;
};

static const struct flow_row flow_rows[] = {
	{ "writes", { .op = RC_WRITE, .depth = 4, .bytes = 65536, .messages = 100 } },
	{ "reads", { .op = RC_READ, .depth = 4, .bytes = 65536, .messages = 100 } },
	{ "sends", { .op = RC_SEND, .depth = 4, .bytes = 65536, .messages = 100 } },
	{ "small sends", { .op = RC_SEND, .depth = 16, .bytes = 2, .messages = 1000 } },
	{ "write ping-pong",
	  { .op = RC_WRITE, .ping_pong = true, .depth = 1, .bytes = 64, .messages = 100 } },
	{ "send ping-pong",
	  { .op = RC_SEND, .ping_pong = true, .depth = 1, .bytes = 64, .messages = 100 } },
};

// As many messages as were asked for arrive, none twice; rates and times are those of the wire.
TABLE_TEST(job, flow, row, flow_rows)
{
	struct job_flow flow = row->flow;
	const struct job_config config = {
		.rank_count = 2, .receive_depth = 32, .flow = &flow, .flow_count = 1
	};
	// There: 64 bytes in a frame of 64 + 82, and 4 of the immediate and 16 of the RETH of a
	// WRITE, twice over a wire of 250 ns, stored whole in the switch; and as much back.
	const uint64_t bytes = 64 + 82 + (flow.op == RC_WRITE ? 20 : 0);
	const uint64_t half_ns = 2 * (bytes * 8 + DELAY_NS);
	struct job_flow_result got;
	struct job_result result;
	struct stage stage;

	flow.dst = 1;
	flow.dscp = 3;
	stage_init(&stage, &config, true, JOB_NONE);
	cr_assert(crew_run(&stage.crew, 10000 * MS), "%s: does not end", row->what);
	job_result(stage.crew.job, &result);
	job_flow_result(stage.crew.job, 0, &got);
	cr_assert_eq(result.failed, 0);
	cr_assert_eq(got.messages, flow.messages);
	cr_assert_eq(got.bytes, flow.messages * flow.bytes);
	cr_assert_eq(result.latency.count, flow.messages);
	if (flow.ping_pong) {
		cr_assert_geq(result.latency.least, half_ns);
		cr_assert_leq(result.latency.least, half_ns + 1000, "%lu of %lu",
			      result.latency.least, half_ns);
	} else if (flow.bytes == 65536) {
		const double ns = (double)(got.last.v - got.first.v);

		cr_assert_geq((double)got.bytes * 8 * 1106 / 1024 / ns, 0.95);
		cr_assert_leq((double)got.bytes * 8 * 1106 / 1024 / ns, 1.0);
	}
	stage_end(&stage);
}

struct burst_row {
	const char *what;
	uint32_t burst;
	uint32_t depth;
	uint64_t messages; // within 50 ms
	uint64_t last_us;  // from post to completion, of the last of a burst
};

// A frame of 4 KB in five packets takes 4096 * 1106 / 1024 * 8 ns and 16 bytes of RETH on the line
// of 1 Gb/s: 35.5 us.
static const struct burst_row burst_rows[] = {
	{ "one message and a gap", 1, 8, 50, 50 },
	{ "four back to back", 4, 8, 200, 4 * 36 + 20 },
	{ "as many one after another", 4, 1, 200, 50 },
};

// Bursts of messages, a gap apart, stop when their time is over.
TABLE_TEST(job, burst, row, burst_rows)
{
	struct job_flow flow = { .dst = 1,
				 .op = RC_WRITE,
				 .dscp = 3,
				 .depth = row->depth,
				 .bytes = 4096,
				 .burst = row->burst,
				 .gap_ns = MS,
				 .start = { 5 * MS },
				 .stop = { 55 * MS } };
	const struct job_config config = {
		.rank_count = 2, .receive_depth = 8, .flow = &flow, .flow_count = 1
	};
	struct job_result result;
	struct job_flow_result got;
	struct stage stage;

	stage_init(&stage, &config, true, JOB_NONE);
	cr_assert(crew_run(&stage.crew, 1000 * MS));
	job_flow_result(stage.crew.job, 0, &got);
	job_result(stage.crew.job, &result);
	cr_assert_eq(got.messages, row->messages, "%lu", got.messages);
	cr_assert_eq(got.bytes, row->messages * 4096);
	cr_assert_geq(got.first.v, 5 * MS);
	// The last burst begins 1 ms before the end.
	cr_assert_leq(got.last.v, 54 * MS + row->burst * 50000ull);
	cr_assert_leq(result.latency.most, row->last_us * 1000, "%lu", result.latency.most);
	// Those behind the first of a burst wait for it, when they are posted with it.
	cr_assert_geq(result.latency.most, u64_min(row->burst, row->depth) * 4 * (1024 + 82) * 8);
	stage_end(&stage);
}

// --- refusals ---------------------------------------------------------------------------------

struct check_row {
	const char *what;
	struct job_flow flow;
	const char *says;
};

static const struct check_row check_rows[] = {
	{ "no such rank", { .dst = 2, .depth = 1, .messages = 1 }, "no such rank" },
	{ "to itself", { .depth = 1, .messages = 1 }, "from a rank to itself" },
	{ "no depth", { .dst = 1, .messages = 1 }, "depth: at least 1" },
	{ "no end", { .dst = 1, .depth = 1 }, "without an end" },
	{ "a READ as ping-pong",
	  { .dst = 1, .depth = 1, .messages = 1, .op = RC_READ, .ping_pong = true },
	  "a READ is answered by its data" },
};

TABLE_TEST(job, check, row, check_rows)
{
	const struct job_config config = { .rank_count = 2, .flow = &row->flow, .flow_count = 1 };
	const char *what;
	uint32_t flow;

	cr_assert_neq(job_check(&config, &what, &flow), 0, "%s", row->what);
	cr_assert_str_eq(what, row->says);
	cr_assert_eq(flow, 0);
}
