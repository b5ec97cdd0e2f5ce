// SPDX-License-Identifier: BSD-3-Clause
//
// Who sends to whom.
//
// What line rates allow of flows: each flow sends as much as any other, so the port that most of
// them share is the last to be done, and the others wait for it.

#include "traffic/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/arrivals.h"
#include "traffic/core/endpoint.h"

enum { RECEIVE_DEPTH_MIN = 16 };

static enum rc_op op_of(const struct run_config *run)
{
	const enum traffic_workload workload = (enum traffic_workload)run->workload;
	const uint64_t word = workload <= TRAFFIC_SEND ? run->workload : run->op;

	return word == TRAFFIC_WRITE ? RC_WRITE : word == TRAFFIC_READ ? RC_READ : RC_SEND;
}

void workload_add_flow(const struct traffic_config *config, uint32_t src, uint32_t dst,
		       struct workload *out)
{
	const struct run_config *run = &config->run;
	const enum rc_op op = op_of(run);
	struct job_flow flow = {
		.src = op == RC_READ ? dst : src,
		.dst = op == RC_READ ? src : dst,
		.op = op,
		.ping_pong = run->latency,
		.dscp = (uint8_t)run->dscp,
		.depth = run->latency ? 1 : (uint32_t)run->depth,
		.bytes = run->size,
		.burst = run->burst_messages,
		.gap_ns = run->gap,
		.messages = run->iters,
	};

	if (run->duration != CONFIG_UNSET) {
		flow.messages = 0;
		flow.stop = (ns_t){ run->duration };
	}
	for (uint64_t i = 0; i < run->qps; i++)
		out->flow[out->job.flow_count++] = flow;
}

static void add_pairs(const struct traffic_config *config, struct workload *out)
{
	for (uint32_t i = 0; i + 1 < out->host_count; i += 2) {
		workload_add_flow(config, i, i + 1, out);
		if (config->run.bidirectional)
			workload_add_flow(config, i + 1, i, out);
	}
}

static void add_mesh(const struct traffic_config *config, struct workload *out)
{
	const uint32_t hosts = out->host_count;

	for (uint32_t i = 0; i < hosts; i++) {
		for (uint32_t k = 1; k < hosts; k++)
			workload_add_flow(config, i, (i + k) % hosts, out);
	}
}

static void add_flows(const struct traffic_config *config, struct workload *out)
{
	const struct run_config *run = &config->run;
	const uint32_t hosts = out->host_count;
	const bool victim = run->workload == TRAFFIC_VICTIM;

	if (run->workload == TRAFFIC_INCAST || victim) {
		for (uint32_t i = 1; i < hosts - victim; i++)
			workload_add_flow(config, i, 0, out);
		if (victim)
			workload_add_flow(config, 1, hosts - 1, out);
	} else if (run->workload == TRAFFIC_PERMUTATION) {
		for (uint32_t i = 0; i < hosts; i++)
			workload_add_flow(config, i, (i + (uint32_t)run->shift) % hosts, out);
	} else if (run->workload == TRAFFIC_MESH) {
		add_mesh(config, out);
	} else {
		add_pairs(config, out);
	}
}

// Of one host at most.
static uint64_t flows_of_host(const struct run_config *run, uint32_t host_count)
{
	return run->workload == TRAFFIC_MESH ? host_count - 1 : 1;
}

static int make_flows(const struct traffic_config *config, struct workload *out)
{
	const struct run_config *run = &config->run;

	if (run->workload == TRAFFIC_TRACE)
		return arrivals_trace(config, out);
	out->flow = calloc(out->host_count * flows_of_host(run, out->host_count) * run->qps,
			   sizeof(*out->flow));
	if (out->flow == NULL)
		return -ENOMEM;
	add_flows(config, out);
	return run->load == CONFIG_UNSET ? 0 : arrivals_poisson(config, out);
}

