// SPDX-License-Identifier: BSD-3-Clause
//
// The command line of weft-switch.
//
// Strings are borrowed from argv. What concerns one switch is in its configuration file; here is
// what concerns the process.
#pragma once

#include "dataplane/dpdk/eal.h"

enum { OPTIONS_CONFIG_MAX = 128 };

struct options {
	const char *config[OPTIONS_CONFIG_MAX]; // one switch each
	uint32_t config_count;
	const char *run_dir;
	const char *eal_dir; // whose dpdk/ has the telemetry socket
	const char *state_dir;
	enum eal_memory memory;
	uint32_t cpu_count; // 0: any processors
	int cpu[LCORE_MAX]; // of the forwarding lcores in turn
	bool busy_poll;
	bool check;     // only look at the configuration
	bool dump;      // look at it and print it
	bool dump_rows; // with presets as the rows that they stand for
	bool log_json;
};

enum options_verdict { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

// OPTIONS_DONE after --help or --version, OPTIONS_WRONG after a line on stderr.
enum options_verdict options_parse(struct options *options, int argc, char **argv);
