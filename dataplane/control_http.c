// SPDX-License-Identifier: BSD-3-Clause
//
// evhttp on a unix socket. A handler may wait for the lcore (some microseconds); the lcore never
// waits for a handler.

#include "dataplane/control_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>

#include "dataplane/control_capture.h"
#include "dataplane/control_config.h"
#include "dataplane/control_debug.h"
#include "dataplane/control_lldp.h"
#include "dataplane/control_managed.h"
#include "dataplane/control_qos.h"
#include "dataplane/control_reply.h"
#include "dataplane/dpdk/link.h"
#include "dataplane/metrics.h"
#include "dataplane/routes_json.h"
#include "dataplane/stats_json.h"
#include "sys/control_socket.h"
#include "sys/log.h"

enum {
	BODY_MAX = 1024 * 1024,
	HEADERS_MAX = 8 * 1024,
	FILE_BYTES = CONFIG_NAME_BYTES + 8,
	CLIENT_SECONDS = 10
};

static const char *const watermark_names[WATERMARK_KIND_COUNT] = {
	[WATERMARK_USER] = "user",
	[WATERMARK_PERSISTENT] = "persistent",
	[WATERMARK_PERIODIC] = "periodic",
};

// Reads ?watermark=KIND; false when it names no kind. Without it, *kind is the user's.
static bool read_watermark(const struct evkeyvalq *query, enum watermark_kind *kind)
{
	const char *name = evhttp_find_header(query, "watermark");

	*kind = WATERMARK_USER;
	if (name == NULL)
		return true;
	for (uint32_t i = 0; i < WATERMARK_KIND_COUNT; i++) {
		if (strcmp(name, watermark_names[i]) != 0)
			continue;
		*kind = (enum watermark_kind)i;
		return true;
	}
	return false;
}

static void on_stats(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct evkeyvalq query;
	enum watermark_kind kind;

	if (!accept_method(request, EVHTTP_REQ_GET) || !parse_query(request, &query))
		return;
	if (read_watermark(&query, &kind))
		reply_ok(request, stats_json(http->workers, http->in, kind));
	else
		reply_error(request, HTTP_BADREQUEST, "watermark: user, persistent or periodic");
	evhttp_clear_headers(&query);
}

static void on_mac(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, stats_json_macs(http->workers, http->in));
}

static void on_acl(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, stats_json_acl(http->workers, http->in));
}

static void on_lcore(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, stats_json_lcores(http->workers));
}

static void on_driver(struct evhttp_request *request, void *arg)
{
	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, stats_json_drivers());
}

static void clear_gaps(struct workers *workers)
{
	for (uint32_t i = 0; i < workers->count; i++) {
		struct message message = { .kind = MESSAGE_CLEAR_GAP, .lcore = { (uint8_t)i } };

		workers_call(workers, &message);
	}
}

static void on_clear(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct message message = { .kind = MESSAGE_CLEAR_WATERMARKS, .instance = http->in };
	struct evkeyvalq query;

	if (!accept_method(request, EVHTTP_REQ_POST) || !parse_query(request, &query))
		return;
	if (evhttp_find_header(&query, "poll_gap") != NULL)
		message.kind = MESSAGE_CLEAR_GAP;
	if (read_watermark(&query, &message.watermark)) {
		if (message.kind == MESSAGE_CLEAR_GAP)
			clear_gaps(http->workers);
		else
			workers_call(http->workers, &message);
		reply_ok(request, json_object());
	} else {
		reply_error(request, HTTP_BADREQUEST, "watermark: user, persistent or periodic");
	}
	evhttp_clear_headers(&query);
}

static void on_link(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct evkeyvalq query;
	struct port *port;
	bool cut;

	if (!accept_method(request, EVHTTP_REQ_POST) || !parse_query(request, &query))
		return;
	port = find_port(http->in, evhttp_find_header(&query, "port"));
	cut = evhttp_find_header(&query, "cut") != NULL;
	if (port == NULL) {
		reply_error(request, HTTP_BADREQUEST, "no such port");
	} else if (cut == (evhttp_find_header(&query, "heal") != NULL)) {
		reply_error(request, HTTP_BADREQUEST, "say cut or heal");
	} else if (port->link == NULL) {
		reply_error(request, HTTP_BADREQUEST, "only an in-memory link can be cut");
	} else {
		link_cut(port, cut);
		reply_ok(request, json_pack("{s:s, s:s, s:b}", "port", port->config->name, "link",
					    port->link->name, "cut", cut));
	}
	evhttp_clear_headers(&query);
}

