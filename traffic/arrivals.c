// SPDX-License-Identifier: BSD-3-Clause
//
// Poisson: the load is one of the port that carries most flows, each of which offers as much as any
// other; each queue pair is a process of its own, which together are one again.
// Trace: messages of a pair of hosts take turns over its queue pairs.

#include "traffic/arrivals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/core/poisson.h"
#include "traffic/sizes_file.h"
#include "traffic/trace_file.h"

enum { FIRST_ROOM = 1024, MEAN_POINTS = 10000 };

// Arrivals as they are drawn: they move when they grow.
struct drawn {
	struct job_arrival *arrival;
	uint32_t count;
	uint32_t room;
};

static uint64_t ideal_ns(const struct traffic_config *config, const struct job_flow *flow,
			 uint64_t bytes)
{
	const uint64_t bps = u64_min(traffic_host_bps(config, flow->src),
				     traffic_host_bps(config, flow->dst));
	const double ns = 8e9 * workload_line_bytes(config, flow->op, bytes) / (double)bps;

	return config->run.rtt + (uint64_t)ns + 1;
}

static struct job_arrival arrival_of(const struct traffic_config *config,
				     const struct job_flow *flow, ns_t at, uint64_t bytes)
{
	return (struct job_arrival){ .at = at,
				     .bytes = bytes,
				     .ideal_ns = ideal_ns(config, flow, bytes) };
}

// Flows know their arrivals by their number until those do not move any more.
static void point_flows(struct workload *workload)
{
	const struct job_arrival *at = workload->arrival;

	for (uint32_t i = 0; i < workload->job.flow_count; i++) {
		struct job_flow *flow = &workload->flow[i];

		flow->arrival = at;
		flow->bytes = 0;
		for (uint64_t k = 0; k < flow->messages; k++)
			flow->bytes = u64_max(flow->bytes, at[k].bytes);
		at += flow->messages;
	}
}

// --- Poisson ----------------------------------------------------------------------------------

// What a flow is drawn by.
struct process {
	const struct traffic_config *config;
	const struct sizes *sizes; // NULL: all of `size`
	uint64_t mean_ns;          // from burst to burst
};

static double mean_line_bytes(const struct process *process, enum rc_op op)
{
	const struct traffic_config *config = process->config;
	double sum = 0;

	if (process->sizes == NULL)
		return workload_line_bytes(config, op, config->run.size);
	for (uint32_t i = 0; i < MEAN_POINTS; i++) {
		const uint32_t step = SIZES_WHOLE / MEAN_POINTS;

		sum += workload_line_bytes(config, op,
					   sizes_at(process->sizes, i * step + step / 2));
	}
	return sum / MEAN_POINTS;
}

