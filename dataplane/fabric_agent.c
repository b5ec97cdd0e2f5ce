// SPDX-License-Identifier: BSD-3-Clause
//
// Two clients: one has the long poll, the other all else, so that a link is told of while the poll
// waits. One call of the follower's is under way at a time; what it says next is on disk before.

#include "dataplane/fabric_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/util.h>

#include "base/hash.h"
#include "dataplane/fabric_events.h"
#include "dataplane/fabric_receive.h"
#include "dataplane/fabric_say.h"
#include "schema/fabric.gen.h"
#include "schema/fabric.h"
#include "sys/lines.h"
#include "sys/log.h"

enum {
	TALK_MS = 5000,
	FETCH_MS = FABRIC_WAIT_MS_MAX + TALK_MS,
	BUSY_MS = 10, // until the other call has ended
	REPORT_MIN_MS = 100,
	REPORT_MAX_MS = 60000,
	RETRY_MS = 200, // of a report that failed
	REASON_BYTES = 200,
};

struct fabric_agent {
	struct fabric_switch sw;
	void *arg;
	char name[CONFIG_NAME_BYTES];
	char address[CONFIG_TEXT_BYTES];
	struct fabric_store store;
	struct fabric_record record; // as it is to be
	struct fabric_record stored; // as it is on disk
	struct follower follower;
	struct fabric_events events;
	uint64_t port_names; // hash of those that events are about
	struct rpc_client *poll;
	struct rpc_client *talk;
	struct event *next_call;
	struct event *next_report;
	bool connected;
	bool calling; // what the follower says is on its way
	bool reporting;
	bool talk_unknown; // its connection may have been lost
	uint32_t report_ms;
	uint64_t since_s;          // connected, or not
	char reason[REASON_BYTES]; // of the ack that is due
	char error[RPC_REASON_BYTES];
	uint64_t error_s;
};

static void go_on(struct fabric_agent *agent);

static uint64_t seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec;
}

static void start_timer(struct event *timer, uint64_t ns)
{
	const struct timeval time = { .tv_sec = (time_t)(ns / 1000000000),
				      .tv_usec = (suseconds_t)(ns / 1000 % 1000000) };

	evtimer_add(timer, &time);
}

static void start_timer_ms(struct event *timer, uint32_t ms)
{
	start_timer(timer, ms * 1000000ull);
}

static void note_error(struct fabric_agent *agent, const char *why)
{
	snprintf(agent->error, sizeof(agent->error), "%s", why);
	agent->error_s = seconds(CLOCK_MONOTONIC);
}

// The manager is not there, or not to be followed. The first of failures that are alike is said.
static void lose(struct fabric_agent *agent, const char *why)
{
	if (agent->connected || strcmp(agent->error, why) != 0)
		log_warn("%s: fabric manager at %s: %s; it goes on with generation %llu",
			 agent->name, agent->address, why,
			 (unsigned long long)agent->record.running.generation.number);
	if (agent->connected)
		agent->since_s = seconds(CLOCK_MONOTONIC);
	agent->connected = false;
	note_error(agent, why);
}

static void fail(struct fabric_agent *agent, const char *why)
{
	follower_failed(&agent->follower);
	lose(agent, why);
}

// The follower has judged an answer.
static void look_at_answer(struct fabric_agent *agent)
{
	if (!agent->follower.greeted)
		lose(agent, "another manager has come after it");
}

// --- what is on disk --------------------------------------------------------------------------

static int save(struct fabric_agent *agent)
{
	int rc;

	agent->record.epoch = agent->follower.state.epoch;
	if (memcmp(&agent->record, &agent->stored, sizeof(agent->record)) == 0)
		return 0;
	rc = fabric_store_write(&agent->store, &agent->record);
	if (rc == 0)
		agent->stored = agent->record;
	else
		log_err("%s: %s: the state of the fabric cannot be written: %s", agent->name,
			agent->store.dir, strerror(-rc));
	return rc;
}

// --- what is asked for ------------------------------------------------------------------------

