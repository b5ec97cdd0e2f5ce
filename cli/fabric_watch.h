// SPDX-License-Identifier: BSD-3-Clause
//
// weft fabric watch: what happens in a fabric as it happens, a line for each event and each plan,
// until a signal, --count lines, or the end of the fabric manager.
#pragma once

#include "cli/options.h"

// An exit status.
int fabric_watch_run(const struct options *options);
