// SPDX-License-Identifier: BSD-3-Clause
//
// The client's end of libevent's RPC, as evrpc speaks it: POST /.rpc.NAME, bodies of evtag messages
// (rpc_message.h), over TCP with mutual TLS 1.3 or over a unix socket, which evhttp cannot connect
// to. One connection, opened when it is needed and kept; one call at a time. The program ignores
// SIGPIPE.
#pragma once

#include <event2/event.h>

#include "sys/rpc_message.h"
#include "sys/tls.h"

enum { RPC_BODY_MAX = 36 << 20, RPC_REASON_BYTES = 256 };

struct rpc_client;

struct rpc_client_options {
	const char *address;         // "unix:PATH", "HOST:PORT" or "[IPV6]:PORT"
	const struct tls_files *tls; // copied; NULL: none, unix sockets alone
	uint32_t timeout_ms;         // from the call to the whole reply
	const char *fingerprint;     // instead of `tls`: SHA-256 of the authority's certificate in
				     // hex, for who has no certificate yet
};

// How a call ends; called once, from the loop, never from inside rpc_client_call(). 0 and the
// reply, which is released afterwards; or -errno, NULL and why in words:
//	-ECONNREFUSED, -ENOENT, -EHOSTUNREACH  nobody is there
//	-EACCES  a certificate was refused, by either end
//	-ETIMEDOUT, -ECONNRESET  no answer; whether the server acted is not known
//	-EBADMSG  the answer is no such message
//	-EPROTO  an HTTP error of the server, whose reason is in `why`
typedef void rpc_done(void *arg, int error, const void *reply, const char *why);

// NULL after a line in the log: an address that is none, or certificates that cannot be read.
struct rpc_client *rpc_client_open(struct event_base *base,
				   const struct rpc_client_options *options);

// A call that is in flight is dropped: its `done` is not called. Accepts NULL.
void rpc_client_close(struct rpc_client *client);

struct rpc_call_out {
	const char *name; // of the RPC, such as "fetch"
	const struct rpc_message *request_type;
	const void *request; // marshalled before rpc_client_call() returns
	const struct rpc_message *reply_type;
	uint32_t timeout_ms; // 0: that of the client
	rpc_done *done;
	void *arg;
};

// Begins a call. 0, -EBUSY: one is in flight, or -ENOMEM.
int rpc_client_call(struct rpc_client *client, const struct rpc_call_out *call);
