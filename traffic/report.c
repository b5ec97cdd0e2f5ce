// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of a run from its counters. Only sums, ratios and units are made here; what a figure
// means stands in schema/traffic_report.def.
//
// Rates are per nanosecond: bits in nanoseconds are Gb/s, bytes in nanoseconds GB/s.

#include "traffic/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Quantiles that a standard deviation is taken over.
enum { STDEV_POINTS = 1000 };

static const char *const outcomes[] = {
	[REPORT_DONE] = "done",
	[REPORT_STOPPED] = "stopped",
	[REPORT_TIMEOUT] = "timeout",
	[REPORT_FAILED] = "failed",
};

static const char *const causes[JOB_CAUSES] = {
	[JOB_CAUSE_NONE] = "none",     [JOB_CAUSE_RETRANSMITTED] = "retransmitted",
	[JOB_CAUSE_PAUSED] = "paused", [JOB_CAUSE_MARKED] = "marked",
	[JOB_CAUSE_PORT] = "port",     [JOB_CAUSE_PEER] = "peer",
};

static const char *const errors[] = {
	[RC_OK] = "",
	[RC_RETRY_EXCEEDED] = "no answer: retries exceeded",
	[RC_RNR_EXCEEDED] = "receiver not ready: retries exceeded",
	[RC_REMOTE_ACCESS] = "remote access error",
	[RC_REMOTE_INVALID] = "remote invalid request",
	[RC_REMOTE_OPERATION] = "remote operational error",
	[RC_LOCAL_LENGTH] = "longer than its receive buffer",
	[RC_FLUSHED] = "behind one that failed",
};

static const char *const workloads[] = {
	[TRAFFIC_WRITE] = "write",
	[TRAFFIC_READ] = "read",
	[TRAFFIC_SEND] = "send",
	[TRAFFIC_INCAST] = "incast",
	[TRAFFIC_VICTIM] = "victim",
	[TRAFFIC_PERMUTATION] = "permutation",
	[TRAFFIC_PERFTEST] = "perftest",
	[TRAFFIC_MESH] = "mesh",
	[TRAFFIC_TRACE] = "trace",
	[TRAFFIC_REPLAY] = "replay",
	[TRAFFIC_ALL_TO_ALL] = "all-to-all",
	[TRAFFIC_ALL_REDUCE] = "all-reduce",
	[TRAFFIC_ALL_GATHER] = "all-gather",
	[TRAFFIC_REDUCE_SCATTER] = "reduce-scatter",
	[TRAFFIC_MOE] = "moe",
};

const char *report_workload_name(enum traffic_workload workload)
{
	return workloads[workload];
}

const char *report_outcome_name(enum report_outcome outcome)
{
	return outcomes[outcome];
}

static double micro(uint64_t ns)
{
	return (double)ns / 1000;
}

// Bytes in nanoseconds as Gb/s.
static double gbps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : 8 * (double)bytes / (double)ns;
}

static double mean_ns(const struct histogram *h)
{
	return h->count == 0 ? 0 : (double)h->sum / (double)h->count;
}

static double stdev_ns(const struct histogram *h)
{
	const double mean = mean_ns(h);
	double sum = 0;

	if (h->count == 0)
		return 0;
	for (uint32_t i = 0; i < STDEV_POINTS; i++) {
		const uint32_t ppm = (2 * i + 1) * (1000000 / STDEV_POINTS / 2);
		const double off = (double)histogram_quantile(h, ppm) - mean;

		sum += off * off;
	}
	return sqrt(sum / STDEV_POINTS);
}

struct fairness {
	double sum;
	double squares;
	uint32_t count;
};

static void fairness_add(struct fairness *f, double x)
{
	f->sum += x;
	f->squares += x * x;
	f->count++;
}

static double jain(const struct fairness *f)
{
	return f->squares == 0 ? 0 : f->sum * f->sum / (f->count * f->squares);
}

static uint64_t rx_pfc(const struct endpoint_stats *stats)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		sum += stats->prio[i].rx_pfc;
	return sum;
}

