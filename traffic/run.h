// SPDX-License-Identifier: BSD-3-Clause
//
// One run: hosts on their ports, a job, and the loop that moves frames and completions between
// them. The main thread does all of it.
#pragma once

#include "traffic/port_host.h"
#include "traffic/report.h"
#include "traffic/switch_counts.h"

// Time for which a host was held, and held its peer, while the job ran.
struct run_pause {
	uint64_t held_ns;
	uint64_t holding_ns;
};

struct run {
	const struct traffic_config *config;
	struct workload workload;
	struct job *job;
	struct clock clock;
	struct port_visits visits;
	struct port_host *host;
	struct rc_region *region; // the memory of each host that its peers reach
	void **memory;            // of each endpoint
	struct switch_counts switch_before;
	struct switch_counts switch_during; // after the run
	bool switch_lost;                   // it went, or was started anew, meanwhile
	struct run_pause *pause;            // of each host
	uint32_t host_count;
	uint32_t empty_turns; // rounds in which nothing moved
	bool has_dpdk;
	bool job_runs;
	bool link_lost;
	bool stuck; // stopped, and work is still on its way
	ns_t begun; // of the job
	ns_t ended;
	ns_t look_at;     // at what hosts wait for, next time
	ns_t check_at;    // the links, next time
	ns_t progress_at; // next line of progress
	bool shows_progress;
	uint64_t shown_bytes;
	enum report_outcome outcome;
};

// Becomes set when the run is to end (a signal).
extern volatile sig_atomic_t run_stop;

// Makes hosts and job. 0, or -errno after a line on stderr.
int run_open(struct run *run, const struct traffic_config *config);

// Runs the job to its end; `outcome` tells which. 0, or -errno after a line on stderr when it could
// not even begin.
int run_job(struct run *run);

// Figures of what was done; the caller frees the report. 0 or -ENOMEM.
int run_report(struct run *run, struct report *report);

void run_close(struct run *run);
