// SPDX-License-Identifier: BSD-3-Clause
//
// A replay: host 0 sends the frames of a capture as they are, at their times, outside of all
// connections; the others count what arrives. The capture is read twice, first to see that all of
// it can be sent, then frame by frame, so that its size does not matter.
#pragma once

#include <signal.h>

#include "traffic/config.h"

// Runs it and prints its report. The exit status of the process: 0, 1 when not all was sent or has
// arrived, 2 when it could not even begin, after a line on stderr.
int replay_run(const struct traffic_config *config, const volatile sig_atomic_t *stop);
