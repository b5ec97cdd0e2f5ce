// SPDX-License-Identifier: BSD-3-Clause
//
// Switches as RPC clients on the manager's unix socket: who is let in, what a fetch is answered and
// when, and what one switch can say about another (nothing).

#include "fabricmgr/net/fabric_rpc.h"

#include <dirent.h>
#include <errno.h>
#include <event2/buffer.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "fabric.gen.h"
#include "routing/packed.h"
#include "sys/rpc_client.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { PATH_BYTES = 128, LEAF1 = 0, LEAF2 = 1, SPINE1 = 4 };

static char dir[] = "/tmp/weft-fabric-rpc.XXXXXX";
static struct event_base *base;
static struct manager *manager;
static struct fabric_rpc *server;

static ns_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (ns_t){ (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec };
}

static const char *file_name(const char *name, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/%s", dir, name);
	return out;
}

static void set_up(void)
{
	char intent[PATH_BYTES], path[PATH_BYTES];
	const struct manager_options options = { .intent_path = file_name("lab.cfg", intent),
						 .state_dir = dir,
						 .clock = now };
	const struct fabric_rpc_options rpc = { .socket_path = path, .connection_max = 64 };
	FILE *file;

	signal(SIGPIPE, SIG_IGN);
	cr_assert_not_null(mkdtemp(dir));
	file = fopen(file_name("lab.cfg", intent), "w");
	fputs("name = \"lab\";\n"
	      "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 2; };\n",
	      file);
	fclose(file);
	base = event_base_new();
	manager = manager_open(base, &options, stderr);
	cr_assert_not_null(manager);
	file_name("fabricd.rpc", path);
	server = fabric_rpc_open(base, manager, &rpc);
	cr_assert_not_null(server);
}

static void clean_up(void)
{
	DIR *names = opendir(dir);
	const struct dirent *entry;

	fabric_rpc_close(server);
	manager_close(manager);
	event_base_free(base);
	while ((entry = readdir(names)) != NULL)
		unlinkat(dirfd(names), entry->d_name, 0);
	closedir(names);
	rmdir(dir);
}

TestSuite(fabric_rpc, .init = set_up, .fini = clean_up);

// --- calls --------------------------------------------------------------------------------------

// The reply of a call as a message of its own.
struct outcome {
	const struct rpc_message *type;
	void *message;
	bool done;
	int error;
};

static struct rpc_client *open_client(void)
{
	char address[PATH_BYTES];
	const struct rpc_client_options options = { .address = address, .timeout_ms = 20000 };
	struct rpc_client *client;

	snprintf(address, sizeof(address), "unix:%s/fabricd.rpc", dir);
	client = rpc_client_open(base, &options);
	cr_assert_not_null(client);
	return client;
}

static void on_done(void *arg, int error, const void *reply, const char *why)
{
	struct outcome *outcome = arg;
	struct evbuffer *copy = evbuffer_new();

	outcome->done = true;
	outcome->error = error;
	if (error == 0) {
		rpc_message_marshal(outcome->type, reply, copy);
		cr_assert_eq(rpc_message_unmarshal(outcome->type, outcome->message, copy), 0);
	}
	evbuffer_free(copy);
}

static void begin(struct rpc_client *client, const char *name, const struct rpc_message *type,
		  const void *request, const struct rpc_message *reply_type, void *reply,
		  struct outcome *outcome)
{
	const struct rpc_call_out call = { .name = name,
					   .request_type = type,
					   .request = request,
					   .reply_type = reply_type,
					   .done = on_done,
					   .arg = outcome };

	*outcome = (struct outcome){ .type = reply_type, .message = reply };
	cr_assert_eq(rpc_client_call(client, &call), 0);
}

static int finish(struct outcome *outcome)
{
	const ns_t end = ns_add(now(), 30000000000);

	while (!outcome->done) {
		cr_assert(ns_before(now(), end), "no answer");
		event_base_loop(base, EVLOOP_ONCE);
	}
	return outcome->error;
}

static struct rpc_hello_reply hello(struct rpc_client *client, const char *name, uint64_t boot,
				    uint32_t oldest, uint32_t newest)
{
	struct rpc_hello message = { .has_oldest_version = true,
				     .oldest_version = oldest,
				     .has_newest_version = true,
				     .newest_version = newest,
				     .has_table_version = true,
				     .table_version = PACKED_VERSION,
				     .has_boot = true,
				     .boot = boot,
				     .has_epoch = true };
	struct rpc_hello_reply reply = { 0 };
	struct outcome outcome;

	cr_assert_eq(rpc_hello_set_name(&message, name), 0);
	begin(client, "hello", &rpc_hello_message, &message, &rpc_hello_reply_message, &reply,
	      &outcome);
	cr_assert_eq(finish(&outcome), 0);
	rpc_hello_clear(&message);
	return reply;
}

