// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket that shows neighbours: what the switch says on each port, what it
// hears, and how the two differ.
//
//	GET /v1/lldp
#pragma once

#include "dataplane/control_reply.h"

void control_lldp_handlers(struct control_http *http);
