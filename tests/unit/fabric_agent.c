// SPDX-License-Identifier: BSD-3-Clause
//
// A managed switch talks to a manager of a few lines, over the real transport: it says who it is,
// takes tables in two steps, tells about links while the long poll waits, and is the same after its
// restart. Every wait is bounded by GUARD_S.

#include "dataplane/fabric_agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "schema/fabric.gen.h"
#include "schema/fabric.h"
#include "sys/rpc_server.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { GUARD_S = 20, CONNECTIONS = 2, EPOCH = 7, PORTS = 2, PATH_BYTES = 64, TABLE_MAX = 256 };

static const char text[] = "name = \"leaf1\";\n"
			   "port = ( { name = \"Ethernet0\"; devargs = \"a\"; },\n"
			   "         { name = \"Ethernet4\"; devargs = \"b\"; } );\n";

// Everything that a manager and a switch know of each other.
struct scene {
	struct event_base *base;
	struct rpc_server *server;
	struct fabric_agent *agent;
	char dir[PATH_BYTES];
	char socket[PATH_BYTES + 16];
	char address[PATH_BYTES + 32];
	struct arena keep;
	uint8_t routes[2][TABLE_MAX]; // two tables, and what makes the second of the first
	uint8_t delta[TABLE_MAX];
	uint32_t size[2];
	uint32_t delta_size;
	uint64_t hash[2];
	// The manager.
	uint32_t hellos, fetches, acks, reports;
	struct rpc_hello hello; // the last, without its texts
	struct rpc_fetch fetch;
	struct rpc_ack ack;
	struct rpc_call *waiting; // the poll, while nothing is answered
	uint64_t events;          // that were taken
	bool up[PORTS];
	bool told[PORTS];
	bool refuses;
	// The switch.
	struct fabric_tables *running;
	uint32_t checks;
	int check_error, use_error;
	bool usable[PORTS];
	uint32_t told_more, answered, forgotten; // calls about what else it tells
};

// --- the switch ---------------------------------------------------------------------------------

static int check(void *arg, const struct fabric_tables *tables, FILE *errors)
{
	struct scene *s = arg;

	s->checks++;
	cr_assert_eq(tables->config->port_count, PORTS);
	if (s->check_error != 0)
		fputs("no room for this\n", errors);
	return s->check_error;
}

static int use(void *arg, struct fabric_tables *tables, FILE *errors)
{
	struct scene *s = arg;

	if (s->use_error != 0)
		return s->use_error;
	fabric_tables_free(s->running);
	s->running = tables;
	return 0;
}

static const struct fabric_tables *running(void *arg)
{
	return ((struct scene *)arg)->running;
}

static bool usable(void *arg, uint32_t port)
{
	return ((struct scene *)arg)->usable[port];
}

// It has nothing else to tell, and counts who was told of it.
static int tell_more(void *arg, struct rpc_report *report)
{
	((struct scene *)arg)->told_more++;
	return 0;
}

static void answered(void *arg, bool again)
{
	struct scene *s = arg;

	cr_assert(!again);
	s->answered++;
}

static void forget(void *arg)
{
	((struct scene *)arg)->forgotten++;
}

static const struct fabric_switch calls = {
	check, use, running, usable, tell_more, answered, forget,
};

static void start_agent(struct scene *s)
{
	const struct fabric_agent_options options = {
		.name = "leaf1", .address = s->address, .state_dir = s->dir, .sw = &calls, .arg = s
	};

	s->agent = fabric_agent_open(s->base, &options);
	cr_assert_not_null(s->agent);
}

// --- the manager --------------------------------------------------------------------------------

static void on_hello(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;
	const struct rpc_hello_reply reply = { .version = s->refuses ? 0 : FABRIC_VERSION,
					       .has_version = true,
					       .epoch = EPOCH,
					       .has_epoch = true,
					       .report_ms = 60000,
					       .has_report_ms = true,
					       .refusal = (char[]){ "who are you?" },
					       .has_refusal = s->refuses };

	s->hello = *(const struct rpc_hello *)request;
	cr_expect_str_eq(s->hello.name, "leaf1");
	s->hellos++;
	rpc_reply(call, &reply);
	event_base_loopbreak(s->base);
}

static void on_fetch(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;

	s->fetch = *(const struct rpc_fetch *)request;
	s->waiting = call;
	s->fetches++;
	event_base_loopbreak(s->base);
}

static void on_fetch_gone(void *arg, struct rpc_call *call)
{
	((struct scene *)arg)->waiting = NULL;
}

static void on_ack(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;
	const struct rpc_ack_reply reply = { .epoch = EPOCH, .has_epoch = true };

	s->ack = *(const struct rpc_ack *)request;
	s->acks++;
	rpc_reply(call, &reply);
	event_base_loopbreak(s->base);
}

