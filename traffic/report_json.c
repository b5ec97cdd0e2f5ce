// SPDX-License-Identifier: BSD-3-Clause
//
// A report as JSON, by walking the rows of schema/traffic_report.def: keys in their order, those of
// other workloads left out where they mean nothing, an array "ranks" with an object for each host,
// "flows" with one for each flow, and "sizes" with messages by size.

#include "traffic/report.h"

#include <errno.h>
#include <jansson.h>

enum kind { REAL, COUNT, TEXT, LIMIT, HOST };

// Sets of kinds of workloads.
enum scope {
	COLLECTIVE = 1,
	FLOWS = 2,
	OPEN = 4,
	SWITCH = 8,
	REPLAY = 16,
	ALL = COLLECTIVE | FLOWS,
	ANY = ALL | REPLAY,
};

// Digits that a measurement may have.
enum { DIGITS = 9 };

struct row {
	const char *key;
	enum kind kind;
	uint32_t scope;
	uint32_t offset;
};

#define REPORT_VALUE(key, kind, scope, doc)                                                        \
	{ #key, kind, scope, (uint32_t)offsetof(struct report, key) },
static const struct row rows[] = {
#include "schema/traffic_report.def"
};

#define REPORT_RANK_VALUE(key, kind, scope, doc)                                                   \
	{ #key, kind, scope, (uint32_t)offsetof(struct report_rank, key) },
static const struct row rank_rows[] = {
#include "schema/traffic_report.def"
};

#define REPORT_FLOW_VALUE(key, kind, scope, doc)                                                   \
	{ #key, kind, scope, (uint32_t)offsetof(struct report_flow, key) },
static const struct row flow_rows[] = {
#include "schema/traffic_report.def"
};

#define REPORT_SIZE_VALUE(key, kind, scope, doc)                                                   \
	{ #key, kind, scope, (uint32_t)offsetof(struct report_size, key) },
static const struct row size_rows[] = {
#include "schema/traffic_report.def"
};

static json_t *value_of(const struct row *row, const void *from)
{
	const void *field = (const char *)from + row->offset;
	uint32_t host;

	switch (row->kind) {
	case REAL: return json_real(*(const double *)field);
	case COUNT: return json_integer((json_int_t) * (const uint64_t *)field);
	case TEXT: return json_string(*(const char *const *)field);
	case LIMIT:
		return *(const uint64_t *)field == REPORT_NO_LIMIT ?
			       json_null() :
			       json_integer((json_int_t) * (const uint64_t *)field);
	case HOST: break;
	}
	host = *(const uint32_t *)field;
	return host == JOB_NONE ? json_null() : json_integer(host);
}

static json_t *object_of(const struct row *first, size_t count, uint32_t scope, const void *from)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++) {
		if (first[i].scope & scope)
			json_object_set_new(object, first[i].key, value_of(&first[i], from));
	}
	return object;
}

#define OBJECT_OF(rows, scope, from) object_of(rows, sizeof(rows) / sizeof((rows)[0]), scope, from)

static json_t *ranks_of(const struct report *report, uint32_t scope)
{
	json_t *ranks = json_array();

	for (uint64_t i = 0; i < report->hosts; i++)
		json_array_append_new(ranks, OBJECT_OF(rank_rows, scope, &report->rank[i]));
	return ranks;
}

static json_t *flows_of(const struct report *report, uint32_t scope)
{
	json_t *flows = json_array();

	for (uint32_t i = 0; i < report->flow_count; i++)
		json_array_append_new(flows, OBJECT_OF(flow_rows, scope, &report->flow[i]));
	return flows;
}

static json_t *sizes_of(const struct report *report, uint32_t scope)
{
	json_t *sizes = json_array();

	for (uint32_t i = 0; i < JOB_SIZES; i++)
		json_array_append_new(sizes, OBJECT_OF(size_rows, scope, &report->size[i]));
	return sizes;
}

static json_t *reasons_of(const struct switch_counts *counts)
{
	json_t *reasons = json_object();

	for (uint32_t i = 0; i < counts->reason_count; i++)
		json_object_set_new(reasons, counts->reason[i].name,
				    json_integer((json_int_t)counts->reason[i].packets));
	return reasons;
}

static uint32_t scope_of(const struct run_config *run)
{
	const uint32_t asked = run->switch_name[0] != '\0' ? SWITCH : 0;

	if (traffic_is_collective((enum traffic_workload)run->workload))
		return asked | COLLECTIVE;
	if (run->workload == TRAFFIC_REPLAY)
		return REPLAY;
	return asked | (traffic_is_open(run) ? FLOWS | OPEN : FLOWS);
}

int report_json(const struct traffic_config *config, const struct report *report, FILE *out)
{
	const uint32_t scope = scope_of(&config->run);
	json_t *object = OBJECT_OF(rows, scope, report);
	int rc;

	if ((scope & SWITCH) && report->at_switch != NULL)
		json_object_set_new(object, "switch_reasons", reasons_of(report->at_switch));
	json_object_set_new(object, "ranks", ranks_of(report, scope));
	if (scope & FLOWS)
		json_object_set_new(object, "flows", flows_of(report, scope));
	if (scope & OPEN)
		json_object_set_new(object, "sizes", sizes_of(report, scope));
	rc = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
	fputc('\n', out);
	json_decref(object);
	return rc == 0 ? 0 : -ENOMEM;
}