static enum collective_kind kind_of(const struct run_config *run)
{
	switch ((enum traffic_workload)run->workload) {
	case TRAFFIC_ALL_GATHER: return COLLECTIVE_ALL_GATHER;
	case TRAFFIC_REDUCE_SCATTER: return COLLECTIVE_REDUCE_SCATTER;
	case TRAFFIC_ALL_REDUCE:
		return run->algorithm == TRAFFIC_TREE ? COLLECTIVE_ALL_REDUCE_TREE :
							COLLECTIVE_ALL_REDUCE;
	case TRAFFIC_ALL_TO_ALL:
	case TRAFFIC_MOE:
	case TRAFFIC_WRITE:
	case TRAFFIC_READ:
	case TRAFFIC_SEND:
	case TRAFFIC_INCAST:
	case TRAFFIC_VICTIM:
	case TRAFFIC_PERMUTATION:
	case TRAFFIC_PERFTEST:
	case TRAFFIC_MESH:
	case TRAFFIC_TRACE:
	case TRAFFIC_REPLAY: break;
	}
	return COLLECTIVE_ALL_TO_ALL;
}

static void set_collective(const struct run_config *run, struct workload *out)
{
	out->job.collective = (struct collective_config){
		.kind = kind_of(run),
		.rank_count = out->host_count,
		.elements = run->size / COLLECTIVE_ELEMENT_BYTES,
		.slice_bytes = (uint32_t)run->slice,
		.skew_percent = run->workload == TRAFFIC_MOE ? (uint32_t)(run->skew / 10000) : 0,
	};
	out->job.iterations = (uint32_t)run->iters;
	out->job.warmup = (uint32_t)run->warmup;
	out->job.dscp = (uint8_t)run->dscp;
}

int workload_make(const struct traffic_config *config, uint32_t host_count, struct workload *out)
{
	const struct run_config *run = &config->run;
	const char *what = NULL;
	uint32_t at = 0;
	int rc = 0;

	*out = (struct workload){
		.host_count = host_count,
		.job = { .rank_count = host_count,
			 .receive_depth = (uint32_t)(run->depth > RECEIVE_DEPTH_MIN ?
							     run->depth :
							     RECEIVE_DEPTH_MIN) },
	};
	if (traffic_is_collective((enum traffic_workload)run->workload))
		set_collective(run, out);
	else
		rc = make_flows(config, out);
	out->job.flow = out->flow;
	if (rc == 0 && job_check(&out->job, &what, &at) != 0) {
		fprintf(stderr, "weft-traffic: %s\n", what);
		rc = -EINVAL;
	}
	if (rc != 0)
		workload_free(out);
	return rc;
}

void workload_begin(struct workload *workload, ns_t now)
{
	for (uint32_t i = 0; i < workload->job.flow_count; i++) {
		struct job_flow *flow = &workload->flow[i];

		flow->start = ns_add(flow->start, now.v);
		if (flow->stop.v != 0)
			flow->stop = ns_add(flow->stop, now.v);
	}
}

void workload_free(struct workload *workload)
{
	free(workload->arrival);
	free(workload->flow);
	workload->arrival = NULL;
	workload->flow = NULL;
}

// --- what line rates allow --------------------------------------------------------------------

// Opcodes of the first, a middle, the last and an only packet.
static const uint8_t opcodes[][4] = {
	[RC_SEND] = { ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST, ROCE_SEND_ONLY },
	[RC_WRITE] = { ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST, ROCE_WRITE_ONLY },
	[RC_READ] = { ROCE_READ_RESPONSE_FIRST, ROCE_READ_RESPONSE_MIDDLE, ROCE_READ_RESPONSE_LAST,
		      ROCE_READ_RESPONSE_ONLY },
};
enum { FIRST, MIDDLE, LAST, ONLY };