static int append(struct drawn *drawn, const struct job_arrival *arrival)
{
	if (drawn->count == drawn->room) {
		const uint32_t room = drawn->room == 0 ? FIRST_ROOM : 2 * drawn->room;
		struct job_arrival *more;

		if (drawn->count == TRACE_MAX) {
			fprintf(stderr,
				"weft-traffic: --load: more than %d messages; a shorter "
				"--duration or larger sizes make fewer\n",
				TRACE_MAX);
			return -EINVAL;
		}
		more = realloc(drawn->arrival, room * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		drawn->arrival = more;
		drawn->room = room;
	}
	drawn->arrival[drawn->count++] = *arrival;
	return 0;
}

// As many as were asked for, or those that are due within the duration.
static int draw_flow(const struct process *process, struct rng *rng, struct job_flow *flow,
		     struct drawn *out)
{
	const struct run_config *run = &process->config->run;
	const bool timed = run->duration != CONFIG_UNSET;
	uint64_t count = 0;
	ns_t at = { 0 };
	int rc = 0;

	for (; rc == 0 && (timed || count < run->iters); count++) {
		struct job_arrival arrival;

		if (count % run->burst_messages == 0)
			at = ns_add(at, poisson_gap(rng, process->mean_ns));
		if (timed && at.v >= run->duration)
			break;
		arrival = arrival_of(process->config, flow, at,
				     process->sizes == NULL ? run->size :
							      sizes_draw(process->sizes, rng));
		rc = append(out, &arrival);
	}
	flow->messages = count;
	flow->stop = (ns_t){ 0 };
	flow->gap_ns = 0;
	return rc;
}

static int draw_flows(struct process *process, struct workload *workload, struct drawn *out)
{
	const struct run_config *run = &process->config->run;
	// Bits per second on the line of each queue pair.
	const double bps = (double)run->load / 1e6 / workload_busiest(process->config, workload);
	const double mean_ns = 8e9 * mean_line_bytes(process, workload->flow[0].op) / bps *
			       (double)run->burst_messages;
	struct rng seeds;
	int rc = 0;

	process->mean_ns = mean_ns < (double)POISSON_MEAN_MAX ? (uint64_t)mean_ns :
								POISSON_MEAN_MAX;
	rng_seed(&seeds, run->seed);
	for (uint32_t i = 0; i < workload->job.flow_count && rc == 0; i++) {
		struct rng rng;

		rng_seed(&rng, rng_next64(&seeds));
		rc = draw_flow(process, &rng, &workload->flow[i], out);
	}
	return rc;
}

int arrivals_poisson(const struct traffic_config *config, struct workload *workload)
{
	struct process process = { .config = config };
	struct drawn drawn = { 0 };
	struct sizes *sizes = NULL;
	int rc = 0;

	if (config->run.sizes[0] != '\0') {
		sizes = malloc(sizeof(*sizes));
		rc = sizes == NULL ? -ENOMEM : sizes_file_read(config->run.sizes, stderr, sizes);
		process.sizes = sizes;
	}
	if (rc == 0)
		rc = draw_flows(&process, workload, &drawn);
	free(sizes);
	workload->arrival = drawn.arrival;
	workload->arrival_count = drawn.count;
	if (rc == 0 && drawn.count == 0) {
		fputs("weft-traffic: --load: no message is due within the --duration\n", stderr);
		rc = -EINVAL;
	}
	if (rc == 0)
		point_flows(workload);
	return rc;
}

// --- trace ------------------------------------------------------------------------------------

static bool same_pair(const struct trace_row *a, const struct trace_row *b)
{
	return a->src == b->src && a->dst == b->dst;
}

static uint32_t count_pairs(const struct trace *trace)
{
	uint32_t count = 1;

	for (uint32_t i = 1; i < trace->count; i++)
		count += !same_pair(&trace->row[i - 1], &trace->row[i]);
	return count;
}

// The messages of one pair, `count` rows from `row` on, over its queue pairs.
static void place_pair(const struct traffic_config *config, const struct trace_row *row,
		       uint32_t count, struct workload *out)
{
	const uint32_t qps = (uint32_t)config->run.qps;
	struct job_flow *flow = &out->flow[out->job.flow_count];

	workload_add_flow(config, row->src, row->dst, out);
	for (uint32_t qp = 0; qp < qps; qp++) {
		flow[qp].messages = 0;
		flow[qp].stop = (ns_t){ 0 };
		flow[qp].gap_ns = 0;
		for (uint32_t i = qp; i < count; i += qps, flow[qp].messages++)
			out->arrival[out->arrival_count++] = arrival_of(config, &flow[qp],
									row[i].at, row[i].bytes);
	}
}

static int place(const struct traffic_config *config, const struct trace *trace,
		 struct workload *out)
{
	uint32_t end;

	out->flow = calloc(count_pairs(trace) * config->run.qps, sizeof(*out->flow));
	out->arrival = calloc(trace->count, sizeof(*out->arrival));
	if (out->flow == NULL || out->arrival == NULL)
		return -ENOMEM;
	for (uint32_t first = 0; first < trace->count; first = end) {
		end = first + 1;
		while (end < trace->count && same_pair(&trace->row[first], &trace->row[end]))
			end++;
		place_pair(config, &trace->row[first], end - first, out);
	}
	point_flows(out);
	return 0;
}

int arrivals_trace(const struct traffic_config *config, struct workload *workload)
{
	struct trace trace;
	int rc = trace_file_read(config->run.trace, workload->host_count, stderr, &trace);

	if (rc != 0)
		return rc;
	rc = place(config, &trace, workload);
	trace_free(&trace);
	return rc;
}

// --- what line rates allow --------------------------------------------------------------------

static double larger(double a, double b)
{
	return a > b ? a : b;
}

double arrivals_ceiling_bps(const struct traffic_config *config, const struct workload *workload)
{
	double out[TRAFFIC_RANK_MAX] = { 0 }; // bits
	double in[TRAFFIC_RANK_MAX] = { 0 };
	double payload = 0, worst = 0;

	for (uint32_t i = 0; i < workload->job.flow_count; i++) {
		const struct job_flow *flow = &workload->flow[i];
		const bool turned = flow->op == RC_READ;
		double bits = 0;

		for (uint64_t k = 0; k < flow->messages; k++) {
			bits += 8 * workload_line_bytes(config, flow->op, flow->arrival[k].bytes);
			payload += 8 * (double)flow->arrival[k].bytes;
		}
		out[turned ? flow->dst : flow->src] += bits;
		in[turned ? flow->src : flow->dst] += bits;
	}
	for (uint32_t rank = 0; rank < workload->host_count; rank++)
		worst = larger(worst, larger(out[rank], in[rank]) /
					      (double)traffic_host_bps(config, rank));
	return payload / worst;
}
