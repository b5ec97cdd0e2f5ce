// SPDX-License-Identifier: BSD-3-Clause
//
// Watchers of a fabric. One timer looks for all of them whether there is something new, and runs
// only while there are any. A watcher that does not read is given up when too much waits for it:
// with the number of the last event that it has it may come back and miss nothing.

#include "fabricmgr/net/northbound_part.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <event2/keyvalq_struct.h>

#include "sys/http_reply.h"
#include "sys/http_stream.h"
#include "sys/time_of_day.h"

enum {
	WATCHERS_MAX = 32,
	LOOK_MS = 50,
	EVENTS_AT_ONCE = 256, // of a watcher's, in one look
	BACKLOG_BYTES = 1 << 20,
	ALIVE_MS = 15000, // between two signs of life
};

// What of the status makes it news.
struct news {
	struct manager_plan plan;
	enum manager_hold hold;
	uint64_t generation;
};

struct watcher {
	struct watchers *of;
	struct http_stream stream; // open: the place is taken
	uint64_t number;           // of the last event that was sent
	struct news news;          // of the last status that was sent
	bool has_news;
	ns_t spoke;
};

struct watchers {
	struct northbound *nb;
	struct event *timer;
	uint32_t count;
	struct watcher watcher[WATCHERS_MAX];
};

static const struct timeval look_period = { .tv_usec = LOOK_MS * 1000l };

static void on_gone(void *arg)
{
	const struct watcher *watcher = arg;

	if (--watcher->of->count == 0)
		event_del(watcher->of->timer);
}

// Adds one event of the stream; `number` 0: it has none.
static void add(struct evbuffer *out, const char *kind, uint64_t number, json_t *data)
{
	char *text = data != NULL ? json_dumps(data, JSON_COMPACT) : NULL;

	json_decref(data);
	if (text != NULL && number > 0)
		evbuffer_add_printf(out, "id: %" PRIu64 "\n", number);
	if (text != NULL)
		evbuffer_add_printf(out, "event: %s\ndata: %s\n\n", kind, text);
	free(text);
}

static void add_events(struct watcher *watcher, const struct journal *journal, struct evbuffer *out)
{
	const uint64_t kept = u64_minus(journal->count, JOURNAL_MAX);
	uint32_t left = EVENTS_AT_ONCE;

	watcher->number = u64_max(watcher->number, kept);
	while (watcher->number < journal->count && left-- > 0) {
		const struct journal_event *event = journal_at(journal, ++watcher->number);

		if (event != NULL)
			add(out, "journal", watcher->number, view_event_json(event));
	}
}

static struct news news_of(const struct manager_view *view)
{
	return (struct news){ view->plan, view->hold, view->distributor->number };
}

static bool same_news(const struct news *a, const struct news *b)
{
	return a->plan.number == b->plan.number && a->plan.in_force.v == b->plan.in_force.v &&
	       a->plan.planned.v == b->plan.planned.v && a->hold == b->hold &&
	       a->generation == b->generation;
}

static void add_status(struct watcher *watcher, const struct manager_view *view, ns_t now,
		       struct evbuffer *out)
{
	const struct news news = news_of(view);

	if (watcher->has_news && same_news(&news, &watcher->news))
		return;
	watcher->news = news;
	watcher->has_news = true;
	add(out, "status", 0, view_status_json(view, now, time_of_day_ns() / 1000000));
}

static void tell(struct watcher *watcher, struct evbuffer *out)
{
	struct northbound *nb = watcher->of->nb;
	const struct manager_view *view = manager_view(nb->manager);
	const ns_t now = nb->clock();

	add_events(watcher, view->journal, out);
	add_status(watcher, view, now, out);
	if (evbuffer_get_length(out) == 0 && ns_since(now, watcher->spoke) >= ALIVE_MS * 1000000ull)
		evbuffer_add_printf(out, ":\n\n");
	if (evbuffer_get_length(out) > 0)
		watcher->spoke = now;
	http_stream_send(&watcher->stream, out);
}

static void look_at(struct watcher *watcher)
{
	struct evbuffer *out;

	if (!http_stream_look(&watcher->stream))
		return;
	if (http_stream_waiting(&watcher->stream) > BACKLOG_BYTES) {
		http_stream_drop(&watcher->stream);
		return;
	}
	out = evbuffer_new();
	if (out == NULL)
		return;
	tell(watcher, out);
	evbuffer_free(out);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct watchers *watchers = arg;

	for (uint32_t i = 0; i < WATCHERS_MAX; i++) {
		if (watchers->watcher[i].stream.request != NULL)
			look_at(&watchers->watcher[i]);
	}
}

static struct watcher *free_place(struct watchers *watchers)
{
	for (uint32_t i = 0; i < WATCHERS_MAX; i++) {
		if (watchers->watcher[i].stream.request == NULL)
			return &watchers->watcher[i];
	}
	return NULL;
}

// From where a client wants to go on: what it says itself, or what its library does when it comes
// back. Without either it gets what is new from now on.
static bool read_since(struct evhttp_request *request, uint64_t count, uint64_t *since)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	struct evkeyvalq query;
	bool good;

	*since = count;
	if (!northbound_number(headers, "Last-Event-ID", since))
		*since = count;
	if (!parse_query(request, &query))
		return false;
	good = northbound_number(&query, "since", since);
	evhttp_clear_headers(&query);
	*since = u64_min(*since, count);
	if (!good)
		reply_error(request, HTTP_BADREQUEST, "since: the number of an event");
	return good;
}

static void on_watch(struct evhttp_request *request, void *arg)
{
	struct watchers *watchers = arg;
	const uint64_t count = manager_view(watchers->nb->manager)->journal->count;
	struct watcher *watcher = free_place(watchers);
	uint64_t since;

	if (!accept_method(request, EVHTTP_REQ_GET) || !read_since(request, count, &since))
		return;
	if (watcher == NULL) {
		reply_error(request, HTTP_SERVUNAVAIL, "too many watchers already");
		return;
	}
	*watcher =
		(struct watcher){ .of = watchers, .number = since, .spoke = watchers->nb->clock() };
	http_stream_open(&watcher->stream, request, "text/event-stream", on_gone, watcher);
	if (watchers->count++ == 0)
		event_add(watchers->timer, &look_period);
}

struct watchers *northbound_watch_open(struct northbound *nb, struct event_base *base)
{
	struct watchers *watchers = calloc(1, sizeof(*watchers));

	if (watchers == NULL)
		return NULL;
	watchers->nb = nb;
	watchers->timer = event_new(base, -1, EV_PERSIST, on_timer, watchers);
	if (watchers->timer == NULL) {
		free(watchers);
		return NULL;
	}
	northbound_handle(nb, "/v1/fabric/watch", on_watch, watchers);
	return watchers;
}

void northbound_watch_close(struct watchers *watchers)
{
	if (watchers == NULL)
		return;
	for (uint32_t i = 0; i < WATCHERS_MAX; i++) {
		if (watchers->watcher[i].stream.request != NULL)
			http_stream_abandon(&watchers->watcher[i].stream, NULL);
	}
	event_free(watchers->timer);
	free(watchers);
}
