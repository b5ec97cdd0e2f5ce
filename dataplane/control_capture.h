// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket that captures frames (docs/capture.md):
//
//	GET  /v1/capture?what=drops[&port=NAME][&reason=A,B]
//	GET  /v1/capture?what=queue&port=NAME&queue=0..7
//	GET  /v1/capture?what=port&port=NAME[&direction=in|out]
//	POST /v1/capture/stop?id=NUMBER
//
// Each with &count=N, &seconds=S, &snaplen=N and &id=NUMBER, by which it can be stopped. The answer
// is a pcapng file that grows until then, or until who asked goes away.
#pragma once

#include "dataplane/control_reply.h"

struct captures;

// NULL when there is no memory.
struct captures *control_capture_open(struct control_http *http, struct event_base *base);

// Ends the captures that still run, after the event loop. Accepts NULL.
void control_capture_close(struct captures *captures);
