// SPDX-License-Identifier: BSD-3-Clause
//
// weft config: changes of a running switch. Words become edits (config_edits.h), either as they
// stand or through the rows of config_shapes.h, which are the commands that SONiC's users type.
// What a table, row or knob is called the switch knows, and says when it is something else.
#pragma once

#include "cli/options.h"

// Runs what follows "config" on the command line. An exit status (cli/run.h).
int config_run(const struct options *options);

// Lists the commands that begin with the words.
void config_help(const char *const *words, uint32_t count, FILE *out);
