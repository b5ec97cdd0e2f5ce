// SPDX-License-Identifier: BSD-3-Clause
//
// The loop of a replay. Frames go in the order of the capture: one whose priority is paused holds
// those behind it.
//
// Frames that leave are late by what the line, PFC and this loop were in their way.

#include "traffic/replay_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/core/histogram.h"
#include "traffic/core/replay.h"
#include "traffic/crc.h"
#include "traffic/pcap_file.h"
#include "traffic/port_host.h"
#include "traffic/profile.h"
#include "traffic/report.h"
#include "traffic/zeroed.h"

enum {
	EXIT_WRONG = 2,        // capture or port
	NEAR_NS = 200000,      // before a frame is due it does not sleep
	SETTLE_NS = 100000000, // for the first words of hosts and switch
	QUIET_NS = 200000000,  // without a frame, and what has not come will not
	LINGER_NS = 5000000000,
	CHECK_NS = 100000000, // between two looks at the links
};

struct replay {
	const struct traffic_config *config;
	const volatile sig_atomic_t *stop;
	struct port_host *host;
	void **memory; // of each endpoint
	struct replay_tally *tally;
	uint32_t host_count;
	struct port_visits visits;
	struct clock clock;
	struct pcap_file file;
	struct replay_pace pace;
	struct histogram lateness;
	uint64_t frames; // of the capture
	uint64_t sent;
	uint64_t sent_bytes;
	// The next frame, or the one that is leaving.
	uint32_t len; // 0: there is none
	bool offered; // to the endpoint
	bool has_dpdk;
	ns_t due;
	uint8_t frame[ROCE_FRAME_MAX];
	ns_t begun;
	ns_t ended;
	ns_t check_at;
	enum report_outcome outcome;
	uint32_t idle;
};

// --- making it --------------------------------------------------------------------------------

// Reads all of the capture once: what cannot be sent is said before anything is.
static int look_through(struct replay *replay)
{
	struct pcap_frame frame;
	int rc = pcap_file_open(&replay->file, replay->config->run.pcap, stderr);

	while (rc == 0 && (rc = pcap_file_next(&replay->file, &frame)) == 1) {
		replay->frames++;
		rc = 0;
	}
	pcap_file_close(&replay->file);
	if (rc == 0 && replay->frames == 0) {
		fprintf(stderr, "%s: no frames\n", replay->config->run.pcap);
		rc = -EINVAL;
	}
	return rc;
}

static int make_host(struct replay *replay, uint32_t rank)
{
	const struct workload workload = { .host_count = replay->host_count };
	struct port_host *host = &replay->host[rank];

	profile_make(replay->config, &workload, rank, 0, crc_method(), &host->profile);
	traffic_host_device(replay->config, rank, host->device);
	host->tally = rank == 0 ? NULL : &replay->tally[rank];
	if (replay->config->run.pcap_macs)
		replay->tally[rank].src_mac = replay->host[0].profile.mac;
	replay->memory[rank] = zeroed(endpoint_bytes(&host->profile));
	if (replay->memory[rank] == NULL)
		return -ENOMEM;
	host->endpoint = endpoint_init(&host->profile, NULL, 0, replay->memory[rank]);
	return 0;
}

static int open_replay(struct replay *replay)
{
	const uint64_t memory = replay->config->run.memory;
	int rc = look_through(replay);

	if (rc != 0)
		return rc;
	replay->host = calloc(replay->host_count, sizeof(*replay->host));
	replay->memory = calloc(replay->host_count, sizeof(*replay->memory));
	replay->tally = calloc(replay->host_count, sizeof(*replay->tally));
	if (replay->host == NULL || replay->memory == NULL || replay->tally == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < replay->host_count && rc == 0; i++)
		rc = make_host(replay, i);
	if (rc == -ENOMEM)
		fputs("weft-traffic: out of memory\n", stderr);
	if (rc == 0)
		rc = port_hosts_check_paths(replay->host, replay->host_count);
	if (rc == 0)
		rc = port_hosts_start_dpdk(replay->host, replay->host_count,
					   memory == CONFIG_UNSET ? 0 : memory);
	replay->has_dpdk = rc == 0;
	if (rc == 0) {
		unmap_waits_for(&replay->visits.poller);
		rc = port_hosts_open(replay->host, replay->host_count);
	}
	return rc;
}

