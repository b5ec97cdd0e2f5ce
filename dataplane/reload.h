// SPDX-License-Identifier: BSD-3-Clause
//
// SIGHUP: the switch takes the configuration that its file holds now. What is wrong, what would
// need a restart and what would drop packets is logged, line by line, and then nothing changes:
// whoever wants it all the same says so on the control socket.
#pragma once

#include "dataplane/config_change.h"

// 0, or -errno, logged.
int reload(struct config_changer *changer);
