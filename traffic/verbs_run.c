// SPDX-License-Identifier: BSD-3-Clause
//
// A rank at work: completions of the device go to the job, work of the job to the device. Where
// nothing moves it looks again a few times and then sleeps until a completion, a message of another
// rank or the job's next deadline wakes it; a guest with one processor needs that for its RDMA
// stack.

#include "traffic/verbs_run.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "traffic/verbs_rank.h"
#include "traffic/zeroed.h"

enum {
	SPINS = 32,        // turns without a completion before it sleeps
	TALK_EVERY = 64,   // turns with one, between two looks at what others say
	POSTS_MAX = 64,    // in one turn
	LOOK_NS = 200000,  // between two looks at what it waits for
	SHORT_NS = 100000, // not worth a sleep
};

static const struct timeval tick_time = { .tv_usec = 100000 };

ns_t verbs_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (ns_t){ (uint64_t)now.tv_sec * VERBS_SECOND_NS + (uint64_t)now.tv_nsec };
}

// --- one turn ---------------------------------------------------------------------------------

static void look(struct verbs_rank *run, ns_t now)
{
	const uint64_t bps = traffic_host_bps(run->config, run->rank);
	const struct sight sight = {
		.line_bps = bps,
		.rate_bps = bps,
		.retransmits = run->retransmits,
		.sending = run->host.on_way != 0,
	};

	if (run->begun.v == 0 || ns_before(now, run->look_at))
		return;
	run->look_at = ns_add(now, LOOK_NS);
	job_observe(run->job, run->rank, &sight, now);
}

// Returns how many moved.
static uint32_t complete(struct verbs_rank *run, ns_t now)
{
	struct rc_completion done;
	uint32_t moved = 0;
	uint32_t qp;

	for (; verbs_complete(&run->host, &qp, &done, now); moved++)
		job_done(run->job, run->rank, qp, &done, now);
	return moved;
}

static uint32_t post(struct verbs_rank *run, uint32_t max, ns_t now)
{
	struct job_post next;
	uint32_t moved = 0;

	for (; moved < max && job_next(run->job, run->rank, now, &next); moved++) {
		if (next.is_receive ? verbs_post_receive(&run->host, next.qp, &next.receive) :
				      verbs_post(&run->host, next.qp, &next.work, now))
			continue;
		job_refused(run->job, run->rank, &next);
	}
	return moved;
}

// Is it where rank 0 is to say on?
static bool is_ready(struct verbs_rank *run, ns_t now)
{
	if (run->round < run->last)
		return job_is_held(run->job);
	run->stuck = run->stopped && !ns_before(now, run->stop_at) &&
		     job_state(run->job) == JOB_RUNNING;
	return run->stuck || job_state(run->job) == JOB_OVER;
}

static void say_ready(struct verbs_rank *run)
{
	const struct meet_message message = {
		.kind = MEET_READY,
		.ready = { run->round, run->round == 0 ? 0 : job_last_ns(run->job) },
	};

	run->said_ready = true;
	verbs_say(run, &message);
}

// All are done; the last answer of a ping-pong may still be on its way.
static void say_result(struct verbs_rank *run, ns_t now)
{
	if (run->said_result || (run->host.on_way != 0 && ns_before(now, run->stop_at)))
		return;
	run->said_result = true;
	verbs_say_result(run);
}

static void tell_error(struct verbs_rank *run)
{
	const struct verbs_host *host = &run->host;
	char text[VERBS_TEXT_BYTES];

	if (host->error_qp == JOB_NONE)
		snprintf(text, sizeof(text), "%s: %s", host->name, host->error);
	else
		snprintf(text, sizeof(text), "between it and rank %u: %s",
			 job_link(run->job, run->rank, host->error_qp).rank, host->error);
	verbs_fail(run, text);
}

static uint32_t turn(struct verbs_rank *run)
{
	const ns_t now = verbs_now();
	uint32_t moved;

	look(run, now);
	moved = complete(run, now);
	moved += post(run, run->begun.v == 0 ? UINT32_MAX : POSTS_MAX, now);
	if (run->host.error[0] != '\0')
		tell_error(run);
	else if (job_state(run->job) == JOB_FAILED)
		verbs_fail(run, "a peer's message makes no sense");
	else if (run->round > run->last)
		say_result(run, now);
	else if (!run->said_ready && is_ready(run, now))
		say_ready(run);
	return moved;
}

// --- waiting ----------------------------------------------------------------------------------

// How long the job has nothing to do by itself.
static uint64_t pause_ns(struct verbs_rank *run)
{
	const ns_t now = verbs_now();

	return ns_since(job_deadline(run->job, now), now);
}

static void sleep_for(struct verbs_rank *run, uint64_t ns)
{
	const struct timeval wake = { .tv_sec = (time_t)(ns / VERBS_SECOND_NS),
				      .tv_usec = (suseconds_t)(ns % VERBS_SECOND_NS / 1000) };

	if (ns < VERBS_SECOND_NS)
		evtimer_add(run->wake, &wake);
	event_base_loop(run->base, EVLOOP_ONCE);
	evtimer_del(run->wake);
}

static void give_way(struct verbs_rank *run)
{
	event_base_loop(run->base, EVLOOP_NONBLOCK);
	sched_yield();
}

static void wait(struct verbs_rank *run, uint32_t moved)
{
	uint64_t ns;

	run->turns++;
	run->idle = moved != 0 ? 0 : run->idle + 1;
	if (moved != 0 && run->turns % TALK_EVERY != 0)
		return;
	if (run->idle < SPINS) {
		give_way(run);
		return;
	}
	// What completed before it was armed wakes nobody: one more look.
	if (!run->armed) {
		run->armed = verbs_arm(&run->host);
		return;
	}
	ns = pause_ns(run);
	if (ns < SHORT_NS)
		give_way(run);
	else
		sleep_for(run, ns);
}

