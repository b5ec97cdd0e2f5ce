// SPDX-License-Identifier: BSD-3-Clause
//
// Two timers: one for the status in words, one at half of the watchdog's time. Both run while the
// event loop does, which is what a service manager wants to know.

#include "sys/service.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sys/log.h"

struct service {
	struct notify notify;
	service_words *words;
	void *arg;
	struct event *status;
	struct event *watchdog;
};

static void say_status(struct service *service)
{
	char text[NOTIFY_STATUS_BYTES];

	service->words(service->arg, text);
	notify_status(&service->notify, text);
}

static void on_status(evutil_socket_t fd, short what, void *arg)
{
	say_status(arg);
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	struct service *service = arg;

	notify_alive(&service->notify);
}

static struct event *add_timer(struct event_base *base, uint64_t period_ns,
			       event_callback_fn callback, struct service *service)
{
	const struct timeval period = { .tv_sec = (time_t)(period_ns / 1000000000u),
					.tv_usec = (suseconds_t)(period_ns / 1000 % 1000000) };
	struct event *event = event_new(base, -1, EV_PERSIST, callback, service);

	if (event == NULL || event_add(event, &period) == 0)
		return event;
	event_free(event);
	return NULL;
}

static bool add_timers(struct service *service, struct event_base *base)
{
	if (service->notify.fd < 0)
		return true;
	service->status = add_timer(base, 1000000000, on_status, service);
	if (service->status == NULL)
		return false;
	if (service->notify.watchdog_ns == 0)
		return true;
	service->watchdog = add_timer(base, service->notify.watchdog_ns / 2, on_watchdog, service);
	return service->watchdog != NULL;
}

struct service *service_open(struct event_base *base, service_words *words, void *arg)
{
	struct service *service = calloc(1, sizeof(*service));
	const char *socket = getenv("NOTIFY_SOCKET");
	int rc;

	if (service == NULL)
		return NULL;
	service->words = words;
	service->arg = arg;
	rc = notify_open(&service->notify, socket, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"),
			 (uint32_t)getpid());
	if (rc != 0)
		log_warn("the service manager's socket %s: %s", socket, strerror(-rc));
	if (!add_timers(service, base)) {
		service_close(service);
		return NULL;
	}
	say_status(service);
	notify_ready(&service->notify);
	return service;
}

void service_reloading(struct service *service)
{
	struct timespec now = { 0 };

	if (service == NULL)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	notify_reloading(&service->notify,
			 (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u);
}

void service_reloaded(struct service *service)
{
	if (service != NULL)
		notify_ready(&service->notify);
}

void service_stopping(struct service *service)
{
	if (service != NULL)
		notify_stopping(&service->notify);
}

void service_close(struct service *service)
{
	if (service == NULL)
		return;
	if (service->watchdog != NULL)
		event_free(service->watchdog);
	if (service->status != NULL)
		event_free(service->status);
	notify_close(&service->notify);
	free(service);
}
