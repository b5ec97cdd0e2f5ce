// SPDX-License-Identifier: BSD-3-Clause
//
// Test hooks by way of the control socket. Each is one message to the lcore that owns the port, or
// to all of them; the answer comes once it is in effect, so that a test need not wait.

#include "dataplane/control_debug.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "sys/log.h"

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static const char *port_name(const struct control_http *http, port_t port)
{
	return http->in->config->port[port.v].name;
}

// Reads ?port=NAME; NULL, or what is wrong with it.
static const char *read_port(const struct control_http *http, const struct evkeyvalq *query,
			     struct message *message)
{
	const struct port *port = find_port(http->in, evhttp_find_header(query, "port"));

	if (port == NULL)
		return "no such port";
	message->port = (port_t){ (uint16_t)(port - http->in->port) };
	return NULL;
}

// Reads ?queue=0..7.
static const char *read_queue(const struct evkeyvalq *query, struct message *message)
{
	const char *queue = evhttp_find_header(query, "queue");

	if (queue == NULL || queue[0] < '0' || queue[0] > '7' || queue[1] != '\0')
		return "queue: 0 to 7";
	message->storm.queue = (queue_t){ (uint8_t)(queue[0] - '0') };
	return NULL;
}

// Reads ?queue=, one or several.
static const char *read_queues(const struct evkeyvalq *query, uint8_t *queues)
{
	const char *text = evhttp_find_header(query, "queue");

	if (text != NULL && strcmp(text, "all") == 0)
		*queues = UINT8_MAX;
	else if (text == NULL || !unit_parse_mask8(text, strlen(text), queues) || *queues == 0)
		return "queue: 0 to 7, several as in 3,5-7, or all";
	return NULL;
}

static const char *read_switch(const struct evkeyvalq *query, bool *on)
{
	return read_on(query, on) ? NULL : "on: on or off";
}

static bool begin(struct evhttp_request *request, struct evkeyvalq *query)
{
	return accept_method(request, EVHTTP_REQ_POST) && parse_query(request, query);
}

// Ends the reading of a query. True when it said something wrong, which has then been answered.
static bool refuse(struct evhttp_request *request, struct evkeyvalq *query, const char *wrong)
{
	evhttp_clear_headers(query);
	if (wrong != NULL)
		reply_error(request, HTTP_BADREQUEST, wrong);
	return wrong != NULL;
}

static void reply_done(struct evhttp_request *request, const char *hook, bool on)
{
	reply_ok(request, json_pack("{s:s++}", "done", hook, " ", on_off(on)));
}

static void on_storm(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	bool accepted = false;
	struct message message = { .kind = MESSAGE_FORCE_STORM, .instance = http->in };
	struct evkeyvalq query;
	const char *wrong;

	if (!begin(request, &query))
		return;
	message.storm.accepted = &accepted;
	wrong = read_port(http, &query, &message);
	if (wrong == NULL)
		wrong = read_queue(&query, &message);
	if (wrong == NULL)
		wrong = read_switch(&query, &message.storm.on);
	if (refuse(request, &query, wrong))
		return;
	workers_call(http->workers, &message);
	if (!accepted) {
		reply_error(request, HTTP_BADREQUEST,
			    "the queue has no watchdog (pfc_wd), or its link is down");
		return;
	}
	log_warn("%s: test hook: storm of port %s, queue %u: %s", http->in->config->sw.name,
		 port_name(http, message.port), message.storm.queue.v, on_off(message.storm.on));
	reply_done(request, "storm", message.storm.on);
}

static void on_big_red(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct message message = { .kind = MESSAGE_BIG_RED, .instance = http->in };
	struct evkeyvalq query;

	if (!begin(request, &query) || refuse(request, &query, read_switch(&query, &message.up)))
		return;
	workers_call(http->workers, &message);
	log_warn("%s: test hook: big red switch: %s", http->in->config->sw.name,
		 on_off(message.up));
	reply_done(request, "big red switch", message.up);
}

static void on_tx_disable(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct message message = { .kind = MESSAGE_TX_DISABLE, .instance = http->in };
	struct evkeyvalq query;
	const char *wrong;

	if (!begin(request, &query))
		return;
	wrong = read_port(http, &query, &message);
	if (wrong == NULL)
		wrong = read_switch(&query, &message.up);
	if (refuse(request, &query, wrong))
		return;
	workers_call(http->workers, &message);
	log_warn("%s: test hook: tx-disable of port %s: %s", http->in->config->sw.name,
		 port_name(http, message.port), on_off(message.up));
	reply_done(request, "tx-disable", message.up);
}

static void on_dequeue_disable(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct message message = { .kind = MESSAGE_DEQUEUE_DISABLE, .instance = http->in };
	char queues[UNIT_TEXT_BYTES];
	struct evkeyvalq query;
	const char *wrong;

	if (!begin(request, &query))
		return;
	wrong = read_port(http, &query, &message);
	if (wrong == NULL)
		wrong = read_queues(&query, &message.block.queues);
	if (wrong == NULL)
		wrong = read_switch(&query, &message.block.on);
	if (refuse(request, &query, wrong))
		return;
	workers_call(http->workers, &message);
	unit_format_mask8(message.block.queues, queues);
	log_warn("%s: test hook: dequeue-disable of port %s, queue %s: %s",
		 http->in->config->sw.name, port_name(http, message.port), queues,
		 on_off(message.block.on));
	reply_done(request, "dequeue-disable", message.block.on);
}

static const char *read_seed(const struct evkeyvalq *query, uint64_t *seed)
{
	const char *text = evhttp_find_header(query, "seed");

	if (text == NULL || !unit_parse(UNIT_COUNT, text, strlen(text), seed))
		return "seed: a number";
	return NULL;
}

static void on_seed(struct evhttp_request *request, void *arg)
{
	struct control_http *http = arg;
	struct message message = { .kind = MESSAGE_SEED, .instance = http->in };
	struct evkeyvalq query;

	if (!begin(request, &query) || refuse(request, &query, read_seed(&query, &message.seed)))
		return;
	workers_call(http->workers, &message);
	log_info("%s: test hook: the dice begin anew with seed %" PRIu64, http->in->config->sw.name,
		 message.seed);
	reply_ok(request, json_pack("{s:s}", "done", "seeded"));
}

void control_debug_handlers(struct control_http *http)
{
	evhttp_set_cb(http->server, "/v1/storm", on_storm, http);
	evhttp_set_cb(http->server, "/v1/big-red", on_big_red, http);
	evhttp_set_cb(http->server, "/v1/debug/tx-disable", on_tx_disable, http);
	evhttp_set_cb(http->server, "/v1/debug/dequeue-disable", on_dequeue_disable, http);
	evhttp_set_cb(http->server, "/v1/debug/seed", on_seed, http);
}
