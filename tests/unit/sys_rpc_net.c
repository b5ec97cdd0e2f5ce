// SPDX-License-Identifier: BSD-3-Clause
//
// The two ends of the RPC on a unix socket: with each other, with libevent's own evrpc as the other
// end, and with peers that do not speak it. Every wait is bounded by GUARD_S.

#include "sys/rpc_server.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/rpc.h>
#include <event2/rpc_struct.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "schema/fabric.gen.h"
#include "sys/rpc_client.h"
#include "sys/rpc_conn.h"
#include "tests/rpc_random.h"
#include "tests/table.h"

EVRPC_HEADER(ack, rpc_ack, rpc_ack_reply)
EVRPC_GENERATE(ack, rpc_ack, rpc_ack_reply)

enum { GUARD_S = 20, CALLS_MAX = 8, TEXT_MAX = 4096 };

struct scene {
	struct event_base *base;
	struct rpc_server *server;
	struct rpc_client *client;
	struct rpc_call *waiting[CALLS_MAX]; // of fetch
	uint32_t waiting_count;
	uint32_t gone;
	uint32_t done; // calls of the client
	int error;
	uint64_t epoch; // of the reply
	char why[RPC_REASON_BYTES];
	char dir[32];
	char path[64];
	char address[80];
};

static void on_ack(void *arg, struct rpc_call *call, const void *request)
{
	const struct rpc_ack *ack = request;
	const struct rpc_ack_reply reply = { .epoch = ack->epoch + 1, .has_epoch = true };

	cr_expect_null(rpc_call_peer(call));
	if (ack->error == EPERM)
		rpc_refuse(call, 403, "this is not your step");
	else
		rpc_reply(call, &reply);
}

static void on_fetch(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;

	cr_assert_lt(s->waiting_count, CALLS_MAX);
	s->waiting[s->waiting_count++] = call;
	event_base_loopbreak(s->base);
}

static void on_gone(void *arg, struct rpc_call *call)
{
	struct scene *s = arg;

	cr_assert_eq(call, s->waiting[0]);
	s->gone++;
	event_base_loopbreak(s->base);
}

static const struct rpc_method methods[] = {
	{ "ack", &rpc_ack_message, &rpc_ack_reply_message, on_ack, NULL },
	{ "fetch", &rpc_fetch_message, &rpc_fetch_reply_message, on_fetch, on_gone },
};

static void start_server(struct scene *s)
{
	const struct rpc_server_options options = {
		.socket_path = s->path,
		.connection_max = 4,
		.peer_connection_max = 4,
	};

	s->server = rpc_server_open(s->base, &options, methods, TABLE_COUNT(methods), s);
	cr_assert_not_null(s->server);
}

static void start(struct scene *s)
{
	const struct rpc_client_options options = { .address = s->address, .timeout_ms = 10000 };

	*s = (struct scene){ .base = event_base_new(), .dir = "/tmp/weft-rpc-XXXXXX" };
	signal(SIGPIPE, SIG_IGN);
	cr_assert_not_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/rpc.sock", s->dir);
	snprintf(s->address, sizeof(s->address), "unix:%s", s->path);
	s->client = rpc_client_open(s->base, &options);
	cr_assert_not_null(s->client);
}

static void stop(struct scene *s)
{
	rpc_client_close(s->client);
	rpc_server_close(s->server);
	event_base_free(s->base);
	cr_assert_eq(access(s->path, F_OK), -1, "the socket is left behind");
	cr_assert_eq(rmdir(s->dir), 0);
}

// Runs the loop until somebody breaks it.
static void run(struct scene *s)
{
	const struct timeval guard = { .tv_sec = GUARD_S };

	event_base_loopexit(s->base, &guard);
	event_base_dispatch(s->base);
	cr_assert(event_base_got_break(s->base), "nothing happened");
}

static void on_done(void *arg, int error, const void *reply, const char *why)
{
	struct scene *s = arg;

	s->done++;
	s->error = error;
	s->epoch = error == 0 ? ((const struct rpc_ack_reply *)reply)->epoch : 0;
	snprintf(s->why, sizeof(s->why), "%s", why);
	cr_expect_eq(reply != NULL, error == 0);
	event_base_loopbreak(s->base);
}

static struct rpc_ack an_ack(uint64_t epoch)
{
	return (struct rpc_ack){
		.has_boot = true,
		.epoch = epoch,
		.has_epoch = true,
		.has_step = true,
		.generation = { 5, true, 600, true, 7, true },
		.has_generation = true,
		.has_error = true,
	};
}

