// SPDX-License-Identifier: BSD-3-Clause
//
// GET /v1/fabric of the control socket: the words of managed_json(). All of it lies in the control
// thread's own memory: nobody is asked, and the answer costs forwarding nothing. A switch without a
// manager has no such resource.

#include "dataplane/control_managed.h"

#include "dataplane/managed.h"

static void on_fabric(struct evhttp_request *request, void *arg)
{
	const struct control_http *http = arg;
	json_t *body;

	if (!accept_method(request, EVHTTP_REQ_GET))
		return;
	body = managed_json(http->in->managed);
	if (body != NULL)
		reply_ok(request, body);
	else
		reply_error(request, HTTP_NOTFOUND, "the switch has no fabric manager (manager)");
}

void control_managed_handlers(struct control_http *http)
{
	evhttp_set_cb(http->server, "/v1/fabric", on_fabric, http);
}
