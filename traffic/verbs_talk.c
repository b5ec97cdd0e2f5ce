// SPDX-License-Identifier: BSD-3-Clause
//
// What a rank says to rank 0 and hears from it. What it hears must fit what it has said; anything
// else ends the run.

#include "traffic/verbs_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sys/cfg_load.h"

// --- hello ------------------------------------------------------------------------------------

// Files on several machines may hold different things.
static uint64_t add_flows(const struct workload *workload, uint64_t digest)
{
	for (uint32_t i = 0; i < workload->job.flow_count; i++) {
		digest = hash_add(digest, workload->flow[i].src);
		digest = hash_add(digest, workload->flow[i].dst);
		digest = hash_add(digest, workload->flow[i].messages);
	}
	for (uint32_t i = 0; i < workload->arrival_count; i++) {
		digest = hash_add(digest, workload->arrival[i].at.v);
		digest = hash_add(digest, workload->arrival[i].bytes);
	}
	return digest;
}

// Of all options but those that differ from rank to rank, or do not matter to others.
static int digest_of(const struct verbs_rank *rank, uint64_t *out)
{
	struct traffic_config *same = malloc(sizeof(*same));
	struct run_config *run = &same->run;
	size_t bytes;
	char *text = NULL;
	FILE *file = same == NULL ? NULL : open_memstream(&text, &bytes);

	if (file != NULL) {
		*same = *rank->config;
		memset(run->verbs, 0, sizeof(run->verbs));
		memset(run->coordinator, 0, sizeof(run->coordinator));
		run->rank = run->gid_index = run->progress = CONFIG_UNSET;
		run->json = false;
		run->timeout = run->link_timeout = 0;
		cfg_dump(same, traffic_tables, TRAFFIC_TABLE_COUNT, file);
		fclose(file);
		*out = add_flows(&rank->workload, hash_text(text));
	}
	free(text);
	free(same);
	return file == NULL ? -1 : 0;
}

void verbs_say_hello(struct verbs_rank *run)
{
	const uint32_t count = run->host.qp_count;
	uint8_t *qps = malloc((size_t)count * MEET_NUMBER_BYTES + 1);
	struct meet_message message = {
		.kind = MEET_HELLO,
		.hello = { .rank = run->rank,
			   .world = run->world,
			   .host = run->host.address,
			   .qp_count = count,
			   .qps = qps },
	};

	if (qps == NULL || digest_of(run, &message.hello.digest) != 0) {
		verbs_fail(run, "out of memory");
	} else {
		for (uint32_t i = 0; i < count; i++)
			meet_set_number(qps, i, verbs_qp_number(&run->host, i));
		verbs_say(run, &message);
	}
	free(qps);
}

// --- result -----------------------------------------------------------------------------------

static void fill_numbers(struct verbs_rank *run, const struct job_result *result,
			 struct meet_numbers *out)
{
	struct meet_numbers now = { 0 };
	struct job_rank_result rank;

	verbs_count(&run->host, &now);
	job_rank_result(run->job, run->rank, &rank);
	*out = (struct meet_numbers){
		.elapsed_ns = run->begun.v == 0 ? 0 : ns_since(run->ended, run->begun),
		.tx_bytes = run->host.tx_bytes,
		.rx_bytes = run->host.rx_bytes,
		.retransmits = now.retransmits - run->before.retransmits,
		.timeouts = now.timeouts - run->before.timeouts,
		.gaps = now.gaps - run->before.gaps,
		.ce_marked = now.ce_marked - run->before.ce_marked,
		.cnps = now.cnps - run->before.cnps,
		.bytes = result->bytes,
		.peak_bytes = result->peak_bytes,
		.wrong = result->wrong,
		.checked = result->checked,
		.failed = result->failed,
		.status = result->status,
		.waited_for = rank.waited_for,
		.busy_ns = rank.busy_ns,
		.stuck = run->stuck,
	};
	memcpy(out->cause_ns, rank.cause_ns, sizeof(out->cause_ns));
}

// Times of flows count from the beginning, which was at the same moment for all.
static uint32_t fill_flows(const struct verbs_rank *run, uint8_t *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < run->workload.job.flow_count; i++) {
		struct meet_flow flow = { .flow = i };

		if (run->workload.flow[i].src != run->rank)
			continue;
		job_flow_result(run->job, i, &flow.result);
		if (flow.result.first.v != NS_NEVER.v)
			flow.result.first.v = ns_since(flow.result.first, run->begun);
		flow.result.last.v = ns_since(flow.result.last, run->begun);
		meet_set_flow(list, count++, &flow);
	}
	return count;
}

static void fill_histograms(const struct verbs_rank *run, const struct job_result *job,
			    struct meet_result *out)
{
	out->histogram[MEET_LATENCY] = job->latency;
	out->histogram[MEET_LATENESS] = job->lateness;
	out->histogram[MEET_SLOWDOWN] = job->slowdown;
	for (uint32_t i = 0; i < JOB_SIZES; i++) {
		struct job_size_result size;

		job_size_result(run->job, i, &size);
		out->histogram[MEET_TIME_OF + i] = size.time;
		out->histogram[MEET_SLOWDOWN_OF + i] = size.slowdown;
	}
}

void verbs_say_result(struct verbs_rank *run)
{
	struct meet_result *result = calloc(1, sizeof(*result));
	struct job_result *job = calloc(1, sizeof(*job));
	uint8_t *flows = malloc((size_t)run->workload.job.flow_count * MEET_FLOW_BYTES + 1);
	const struct meet_message message = { .kind = MEET_RESULT, .result = result };

	if (result == NULL || job == NULL || flows == NULL) {
		verbs_fail(run, "out of memory");
	} else {
		job_result(run->job, job);
		fill_numbers(run, job, &result->numbers);
		fill_histograms(run, job, result);
		result->flow_count = fill_flows(run, flows);
		result->flows = flows;
		verbs_say(run, &message);
	}
	free(flows);
	free(job);
	free(result);
}

