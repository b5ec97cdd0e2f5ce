// SPDX-License-Identifier: BSD-3-Clause
//
// HTTP/1.1 as evrpc speaks it, and not evhttp's: that one bounds no time as a whole, does not see a
// peer leave during a long poll unless it reads, and ends the process when it reads then and
// something comes. A request is POST with a Content-Length, a reply follows, and so on.
//
// Once a handler is called the connection may be gone when it returns: nothing follows the call.

#include "sys/rpc_conn.h"

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sys/http.h"
#include "sys/log.h"

enum {
	HEAD_MAX = 4 << 10,
	EARLY_MAX = 32 << 10, // bytes of the next request, while one is served
	HANDSHAKE_S = 10,
	REQUEST_S = 30,
	IDLE_S = 60,
	REPLY_S = 120,
	LAST_S = 5,
};

static void end_after(struct rpc_conn *conn, int seconds)
{
	const struct timeval wait = { .tv_sec = seconds };

	event_add(conn->timer, &wait);
}

static void enter(struct rpc_conn *conn, enum rpc_conn_state state, int seconds)
{
	conn->state = state;
	end_after(conn, seconds);
}

// How the log calls the peer: "leaf1 at 10.0.0.1:5123".
static const char *describe(const struct rpc_conn *conn, size_t bytes, char *who)
{
	snprintf(who, bytes, "%s%s%s", conn->peer, conn->peer[0] != '\0' ? " at " : "",
		 conn->place);
	return who;
}

static void say_refused(const struct rpc_conn *conn, const char *why)
{
	char who[TLS_NAME_BYTES + RPC_PLACE_BYTES + 8];

	log_warn("rpc: %s: refused: %s", describe(conn, sizeof(who), who), why);
}

// --- the end of a call ---------------------------------------------------------------------------

static const char *phrase_of(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 411: return "Length Required";
	case 413: return "Content Too Large";
	case 429: return "Too Many Requests";
	case 431: return "Request Header Fields Too Large";
	case 503: return "Service Unavailable";
	}
	return "Error";
}

// Takes what is in `body`. Head and body leave in one piece, which is as few TLS records as it
// takes.
static void send_reply(struct rpc_conn *conn, int status, struct evbuffer *body)
{
	const bool last = conn->state == RPC_CONN_LAST;
	char head[256];
	const int bytes = snprintf(
		head, sizeof(head),
		"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n", status,
		phrase_of(status), status == 200 ? "application/octet-stream" : "text/plain",
		evbuffer_get_length(body), last ? "Connection: close\r\n" : "");

	evbuffer_prepend(body, head, (size_t)bytes);
	evbuffer_pullup(body, -1);
	bufferevent_write_buffer(conn->bev, body);
}

static void send_error(struct rpc_conn *conn, int status, const char *reason)
{
	struct evbuffer *body = evbuffer_new();

	if (body == NULL)
		return; // the time of the state ends the connection
	evbuffer_add_printf(body, "%s\n", reason);
	send_reply(conn, status, body);
	evbuffer_free(body);
}

// Something that no client of ours sends: the answer is the last.
static void refuse(struct rpc_conn *conn, int status, const char *why)
{
	say_refused(conn, why);
	enter(conn, RPC_CONN_LAST, LAST_S);
	send_error(conn, status, why);
}

static void end_call(struct rpc_conn *conn)
{
	struct rpc_call *call = &conn->call;

	rpc_message_free(call->method->request_type, call->request);
	*call = (struct rpc_call){ .conn = conn };
	conn->began = false;
	if (conn->close)
		enter(conn, RPC_CONN_LAST, LAST_S);
	else
		enter(conn, RPC_CONN_REPLY, REPLY_S);
}

void rpc_reply(struct rpc_call *call, const void *reply)
{
	struct rpc_conn *conn = call->conn;
	const struct rpc_message *type = call->method->reply_type;
	struct evbuffer *body = evbuffer_new();

	end_call(conn);
	if (body == NULL)
		return; // as in send_error()
	rpc_message_marshal(type, reply, body);
	send_reply(conn, 200, body);
	evbuffer_free(body);
}

void rpc_refuse(struct rpc_call *call, int status, const char *reason)
{
	struct rpc_conn *conn = call->conn;

	end_call(conn);
	send_error(conn, status, reason);
}

const char *rpc_call_peer(const struct rpc_call *call)
{
	return call->conn->peer[0] != '\0' ? call->conn->peer : NULL;
}

void rpc_call_name(struct rpc_call *call, const char *name)
{
	snprintf(call->conn->peer, sizeof(call->conn->peer), "%s", name);
}

// --- requests ------------------------------------------------------------------------------------

static const struct rpc_method *find_method(const struct rpc_server *server,
					    const struct http_head *head)
{
	const char *prefix = "/.rpc.";
	const size_t skip = strlen(prefix);

	if (head->target_bytes <= skip || memcmp(head->target, prefix, skip) != 0)
		return NULL;
	for (uint32_t i = 0; i < server->method_count; i++) {
		const char *name = server->methods[i].name;

		if (strlen(name) == head->target_bytes - skip &&
		    memcmp(name, head->target + skip, strlen(name)) == 0)
			return &server->methods[i];
	}
	return NULL;
}

