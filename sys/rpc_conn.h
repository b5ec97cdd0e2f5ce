// SPDX-License-Identifier: BSD-3-Clause
//
// One connection of an RPC server (rpc_server.h): handshake, then request by request. What came is
// held in the connection's own buffers, whose size is bounded: a head, a body as the schema allows
// it, or a reply that the peer has not taken yet.
//
//	HANDSHAKE ──▶ HEAD ──▶ BODY ──▶ CALL ──▶ REPLY ──▶ HEAD ...
//	                 └────────┴── refused ──▶ LAST ──▶ the end
//
// Each state but CALL, in which the handler has the word, ends at a time of its own, whatever
// trickles in meanwhile.
#pragma once

#include <event2/bufferevent.h>
#include <sys/queue.h>

#include "sys/rpc_address.h"
#include "sys/rpc_server.h"

enum rpc_conn_state {
	RPC_CONN_HANDSHAKE,
	RPC_CONN_HEAD,  // of a request, or nothing yet
	RPC_CONN_BODY,  // of a request
	RPC_CONN_CALL,  // a handler has it
	RPC_CONN_REPLY, // the peer takes its reply
	RPC_CONN_LAST,  // likewise, and then the connection ends
};

struct rpc_conn;

struct rpc_call {
	struct rpc_conn *conn;
	const struct rpc_method *method;
	void *request;
};

struct rpc_conn {
	LIST_ENTRY(rpc_conn) entry;
	struct rpc_server *server;
	struct bufferevent *bev;
	struct event *timer; // of the state
	enum rpc_conn_state state;
	size_t body_bytes; // of the request
	bool close;        // behind its reply
	bool began;        // it has, and its time runs
	struct rpc_call call;
	char peer[TLS_NAME_BYTES]; // "": on the unix socket, or not known yet
	char place[RPC_PLACE_BYTES];
};

struct rpc_server {
	struct event_base *base;
	const struct rpc_method *methods;
	uint32_t method_count;
	void *arg;
	struct rpc_server_options options; // numbers alone
	struct evconnlistener *listeners[2];
	char socket_path[TLS_PATH_BYTES];
	struct event *rest; // when accepting goes on after a failure
	LIST_HEAD(, rpc_conn) conns;
	uint32_t conn_count;
};

// Takes a bufferevent over. False: no memory, and the bufferevent is released.
bool rpc_conn_open(struct rpc_server *server, struct bufferevent *bev, const struct sockaddr *at);

// Ends a connection; a call that waits is gone.
void rpc_conn_end(struct rpc_conn *conn);

// Releases a connection; a call that waits is so without a word.
void rpc_conn_free(struct rpc_conn *conn);
