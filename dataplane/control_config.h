// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the control socket that changes the configuration of the running switch.
//
// A change answers {"changes": [...], "drops": [...], "applied": true}; one that would drop packets
// and is not forced is refused with 409 and the same members, one that is wrong with 400 and
// "errors", a line each. Who may change anything is who may open the socket: its owner and group.
#pragma once

#include <event2/event.h>
#include <event2/http.h>

#include "dataplane/config_change.h"

struct control_config;

//	GET  /v1/config			what runs, as canonical text
//	GET  /v1/config?table=NAME	one table of it
//	GET  /v1/config?saved=1		what `save` keeps
//	GET  /v1/config?diff=file|saved	what leads from there to what runs, a line each
//	POST /v1/config			edits (dataplane/config_request.h)
//	POST /v1/config?reload=1	the configuration file anew; takes the same options
//	POST /v1/config?confirm=1	keeps a change that waits to be confirmed
//	POST /v1/config?rollback=1	takes it back now
//	POST /v1/config?save=1		keeps what runs over a restart
//
// Adds the handlers to a server; changes are made by `changer`. What is saved is kept in
// `state_dir`. Both must outlive this. NULL when memory is short.
struct control_config *control_config_open(struct evhttp *server, struct config_changer *changer,
					   const char *state_dir);

// Accepts NULL.
void control_config_close(struct control_config *cc);
