// SPDX-License-Identifier: BSD-3-Clause
//
// The loop. Each host in turn: what its port has received goes to its endpoint, completions to the
// job, work of the job to the endpoint, frames to the port. When nothing moved it gives way to
// others, and sleeps when nothing is due soon.

#include "traffic/run.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <rte_pause.h>

#include "traffic/profile.h"

enum {
	SPINS = 16,  // rounds without a frame before it gives way
	YIELDS = 64, // and before it sleeps
	NAP_NS = 20000,
	LOOK_NS = 200000,       // between two looks at what hosts wait for
	CHECK_NS = 100000000,   // and at their links
	POSTS_MAX = 64,         // of a host in one turn
	QUIET_NS = 20000000,    // without ARP or ND, and all addresses are known
	SETTLE_NS = 3500000000, // at most so long for that: a lost question is asked again
	LINGER_NS = 20000000,   // for what is still on its way
	SECOND_NS = 1000000000,
	LAST_NS = 2000000000, // for work that a stopped job still has on its way
};

volatile sig_atomic_t run_stop;

// --- one turn ---------------------------------------------------------------------------------

static void complete(struct run *run, uint32_t rank, ns_t now)
{
	struct rc_completion done;
	uint32_t qp;

	while (endpoint_complete(run->host[rank].endpoint, &qp, &done))
		job_done(run->job, rank, qp, &done, now);
}

static bool give(struct port_host *host, const struct job_post *post, ns_t now)
{
	if (post->is_receive)
		return endpoint_post_receive(host->endpoint, post->qp, &post->receive);
	return endpoint_post(&host->profile, host->endpoint, post->qp, &post->work, now);
}

static void post(struct run *run, uint32_t rank, uint32_t max, ns_t now)
{
	struct job_post next;

	for (uint32_t i = 0; i < max && job_next(run->job, rank, now, &next); i++) {
		if (give(&run->host[rank], &next, now))
			continue;
		job_refused(run->job, rank, &next);
		return;
	}
}

// Returns how many frames moved.
static uint32_t turn(struct run *run)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < run->host_count; i++) {
		moved += port_host_receive(&run->host[i], &run->clock);
		if (run->job_runs) {
			const ns_t now = clock_now(&run->clock);

			complete(run, i, now);
			post(run, i, POSTS_MAX, now);
		}
		moved += port_host_transmit(&run->host[i], &run->clock);
	}
	return moved;
}

static ns_t deadline(struct run *run, ns_t now)
{
	ns_t at = run->job_runs ? job_deadline(run->job, now) : NS_NEVER;

	for (uint32_t i = 0; i < run->host_count; i++) {
		const struct port_host *host = &run->host[i];

		if (host->pending != NULL)
			return now;
		at = ns_min(at, endpoint_deadline(&host->profile, host->endpoint, now));
	}
	return at;
}

static void give_way(struct run *run)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const ns_t now = clock_now(&run->clock);

	run->empty_turns++;
	if (run->empty_turns < SPINS)
		rte_pause();
	else if (run->empty_turns < YIELDS || ns_since(deadline(run, now), now) < NAP_NS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

static void round_of_hosts(struct run *run)
{
	uint32_t moved;

	port_visit_begin(&run->visits, run->host, run->host_count, clock_now(&run->clock));
	moved = turn(run);
	port_visit_end(&run->visits);
	if (moved != 0)
		run->empty_turns = 0;
	else
		give_way(run);
}

// --- what is seen from outside ----------------------------------------------------------------

static void look(struct run *run, ns_t now)
{
	struct sight sight;

	if (ns_before(now, run->look_at))
		return;
	run->look_at = ns_add(now, LOOK_NS);
	for (uint32_t i = 0; i < run->host_count; i++) {
		endpoint_look(&run->host[i].profile, run->host[i].endpoint, now, &sight);
		job_observe(run->job, i, &sight, now);
	}
}

static void check_links(struct run *run, ns_t now)
{
	if (run->link_lost || ns_before(now, run->check_at))
		return;
	run->check_at = ns_add(now, CHECK_NS);
	run->link_lost = port_hosts_check(run->host, run->host_count, now) != 0;
}

static void show_progress(struct run *run, ns_t now)
{
	static struct job_result result;

	if (!run->shows_progress || ns_before(now, run->progress_at))
		return;
	run->progress_at = ns_add(now, SECOND_NS);
	job_result(run->job, &result);
	fprintf(stderr,
		"\r%4" PRIu64 " s  %10.3f Gb/s  %12" PRIu64 " bytes  %10" PRIu64
		" messages  failed %" PRIu64 "\033[K",
		ns_since(now, run->begun) / SECOND_NS,
		8e-9 * (double)(result.bytes - run->shown_bytes), result.bytes,
		result.latency.count, result.failed);
	run->shown_bytes = result.bytes;
}

// --- from start to end ------------------------------------------------------------------------

static uint64_t neighbor_frames(const struct run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < run->host_count; i++) {
		struct endpoint_stats stats;
		struct rc_stats rc;

		endpoint_stats_read(&run->host[i].profile, run->host[i].endpoint, &stats, &rc);
		sum += stats.rx_neighbor + stats.tx_neighbor;
	}
	return sum;
}

