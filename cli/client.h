// SPDX-License-Identifier: BSD-3-Clause
//
// Talks to one running switch: finds its control socket, sends one request, gives the JSON of the
// answer. Every failure is one line on stderr that says what to do about it.
#pragma once

#include <jansson.h>

#include "base/types.h"

struct client_request {
	const char *run_dir; // of the sockets NAME.sock
	const char *name;    // of the switch; NULL: the only one there is
	const char *method;
	const char *target; // path and query
};

// The answer as a JSON object that the caller releases, or NULL after a line on stderr.
json_t *client_call(const struct client_request *request);