static void begin_ack(struct scene *s, const struct rpc_ack *ack)
{
	const struct rpc_call_out call = { "ack", &rpc_ack_message, ack, &rpc_ack_reply_message,
					   0,     on_done,          s };

	cr_assert_eq(rpc_client_call(s->client, &call), 0);
	cr_assert_eq(rpc_client_call(s->client, &call), -EBUSY);
}

static void begin_fetch(struct scene *s, uint32_t timeout_ms)
{
	static const struct rpc_fetch fetch = { .has_boot = true,
						.has_epoch = true,
						.has_wait_ms = true };
	const struct rpc_call_out call = {
		"fetch", &rpc_fetch_message, &fetch, &rpc_fetch_reply_message, timeout_ms, on_done,
		s,
	};

	cr_assert_eq(rpc_client_call(s->client, &call), 0);
}

static uint64_t ack(struct scene *s, uint64_t epoch)
{
	const struct rpc_ack request = an_ack(epoch);
	const uint32_t done = s->done;

	begin_ack(s, &request);
	while (s->done == done)
		run(s);
	cr_assert_eq(s->error, 0, "%s", s->why);
	return s->epoch;
}

Test(rpc_net, calls_on_one_connection)
{
	struct stat status;
	struct scene s;

	start(&s);
	start_server(&s);
	for (uint64_t i = 0; i < 10; i++)
		cr_assert_eq(ack(&s, i), i + 1);
	cr_assert_eq(s.done, 10);
	cr_assert_eq(s.server->conn_count, 1);
	cr_assert_eq(stat(s.path, &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0660);
	stop(&s);
}

Test(rpc_net, refused_by_the_handler)
{
	struct rpc_ack request = an_ack(1);
	struct scene s;

	start(&s);
	start_server(&s);
	request.error = EPERM;
	begin_ack(&s, &request);
	run(&s);
	cr_assert_eq(s.error, -EPROTO);
	cr_assert_str_eq(s.why, "HTTP 403: this is not your step");
	cr_assert_eq(ack(&s, 1), 2, "the connection goes on");
	stop(&s);
}

Test(rpc_net, answered_later)
{
	static const struct rpc_fetch_reply reply = { .epoch = 9,
						      .has_epoch = true,
						      .has_step = true };
	struct scene s;

	start(&s);
	start_server(&s);
	begin_fetch(&s, 0);
	run(&s);
	cr_assert_eq(s.waiting_count, 1);
	cr_assert_eq(s.done, 0);
	rpc_reply(s.waiting[0], &reply);
	run(&s);
	cr_assert_eq(s.done, 1);
	cr_assert_eq(s.error, 0, "%s", s.why);
	cr_assert_eq(s.gone, 0);
	stop(&s);
}

Test(rpc_net, gone_when_the_client_leaves)
{
	struct scene s;

	start(&s);
	start_server(&s);
	begin_fetch(&s, 0);
	run(&s);
	rpc_client_close(s.client);
	s.client = NULL;
	run(&s);
	cr_assert_eq(s.gone, 1);
	cr_assert_eq(s.done, 0);
	cr_assert_eq(s.server->conn_count, 0);
	stop(&s);
}

Test(rpc_net, no_answer_in_time)
{
	struct scene s;

	start(&s);
	start_server(&s);
	begin_fetch(&s, 20);
	run(&s);
	run(&s);
	cr_assert_eq(s.error, -ETIMEDOUT);
	cr_assert_str_eq(s.why, "no answer in time");
	// Another connection: the answer of the first call must not pass for that of the next.
	cr_assert_eq(ack(&s, 4), 5);
	stop(&s);
}

Test(rpc_net, nobody_there)
{
	const struct rpc_ack request = an_ack(1);
	struct scene s;

	start(&s);
	begin_ack(&s, &request);
	cr_assert_eq(s.done, 0, "not from inside the call");
	run(&s);
	cr_assert_eq(s.error, -ENOENT, "%d %s", s.error, s.why);
	start_server(&s);
	cr_assert_eq(ack(&s, 1), 2);
	rpc_server_close(s.server);
	s.server = NULL;
	event_base_loop(s.base, EVLOOP_NONBLOCK);
	start_server(&s);
	cr_assert_eq(ack(&s, 2), 3, "a connection that ended meanwhile is made again");
	stop(&s);
}

// What a killed server leaves.
Test(rpc_net, stale_socket)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const struct rpc_ack request = an_ack(1);
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct scene s;

	start(&s);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", s.path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	begin_ack(&s, &request);
	run(&s);
	cr_assert_eq(s.error, -ECONNREFUSED, "%d %s", s.error, s.why);
	start_server(&s);
	cr_assert_eq(ack(&s, 1), 2);
	stop(&s);
}

