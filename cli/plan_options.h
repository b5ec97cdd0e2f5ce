// SPDX-License-Identifier: BSD-3-Clause
//
// The command lines of weft plan and weft trace. They talk to no switch, so their options are their
// own; they may stand anywhere, and those with a value also as --option=value.
#pragma once

#include <stdio.h>

#include "base/types.h"

enum { PLAN_FAILS_MAX = 1024 };

struct plan_options {
	const char *fabric;
	const char *engine;  // NULL: what the fabric says
	const char *tables;  // to prove instead of planning: a directory, or opensm:FILE
	const char *dump;    // directory to write tables to
	const char *configs; // directory to write configurations of switches to
	const char *draw;    // file to draw to
	const char *export;  // FORM:FILE to write the fabric to
	const char *fail[PLAN_FAILS_MAX];
	uint32_t fail_count;
	uint64_t permutations;
	uint64_t seed;
	bool all_failures;
	bool qos;   // show priorities and buffers
	bool check; // read the fabric and end
	bool json;
	bool help;
	const char *from; // of a trace
	const char *to;
};

// Words behind `weft plan` or `weft trace`. 0, or -EINVAL after a line on stderr.
int plan_options_parse(int argc, char **argv, bool trace, struct plan_options *options);

void plan_options_help(bool trace, FILE *out);
