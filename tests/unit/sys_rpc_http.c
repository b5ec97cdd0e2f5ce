// SPDX-License-Identifier: BSD-3-Clause
//
// Generated messages under libevent's own RPC server: one call over a pair of sockets, as a client
// without evhttp makes it (evhttp cannot connect to unix sockets). What is refused is answered by
// an HTTP error and never reaches the handler.

#include "sys/rpc_message.h"

#include <event2/event.h>
#include <event2/http.h>
#include <event2/rpc.h>
#include <event2/rpc_struct.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "schema/fabric.gen.h"
#include "tests/rpc_random.h"
#include "tests/table.h"

EVRPC_HEADER(ack, rpc_ack, rpc_ack_reply)

enum { TURNS_MAX = 1000, ANSWER_MAX = 4096 };

struct scene {
	struct event_base *base;
	struct evhttp *http;
	struct evrpc_base *rpc;
	int client;
	uint32_t calls;
};

static void on_ack(EVRPC_STRUCT(ack) * call, void *arg)
{
	struct scene *s = arg;

	s->calls++;
	call->reply->epoch = call->request->epoch + call->request->generation.number;
	call->reply->has_epoch = true;
	EVRPC_REQUEST_DONE(call);
}

static void start(struct scene *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX }; // a name of the kernel's choice
	socklen_t length = sizeof(at);
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	*s = (struct scene){ .base = event_base_new() };
	s->http = evhttp_new(s->base);
	s->rpc = evrpc_init(s->http);
	EVRPC_REGISTER(s->rpc, ack, rpc_ack, rpc_ack_reply, on_ack, s);
	cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof(at.sun_family)), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(evhttp_accept_socket(s->http, listener), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &length), 0);
	s->client = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(connect(s->client, (struct sockaddr *)&at, length), 0);
}

static void stop(struct scene *s)
{
	close(s->client);
	EVRPC_UNREGISTER(s->rpc, ack);
	evrpc_free(s->rpc);
	evhttp_free(s->http);
	event_base_free(s->base);
}

// Posts a body and returns the status of the answer, whose body goes to `reply`.
static int post(struct scene *s, struct evbuffer *body, struct evbuffer *reply)
{
	struct evbuffer *out = evbuffer_new();
	char answer[ANSWER_MAX] = "";
	const char *end;
	ssize_t size = -1;

	evbuffer_add_printf(out, "POST /.rpc.ack HTTP/1.0\r\nContent-Length: %zu\r\n\r\n",
			    evbuffer_get_length(body));
	evbuffer_add_buffer(out, body);
	while (evbuffer_get_length(out) > 0)
		cr_assert_gt(evbuffer_write(out, s->client), 0);
	evbuffer_free(out);
	for (uint32_t i = 0; i < TURNS_MAX && size < 0; i++) {
		event_base_loop(s->base, EVLOOP_ONCE);
		size = recv(s->client, answer, sizeof(answer) - 1, MSG_DONTWAIT);
	}
	end = strstr(answer, "\r\n\r\n");
	cr_assert_not_null(end);
	evbuffer_add(reply, end + 4, (size_t)size - (size_t)(end + 4 - answer));
	return (int)strtol(answer + strlen("HTTP/1.0 "), NULL, 10);
}

static void fill(struct rpc_ack *ack)
{
	*ack = (struct rpc_ack){ .has_boot = true, .has_step = true, .has_error = true };
	ack->has_epoch = ack->has_generation = true;
	ack->epoch = 5;
	ack->generation = (struct rpc_generation){ 5, true, 600, true, 7, true };
}

Test(rpc_http, a_call)
{
	struct evbuffer *reply = evbuffer_new();
	struct rpc_ack_reply got = { 0 };
	struct evbuffer *body;
	struct rpc_ack ack;
	struct scene s;

	start(&s);
	fill(&ack);
	body = rpc_bytes_of(&rpc_ack_message, &ack);
	cr_assert_eq(post(&s, body, reply), 200);
	cr_assert_eq(s.calls, 1);
	cr_assert_eq(rpc_ack_reply_unmarshal(&got, reply), 0);
	cr_assert_eq(got.epoch, 605);
	evbuffer_free(body);
	evbuffer_free(reply);
	stop(&s);
}

Test(rpc_http, refused)
{
	struct evbuffer *reply = evbuffer_new();
	struct evbuffer *body;
	struct rpc_ack ack;
	struct scene s;

	start(&s);
	fill(&ack);
	body = rpc_bytes_of(&rpc_ack_message, &ack);
	evbuffer_add(body, "\77\1\0", 3); // a tag that must be understood
	cr_assert_eq(post(&s, body, reply), 503);
	cr_assert_eq(s.calls, 0);
	evbuffer_free(body);
	evbuffer_free(reply);
	stop(&s);
}