static struct rpc_client *open_switch(const char *name)
{
	struct rpc_client *client = open_client();
	struct rpc_hello_reply reply = hello(client, name, 1, 1, FABRIC_VERSION);

	cr_assert_eq(reply.version, FABRIC_VERSION, "%s", reply.refusal);
	return client;
}

static void begin_fetch(struct rpc_client *client, uint32_t wait_ms,
			const struct rpc_generation *prepared, struct rpc_fetch_reply *reply,
			struct outcome *outcome)
{
	struct rpc_fetch message = { .has_boot = true,
				     .boot = 1,
				     .has_epoch = true,
				     .has_wait_ms = true,
				     .wait_ms = wait_ms };

	if (prepared != NULL) {
		message.has_prepared = true;
		message.prepared = *prepared;
	}
	begin(client, "fetch", &rpc_fetch_message, &message, &rpc_fetch_reply_message, reply,
	      outcome);
}

static int report(struct rpc_client *client, uint64_t boot, uint64_t sequence, uint32_t port,
		  struct rpc_report_reply *reply)
{
	struct rpc_report message = { .has_boot = true, .boot = boot, .has_epoch = true };
	struct rpc_event *event = rpc_report_add_events(&message);
	struct outcome outcome;
	int error;

	event->has_sequence = event->has_kind = event->has_port = true;
	event->sequence = sequence;
	event->kind = FABRIC_EVENT_LINK_DOWN;
	event->port = port;
	begin(client, "report", &rpc_report_message, &message, &rpc_report_reply_message, reply,
	      &outcome);
	error = finish(&outcome);
	rpc_report_clear(&message);
	return error;
}

// --- tests --------------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *name;
	uint32_t oldest, newest;
	const char *says; // NULL: it is let in
} greetings[] = {
	{ "a switch of the fabric", "leaf1", 1, FABRIC_VERSION, NULL },
	{ "a newer one, that speaks the old version too", "leaf1", 1, 99, NULL },
	{ "one that is not of the fabric", "leaf9", 1, 1, "the fabric has no switch of this name" },
	{ "one that is too new", "leaf1", 98, 99, "it speaks versions 98 to 99" },
};

TABLE_TEST(fabric_rpc, hello, row, greetings)
{
	struct rpc_client *client = open_client();
	struct rpc_hello_reply reply = hello(client, row->name, 1, row->oldest, row->newest);

	cr_expect_eq(reply.epoch, 1);
	cr_expect_eq(reply.version, row->says == NULL ? FABRIC_VERSION : 0, "%s", row->what);
	cr_expect_eq(reply.has_refusal, row->says != NULL, "%s", row->what);
	if (row->says != NULL)
		cr_expect_not_null(strstr(reply.refusal, row->says), "%s: %s", row->what,
				   reply.refusal);
	rpc_hello_reply_clear(&reply);
	rpc_client_close(client);
}

Test(fabric_rpc, who_has_not_said_hello_gets_nothing)
{
	struct rpc_client *client = open_client();
	struct rpc_fetch_reply reply = { 0 };
	struct rpc_report_reply reported = { 0 };
	struct outcome outcome;

	begin_fetch(client, 0, NULL, &reply, &outcome);
	cr_expect_eq(finish(&outcome), -EPROTO);
	cr_expect_eq(report(client, 1, 1, 2, &reported), -EPROTO);
	cr_expect_not(manager_view(manager)->links[0].known);
	rpc_client_close(client);
}

static const struct rpc_table *table_of(const struct rpc_fetch_reply *reply, uint32_t kind)
{
	for (uint32_t i = 0; i < reply->tables_count; i++) {
		if (reply->tables[i].kind == kind)
			return &reply->tables[i];
	}
	cr_assert_fail("no table of kind %u", kind);
	return NULL;
}