static void on_route(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct evkeyvalq query;
	const char *prefix;
	json_t *answer;

	if (!accept_method(request, EVHTTP_REQ_GET) || !parse_query(request, &query))
		return;
	prefix = evhttp_find_header(&query, "prefix");
	answer = routes_json(http->in, prefix);
	if (answer != NULL)
		reply_ok(request, answer);
	else
		reply_error(request, HTTP_BADREQUEST,
			    "prefix: an address, or a network as in "
			    "10.0.0.0/8 without bits behind its length");
	evhttp_clear_headers(&query);
}

static void on_group(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, routes_json_groups(http->in));
}

static void on_arp(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, routes_json_neighbors(http->workers, http->in));
}

static void on_hash(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, routes_json_hash(http->in));
}

static void on_turn(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, routes_json_turns(http->in));
}

static void on_metrics(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		metrics_reply(request, http->workers, &http->in, 1);
}

static void set_route_handlers(struct control_http *http)
{
	evhttp_set_cb(http->server, "/v1/route", on_route, http);
	evhttp_set_cb(http->server, "/v1/group", on_group, http);
	evhttp_set_cb(http->server, "/v1/arp", on_arp, http);
	evhttp_set_cb(http->server, "/v1/hash", on_hash, http);
	evhttp_set_cb(http->server, "/v1/turn", on_turn, http);
}

static void on_other(struct evhttp_request *request, void *arg)
{
	reply_error(request, HTTP_NOTFOUND, "no such resource");
}

static int start(struct control_http *http, const char *run_dir)
{
	char file[FILE_BYTES];
	int fd;

	snprintf(file, sizeof(file), "%s.sock", http->in->config->sw.name);
	fd = control_socket_listen(run_dir, file, &http->address);
	if (fd < 0)
		return fd;
	if (evhttp_accept_socket(http->server, fd) == 0)
		return 0;
	close(fd);
	return -EIO;
}

struct control_http *control_http_open(struct event_base *base, const char *run_dir,
				       const char *state_dir, struct config_changer *changer)
{
	struct instance *in = changer->in;
	struct control_http *http = calloc(1, sizeof(*http));
	int rc = -ENOMEM;

	if (http == NULL)
		goto err;
	http->workers = changer->workers;
	http->in = in;
	http->server = evhttp_new(base);
	if (http->server == NULL)
		goto err;
	evhttp_set_max_body_size(http->server, BODY_MAX);
	evhttp_set_max_headers_size(http->server, HEADERS_MAX);
	evhttp_set_timeout(http->server, CLIENT_SECONDS);
	evhttp_set_allowed_methods(http->server, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
	evhttp_set_cb(http->server, "/v1/stats", on_stats, http);
	evhttp_set_cb(http->server, "/v1/mac", on_mac, http);
	evhttp_set_cb(http->server, "/metrics", on_metrics, http);
	evhttp_set_cb(http->server, "/v1/acl", on_acl, http);
	evhttp_set_cb(http->server, "/v1/lcore", on_lcore, http);
	evhttp_set_cb(http->server, "/v1/driver", on_driver, http);
	evhttp_set_cb(http->server, "/v1/clear", on_clear, http);
	evhttp_set_cb(http->server, "/v1/link", on_link, http);
	set_route_handlers(http);
	control_debug_handlers(http);
	control_lldp_handlers(http);
	control_managed_handlers(http);
	control_qos_handlers(http);
	http->config = control_config_open(http->server, changer, state_dir);
	if (http->config == NULL)
		goto err;
	http->captures = control_capture_open(http, base);
	if (http->captures == NULL)
		goto err;
	evhttp_set_gencb(http->server, on_other, http);
	rc = start(http, run_dir);
	if (rc == 0)
		return http;
err:
	log_err("%s: no control socket in %s: %s", in->config->sw.name, run_dir, strerror(-rc));
	control_http_close(http);
	return NULL;
}

void control_http_close(struct control_http *http)
{
	if (http == NULL)
		return;
	control_capture_close(http->captures);
	control_config_close(http->config);
	if (http->server != NULL)
		evhttp_free(http->server);
	if (http->address.sun_path[0] != '\0')
		unlink(http->address.sun_path);
	free(http);
}
