// SPDX-License-Identifier: BSD-3-Clause
//
// Opens the socket, and answers whoever only looks: each path is a row, each row a function of the
// view. What a client sends is bounded by evhttp, and it has ten seconds to do so.

#include "fabricmgr/net/northbound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "fabricmgr/memory.h"
#include "fabricmgr/net/northbound_part.h"
#include "sys/control_socket.h"
#include "sys/http_reply.h"
#include "sys/log.h"
#include "sys/time_of_day.h"

enum { BODY_MAX = 16 << 20, HEADERS_MAX = 8 * 1024, CLIENT_SECONDS = 10 };

// A request to look.
struct asked {
	struct northbound *nb;
	const struct manager_view *view;
	const struct evkeyvalq *query;
	char why[FIND_WHY_BYTES]; // nothing is answered
};

typedef json_t *look_fn(struct asked *asked);

struct look_row {
	const char *path;
	look_fn *look;
};

bool northbound_number(const struct evkeyvalq *query, const char *key, uint64_t *value)
{
	const char *text = evhttp_find_header(query, key);

	return text == NULL || unit_parse(UNIT_COUNT, text, strlen(text), value);
}

// --- what can be looked at --------------------------------------------------------------------

static json_t *look_status(struct asked *asked)
{
	return view_status_json(asked->view, asked->nb->clock(), time_of_day_ns() / 1000000);
}

static json_t *look_topology(struct asked *asked)
{
	return view_topology_json(asked->view, asked->nb->clock());
}

static json_t *look_links(struct asked *asked)
{
	return view_links_json(asked->view);
}

static json_t *look_errors(struct asked *asked)
{
	const struct northbound *nb = asked->nb;
	json_t *answer = view_errors_json(asked->view);

	if (answer != NULL && nb->more_errors != NULL)
		nb->more_errors(nb->more_arg, json_object_get(answer, "errors"));
	return answer;
}

static json_t *look_hosts(struct asked *asked)
{
	return view_hosts_json(asked->view);
}

static json_t *look_routes(struct asked *asked)
{
	return view_routes_json(asked->view, evhttp_find_header(asked->query, "switch"),
				evhttp_find_header(asked->query, "to"), asked->why);
}

static json_t *look_balance(struct asked *asked)
{
	return view_balance_json(asked->view, &asked->nb->memory, asked->why);
}

static json_t *look_trace(struct asked *asked)
{
	return view_trace_json(asked->view, evhttp_find_header(asked->query, "from"),
			       evhttp_find_header(asked->query, "to"), &asked->nb->memory,
			       asked->why);
}

static json_t *look_events(struct asked *asked)
{
	uint64_t since = 0;
	uint64_t count = evhttp_find_header(asked->query, "since") != NULL ? VIEW_EVENTS_MAX :
									     VIEW_NEWEST;

	if (northbound_number(asked->query, "since", &since) &&
	    northbound_number(asked->query, "count", &count))
		return view_events_json(asked->view->journal, since, count);
	snprintf(asked->why, sizeof(asked->why), "since and count are numbers");
	return NULL;
}

static const struct look_row rows[] = {
	{ "/v1/fabric/status", look_status }, { "/v1/fabric/topology", look_topology },
	{ "/v1/fabric/links", look_links },   { "/v1/fabric/errors", look_errors },
	{ "/v1/fabric/routes", look_routes }, { "/v1/fabric/balance", look_balance },
	{ "/v1/fabric/events", look_events }, { "/v1/fabric/hosts", look_hosts },
	{ "/v1/fabric/trace", look_trace },
};

static void on_look(struct evhttp_request *request, void *arg)
{
	const struct northbound_look *look = arg;
	struct asked asked = { .nb = look->nb, .view = manager_view(look->nb->manager) };
	struct evkeyvalq query;
	json_t *answer;

	if (!accept_method(request, EVHTTP_REQ_GET) || !parse_query(request, &query))
		return;
	asked.query = &query;
	answer = look->row->look(&asked);
	evhttp_clear_headers(&query);
	if (answer != NULL || asked.why[0] == '\0')
		reply_ok(request, answer);
	else
		reply_error(request, HTTP_BADREQUEST, asked.why);
}

