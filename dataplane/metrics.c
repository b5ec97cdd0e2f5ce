// SPDX-License-Identifier: BSD-3-Clause
//
// One evhttp per address. A scrape runs on the control thread: a snapshot of each switch and a walk
// over its rows, some milliseconds for 32 ports. It reads and changes nothing, so it needs no
// password; who may read is the address's matter.

#include "dataplane/metrics.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "dataplane/metrics_address.h"
#include "dataplane/metrics_text.h"
#include "sys/cfg_place.h"
#include "sys/log.h"

enum { BODY_MAX = 1024, HEADERS_MAX = 8 * 1024, BACKLOG = 16, CLIENT_SECONDS = 10 };

static const char type_plain[] = "text/plain; version=0.0.4; charset=utf-8";
static const char type_openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct listener {
	struct metrics *metrics;
	const char *text; // the knob's
	const char *path; // of the first switch that names it
	struct evhttp *server;
	bool is_open;
	int said; // errno of the last failure that was logged
	struct instance *in[WORKER_INSTANCE_MAX];
	uint32_t count;
};

struct metrics {
	struct workers *workers;
	struct event_base *base;
	char text[WORKER_INSTANCE_MAX][CONFIG_TEXT_BYTES]; // of each switch, as of the last look
	bool incomplete;                                   // memory was short then
	struct listener listener[WORKER_INSTANCE_MAX];
	uint32_t count;
};

int metrics_check(const struct sw_config *config, const char *path, FILE *errors)
{
	struct metrics_address address;
	const char *text = config->sw.metrics;
	char place[512];

	if (text[0] == '\0')
		return 0;
	cfg_place(path, "metrics", place, sizeof(place));
	if (!metrics_address_parse(text, &address)) {
		fprintf(errors,
			"%s: metrics: \"%s\" is not an address and port; allowed: text such as "
			"127.0.0.1:9478 or [::1]:9478\n",
			place, text);
		return -EINVAL;
	}
	if (address.loopback || config->sw.metrics_public)
		return 0;
	fprintf(errors,
		"%s: metrics: other machines reach %s, and nobody is asked for a password: take "
		"127.0.0.1 or [::1], or say metrics_public = true\n",
		place, text);
	return -EINVAL;
}

void metrics_reply(struct evhttp_request *request, struct workers *workers,
		   struct instance *const *switches, uint32_t count)
{
	const char *accept = evhttp_find_header(evhttp_request_get_input_headers(request),
						"Accept");
	const bool openmetrics = accept != NULL &&
				 strstr(accept, "application/openmetrics-text") != NULL;
	struct metrics_source *sources = calloc(count, sizeof(*sources));
	char *text = NULL;
	uint32_t taken = 0;
	size_t bytes;

	while (sources != NULL && taken < count &&
	       metrics_source_take(&sources[taken], workers, switches[taken]))
		taken++;
	if (taken == count)
		text = metrics_text(sources, count, workers, openmetrics, &bytes);
	if (text != NULL) {
		evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
				  openmetrics ? type_openmetrics : type_plain);
		evbuffer_add(evhttp_request_get_output_buffer(request), text, bytes);
		evhttp_send_reply(request, HTTP_OK, "OK", NULL);
	} else {
		evhttp_send_error(request, HTTP_INTERNAL, "out of memory");
	}
	free(text);
	for (uint32_t i = 0; i < taken; i++)
		metrics_source_release(&sources[i]);
	free(sources);
}

static void on_metrics(struct evhttp_request *request, void *arg)
{
	const struct listener *listener = arg;

	metrics_reply(request, listener->metrics->workers, listener->in, listener->count);
}

static void on_other(struct evhttp_request *request, void *arg)
{
	evhttp_send_error(request, HTTP_NOTFOUND, "see /metrics");
}

