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
	TAILQ_ENTRY(rpc_conn) entry; // in `conns`, or in `guests` of the server

	struct rpc_server *server;
	struct bufferevent *bev;
	SSL *ssl;            // NULL: on the unix socket; the bufferevent's
	int64_t since_ms;    // of the monotonic clock
	int64_t expiry;      // of its certificate, seconds since 1970
	uint32_t looked;     // at its certificate, as rpc_server.looks counts
	struct event *timer; // of the state
	enum rpc_conn_state state;
	size_t body_bytes; // of the request
	bool close;        // behind its reply
	bool began;        // it has, and its time runs
	struct rpc_call call;
	char peer[TLS_NAME_BYTES]; // "": on the unix socket, or not known yet
	char place[RPC_PLACE_BYTES];
};

TAILQ_HEAD(rpc_conns, rpc_conn);

struct rpc_server {
	struct event_base *base;
	const struct rpc_method *methods;
	uint32_t method_count;
	void *arg;
	struct rpc_server_options options; // numbers alone
	struct evconnlistener *listeners[2];
	char socket_path[TLS_PATH_BYTES];
	struct event *rest; // when accepting goes on
	struct event *look; // at certificates, now and then
	struct tls_files files;
	SSL_CTX *tls;
	uint64_t stamp; // of the files as they were read
	uint32_t looks;
	struct rpc_conns guests; // who has not shown a certificate yet, the longest first
	struct rpc_conns conns;
	uint32_t guest_count;
	uint32_t conn_count; // guests included
};

// Takes a bufferevent over, with TLS or without. False: no memory, and it is released.
bool rpc_conn_open(struct rpc_server *server, struct bufferevent *bev, const struct sockaddr *at);

// Of the monotonic clock.
int64_t rpc_conn_now_ms(void);

// Ends it with a line in the log.
void rpc_conn_refuse(struct rpc_conn *conn, const char *why);

// A guest has left, or has shown a certificate: there is room for another. Of rpc_server.c.
void rpc_server_welcome(struct rpc_server *server);

// Ends a connection; a call that waits is gone.
void rpc_conn_end(struct rpc_conn *conn);

// Releases a connection; a call that waits is so without a word.
void rpc_conn_free(struct rpc_conn *conn);
