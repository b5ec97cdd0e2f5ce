// SPDX-License-Identifier: BSD-3-Clause
//
// A report as JSON, by walking the rows of schema/traffic_report.def: keys in their order, those of
// flows or of collectives left out where they mean nothing, an array "ranks" with an object for
// each host, and "flows" with one for each flow.

#include "traffic/report.h"

#include <errno.h>
#include <jansson.h>

enum kind { REAL, COUNT, TEXT, HOST };
enum scope { ALL, FLOWS, COLLECTIVE };

// Digits that a measurement may have.
enum { DIGITS = 9 };

struct row {
	const char *key;
	enum kind kind;
	enum scope scope;
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

static json_t *value_of(const struct row *row, const void *from)
{
	const void *field = (const char *)from + row->offset;
	uint32_t host;

	switch (row->kind) {
	case REAL: return json_real(*(const double *)field);
	case COUNT: return json_integer((json_int_t) * (const uint64_t *)field);
	case TEXT: return json_string(*(const char *const *)field);
	case HOST: break;
	}
	host = *(const uint32_t *)field;
	return host == JOB_NONE ? json_null() : json_integer(host);
}

static json_t *object_of(const struct row *first, size_t count, bool collective, const void *from)
{
	const enum scope other = collective ? FLOWS : COLLECTIVE;
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++) {
		if (first[i].scope != other)
			json_object_set_new(object, first[i].key, value_of(&first[i], from));
	}
	return object;
}

static json_t *flows_of(const struct report *report)
{
	json_t *flows = json_array();

	for (uint32_t i = 0; i < report->flow_count; i++)
		json_array_append_new(flows,
				      object_of(flow_rows, sizeof(flow_rows) / sizeof(flow_rows[0]),
						false, &report->flow[i]));
	return flows;
}

int report_json(const struct traffic_config *config, const struct report *report, FILE *out)
{
	const bool collective = traffic_is_collective((enum traffic_workload)config->run.workload);
	json_t *object = object_of(rows, sizeof(rows) / sizeof(rows[0]), collective, report);
	json_t *ranks = json_array();
	int rc;

	for (uint64_t i = 0; i < report->hosts; i++)
		json_array_append_new(ranks,
				      object_of(rank_rows, sizeof(rank_rows) / sizeof(rank_rows[0]),
						collective, &report->rank[i]));
	json_object_set_new(object, "ranks", ranks);
	if (!collective)
		json_object_set_new(object, "flows", flows_of(report));
	rc = json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
	fputc('\n', out);
	json_decref(object);
	return rc == 0 ? 0 : -ENOMEM;
}