static void on_other(struct evhttp_request *request, void *arg)
{
	reply_error(request, HTTP_NOTFOUND, "no such resource");
}

void northbound_handle(struct northbound *nb, const char *path,
		       void (*handler)(struct evhttp_request *request, void *arg), void *arg)
{
	for (uint32_t i = 0; i < NORTHBOUND_SERVERS; i++) {
		if (nb->server[i] != NULL)
			evhttp_set_cb(nb->server[i], path, handler, arg);
	}
}

void northbound_on_errors(struct northbound *nb, void (*more)(void *arg, json_t *errors), void *arg)
{
	nb->more_errors = more;
	nb->more_arg = arg;
}

static void set_look_handlers(struct northbound *nb)
{
	static_assert(sizeof(rows) / sizeof(rows[0]) <= NORTHBOUND_LOOKS_MAX);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		nb->look[i] = (struct northbound_look){ nb, &rows[i] };
		northbound_handle(nb, rows[i].path, on_look, &nb->look[i]);
	}
}

// --- opening ----------------------------------------------------------------------------------

static struct evhttp *make_server(struct event_base *base, uint16_t methods)
{
	struct evhttp *server = evhttp_new(base);

	if (server == NULL)
		return NULL;
	evhttp_set_max_body_size(server, BODY_MAX);
	evhttp_set_max_headers_size(server, HEADERS_MAX);
	evhttp_set_timeout(server, CLIENT_SECONDS);
	evhttp_set_allowed_methods(server, methods);
	evhttp_set_gencb(server, on_other, NULL);
	return server;
}

// Both servers, if there are to be two: handlers are set for those that are there.
static int make_servers(struct northbound *nb, struct event_base *base, uint16_t port)
{
	nb->server[0] = make_server(base, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
	if (nb->server[0] == NULL)
		return -ENOMEM;
	if (port == 0)
		return 0;
	nb->server[1] = make_server(base, EVHTTP_REQ_GET);
	if (nb->server[1] == NULL)
		return -ENOMEM;
	return evhttp_bind_socket(nb->server[1], "127.0.0.1", port) == 0 ? 0 : -EADDRINUSE;
}

static int listen_on(struct northbound *nb)
{
	const int fd = control_socket_listen(nb->run_dir, CONTROL_SOCKET_FABRIC, &nb->address);

	if (fd < 0)
		return fd;
	if (evhttp_accept_socket(nb->server[0], fd) == 0)
		return 0;
	close(fd);
	return -EIO;
}

struct northbound *northbound_open(struct event_base *base, struct manager *manager,
				   const struct northbound_options *options)
{
	struct northbound *nb = calloc(1, sizeof(*nb));
	int rc = -ENOMEM;

	if (nb == NULL)
		goto err;
	nb->manager = manager;
	nb->clock = options->clock;
	nb->run_dir = options->run_dir;
	if (!memory_open(&nb->memory.keep) || !memory_open(&nb->memory.scratch))
		goto err;
	rc = make_servers(nb, base, options->port);
	if (rc < 0)
		goto err;
	set_look_handlers(nb);
	northbound_order_handlers(nb);
	nb->watchers = northbound_watch_open(nb, base);
	rc = nb->watchers != NULL ? listen_on(nb) : -ENOMEM;
	if (rc == 0)
		return nb;
err:
	log_err("no socket for operators in %s: %s", options->run_dir, strerror(-rc));
	northbound_close(nb);
	return NULL;
}

void northbound_close(struct northbound *nb)
{
	if (nb == NULL)
		return;
	northbound_watch_close(nb->watchers);
	for (uint32_t i = 0; i < NORTHBOUND_SERVERS; i++) {
		if (nb->server[i] != NULL)
			evhttp_free(nb->server[i]);
	}
	if (nb->address.sun_path[0] != '\0')
		unlink(nb->address.sun_path);
	memory_close(&nb->memory.keep);
	memory_close(&nb->memory.scratch);
	free(nb);
}
