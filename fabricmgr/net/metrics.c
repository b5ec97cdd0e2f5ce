// SPDX-License-Identifier: BSD-3-Clause
//
// All samples of a metric stand together, so the walk is row by row and then switch by switch. Text
// goes to the evbuffer in large pieces. Sums are made in one pass over all numbers: row by row it
// would fetch each port's memory once for each of its hundreds of rows.

#include "fabricmgr/net/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabricmgr/net/view.h"
#include "sys/counters_packed.h"
#include "sys/metrics_name.h"

enum { CHUNK_BYTES = 64 * 1024, LINE_BYTES = 1024, LABELS_BYTES = 320 };

struct text {
	const struct metrics_source *source;
	struct evbuffer *out;
	bool failed;
	size_t len;
	char chunk[CHUNK_BYTES];
};

static void flush(struct text *text)
{
	text->failed |= evbuffer_add(text->out, text->chunk, text->len) != 0;
	text->len = 0;
}

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	if (CHUNK_BYTES - text->len < LINE_BYTES)
		flush(text);
	va_start(args, format);
	len = vsnprintf(text->chunk + text->len, LINE_BYTES, format, args);
	va_end(args);
	text->len += (size_t)(len < LINE_BYTES ? len : LINE_BYTES - 1);
}

// --- families and samples -----------------------------------------------------------------------

struct family {
	char sample[METRIC_NAME_BYTES + 8];
	uint32_t divisor;
};

static void head(struct text *text, const char *name, const char *type, const char *doc)
{
	add(text, "# HELP %s %s\n# TYPE %s %s\n", name, doc, name, type);
}

static struct family begin(struct text *text, const char *object, const struct counters_row *row)
{
	const bool counter = row->kind == COUNTERS_COUNTER;
	struct metric_name name;
	struct family family;

	metric_name_of(object, row->key, &name);
	family.divisor = name.divisor;
	snprintf(family.sample, sizeof(family.sample), "%s%s", name.family,
		 counter ? "_total" : "");
	head(text, family.sample, counter ? "counter" : "gauge", row->doc);
	return family;
}

static void sample(struct text *text, const struct family *family, const char *labels,
		   uint64_t value)
{
	char number[METRIC_VALUE_BYTES];

	if (value == COUNTERS_UNKNOWN)
		return;
	metric_value(value, family->divisor, number);
	add(text, "%s{%s} %s\n", family->sample, labels, number);
}

// Names of switches and ports are of letters that need no escape (core/fabric.h), but for quotes
// and backslashes.
static void label(char *out, size_t bytes, const char *key, const char *name)
{
	char value[2 * FABRIC_NAME_BYTES];

	metric_label(name, value, sizeof(value));
	snprintf(out, bytes, "%s=\"%s\"", key, value);
}

static void port_labels(const struct metrics_source *source, uint32_t at, uint32_t port,
			char out[LABELS_BYTES])
{
	const struct fabric_switch *sw = &source->health->fabric->switches[at];
	char memory[FABRIC_NAME_BYTES];
	char of_switch[LABELS_BYTES / 2];
	char of_port[LABELS_BYTES / 2];

	label(of_switch, sizeof(of_switch), "switch", sw->name);
	label(of_port, sizeof(of_port), "port", fabric_port_name(sw, (uint16_t)port, memory));
	snprintf(out, LABELS_BYTES, "%s,%s", of_switch, of_port);
}

// --- per switch ---------------------------------------------------------------------------------

// Whether a switch is in this scrape, and has said something.
static bool is_told(const struct metrics_source *source, uint32_t at)
{
	return (source->only == FABRIC_NONE || source->only == at) &&
	       source->health->switches[at].uptime_ns != 0;
}

static bool tells_ports(const struct metrics_source *source)
{
	return source->only != FABRIC_NONE || source->health->port_count <= METRICS_PORTS_MAX;
}

// A part of a port is used when any counter of it is not 0, or PFC protects it.
static bool is_used(const uint64_t *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i] != 0 && rows[i] != COUNTERS_UNKNOWN)
			return true;
	}
	return false;
}

