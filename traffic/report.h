// SPDX-License-Identifier: BSD-3-Clause
//
// The results of a run: figures from what job and endpoints have counted (report.c), as text in
// the columns of perftest and nccl-tests (report_text.c), as JSON (report_json.c). The rows of
// schema/traffic_report.def say which figures there are.
#pragma once

#include <stdio.h>

#include "traffic/core/endpoint.h"
#include "traffic/switch_counts.h"
#include "traffic/workload.h"

#define REPORT_FIELD(kind, key) REPORT_FIELD_##kind(key)
#define REPORT_FIELD_REAL(key) double key
#define REPORT_FIELD_COUNT(key) uint64_t key
#define REPORT_FIELD_TEXT(key) const char *key
#define REPORT_FIELD_HOST(key) uint32_t key
#define REPORT_FIELD_LIMIT(key) uint64_t key
#define REPORT_NO_LIMIT UINT64_MAX

#define REPORT_RANK_VALUE(key, kind, ...) REPORT_FIELD(kind, key);
struct report_rank {
#include "schema/traffic_report.def"
};

#define REPORT_FLOW_VALUE(key, kind, ...) REPORT_FIELD(kind, key);
struct report_flow {
#include "schema/traffic_report.def"
};

#define REPORT_SIZE_VALUE(key, kind, ...) REPORT_FIELD(kind, key);
struct report_size {
#include "schema/traffic_report.def"
};

#define REPORT_VALUE(key, kind, ...) REPORT_FIELD(kind, key);
struct report {
#include "schema/traffic_report.def"
	const struct switch_counts *at_switch; // its reasons; NULL: it was not asked
	struct report_rank *rank;              // `hosts` of them
	struct report_flow *flow;              // those of a job that has flows
	uint32_t flow_count;
	struct report_size size[JOB_SIZES];
};

enum report_outcome { REPORT_DONE, REPORT_STOPPED, REPORT_TIMEOUT, REPORT_FAILED };

// What a host has counted.
struct report_host {
	struct endpoint_stats stats;
	struct rc_stats rc;
	struct job_rank_result job;
	uint64_t paused_ns; // of the priority of the data
	uint64_t pausing_ns;
	uint64_t unreadable;
};

struct report_input {
	const struct traffic_config *config;
	const struct workload *workload;
	const struct job_result *job;
	const struct job_flow_result *flow; // one of each flow
	const struct job_size_result *size; // JOB_SIZES of them; NULL where no message is due
	const struct report_host *host;     // one of each host
	uint64_t elapsed_ns;
	uint64_t starved_ns;
	const struct switch_counts *at_switch; // NULL: it was not asked
	bool stuck; // the job was stopped, and never done with what was on its way
	enum report_outcome outcome;
};

// Fills `out`, whose `rank` is an array for the hosts and `flow` one for as many flows as queue
// pairs send.
void report_make(const struct report_input *in, struct report *out);

// The report of a job that has ended; `in` is without what the job knows itself. report_free()
// frees what it brings. 0 or -ENOMEM.
int report_of_job(const struct job *job, const struct report_input *in, struct report *out);
void report_free(struct report *report);

// Prints text or JSON as asked for on standard output. The exit status of the program.
int report_print(const struct traffic_config *config, const struct report *report);

// Behind all that goes to `out`: 0, or -EIO after a line on stderr when some of it was not written.
int report_end(FILE *out);

void report_text(const struct traffic_config *config, const struct report *report, FILE *out);

// One object and a newline. 0, or -ENOMEM.
int report_json(const struct traffic_config *config, const struct report *report, FILE *out);

// The word of an ENUM's value, by its place.
const char *report_workload_name(enum traffic_workload workload);
const char *report_outcome_name(enum report_outcome outcome);
