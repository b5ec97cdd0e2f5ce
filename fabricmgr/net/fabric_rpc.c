// SPDX-License-Identifier: BSD-3-Clause
//
// Each call becomes one call of the distributor, and then manager_progress(), which may decide a
// generation and have waiting fetches answered (fabric_fetch.c). What a call is answered follows
// from the switch's record alone, so one that is lost with its connection leaves nothing behind.

#include "fabricmgr/net/fabric_rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.gen.h"
#include "fabricmgr/net/fabric_fetch.h"
#include "routing/packed.h"

enum { PEER_CONNECTIONS = 4, REPORT_MS = 1000, REASON_BYTES = 160 };

struct fabric_rpc {
	struct manager *manager;
	struct rpc_server *server;
	struct fabric_fetches *fetches;
	struct journal_budget refused;
	bool (*report)(void *arg, uint32_t at, const struct rpc_report *report);
	void *report_arg;
};

static struct generation generation_of(const struct rpc_generation *said)
{
	return (struct generation){ said->epoch, said->number, said->hash };
}

// --- who calls ----------------------------------------------------------------------------------

// The number of the switch that calls. FABRIC_NONE after the call was refused: it has not said
// hello on this connection, or in this run of it.
static uint32_t caller(struct fabric_rpc *rpc, struct rpc_call *call, uint64_t boot)
{
	const struct distributor *d = manager_distributor(rpc->manager);
	const char *peer = rpc_call_peer(call);
	const uint32_t at = peer != NULL ? manager_find(rpc->manager, peer) : FABRIC_NONE;

	if (at != FABRIC_NONE && distribute_knows(d, at, boot))
		return at;
	rpc_refuse(call, 403, "say hello first");
	return FABRIC_NONE;
}

static const char *name_of(const struct fabric_rpc *rpc, uint32_t at)
{
	return manager_view(rpc->manager)->source->fabric.switches[at].name;
}

// --- hello --------------------------------------------------------------------------------------

// The newest version that both speak, 0: none.
static uint32_t common_version(const struct rpc_hello *hello)
{
	const uint32_t newest = (uint32_t)u64_min(hello->newest_version, FABRIC_VERSION);

	return newest >= hello->oldest_version && newest >= FABRIC_VERSION_OLDEST ? newest : 0;
}

// Why a switch may not call, "" that it may.
static void judge(const struct fabric_rpc *rpc, const struct rpc_call *call,
		  const struct rpc_hello *hello, char why[REASON_BYTES])
{
	const char *peer = rpc_call_peer(call);

	why[0] = '\0';
	if (peer != NULL && strcmp(peer, hello->name) != 0)
		snprintf(why, REASON_BYTES, "it calls itself %s", hello->name);
	else if (manager_find(rpc->manager, hello->name) == FABRIC_NONE)
		snprintf(why, REASON_BYTES, "the fabric has no switch of this name");
	else if (common_version(hello) == 0)
		snprintf(why, REASON_BYTES, "it speaks versions %u to %u, the manager %d to %d",
			 hello->oldest_version, hello->newest_version, FABRIC_VERSION_OLDEST,
			 FABRIC_VERSION);
	else if (hello->table_version < PACKED_VERSION)
		snprintf(why, REASON_BYTES, "it reads tables of version %u, not %d",
			 hello->table_version, PACKED_VERSION);
}

static bool greet(struct fabric_rpc *rpc, const struct rpc_hello *hello, char why[REASON_BYTES])
{
	const uint32_t at = manager_find(rpc->manager, hello->name);
	const struct generation running = generation_of(&hello->running);
	const struct generation prepared = generation_of(&hello->prepared);
	const char *refusal;

	if (distribute_hello(manager_distributor(rpc->manager), at, hello->boot,
			     hello->has_running ? &running : NULL,
			     hello->has_prepared ? &prepared : NULL, manager_now(rpc->manager),
			     &refusal))
		return true;
	snprintf(why, REASON_BYTES, "%s", refusal);
	return false;
}