static const char *const part_keys[COUNTERS_OBJECTS] = {
	[COUNTERS_OF_PRIO] = "priority",
	[COUNTERS_OF_PG] = "pg",
	[COUNTERS_OF_QUEUE] = "queue",
};

static void port_samples(struct text *text, const struct family *family,
			 const struct counters_table *table, const char *part_key, uint32_t row,
			 uint32_t at, uint32_t port)
{
	const uint64_t *values = text->source->health->switches[at].values;
	const uint64_t *rows = &values[counters_port_at(port) + table->at];
	char labels[LABELS_BYTES];
	char with_part[LABELS_BYTES + 32];

	port_labels(text->source, at, port, labels);
	if (part_key == NULL) {
		sample(text, family, labels, rows[row]);
		return;
	}
	for (uint32_t i = 0; i < table->parts; i++, rows += table->count) {
		snprintf(with_part, sizeof(with_part), "%s,%s=\"%u\"", labels, part_key, i);
		if (is_used(rows, table->count))
			sample(text, family, with_part, rows[row]);
	}
}

static void switch_samples(struct text *text, const struct family *family,
			   enum counters_object object, uint32_t row, uint32_t at)
{
	const struct metrics_source *source = text->source;
	const uint64_t *values = source->health->switches[at].values;
	char labels[LABELS_BYTES];
	char with_pool[LABELS_BYTES + 32];

	label(labels, sizeof(labels), "switch", source->health->fabric->switches[at].name);
	if (object == COUNTERS_OF_SWITCH) {
		sample(text, family, labels, values[row]);
		return;
	}
	for (uint32_t i = 0; i < COUNTERS_POOL_MAX; i++) {
		snprintf(with_pool, sizeof(with_pool), "%s,pool=\"%u\"", labels, i);
		if (values[counters_pool_at(i) + POOL_STATE_SIZE_BYTES] != 0)
			sample(text, family, with_pool, values[counters_pool_at(i) + row]);
	}
}

// One row of one switch: of itself, its pools, or its ports.
static void row_samples(struct text *text, const struct family *family, enum counters_object object,
			uint32_t row, uint32_t at)
{
	const struct fabric_switch *sw = &text->source->health->fabric->switches[at];

	if (object == COUNTERS_OF_SWITCH || object == COUNTERS_OF_POOL) {
		switch_samples(text, family, object, row, at);
		return;
	}
	for (uint32_t i = 0; i < sw->port_count; i++)
		port_samples(text, family, &counters_tables[object], part_keys[object], row, at, i);
}

static void row_text(struct text *text, enum counters_object object, uint32_t row)
{
	const struct counters_table *table = &counters_tables[object];
	const struct family family = begin(text, table->object, &table->rows[row]);

	for (uint32_t at = 0; at < text->source->health->fabric->switch_count; at++) {
		if (is_told(text->source, at))
			row_samples(text, &family, object, row, at);
	}
}

static void table_text(struct text *text, enum counters_object object)
{
	for (uint32_t row = 0; row < counters_tables[object].count; row++)
		row_text(text, object, row);
}

static void drop_samples(struct text *text, const struct family *family, uint32_t at, uint32_t port)
{
	const struct counters_table *table = &counters_tables[COUNTERS_OF_DROP];
	const uint64_t *values = text->source->health->switches[at].values;
	const uint64_t *drops = &values[counters_drop_at(port)];
	char labels[LABELS_BYTES];
	char with_reason[LABELS_BYTES + 64];

	port_labels(text->source, at, port, labels);
	for (uint32_t i = 0; i < table->count; i++) {
		if (drops[i] == 0)
			continue;
		snprintf(with_reason, sizeof(with_reason), "%s,reason=\"%s\"", labels,
			 table->rows[i].key);
		sample(text, family, with_reason, drops[i]);
	}
}

static const struct counters_row drops_row = {
	"drops", "frames dropped at the port, by reason (schema/drops.def)", COUNTERS_COUNTER
};

static void drops_text(struct text *text)
{
	const struct fabric *fabric = text->source->health->fabric;
	const struct family family = begin(text, "port", &drops_row);

	for (uint32_t at = 0; at < fabric->switch_count; at++) {
		for (uint32_t i = 0;
		     i < fabric->switches[at].port_count && is_told(text->source, at); i++)
			drop_samples(text, &family, at, i);
	}
}