static int prepare(struct fabric_agent *agent, const struct follower_generation *generation,
		   const struct rpc_fetch_reply *reply, FILE *errors)
{
	struct fabric_tables *tables = NULL;
	struct fabric_set set = { 0 };
	int rc = fabric_receive(&agent->store, agent->sw.running(agent->arg), generation, reply,
				&set, errors);

	memset(&agent->record.prepared, 0, sizeof(agent->record.prepared));
	if (rc == 0)
		rc = fabric_tables_read(&agent->store, &set, &tables, errors);
	if (rc == 0)
		rc = agent->sw.check(agent->arg, tables, errors);
	fabric_tables_free(tables);
	if (rc == 0)
		agent->record.prepared = set;
	return rc != 0 ? rc : save(agent);
}

static int commit(struct fabric_agent *agent, FILE *errors)
{
	const struct fabric_record before = agent->record;
	struct fabric_tables *tables;
	int rc = fabric_tables_read(&agent->store, &agent->record.prepared, &tables, errors);

	if (rc != 0)
		return rc;
	agent->record.running = agent->record.prepared;
	memset(&agent->record.prepared, 0, sizeof(agent->record.prepared));
	rc = save(agent);
	if (rc == 0)
		rc = agent->sw.use(agent->arg, tables, errors);
	if (rc != 0) {
		agent->record = before;
		fabric_tables_free(tables);
	}
	return rc;
}

static int do_task(struct fabric_agent *agent, enum follower_task task,
		   const struct follower_generation *generation,
		   const struct rpc_fetch_reply *reply, FILE *errors)
{
	switch (task) {
	case FOLLOWER_NOTHING: return 0;
	case FOLLOWER_STORE: return prepare(agent, generation, reply, errors);
	case FOLLOWER_APPLY: return commit(agent, errors);
	case FOLLOWER_FORGET:
		memset(&agent->record.prepared, 0, sizeof(agent->record.prepared));
		return save(agent);
	case FOLLOWER_RENAME: agent->record.running.generation = *generation; return save(agent);
	}
	return -EINVAL;
}

static void say_done(const struct fabric_agent *agent, enum follower_task task,
		     const struct follower_generation *generation, int rc)
{
	if (rc != 0)
		log_err("%s: generation %llu of the fabric is not taken: %s", agent->name,
			(unsigned long long)generation->number, agent->reason);
	else if (task == FOLLOWER_APPLY)
		log_info("%s: generation %llu of the fabric is in use", agent->name,
			 (unsigned long long)generation->number);
}

static void run_task(struct fabric_agent *agent, enum follower_task task,
		     const struct follower_generation *generation,
		     const struct rpc_fetch_reply *reply)
{
	struct lines lines;
	int rc;

	if (task == FOLLOWER_NOTHING)
		return;
	if (!lines_open(&lines)) {
		follower_done(&agent->follower, task, generation, ENOMEM);
		return;
	}
	rc = do_task(agent, task, generation, reply, lines.out);
	// The first line is the reason, in its words if it has any.
	snprintf(agent->reason, sizeof(agent->reason), "%.*s",
		 (int)strcspn(lines_text(&lines), "\n"), lines_text(&lines));
	if (agent->reason[0] == '\0')
		snprintf(agent->reason, sizeof(agent->reason), "%s", strerror(-rc));
	if (rc != 0)
		lines_log(&lines);
	lines_close(&lines);
	follower_done(&agent->follower, task, generation, rc);
	// What is prepared may have become of no use by this.
	if (agent->follower.state.prepared.number == 0)
		memset(&agent->record.prepared, 0, sizeof(agent->record.prepared));
	if (save(agent) == 0)
		fabric_store_forget(&agent->store, &agent->record);
	say_done(agent, task, generation, rc);
	fabric_agent_look(agent);
}

// --- calls ------------------------------------------------------------------------------------

// A call of the follower's. One that cannot be made is one that failed.
static void call(struct fabric_agent *agent, struct rpc_client *client,
		 const struct rpc_call_out *out)
{
	const int rc = rpc_client_call(client, out);

	agent->calling = rc == 0;
	if (rc == -EBUSY) {
		start_timer_ms(agent->next_call, BUSY_MS);
	} else if (rc != 0) {
		fail(agent, strerror(-rc));
		go_on(agent);
	}
}

