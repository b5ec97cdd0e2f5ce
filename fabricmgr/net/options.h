// SPDX-License-Identifier: BSD-3-Clause
//
// Command line of weft-fabricd: where the intent is, where it serves and keeps its state, and how
// careful it is. What is missing has a default; that of TLS is not to serve TCP at all, since who
// is on the other end would not be known.
#pragma once

#include "fabricmgr/core/health.h"
#include "sys/tls.h"

struct options {
	const char *intent;
	const char *run_dir;
	const char *state_dir;
	const char *listen; // "IP:PORT", NULL: a unix socket alone
	struct tls_files tls;
	uint16_t http; // port of 127.0.0.1; 0: none
	uint32_t damping_ms;
	uint32_t mass_ppm;
	struct alarm_limits alarms[ALARM_COUNT];
	bool log_json;
};

enum options_verdict {
	OPTIONS_RUN,
	OPTIONS_DONE,  // all that was asked for is printed
	OPTIONS_WRONG, // a line on stderr says what
};

enum options_verdict options_parse(struct options *options, int argc, char **argv);