// --- histograms ---------------------------------------------------------------------------------

static void histogram_samples(struct text *text, const char *name, const char *labels,
			      const struct health_histogram *histogram,
			      const uint64_t limits[HEALTH_BUCKETS - 1], uint32_t divisor)
{
	const char *comma = labels[0] != '\0' ? "," : "";
	char number[METRIC_VALUE_BYTES];
	uint64_t count = 0;

	for (uint32_t i = 0; i < HEALTH_BUCKETS - 1; i++) {
		count += histogram->count[i];
		metric_value(limits[i], divisor, number);
		add(text, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, labels, comma, number,
		    count);
	}
	count += histogram->count[HEALTH_BUCKETS - 1];
	metric_value(histogram->sum, divisor, number);
	add(text, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, count);
	add(text, "%s_sum{%s} %s\n", name, labels, number);
	add(text, "%s_count{%s} %" PRIu64 "\n", name, labels, count);
}

static bool is_empty(const struct health_histogram *histogram)
{
	for (uint32_t i = 0; i < HEALTH_BUCKETS; i++) {
		if (histogram->count[i] != 0)
			return false;
	}
	return true;
}

static void add_up(struct health_histogram *sum, const struct health_histogram *histogram)
{
	for (uint32_t i = 0; i < HEALTH_BUCKETS; i++)
		sum->count[i] += histogram->count[i];
	sum->sum += histogram->sum;
}

// A histogram of each queue, of each switch or of all.
struct queue_histograms {
	const char *name;
	const char *doc;
	const uint64_t *limits;
	uint32_t divisor;
	size_t offset; // of the array in struct health_switch
};

static const struct health_histogram *queue_histogram(const struct health_switch *sw,
						      const struct queue_histograms *what,
						      uint32_t queue)
{
	return (const struct health_histogram *)((const uint8_t *)sw + what->offset) + queue;
}

static void queue_histogram_samples(struct text *text, const struct queue_histograms *what,
				    const char *name, uint32_t at)
{
	const struct health *health = text->source->health;
	char labels[LABELS_BYTES];
	char with_queue[LABELS_BYTES + 32];

	label(labels, sizeof(labels), "switch", health->fabric->switches[at].name);
	for (uint32_t q = 0; q < COUNTERS_PARTS; q++) {
		const struct health_histogram *histogram = queue_histogram(&health->switches[at],
									   what, q);

		snprintf(with_queue, sizeof(with_queue), "%s,queue=\"%u\"", labels, q);
		if (!is_empty(histogram))
			histogram_samples(text, name, with_queue, histogram, what->limits,
					  what->divisor);
	}
}

static void queue_histogram_text(struct text *text, const struct queue_histograms *what)
{
	char name[64];

	snprintf(name, sizeof(name), "weft_%s", what->name);
	head(text, name, "histogram", what->doc);
	for (uint32_t at = 0; at < text->source->health->fabric->switch_count; at++) {
		if (is_told(text->source, at))
			queue_histogram_samples(text, what, name, at);
	}
}

static void queue_histogram_sums(struct text *text, const struct queue_histograms *what)
{
	const struct health *health = text->source->health;
	char name[64];
	char labels[32];

	snprintf(name, sizeof(name), "weft_fabric_%s", what->name);
	head(text, name, "histogram", what->doc);
	for (uint32_t q = 0; q < COUNTERS_PARTS; q++) {
		struct health_histogram sum = { .sum = 0 };

		for (uint32_t at = 0; at < health->fabric->switch_count; at++)
			add_up(&sum, queue_histogram(&health->switches[at], what, q));
		snprintf(labels, sizeof(labels), "queue=\"%u\"", q);
		if (!is_empty(&sum))
			histogram_samples(text, name, labels, &sum, what->limits, what->divisor);
	}
}

