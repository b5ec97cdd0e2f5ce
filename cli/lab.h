// SPDX-License-Identifier: BSD-3-Clause
//
// weft lab: a whole fabric on one machine, made of an intent. Switches, a manager and hosts are
// processes of this machine, what they are and who they are is in the lab's directory
// (lab_state.h), and whoever may read that may look at it, break it, and end it.
#pragma once

#include "cli/lab_fabric.h"
#include "cli/lab_process.h"

// Runs what follows the word on the command line. An exit status (cli/run.h).
int lab_run(int argc, char **argv);

// One action each: an exit status after lines on stderr.
int lab_up(const struct lab_options *options);
int lab_down(const struct lab_options *options);
int lab_status(const struct lab_options *options);
int lab_link(const struct lab_options *options); // cut, heal
int lab_kill(const struct lab_options *options); // kill, start
int lab_traffic(const struct lab_options *options);
int lab_exec(const struct lab_options *options);

// Names of processes beside those of switches, which no switch has.
#define LAB_PROCESS_SWITCHES "switches" // the process of all of them
#define LAB_PROCESS_MANAGER "manager"
#define LAB_PROCESS_TRAFFIC "traffic"

// Ends all that a lab has and removes its files. An exit status after lines on stderr, and what
// could not be ended is still in its state.
int lab_end(struct lab *lab);

// The request of a control socket, without a word when it fails; NULL then.
json_t *lab_ask(const struct lab *lab, const char *name, const char *method, const char *target);

// Likewise of the manager, a GET.
json_t *lab_ask_manager(const struct lab *lab, const char *target);

// The process that a switch runs in; NULL: none was started.
json_t *lab_process_of(const struct lab *lab, const char *name);

// --- lab_netns.c --------------------------------------------------------------------------------

// Makes a namespace for each host, with its addresses. An exit status.
int lab_netns_make(struct lab *lab, const struct lab_fabric *fabric);

// Removes those of the state. 0, or -errno after lines.
int lab_netns_remove(struct lab *lab);
