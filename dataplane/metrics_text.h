// SPDX-License-Identifier: BSD-3-Clause
//
// Snapshots as the text that Prometheus reads: format 0.0.4, or OpenMetrics 1.0. Every row of
// schema/stats.def is a metric, with its documentation.
#pragma once

#include "dataplane/dpdk/snapshot.h"
#include "dataplane/dpdk/worker.h"
#include "dataplane/prio_rows.h"

// What is known of one switch at one instant.
struct metrics_source {
	const struct instance *in;
	struct snapshot *snapshot;
	struct prio_rows *prio; // of each port
	struct acl_stats *acl;  // of each row of the access list; NULL: it has none
};

// Asks for all of it. False when memory is short; then nothing is kept. The time is that of a
// snapshot, some microseconds per port.
bool metrics_source_take(struct metrics_source *source, struct workers *workers,
			 struct instance *in);

void metrics_source_release(struct metrics_source *source);

// The text of these switches, *bytes long and to be freed; NULL when memory is short.
char *metrics_text(const struct metrics_source *sources, uint32_t count, struct workers *workers,
		   bool openmetrics, size_t *bytes);
