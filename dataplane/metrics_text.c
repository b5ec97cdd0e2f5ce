// SPDX-License-Identifier: BSD-3-Clause
//
// All samples of a metric stand together (both formats demand it), so the walk is row by row and
// then switch by switch; the labels of an object are written anew for each of its rows. Text grows
// by doubling, and what has no room leaves the whole text out.

#include "dataplane/metrics_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/dpdk/port_pfc.h"
#include "dataplane/take_snapshot.h"
#include "sys/metrics_name.h"

enum { LABELS_BYTES = 512, FIRST_BYTES = 256 * 1024 };

struct text {
	char *at;
	size_t len;
	size_t room;
	bool failed; // memory is short
	bool openmetrics;
};

static void reserve(struct text *text, size_t more)
{
	size_t room = text->room;
	char *at;

	while (text->len + more > room)
		room = room == 0 ? FIRST_BYTES : 2 * room;
	if (room == text->room || text->failed)
		return;
	at = realloc(text->at, room);
	if (at == NULL) {
		text->failed = true;
		return;
	}
	text->at = at;
	text->room = room;
}

static void append(struct text *text, const char *bytes, size_t len)
{
	reserve(text, len);
	if (text->failed)
		return;
	memcpy(text->at + text->len, bytes, len);
	text->len += len;
}

static void append_text(struct text *text, const char *string)
{
	append(text, string, strlen(string));
}

// "# HELP" allows no line breaks, and a backslash only before another or an n.
static void append_help(struct text *text, const char *doc)
{
	char out[LABELS_BYTES];
	size_t len = 0;

	for (; *doc != '\0' && len + 2 < sizeof(out); doc++) {
		if (*doc == '\\' || (text->openmetrics && *doc == '"'))
			out[len++] = '\\';
		out[len++] = *doc;
	}
	append(text, out, len);
}

// A metric's name as its samples have it.
struct family {
	char sample[METRIC_NAME_BYTES + 8];
	uint32_t divisor;
};

static struct family begin(struct text *text, const struct metric_name *name, bool counter,
			   const char *doc)
{
	struct family family = { .divisor = name->divisor };
	const char *declared = text->openmetrics ? name->family : family.sample;

	snprintf(family.sample, sizeof(family.sample), "%s%s", name->family,
		 counter ? "_total" : "");
	append_text(text, "# HELP ");
	append_text(text, declared);
	append_text(text, " ");
	append_help(text, doc);
	append_text(text, "\n# TYPE ");
	append_text(text, declared);
	append_text(text, counter ? " counter\n" : " gauge\n");
	if (text->openmetrics && name->unit != NULL) {
		append_text(text, "# UNIT ");
		append_text(text, declared);
		append_text(text, " ");
		append_text(text, name->unit);
		append_text(text, "\n");
	}
	return family;
}

static struct family begin_gauge(struct text *text, const char *name, const char *unit,
				 const char *doc)
{
	struct metric_name metric = { .unit = unit, .divisor = 1 };

	snprintf(metric.family, sizeof(metric.family), "%s", name);
	return begin(text, &metric, false, doc);
}

static void sample(struct text *text, const struct family *family, const char *labels,
		   uint64_t value)
{
	char number[METRIC_VALUE_BYTES];
	size_t len;

	append_text(text, family->sample);
	append_text(text, labels);
	len = metric_value(value, family->divisor, number);
	append(text, number, len);
	append(text, "\n", 1);
}

// A label set with its braces and the space behind it; `more` are labels of an object that is part
// of another.
static void make_labels(char *out, const struct metrics_source *source, const char *key,
			const char *name, const char *more)
{
	char value[2 * CONFIG_TEXT_BYTES];
	size_t len = (size_t)snprintf(out, LABELS_BYTES, "{switch=\"%s\"",
				      source->in->config->sw.name);

	if (key != NULL) {
		metric_label(name, value, sizeof(value));
		len += (size_t)snprintf(out + len, LABELS_BYTES - len, ",%s=\"%s\"", key, value);
	}
	snprintf(out + len, LABELS_BYTES - len, "%s} ", more);
}

static uint64_t value_of(const void *stats, const struct stat_info *row)
{
	return *(const uint64_t *)((const uint8_t *)stats + row->offset);
}