static void call_hello(struct fabric_agent *agent, struct rpc_client *client, rpc_done *done)
{
	const struct rpc_hello hello = fabric_say_hello(&agent->follower, agent->name);

	call(agent, client,
	     &(struct rpc_call_out){ .name = "hello",
				     .request_type = &rpc_hello_message,
				     .request = &hello,
				     .reply_type = &rpc_hello_reply_message,
				     .done = done,
				     .arg = agent });
}

static void greeted(struct fabric_agent *agent, uint32_t report_ms)
{
	log_info("%s: fabric manager at %s: connected, epoch %llu", agent->name, agent->address,
		 (unsigned long long)agent->follower.state.epoch);
	agent->error[0] = '\0';
	agent->connected = true;
	agent->talk_unknown = false;
	agent->since_s = seconds(CLOCK_MONOTONIC);
	agent->report_ms = report_ms < REPORT_MIN_MS ? REPORT_MIN_MS :
			   report_ms > REPORT_MAX_MS ? REPORT_MAX_MS :
						       report_ms;
	agent->sw.forget(agent->arg);
	fabric_events_tell_all(&agent->events);
	fabric_agent_look(agent);
	start_timer_ms(agent->next_report, 0);
}

// Whether the answer to a hello is that of a manager to follow.
static bool take_hello(struct fabric_agent *agent, int error, const struct rpc_hello_reply *reply,
		       const char *why)
{
	const char *refused;

	if (error != 0) {
		fail(agent, why);
		return false;
	}
	if (follower_hello_reply(&agent->follower, reply->epoch, reply->version, &refused))
		return true;
	lose(agent, reply->has_refusal ? reply->refusal : refused);
	return false;
}

static void on_poll_hello(void *arg, int error, const void *reply, const char *why)
{
	struct fabric_agent *agent = arg;

	agent->calling = false;
	if (take_hello(agent, error, reply, why))
		greeted(agent, ((const struct rpc_hello_reply *)reply)->report_ms);
	go_on(agent);
}

// Who is at the other end of a connection, the manager knows by its hello: each has one.
static void on_talk_hello(void *arg, int error, const void *reply, const char *why)
{
	struct fabric_agent *agent = arg;

	agent->calling = false;
	if (take_hello(agent, error, reply, why))
		call_hello(agent, agent->poll, on_poll_hello);
	else
		go_on(agent);
}

static void on_fetch(void *arg, int error, const void *body, const char *why)
{
	struct fabric_agent *agent = arg;
	const struct rpc_fetch_reply *reply = body;
	struct follower_generation generation;
	enum follower_task task;

	agent->calling = false;
	if (error != 0) {
		fail(agent, why);
		go_on(agent);
		return;
	}
	generation = (struct follower_generation){ reply->generation.epoch,
						   reply->generation.number,
						   reply->generation.hash };
	task = follower_fetch_reply(&agent->follower, reply->epoch, reply->step,
				    reply->has_generation ? &generation : NULL);
	look_at_answer(agent);
	run_task(agent, task, &generation, reply);
	go_on(agent);
}

static void ask(struct fabric_agent *agent)
{
	const struct rpc_fetch fetch = fabric_say_fetch(&agent->follower);

	call(agent, agent->poll,
	     &(struct rpc_call_out){ .name = "fetch",
				     .request_type = &rpc_fetch_message,
				     .request = &fetch,
				     .reply_type = &rpc_fetch_reply_message,
				     .timeout_ms = FETCH_MS,
				     .done = on_fetch,
				     .arg = agent });
}

static void on_ack(void *arg, int error, const void *body, const char *why)
{
	struct fabric_agent *agent = arg;
	const struct rpc_ack_reply *reply = body;

	agent->calling = false;
	if (error != 0) {
		fail(agent, why);
	} else {
		follower_ack_reply(&agent->follower, reply->epoch);
		look_at_answer(agent);
	}
	go_on(agent);
}

static void acknowledge(struct fabric_agent *agent)
{
	const struct rpc_ack ack = fabric_say_ack(&agent->follower, agent->reason);

	call(agent, agent->talk,
	     &(struct rpc_call_out){ .name = "ack",
				     .request_type = &rpc_ack_message,
				     .request = &ack,
				     .reply_type = &rpc_ack_reply_message,
				     .done = on_ack,
				     .arg = agent });
}