Test(rpc_net, connections_in_all)
{
	struct rpc_client *clients[5];
	struct scene s;
	struct rpc_client *own;

	start(&s);
	start_server(&s);
	own = s.client;
	for (uint32_t i = 0; i < TABLE_COUNT(clients); i++) {
		const struct rpc_client_options options = { .address = s.address,
							    .timeout_ms = 10000 };

		clients[i] = rpc_client_open(s.base, &options);
		s.client = clients[i];
		begin_fetch(&s, 0);
		run(&s);
	}
	cr_assert_eq(s.waiting_count, 4);
	cr_assert_eq(s.done, 1, "the fifth");
	cr_assert_eq(s.error, -ECONNRESET, "%d %s", s.error, s.why);
	rpc_client_close(clients[0]);
	run(&s);
	cr_assert_eq(s.gone, 1);
	cr_assert_eq(ack(&s, 1), 2, "there is room for the fifth");
	for (uint32_t i = 1; i < TABLE_COUNT(clients); i++)
		rpc_client_close(clients[i]);
	s.client = own;
	s.waiting[0] = NULL;
	rpc_server_close(s.server);
	s.server = NULL;
	stop(&s);
}

// --- libevent at the other end -------------------------------------------------------------------

static void on_evrpc(EVRPC_STRUCT(ack) * call, void *arg)
{
	call->reply->epoch = call->request->epoch + call->request->generation.number;
	call->reply->has_epoch = true;
	EVRPC_REQUEST_DONE(call);
}

static int bind_unix(const struct scene *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", s->path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_assert_eq(listen(fd, 8), 0);
	return fd;
}

Test(rpc_net, server_of_libevent)
{
	struct evrpc_base *rpc;
	struct evhttp *http;
	struct scene s;

	start(&s);
	http = evhttp_new(s.base);
	rpc = evrpc_init(http);
	EVRPC_REGISTER(rpc, ack, rpc_ack, rpc_ack_reply, on_evrpc, &s);
	cr_assert_eq(evhttp_accept_socket(http, bind_unix(&s)), 0);
	for (uint64_t i = 0; i < 3; i++)
		cr_assert_eq(ack(&s, i), i + 600);
	rpc_client_close(s.client);
	s.client = NULL;
	EVRPC_UNREGISTER(rpc, ack);
	evrpc_free(rpc);
	evhttp_free(http);
	unlink(s.path);
	stop(&s);
}

// Its client speaks TCP alone: what is accepted here goes to the server as a connection of its.
static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *at,
		      int length, void *arg)
{
	struct scene *s = arg;
	struct bufferevent *bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);

	cr_assert(rpc_conn_open(s->server, bev, at));
}

static void on_evrpc_done(struct evrpc_status *status, struct rpc_ack *request,
			  struct rpc_ack_reply *reply, void *arg)
{
	struct scene *s = arg;

	s->done++;
	s->error = status->error;
	s->epoch = reply->epoch;
	event_base_loopbreak(s->base);
}

Test(rpc_net, client_of_libevent)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct evconnlistener *listener;
	struct evhttp_connection *conn;
	struct evrpc_pool *pool;
	socklen_t length = sizeof(at);
	struct scene s;

	start(&s);
	start_server(&s);
	listener = evconnlistener_new_bind(s.base, on_accept, &s, LEV_OPT_CLOSE_ON_FREE, 8,
					   (struct sockaddr *)&at, sizeof(at));
	cr_assert_eq(getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&at, &length),
		     0);
	pool = evrpc_pool_new(s.base);
	// evrpc puts the connection on the loop itself, and wants it to be on none before.
	conn = evhttp_connection_base_bufferevent_new(
		NULL, NULL, bufferevent_socket_new(s.base, -1, BEV_OPT_CLOSE_ON_FREE), "127.0.0.1",
		ntohs(at.sin_port));
	evrpc_pool_add_connection(pool, conn);
	for (uint64_t i = 0; i < 3; i++) {
		struct rpc_ack request = an_ack(i);
		struct rpc_ack_reply reply = { 0 };

		EVRPC_MAKE_REQUEST(ack, pool, &request, &reply, on_evrpc_done, &s);
		run(&s);
		cr_assert_eq(s.error, EVRPC_STATUS_ERR_NONE);
		cr_assert_eq(s.epoch, i + 1);
	}
	cr_assert_eq(s.done, 3);
	cr_assert_eq(s.server->conn_count, 1);
	evrpc_pool_free(pool);
	evconnlistener_free(listener);
	stop(&s);
}