static void close_replay(struct replay *replay)
{
	pcap_file_close(&replay->file);
	if (replay->host != NULL)
		port_hosts_close(replay->host, replay->host_count);
	if (replay->has_dpdk)
		port_hosts_stop_dpdk();
	for (uint32_t i = 0; i < replay->host_count && replay->memory != NULL; i++)
		free(replay->memory[i]);
	free(replay->tally);
	free(replay->memory);
	free(replay->host);
}

// --- frames -----------------------------------------------------------------------------------

// Reads the next frame, if there is one. What the capture has cut off is zero.
static int load(struct replay *replay)
{
	struct pcap_frame frame;
	const int rc = pcap_file_next(&replay->file, &frame);

	replay->len = 0;
	if (rc != 1)
		return rc;
	memset(replay->frame, 0, sizeof(replay->frame));
	memcpy(replay->frame, frame.data, frame.caught);
	if (replay->config->run.pcap_macs)
		replay_readdress(replay->frame, replay->host[0].profile.mac,
				 replay->host[1].profile.mac);
	replay->len = frame.len < REPLAY_PAD ? REPLAY_PAD : frame.len;
	replay->due = replay_due(&replay->pace, frame.at);
	return 0;
}

// Offers the frame when it is due.
static void offer(struct replay *replay, ns_t now)
{
	if (replay->len != 0 && !replay->offered && !ns_before(now, replay->due))
		replay->offered = endpoint_offer(replay->host[0].endpoint, replay->frame,
						 replay->len);
}

// Counts it when it has left, and reads the next.
static int retire(struct replay *replay, ns_t now)
{
	if (!replay->offered || endpoint_offers(replay->host[0].endpoint))
		return 0;
	replay->offered = false;
	replay->sent++;
	replay->sent_bytes += replay->len;
	histogram_add(&replay->lateness, ns_since(now, replay->due));
	return load(replay);
}

static uint32_t turn(struct replay *replay)
{
	uint32_t moved = 0;

	port_visit_begin(&replay->visits, replay->host, replay->host_count,
			 clock_now(&replay->clock));
	for (uint32_t i = 0; i < replay->host_count; i++) {
		moved += port_host_receive(&replay->host[i], &replay->clock);
		moved += port_host_transmit(&replay->host[i], &replay->clock);
	}
	port_visit_end(&replay->visits);
	// Not for long before a frame is due; one that PFC holds may take its time.
	if (moved == 0 && replay->len != 0 && !replay->offered &&
	    ns_since(replay->due, clock_now(&replay->clock)) < NEAR_NS)
		return 1;
	port_hosts_give_way(moved, &replay->idle);
	return moved;
}

// --- from start to end ------------------------------------------------------------------------

// Hosts say who they are, so that the switch knows where they are.
static void settle(struct replay *replay)
{
	const ns_t end = ns_add(clock_now(&replay->clock), SETTLE_NS);

	while (ns_before(clock_now(&replay->clock), end) && !*replay->stop)
		turn(replay);
}

static bool interrupted(struct replay *replay, ns_t now)
{
	if (*replay->stop)
		replay->outcome = REPORT_STOPPED;
	else if (ns_since(now, replay->begun) >= replay->config->run.timeout)
		replay->outcome = REPORT_TIMEOUT;
	else if (!ns_before(now, replay->check_at) &&
		 port_hosts_check(replay->host, replay->host_count, now) != 0)
		replay->outcome = REPORT_FAILED;
	if (!ns_before(now, replay->check_at))
		replay->check_at = ns_add(now, CHECK_NS);
	return replay->outcome != REPORT_DONE;
}

// What is still on its way.
static void linger(struct replay *replay)
{
	const ns_t end = ns_add(replay->ended, LINGER_NS);
	ns_t quiet = replay->ended;
	ns_t now = quiet;

	while (ns_before(now, end) && ns_since(now, quiet) < QUIET_NS) {
		const uint64_t before = replay->tally[1].frames;

		turn(replay);
		now = clock_now(&replay->clock);
		if (replay->tally[1].frames != before)
			quiet = now;
	}
}

static void send_all(struct replay *replay)
{
	int rc = load(replay);

	while (rc == 0 && replay->len != 0) {
		const ns_t now = clock_now(&replay->clock);

		replay->ended = now;
		if (interrupted(replay, now))
			return;
		offer(replay, now);
		turn(replay);
		rc = retire(replay, clock_now(&replay->clock));
	}
	// The file has changed since it was looked through.
	if (rc != 0)
		replay->outcome = REPORT_FAILED;
	replay->ended = clock_now(&replay->clock);
}