static void on_report(void *arg, struct rpc_call *call, const void *request)
{
	struct scene *s = arg;
	const struct rpc_report *report = request;
	struct rpc_report_reply reply = { .epoch = EPOCH, .has_epoch = true, .has_sequence = true };

	for (uint32_t i = 0; i < report->events_count; i++) {
		const struct rpc_event *event = &report->events[i];

		cr_assert_gt(event->sequence, s->events);
		cr_assert_lt(event->port, PORTS);
		s->events = event->sequence;
		s->told[event->port] = true;
		s->up[event->port] = event->kind == FABRIC_EVENT_LINK_UP;
	}
	s->reports++;
	reply.sequence = s->events;
	rpc_reply(call, &reply);
	event_base_loopbreak(s->base);
}

static const struct rpc_method methods[] = {
	{ "hello", &rpc_hello_message, &rpc_hello_reply_message, on_hello, NULL },
	{ "fetch", &rpc_fetch_message, &rpc_fetch_reply_message, on_fetch, on_fetch_gone },
	{ "ack", &rpc_ack_message, &rpc_ack_reply_message, on_ack, NULL },
	{ "report", &rpc_report_message, &rpc_report_reply_message, on_report, NULL },
};

static void start_manager(struct scene *s)
{
	const struct rpc_server_options options = {
		.socket_path = s->socket,
		.connection_max = 8,
		.peer_connection_max = 8,
	};

	s->server = rpc_server_open(s->base, &options, methods, TABLE_COUNT(methods), s);
	cr_assert_not_null(s->server);
}

static void add_table(struct rpc_fetch_reply *reply, uint32_t kind, uint64_t hash, uint64_t base,
		      const void *data, size_t size)
{
	struct rpc_table *table = rpc_fetch_reply_add_tables(reply);

	table->kind = kind;
	table->version = 1;
	table->hash = hash;
	table->base = base;
	table->has_base = base != 0;
	table->has_kind = table->has_version = table->has_hash = true;
	cr_assert_eq(rpc_table_set_data(table, data, size), 0);
}

// Answers the poll. `tables` is 1: routes and text, whole; 2: a change of routes.
static void answer(struct scene *s, enum fabric_step step, uint64_t number, uint64_t hash,
		   uint32_t tables)
{
	struct rpc_fetch_reply reply = {
		.epoch = EPOCH,
		.has_epoch = true,
		.step = step,
		.has_step = true,
		.generation = { EPOCH, true, number, true, hash, true },
		.has_generation = true,
	};

	if (tables == 1) {
		add_table(&reply, FABRIC_TABLE_ROUTES, s->hash[0], 0, s->routes[0], s->size[0]);
		add_table(&reply, FABRIC_TABLE_CONFIG, hash_bytes(text, strlen(text)), 0, text,
			  strlen(text));
	} else if (tables == 2) {
		add_table(&reply, FABRIC_TABLE_ROUTES, s->hash[1], s->hash[0], s->delta,
			  s->delta_size);
	}
	cr_assert_not_null(s->waiting);
	rpc_reply(s->waiting, &reply);
	s->waiting = NULL;
	rpc_fetch_reply_clear(&reply);
}

// --- both ---------------------------------------------------------------------------------------

// Runs the loop until the counter of the manager's is `count`.
static void wait_for(struct scene *s, const uint32_t *counter, uint32_t count)
{
	const struct timeval guard = { .tv_sec = GUARD_S };

	while (*counter < count) {
		event_base_loopexit(s->base, &guard);
		event_base_dispatch(s->base);
		cr_assert(event_base_got_break(s->base), "nothing happened");
	}
}

