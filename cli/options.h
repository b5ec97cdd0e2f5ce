// SPDX-License-Identifier: BSD-3-Clause
//
// The command line split into options and words. Options may stand anywhere; the words are left
// for the command table.
#pragma once

#include <stdio.h>

#include "base/types.h"

enum { OPTIONS_WORDS_MAX = 8 };

struct options {
	const char *name;    // of the switch, NULL: not given
	const char *run_dir; // of the control sockets
	const char *kind;    // of watermarks
	bool json;
	bool nonzero;
	bool total; // counters as the switch has them
	bool check_storm;
	bool history;
	bool help;
	bool version;
	const char *words[OPTIONS_WORDS_MAX];
	uint32_t word_count;
};

// Returns 0, or -EINVAL after a line on stderr.
int options_parse(int argc, char **argv, struct options *options);

// Prints the options with a line of help each.
void options_help(FILE *out);