static void on_completions(evutil_socket_t fd, short what, void *context)
{
	struct verbs_rank *run = context;

	verbs_disarm(&run->host);
	run->armed = false;
	run->idle = 0;
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct verbs_rank *run = context;
	struct meet_numbers counters = { 0 };

	if (run->over)
		return;
	verbs_look(&run->host);
	verbs_count(&run->host, &counters);
	run->retransmits = counters.retransmits;
	verbs_talk_tick(run, verbs_now());
}

static void on_wake(evutil_socket_t fd, short what, void *context)
{
}

// --- what rank 0 says -------------------------------------------------------------------------

int verbs_rank_connect(struct verbs_rank *run, const struct meet_peers *peers)
{
	int rc = 0;

	for (uint32_t rank = 0; rank < run->world; rank++) {
		const struct meet_host host = meet_host(peers->hosts, rank);

		job_attach(run->job, rank, rank == run->rank ? run->host.memory : NULL, host.va,
			   host.rkey);
	}
	for (uint32_t qp = 0; qp < run->host.qp_count && rc == 0; qp++) {
		const struct job_link link = job_link(run->job, run->rank, qp);
		const struct meet_host host = meet_host(peers->hosts, link.rank);

		rc = verbs_connect(&run->host, qp, &host, meet_number(peers->qps, qp), link.dscp);
	}
	run->is_connected = rc == 0;
	return rc;
}

static void begin(struct verbs_rank *run, ns_t now)
{
	run->begun = now;
	run->look_at = now;
	verbs_count(&run->host, &run->before);
	run->retransmits = run->before.retransmits;
	workload_begin(&run->workload, now);
}

void verbs_rank_go(struct verbs_rank *run, const struct meet_ready *go)
{
	const ns_t now = verbs_now();

	if (go->round == 0)
		begin(run, now);
	run->ended = now;
	run->said_ready = false;
	run->round++;
	job_go(run->job, go->last_ns);
	if (go->round == run->last)
		run->stop_at = ns_add(now, VERBS_LAST_NS);
}

void verbs_rank_stop(struct verbs_rank *run)
{
	if (run->stopped || run->round > run->last)
		return;
	run->stopped = true;
	run->stop_at = ns_add(verbs_now(), VERBS_LAST_NS);
	if (run->round != run->last) {
		run->round = run->last;
		run->said_ready = false;
	}
	job_stop(run->job);
}

// --- from start to end ------------------------------------------------------------------------

static int make_job(struct verbs_rank *run)
{
	const struct job_config *config = &run->workload.job;
	const int rc = workload_make(run->config, run->world, &run->workload);
	void *memory;

	if (rc != 0)
		return rc;
	memory = zeroed(job_bytes(config));
	if (memory == NULL)
		return -ENOMEM;
	run->job = job_init(config, memory);
	job_carry(run->job, run->rank);
	run->last = config->iterations == 0 ? 1 : config->warmup + config->iterations;
	return 0;
}

static int make_events(struct verbs_rank *run)
{
	struct event_config *config = event_config_new();

	if (config != NULL) {
		event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
		run->base = event_base_new_with_config(config);
		event_config_free(config);
	}
	if (run->base == NULL)
		return -ENOMEM;
	run->tick = event_new(run->base, -1, EV_PERSIST, on_tick, run);
	run->wake = evtimer_new(run->base, on_wake, run);
	run->completions = event_new(run->base, verbs_fd(&run->host), EV_READ | EV_PERSIST,
				     on_completions, run);
	if (run->tick == NULL || run->wake == NULL || run->completions == NULL ||
	    event_add(run->tick, &tick_time) != 0 || event_add(run->completions, NULL) != 0)
		return -ENOMEM;
	return 0;
}

static int open_rank(struct verbs_rank *run)
{
	int rc = make_job(run);

	if (rc == 0)
		rc = verbs_open(&run->host, run->config, job_qp_count(run->job, run->rank),
				run->workload.job.receive_depth, job_memory_bytes(run->job));
	if (rc == 0)
		rc = make_events(run);
	if (rc == 0)
		rc = verbs_lead_open(run);
	if (rc == 0)
		rc = verbs_talk_open(run);
	if (rc == -ENOMEM)
		fputs("weft-traffic: out of memory\n", stderr);
	return rc;
}

static void close_rank(struct verbs_rank *run)
{
	meet_talk_close(&run->talk);
	verbs_lead_close(run);
	if (run->completions != NULL)
		event_free(run->completions);
	if (run->wake != NULL)
		event_free(run->wake);
	if (run->tick != NULL)
		event_free(run->tick);
	if (run->base != NULL)
		event_base_free(run->base);
	verbs_close(&run->host);
	free(run->job);
	workload_free(&run->workload);
}

static int run_rank(struct verbs_rank *run)
{
	if (run->rank == 0) {
		meet_init(&run->lead.meet, run->world, run->last, 0);
		verbs_say_hello(run);
	}
	while (!run->over) {
		if (run->is_connected)
			wait(run, turn(run));
		else
			event_base_loop(run->base, EVLOOP_ONCE);
	}
	verbs_talk_end(run);
	return run->status;
}

int verbs_run(const struct traffic_config *config, const volatile sig_atomic_t *stop)
{
	static struct verbs_rank run;
	int status;

	run = (struct verbs_rank){
		.config = config,
		.stop = stop,
		.rank = (uint32_t)config->run.rank,
		.world = (uint32_t)config->run.world,
		.opened = verbs_now(),
	};
	status = open_rank(&run) == 0 ? run_rank(&run) : 2;
	close_rank(&run);
	return status;
}
