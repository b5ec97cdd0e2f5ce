// SPDX-License-Identifier: BSD-3-Clause
//
// weft capture: frames of a running switch, as a pcapng file. The switch selects, times and
// comments them; this end writes what comes, whole blocks only, so a file is good whatever ends it.
#pragma once

#include "cli/command.h"
#include "cli/options.h"

// An exit status. Ctrl-C ends the capture; what was captured is written, and counted on stderr.
int capture_run(const struct command *command, const struct options *options,
		const char *const *values, uint32_t value_count);