static const struct queue_histograms queue_histograms[] = {
	{ "queue_depth_bytes",
	  "most bytes in a queue at once in each second in which it was not empty, a sample for "
	  "each port and second (the manager's, of what switches report)",
	  health_depth_limits, 1, offsetof(struct health_switch, depth) },
	{ "queue_delay_seconds",
	  "longest stay of a frame in a queue in each second in which it was not empty, likewise",
	  health_delay_limits, 1000000000, offsetof(struct health_switch, delay) },
};

// --- of the fabric ------------------------------------------------------------------------------

enum { SUM_COUNT = COUNTERS_PORT_AT + COUNTERS_BLOCK };

struct sums {
	enum counters_kind kind[SUM_COUNT];
	uint64_t sum[SUM_COUNT]; // of all switches, pools of one number, and ports; or the largest
};

static void set_kinds(struct sums *sums)
{
	for (uint32_t i = 0; i < COUNTERS_OBJECTS; i++) {
		const struct counters_table *table = &counters_tables[i];
		const uint32_t first = i == COUNTERS_OF_SWITCH ? 0 :
				       i == COUNTERS_OF_POOL   ? COUNTERS_POOL_AT :
								 COUNTERS_PORT_AT + table->at;

		for (uint32_t k = 0; k < table->parts * table->count; k++)
			sums->kind[first + k] = table->rows[k % table->count].kind;
	}
}

static void sum_up(struct sums *sums, uint32_t first, const uint64_t *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *sum = &sums->sum[first + i];

		if (values[i] == COUNTERS_UNKNOWN)
			continue;
		if (sums->kind[first + i] == COUNTERS_WATERMARK)
			*sum = u64_max(*sum, values[i]);
		else
			*sum += values[i];
	}
}

static void sum_all(struct sums *sums, const struct health *health)
{
	*sums = (struct sums){ 0 };
	set_kinds(sums);
	for (uint32_t at = 0; at < health->fabric->switch_count; at++) {
		const struct health_switch *sw = &health->switches[at];

		if (sw->uptime_ns == 0)
			continue;
		sum_up(sums, 0, sw->values, COUNTERS_POOL_AT);
		for (uint32_t i = 0; i < health->fabric->switches[at].port_count; i++)
			sum_up(sums, COUNTERS_PORT_AT, &sw->values[counters_port_at(i)],
			       COUNTERS_BLOCK);
	}
}

static void sum_samples(struct text *text, const struct family *family,
			const struct counters_table *table, const char *part_key,
			const uint64_t *sum)
{
	char labels[32] = "";

	for (uint32_t i = 0; i < table->parts; i++, sum += table->count) {
		if (part_key != NULL)
			snprintf(labels, sizeof(labels), "%s=\"%u\"", part_key, i);
		sample(text, family, labels, *sum);
	}
}

// Gauges are no sums: of a state it would say nothing, and occupancies are those of a moment.
static void sums_text(struct text *text, const struct sums *sums, enum counters_object object)
{
	const struct counters_table *table = &counters_tables[object];
	const uint64_t *first =
		&sums->sum[object == COUNTERS_OF_SWITCH ? 0 : COUNTERS_PORT_AT + table->at];
	char name[64];

	snprintf(name, sizeof(name), "fabric_%s", table->object);
	for (uint32_t row = 0; row < table->count; row++) {
		struct family family;

		if (table->rows[row].kind == COUNTERS_GAUGE)
			continue;
		family = begin(text, name, &table->rows[row]);
		sum_samples(text, &family, table, part_keys[object], first + row);
	}
}

static void drop_sums_text(struct text *text, const struct sums *sums)
{
	const struct counters_table *table = &counters_tables[COUNTERS_OF_DROP];
	const struct family family = begin(text, "fabric", &drops_row);
	char labels[64];

	for (uint32_t i = 0; i < table->count; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"", table->rows[i].key);
		sample(text, &family, labels, sums->sum[COUNTERS_PORT_AT + COUNTERS_DROP_AT + i]);
	}
}

// --- of the manager -----------------------------------------------------------------------------

static void gauge(struct text *text, const char *name, const char *doc, uint64_t value)
{
	head(text, name, "gauge", doc);
	add(text, "%s %" PRIu64 "\n", name, value);
}