Test(fabric_rpc, a_fetch_brings_tables_and_then_the_commit)
{
	struct rpc_client *leaf = open_switch("leaf1");
	struct rpc_fetch_reply reply = { 0 };
	struct packed_table packed;
	struct arena keep = graph_arena();
	struct outcome outcome;
	struct rpc_generation prepared;
	const struct rpc_table *routes, *config;

	begin_fetch(leaf, 10000, NULL, &reply, &outcome);
	cr_assert_eq(finish(&outcome), 0);
	cr_assert_eq(reply.step, FABRIC_STEP_PREPARE);
	cr_assert(reply.has_generation);
	routes = table_of(&reply, FABRIC_TABLE_ROUTES);
	config = table_of(&reply, FABRIC_TABLE_CONFIG);
	cr_expect_eq(routes->hash, hash_bytes(routes->data.data, routes->data.size));
	cr_expect_eq(config->hash, hash_bytes(config->data.data, config->data.size));
	cr_expect_eq(packed_table_decode(routes->data.data, routes->data.size, &keep, &packed), 0);
	cr_expect_eq(packed.plan.edge_count, 4);
	prepared = reply.generation;
	rpc_fetch_reply_clear(&reply);

	begin_fetch(leaf, 10000, &prepared, &reply, &outcome);
	cr_assert_eq(finish(&outcome), 0);
	cr_expect_eq(reply.step, FABRIC_STEP_COMMIT);
	cr_expect_eq(reply.generation.hash, prepared.hash);
	cr_expect_eq(reply.tables_count, 0);
	rpc_fetch_reply_clear(&reply);
	rpc_client_close(leaf);
}

Test(fabric_rpc, a_new_fetch_takes_the_place_of_the_old)
{
	struct rpc_client *first = open_switch("leaf1");
	struct rpc_client *second = open_switch("leaf1");
	struct rpc_fetch_reply replies[2] = { 0 };
	struct outcome outcomes[2];

	while (manager_view(manager)->planner == NULL)
		event_base_loop(base, EVLOOP_ONCE);
	manager_distributor(manager)->at[LEAF1].failed = true; // there is nothing for it
	begin_fetch(first, 10000, NULL, &replies[0], &outcomes[0]);
	event_base_loop(base, EVLOOP_NONBLOCK);
	begin_fetch(second, 1, NULL, &replies[1], &outcomes[1]);
	cr_expect_eq(finish(&outcomes[0]), 0);
	cr_expect_eq(replies[0].step, FABRIC_STEP_NONE);
	cr_expect_eq(finish(&outcomes[1]), 0);
	cr_expect_eq(replies[1].step, FABRIC_STEP_NONE);
	rpc_client_close(first);
	rpc_client_close(second);
}

Test(fabric_rpc, events_are_taken_once_and_only_about_oneself)
{
	struct rpc_client *leaf = open_switch("leaf1");
	struct rpc_report_reply reply = { 0 };
	const struct topo *topo = &manager_view(manager)->source->graph.topo;
	const uint32_t link = topo_link_at(topo, LEAF1, 2);

	cr_assert_neq(link, TOPO_NONE);
	cr_assert_eq(report(leaf, 1, 5, 2, &reply), 0);
	cr_expect_eq(reply.sequence, 5);
	cr_expect(manager_view(manager)->links[link].known);
	cr_expect_not(manager_view(manager)->links[link].up);
	cr_expect_not(manager_view(manager)->links[topo->link_peer[link]].known,
		      "what the other end says is the other's");
	// An older one, and ports that there are not.
	cr_assert_eq(report(leaf, 1, 4, 3, &reply), 0);
	cr_expect_eq(reply.sequence, 5);
	cr_expect_not(manager_view(manager)->links[topo_link_at(topo, LEAF1, 3)].known);
	cr_assert_eq(report(leaf, 1, 6, 60000, &reply), 0);
	cr_assert_eq(report(leaf, 1, 7, UINT32_MAX, &reply), 0);
	cr_expect_eq(report(leaf, 2, 1, 2, &reply), -EPROTO, "another run must say hello first");
	for (uint32_t i = 0; i < topo->link_count; i++) {
		if (topo->link_switch[i] != LEAF1)
			cr_expect_not(manager_view(manager)->links[i].known);
	}
	rpc_client_close(leaf);
}

Test(fabric_rpc, a_connection_is_one_switch)
{
	struct rpc_client *leaf = open_switch("leaf1");
	struct rpc_hello_reply reply = hello(leaf, "leaf2", 1, 1, 1);

	cr_expect_eq(reply.version, 0);
	cr_expect_not_null(strstr(reply.refusal, "it calls itself leaf2"), "%s", reply.refusal);
	cr_expect_eq(manager_distributor(manager)->at[LEAF2].life, DISTRIBUTE_UNSEEN);
	rpc_hello_reply_clear(&reply);
	rpc_client_close(leaf);
}
