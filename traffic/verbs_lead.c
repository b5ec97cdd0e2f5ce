// SPDX-License-Identifier: BSD-3-Clause
//
// What rank 0 does for all of them: lets ranks in, brings their addresses to each other, says on
// when all are ready (core/meet.h), ends what is overdue or has lost a rank, and reports.

#include "traffic/verbs_rank.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const refusals[] = {
	[MEET_WELCOME] = NULL,
	[MEET_OTHER_WORLD] = "--world is another one here",
	[MEET_NO_SUCH_RANK] = "--rank is not below --world",
	[MEET_TAKEN] = "this --rank is there already",
	[MEET_OTHER_OPTIONS] = "other options than rank 0 has",
	[MEET_OTHER_QPS] = "another number of queue pairs than it needs",
	[MEET_LATE] = "the run goes on without it",
};

int verbs_lead_open(struct verbs_rank *run)
{
	struct verbs_lead *lead = &run->lead;

	if (run->rank != 0)
		return 0;
	lead->hosts = calloc(run->world, MEET_HOST_BYTES);
	lead->qps = calloc(run->world, sizeof(*lead->qps));
	lead->host = calloc(run->world, sizeof(*lead->host));
	return lead->hosts == NULL || lead->qps == NULL || lead->host == NULL ? -ENOMEM : 0;
}

void verbs_lead_close(struct verbs_rank *run)
{
	struct verbs_lead *lead = &run->lead;

	for (uint32_t i = 0; lead->qps != NULL && i < run->world; i++)
		free(lead->qps[i]);
	free(lead->qps);
	free(lead->hosts);
	free(lead->host);
}

// To everybody, the last one itself: what it does then may say on already.
static void tell_all(struct verbs_rank *run, const struct meet_message *message)
{
	for (uint32_t rank = 1; rank < run->world; rank++)
		meet_talk_say(&run->talk, rank, message);
	verbs_obey(run, message);
}

void verbs_lead_fail(struct verbs_rank *run, uint32_t rank, const char *text)
{
	const struct meet_message message = {
		.kind = MEET_FAIL,
		.fail = { rank, (uint32_t)strnlen(text, MEET_TEXT_BYTES), (const uint8_t *)text },
	};

	// Who has given its result may go.
	if (run->over || run->lead.meet.phase == MEET_OVER)
		return;
	tell_all(run, &message);
}

// --- hello ------------------------------------------------------------------------------------

// Brings each rank the numbers of the queue pairs at the far ends of its own.
static int introduce(struct verbs_rank *run, uint32_t rank)
{
	const struct verbs_lead *lead = &run->lead;
	const uint32_t count = job_qp_count(run->job, rank);
	uint8_t *qps = malloc((size_t)count * MEET_NUMBER_BYTES + 1);
	const struct meet_message message = {
		.kind = MEET_PEERS,
		.peers = { run->world, count, lead->hosts, qps },
	};

	if (qps == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct job_link link = job_link(run->job, rank, i);

		meet_set_number(qps, i, meet_number(lead->qps[link.rank], link.qp));
	}
	if (rank == 0)
		verbs_obey(run, &message);
	else
		meet_talk_say(&run->talk, rank, &message);
	free(qps);
	return 0;
}

static void introduce_all(struct verbs_rank *run)
{
	for (uint32_t rank = run->world; rank-- > 0;) {
		if (introduce(run, rank) != 0)
			verbs_lead_fail(run, 0, "out of memory");
	}
}

const char *verbs_lead_joins(struct verbs_rank *run, const struct meet_hello *hello)
{
	struct verbs_lead *lead = &run->lead;
	const bool exists = hello->rank < run->world;
	const size_t bytes = (size_t)hello->qp_count * MEET_NUMBER_BYTES;
	uint8_t *qps = malloc(bytes + 1);
	enum meet_refusal refusal;

	if (qps == NULL)
		return "out of memory";
	refusal = meet_join(&lead->meet, hello, exists ? job_qp_count(run->job, hello->rank) : 0,
			    verbs_now());
	if (refusal != MEET_WELCOME) {
		free(qps);
		return refusals[refusal];
	}
	meet_set_host(lead->hosts, hello->rank, &hello->host);
	if (bytes != 0)
		memcpy(qps, hello->qps, bytes);
	lead->qps[hello->rank] = qps;
	return NULL;
}

