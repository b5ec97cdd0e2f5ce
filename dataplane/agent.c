// SPDX-License-Identifier: BSD-3-Clause
//
// The control thread's event loop. Starts in order and unwinds in reverse: the loop's own events,
// then per switch addresses, ports and socket.
//
// Nothing here blocks for long: a call to the lcore takes microseconds, a file some milliseconds.

#include "dataplane/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "dataplane/control_http.h"
#include "dataplane/headroom.h"
#include "dataplane/lldp.h"
#include "dataplane/mac_store.h"
#include "dataplane/managed.h"
#include "dataplane/metrics.h"
#include "dataplane/port_keeper.h"
#include "dataplane/reload.h"
#include "dataplane/reports.h"
#include "dataplane/routes.h"
#include "dataplane/switch_words.h"
#include "dataplane/telemetry.h"
#include "sys/log.h"
#include "sys/service.h"

enum {
	PORTS_PERIOD_US = 50000,
	SAVE_PERIOD_S = 60,
	AGE_ROUNDS = 16, // seconds to look once at every position of the address table
};

struct agent_switch {
	struct instance *in;
	struct port_keeper keeper;
	struct mac_store macs;
	struct config_changer changer;
	struct control_http *http;
};

struct agent {
	struct workers *workers;
	struct event_base *base;
	struct event *reports[LCORE_MAX];
	struct event *ports_timer;
	struct event *second_timer;
	struct event *term;
	struct event *interrupt;
	struct event *hangup;
	struct service *service;
	struct metrics *metrics;
	uint32_t seconds;
	uint64_t warned_gap_ns; // poll gaps up to this have been warned about
	uint32_t count;
	struct agent_switch sw[WORKER_INSTANCE_MAX];
};

static void on_reports(evutil_socket_t fd, short what, void *arg)
{
	struct agent *agent = arg;

	reports_handle(agent->workers);
	// A link may have come or gone by what hellos say.
	for (uint32_t i = 0; i < agent->count; i++)
		managed_look(agent->sw[i].in->managed);
}

static void poll_ports(struct agent *agent, struct agent_switch *sw)
{
	struct port_set up = port_keeper_poll(&sw->keeper,
					      clock_now(&agent->workers->worker[0].clock));

	lldp_poll(sw->in->lldp);
	if (port_set_empty(&up))
		return;
	mac_store_restore(&sw->macs, agent->workers, sw->in, &up);
	PORT_SET_FOR_EACH(port, &up)
		headroom_check(sw->in, port.v);
}

static void on_ports_timer(evutil_socket_t fd, short what, void *arg)
{
	struct agent *agent = arg;

	for (uint32_t i = 0; i < agent->count; i++) {
		poll_ports(agent, &agent->sw[i]);
		routes_tick(agent->sw[i].in->routes);
		managed_look(agent->sw[i].in->managed);
	}
}

static void age_macs(struct agent *agent, struct instance *in)
{
	const struct message message = {
		.kind = MESSAGE_MAC_AGE,
		.instance = in,
		// The table has up to four positions per address that it was made for.
		.count = 4 * sw_mac_room(in->sw) / AGE_ROUNDS + 1,
	};

	workers_send(agent->workers, &message);
}

// An lcore that does not answer stops the event loop here, which is how the service manager's
// watchdog (sys/service.c) finds out.
static void check_gap(struct agent *agent)
{
	struct lcore_stats stats[LCORE_MAX];
	uint64_t worst = 0;

	workers_stats(agent->workers, stats);
	for (uint32_t i = 0; i < agent->workers->count; i++)
		worst = u64_max(worst, stats[i].max_gap_ns);
	if (worst <= agent->warned_gap_ns)
		return;
	agent->warned_gap_ns = 2 * worst;
	for (uint32_t i = 0; i < agent->count; i++)
		headroom_check_gap(agent->sw[i].in, worst);
}

static void on_second_timer(evutil_socket_t fd, short what, void *arg)
{
	struct agent *agent = arg;

	agent->seconds++;
	for (uint32_t i = 0; i < agent->count; i++) {
		struct agent_switch *sw = &agent->sw[i];

		port_keeper_count_lost(&sw->keeper);
		port_keeper_steer(&sw->keeper);
		age_macs(agent, sw->in);
		routes_second(sw->in->routes);
		lldp_second(sw->in->lldp);
		if (agent->seconds % SAVE_PERIOD_S == 0)
			mac_store_save(&sw->macs, agent->workers, sw->in);
	}
	check_gap(agent);
	metrics_second(agent->metrics);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	struct agent *agent = arg;

	log_info("%s: ending", strsignal((int)number));
	service_stopping(agent->service);
	event_base_loopbreak(agent->base);
}

static void on_hangup(evutil_socket_t number, short what, void *arg)
{
	struct agent *agent = arg;

	service_reloading(agent->service);
	for (uint32_t i = 0; i < agent->count; i++) {
		reload(&agent->sw[i].changer);
		managed_redial(agent->sw[i].in->managed);
	}
	service_reloaded(agent->service);
}

static int add_event(struct agent *agent, struct event **event, int fd, short what,
		     event_callback_fn callback, const struct timeval *period)
{
	*event = event_new(agent->base, fd, what, callback, agent);
	return *event == NULL || event_add(*event, period) != 0 ? -ENOMEM : 0;
}

