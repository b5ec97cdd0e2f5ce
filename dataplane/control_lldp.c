// SPDX-License-Identifier: BSD-3-Clause
//
// What the switch says is made on the spot from its configuration and profile, what neighbours say
// lies in the control thread's own memory: no lcore is asked, and the answer costs forwarding
// nothing.

#include "dataplane/control_lldp.h"

#include "dataplane/lldp_json.h"

static void on_lldp(struct evhttp_request *request, void *arg)
{
	const struct control_http *http = arg;

	if (accept_method(request, EVHTTP_REQ_GET))
		reply_ok(request, lldp_json(http->in));
}

void control_lldp_handlers(struct control_http *http)
{
	evhttp_set_cb(http->server, "/v1/lldp", on_lldp, http);
}