// --- both ways --------------------------------------------------------------------------------

void verbs_say(struct verbs_rank *run, const struct meet_message *message)
{
	if (run->rank == 0)
		verbs_lead_hears(run, 0, message);
	else
		meet_talk_say(&run->talk, 0, message);
}

void verbs_fail(struct verbs_rank *run, const char *text)
{
	const struct meet_message message = {
		.kind = MEET_FAIL,
		.fail = { run->rank, (uint32_t)strnlen(text, MEET_TEXT_BYTES),
			  (const uint8_t *)text },
	};

	if (run->over)
		return;
	if (run->rank == 0) {
		verbs_lead_fail(run, 0, text);
		return;
	}
	fprintf(stderr, "weft-traffic: rank %u: %s\n", run->rank, text);
	meet_talk_say(&run->talk, 0, &message);
	run->over = true;
	run->status = EXIT_FAILURE;
}

static void hear_failure(struct verbs_rank *run, const struct meet_fail *fail)
{
	if (fail->rank == JOB_NONE)
		fprintf(stderr, "weft-traffic: rank 0: %.*s\n", (int)fail->text_bytes,
			(const char *)fail->text);
	else
		fprintf(stderr, "weft-traffic: rank %u: %.*s\n", fail->rank, (int)fail->text_bytes,
			(const char *)fail->text);
	run->over = true;
	run->status = EXIT_FAILURE;
}

void verbs_obey(struct verbs_rank *run, const struct meet_message *message)
{
	bool good = true;

	switch (message->kind) {
	case MEET_PEERS:
		good = !run->is_connected && message->peers.host_count == run->world &&
		       message->peers.qp_count == run->host.qp_count;
		if (good && verbs_rank_connect(run, &message->peers) != 0)
			verbs_fail(run, "cannot reach its peers");
		break;
	case MEET_GO:
		good = run->is_connected && run->said_ready && message->ready.round == run->round;
		if (good)
			verbs_rank_go(run, &message->ready);
		break;
	case MEET_STOP: verbs_rank_stop(run); break;
	case MEET_END:
		good = run->round > run->last;
		run->over = true;
		run->status = message->good ? EXIT_SUCCESS : EXIT_FAILURE;
		break;
	case MEET_FAIL: hear_failure(run, &message->fail); break;
	case MEET_ALIVE: break;
	case MEET_HELLO:
	case MEET_READY:
	case MEET_RESULT:
	case MEET_KINDS: good = false; break;
	}
	if (!good)
		verbs_fail(run, "rank 0 says what does not fit");
}

// --- from the connection ----------------------------------------------------------------------

static const char *joins(void *context, const struct meet_hello *hello)
{
	return verbs_lead_joins(context, hello);
}

static void meets(void *context)
{
	struct verbs_rank *run = context;

	run->leader_heard = verbs_now();
	verbs_say_hello(run);
}

static void hears(void *context, uint32_t rank, const struct meet_message *message)
{
	struct verbs_rank *run = context;

	if (run->over)
		return;
	if (run->rank == 0) {
		verbs_lead_hears(run, rank, message);
		return;
	}
	run->leader_heard = verbs_now();
	verbs_obey(run, message);
}

static void loses(void *context, uint32_t rank, const char *why)
{
	struct verbs_rank *run = context;

	if (run->over)
		return;
	if (run->rank == 0) {
		verbs_lead_fail(run, rank, why);
		return;
	}
	fprintf(stderr, "weft-traffic: rank 0: %s\n", why);
	run->over = true;
	run->status = EXIT_FAILURE;
}

int verbs_talk_open(struct verbs_rank *run)
{
	const struct job *job = run->job;
	uint32_t qps = 0;

	for (uint32_t i = 0; i < run->world; i++) {
		const uint32_t count = job_qp_count(job, i);

		qps = count > qps ? count : qps;
	}
	run->talk_owner = (struct meet_talk_owner){ run, joins, meets, hears, loses };
	return meet_talk_open(&run->talk, run->base, &run->talk_owner, run->config->run.coordinator,
			      run->rank, run->world,
			      meet_bytes_max(run->world, qps, run->workload.job.flow_count));
}

void verbs_talk_tick(struct verbs_rank *run, ns_t now)
{
	const struct meet_message alive = { .kind = MEET_ALIVE };
	const struct meet_message stop = { .kind = MEET_STOP };

	if (*run->stop && !run->said_stop) {
		run->said_stop = true;
		verbs_say(run, &stop);
	}
	if (run->rank == 0) {
		verbs_lead_tick(run, now);
		return;
	}
	if (!ns_before(now, run->alive_at)) {
		run->alive_at = ns_add(now, VERBS_SECOND_NS);
		verbs_say(run, &alive);
	}
	if (meet_talk_count(&run->talk) == 0) {
		if (*run->stop || ns_since(now, run->opened) > run->config->run.link_timeout)
			verbs_fail(run, "rank 0 was not found at --coordinator");
	} else if (ns_since(now, run->leader_heard) > VERBS_SILENCE_NS) {
		verbs_fail(run, "nothing was heard of rank 0 for 10 s");
	}
}

void verbs_talk_end(struct verbs_rank *run)
{
	const ns_t end = ns_add(verbs_now(), VERBS_LAST_NS);

	// Rank 0 goes last: who loses it takes that for a failure.
	while (ns_before(verbs_now(), end) &&
	       (run->rank == 0 ? meet_talk_count(&run->talk) != 0 : meet_talk_is_busy(&run->talk)))
		event_base_loop(run->base, EVLOOP_ONCE);
}