static bool is_post(const struct http_head *head)
{
	return head->method_bytes == strlen("POST") &&
	       memcmp(head->method, "POST", head->method_bytes) == 0;
}

// Whether a request may go on to its body; the connection is refused if not.
static bool judge_head(struct rpc_conn *conn, const struct http_head *head)
{
	if (!is_post(head))
		refuse(conn, 405, "not a POST");
	else if (conn->call.method == NULL)
		refuse(conn, 404, "no such method");
	else if (!head->has_length)
		refuse(conn, 411, "no Content-Length");
	else if (head->length > conn->call.method->request_type->size_max)
		refuse(conn, 413, "longer than the message may be");
	return conn->state != RPC_CONN_LAST;
}

// Reads the head of a request. True: it is there, and right.
static bool take_head(struct rpc_conn *conn, struct evbuffer *in)
{
	const size_t have = evbuffer_get_length(in);
	const size_t size = have < HEAD_MAX ? have : HEAD_MAX;
	struct http_head head;

	if (have == 0)
		return false;
	if (!conn->began)
		end_after(conn, REQUEST_S);
	conn->began = true;
	switch (http_parse_request((const char *)evbuffer_pullup(in, (ssize_t)size), size, &head)) {
	case HTTP_BAD: refuse(conn, 400, "not HTTP"); return false;
	case HTTP_DONE: break;
	case HTTP_MORE:
		if (size == HEAD_MAX)
			refuse(conn, 431, "headers without an end");
		return false;
	}
	conn->call.method = find_method(conn->server, &head);
	if (!judge_head(conn, &head))
		return false;
	conn->body_bytes = head.length;
	conn->close = head.close;
	conn->state = RPC_CONN_BODY;
	evbuffer_drain(in, head.bytes);
	return true;
}

// The body into a message of the method's. NULL: it is none, or no memory.
static void *read_body(const struct rpc_conn *conn, struct evbuffer *in)
{
	const struct rpc_message *type = conn->call.method->request_type;
	struct evbuffer *body = evbuffer_new();
	void *request = rpc_message_new(type);

	if (body == NULL || request == NULL ||
	    evbuffer_remove_buffer(in, body, conn->body_bytes) != (int)conn->body_bytes ||
	    rpc_message_unmarshal(type, request, body) != 0) {
		rpc_message_free(type, request);
		request = NULL;
	}
	if (body != NULL)
		evbuffer_free(body);
	return request;
}

static void take_body(struct rpc_conn *conn, struct evbuffer *in)
{
	struct rpc_call *call = &conn->call;

	if (evbuffer_get_length(in) < conn->body_bytes)
		return;
	call->request = read_body(conn, in);
	if (call->request == NULL) {
		refuse(conn, 400, "not a message of this method");
		return;
	}
	event_del(conn->timer);
	conn->state = RPC_CONN_CALL;
	call->method->handle(conn->server->arg, call, call->request);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct rpc_conn *conn = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	switch (conn->state) {
	case RPC_CONN_HANDSHAKE: break;
	case RPC_CONN_HEAD:
		if (take_head(conn, in))
			take_body(conn, in);
		break;
	case RPC_CONN_BODY: take_body(conn, in); break;
	case RPC_CONN_CALL:
	case RPC_CONN_REPLY:
		// The next request may come early, not a stream of them.
		if (evbuffer_get_length(in) <= EARLY_MAX)
			break;
		rpc_conn_refuse(conn, "does not wait for its reply");
		break;
	case RPC_CONN_LAST: evbuffer_drain(in, evbuffer_get_length(in)); break;
	}
}

// The output is empty: the peer has all of its reply, or the kernel has.
static void on_written(struct bufferevent *bev, void *arg)
{
	struct rpc_conn *conn = arg;

	if (conn->state == RPC_CONN_LAST) {
		rpc_conn_end(conn);
	} else if (conn->state == RPC_CONN_REPLY) {
		enter(conn, RPC_CONN_HEAD, IDLE_S);
		on_read(bev, conn);
	}
}

// --- its life ------------------------------------------------------------------------------------

static uint32_t count_peer(const struct rpc_server *server, const char *peer)
{
	const struct rpc_conn *conn;
	uint32_t count = 0;

	for (conn = TAILQ_FIRST(&server->conns); conn != NULL; conn = TAILQ_NEXT(conn, entry))
		count += strcmp(conn->peer, peer) == 0;
	return count;
}