// Says what is to be said next, or waits until it may.
static void speak(struct fabric_agent *agent)
{
	if (agent->calling)
		return;
	switch (follower_next(&agent->follower)) {
	case FOLLOWER_HELLO: call_hello(agent, agent->talk, on_talk_hello); break;
	case FOLLOWER_FETCH: ask(agent); break;
	case FOLLOWER_ACK: acknowledge(agent); break;
	}
}

static void on_next_call(evutil_socket_t fd, short what, void *arg)
{
	speak(arg);
}

static void go_on(struct fabric_agent *agent)
{
	uint32_t dice;

	if (save(agent) != 0)
		fail(agent, "its state cannot be written");
	evutil_secure_rng_get_bytes(&dice, sizeof(dice));
	start_timer(agent->next_call, follower_wait_ns(&agent->follower, dice));
}

// --- reports ----------------------------------------------------------------------------------

static uint32_t events_due(const struct fabric_agent *agent)
{
	struct fabric_link_event events[FABRIC_EVENTS_MAX];

	return fabric_events_list(&agent->events, events, FABRIC_EVENTS_MAX);
}

static void on_report(void *arg, int error, const void *body, const char *why)
{
	struct fabric_agent *agent = arg;
	const struct rpc_report_reply *reply = body;

	agent->reporting = false;
	if (error != 0) {
		// The connection may be another one by now, which nobody knows yet.
		note_error(agent, why);
		agent->talk_unknown = true;
		agent->sw.forget(agent->arg);
		start_timer_ms(agent->next_report, RETRY_MS);
		return;
	}
	if (reply->epoch >= agent->follower.state.epoch) {
		fabric_events_taken(&agent->events, reply->sequence);
		agent->sw.answered(agent->arg, reply->has_again && reply->again != 0);
	} else {
		agent->sw.forget(agent->arg);
	}
	start_timer_ms(agent->next_report, events_due(agent) > 0 ? 0 : agent->report_ms);
}

static void on_again_hello(void *arg, int error, const void *body, const char *why)
{
	struct fabric_agent *agent = arg;
	const struct rpc_hello_reply *reply = body;

	agent->reporting = false;
	if (error != 0 || reply->version == 0) {
		note_error(agent, error != 0 ? why : "it refuses this switch");
		start_timer_ms(agent->next_report, RETRY_MS);
		return;
	}
	agent->talk_unknown = false;
	start_timer_ms(agent->next_report, 0);
}

// On the connection of reports: who it is again, if need be, then the report.
static int send_report(struct fabric_agent *agent)
{
	struct rpc_report message;
	struct rpc_hello hello;
	struct rpc_call_out out = { .arg = agent };
	int rc;

	if (agent->talk_unknown) {
		hello = fabric_say_hello(&agent->follower, agent->name);
		out.name = "hello";
		out.request_type = &rpc_hello_message;
		out.request = &hello;
		out.reply_type = &rpc_hello_reply_message;
		out.done = on_again_hello;
		return rpc_client_call(agent->talk, &out);
	}
	message = fabric_say_report(&agent->follower, &agent->events);
	out.name = "report";
	out.request_type = &rpc_report_message;
	out.request = &message;
	out.reply_type = &rpc_report_reply_message;
	out.done = on_report;
	rc = agent->sw.report(agent->arg, &message);
	if (rc == 0) {
		rc = rpc_client_call(agent->talk, &out);
		if (rc != 0)
			agent->sw.forget(agent->arg);
	}
	rpc_report_clear(&message);
	return rc;
}

static void on_next_report(evutil_socket_t fd, short what, void *arg)
{
	struct fabric_agent *agent = arg;

	// The next hello begins reports again.
	if (!agent->follower.greeted || agent->reporting)
		return;
	agent->reporting = send_report(agent) == 0;
	if (!agent->reporting)
		start_timer_ms(agent->next_report, BUSY_MS);
}

// Ports of the fabric are others than before when their names are.
static void follow_ports(struct fabric_agent *agent, const struct sw_config *config)
{
	uint64_t hash = HASH_EMPTY;

	for (uint32_t i = 0; i < config->port_count; i++)
		hash = hash_add(hash, hash_text(config->port[i].name));
	if (hash == agent->port_names && agent->events.port_count == config->port_count)
		return;
	agent->port_names = hash;
	fabric_events_init(&agent->events, config->port_count);
}

