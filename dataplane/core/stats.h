// SPDX-License-Identifier: BSD-3-Clause
//
// Counters, gauges and watermarks of a switch: one struct per object and one descriptor per row of
// schema/stats.def, so that CLI, exporters and documentation walk the rows instead of naming them.
#pragma once

#include "base/types.h"
#include "dataplane/core/drop.h"

#define PORT_STAT(kind, name, field, doc) uint64_t field;
struct port_stats {
#include "schema/stats.def"
};

#define PRIO_STAT(kind, name, field, doc) uint64_t field;
struct prio_stats {
#include "schema/stats.def"
};

#define PG_STAT(kind, name, field, doc) uint64_t field;
struct pg_stats {
#include "schema/stats.def"
};

#define QUEUE_STAT(kind, name, field, doc) uint64_t field;
struct queue_stats {
#include "schema/stats.def"
};

#define POOL_STAT(kind, name, field, doc) uint64_t field;
struct pool_stats {
#include "schema/stats.def"
};

#define ACL_STAT(kind, name, field, doc) uint64_t field;
struct acl_stats {
#include "schema/stats.def"
};

// Of one RoCE flow by one port, since it is listed; it is not kept so (ecn/roce_flows.h).
#define FLOW_STAT(kind, name, field, doc) uint64_t field;
struct flow_stats {
#include "schema/stats.def"
};

#define SWITCH_STAT(kind, name, field, doc) uint64_t field;
struct switch_stats {
#include "schema/stats.def"
};

enum stat_object {
	STAT_SWITCH,
	STAT_POOL,
	STAT_PORT,
	STAT_PRIO,
	STAT_PG,
	STAT_QUEUE,
	STAT_ACL,
	STAT_FLOW,
	STAT_OBJECT_COUNT,
};

enum stat_kind { STAT_COUNTER, STAT_GAUGE, STAT_WATERMARK };

struct stat_info {
	const char *name; // SAI's, without the object prefix
	const char *key;  // of JSON and metrics: the field's name
	const char *doc;
	enum stat_kind kind;
	uint32_t offset; // of the uint64_t in the object's struct
};

struct stat_table {
	const char *object; // "switch", "pool", "port", "priority", "priority_group", "queue",
			    // "acl", "flow"
	const struct stat_info *rows;
	uint32_t count;
};

extern const struct stat_table stat_tables[STAT_OBJECT_COUNT];

// Three readers of watermarks that clear independently (SONiC's watermark kinds).
enum watermark_kind {
	WATERMARK_USER,
	WATERMARK_PERSISTENT,
	WATERMARK_PERIODIC,
	WATERMARK_KIND_COUNT,
};

// The hot path raises `current` only; a clear of one kind folds it into the others first.
struct watermark {
	uint64_t current;
	uint64_t kept[WATERMARK_KIND_COUNT];
};

static inline void watermark_raise(struct watermark *wm, uint64_t value)
{
	if (value > wm->current)
		wm->current = value;
}

uint64_t watermark_read(const struct watermark *wm, enum watermark_kind kind);

// Restarts one kind at the value of now.
void watermark_clear(struct watermark *wm, enum watermark_kind kind, uint64_t now_value);