// The name in its certificate. False: the peer is refused.
static bool name_peer(struct rpc_conn *conn)
{
	const struct rpc_server *server = conn->server;
	char peer[TLS_NAME_BYTES];

	if (!tls_peer_name(conn->ssl, peer)) {
		rpc_conn_refuse(conn, "no name in its certificate");
		return false;
	}
	memcpy(conn->peer, peer, sizeof(peer));
	if (count_peer(server, peer) >= server->options.peer_connection_max) {
		rpc_conn_refuse(conn, "as many connections as one peer may have");
		return false;
	}
	conn->expiry = tls_expiry(conn->ssl);
	return true;
}

// The handshake is done: the peer has shown who it is, if it has to, and is a guest no more.
static void take_peer(struct rpc_conn *conn)
{
	struct rpc_server *server = conn->server;

	if (!server->options.guests && !name_peer(conn))
		return;
	TAILQ_REMOVE(&server->guests, conn, entry);
	TAILQ_INSERT_TAIL(&server->conns, conn, entry);
	server->guest_count--;
	enter(conn, RPC_CONN_HEAD, IDLE_S);
	rpc_server_welcome(server);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct rpc_conn *conn = arg;
	const unsigned long error = conn->ssl != NULL ? bufferevent_get_openssl_error(bev) : 0;
	char why[TLS_WHY_BYTES];

	if ((what & BEV_EVENT_CONNECTED) != 0) {
		if (conn->state == RPC_CONN_HANDSHAKE)
			take_peer(conn);
	} else if (conn->state == RPC_CONN_HANDSHAKE) {
		tls_why(conn->ssl, error, why);
		rpc_conn_refuse(conn, why);
	} else if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) {
		rpc_conn_end(conn);
	}
	// Whatever else it left behind is not the next connection's.
	ERR_clear_error();
}

static const char *why_late(const struct rpc_conn *conn)
{
	switch (conn->state) {
	case RPC_CONN_HANDSHAKE: return "no TLS handshake in time";
	case RPC_CONN_HEAD:
	case RPC_CONN_BODY: return "no whole request in time";
	case RPC_CONN_REPLY:
	case RPC_CONN_LAST: return "does not take its reply";
	case RPC_CONN_CALL: break; // takes as long as the handler likes
	}
	return "";
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_conn *conn = arg;

	// Who has nothing to say may come again.
	if (conn->state != RPC_CONN_HEAD || conn->began)
		rpc_conn_refuse(conn, why_late(conn));
	else
		rpc_conn_end(conn);
}

int64_t rpc_conn_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// With TLS a connection is a guest's at first.
static void join(struct rpc_conn *conn)
{
	struct rpc_server *server = conn->server;

	server->conn_count++;
	if (conn->ssl != NULL) {
		TAILQ_INSERT_TAIL(&server->guests, conn, entry);
		server->guest_count++;
		conn->state = RPC_CONN_HANDSHAKE;
	} else {
		TAILQ_INSERT_TAIL(&server->conns, conn, entry);
		conn->state = RPC_CONN_HEAD;
	}
}

bool rpc_conn_open(struct rpc_server *server, struct bufferevent *bev, const struct sockaddr *at)
{
	struct rpc_conn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL) {
		bufferevent_free(bev);
		return false;
	}
	*conn = (struct rpc_conn){
		.server = server,
		.bev = bev,
		.ssl = bufferevent_openssl_get_ssl(bev),
		.since_ms = rpc_conn_now_ms(),
		.expiry = INT64_MAX,
	};
	conn->call.conn = conn;
	conn->timer = evtimer_new(server->base, on_time, conn);
	rpc_address_print(at, conn->place);
	join(conn);
	if (conn->timer == NULL) {
		rpc_conn_free(conn);
		return false;
	}
	bufferevent_setcb(bev, on_read, on_written, on_event, conn);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
	end_after(conn, conn->state == RPC_CONN_HANDSHAKE ? HANDSHAKE_S : IDLE_S);
	return true;
}

// Nobody who walks over the connections finds it any more.
static void leave(struct rpc_conn *conn)
{
	struct rpc_server *server = conn->server;

	server->conn_count--;
	if (conn->state == RPC_CONN_HANDSHAKE) {
		TAILQ_REMOVE(&server->guests, conn, entry);
		server->guest_count--;
		rpc_server_welcome(server);
	} else {
		TAILQ_REMOVE(&server->conns, conn, entry);
	}
}

static void release(struct rpc_conn *conn)
{
	if (conn->timer != NULL)
		event_free(conn->timer);
	if (conn->call.request != NULL)
		rpc_message_free(conn->call.method->request_type, conn->call.request);
	bufferevent_free(conn->bev);
	free(conn);
}

void rpc_conn_free(struct rpc_conn *conn)
{
	leave(conn);
	release(conn);
}

void rpc_conn_end(struct rpc_conn *conn)
{
	struct rpc_call *call = &conn->call;

	leave(conn);
	if (conn->state == RPC_CONN_CALL && call->method->gone != NULL)
		call->method->gone(conn->server->arg, call);
	release(conn);
}

void rpc_conn_refuse(struct rpc_conn *conn, const char *why)
{
	say_refused(conn, why);
	rpc_conn_end(conn);
}
