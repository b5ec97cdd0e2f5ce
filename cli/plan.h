// SPDX-License-Identifier: BSD-3-Clause
//
// weft plan and weft trace: routes of a whole fabric, offline. They ask no switch; what they say is
// what a fabric manager would send, and the proof of it.
#pragma once

// Run what follows the word on the command line. An exit status (cli/run.h).
int plan_run(int argc, char **argv);
int trace_run(int argc, char **argv);