static void add_prios(const struct endpoint_stats *stats, struct report *out)
{
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		out->ce_marked += stats->prio[i].rx_ce;
		out->pauses_received += stats->prio[i].rx_pfc;
		out->pauses_sent += stats->prio[i].tx_pfc;
	}
}

static void make_rank(const struct report_input *in, uint32_t i, struct report *out)
{
	const struct report_host *host = &in->host[i];
	const struct endpoint_prio_stats *prio = &host->stats.prio[in->config->run.priority];
	const uint64_t *cause = host->job.cause_ns;

	out->rank[i] = (struct report_rank){
		.rank = i,
		.tx_bytes = host->rc.tx_bytes,
		.rx_bytes = host->rc.rx_bytes,
		.tx_gbps = gbps(host->rc.tx_bytes, in->elapsed_ns),
		.rx_gbps = gbps(host->rc.rx_bytes, in->elapsed_ns),
		.retransmits = host->rc.retransmits,
		.gaps = host->rc.naks_sent,
		.ce_marked = prio->rx_ce,
		.cnps = host->stats.rx_cnp,
		.pauses_received = rx_pfc(&host->stats),
		.paused_us = micro(host->paused_ns),
		.pausing_us = micro(host->pausing_ns),
		.overflows = prio->rx_overflow,
		.in_retransmission_us = micro(cause[JOB_CAUSE_RETRANSMITTED]),
		.in_pause_us = micro(cause[JOB_CAUSE_PAUSED]),
		.in_marked_us = micro(cause[JOB_CAUSE_MARKED]),
		.in_port_us = micro(cause[JOB_CAUSE_PORT]),
		.in_peer_us = micro(cause[JOB_CAUSE_PEER]),
		.waited_for = host->job.waited_for,
	};
	add_prios(&host->stats, out);
	out->retransmits += host->rc.retransmits;
	out->timeouts += host->rc.timeouts;
	out->cnps += host->stats.rx_cnp;
	out->icrc_errors += host->stats.rx_icrc;
	out->unreadable += host->unreadable;
	if (in->config->run.pfc)
		out->lossless_drops += prio->rx_overflow + host->rc.naks_sent;
}

static void make_switch(const struct switch_counts *counts, struct report *out)
{
	out->at_switch = counts;
	out->switch_drops = counts->drops;
	out->switch_lossless_drops = counts->lossless_drops;
	out->switch_pauses_sent = counts->xoffs;
	out->switch_ce_marked = counts->ce_marked;
	out->switch_headroom_bytes = counts->headroom_bytes;
}

static void make_latency(const struct histogram *h, struct report *out)
{
	out->latency_min_us = micro(h->count == 0 ? 0 : h->least);
	out->latency_avg_us = mean_ns(h) / 1000;
	out->latency_p50_us = micro(histogram_quantile(h, 500000));
	out->latency_p99_us = micro(histogram_quantile(h, 990000));
	out->latency_p999_us = micro(histogram_quantile(h, 999000));
	out->latency_max_us = micro(h->most);
	out->latency_stdev_us = stdev_ns(h) / 1000;
}

static double ratio(const struct histogram *h, uint32_t ppm)
{
	return (double)histogram_quantile(h, ppm) / 1000;
}

static void make_size(const struct job_size_result *in, struct report_size *out)
{
	*out = (struct report_size){
		.up_to_bytes = in->most_bytes == UINT64_MAX ? REPORT_NO_LIMIT : in->most_bytes,
		.messages = in->time.count,
		.time_p50_us = micro(histogram_quantile(&in->time, 500000)),
		.time_p99_us = micro(histogram_quantile(&in->time, 990000)),
		.time_p999_us = micro(histogram_quantile(&in->time, 999000)),
		.slowdown_p50 = ratio(&in->slowdown, 500000),
		.slowdown_p99 = ratio(&in->slowdown, 990000),
		.slowdown_p999 = ratio(&in->slowdown, 999000),
	};
}