static void states(struct text *text, const char *name, const char *doc, const char *const *names,
		   const uint32_t *counts, uint32_t count)
{
	head(text, name, "gauge", doc);
	for (uint32_t i = 0; i < count; i++)
		add(text, "%s{state=\"%s\"} %u\n", name, names[i], counts[i]);
}

static uint32_t count_alarms(const struct health *health, enum alarm_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < health->port_count; i++)
		count += health->ports[i].alarm[kind].on;
	for (uint32_t i = 0; i < health->fabric->switch_count; i++)
		count += health->switches[i].alarm[kind].on;
	return count;
}

static void alarms_text(struct text *text)
{
	static const char *const severities[] = {
		[HEALTH_WARNING] = "warning",
		[HEALTH_ERROR] = "error",
	};

	head(text, "weft_fabric_alarms", "gauge", "alarms that are raised (schema/alarms.def)");
	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		add(text, "weft_fabric_alarms{alarm=\"%s\",severity=\"%s\"} %u\n",
		    alarm_infos[i].name, severities[alarm_infos[i].severity],
		    count_alarms(text->source->health, i));
}

void metrics_count_plan(struct metrics_plans *plans, const struct manager_plan *plan)
{
	if (plan->number == plans->number || plan->planned.v == 0)
		return;
	plans->number = plan->number;
	health_histogram_add(&plans->histogram, health_delay_limits,
			     ns_since(plan->planned, plan->asked));
}

static void manager_text(struct text *text)
{
	const struct manager_view *view = text->source->view;
	const struct view_counts counts = view_count(view);

	gauge(text, "weft_fabric_generation", "number of the generation that is given out",
	      view->distributor->number);
	gauge(text, "weft_fabric_epoch", "of this manager: each one that leads has a higher one",
	      view->distributor->epoch);
	states(text, "weft_fabric_switches", "switches by what the manager hears of them",
	       view_life_names, counts.lives, VIEW_LIVES);
	states(text, "weft_fabric_links", "cables between switches by their state", view_link_names,
	       counts.links, VIEW_LINKS);
	gauge(text, "weft_fabric_switches_behind",
	      "switches that do not run yet what they are to run", counts.behind);
	gauge(text, "weft_fabric_held", "1 while changes wait for an operator",
	      view->hold != MANAGER_HOLD_NONE);
	gauge(text, "weft_fabric_unreachable_pairs",
	      "pairs of host ports that no path joins, since links or switches are lost",
	      view->plan.unreachable);
	head(text, "weft_fabric_plan_duration_seconds", "histogram",
	     "time from the event that asks for a plan to the plan, verified");
	histogram_samples(text, "weft_fabric_plan_duration_seconds", "",
			  &text->source->plans->histogram, health_delay_limits, 1000000000);
	alarms_text(text);
}

static void all_text(struct text *text)
{
	struct sums sums;

	sum_all(&sums, text->source->health);
	sums_text(text, &sums, COUNTERS_OF_SWITCH);
	for (uint32_t i = COUNTERS_OF_PORT; i < COUNTERS_OF_DROP; i++)
		sums_text(text, &sums, i);
	drop_sums_text(text, &sums);
	for (size_t i = 0; i < sizeof(queue_histograms) / sizeof(queue_histograms[0]); i++)
		queue_histogram_sums(text, &queue_histograms[i]);
	manager_text(text);
}

int metrics_write(const struct metrics_source *source, struct evbuffer *out)
{
	struct text text;

	text.source = source;
	text.out = out;
	text.failed = false;
	text.len = 0;
	table_text(&text, COUNTERS_OF_SWITCH);
	table_text(&text, COUNTERS_OF_POOL);
	for (uint32_t i = COUNTERS_OF_PORT; i < COUNTERS_OF_DROP && tells_ports(source); i++)
		table_text(&text, i);
	if (tells_ports(source))
		drops_text(&text);
	for (size_t i = 0; i < sizeof(queue_histograms) / sizeof(queue_histograms[0]); i++)
		queue_histogram_text(&text, &queue_histograms[i]);
	if (source->only == FABRIC_NONE)
		all_text(&text);
	flush(&text);
	return text.failed ? -ENOMEM : 0;
}
