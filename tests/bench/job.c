// SPDX-License-Identifier: BSD-3-Clause
//
// job [--gate]: cycles of a job for one message, by the number of its queue pairs, when one at a
// time completes; and of a look at an endpoint with as many, of which one has data to send. A host
// has thousands and looks every 200 us, so neither may grow with them (a look finds who sends in a
// set of bits).
//
// What carries the job is a ring of posts, so that nothing else is measured.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "traffic/core/endpoint.h"
#include "traffic/core/job.h"

enum {
	QPS_MAX = 4096,
	DEPTH = 4,
	ROUNDS = 200,
	ROUND = 1024, // messages, or looks
	BYTES = 1024,
	RATIO_MAX = 4, // most of 4096 queue pairs to one: caches are what remains
	LOOK_MAX = 2000,
};

#define LINE_BPS 100000000000ull

static const uint32_t counts[] = { 1, 16, 256, 4096 };
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

struct stand {
	struct job *job;
	struct job_config config;
	struct job_flow flow[QPS_MAX];
	uint32_t posted[QPS_MAX * DEPTH]; // queue pairs, in the order in which they complete
	uint32_t first, count;
	ns_t now;
};

static void *zeros(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (memory == NULL)
		abort();
	memset(memory, 0, bytes);
	return memory;
}

static void post_all(struct stand *s)
{
	const uint32_t room = s->config.flow_count * DEPTH;
	struct job_post post;

	while (job_next(s->job, 0, s->now, &post)) {
		if (s->count == room)
			abort();
		s->posted[(s->first + s->count++) % room] = post.qp;
	}
}

static void complete_one(struct stand *s)
{
	const struct rc_completion done = { .bytes = BYTES, .posted = s->now, .done = s->now };
	const uint32_t qp = s->posted[s->first];

	s->first = (s->first + 1) % (s->config.flow_count * DEPTH);
	s->count--;
	job_done(s->job, 0, qp, &done, s->now);
}

static void open_stand(struct stand *s, uint32_t qps)
{
	*s = (struct stand){ .config = { .rank_count = 2, .flow = s->flow, .flow_count = qps } };
	for (uint32_t i = 0; i < qps; i++)
		s->flow[i] = (struct job_flow){
			.dst = 1, .op = RC_WRITE, .depth = DEPTH, .bytes = BYTES, .stop = NS_NEVER
		};
	s->job = job_init(&s->config, zeros(job_bytes(&s->config)));
	post_all(s);
}

static double best(double before, uint64_t cycles)
{
	const double one = (double)cycles / ROUND;

	return before == 0 || one < before ? one : before;
}

static double measure_job(uint32_t qps)
{
	static struct stand stand;
	double cycles = 0;

	open_stand(&stand, qps);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t start = rte_rdtsc_precise();

		for (uint32_t k = 0; k < ROUND; k++) {
			complete_one(&stand);
			post_all(&stand);
		}
		cycles = best(cycles, rte_rdtsc_precise() - start);
	}
	if (stand.count != qps * DEPTH)
		abort();
	free(stand.job);
	return cycles;
}

// An endpoint whose last queue pair has data to send.
static struct endpoint_state *open_endpoint(const struct endpoint_profile *pf)
{
	struct endpoint_state *st = endpoint_init(pf, NULL, 0, zeros(endpoint_bytes(pf)));
	const struct endpoint_peer peer = { .mac = 2, .ip = { 10, 0, 0, 2 } };
	const struct rc_work work = { .op = RC_WRITE, .bytes = BYTES };

	for (uint32_t qp = 0; qp < pf->qp_count; qp++) {
		if (endpoint_connect(pf, st, qp, &peer, (ns_t){ 0 }) != 0)
			abort();
	}
	if (!endpoint_post(pf, st, pf->qp_count - 1, &work, (ns_t){ 0 }))
		abort();
	return st;
}

static double measure_look(uint32_t qps)
{
	const struct dcqcn_config config = dcqcn_config_of(DCQCN_PAPER);
	struct endpoint_profile pf = {
		.mac = 1,
		.ipv4 = { 10, 0, 0, 1 },
		.has_ipv4 = true,
		.bps = LINE_BPS,
		.mtu = 1500,
		.dcqcn = true,
		.rc = { .mtu = 1024, .window = 16, .read_depth = 1, .timeout_ns = 1000000000 },
		.qp_count = qps,
		.neighbor_count = 1,
		.send_count = DEPTH,
		.receive_count = 1,
	};
	struct endpoint_state *st;
	struct sight sight;
	double cycles = 0;

	dcqcn_build(&config, LINE_BPS, &pf.rp, &pf.np);
	st = open_endpoint(&pf);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t start = rte_rdtsc_precise();

		for (uint32_t k = 0; k < ROUND; k++)
			endpoint_look(&pf, st, (ns_t){ 0 }, &sight);
		cycles = best(cycles, rte_rdtsc_precise() - start);
		if (!sight.sending || sight.rate_bps < LINE_BPS)
			abort();
	}
	free(st);
	return cycles;
}

int main(int argc, char **argv)
{
	const bool gate = argc == 2 && strcmp(argv[1], "--gate") == 0;
	double first = 0;
	bool good = true;

	printf("queue pairs  cycles per message  cycles per look\n");
	for (uint32_t i = 0; i < COUNTS; i++) {
		const double job = measure_job(counts[i]);
		const double look = measure_look(counts[i]);

		first = i == 0 ? job : first;
		good &= job <= RATIO_MAX * first && look <= LOOK_MAX;
		printf("%11u %19.1f %16.1f\n", counts[i], job, look);
	}
	if (!gate || good)
		return 0;
	printf("FAIL: a message over %d times that of one queue pair, or a look over %d cycles\n",
	       RATIO_MAX, LOOK_MAX);
	return 1;
}