static void refuse_hello(struct fabric_rpc *rpc, const struct rpc_call *call,
			 const struct rpc_hello *hello, const char *why,
			 struct rpc_hello_reply *reply)
{
	const char *peer = rpc_call_peer(call);

	if (journal_budget_take(&rpc->refused, manager_now(rpc->manager)))
		manager_journal(rpc->manager, JOURNAL_PEER_REFUSED,
				peer != NULL ? peer : hello->name, why);
	reply->version = 0;
	rpc_hello_reply_set_refusal(reply, why);
}

static void on_hello(void *arg, struct rpc_call *call, const void *request)
{
	struct fabric_rpc *rpc = arg;
	const struct rpc_hello *hello = request;
	struct rpc_hello_reply reply = { .has_version = true,
					 .version = common_version(hello),
					 .has_epoch = true,
					 .epoch = manager_distributor(rpc->manager)->epoch,
					 .has_report_ms = true,
					 .report_ms = REPORT_MS };
	char why[REASON_BYTES];
	uint32_t at;

	judge(rpc, call, hello, why);
	if (why[0] != '\0' || !greet(rpc, hello, why)) {
		refuse_hello(rpc, call, hello, why, &reply);
		rpc_reply(call, &reply);
		rpc_hello_reply_clear(&reply);
		return;
	}
	at = manager_find(rpc->manager, hello->name);
	rpc_call_name(call, hello->name);
	manager_hello(rpc->manager, at, hello->has_software ? hello->software : "");
	rpc_reply(call, &reply);
}

// --- the other calls ----------------------------------------------------------------------------

static void on_fetch(void *arg, struct rpc_call *call, const void *request)
{
	struct fabric_rpc *rpc = arg;
	const struct rpc_fetch *fetch = request;
	const struct generation running = generation_of(&fetch->running);
	const struct generation prepared = generation_of(&fetch->prepared);
	const uint32_t at = caller(rpc, call, fetch->boot);
	struct generation generation;

	if (at == FABRIC_NONE)
		return;
	distribute_fetch(manager_distributor(rpc->manager), at, fetch->boot,
			 fetch->has_running ? &running : NULL,
			 fetch->has_prepared ? &prepared : NULL, manager_now(rpc->manager),
			 &generation);
	fabric_fetches_add(rpc->fetches, at, call, fetch->wait_ms);
	manager_progress(rpc->manager);
}

static void on_fetch_gone(void *arg, struct rpc_call *call)
{
	struct fabric_rpc *rpc = arg;

	fabric_fetches_forget(rpc->fetches, call);
}

static void on_ack(void *arg, struct rpc_call *call, const void *request)
{
	struct fabric_rpc *rpc = arg;
	const struct rpc_ack *ack = request;
	const struct generation generation = generation_of(&ack->generation);
	const struct rpc_ack_reply reply = { .has_epoch = true,
					     .epoch = manager_distributor(rpc->manager)->epoch };
	const uint32_t at = caller(rpc, call, ack->boot);
	const int error = (int)ack->error;
	char text[JOURNAL_DETAIL_BYTES];

	if (at == FABRIC_NONE)
		return;
	if (ack->step < FABRIC_STEP_PREPARE || ack->step > FABRIC_STEP_FORGET) {
		rpc_refuse(call, 400, "no such step");
		return;
	}
	if (error != 0) {
		snprintf(text, sizeof(text), "%s", ack->has_reason ? ack->reason : strerror(error));
		manager_journal_of(rpc->manager, at, JOURNAL_SWITCH_REFUSED, name_of(rpc, at),
				   text);
	}
	distribute_ack(manager_distributor(rpc->manager), at, ack->boot,
		       (enum distribute_step)ack->step, &generation, error,
		       manager_now(rpc->manager));
	rpc_reply(call, &reply);
	manager_progress(rpc->manager);
}

