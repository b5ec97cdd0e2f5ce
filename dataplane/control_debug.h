// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket for tests and drills: forced storms, the big red switch, ports and
// queues that are not served, dice that begin anew. What was asked for is in /v1/stats until it is
// turned off, and in the log.
//
//	POST /v1/storm?port=NAME&queue=0..7&on=on|off
//	POST /v1/big-red?on=on|off
//	POST /v1/debug/tx-disable?port=NAME&on=on|off
//	POST /v1/debug/dequeue-disable?port=NAME&queue=3,5-7|all&on=on|off
//	POST /v1/debug/seed?seed=NUMBER
#pragma once

#include "dataplane/control_reply.h"

void control_debug_handlers(struct control_http *http);
