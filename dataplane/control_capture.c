// SPDX-License-Identifier: BSD-3-Clause
//
// Captures as streams of HTTP. A timer moves what the lcores have put into their rings to the
// client, as long as the client keeps up: what it does not read stays in the rings, which then
// overflow, and that is counted. So neither memory nor an lcore depends on a client.
//
// A capture that ends is drained the same way, a piece at a time, and then a client that reads
// nothing for a while is given up: nobody else can have its place in the meantime.

#include "dataplane/control_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "base/units.h"
#include "dataplane/capture.h"
#include "dataplane/pcapng.h"
#include "sys/http_stream.h"
#include "sys/log.h"

enum {
	DRAIN_PERIOD_US = 20000,
	DRAIN_BYTES = 2 << 20,    // at once: other requests and timers have their turn
	BACKLOG_BYTES = 16 << 20, // that a client may be behind
	SECONDS_MAX = 7 * 24 * 3600,
	END_SECONDS = 10, // that a client may read nothing for when its capture ends
};

struct session {
	struct captures *captures;
	struct capture *capture; // NULL: the place is free
	struct http_stream stream;
	struct event *timer;
	uint64_t id;
	uint64_t rounds_left; // of the timer, UINT64_MAX: no limit
};

struct captures {
	struct control_http *http;
	struct event_base *base;
	struct session session[TAPS_MAX];
};

// What was asked for.
struct wish {
	struct capture_options options;
	char comment[PCAPNG_TEXT_MAX + 1];
	uint64_t id;
	uint64_t seconds;
};

static void release(struct session *session)
{
	capture_close(session->capture);
	if (session->timer != NULL)
		event_free(session->timer);
	session->capture = NULL;
	session->timer = NULL;
}

static void on_gone(void *arg)
{
	struct session *session = arg;

	log_info("%s: capture %" PRIu64 ": the client has gone",
		 session->captures->http->in->config->sw.name, session->id);
	release(session);
}

// No more is captured; the timer sends the rest.
static void stop(struct session *session)
{
	session->rounds_left = 0;
	capture_stop(session->capture);
	http_stream_patience(&session->stream, END_SECONDS);
}

// All of it is sent.
static void finish(struct session *session)
{
	struct evbuffer *chunk = evbuffer_new();

	stop(session);
	if (chunk != NULL) {
		capture_finish(session->capture, chunk);
		http_stream_send(&session->stream, chunk);
		evbuffer_free(chunk);
	}
	log_info("%s: capture %" PRIu64 " ends: %" PRIu64 " frames, %" PRIu64 " lost",
		 session->captures->http->in->config->sw.name, session->id,
		 capture_count(session->capture), capture_lost(session->capture));
	http_stream_end(&session->stream);
	release(session);
}

// The event loop has ended: what the client takes at once of the rest goes to it.
static void finish_now(struct session *session)
{
	struct evbuffer *rest = evbuffer_new();
	struct capture *capture = session->capture;

	capture_stop(capture);
	if (rest != NULL && !capture_drain(capture, rest, DRAIN_BYTES))
		capture_finish(capture, rest);
	http_stream_abandon(&session->stream, rest);
	if (rest != NULL)
		evbuffer_free(rest);
	release(session);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct session *session = arg;
	struct evbuffer *chunk;
	bool more = true;

	if (!http_stream_look(&session->stream))
		return;
	chunk = http_stream_waiting(&session->stream) < BACKLOG_BYTES ? evbuffer_new() : NULL;
	if (chunk != NULL) {
		more = capture_drain(session->capture, chunk, DRAIN_BYTES);
		http_stream_send(&session->stream, chunk);
		evbuffer_free(chunk);
	}
	if (session->rounds_left != UINT64_MAX && session->rounds_left > 0 &&
	    --session->rounds_left == 0)
		stop(session);
	if (!more)
		finish(session);
}

// --- what is asked for --------------------------------------------------------------------------

// Reads a number; *value stays without one. False when it is none, or not from 1 to `max`.
static bool read_number(const struct evkeyvalq *query, const char *key, uint64_t max,
			uint64_t *value)
{
	const char *text = evhttp_find_header(query, key);

	return text == NULL ||
	       (unit_parse(UNIT_COUNT, text, strlen(text), value) && *value > 0 && *value <= max);
}