static int add_events(struct agent *agent)
{
	const struct timeval ports = { .tv_usec = PORTS_PERIOD_US };
	const struct timeval second = { .tv_sec = 1 };
	int rc = 0;

	for (uint32_t i = 0; i < agent->workers->count && rc == 0; i++)
		rc = add_event(agent, &agent->reports[i],
			       agent->workers->worker[i].channel.wake_control, EV_READ | EV_PERSIST,
			       on_reports, NULL);
	if (rc == 0)
		rc = add_event(agent, &agent->ports_timer, -1, EV_PERSIST, on_ports_timer, &ports);
	if (rc == 0)
		rc = add_event(agent, &agent->second_timer, -1, EV_PERSIST, on_second_timer,
			       &second);
	if (rc == 0)
		rc = add_event(agent, &agent->term, SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal,
			       NULL);
	if (rc == 0)
		rc = add_event(agent, &agent->interrupt, SIGINT, EV_SIGNAL | EV_PERSIST, on_signal,
			       NULL);
	if (rc == 0)
		rc = add_event(agent, &agent->hangup, SIGHUP, EV_SIGNAL | EV_PERSIST, on_hangup,
			       NULL);
	return rc;
}

static void remove_event(struct event *event)
{
	if (event != NULL)
		event_free(event);
}

// A port that waits for its device is looked for again and again; say so once.
static void log_ready(const struct instance *in)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < in->port_count; i++)
		waiting += in->port[i].config->admin && in->port[i].ethdev == PORT_NO_DEVICE;
	if (waiting == 0)
		log_info("%s: ready, %u ports", in->config->sw.name, in->port_count);
	else
		log_info("%s: ready, %u ports, %u of them waiting for their devices",
			 in->config->sw.name, in->port_count, waiting);
}

static int open_switch(struct agent *agent, struct agent_switch *sw,
		       const struct agent_options *options)
{
	int rc = mac_store_open(&sw->macs, options->state_dir, sw->in);

	if (rc != 0)
		return rc;
	if (sw->in->tables != NULL) {
		sw->in->routes = routes_open(agent->workers, sw->in);
		if (sw->in->routes == NULL)
			return -ENOMEM;
	}
	sw->in->lldp = lldp_open(agent->workers, sw->in);
	if (sw->in->lldp == NULL)
		return -ENOMEM;
	rc = config_changer_open(&sw->changer, agent->base, agent->workers, sw->in);
	if (rc != 0)
		return rc;
	// Its name is taken before its devices: a second switch of that name must not touch them.
	sw->http = control_http_open(agent->base, options->run_dir, options->state_dir,
				     &sw->changer);
	if (sw->http == NULL)
		return -EIO;
	rc = port_keeper_start(&sw->keeper, agent->workers, sw->in);
	if (rc != 0)
		return rc;
	poll_ports(agent, sw);
	rc = managed_open(agent->base, &sw->changer, options->state_dir);
	if (rc != 0)
		return rc;
	log_ready(sw->in);
	return 0;
}

struct agent *agent_open(struct workers *workers, const struct agent_options *options)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	int rc = -ENOMEM;

	if (agent == NULL)
		return NULL;
	agent->workers = workers;
	agent->base = event_base_new();
	if (agent->base != NULL)
		rc = add_events(agent);
	// The first lcore has a part in every switch.
	for (uint32_t i = 0; i < workers->worker[0].instance_count && rc == 0; i++) {
		agent->sw[i].in = workers->worker[0].instance[i];
		agent->count = i + 1;
		rc = open_switch(agent, &agent->sw[i], options);
	}
	if (rc == 0)
		rc = telemetry_open(agent->base, workers);
	if (rc == 0)
		agent->metrics = metrics_open(agent->base, workers);
	if (agent->metrics != NULL)
		agent->service = service_open(agent->base, switch_words, workers);
	if (agent->service != NULL)
		return agent;
	agent_close(agent);
	return NULL;
}

void agent_run(struct agent *agent)
{
	event_base_dispatch(agent->base);
}

// Addresses go to disk before the links go down, which forgets them.
static void close_switch(struct agent *agent, struct agent_switch *sw)
{
	managed_close(sw->in->managed);
	control_http_close(sw->http);
	config_changer_close(&sw->changer);
	if (sw->keeper.retry != NULL)
		mac_store_save(&sw->macs, agent->workers, sw->in);
	lldp_close(sw->in->lldp);
	sw->in->lldp = NULL;
	port_keeper_stop(&sw->keeper);
	routes_close(sw->in->routes);
	sw->in->routes = NULL;
	mac_store_close(&sw->macs);
}

void agent_close(struct agent *agent)
{
	if (agent == NULL)
		return;
	service_close(agent->service);
	metrics_close(agent->metrics);
	telemetry_close();
	for (uint32_t i = agent->count; i-- > 0;)
		close_switch(agent, &agent->sw[i]);
	remove_event(agent->hangup);
	remove_event(agent->interrupt);
	remove_event(agent->term);
	remove_event(agent->second_timer);
	remove_event(agent->ports_timer);
	for (uint32_t i = 0; i < LCORE_MAX; i++)
		remove_event(agent->reports[i]);
	if (agent->base != NULL)
		event_base_free(agent->base);
	free(agent);
}