// --- what is no call -----------------------------------------------------------------------------

#define ACK "POST /.rpc.ack HTTP/1.1\r\n"
#define BODY_MAX "1024" // of an ack

static const struct {
	const char *what;
	const char *text;
	const char *want; // how the answer begins
} peers[] = {
	{ "another method", "GET /.rpc.ack HTTP/1.1\r\n\r\n", "HTTP/1.1 405 " },
	{ "another path", "POST /rpc.ack HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 " },
	{ "a longer name", "POST /.rpc.acks HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
	  "HTTP/1.1 404 " },
	{ "no name", "POST /.rpc. HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 " },
	{ "no length", ACK "\r\n", "HTTP/1.1 411 " },
	{ "chunks", ACK "Transfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 411 " },
	{ "more than the message may be", ACK "Content-Length: 1025\r\n\r\n", "HTTP/1.1 413 " },
	{ "no message", ACK "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 400 " },
	{ "an empty message", ACK "Content-Length: 0\r\n\r\n", "HTTP/1.1 400 " },
	{ "two lengths", ACK "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 400 " },
	{ "a TLS handshake", "\x16\x03\x01\x02\n", "HTTP/1.1 400 " },
	{ "another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 400 " },
};

static int connect_raw(const struct scene *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", s->path);
	cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

// Turns the loop until the server has ended the connection; what it said goes to `text`.
static void read_raw(struct scene *s, int fd, char *text)
{
	size_t have = 0;

	for (uint32_t turn = 0; turn < 1000; turn++) {
		const ssize_t n = recv(fd, text + have, TEXT_MAX - 1 - have, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		have += n > 0 ? (size_t)n : 0;
		event_base_loop(s->base, n < 0 ? EVLOOP_ONCE : EVLOOP_NONBLOCK);
	}
	text[have] = '\0';
}

TABLE_TEST(rpc_net, no_call, row, peers)
{
	char text[TEXT_MAX];
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	cr_assert_gt(send(fd, row->text, strlen(row->text), 0), 0);
	read_raw(&s, fd, text);
	cr_assert_eq(strncmp(text, row->want, strlen(row->want)), 0, "%s: %s", row->what, text);
	cr_assert_not_null(strstr(text, "\r\nConnection: close\r\n"));
	cr_assert_eq(s.server->conn_count, 0, "the connection is over");
	cr_assert_eq(ack(&s, 1), 2, "others go on");
	close(fd);
	stop(&s);
}

Test(rpc_net, headers_without_end)
{
	char text[TEXT_MAX];
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	cr_assert_gt(send(fd, ACK, strlen(ACK), 0), 0);
	for (uint32_t i = 0; i < 200; i++)
		cr_assert_gt(send(fd, "X-Filler: 0123456789\r\n", 22, MSG_NOSIGNAL), 0);
	read_raw(&s, fd, text);
	cr_assert_eq(strncmp(text, "HTTP/1.1 431 ", 13), 0, "%s", text);
	close(fd);
	stop(&s);
}

// Requests in one piece, and byte by byte: answered one after the other.
Test(rpc_net, two_at_once)
{
	const struct rpc_ack request = an_ack(1);
	struct evbuffer *bytes = evbuffer_new();
	char text[TEXT_MAX];
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	for (uint32_t i = 0; i < 2; i++) {
		struct evbuffer *body = rpc_bytes_of(&rpc_ack_message, &request);

		evbuffer_add_printf(bytes, ACK "Content-Length: %zu\r\n%s\r\n",
				    evbuffer_get_length(body),
				    i == 1 ? "Connection: close\r\n" : "");
		evbuffer_add_buffer(bytes, body);
		evbuffer_free(body);
	}
	while (evbuffer_get_length(bytes) > 100) {
		cr_assert_eq(evbuffer_write_atmost(bytes, fd, 1), 1);
		event_base_loop(s.base, EVLOOP_NONBLOCK);
	}
	while (evbuffer_get_length(bytes) > 0)
		cr_assert_gt(evbuffer_write(bytes, fd), 0);
	read_raw(&s, fd, text);
	cr_assert_eq(strncmp(text, "HTTP/1.1 200 ", 13), 0, "%s", text);
	cr_assert_not_null(strstr(text + 13, "HTTP/1.1 200 "), "%s", text);
	cr_assert_not_null(strstr(text + 13, "Connection: close"));
	evbuffer_free(bytes);
	close(fd);
	stop(&s);
}

// A peer that goes on sending while its call waits holds no memory.
Test(rpc_net, does_not_wait)
{
	static const char filler[64 << 10];
	const struct rpc_fetch fetch = { .has_boot = true, .has_epoch = true, .has_wait_ms = true };
	struct evbuffer *body = rpc_bytes_of(&rpc_fetch_message, &fetch);
	struct evbuffer *bytes = evbuffer_new();
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	evbuffer_add_printf(bytes, "POST /.rpc.fetch HTTP/1.1\r\nContent-Length: %zu\r\n\r\n",
			    evbuffer_get_length(body));
	evbuffer_add_buffer(bytes, body);
	evbuffer_add(bytes, filler, sizeof(filler));
	while (evbuffer_get_length(bytes) > 0)
		cr_assert_gt(evbuffer_write(bytes, fd), 0);
	run(&s);
	cr_assert_eq(s.waiting_count, 1);
	run(&s);
	cr_assert_eq(s.gone, 1);
	cr_assert_eq(s.server->conn_count, 0);
	evbuffer_free(body);
	evbuffer_free(bytes);
	close(fd);
	stop(&s);
}

// A request has its time as a whole: what trickles in does not buy more.
Test(rpc_net, too_slow)
{
	struct timeval first, later;
	struct rpc_conn *conn;
	char text[TEXT_MAX];
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert_eq(send(fd, &ACK[i], 1, 0), 1);
		do {
			event_base_loop(s.base, EVLOOP_ONCE);
			conn = TAILQ_FIRST(&s.server->conns);
		} while (conn == NULL ||
			 evbuffer_get_length(bufferevent_get_input(conn->bev)) <= i);
		cr_assert(evtimer_pending(conn->timer, &later));
		if (i == 0)
			first = later;
		cr_assert_eq(first.tv_sec, later.tv_sec, "%u", i);
		cr_assert_eq(first.tv_usec, later.tv_usec, "%u", i);
	}
	event_active(conn->timer, EV_TIMEOUT, 0);
	read_raw(&s, fd, text);
	cr_assert_str_eq(text, "");
	cr_assert_eq(s.server->conn_count, 0);
	close(fd);
	stop(&s);
}

Test(rpc_net, room_for_connections)
{
	struct rlimit limit = { .rlim_cur = 64 };
	struct rlimit raised;
	struct scene s;

	start(&s);
	getrlimit(RLIMIT_NOFILE, &raised);
	limit.rlim_max = raised.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	start_server(&s); // for four connections
	getrlimit(RLIMIT_NOFILE, &raised);
	cr_assert_eq(raised.rlim_max, limit.rlim_max);
	cr_assert_geq(raised.rlim_cur, 64 + 4);
	stop(&s);
}

// With no file left to open the server rests, and does not spin; connections wait in the kernel.
Test(rpc_net, no_files)
{
	struct rlimit limit, small;
	struct scene s;
	int fd;

	start(&s);
	start_server(&s);
	fd = connect_raw(&s);
	getrlimit(RLIMIT_NOFILE, &limit);
	small = limit;
	small.rlim_cur = (rlim_t)fd + 1;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &small), 0);
	event_base_loop(s.base, EVLOOP_ONCE);
	cr_assert(evtimer_pending(s.server->rest, NULL));
	cr_assert_eq(event_base_loop(s.base, EVLOOP_NONBLOCK), 0);
	cr_assert_eq(s.server->conn_count, 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	event_active(s.server->rest, EV_TIMEOUT, 0);
	for (uint32_t i = 0; i < 3 && s.server->conn_count == 0; i++)
		event_base_loop(s.base, EVLOOP_ONCE);
	cr_assert_eq(s.server->conn_count, 1);
	cr_assert_eq(ack(&s, 1), 2);
	close(fd);
	stop(&s);
}

// Who waits for an answer of a handler may wait for as long as that takes.
Test(rpc_net, no_time_for_a_long_poll)
{
	struct scene s;

	start(&s);
	start_server(&s);
	begin_fetch(&s, 0);
	run(&s);
	cr_assert_not(evtimer_pending(TAILQ_FIRST(&s.server->conns)->timer, NULL));
	stop(&s);
}