static int run(struct replay *replay)
{
	const struct run_config *config = &replay->config->run;
	int rc = port_hosts_wait(replay->host, replay->host_count, config->link_timeout,
				 replay->stop);

	if (rc == 0)
		rc = pcap_file_open(&replay->file, config->pcap, stderr);
	if (rc != 0)
		return rc;
	clock_start(&replay->clock);
	settle(replay);
	for (uint32_t i = 0; i < replay->host_count; i++)
		replay->tally[i].counts = true;
	replay->begun = clock_now(&replay->clock);
	replay->check_at = replay->begun;
	replay->visits.starved_ns = 0;
	for (uint32_t i = 0; i < replay->host_count; i++)
		profile_begin(replay->config, i, replay->begun, &replay->host[i].profile);
	replay->pace = (struct replay_pace){ .rate_ppm = config->pcap_rate,
					     .start = replay->begun };
	send_all(replay);
	port_hosts_leave(replay->host, replay->host_count);
	linger(replay);
	return 0;
}

// --- figures ----------------------------------------------------------------------------------

static void read_rank(struct replay *replay, uint32_t rank, struct report *report)
{
	const struct port_host *host = &replay->host[rank];
	struct report_rank *out = &report->rank[rank];
	struct endpoint_stats stats;
	struct rc_stats rc;

	endpoint_stats_read(&host->profile, host->endpoint, &stats, &rc);
	*out = (struct report_rank){ .rank = rank,
				     .frames = replay->tally[rank].frames,
				     .frame_bytes = replay->tally[rank].bytes };
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		out->pauses_received += stats.prio[i].rx_pfc;
		report->pauses_sent += stats.prio[i].tx_pfc;
	}
	report->pauses_received += out->pauses_received;
	report->unreadable += host->unreadable;
}

// Frames that have arrived where they should.
static uint64_t arrived(const struct replay *replay)
{
	uint64_t sum = 0;

	if (replay->config->run.pcap_macs)
		return replay->tally[1].frames;
	for (uint32_t i = 1; i < replay->host_count; i++)
		sum += replay->tally[i].frames;
	return sum;
}

static void make_report(struct replay *replay, struct report *out)
{
	*out = (struct report){
		.rank = out->rank,
		.workload = report_workload_name(TRAFFIC_REPLAY),
		.outcome = report_outcome_name(replay->outcome),
		.hosts = replay->host_count,
		.seconds = (double)ns_since(replay->ended, replay->begun) / 1e9,
		.starved_us = (double)replay->visits.starved_ns / 1000,
		.frames = replay->frames,
		.frames_sent = replay->sent,
		.frames_lost = u64_minus(replay->sent, arrived(replay)),
		.frame_bytes = replay->sent_bytes,
		.frame_late_p50_us = (double)histogram_quantile(&replay->lateness, 500000) / 1000,
		.frame_late_p99_us = (double)histogram_quantile(&replay->lateness, 990000) / 1000,
		.frame_late_max_us = (double)replay->lateness.most / 1000,
	};
	for (uint32_t i = 0; i < replay->host_count; i++)
		read_rank(replay, i, out);
	out->good = replay->outcome == REPORT_DONE && out->frames_sent == out->frames &&
		    out->frames_lost == 0 && out->unreadable == 0;
}

static int print(struct replay *replay)
{
	struct report report = { .rank = calloc(replay->host_count, sizeof(*report.rank)) };
	int status = EXIT_FAILURE;

	if (report.rank == NULL) {
		fputs("weft-traffic: out of memory\n", stderr);
	} else {
		make_report(replay, &report);
		status = report_print(replay->config, &report);
	}
	report_free(&report);
	return status;
}

int replay_run(const struct traffic_config *config, const volatile sig_atomic_t *stop)
{
	static struct replay replay;
	int status = EXIT_WRONG;
	int rc;

	replay = (struct replay){ .config = config,
				  .stop = stop,
				  .host_count = traffic_host_count(config) };
	rc = open_replay(&replay);
	if (rc == 0)
		rc = run(&replay);
	if (rc == 0)
		status = print(&replay);
	else if (rc == -EINTR)
		status = EXIT_FAILURE;
	close_replay(&replay);
	return status;
}
