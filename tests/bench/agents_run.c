// SPDX-License-Identifier: BSD-3-Clause
//
// Agents as switches run them, on one event loop: a connection for the long poll and one for all
// else. A call that fails is tried again a little later, as often as it takes. Only so many agents
// are about to connect at a time: a machine that does it for all of them is slower than they are.

#include "tests/bench/agents.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "schema/fabric.gen.h"

enum { RETRY_MS = 200, STARTING_MAX = 64 };

struct agent {
	struct rpc_client *talk;
	struct rpc_client *poll;
	struct event *retry;
	bool known;     // said hello
	bool started;   // has made room for the next one
	uint64_t round; // that was fetched last
	uint64_t acked;
};

static struct rng dice;
static struct agent *agents;
static uint32_t agent_count;
static uint32_t next; // agent to start

static void go_on(struct agent *agent);

// Later, and not all at once.
static void try_again(struct agent *agent)
{
	const uint32_t ms = RETRY_MS + rng_below(&dice, RETRY_MS);
	const struct timeval wait = { .tv_usec = ms * 1000 };

	event_add(agent->retry, &wait);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	go_on(arg);
}

static void on_hello(void *arg, int error, const void *reply, const char *why)
{
	struct agent *agent = arg;

	agent->known = error == 0;
	if (error == 0)
		go_on(agent);
	else
		try_again(agent);
	if (agent->known && !agent->started && next < agent_count)
		go_on(&agents[next++]);
	agent->started = agent->started || agent->known;
}

static void on_ack(void *arg, int error, const void *reply, const char *why)
{
	struct agent *agent = arg;

	if (error == 0) {
		agent->acked = agent->round;
		go_on(agent);
	} else {
		try_again(agent);
	}
}

static void on_fetch(void *arg, int error, const void *reply, const char *why)
{
	const struct rpc_fetch_reply *fetched = reply;
	struct agent *agent = arg;

	if (error == 0) {
		agent->round = fetched->epoch;
		go_on(agent);
	} else {
		try_again(agent);
	}
}

static int say_hello(struct agent *agent)
{
	struct rpc_hello hello = {
		.oldest_version = 1,
		.has_oldest_version = true,
		.newest_version = 1,
		.has_newest_version = true,
		.table_version = 1,
		.has_table_version = true,
		.has_boot = true,
		.has_epoch = true,
	};
	const struct rpc_call_out call = {
		"hello", &rpc_hello_message, &hello, &rpc_hello_reply_message, 0, on_hello, agent
	};
	int rc = rpc_hello_set_name(&hello, "agent");

	if (rc == 0)
		rc = rpc_client_call(agent->talk, &call);
	rpc_hello_clear(&hello);
	return rc;
}

static int acknowledge(struct agent *agent)
{
	const struct rpc_ack ack = {
		.has_boot = true,
		.epoch = agent->round,
		.has_epoch = true,
		.has_step = true,
		.generation = { 1, true, agent->round, true, 0, true },
		.has_generation = true,
		.has_error = true,
	};
	const struct rpc_call_out call = { "ack", &rpc_ack_message, &ack, &rpc_ack_reply_message,
					   0,     on_ack,           agent };

	return rpc_client_call(agent->talk, &call);
}

static int fetch(struct agent *agent)
{
	const struct rpc_fetch request = {
		.has_boot = true, .epoch = agent->round, .has_epoch = true, .has_wait_ms = true
	};
	const struct rpc_call_out call = {
		"fetch", &rpc_fetch_message, &request, &rpc_fetch_reply_message, 0, on_fetch, agent
	};

	return rpc_client_call(agent->poll, &call);
}

static void go_on(struct agent *agent)
{
	int rc;

	if (!agent->known)
		rc = say_hello(agent);
	else if (agent->acked < agent->round)
		rc = acknowledge(agent);
	else
		rc = fetch(agent);
	if (rc < 0)
		try_again(agent);
}

static struct rpc_client *open_client(struct event_base *base, const char *address,
				      const struct tls_files *files)
{
	const struct rpc_client_options options = { .address = address,
						    .tls = files,
						    .timeout_ms = AGENTS_TIMEOUT_MS };
	struct rpc_client *client = rpc_client_open(base, &options);

	agents_must(client != NULL, "no client");
	return client;
}

void agents_run(const struct agents_options *options, const char *dir, uint16_t port)
{
	struct event_base *base = event_base_new();
	struct tls_files files;
	char address[32];

	rng_seed(&dice, 1);
	agent_count = options->count;
	agents = calloc(agent_count, sizeof(*agents));
	agents_must(agents != NULL, "no memory");
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	for (uint32_t i = 0; i < agent_count; i++) {
		agents_files(dir, i, &files);
		agents[i].talk = open_client(base, address, &files);
		agents[i].poll = open_client(base, address, &files);
		agents[i].retry = evtimer_new(base, on_retry, &agents[i]);
	}
	while (next < STARTING_MAX && next < agent_count)
		go_on(&agents[next++]);
	event_base_dispatch(base);
	agents_must(false, "nothing left to do");
	abort();
}
