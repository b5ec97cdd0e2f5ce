// SPDX-License-Identifier: BSD-3-Clause
//
// What the handlers of a switch's control socket share: what they work on, and how they find it.
// Queries and answers are those of sys/http_reply.h.
#pragma once

#include <sys/un.h>

#include "dataplane/dpdk/worker.h"
#include "sys/http_reply.h"

struct captures;
struct control_config;

struct control_http {
	struct evhttp *server;
	struct workers *workers;
	struct instance *in;
	struct captures *captures;     // dataplane/control_capture.h
	struct control_config *config; // dataplane/control_config.h
	struct sockaddr_un address;    // sun_path empty: no socket of ours yet
};

// The port of this name or alias, or NULL; so is no name.
struct port *find_port(const struct instance *in, const char *name);
