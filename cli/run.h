// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a command of the table, and what other files need of that: asking a switch, and the exit
// statuses of weft.
#pragma once

#include "cli/command.h"
#include "cli/options.h"
#include "sys/client.h"

enum {
	EXIT_DONE,
	// The switch or the fabric manager refused, or a command that looks for trouble has found
	// some.
	EXIT_REFUSED,
	EXIT_USAGE,  // the command line is wrong
	EXIT_ABSENT, // no such switch, or no fabric manager, is running
	EXIT_DENIED, // the user may not talk to it
};

// Runs a command with the words that follow its own. An exit status.
int run_command(const struct command *command, const struct options *options,
		const char *const *values, uint32_t value_count);

// Asks the switch `name` (NULL: the only one). The answer, or NULL after a line on stderr and
// *status set.
json_t *run_ask(const struct options *options, const char *name, const char *method,
		const char *target, int *status);

// Likewise, with a JSON text as the body of the request; NULL: none.
json_t *run_ask_with(const struct options *options, const char *name, const char *method,
		     const char *target, const char *body, int *status);

// The exit status of what went wrong.
int run_status(enum client_fault fault);

// Sleeps; a signal ends it early.
void run_wait(uint64_t ns);
