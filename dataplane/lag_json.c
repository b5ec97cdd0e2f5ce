// SPDX-License-Identifier: BSD-3-Clause
//
// LAGs of a switch as JSON, for weft show lag: each with its members, and what LACP says of them.
// Part of the answer to GET /v1/stats, so it is of the same instant as all counters. Names of
// states are those of the machines of IEEE 802.1AX.

#include "dataplane/lag_json.h"

#include <inttypes.h>
#include <stdio.h>

static const char *rx_name(enum lacp_rx rx)
{
	switch (rx) {
	case LACP_RX_DISABLED: return "disabled";
	case LACP_RX_EXPIRED: return "expired";
	case LACP_RX_DEFAULTED: return "defaulted";
	case LACP_RX_CURRENT: return "current";
	}
	return "";
}

static const char *mux_name(enum lacp_mux mux)
{
	switch (mux) {
	case LACP_MUX_DETACHED: return "detached";
	case LACP_MUX_WAITING: return "waiting";
	case LACP_MUX_ATTACHED: return "attached";
	case LACP_MUX_RUNNING: return "running";
	}
	return "";
}

static void set_lacp(json_t *object, const struct port_snapshot *port)
{
	const struct lacp_state *lacp = &port->lacp;
	char system[18];

	snprintf(system, sizeof(system),
		 "%02" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ":%02" PRIx64,
		 lacp->partner.system >> 40 & 0xff, lacp->partner.system >> 32 & 0xff,
		 lacp->partner.system >> 24 & 0xff, lacp->partner.system >> 16 & 0xff,
		 lacp->partner.system >> 8 & 0xff, lacp->partner.system & 0xff);
	json_object_set_new(object, "receive", json_string(rx_name(lacp->rx)));
	json_object_set_new(object, "mux", json_string(mux_name(lacp->mux)));
	json_object_set_new(object, "actor_state", json_integer(lacp->state));
	json_object_set_new(object, "partner_state", json_integer(lacp->partner.state));
	json_object_set_new(object, "partner_system", json_string(system));
	json_object_set_new(object, "partner_key", json_integer(lacp->partner.key));
	json_object_set_new(object, "partner_port", json_integer(lacp->partner.port));
	json_object_set_new(object, "lacp_rx_pdus",
			    json_integer((json_int_t)port->stats.lacp_rx_pdus));
	json_object_set_new(object, "lacp_tx_pdus",
			    json_integer((json_int_t)port->stats.lacp_tx_pdus));
}

static json_t *member_json(const struct snapshot *snapshot, port_t port, bool lacp)
{
	const struct port_snapshot *state = &snapshot->port[port.v];
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(snapshot->profile->port[port.v].name));
	json_object_set_new(object, "link", json_boolean(state->link_up));
	json_object_set_new(object, "selected", json_boolean(state->usable));
	if (lacp)
		set_lacp(object, state);
	return object;
}

json_t *lags_json(const struct snapshot *snapshot)
{
	const struct sw_profile *pf = snapshot->profile;
	json_t *list = json_array();

	for (uint32_t i = 0; i < pf->lag_count; i++) {
		const struct lag_profile *lag = &pf->lag[i];
		json_t *object = json_object();
		json_t *members = json_array();

		json_object_set_new(object, "name", json_string(lag->name));
		json_object_set_new(object, "mode", json_string(lag->lacp ? "lacp" : "static"));
		json_object_set_new(object, "up",
				    json_boolean(snapshot->port[lag->logical.v].reachable));
		json_object_set_new(object, "min_links", json_integer(lag->min_links));
		PORT_SET_FOR_EACH(port, &lag->members)
			json_array_append_new(members, member_json(snapshot, port, lag->lacp));
		json_object_set_new(object, "members", members);
		json_array_append_new(list, object);
	}
	return list;
}