// --- results ----------------------------------------------------------------------------------

// What of a flow moves the far end's bytes without a completion there.
static void count_far_end(struct verbs_rank *run, const struct meet_flow *flow)
{
	const struct job_flow *config = &run->workload.flow[flow->flow];
	struct rc_stats *far = &run->lead.host[config->dst].rc;

	if (config->op == RC_READ)
		far->tx_bytes += flow->result.bytes;
	else if (config->op == RC_WRITE && !config->ping_pong)
		far->rx_bytes += flow->result.bytes;
}

static bool take_flows(struct verbs_rank *run, uint32_t rank, const struct meet_result *result)
{
	for (uint32_t i = 0; i < result->flow_count; i++) {
		const struct meet_flow flow = meet_flow(result->flows, i);

		if (flow.flow >= run->workload.job.flow_count ||
		    run->workload.flow[flow.flow].src != rank)
			return false;
		job_take_flow(run->job, flow.flow, &flow.result);
		count_far_end(run, &flow);
	}
	return true;
}

static void take_numbers(struct verbs_rank *run, uint32_t rank, const struct meet_result *result)
{
	const struct meet_numbers *numbers = &result->numbers;
	struct report_host *host = &run->lead.host[rank];
	struct job_rank_result own = { .waited_for = (uint32_t)numbers->waited_for,
				       .busy_ns = numbers->busy_ns };

	memcpy(own.cause_ns, numbers->cause_ns, sizeof(own.cause_ns));
	host->job = own;
	host->rc.tx_bytes += numbers->tx_bytes;
	host->rc.rx_bytes += numbers->rx_bytes;
	host->rc.retransmits = numbers->retransmits;
	host->rc.timeouts = numbers->timeouts;
	host->rc.naks_sent = numbers->gaps;
	host->stats.rx_cnp = numbers->cnps;
	host->stats.prio[run->config->run.priority].rx_ce = numbers->ce_marked;
	run->lead.stuck |= numbers->stuck != 0;
	run->lead.elapsed_ns = u64_max(run->lead.elapsed_ns, numbers->elapsed_ns);
	job_take_rank(run->job, rank, &own);
}

