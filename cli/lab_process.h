// SPDX-License-Identifier: BSD-3-Clause
//
// Processes of a lab. They outlive the command that started them and are ended by others, later; a
// process is known by its number and the time at which it started, so that another one that has got
// its number is left alone.
#pragma once

#include "cli/lab_state.h"

enum { LAB_ARGS_MAX = 512 };

// A command line that is put together; too many words are noticed by lab_process_start().
struct lab_args {
	const char *word[LAB_ARGS_MAX + 1];
	uint32_t count;
};

static inline void lab_args_add(struct lab_args *args, const char *word)
{
	if (args->count < LAB_ARGS_MAX)
		args->word[args->count] = word;
	args->count++;
}

// Finds a program of weft: beside this one, where a build has it, or on the PATH. NULL after a line
// on stderr.
const char *lab_program(const char *name, char out[LAB_PATH_BYTES]);

// Starts a process of this name and notes it: it runs only once it stands in the lab's state, with
// its output in log/NAME.log, in a session of its own. One of that name that has ended is
// forgotten. 0, or -errno after a line.
int lab_process_start(struct lab *lab, const char *name, const struct lab_args *args);

// The same again, of one that has ended.
int lab_process_restart(struct lab *lab, json_t *process);

// Notes this process itself, under a name that others may have, too. 0, or -errno after a line.
int lab_process_note_self(struct lab *lab, const char *name);

// The process of a name, NULL when there was none.
json_t *lab_process_find(const struct lab *lab, const char *name);

// Whether it runs.
bool lab_process_lives(const json_t *process);

// Ends one: asks it to if `gently`, and kills it when it does not within `seconds`. 0, also when it
// had ended, or -errno after a line.
int lab_process_end(const json_t *process, bool gently, uint32_t seconds);

// Prints the end of its log to stderr.
void lab_process_show_log(const struct lab *lab, const char *name);

// Runs a program to its end, at most `seconds`, with output on `quiet` nowhere. Its exit status, or
// -errno.
int lab_run_program(const char *const *argv, bool quiet, uint32_t seconds);
