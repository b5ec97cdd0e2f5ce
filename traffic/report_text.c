// SPDX-License-Identifier: BSD-3-Clause
//
// A report for people and for scripts that read perftest's and nccl-tests' columns. Lines of
// measurements have those columns; what these tools do not measure stands behind in words.

#include "traffic/report.h"

#include <inttypes.h>

static const char rule[] = "-------------------------------------------------------------------"
			   "--------------------\n";

static void put_bandwidth(const struct report *r, FILE *out)
{
	fputs(rule, out);
	fputs(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
	      out);
	fprintf(out, " %-10" PRIu64 " %-14" PRIu64 " %-18.2f %-20.2f %.6f\n", r->size_bytes,
		r->iterations, r->peak_gbps, r->goodput_gbps, r->message_rate_mpps);
	fputs(rule, out);
}

static void put_latency(const struct report *r, FILE *out)
{
	fputs(rule, out);
	fputs(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
	      "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n",
	      out);
	fprintf(out,
		" %-6" PRIu64 " %-14" PRIu64 " %-14.2f %-12.2f %-18.2f %-14.2f %-15.2f %-22.2f "
		"%.2f\n",
		r->size_bytes, r->iterations, r->latency_min_us, r->latency_max_us,
		r->latency_p50_us, r->latency_avg_us, r->latency_stdev_us, r->latency_p99_us,
		r->latency_p999_us);
	fputs(rule, out);
}

// The columns of one measurement: time, bandwidths and errors.
static void put_columns(const struct report *r, bool measured, FILE *out)
{
	if (!measured) {
		fprintf(out, "  %8s %7s %7s %6s", "N/A", "N/A", "N/A", "N/A");
		return;
	}
	fprintf(out, "  %8.*f %7.2f %7.2f %6" PRIu64, r->time_us < 10000 ? 2 : 0, r->time_us,
		r->algbw_gbs, r->busbw_gbs, r->wrong);
}