static void switch_samples(struct text *text, const struct metrics_source *source,
			   const struct stat_info *row, const struct family *family)
{
	char labels[LABELS_BYTES];

	make_labels(labels, source, NULL, NULL, "");
	sample(text, family, labels, value_of(&source->snapshot->sw, row));
}

static void pool_samples(struct text *text, const struct metrics_source *source,
			 const struct stat_info *row, const struct family *family)
{
	const struct sw_profile *pf = source->snapshot->profile;
	char labels[LABELS_BYTES];

	for (uint32_t i = 0; i < pf->pool_count; i++) {
		make_labels(labels, source, "pool", pf->pool[i].name, "");
		sample(text, family, labels, value_of(&source->snapshot->pool[i], row));
	}
}

static void acl_samples(struct text *text, const struct metrics_source *source,
			const struct stat_info *row, const struct family *family)
{
	const struct sw_profile *pf = source->snapshot->profile;
	const struct acl_row *rows = acl_rows_of(pf);
	char labels[LABELS_BYTES];
	char number[24];

	// Names of rows need not differ.
	for (uint32_t i = 0; i < pf->acl_count && source->acl != NULL; i++) {
		snprintf(number, sizeof(number), ",row=\"%u\"", i);
		make_labels(labels, source, "name", rows[i].name, number);
		sample(text, family, labels, value_of(&source->acl[i], row));
	}
}

static const char *port_name(const struct metrics_source *source, uint32_t port)
{
	return source->in->config->port[port].name;
}

static void port_samples(struct text *text, const struct metrics_source *source,
			 const struct stat_info *row, const struct family *family)
{
	char labels[LABELS_BYTES];

	for (uint32_t i = 0; i < source->in->port_count; i++) {
		make_labels(labels, source, "port", port_name(source, i), "");
		sample(text, family, labels, value_of(&source->snapshot->port[i].stats, row));
	}
}

// The eight of one kind that each port has.
struct part {
	const char *labels; // with %u
	size_t bytes;       // of the statistics of one
	size_t offset;      // of the first, in struct port_snapshot
};

static const struct part prio_part = { ",priority=\"%u\"", sizeof(struct prio_stats),
				       offsetof(struct port_snapshot, prio) };
static const struct part pg_part = { ",pg=\"%u\"", sizeof(struct pg_stats),
				     offsetof(struct port_snapshot, pg) };
static const struct part queue_part = { ",queue=\"%u\"", sizeof(struct queue_stats),
					offsetof(struct port_snapshot, queue) };

static void part_samples(struct text *text, const struct metrics_source *source, uint32_t port,
			 const struct part *part, const struct stat_info *row,
			 const struct family *family)
{
	const uint8_t *stats = (const uint8_t *)&source->snapshot->port[port] + part->offset;
	char labels[LABELS_BYTES];
	char number[24];
	uint64_t value;

	for (uint32_t i = 0; i < 8; i++, stats += part->bytes) {
		value = value_of(stats, row);
		if (part == &prio_part && !prio_rows_value(&source->prio[port], i, row, &value))
			continue;
		snprintf(number, sizeof(number), part->labels, i);
		make_labels(labels, source, "port", port_name(source, port), number);
		sample(text, family, labels, value);
	}
}

static void object_samples(struct text *text, const struct metrics_source *source,
			   enum stat_object object, const struct stat_info *row,
			   const struct family *family)
{
	const struct part *part = NULL;

	switch (object) {
	case STAT_SWITCH: switch_samples(text, source, row, family); return;
	case STAT_POOL: pool_samples(text, source, row, family); return;
	case STAT_PORT: port_samples(text, source, row, family); return;
	case STAT_ACL: acl_samples(text, source, row, family); return;
	case STAT_PRIO: part = &prio_part; break;
	case STAT_PG: part = &pg_part; break;
	case STAT_QUEUE: part = &queue_part; break;
	case STAT_FLOW:
	case STAT_OBJECT_COUNT: return;
	}
	for (uint32_t i = 0; i < source->in->port_count; i++)
		part_samples(text, source, i, part, row, family);
}

static void table_text(struct text *text, const struct metrics_source *sources, uint32_t count,
		       enum stat_object object)
{
	const struct stat_table *table = &stat_tables[object];

	for (uint32_t i = 0; i < table->count; i++) {
		const struct stat_info *row = &table->rows[i];
		struct metric_name name;
		struct family family;

		metric_name_of(table->object, row->key, &name);
		family = begin(text, &name, row->kind == STAT_COUNTER, row->doc);
		for (uint32_t k = 0; k < count; k++)
			object_samples(text, &sources[k], object, row, &family);
	}
}

