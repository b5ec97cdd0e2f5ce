// SPDX-License-Identifier: BSD-3-Clause
//
// GET /metrics for Prometheus, at the address that the knob `metrics` of a switch names. Switches
// of one process that name the same address share it.
//
// An address that cannot be had ends nothing: it is said once, with the knob's place, and tried
// again every second.
#pragma once

#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>

#include "dataplane/core/config.h"
#include "dataplane/dpdk/worker.h"

struct metrics;

// 0, or -EINVAL with the reason on `errors`: the knob is no address, or one that other machines
// reach without metrics_public.
int metrics_check(const struct sw_config *config, const char *path, FILE *errors);

// Listens for the switches of `workers`. NULL when memory is short.
struct metrics *metrics_open(struct event_base *base, struct workers *workers);

// Once a second: tries again what could not be had, and follows knobs that a reload has changed.
void metrics_second(struct metrics *metrics);

// Accepts NULL.
void metrics_close(struct metrics *metrics);

// Answers a GET with the metrics of these switches, in the format that its Accept field prefers.
void metrics_reply(struct evhttp_request *request, struct workers *workers,
		   struct instance *const *switches, uint32_t count);