// Its own are in its job already.
static int take_job(struct verbs_rank *run, uint32_t rank, const struct meet_result *result)
{
	struct job_result *more;

	if (rank == 0)
		return 0;
	more = calloc(1, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	more->latency = result->histogram[MEET_LATENCY];
	more->lateness = result->histogram[MEET_LATENESS];
	more->slowdown = result->histogram[MEET_SLOWDOWN];
	more->bytes = result->numbers.bytes;
	more->peak_bytes = result->numbers.peak_bytes;
	more->wrong = result->numbers.wrong;
	more->checked = result->numbers.checked;
	more->failed = result->numbers.failed;
	more->status = (enum rc_status)result->numbers.status;
	job_take_result(run->job, more);
	for (uint32_t i = 0; i < JOB_SIZES; i++) {
		const struct job_size_result size = {
			.time = result->histogram[MEET_TIME_OF + i],
			.slowdown = result->histogram[MEET_SLOWDOWN_OF + i],
		};

		job_take_size(run->job, i, &size);
	}
	free(more);
	return 0;
}

static void finish(struct verbs_rank *run)
{
	struct report report = { 0 };
	struct meet_message end = { .kind = MEET_END };
	int status = EXIT_FAILURE;

	if (report_of_job(run->job,
			  &(struct report_input){ .config = run->config,
						  .workload = &run->workload,
						  .host = run->lead.host,
						  .elapsed_ns = run->lead.elapsed_ns,
						  .stuck = run->lead.stuck,
						  .outcome = run->lead.outcome },
			  &report) == 0)
		status = report_print(run->config, &report);
	else
		fputs("weft-traffic: out of memory\n", stderr);
	report_free(&report);
	end.good = status == EXIT_SUCCESS;
	tell_all(run, &end);
}

static void hear_result(struct verbs_rank *run, uint32_t rank, const struct meet_result *result)
{
	const enum meet_step step = meet_take_result(&run->lead.meet, rank,
						     (uint32_t)result->numbers.waited_for);

	if (step == MEET_WRONG || !take_flows(run, rank, result)) {
		verbs_lead_fail(run, rank, "its result does not fit");
		return;
	}
	take_numbers(run, rank, result);
	if (take_job(run, rank, result) != 0)
		verbs_lead_fail(run, 0, "out of memory");
	else if (step == MEET_ALL)
		finish(run);
}

// --- from start to end ------------------------------------------------------------------------

static void stop_all(struct verbs_rank *run, enum report_outcome outcome)
{
	const struct meet_message stop = { .kind = MEET_STOP };

	if (!meet_is_full(&run->lead.meet)) {
		verbs_lead_fail(run, 0, "stopped before all ranks were there");
		return;
	}
	if (!meet_stop(&run->lead.meet))
		return;
	run->lead.outcome = outcome;
	tell_all(run, &stop);
}

static void hear_ready(struct verbs_rank *run, uint32_t rank, const struct meet_ready *ready)
{
	struct meet_message go = { .kind = MEET_GO };

	switch (meet_take_ready(&run->lead.meet, rank, ready, &go.ready)) {
	case MEET_WAITS: break;
	case MEET_ALL: tell_all(run, &go); break;
	case MEET_WRONG: verbs_lead_fail(run, rank, "is ready for another round"); break;
	}
}

static void hear_failure(struct verbs_rank *run, uint32_t rank, const struct meet_fail *fail)
{
	char text[VERBS_TEXT_BYTES];

	snprintf(text, sizeof(text), "%.*s", (int)fail->text_bytes, (const char *)fail->text);
	verbs_lead_fail(run, rank, text);
}

void verbs_lead_hears(struct verbs_rank *run, uint32_t rank, const struct meet_message *message)
{
	const char *why;

	meet_hears(&run->lead.meet, rank, verbs_now());
	switch (message->kind) {
	case MEET_HELLO: // its own; others come through joins
		run->lead.meet.digest = message->hello.digest;
		why = verbs_lead_joins(run, &message->hello);
		if (why != NULL)
			verbs_lead_fail(run, 0, why);
		break;
	case MEET_READY: hear_ready(run, rank, &message->ready); break;
	case MEET_RESULT: hear_result(run, rank, message->result); break;
	case MEET_STOP: stop_all(run, REPORT_STOPPED); break;
	case MEET_FAIL: hear_failure(run, rank, &message->fail); break;
	case MEET_ALIVE: break;
	case MEET_PEERS:
	case MEET_GO:
	case MEET_END:
	case MEET_KINDS: verbs_lead_fail(run, rank, "says what only rank 0 may"); break;
	}
}

static void wait_for_ranks(struct verbs_rank *run, ns_t now)
{
	const uint32_t missing = meet_missing(&run->lead.meet);
	char text[VERBS_TEXT_BYTES];

	if (missing == JOB_NONE) {
		if (!run->is_connected)
			introduce_all(run);
		return;
	}
	if (ns_since(now, run->opened) <= run->config->run.link_timeout)
		return;
	snprintf(text, sizeof(text), "did not come within %.0f s",
		 (double)run->config->run.link_timeout / 1e9);
	verbs_lead_fail(run, missing, text);
}

void verbs_lead_tick(struct verbs_rank *run, ns_t now)
{
	const struct meet_message alive = { .kind = MEET_ALIVE };
	uint32_t silent;

	meet_hears(&run->lead.meet, 0, now);
	wait_for_ranks(run, now);
	if (run->over)
		return;
	silent = meet_silent(&run->lead.meet, now, VERBS_SILENCE_NS);
	if (silent != JOB_NONE)
		verbs_lead_fail(run, silent, "nothing was heard of it for 10 s");
	if (run->begun.v != 0 && ns_since(now, run->begun) >= run->config->run.timeout)
		stop_all(run, REPORT_TIMEOUT);
	if (ns_before(now, run->alive_at))
		return;
	run->alive_at = ns_add(now, VERBS_SECOND_NS);
	for (uint32_t rank = 1; rank < run->world; rank++)
		meet_talk_say(&run->talk, rank, &alive);
}
