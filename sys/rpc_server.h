// SPDX-License-Identifier: BSD-3-Clause
//
// The server's end of libevent's RPC: evrpc's wire format over HTTP/1.1, on a unix socket and, with
// mutual TLS 1.3, on TCP. What is not a message of its schema, too large or from somebody without a
// valid certificate is refused before a handler sees it, with a line in the log, at a limited rate.
//
// A handler answers at once or later; a connection that ends meanwhile takes the call with it.
// Limits on everything: connections in all and of one peer, bytes of headers and bodies (those of
// the schema), seconds for a handshake, a request, a reply, and without a word.
#pragma once

#include <event2/event.h>

#include "sys/rpc_message.h"
#include "sys/tls.h"

struct rpc_server;
struct rpc_call;

struct rpc_server_options {
	const char *socket_path;      // unix socket, mode 0660; NULL: none
	const char *address;          // "IP:PORT" of TCP, port 0: any; NULL: none
	const struct tls_files *tls;  // for TCP, which is not served without; copied
	bool guests;                  // TCP is for clients without a certificate, who are nobody
	uint32_t connection_max;      // in all
	uint32_t peer_connection_max; // of one certificate's name
};

// Called for each request that is whole and right. `request` lives until the call ends.
typedef void rpc_handler(void *arg, struct rpc_call *call, const void *request);

// Called when the connection ended before rpc_reply(); the call must not be used afterwards.
typedef void rpc_gone(void *arg, struct rpc_call *call);

struct rpc_method {
	const char *name; // "fetch" is POST /.rpc.fetch
	const struct rpc_message *request_type;
	const struct rpc_message *reply_type;
	rpc_handler *handle;
	rpc_gone *gone; // NULL for methods that answer at once
};

// Serves the methods, which outlive it; the program ignores SIGPIPE. RLIMIT_NOFILE is raised if
// there may be more connections than it has room for. NULL after a line in the log.
struct rpc_server *rpc_server_open(struct event_base *base,
				   const struct rpc_server_options *options,
				   const struct rpc_method *methods, uint32_t count, void *arg);

// Ends all connections; calls that wait are gone without a word. Not from a handler. Accepts NULL.
void rpc_server_close(struct rpc_server *server);

// Of TCP, as it is bound; 0: there is none.
uint16_t rpc_server_port(const struct rpc_server *server);

// The name in the peer's certificate; on the unix socket, whose file mode says who may, that which
// rpc_call_name() gave to the connection. NULL: none yet.
const char *rpc_call_peer(const struct rpc_call *call);

// Names the connection of a call on the unix socket, cut to TLS_NAME_BYTES.
void rpc_call_name(struct rpc_call *call, const char *name);

// Ends a call with a reply, which is marshalled at once and stays the caller's.
void rpc_reply(struct rpc_call *call, const void *reply);

// Ends it with an HTTP error and a reason of one line: 403 not allowed, 429 too much, 503 not now.
void rpc_refuse(struct rpc_call *call, int status, const char *reason);

// The list of revoked certificates is read again, and sessions of those on it end. 0, or -errno
// after a line in the log, and nothing has changed.
int rpc_server_read_revoked(struct rpc_server *server);

// Ends every connection of a peer: it has another name's state, or is not wanted any more.
void rpc_server_drop(struct rpc_server *server, const char *peer);