// All reasons, also those that have not occurred: a rate needs a beginning.
static void drop_samples(struct text *text, const struct metrics_source *source,
			 const struct family *family)
{
	char labels[LABELS_BYTES];
	char more[64];

	for (uint32_t i = 0; i < source->in->port_count; i++) {
		for (uint32_t k = DROP_NONE + 1; k < DROP_REASON_COUNT; k++) {
			snprintf(more, sizeof(more), ",reason=\"%s\"", drop_infos[k].name);
			make_labels(labels, source, "port", port_name(source, i), more);
			sample(text, family, labels, source->snapshot->port[i].drops[k]);
		}
	}
}

static void drops_text(struct text *text, const struct metrics_source *sources, uint32_t count)
{
	const struct metric_name name = { "weft_port_drops", NULL, 1 };
	const struct family family = begin(
		text, &name, true, "frames dropped at the port, by reason (schema/drops.def)");

	for (uint32_t i = 0; i < count; i++)
		drop_samples(text, &sources[i], &family);
}

// What is no counter of the core: state of a port.
#define PORT_STATE(name, key, doc) PORT_STATE_##name,
enum port_state {
#include "schema/states.def"
};

static uint64_t port_state(const struct metrics_source *source, uint32_t i, enum port_state state)
{
	const struct port *port = &source->in->port[i];
	const uint64_t mbps = port->ethdev == PORT_NO_DEVICE ? 0 : port->link_mbps;

	switch (state) {
	case PORT_STATE_ADMIN_UP: return port->config->admin;
	case PORT_STATE_UP: return source->snapshot->port[i].link_up;
	case PORT_STATE_PRESENT: return port->ethdev != PORT_NO_DEVICE;
	case PORT_STATE_SPEED:
		return port->config->speed != 0 ? port->config->speed / 8 : mbps * 125000;
	}
	return 0;
}

static void state_samples(struct text *text, const struct metrics_source *source,
			  enum port_state state, const struct family *family)
{
	char labels[LABELS_BYTES];

	for (uint32_t i = 0; i < source->in->port_count; i++) {
		make_labels(labels, source, "port", port_name(source, i), "");
		sample(text, family, labels, port_state(source, i, state));
	}
}

static void states_text(struct text *text, const struct metrics_source *sources, uint32_t count)
{
	static const struct {
		const char *name;
		const char *doc;
		enum port_state state;
	} rows[] = {
#define PORT_STATE(name, key, doc) { "weft_port_" #key, doc, PORT_STATE_##name },
#include "schema/states.def"
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct family family = begin_gauge(text, rows[r].name, NULL, rows[r].doc);

		for (uint32_t i = 0; i < count; i++)
			state_samples(text, &sources[i], rows[r].state, &family);
	}
}

static void infos_text(struct text *text, const struct metrics_source *sources, uint32_t count)
{
	struct family family = begin_gauge(text, "weft_port_description", NULL,
					   "always 1; the other names of a port");
	char labels[LABELS_BYTES];
	char alias[2 * CONFIG_NAME_BYTES];
	char more[4 * CONFIG_NAME_BYTES];

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < sources[i].in->port_count; k++) {
			const struct port *port = &sources[i].in->port[k];

			metric_label(port->config->alias, alias, sizeof(alias));
			snprintf(more, sizeof(more), ",alias=\"%s\",driver=\"%s\"", alias,
				 port->driver->name);
			make_labels(labels, &sources[i], "port", port->config->name, more);
			sample(text, &family, labels, 1);
		}
	}
	family = begin_gauge(text, "weft_pool_size_bytes", "bytes",
			     "size of the pool: reserves and shared part, headroom on top");
	for (uint32_t i = 0; i < count; i++) {
		const struct sw_profile *pf = sources[i].snapshot->profile;

		for (uint32_t k = 0; k < pf->pool_count; k++) {
			make_labels(labels, &sources[i], "pool", pf->pool[k].name, "");
			sample(text, &family, labels, pf->pool[k].size_bytes);
		}
	}
}

