// SPDX-License-Identifier: BSD-3-Clause
//
// A capture of a running switch: taps on all of its lcores (dataplane/dpdk/tap.h), whose records
// become a pcapng stream. Control thread only.
//
// Records of several lcores are put in order of time as far as they are there at the same time.
// Times are those of the switch's clock, tied to the time of day when the capture begins.
#pragma once

#include <event2/buffer.h>

#include "dataplane/dpdk/tap.h"
#include "dataplane/dpdk/worker.h"

struct capture_options {
	struct tap_filter filter;
	uint64_t count; // packets after which it is over, 0: none
	const char *comment;
};

struct capture;

// Begins, and appends the head of the stream to `out`. NULL when there is no memory, or too many
// captures already.
struct capture *capture_open(struct workers *workers, struct instance *in,
			     const struct capture_options *options, struct evbuffer *out);

// Appends what has been captured since, about `bytes_max` at most. False when that was the last of
// it: the count is reached, or the capture was stopped and the taps are empty.
bool capture_drain(struct capture *capture, struct evbuffer *out, size_t bytes_max);

// Captures no more; what the taps hold waits to be drained. Once or again.
void capture_stop(struct capture *capture);

// Appends the statistics of the interfaces, which end the stream. Once, after capture_stop().
void capture_finish(struct capture *capture, struct evbuffer *out);

// Packets captured so far, and selected but lost since the control thread was late.
uint64_t capture_count(const struct capture *capture);
uint64_t capture_lost(const struct capture *capture);

// Accepts NULL.
void capture_close(struct capture *capture);