void fabric_agent_look(struct fabric_agent *agent)
{
	const struct fabric_tables *running;
	bool news = false;

	if (agent == NULL)
		return;
	running = agent->sw.running(agent->arg);
	if (running == NULL)
		return;
	follow_ports(agent, running->config);
	for (uint32_t i = 0; i < agent->events.port_count; i++)
		news |= fabric_events_look(&agent->events, (uint16_t)i,
					   agent->sw.usable(agent->arg, i));
	if (news && !agent->reporting && !agent->talk_unknown)
		start_timer_ms(agent->next_report, 0);
}

// --- life -------------------------------------------------------------------------------------

// The run before has a lower number, whatever the clock says; without a record the clock has to do.
static int begin_run(struct fabric_agent *agent, const char *state_dir)
{
	const struct fabric_tables *running = agent->sw.running(agent->arg);
	struct fabric_record *record = &agent->record;
	struct follower_state state;
	struct lines lines;
	int rc = fabric_store_open(&agent->store, state_dir, agent->name);

	if (rc != 0 || !lines_open(&lines))
		return rc != 0 ? rc : -ENOMEM;
	if (fabric_store_read(&agent->store, record, lines.out) != 0)
		lines_log(&lines);
	lines_close(&lines);
	record->boot = record->boot == 0 ? seconds(CLOCK_REALTIME) : record->boot + 1;
	// What it could not start with it does not run.
	if (running == NULL || memcmp(&running->set, &record->running, sizeof(running->set)) != 0)
		memset(&record->running, 0, sizeof(record->running));
	state = (struct follower_state){ record->epoch, record->running.generation,
					 record->prepared.generation };
	follower_init(&agent->follower, &state, record->boot);
	return save(agent);
}

static int open_parts(struct fabric_agent *agent, struct event_base *base,
		      const struct fabric_agent_options *options)
{
	const struct rpc_client_options client = { .address = agent->address,
						   .tls = options->tls,
						   .timeout_ms = TALK_MS };
	int rc = begin_run(agent, options->state_dir);

	if (rc != 0)
		return rc;
	agent->next_call = evtimer_new(base, on_next_call, agent);
	agent->next_report = evtimer_new(base, on_next_report, agent);
	if (agent->next_call == NULL || agent->next_report == NULL)
		return -ENOMEM;
	agent->poll = rpc_client_open(base, &client);
	if (agent->poll != NULL)
		agent->talk = rpc_client_open(base, &client);
	return agent->talk != NULL ? 0 : -EINVAL;
}

struct fabric_agent *fabric_agent_open(struct event_base *base,
				       const struct fabric_agent_options *options)
{
	struct fabric_agent *agent = calloc(1, sizeof(*agent));
	int rc = -ENOMEM;

	if (agent != NULL) {
		agent->sw = *options->sw;
		agent->arg = options->arg;
		agent->since_s = seconds(CLOCK_MONOTONIC);
		snprintf(agent->name, sizeof(agent->name), "%s", options->name);
		snprintf(agent->address, sizeof(agent->address), "%s", options->address);
		rc = open_parts(agent, base, options);
	}
	if (rc == 0) {
		start_timer(agent->next_call, 0);
		return agent;
	}
	log_err("%s: no agent for the fabric manager at %s: %s", options->name, options->address,
		strerror(-rc));
	fabric_agent_close(agent);
	return NULL;
}

void fabric_agent_close(struct fabric_agent *agent)
{
	if (agent == NULL)
		return;
	rpc_client_close(agent->talk);
	rpc_client_close(agent->poll);
	if (agent->next_report != NULL)
		event_free(agent->next_report);
	if (agent->next_call != NULL)
		event_free(agent->next_call);
	free(agent);
}

void fabric_agent_status(const struct fabric_agent *agent, struct fabric_agent_status *status)
{
	const uint64_t now = seconds(CLOCK_MONOTONIC);

	*status = (struct fabric_agent_status){
		.address = agent->address,
		.connected = agent->connected,
		.since_s = now - agent->since_s,
		.boot = agent->follower.boot,
		.running = agent->record.running.generation,
		.prepared = agent->record.prepared.generation,
		.epoch = agent->follower.state.epoch,
		.events_due = events_due(agent),
		.error = agent->error,
		.error_s = now - agent->error_s,
	};
}
