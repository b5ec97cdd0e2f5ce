// SPDX-License-Identifier: BSD-3-Clause
//
// Handlers of /v1/qos and /v1/roce. The former reads the configuration, which the control thread
// alone changes; the latter asks the lcores.

#include "dataplane/control_qos.h"

#include "dataplane/control_reply.h"
#include "dataplane/qos_json.h"
#include "dataplane/roce_json.h"

static void on_qos(struct evhttp_request *request, void *arg)
{
	const struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, qos_json(http->in));
}

static void on_roce(struct evhttp_request *request, void *arg)
{
	const struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, roce_json(http->workers, http->in));
}

void control_qos_handlers(struct control_http *http)
{
	evhttp_set_cb(http->server, "/v1/qos", on_qos, http);
	evhttp_set_cb(http->server, "/v1/roce", on_roce, http);
}