static void take_event(struct fabric_rpc *rpc, uint32_t at, uint64_t boot,
		       const struct rpc_event *event)
{
	const bool up = event->kind == FABRIC_EVENT_LINK_UP;

	if ((up || event->kind == FABRIC_EVENT_LINK_DOWN) && event->port <= UINT16_MAX)
		manager_link_event(rpc->manager, at, boot, event->sequence, (uint16_t)event->port,
				   up);
}

// What a report has for each part of the manager.
static void take_report(struct fabric_rpc *rpc, uint32_t at, const struct rpc_report *report)
{
	for (uint32_t i = 0; i < report->events_count; i++)
		take_event(rpc, at, report->boot, &report->events[i]);
}

static void on_report(void *arg, struct rpc_call *call, const void *request)
{
	struct fabric_rpc *rpc = arg;
	const struct rpc_report *report = request;
	const uint32_t at = caller(rpc, call, report->boot);
	struct rpc_report_reply reply = { .has_epoch = true,
					  .epoch = manager_distributor(rpc->manager)->epoch,
					  .has_sequence = true };
	const struct manager_switch *sw;

	if (at == FABRIC_NONE)
		return;
	distribute_heard(manager_distributor(rpc->manager), at, report->boot,
			 manager_now(rpc->manager));
	take_report(rpc, at, report);
	if (rpc->report != NULL && rpc->report(rpc->report_arg, at, report))
		reply.again = reply.has_again = true;
	sw = &manager_view(rpc->manager)->switches[at];
	reply.sequence = sw->boot == report->boot ? sw->event_sequence : 0;
	rpc_reply(call, &reply);
	manager_progress(rpc->manager);
}

// --- opening ------------------------------------------------------------------------------------

static const struct rpc_method methods[] = {
	{ "hello", &rpc_hello_message, &rpc_hello_reply_message, on_hello, NULL },
	{ "fetch", &rpc_fetch_message, &rpc_fetch_reply_message, on_fetch, on_fetch_gone },
	{ "ack", &rpc_ack_message, &rpc_ack_reply_message, on_ack, NULL },
	{ "report", &rpc_report_message, &rpc_report_reply_message, on_report, NULL },
};

static void on_news(void *arg)
{
	struct fabric_rpc *rpc = arg;

	fabric_fetches_answer(rpc->fetches);
}

struct fabric_rpc *fabric_rpc_open(struct event_base *base, struct manager *manager,
				   const struct fabric_rpc_options *options)
{
	const struct rpc_server_options server = { .socket_path = options->socket_path,
						   .address = options->address,
						   .tls = options->tls,
						   .connection_max = options->connection_max,
						   .peer_connection_max = PEER_CONNECTIONS };
	struct fabric_rpc *rpc = calloc(1, sizeof(*rpc));

	if (rpc == NULL)
		return NULL;
	rpc->manager = manager;
	rpc->report = options->report;
	rpc->report_arg = options->report_arg;
	rpc->fetches = fabric_fetches_open(base, manager);
	if (rpc->fetches != NULL)
		rpc->server = rpc_server_open(base, &server, methods,
					      sizeof(methods) / sizeof(methods[0]), rpc);
	if (rpc->server == NULL) {
		fabric_rpc_close(rpc);
		return NULL;
	}
	manager_on_news(manager, on_news, rpc);
	return rpc;
}

void fabric_rpc_close(struct fabric_rpc *rpc)
{
	if (rpc == NULL)
		return;
	manager_on_news(rpc->manager, NULL, NULL);
	rpc_server_close(rpc->server);
	fabric_fetches_close(rpc->fetches);
	free(rpc);
}

int fabric_rpc_read_revoked(struct fabric_rpc *rpc)
{
	return rpc_server_read_revoked(rpc->server);
}

uint16_t fabric_rpc_port(const struct fabric_rpc *rpc)
{
	return rpc_server_port(rpc->server);
}