// Messages that were due at times of their own.
static void make_open(const struct report_input *in, struct report *out)
{
	out->slowdown_p50 = ratio(&in->job->slowdown, 500000);
	out->slowdown_p99 = ratio(&in->job->slowdown, 990000);
	out->slowdown_p999 = ratio(&in->job->slowdown, 999000);
	out->lateness_p50_us = micro(histogram_quantile(&in->job->lateness, 500000));
	out->lateness_p99_us = micro(histogram_quantile(&in->job->lateness, 990000));
	out->lateness_max_us = micro(in->job->lateness.most);
	for (uint32_t i = 0; i < JOB_SIZES && in->size != NULL; i++)
		make_size(&in->size[i], &out->size[i]);
}

// The queue pairs of a flow stand one behind the other.
static void make_flow(const struct report_input *in, uint32_t first, uint32_t qps,
		      struct report_flow *out)
{
	const struct job_flow *config = &in->workload->flow[first];
	ns_t begun = NS_NEVER;
	ns_t ended = { 0 };

	*out = (struct report_flow){ .src = config->src, .dst = config->dst };
	for (uint32_t i = first; i < first + qps; i++) {
		const struct job_flow_result *flow = &in->flow[i];

		out->messages += flow->messages;
		out->bytes += flow->bytes;
		begun = ns_min(begun, flow->first);
		ended = ns_before(ended, flow->last) ? flow->last : ended;
	}
	if (out->messages != 0)
		out->gbps = gbps(out->bytes, ns_since(ended, begun));
}

// Rates count from the first post to the last completion.
static void make_flows(const struct report_input *in, struct report *out)
{
	struct fairness fairness = { 0 };
	ns_t first = NS_NEVER;
	ns_t last = { 0 };
	uint64_t span_ns;

	for (uint32_t i = 0; i < in->workload->job.flow_count; i++) {
		const struct job_flow_result *flow = &in->flow[i];

		out->iterations += flow->messages;
		if (flow->messages == 0) {
			fairness_add(&fairness, 0);
			continue;
		}
		first = ns_min(first, flow->first);
		last = ns_before(last, flow->last) ? flow->last : last;
		fairness_add(&fairness, gbps(flow->bytes, ns_since(flow->last, flow->first)));
	}
	span_ns = first.v == NS_NEVER.v ? 0 : ns_since(last, first);
	out->goodput_gbps = gbps(out->bytes, span_ns);
	out->message_rate_mpps = span_ns == 0 ? 0 : (double)out->iterations * 1e3 / (double)span_ns;
	out->peak_gbps = gbps(in->job->peak_bytes, 1000000);
	out->jain = jain(&fairness);
	out->flow_count = in->workload->job.flow_count / (uint32_t)in->config->run.qps;
	for (uint32_t i = 0; i < out->flow_count; i++)
		make_flow(in, i * (uint32_t)in->config->run.qps, (uint32_t)in->config->run.qps,
			  &out->flow[i]);
}

static void make_collective(const struct report_input *in, struct report *out)
{
	const struct collective_config *config = &in->workload->job.collective;
	const struct histogram *h = &in->job->iteration;
	struct fairness fairness = { 0 };
	const double ns = mean_ns(h);

	for (uint32_t i = 0; i < in->workload->host_count; i++)
		fairness_add(&fairness, (double)in->host[i].rc.rx_bytes);
	out->jain = jain(&fairness);
	out->iterations = h->count;
	out->elements = config->elements;
	out->time_us = ns / 1000;
	out->time_min_us = micro(h->count == 0 ? 0 : h->least);
	out->time_p50_us = micro(histogram_quantile(h, 500000));
	out->time_max_us = micro(h->most);
	out->ideal_us = workload_ideal_ns(in->config, in->workload) / 1000;
	out->wrong = in->job->wrong;
	out->checked = in->job->checked;
	out->slowest_rank = in->job->slowest_rank;
	out->cause = causes[in->job->cause];
	if (h->count == 0)
		return;
	out->algbw_gbs = (double)(config->elements * COLLECTIVE_ELEMENT_BYTES) / ns;
	out->busbw_gbs = out->algbw_gbs * (double)collective_bus_ppm(config) / 1e6;
	out->ideal_ratio = out->ideal_us / out->time_us;
	out->goodput_gbps = 8 * (double)collective_port_bytes(config) / ns;
}