static bool all_resolved(const struct run *run)
{
	for (uint32_t i = 0; i < run->host_count; i++) {
		if (!endpoint_resolved(run->host[i].endpoint))
			return false;
	}
	return true;
}

// Hosts find each other, so that what is measured does not have that in it.
static void settle(struct run *run)
{
	uint64_t seen = 0;
	ns_t quiet = clock_now(&run->clock);
	const ns_t end = ns_add(quiet, SETTLE_NS);

	for (ns_t now = quiet; ns_before(now, end) && !run_stop; now = clock_now(&run->clock)) {
		const uint64_t frames = neighbor_frames(run);

		if (frames != seen)
			quiet = now;
		else if (ns_since(now, quiet) >= QUIET_NS && all_resolved(run))
			return;
		seen = frames;
		round_of_hosts(run);
	}
}

static void linger(struct run *run)
{
	const ns_t end = ns_add(clock_now(&run->clock), LINGER_NS);

	port_hosts_leave(run->host, run->host_count);
	do
		round_of_hosts(run);
	while (ns_before(clock_now(&run->clock), end));
}

// Once when the job begins and once when it ends: leaves what was between.
static void count_pauses(struct run *run, ns_t now)
{
	const prio_t prio = { (uint8_t)run->config->run.priority };

	for (uint32_t i = 0; i < run->host_count; i++) {
		const struct endpoint_state *endpoint = run->host[i].endpoint;
		struct run_pause *pause = &run->pause[i];

		pause->held_ns = endpoint_paused_ns(endpoint, prio, now) - pause->held_ns;
		pause->holding_ns = endpoint_pausing_ns(endpoint, prio, now) - pause->holding_ns;
	}
}

static void begin(struct run *run)
{
	run->begun = clock_now(&run->clock);
	run->look_at = run->begun;
	run->check_at = run->begun;
	run->progress_at = ns_add(run->begun, SECOND_NS);
	run->job_runs = true;
	run->ended = run->begun;
	run->visits.starved_ns = 0;
	count_pauses(run, run->begun);
	// Times of flows and storms count from here.
	for (uint32_t i = 0; i < run->host_count; i++)
		profile_begin(run->config, i, run->begun, &run->host[i].profile);
	workload_begin(&run->workload, run->begun);
	// Receives of all before the first frame of any.
	for (uint32_t i = 0; i < run->host_count; i++)
		post(run, i, UINT32_MAX, clock_now(&run->clock));
}

// What ends the job before its time; REPORT_DONE: nothing.
static enum report_outcome interrupted(const struct run *run, ns_t now)
{
	if (run_stop)
		return REPORT_STOPPED;
	if (run->link_lost)
		return REPORT_FAILED;
	return ns_since(now, run->begun) >= run->config->run.timeout ? REPORT_TIMEOUT : REPORT_DONE;
}

// The time for which the process was let run.
static ns_t own_time(const struct run *run)
{
	return (ns_t){ run->ended.v - run->visits.starved_ns };
}

static void run_to_end(struct run *run)
{
	ns_t end = NS_NEVER;

	while (job_state(run->job) == JOB_RUNNING && ns_before(own_time(run), end)) {
		round_of_hosts(run);
		run->ended = clock_now(&run->clock);
		look(run, run->ended);
		check_links(run, run->ended);
		show_progress(run, run->ended);
		if (run->outcome != REPORT_DONE)
			continue;
		run->outcome = interrupted(run, run->ended);
		if (run->outcome == REPORT_DONE)
			continue;
		job_stop(run->job);
		end = ns_add(own_time(run), run->link_lost ? 0 : LAST_NS);
	}
	run->stuck = job_state(run->job) == JOB_RUNNING;
	if (job_state(run->job) == JOB_FAILED)
		run->outcome = REPORT_FAILED;
	if (run->shows_progress)
		fputs("\r\033[K", stderr);
}

// What the switch has counted since it was asked first.
static void ask_switch(struct run *run)
{
	const struct run_config *config = &run->config->run;
	struct switch_counts now;

	if (config->switch_name[0] == '\0')
		return;
	if (switch_counts_read(config->switch_name, (prio_t){ (uint8_t)config->priority }, &now) !=
	    0) {
		run->switch_lost = true;
	} else if (strcmp(now.boot_id, run->switch_before.boot_id) != 0) {
		fputs("weft-traffic: the switch was started anew meanwhile\n", stderr);
		run->switch_lost = true;
	} else {
		switch_counts_since(&run->switch_before, &now, &run->switch_during);
	}
}

int run_job(struct run *run)
{
	const struct run_config *config = &run->config->run;
	int rc = port_hosts_wait(run->host, run->host_count, config->link_timeout, &run_stop);

	if (rc != 0)
		return rc;
	prctl(PR_SET_TIMERSLACK, 1);
	run->shows_progress = config->progress == CONFIG_UNSET ? isatty(STDERR_FILENO) != 0 :
								 config->progress != 0;
	clock_start(&run->clock);
	settle(run);
	begin(run);
	run_to_end(run);
	count_pauses(run, run->ended);
	linger(run);
	ask_switch(run);
	return 0;
}
