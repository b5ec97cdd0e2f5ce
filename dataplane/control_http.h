// SPDX-License-Identifier: BSD-3-Clause
//
// The control socket of a switch: HTTP with JSON bodies on a unix socket RUN_DIR/NAME.sock, mode
// 0660.
//
//	GET  /v1/stats?watermark=user|persistent|periodic
//	GET  /v1/mac, /v1/acl, /v1/lcore, /v1/driver, /metrics
//	POST /v1/clear?watermark=user|persistent|periodic
//	POST /v1/clear?poll_gap=1
//	POST /v1/link?cut=1&port=NAME, /v1/link?heal=1&port=NAME
//
// and what control_config.h, control_debug.h and control_capture.h say. Errors are
// {"error": "..."} with a status of 4xx or 5xx.
#pragma once

#include <event2/event.h>

#include "dataplane/config_change.h"

struct control_http;

// Listens for the switch of `changer`, which outlives this. NULL when that fails, logged: another
// switch of this name may be running.
struct control_http *control_http_open(struct event_base *base, const char *run_dir,
				       const char *state_dir, struct config_changer *changer);

// Removes the socket. Accepts NULL.
void control_http_close(struct control_http *http);