double workload_line_bytes(const struct traffic_config *config, enum rc_op op, uint64_t bytes)
{
	const struct roce_path path = { .ipv6 = config->run.ip.family == IP_V6 };
	const uint32_t mtu = (uint32_t)config->run.mtu;
	const bool addressed = config->run.selective && op == RC_WRITE;
	const uint64_t packets = (bytes + mtu - 1) / mtu;
	const uint32_t rest = (uint32_t)(bytes - (packets - 1) * mtu);
	uint64_t line = packets * ENDPOINT_WIRE_EXTRA;

	if (bytes == 0)
		return 0;
	if (packets == 1 || addressed) {
		line += (packets - 1) * roce_frame_bytes(&path, opcodes[op][ONLY], mtu) +
			roce_frame_bytes(&path, opcodes[op][ONLY], rest);
	} else {
		line += roce_frame_bytes(&path, opcodes[op][FIRST], mtu) +
			(packets - 2) * roce_frame_bytes(&path, opcodes[op][MIDDLE], mtu) +
			roce_frame_bytes(&path, opcodes[op][LAST], rest);
	}
	return (double)line;
}

double workload_efficiency(const struct traffic_config *config, enum rc_op op, uint64_t bytes)
{
	return bytes == 0 ? 0 : (double)bytes / workload_line_bytes(config, op, bytes);
}

// Seconds x bits per flow that the line of a rank needs.
static double load_of(const struct traffic_config *config, const struct workload *workload,
		      uint32_t rank)
{
	uint32_t out = 0;
	uint32_t in = 0;

	for (uint32_t i = 0; i < workload->job.flow_count; i++) {
		const struct job_flow *flow = &workload->flow[i];
		const bool turned = flow->op == RC_READ;

		out += (turned ? flow->dst : flow->src) == rank;
		in += (turned ? flow->src : flow->dst) == rank;
	}
	return (out > in ? out : in) / (double)traffic_host_bps(config, rank);
}

double workload_busiest(const struct traffic_config *config, const struct workload *workload)
{
	double worst = 0;

	for (uint32_t rank = 0; rank < workload->host_count; rank++) {
		const double load = load_of(config, workload, rank);

		worst = load > worst ? load : worst;
	}
	return worst;
}

// Seconds of payload on the line of a host whose part in a collective takes longest.
static double collective_seconds(const struct traffic_config *config,
				 const struct collective_config *collective)
{
	double worst = 0;

	for (uint32_t rank = 0; rank < collective->rank_count; rank++) {
		uint64_t out = 0, in = 0;
		double seconds;

		for (uint32_t i = 0; i < collective_send_count(collective, rank); i++)
			out += collective_send(collective, rank, i).bytes;
		for (uint32_t i = 0; i < collective_receive_count(collective, rank); i++)
			in += collective_receive(collective, rank, i).bytes;
		seconds = 8.0 * (double)(out > in ? out : in) /
			  (double)traffic_host_bps(config, rank);
		worst = seconds > worst ? seconds : worst;
	}
	return worst;
}

// The rate of the busiest port in a collective that takes as long as the last host needs.
static double collective_ceiling(const struct traffic_config *config,
				 const struct collective_config *collective)
{
	const uint64_t piece = collective_send(collective, 0, 0).bytes;
	const double seconds = collective_seconds(config, collective);
	const double bps = seconds == 0 ? (double)config->run.speed :
					  8.0 * (double)collective_port_bytes(collective) / seconds;

	return bps * workload_efficiency(config, RC_WRITE, piece == 0 ? 1 : piece);
}

double workload_ceiling_bps(const struct traffic_config *config, const struct workload *workload)
{
	const struct job_config *job = &workload->job;

	if (job->iterations != 0)
		return collective_ceiling(config, &job->collective);
	if (workload->arrival != NULL)
		return arrivals_ceiling_bps(config, workload);
	return job->flow_count / workload_busiest(config, workload) *
	       workload_efficiency(config, job->flow[0].op, job->flow[0].bytes);
}

double workload_ideal_ns(const struct traffic_config *config, const struct workload *workload)
{
	const double bits = 8.0 * (double)collective_port_bytes(&workload->job.collective);

	return bits / workload_ceiling_bps(config, workload) * 1e9;
}
