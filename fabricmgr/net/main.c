// SPDX-License-Identifier: BSD-3-Clause
//
// weft-fabricd: starts in order, unwinds in reverse. Everything is on one event loop, but plans,
// which are made in a thread of their own (plan_thread.h).

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>

#include "fabricmgr/net/fabric_rpc.h"
#include "fabricmgr/net/health_feed.h"
#include "fabricmgr/net/manager.h"
#include "fabricmgr/net/northbound.h"
#include "fabricmgr/net/options.h"
#include "sys/log.h"
#include "sys/service.h"

enum { CONNECTIONS_MAX = 8192, PATH_BYTES = 256 };

struct program {
	struct options options;
	struct event_base *base;
	struct event *signals[3];
	struct manager *manager;
	struct fabric_rpc *rpc;
	struct northbound *northbound;
	struct health_feed *health;
	struct service *service;
};

static ns_t now(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (ns_t){ (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec };
}

// How it is, for the service manager.
static void words(void *arg, char text[NOTIFY_STATUS_BYTES])
{
	const struct manager_view *view = manager_view(arg);
	const struct distributor *d = view->distributor;
	uint32_t there = 0;

	for (uint32_t i = 0; i < d->switch_count; i++)
		there += d->at[i].life == DISTRIBUTE_THERE;
	snprintf(text, NOTIFY_STATUS_BYTES,
		 "%s: %u of %u switches there, generation %" PRIu64 "%s%s",
		 view->source->fabric.name, there, d->switch_count, d->number,
		 view->hold_why[0] != '\0' ? ", held: " : "", view->hold_why);
}

static void on_end(evutil_socket_t number, short what, void *arg)
{
	struct program *program = arg;

	log_info("%s: ending", strsignal((int)number));
	service_stopping(program->service);
	event_base_loopbreak(program->base);
}

// A wrong intent, or list of revoked certificates, changes nothing.
static void on_hangup(evutil_socket_t number, short what, void *arg)
{
	struct program *program = arg;

	service_reloading(program->service);
	manager_reload(program->manager, log_faults());
	if (program->options.listen != NULL)
		fabric_rpc_read_revoked(program->rpc);
	service_reloaded(program->service);
}

static int add_signals(struct program *program)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	for (uint32_t i = 0; i < 3; i++) {
		program->signals[i] = evsignal_new(program->base, numbers[i],
						   numbers[i] == SIGHUP ? on_hangup : on_end,
						   program);
		if (program->signals[i] == NULL || event_add(program->signals[i], NULL) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_dir(const char *path)
{
	if (mkdir(path, 0750) == 0 || errno == EEXIST)
		return 0;
	log_err("%s: %s", path, strerror(errno));
	return -errno;
}

static int start_manager(struct program *program)
{
	const struct manager_options options = { .intent_path = program->options.intent,
						 .state_dir = program->options.state_dir,
						 .damping_ms = program->options.damping_ms,
						 .mass_ppm = program->options.mass_ppm,
						 .clock = now };

	if (make_dir(program->options.run_dir) < 0 || make_dir(program->options.state_dir) < 0)
		return 1;
	program->manager = manager_open(program->base, &options, log_faults());
	return program->manager != NULL ? 0 : EX_CONFIG;
}

static int start_serving(struct program *program)
{
	char path[PATH_BYTES];
	struct fabric_rpc_options rpc = {
		.socket_path = path,
		.address = program->options.listen,
		.tls = program->options.listen != NULL ? &program->options.tls : NULL,
		.connection_max = CONNECTIONS_MAX,
		.report = health_feed_report,
	};

	snprintf(path, sizeof(path), "%s/fabricd.rpc", program->options.run_dir);
	program->health = health_feed_open(program->base, program->manager,
					   program->options.alarms);
	if (program->health == NULL)
		return 1;
	rpc.report_arg = program->health;
	program->rpc = fabric_rpc_open(program->base, program->manager, &rpc);
	program->northbound = northbound_open(program->base, program->manager,
					      &(struct northbound_options){
						      .run_dir = program->options.run_dir,
						      .port = program->options.http,
						      .clock = now,
					      });
	if (program->rpc == NULL || program->northbound == NULL)
		return 1;
	health_feed_serve(program->health, program->northbound);
	program->service = service_open(program->base, words, program->manager);
	return program->service != NULL ? 0 : 1;
}

static int run(struct program *program)
{
	int status = 1;

	program->base = event_base_new();
	if (program->base == NULL || add_signals(program) < 0)
		return 1;
	status = start_manager(program);
	if (status == 0)
		status = start_serving(program);
	if (status != 0)
		return status;
	log_info("%s: ready, %u switches", manager_view(program->manager)->source->fabric.name,
		 manager_view(program->manager)->source->fabric.switch_count);
	event_base_dispatch(program->base);
	return 0;
}

static void unwind(struct program *program)
{
	service_close(program->service);
	northbound_close(program->northbound);
	fabric_rpc_close(program->rpc);
	health_feed_close(program->health);
	manager_close(program->manager);
	for (uint32_t i = 0; i < 3; i++) {
		if (program->signals[i] != NULL)
			event_free(program->signals[i]);
	}
	if (program->base != NULL)
		event_base_free(program->base);
}

int main(int argc, char **argv)
{
	static struct program program;
	int status;

	switch (options_parse(&program.options, argc, argv)) {
	case OPTIONS_DONE: return 0;
	case OPTIONS_WRONG: return 2;
	case OPTIONS_RUN: break;
	}
	signal(SIGPIPE, SIG_IGN);
	if (program.options.log_json)
		log_set_json();
	status = run(&program);
	unwind(&program);
	return status;
}
