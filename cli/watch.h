// SPDX-License-Identifier: BSD-3-Clause
//
// weft watch: looks at one or several switches again and again, until --count looks were shown or
// a signal ends it. On a terminal each look replaces the one before; otherwise it follows it, and
// with --json each is one object on a line of its own.
#pragma once

#include "cli/command.h"
#include "cli/options.h"

// An exit status; ending by SIGINT or SIGTERM is no failure.
int watch_run(const struct command *command, const struct options *options, const char *port);