static bool reason_of(const char *name, size_t len, uint64_t *bits)
{
	for (uint32_t i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++) {
		if (strlen(drop_infos[i].name) != len ||
		    strncmp(drop_infos[i].name, name, len) != 0)
			continue;
		*bits |= 1ull << i;
		return true;
	}
	return false;
}

static bool read_reasons(const struct evkeyvalq *query, uint64_t *bits)
{
	const char *text = evhttp_find_header(query, "reason");

	*bits = text == NULL ? UINT64_MAX : 0;
	while (text != NULL && *text != '\0') {
		const size_t len = strcspn(text, ",");

		if (!reason_of(text, len, bits))
			return false;
		text += len + (text[len] == ',');
	}
	return *bits != 0;
}

static bool read_what(const struct evkeyvalq *query, struct tap_filter *filter)
{
	const char *what = evhttp_find_header(query, "what");

	if (what == NULL)
		return false;
	if (strcmp(what, "drops") == 0)
		filter->kind = TAP_DROPS;
	else if (strcmp(what, "queue") == 0)
		filter->kind = TAP_QUEUE;
	else
		filter->kind = TAP_PORT;
	return filter->kind != TAP_PORT || strcmp(what, "port") == 0;
}

// NULL, or what is wrong with it.
static const char *read_place(const struct instance *in, const struct evkeyvalq *query,
			      struct tap_filter *filter)
{
	const char *name = evhttp_find_header(query, "port");
	const char *queue = evhttp_find_header(query, "queue");
	const char *direction = evhttp_find_header(query, "direction");
	const struct port *port = find_port(in, name);

	if (name != NULL && port == NULL)
		return "no such port";
	if (port == NULL && filter->kind != TAP_DROPS)
		return "which port?";
	filter->port = PORT_NONE;
	if (port != NULL)
		filter->port.v = (uint16_t)(port - in->port);
	if (filter->kind == TAP_QUEUE) {
		if (queue == NULL || queue[0] < '0' || queue[0] > '7' || queue[1] != '\0')
			return "queue: 0 to 7";
		filter->queue = (queue_t){ (uint8_t)(queue[0] - '0') };
	}
	filter->in = direction == NULL || strcmp(direction, "in") == 0;
	filter->out = direction == NULL || strcmp(direction, "out") == 0;
	return filter->in || filter->out ? NULL : "direction: in or out";
}

static void describe(const struct instance *in, struct wish *wish)
{
	const struct tap_filter *filter = &wish->options.filter;
	const char *name = in->config->sw.name;
	const char *port = filter->port.v == PORT_NONE.v ? "all ports" :
							   in->config->port[filter->port.v].name;

	switch (filter->kind) {
	case TAP_DROPS:
		snprintf(wish->comment, sizeof(wish->comment), "drops of switch %s, %s", name,
			 port);
		break;
	case TAP_QUEUE:
		snprintf(wish->comment, sizeof(wish->comment), "switch %s, port %s, queue %u", name,
			 port, filter->queue.v);
		break;
	case TAP_PORT:
		snprintf(wish->comment, sizeof(wish->comment), "switch %s, port %s", name, port);
		break;
	}
	wish->options.comment = wish->comment;
}

// NULL, or what is wrong with it.
static const char *read_wish(const struct instance *in, const struct evkeyvalq *query,
			     struct wish *wish)
{
	struct tap_filter *filter = &wish->options.filter;
	uint64_t snaplen = PCAPNG_SNAPLEN_MAX;
	const char *wrong;

	if (!read_what(query, filter))
		return "what: drops, queue or port";
	wrong = read_place(in, query, filter);
	if (wrong != NULL)
		return wrong;
	if (!read_reasons(query, &filter->reasons))
		return "reason: names of weft show drops, separated by commas";
	if (!read_number(query, "count", INT64_MAX, &wish->options.count))
		return "count: a number above 0";
	if (!read_number(query, "seconds", SECONDS_MAX, &wish->seconds))
		return "seconds: 1 to 604800";
	if (!read_number(query, "snaplen", PCAPNG_SNAPLEN_MAX, &snaplen))
		return "snaplen: 1 to 65535";
	if (!read_number(query, "id", INT64_MAX, &wish->id))
		return "id: a number above 0";
	filter->snaplen = (uint32_t)snaplen;
	describe(in, wish);
	return NULL;
}

