// SPDX-License-Identifier: BSD-3-Clause
//
// Talks to one running switch, or to the fabric manager: finds its control socket, sends one
// request, gives the JSON of the answer. Every failure is one line on stderr that says what to do
// about it.
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "base/types.h"

enum client_fault {
	CLIENT_REFUSED, // the switch said no, or nothing that can be read
	CLIENT_ABSENT,  // no such switch is running, or none, or it is not clear which
	CLIENT_DENIED,  // the user may not talk to it
};

struct client_request {
	const char *run_dir; // of the sockets NAME.sock
	const char *name;    // of the switch; NULL: the only one there is
	bool fabric;         // the fabric manager is asked, and no switch
	const char *method;
	const char *target;       // path and query
	const char *body;         // JSON, NULL: none
	enum client_fault *fault; // what NULL means; may be NULL itself
	bool quiet;               // say nothing, whatever fails
};

enum { CLIENT_NAMES_MAX = 256, CLIENT_NAME_BYTES = 64 };

struct client_names {
	char name[CLIENT_NAMES_MAX][CLIENT_NAME_BYTES];
	uint32_t count;
};

// Names of the switches that have a socket in a directory, sorted; 0, or -errno and none.
int client_list(const char *run_dir, struct client_names *names);

// An answer that goes on for as long as it is read.
struct client_stream {
	int fd;
	char *data; // received already
	size_t at;
	size_t len;
};

// Begins one. False after a line on stderr.
bool client_open(const struct client_request *request, struct client_stream *stream);

// Waits for bytes, at most `wait_ms`, and gives at most `bytes` of them: how many, 0 at the end;
// -EAGAIN: none came, or a signal did; another -errno.
ssize_t client_read(struct client_stream *stream, void *out, size_t bytes, int wait_ms);
void client_close(struct client_stream *stream);

// The answer as a JSON object that the caller releases, or NULL after a line on stderr, if the
// request is not quiet.
json_t *client_call(const struct client_request *request);
