// SPDX-License-Identifier: BSD-3-Clause
//
// What a run against a perftest came to: perftest's own columns, or JSON with the counters of the
// endpoint beside them.
#pragma once

#include <stdio.h>

#include "traffic/config.h"
#include "traffic/core/endpoint.h"
#include "traffic/core/perftest.h"

struct perftest_result {
	struct perftest_shape shape;
	bool client;
	uint32_t mtu; // that both agreed on
	const struct perftest_side *own;
	const struct perftest_side *peer;
	struct perftest_report report;
	struct endpoint_stats stats;
	struct rc_stats rc;
	uint64_t kernel_lost;
};

// Figures of messages that were done at these times: the average from the beginning to the end, and
// the best of as many in a row as are on their way at a time, on all queue pairs.
void perftest_measure(const uint64_t *done_ns, uint64_t count, const struct traffic_config *config,
		      uint64_t begun_ns, struct perftest_report *out);

// The same of `count` messages of which no more is known than how long they took.
void perftest_measure_whole(uint64_t count, uint64_t size, uint64_t ns,
			    struct perftest_report *out);

// Of a test both ways, as perftest has it: a side's messages, and the speed of both together.
void perftest_measure_both(const struct perftest_report *own, const struct perftest_report *peer,
			   struct perftest_report *out);

void perftest_report_text(const struct perftest_result *result, FILE *out);
void perftest_report_json(const struct perftest_result *result, FILE *out);