// --- requests -----------------------------------------------------------------------------------

static struct session *find_session(struct captures *captures, uint64_t id)
{
	for (uint32_t i = 0; i < TAPS_MAX; i++) {
		if (captures->session[i].capture != NULL && captures->session[i].id == id)
			return &captures->session[i];
	}
	return NULL;
}

static struct session *free_session(struct captures *captures)
{
	for (uint32_t i = 0; i < TAPS_MAX; i++) {
		if (captures->session[i].capture == NULL)
			return &captures->session[i];
	}
	return NULL;
}

static bool open_session(struct captures *captures, struct session *session,
			 const struct wish *wish, struct evbuffer *head)
{
	const struct timeval period = { .tv_usec = DRAIN_PERIOD_US };
	struct control_http *http = captures->http;

	*session = (struct session){
		.captures = captures,
		.id = wish->id,
		.rounds_left = wish->seconds == 0 ? UINT64_MAX :
						    wish->seconds * (1000000 / DRAIN_PERIOD_US),
	};
	session->timer = event_new(captures->base, -1, EV_PERSIST, on_timer, session);
	if (session->timer != NULL)
		session->capture = capture_open(http->workers, http->in, &wish->options, head);
	if (session->capture != NULL && event_add(session->timer, &period) == 0)
		return true;
	release(session);
	return false;
}

static void start(struct captures *captures, struct evhttp_request *request,
		  const struct wish *wish)
{
	struct session *session = free_session(captures);
	struct evbuffer *head = evbuffer_new();

	if (session == NULL || (wish->id != 0 && find_session(captures, wish->id) != NULL)) {
		reply_error(request, HTTP_SERVUNAVAIL,
			    session == NULL ? "too many captures already" : "the id is in use");
	} else if (head == NULL || !open_session(captures, session, wish, head)) {
		reply_error(request, HTTP_INTERNAL, "no memory for a capture");
	} else {
		http_stream_open(&session->stream, request, "application/x-pcapng", on_gone,
				 session);
		http_stream_send(&session->stream, head);
		log_info("%s: capture %" PRIu64 " begins: %s", captures->http->in->config->sw.name,
			 wish->id, wish->comment);
	}
	if (head != NULL)
		evbuffer_free(head);
}

static void on_capture(struct evhttp_request *request, void *arg)
{
	struct captures *captures = arg;
	struct wish wish = { 0 };
	struct evkeyvalq query;
	const char *wrong;

	if (!accept_method(request, EVHTTP_REQ_GET) || !parse_query(request, &query))
		return;
	wrong = read_wish(captures->http->in, &query, &wish);
	evhttp_clear_headers(&query);
	if (wrong != NULL)
		reply_error(request, HTTP_BADREQUEST, wrong);
	else
		start(captures, request, &wish);
}

static void on_stop(struct evhttp_request *request, void *arg)
{
	struct captures *captures = arg;
	struct session *session = NULL;
	struct evkeyvalq query;
	uint64_t id = 0;

	if (!accept_method(request, EVHTTP_REQ_POST) || !parse_query(request, &query))
		return;
	if (read_number(&query, "id", INT64_MAX, &id) && id != 0)
		session = find_session(captures, id);
	evhttp_clear_headers(&query);
	if (session == NULL) {
		reply_error(request, HTTP_BADREQUEST, "id: no such capture");
		return;
	}
	stop(session);
	reply_ok(request, json_object());
}

struct captures *control_capture_open(struct control_http *http, struct event_base *base)
{
	struct captures *captures = calloc(1, sizeof(*captures));

	if (captures == NULL)
		return NULL;
	captures->http = http;
	captures->base = base;
	evhttp_set_cb(http->server, "/v1/capture", on_capture, captures);
	evhttp_set_cb(http->server, "/v1/capture/stop", on_stop, captures);
	return captures;
}

void control_capture_close(struct captures *captures)
{
	if (captures == NULL)
		return;
	for (uint32_t i = 0; i < TAPS_MAX; i++) {
		if (captures->session[i].capture != NULL)
			finish_now(&captures->session[i]);
	}
	free(captures);
}