// Two tables of switch 0 of three in a ring: edge 1 by one link, and by both.
static void make_tables(struct scene *s)
{
	static const uint32_t cables[][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	const struct plan_hop hops[] = { { 0, 1 }, { 1, 1 } };
	struct packed_table table[2];
	struct packed_bytes delta;
	struct graph g;
	struct plan plan;

	graph_cables(&g, 3, cables, 3, 3, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(plan_group(&plan, hops, i + 1, 0, plan_rows(&plan, 1)), 0);
		cr_assert_eq(packed_table_of(&g.topo, &plan, 0, &g.keep, &g.scratch, &table[i]), 0);
		packed_table_encode(&table[i], s->routes[i]);
		s->size[i] = table[i].size;
		s->hash[i] = table[i].hash;
	}
	cr_assert_eq(packed_delta_encode(&table[0], &table[1], &g.keep, &g.scratch, &delta), 0);
	memcpy(s->delta, delta.data, delta.size);
	s->delta_size = delta.size;
	graph_free(&g);
}

static void start(struct scene *s)
{
	char own[PATH_BYTES + 16];

	*s = (struct scene){ .base = event_base_new(), .dir = "/tmp/weft-agent-XXXXXX" };
	signal(SIGPIPE, SIG_IGN);
	cr_assert_not_null(mkdtemp(s->dir));
	snprintf(own, sizeof(own), "%s/leaf1", s->dir);
	cr_assert_eq(mkdir(own, 0755), 0);
	snprintf(s->socket, sizeof(s->socket), "%s/fabric.sock", s->dir);
	snprintf(s->address, sizeof(s->address), "unix:%s", s->socket);
	make_tables(s);
	start_manager(s);
	start_agent(s);
}

static void stop(struct scene *s)
{
	const struct fabric_record none = { 0 };
	char path[PATH_BYTES + 32];
	struct fabric_store store = { 0 };

	fabric_agent_close(s->agent);
	rpc_server_close(s->server);
	event_base_free(s->base);
	fabric_tables_free(s->running);
	cr_assert_eq(fabric_store_open(&store, s->dir, "leaf1"), 0);
	fabric_store_forget(&store, &none);
	snprintf(path, sizeof(path), "%s/leaf1/fabric/record", s->dir);
	unlink(path);
	rmdir(store.dir);
	snprintf(path, sizeof(path), "%s/leaf1", s->dir);
	rmdir(path);
	cr_expect_eq(rmdir(s->dir), 0, "files are left: %s", s->dir);
}

// Both steps of the first generation.
static void take_first(struct scene *s)
{
	wait_for(s, &s->fetches, 1);
	answer(s, FABRIC_STEP_PREPARE, 1, 11, 1);
	wait_for(s, &s->fetches, 2);
	answer(s, FABRIC_STEP_COMMIT, 1, 11, 0);
	wait_for(s, &s->fetches, 3);
	cr_assert_not_null(s->running);
}

Test(fabric_agent, two_steps)
{
	struct scene s;

	start(&s);
	wait_for(&s, &s.fetches, 1);
	cr_assert_eq(s.hellos, CONNECTIONS);
	cr_assert(!s.hello.has_running && !s.hello.has_prepared);
	cr_assert_eq(s.hello.table_version, PACKED_VERSION);
	cr_assert(!s.fetch.has_running && s.fetch.boot == s.hello.boot);
	answer(&s, FABRIC_STEP_PREPARE, 1, 11, 1);
	wait_for(&s, &s.fetches, 2);
	cr_assert_eq(s.checks, 1);
	cr_assert_null(s.running);
	cr_assert(s.fetch.has_prepared && s.fetch.prepared.number == 1);
	cr_assert_eq(s.fetch.epoch, EPOCH);
	answer(&s, FABRIC_STEP_COMMIT, 1, 11, 0);
	wait_for(&s, &s.fetches, 3);
	cr_assert(s.fetch.has_running && !s.fetch.has_prepared);
	cr_assert_eq(s.fetch.running.hash, 11);
	cr_assert_eq(s.running->routes.hash, s.hash[0]);
	cr_assert_str_eq(s.running->config->port[1].name, "Ethernet4");
	cr_assert_eq(s.acks, 0); // all went well
	stop(&s);
}

// What changes goes as a change, what stays is not sent.
Test(fabric_agent, change)
{
	struct scene s;

	start(&s);
	take_first(&s);
	answer(&s, FABRIC_STEP_PREPARE, 2, 22, 2);
	wait_for(&s, &s.fetches, 4);
	answer(&s, FABRIC_STEP_COMMIT, 2, 22, 0);
	wait_for(&s, &s.fetches, 5);
	cr_assert_eq(s.fetch.running.number, 2);
	cr_assert_eq(s.running->routes.hash, s.hash[1]);
	cr_assert_eq(s.running->config->port_count, PORTS);
	stop(&s);
}

// A change of something else is refused, and what runs stays.
Test(fabric_agent, change_of_nothing)
{
	struct scene s;

	start(&s);
	wait_for(&s, &s.fetches, 1);
	answer(&s, FABRIC_STEP_PREPARE, 2, 22, 2);
	wait_for(&s, &s.acks, 1);
	cr_assert_eq(s.ack.error, ESTALE);
	cr_assert_eq(s.ack.step, FABRIC_STEP_PREPARE);
	cr_assert_eq(s.ack.generation.number, 2);
	wait_for(&s, &s.fetches, 2);
	cr_assert(!s.fetch.has_prepared);
	stop(&s);
}

Test(fabric_agent, refused_by_the_switch)
{
	struct scene s;

	start(&s);
	s.check_error = -EINVAL;
	wait_for(&s, &s.fetches, 1);
	answer(&s, FABRIC_STEP_PREPARE, 1, 11, 1);
	wait_for(&s, &s.acks, 1);
	cr_assert_eq(s.ack.error, EINVAL);
	// It could be prepared, but not used.
	s.check_error = 0;
	s.use_error = -ENOMEM;
	wait_for(&s, &s.fetches, 2);
	answer(&s, FABRIC_STEP_PREPARE, 1, 11, 1);
	wait_for(&s, &s.fetches, 3);
	answer(&s, FABRIC_STEP_COMMIT, 1, 11, 0);
	wait_for(&s, &s.acks, 2);
	cr_assert_eq(s.ack.error, ENOMEM);
	cr_assert_eq(s.ack.step, FABRIC_STEP_COMMIT);
	wait_for(&s, &s.fetches, 4);
	cr_assert(!s.fetch.has_running);
	stop(&s);
}

Test(fabric_agent, forget)
{
	struct scene s;

	start(&s);
	wait_for(&s, &s.fetches, 1);
	answer(&s, FABRIC_STEP_PREPARE, 1, 11, 1);
	wait_for(&s, &s.fetches, 2);
	answer(&s, FABRIC_STEP_FORGET, 1, 11, 0);
	wait_for(&s, &s.fetches, 3);
	cr_assert(!s.fetch.has_prepared && !s.fetch.has_running);
	stop(&s);
}

// Links are told of at once, while the poll waits; each with a number of its own.
Test(fabric_agent, links)
{
	struct scene s;
	uint64_t before;

	start(&s);
	s.usable[0] = true;
	take_first(&s);
	while (!s.told[0] || !s.told[1])
		wait_for(&s, &s.reports, s.reports + 1);
	cr_assert(s.up[0] && !s.up[1]);
	before = s.events;
	s.usable[0] = false;
	fabric_agent_look(s.agent);
	wait_for(&s, &s.reports, s.reports + 1);
	cr_assert(!s.up[0]);
	cr_assert_eq(s.events, before + 1);
	// Reports carry what else there is to tell, and what was told is known to be.
	cr_assert_eq(s.told_more, s.reports);
	cr_assert_eq(s.answered, s.reports - 1); // the last answer is still on its way
	cr_assert_eq(s.forgotten, 1);            // before the first
	cr_assert_eq(s.fetches, 3);
	stop(&s);
}

// A manager that comes anew is told everything, and nothing is sent to the switch.
Test(fabric_agent, manager_restarts)
{
	struct fabric_agent_status status;
	struct scene s;

	start(&s);
	take_first(&s);
	while (!s.told[0] || !s.told[1])
		wait_for(&s, &s.reports, s.reports + 1);
	rpc_server_close(s.server);
	s.waiting = NULL;
	s.told[0] = s.told[1] = false;
	start_manager(&s);
	wait_for(&s, &s.hellos, 2 * CONNECTIONS);
	cr_assert(s.hello.has_running && s.hello.running.number == 1);
	while (!s.told[0] || !s.told[1])
		wait_for(&s, &s.reports, s.reports + 1);
	wait_for(&s, &s.fetches, 4);
	cr_assert_eq(s.checks, 1);
	fabric_agent_status(s.agent, &status);
	cr_assert(status.connected);
	cr_assert_eq(status.running.number, 1);
	cr_assert_eq(status.epoch, EPOCH);
	stop(&s);
}

// It comes back with what it had, as a later run.
Test(fabric_agent, switch_restarts)
{
	struct scene s;
	uint64_t boot;

	start(&s);
	take_first(&s);
	boot = s.hello.boot;
	fabric_agent_close(s.agent);
	start_agent(&s);
	wait_for(&s, &s.hellos, 2 * CONNECTIONS);
	cr_assert_gt(s.hello.boot, boot);
	cr_assert(s.hello.has_running && s.hello.running.hash == 11);
	cr_assert_eq(s.hello.epoch, EPOCH);
	// With what is on disk it could not start: then it does not run it.
	boot = s.hello.boot;
	fabric_agent_close(s.agent);
	fabric_tables_free(s.running);
	s.running = NULL;
	start_agent(&s);
	wait_for(&s, &s.hellos, 3 * CONNECTIONS);
	cr_assert_gt(s.hello.boot, boot);
	cr_assert(!s.hello.has_running);
	stop(&s);
}

Test(fabric_agent, refused_by_the_manager)
{
	struct fabric_agent_status status;
	struct scene s;

	start(&s);
	s.refuses = true;
	wait_for(&s, &s.hellos, 2); // it asks again
	fabric_agent_status(s.agent, &status);
	cr_assert(!status.connected);
	cr_assert_str_eq(status.error, "who are you?");
	cr_assert_eq(s.fetches, 0);
	s.refuses = false;
	wait_for(&s, &s.fetches, 1);
	fabric_agent_status(s.agent, &status);
	cr_assert(status.connected);
	cr_assert_str_eq(status.error, "");
	stop(&s);
}
