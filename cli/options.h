// SPDX-License-Identifier: BSD-3-Clause
//
// The command line split into options and words. Options may stand anywhere; the words are left
// for the command table.
#pragma once

#include <stdio.h>

#include "base/types.h"
#include "cli/command.h"

enum { OPTIONS_CONFIG_MAX = 128 };

struct options {
	const char *name;    // of the switch, NULL: not given
	const char *run_dir; // of the control sockets
	const char *kind;    // of watermarks
	bool json;
	bool nonzero;
	bool total; // counters as the switch has them
	bool check_storm;
	bool history;
	const char *interval; // as given, NULL: not
	const char *count;
	const char *write; // of a capture, as the next three; NULL: not given
	const char *seconds;
	const char *snaplen;
	const char *reason;
	const char *canary; // switch; NULL: not given
	const char *since;  // number of an event, likewise
	bool force;
	uint64_t interval_ns; // between two looks; 0: not given
	uint64_t looks;       // 0: no end
	bool help;
	bool version;
	const char *words[COMMAND_WORDS_MAX];
	uint32_t word_count;
	// What follows "config" but for options that say which switch to ask: its words have
	// options of their own (cli/config.h). The word itself is in `words`.
	const char *config[OPTIONS_CONFIG_MAX];
	uint32_t config_count;
};

// Returns 0, or -EINVAL after a line on stderr.
int options_parse(int argc, char **argv, struct options *options);

#define OPTIONS_RUN_DIR "/run/weft"

// The long name of an option if it is one that takes the word behind it as its value, or NULL.
const char *options_valued(const char *arg);

// Prints the long names of options that begin so, one per line.
void options_offer(const char *begun, FILE *out);

// Prints the options with a line of help each.
void options_help(FILE *out);
