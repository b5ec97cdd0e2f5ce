// SPDX-License-Identifier: BSD-3-Clause
//
// The command lines of weft lab: a word that says what to do, options of the lab, and words or a
// command line of another program behind them. Options stand before the words that are handed on.
#pragma once

#include <stdio.h>

#include "base/types.h"

enum lab_action {
	LAB_UP,
	LAB_DOWN,
	LAB_STATUS,
	LAB_TRAFFIC,
	LAB_EXEC,
	LAB_CUT,
	LAB_HEAL,
	LAB_KILL,
	LAB_START,
	LAB_ACTIONS,
};

enum lab_hosts { LAB_HOSTS_MEMIF, LAB_HOSTS_NETNS };

struct lab_options {
	enum lab_action action;
	const char *name; // of the lab; NULL: not given
	const char *dir;  // its directory; NULL: not given
	uint64_t speed_bps;
	enum lab_hosts hosts;
	bool no_manager;
	bool processes; // one for each switch
	bool json;
	bool help;
	char **words; // behind the action and the options
	int word_count;
};

// Words behind `weft lab`. 0, or -EINVAL after a line on stderr.
int lab_options_parse(int argc, char **argv, struct lab_options *options);

void lab_options_help(FILE *out);

// Prints the words and options that begin so, one per line; `at` counts words before it.
void lab_options_offer(const char *begun, uint32_t at, FILE *out);