void report_make(const struct report_input *in, struct report *out)
{
	const struct run_config *run = &in->config->run;

	*out = (struct report){
		.rank = out->rank,
		.flow = out->flow,
		.workload = workloads[run->workload],
		.outcome = outcomes[in->outcome],
		.hosts = in->workload->host_count,
		.size_bytes = run->size,
		.seconds = (double)in->elapsed_ns / 1e9,
		.starved_us = micro(in->starved_ns),
		.bytes = in->job->bytes,
		.failed = in->job->failed,
		.error = errors[in->job->status],
		.slowest_rank = JOB_NONE,
		.cause = causes[JOB_CAUSE_NONE],
	};
	for (uint32_t i = 0; i < in->workload->host_count; i++)
		make_rank(in, i, out);
	if (in->at_switch != NULL)
		make_switch(in->at_switch, out);
	make_latency(&in->job->latency, out);
	make_open(in, out);
	if (in->workload->job.iterations != 0)
		make_collective(in, out);
	else
		make_flows(in, out);
	if (traffic_is_open(run) && out->iterations != 0)
		out->size_bytes = out->bytes / out->iterations;
	out->ceiling_gbps = workload_ceiling_bps(in->config, in->workload) / 1e9;
	out->ceiling_ratio = out->goodput_gbps / out->ceiling_gbps;
	out->good = in->outcome != REPORT_TIMEOUT && in->outcome != REPORT_FAILED &&
		    out->failed == 0 && out->wrong == 0 && out->lossless_drops == 0 &&
		    (!run->pfc || out->switch_lossless_drops == 0) &&
		    (!run->pfc || out->retransmits == 0) && !in->stuck &&
		    (in->outcome != REPORT_STOPPED || out->iterations != 0);
}

// --- of a job ---------------------------------------------------------------------------------

int report_of_job(const struct job *job, const struct report_input *in, struct report *out)
{
	const uint32_t flow_count = in->workload->job.flow_count;
	struct job_flow_result *flow = calloc(flow_count + 1, sizeof(*flow));
	struct job_result *result = calloc(1, sizeof(*result));
	struct job_size_result *size = calloc(JOB_SIZES, sizeof(*size));
	struct report_input whole = *in;
	int rc = -ENOMEM;

	out->rank = calloc(in->workload->host_count, sizeof(*out->rank));
	out->flow = calloc(flow_count + 1, sizeof(*out->flow));
	if (flow == NULL || result == NULL || size == NULL || out->rank == NULL ||
	    out->flow == NULL)
		goto out;
	for (uint32_t i = 0; i < flow_count; i++)
		job_flow_result(job, i, &flow[i]);
	for (uint32_t i = 0; i < JOB_SIZES; i++)
		job_size_result(job, i, &size[i]);
	job_result(job, result);
	whole.job = result;
	whole.flow = flow;
	whole.size = size;
	report_make(&whole, out);
	rc = 0;
out:
	free(size);
	free(result);
	free(flow);
	return rc;
}

void report_free(struct report *report)
{
	free(report->rank);
	free(report->flow);
}

int report_print(const struct traffic_config *config, const struct report *report)
{
	int rc = 0;

	if (config->run.json)
		rc = report_json(config, report, stdout);
	else
		report_text(config, report, stdout);
	if (report_end(stdout) != 0 || rc != 0)
		return EXIT_FAILURE;
	return report->good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int report_end(FILE *out)
{
	// A line that was lost before does not come again with the last ones.
	if (fflush(out) == 0 && ferror(out) == 0)
		return 0;
	fputs("weft-traffic: the output cannot be written\n", stderr);
	return -EIO;
}