// A listening socket, or -errno.
static int listen_at(const char *text)
{
	struct metrics_address address;
	const int on = 1;
	int fd;
	int rc;

	if (!metrics_address_parse(text, &address))
		return -EINVAL;
	fd = socket(address.to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (rc == 0 && address.to.ss_family == AF_INET6)
		rc = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (rc == 0)
		rc = bind(fd, (const struct sockaddr *)&address.to, address.len);
	if (rc == 0)
		rc = listen(fd, BACKLOG);
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static void open_listener(struct listener *listener)
{
	const char *name = listener->in[0]->config->sw.name;
	const int fd = listen_at(listener->text);
	char place[512];

	if (fd >= 0 && evhttp_accept_socket(listener->server, fd) == 0) {
		listener->is_open = true;
		log_info("%s: metrics at http://%s/metrics", name, listener->text);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (listener->said == fd)
		return;
	listener->said = fd;
	cfg_place(listener->in[0]->path, "metrics", place, sizeof(place));
	log_err("%s: %s: metrics: cannot listen at %s: %s; trying again", name, place,
		listener->text, strerror(fd < 0 ? -fd : EIO));
}

static bool make_server(struct listener *listener, struct event_base *base)
{
	listener->server = evhttp_new(base);
	if (listener->server == NULL)
		return false;
	evhttp_set_max_body_size(listener->server, BODY_MAX);
	evhttp_set_max_headers_size(listener->server, HEADERS_MAX);
	evhttp_set_timeout(listener->server, CLIENT_SECONDS);
	evhttp_set_allowed_methods(listener->server, EVHTTP_REQ_GET);
	evhttp_set_cb(listener->server, "/metrics", on_metrics, listener);
	evhttp_set_gencb(listener->server, on_other, listener);
	return true;
}

// The listener of this address, new or another switch's.
static struct listener *find_listener(struct metrics *metrics, const char *text)
{
	uint32_t i = 0;

	while (i < metrics->count && strcmp(metrics->listener[i].text, text) != 0)
		i++;
	return &metrics->listener[i];
}

static bool add_switch(struct metrics *metrics, struct instance *in, const char *text)
{
	struct listener *listener;

	if (text[0] == '\0')
		return true;
	listener = find_listener(metrics, text);
	listener->in[listener->count++] = in;
	if (listener->count > 1)
		return true;
	listener->metrics = metrics;
	listener->text = text;
	metrics->count++;
	return make_server(listener, metrics->base);
}

static void drop_listeners(struct metrics *metrics)
{
	for (uint32_t i = 0; i < metrics->count; i++) {
		if (metrics->listener[i].server != NULL)
			evhttp_free(metrics->listener[i].server);
		metrics->listener[i] = (struct listener){ 0 };
	}
	metrics->count = 0;
}

// Listens anew for every switch. No configuration whose address is not allowed is ever in use.
static bool add_listeners(struct metrics *metrics)
{
	// The first lcore has a part in every switch.
	const struct worker *first = &metrics->workers->worker[0];

	drop_listeners(metrics);
	metrics->incomplete = true;
	for (uint32_t i = 0; i < first->instance_count; i++) {
		struct instance *in = first->instance[i];

		snprintf(metrics->text[i], CONFIG_TEXT_BYTES, "%s", in->config->sw.metrics);
		if (metrics->text[i][0] != '\0' && !add_switch(metrics, in, metrics->text[i]))
			return false;
	}
	metrics->incomplete = false;
	return true;
}

// A configuration may be replaced while the switch runs.
static bool is_changed(const struct metrics *metrics)
{
	const struct worker *first = &metrics->workers->worker[0];

	for (uint32_t i = 0; i < first->instance_count; i++) {
		if (strcmp(metrics->text[i], first->instance[i]->config->sw.metrics) != 0)
			return true;
	}
	return metrics->incomplete;
}

struct metrics *metrics_open(struct event_base *base, struct workers *workers)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics == NULL)
		return NULL;
	metrics->workers = workers;
	metrics->base = base;
	if (!add_listeners(metrics)) {
		metrics_close(metrics);
		return NULL;
	}
	metrics_second(metrics);
	return metrics;
}

void metrics_second(struct metrics *metrics)
{
	if (is_changed(metrics) && !add_listeners(metrics))
		log_err("no memory to serve metrics");
	for (uint32_t i = 0; i < metrics->count; i++) {
		if (!metrics->listener[i].is_open && metrics->listener[i].server != NULL)
			open_listener(&metrics->listener[i]);
	}
}

void metrics_close(struct metrics *metrics)
{
	if (metrics == NULL)
		return;
	drop_listeners(metrics);
	free(metrics);
}