static void uptime_text(struct text *text, const struct metrics_source *sources, uint32_t count)
{
	const struct metric_name name = { "weft_switch_uptime_seconds", "seconds", 1000000000 };
	struct family family = begin(text, &name, false, "time since the switch started");
	char labels[LABELS_BYTES];

	for (uint32_t i = 0; i < count; i++) {
		make_labels(labels, &sources[i], NULL, NULL, "");
		sample(text, &family, labels, sources[i].snapshot->now.v);
	}
	family = begin_gauge(text, "weft_build_info", NULL, "always 1; the version that runs");
	sample(text, &family, "{version=\"" WEFT_VERSION "\"} ", 1);
}

// Of the process, whose lcores poll all its switches.
static void lcores_text(struct text *text, struct workers *workers)
{
	static const struct {
		struct metric_name name;
		const char *doc;
		size_t offset;
		bool counter;
	} rows[] = {
		{ { "weft_lcore_polls", NULL, 1 },
		  "visits of the polling loop",
		  offsetof(struct lcore_stats, polls),
		  true },
		{ { "weft_lcore_busy_polls", NULL, 1 },
		  "visits with something to do",
		  offsetof(struct lcore_stats, busy_polls),
		  true },
		{ { "weft_lcore_sleeps", NULL, 1 },
		  "timed sleeps of an idle lcore",
		  offsetof(struct lcore_stats, sleeps),
		  true },
		{ { "weft_lcore_reports_lost", NULL, 1 },
		  "messages that the control thread had no room for",
		  offsetof(struct lcore_stats, reports_lost),
		  true },
		{ { "weft_lcore_max_poll_gap_seconds", "seconds", 1000000000 },
		  "longest time between two visits, wanted sleep not counted",
		  offsetof(struct lcore_stats, max_gap_ns),
		  false },
	};
	struct lcore_stats stats[LCORE_MAX];
	char labels[40];

	workers_stats(workers, stats);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		const struct family family = begin(text, &rows[r].name, rows[r].counter,
						   rows[r].doc);

		for (uint32_t i = 0; i < workers->count; i++) {
			snprintf(labels, sizeof(labels), "{lcore=\"%u\"} ", i);
			sample(text, &family, labels,
			       *(const uint64_t *)((const uint8_t *)&stats[i] + rows[r].offset));
		}
	}
}

static void take_acl(struct metrics_source *source, struct workers *workers, struct instance *in)
{
	struct acl_list list = { 0 };
	struct message message = { .kind = MESSAGE_ACL_LIST, .instance = in, .acl = &list };
	uint32_t row = 0;

	do {
		workers_call(workers, &message);
		memcpy(&source->acl[row], list.stats, list.count * sizeof(list.stats[0]));
		row += list.count;
	} while (list.at != 0);
}

bool metrics_source_take(struct metrics_source *source, struct workers *workers,
			 struct instance *in)
{
	const uint32_t rows = in->profile->acl_count;

	*source = (struct metrics_source){ .in = in };
	source->snapshot = take_snapshot(workers, in, WATERMARK_USER);
	source->prio = calloc(in->port_count, sizeof(*source->prio));
	source->acl = rows > 0 ? calloc(rows, sizeof(*source->acl)) : NULL;
	if (source->snapshot == NULL || source->prio == NULL || (rows > 0 && source->acl == NULL)) {
		metrics_source_release(source);
		return false;
	}
	if (rows > 0)
		take_acl(source, workers, in);
	for (uint32_t i = 0; i < in->port_count; i++)
		prio_rows_read(&in->port[i], &source->prio[i]);
	return true;
}

void metrics_source_release(struct metrics_source *source)
{
	free(source->snapshot);
	free(source->prio);
	free(source->acl);
	*source = (struct metrics_source){ 0 };
}

char *metrics_text(const struct metrics_source *sources, uint32_t count, struct workers *workers,
		   bool openmetrics, size_t *bytes)
{
	struct text text = { .openmetrics = openmetrics };

	for (uint32_t i = 0; i < STAT_OBJECT_COUNT; i++) {
		if (i != STAT_FLOW) // would be as many series as there are queue pairs
			table_text(&text, sources, count, (enum stat_object)i);
	}
	drops_text(&text, sources, count);
	states_text(&text, sources, count);
	infos_text(&text, sources, count);
	uptime_text(&text, sources, count);
	lcores_text(&text, workers);
	if (openmetrics)
		append_text(&text, "# EOF\n");
	if (text.failed) {
		free(text.at);
		return NULL;
	}
	*bytes = text.len;
	return text.at;
}