// An all-reduce, all-gather and reduce-scatter are in place, an all-to-all is not.
static void put_collective(enum traffic_workload workload, const struct report *r, FILE *out)
{
	const bool in_place = workload != TRAFFIC_ALL_TO_ALL && workload != TRAFFIC_MOE;
	const bool sum = workload == TRAFFIC_ALL_REDUCE || workload == TRAFFIC_REDUCE_SCATTER;

	fprintf(out, "#\n#%62s%*s\n", "out-of-place", 34, "in-place");
	fprintf(out, "# %11s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
	for (uint32_t i = 0; i < 2; i++)
		fprintf(out, "  %8s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
	fprintf(out, "\n# %11s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
	for (uint32_t i = 0; i < 2; i++)
		fprintf(out, "  %8s %7s %7s %6s", "(us)", "(GB/s)", "(GB/s)", "");
	fprintf(out, "\n  %11" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d", r->size_bytes, r->elements,
		"float", sum ? "sum" : "none", -1);
	put_columns(r, !in_place, out);
	put_columns(r, in_place, out);
	fprintf(out, "\n# Out of bounds values : %" PRIu64 " %s\n", r->wrong,
		r->wrong == 0 ? "OK" : "FAILED");
	fprintf(out, "# Avg bus bandwidth    : %g\n#\n", r->busbw_gbs);
}

static void put_ideal(const struct report *r, FILE *out)
{
	fprintf(out,
		"ideal %.1f us, %.1f %% of it reached; %" PRIu64 " operations: min %.1f, median "
		"%.1f, max %.1f us\n",
		r->ideal_us, 100 * r->ideal_ratio, r->iterations, r->time_min_us, r->time_p50_us,
		r->time_max_us);
	if (r->slowest_rank != JOB_NONE)
		fprintf(out, "slowest: host %u, cause: %s\n", r->slowest_rank, r->cause);
}

static void put_summary(const struct report *r, FILE *out)
{
	fprintf(out, "goodput %.3f Gb/s, %.1f %% of the ceiling %.3f; Jain %.4f\n", r->goodput_gbps,
		100 * r->ceiling_ratio, r->ceiling_gbps, r->jain);
	fprintf(out,
		"latency: min %.1f, median %.1f, 99 %% %.1f, max %.1f us over %" PRIu64 " bytes\n",
		r->latency_min_us, r->latency_p50_us, r->latency_p99_us, r->latency_max_us,
		r->bytes);
	fprintf(out,
		"lossless drops %" PRIu64 ", retransmits %" PRIu64 ", timeouts %" PRIu64
		", CE %" PRIu64 ", CNPs %" PRIu64 ", pauses received %" PRIu64 ", sent %" PRIu64
		"\n",
		r->lossless_drops, r->retransmits, r->timeouts, r->ce_marked, r->cnps,
		r->pauses_received, r->pauses_sent);
	if (r->icrc_errors != 0)
		fprintf(out, "frames with a wrong ICRC: %" PRIu64 "\n", r->icrc_errors);
	if (r->unreadable != 0)
		fprintf(out, "frames in pieces that do not go together: %" PRIu64 "\n",
			r->unreadable);
	if (r->failed != 0)
		fprintf(out, "failed messages: %" PRIu64 ", the first: %s\n", r->failed, r->error);
}

static void put_switch(const struct report *r, FILE *out)
{
	fprintf(out,
		"switch: lossless drops %" PRIu64 ", pauses sent %" PRIu64 ", CE %" PRIu64
		", headroom used %" PRIu64 " bytes, drops %" PRIu64 "\n",
		r->switch_lossless_drops, r->switch_pauses_sent, r->switch_ce_marked,
		r->switch_headroom_bytes, r->switch_drops);
	for (uint32_t i = 0; i < r->at_switch->reason_count; i++)
		fprintf(out, "  %s: %" PRIu64 "\n", r->at_switch->reason[i].name,
			r->at_switch->reason[i].packets);
}

// Part of the run's time in percent.
static double part(const struct report *r, double us)
{
	return r->seconds == 0 ? 0 : us / r->seconds / 1e4;
}

static void put_rank(const struct report *r, const struct report_rank *rank, FILE *out)
{
	fprintf(out,
		"%4" PRIu64 "  %8.3f  %8.3f  %6" PRIu64 "  %5" PRIu64 "  %6" PRIu64 "  %6" PRIu64
		"  %6.1f  %5.1f  %6.1f  %6.1f  %6.1f  %6.1f  ",
		rank->rank, rank->tx_gbps, rank->rx_gbps, rank->retransmits, rank->gaps,
		rank->ce_marked, rank->cnps, part(r, rank->paused_us),
		part(r, rank->in_retransmission_us), part(r, rank->in_pause_us),
		part(r, rank->in_marked_us), part(r, rank->in_port_us), part(r, rank->in_peer_us));
	if (rank->waited_for == JOB_NONE)
		fputs("     -\n", out);
	else
		fprintf(out, "%6u\n", rank->waited_for);
}

static void put_ranks(const struct report *r, FILE *out)
{
	fputs("\n                                                       time % in ...\n"
	      "host   tx Gb/s   rx Gb/s  resent   gaps      CE    CNPs   pause  again    held  "
	      "marked    port    peer   of host\n",
	      out);
	for (uint64_t i = 0; i < r->hosts; i++)
		put_rank(r, &r->rank[i], out);
}

static void put_flows(const struct report *r, FILE *out)
{
	fputs("\nflow              messages           bytes      Gb/s\n", out);
	for (uint32_t i = 0; i < r->flow_count; i++) {
		const struct report_flow *flow = &r->flow[i];

		fprintf(out, "%4" PRIu64 " -> %-4" PRIu64 "  %12" PRIu64 "  %14" PRIu64 "  %8.3f\n",
			flow->src, flow->dst, flow->messages, flow->bytes, flow->gbps);
	}
}

static void put_size(const struct report_size *size, FILE *out)
{
	char bound[24] = "more";

	if (size->messages == 0)
		return;
	if (size->up_to_bytes != REPORT_NO_LIMIT)
		snprintf(bound, sizeof(bound), "%" PRIu64, size->up_to_bytes);
	fprintf(out, "%11s  %10" PRIu64 "  %10.1f  %10.1f  %10.1f  %8.2f  %8.2f  %8.2f\n", bound,
		size->messages, size->time_p50_us, size->time_p99_us, size->time_p999_us,
		size->slowdown_p50, size->slowdown_p99, size->slowdown_p999);
}

// Completion times by size, of messages that were due at times of their own.
static void put_sizes(const struct report *r, FILE *out)
{
	fputs("\n                         completion time us, from due      time by its ideal\n"
	      "bytes up to    messages      median        99 %      99.9 %    median      99 %"
	      "    99.9 %\n",
	      out);
	for (uint32_t i = 0; i < JOB_SIZES; i++)
		put_size(&r->size[i], out);
	fprintf(out,
		"all: median %.2f, 99 %% %.2f, 99.9 %% %.2f times the ideal; posts late by: median "
		"%.1f, 99 %% %.1f, max %.1f us\n",
		r->slowdown_p50, r->slowdown_p99, r->slowdown_p999, r->lateness_p50_us,
		r->lateness_p99_us, r->lateness_max_us);
}

static void put_replay(const struct report *r, FILE *out)
{
	fprintf(out,
		"%" PRIu64 " of %" PRIu64 " frames sent, %" PRIu64 " bytes; lost %" PRIu64 "\n"
		"late by: median %.1f, 99 %% %.1f, max %.1f us; pauses received %" PRIu64 "\n",
		r->frames_sent, r->frames, r->frame_bytes, r->frames_lost, r->frame_late_p50_us,
		r->frame_late_p99_us, r->frame_late_max_us, r->pauses_received);
	for (uint64_t i = 1; i < r->hosts; i++)
		fprintf(out, "host %" PRIu64 ": %" PRIu64 " frames, %" PRIu64 " bytes\n", i,
			r->rank[i].frames, r->rank[i].frame_bytes);
}

void report_text(const struct traffic_config *config, const struct report *report, FILE *out)
{
	const struct run_config *run = &config->run;
	const enum traffic_workload workload = (enum traffic_workload)run->workload;
	const bool collective = traffic_is_collective(workload);

	fprintf(out, "# weft-traffic %s: %" PRIu64 " hosts, MTU %" PRIu64 ", %s in %.3f s\n",
		report->workload, report->hosts, run->mtu, report->outcome, report->seconds);
	if (workload == TRAFFIC_REPLAY) {
		put_replay(report, out);
		return;
	}
	if (collective)
		put_collective(workload, report, out);
	else if (run->latency)
		put_latency(report, out);
	else
		put_bandwidth(report, out);
	if (collective)
		put_ideal(report, out);
	put_summary(report, out);
	if (run->switch_name[0] != '\0' && report->at_switch != NULL)
		put_switch(report, out);
	if (traffic_is_open(run))
		put_sizes(report, out);
	if (report->flow_count > 1)
		put_flows(report, out);
	put_ranks(report, out);
}
