// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of health to JSON. Texts that come from neighbours go through text_json(), since nobody
// says that they are UTF-8; names of the fabric are ASCII.

#include "fabricmgr/net/health_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabricmgr/core/health_cables.h"
#include "fabricmgr/core/health_storm.h"
#include "sys/counters_packed.h"
#include "sys/nearest.h"
#include "sys/text_json.h"

#define SECOND_NS 1000000000ull
#define STORM_SHARE 0.5 // of the time: less is how PFC works

static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key,
			    value == COUNTERS_UNKNOWN ? json_null() :
							json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, text_json(text, strlen(text)));
}

static const char *port_name(const struct health *health, uint32_t at, uint32_t port,
			     char memory[FABRIC_NAME_BYTES])
{
	return fabric_port_name(&health->fabric->switches[at], (uint16_t)port, memory);
}

static void set_port(json_t *object, const struct health *health, uint32_t at, uint32_t port)
{
	char memory[FABRIC_NAME_BYTES];

	set_text(object, "switch", health->fabric->switches[at].name);
	set_text(object, "port", port_name(health, at, port, memory));
}

// --- counters -----------------------------------------------------------------------------------

static json_t *rows_json(enum counters_object object, const uint64_t *rows)
{
	const struct counters_table *table = &counters_tables[object];
	json_t *out = json_object();

	for (uint32_t i = 0; i < table->count; i++)
		set_number(out, table->rows[i].key, rows[i]);
	return out;
}

static bool is_used(const uint64_t *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i] != 0 && rows[i] != COUNTERS_UNKNOWN)
			return true;
	}
	return false;
}

// Those of eight parts in which there ever was something, with their number.
static json_t *parts_json(enum counters_object object, const char *key, const uint64_t *block)
{
	const struct counters_table *table = &counters_tables[object];
	const uint64_t *rows = block + table->at;
	json_t *list = json_array();

	for (uint32_t i = 0; i < table->parts; i++, rows += table->count) {
		json_t *part;

		if (!is_used(rows, table->count))
			continue;
		part = rows_json(object, rows);
		set_number(part, key, i);
		json_array_append_new(list, part);
	}
	return list;
}

static json_t *drops_json(const uint64_t *drops)
{
	const struct counters_table *table = &counters_tables[COUNTERS_OF_DROP];
	json_t *object = json_object();

	for (uint32_t i = 0; i < table->count; i++) {
		if (drops[i] != 0)
			set_number(object, table->rows[i].key, drops[i]);
	}
	return object;
}

static json_t *rates_json(const struct health_port *port)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < HEALTH_ROW_COUNT; i++)
		json_object_set_new(object, health_row_keys[i], json_real(port->rate[i]));
	return object;
}

static json_t *port_json(const struct health *health, uint32_t at, uint32_t port)
{
	const uint64_t *block = &health->switches[at].values[counters_port_at(port)];
	json_t *object = json_object();
	char memory[FABRIC_NAME_BYTES];

	set_text(object, "name", port_name(health, at, port, memory));
	json_object_set_new(object, "stats", rows_json(COUNTERS_OF_PORT, block));
	json_object_set_new(object, "priorities", parts_json(COUNTERS_OF_PRIO, "priority", block));
	json_object_set_new(object, "priority_groups", parts_json(COUNTERS_OF_PG, "pg", block));
	json_object_set_new(object, "queues", parts_json(COUNTERS_OF_QUEUE, "queue", block));
	json_object_set_new(object, "drops", drops_json(block + COUNTERS_DROP_AT));
	json_object_set_new(object, "rates",
			    rates_json(&health->ports[health_port_of(health, at, port)]));
	return object;
}

// Age is null for a switch that has not reported.
static json_t *switch_head(const struct health *health, uint32_t at, ns_t now)
{
	const struct health_switch *sw = &health->switches[at];
	json_t *object = json_object();

	set_text(object, "switch", health->fabric->switches[at].name);
	json_object_set_new(object, "age_ns",
			    sw->uptime_ns == 0 ?
				    json_null() :
				    json_integer((json_int_t)ns_since(now, sw->reported)));
	json_object_set_new(object, "unreadable", json_boolean(sw->unreadable));
	return object;
}

static json_t *sums_json(const struct health *health, uint32_t at, ns_t now)
{
	json_t *object = switch_head(health, at, now);
	json_t *rates = json_object();

	for (uint32_t row = 0; row < HEALTH_ROW_COUNT; row++) {
		double sum = 0;

		for (uint32_t i = health->first_port[at]; i < health->first_port[at + 1]; i++) {
			const double rate = health->ports[i].rate[row];

			sum = row < HEALTH_SUMS ? sum + rate : rate > sum ? rate : sum;
		}
		json_object_set_new(rates, health_row_keys[row], json_real(sum));
	}
	json_object_set_new(object, "stats",
			    rows_json(COUNTERS_OF_SWITCH, health->switches[at].values));
	json_object_set_new(object, "rates", rates);
	return object;
}

static json_t *pools_json(const uint64_t *values)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < COUNTERS_POOL_MAX; i++) {
		const uint64_t *rows = &values[counters_pool_at(i)];

		if (rows[POOL_STATE_SIZE_BYTES] != 0)
			json_array_append_new(list, rows_json(COUNTERS_OF_POOL, rows));
	}
	return list;
}

static bool find_port(const struct fabric *fabric, uint32_t at, const char *name, uint16_t *port,
		      char why[FIND_WHY_BYTES])
{
	const struct fabric_switch *sw = &fabric->switches[at];

	if (fabric_find_port(sw, name, port))
		return true;
	snprintf(why, FIND_WHY_BYTES, "%s has no port %.*s", sw->name, FABRIC_NAME_BYTES - 1, name);
	return false;
}

static json_t *switch_json(const struct health *health, uint32_t at, const char *port, ns_t now,
			   char why[FIND_WHY_BYTES])
{
	const uint32_t count = health->fabric->switches[at].port_count;
	json_t *ports = json_array();
	json_t *object;
	uint16_t only = 0;

	if (port != NULL && !find_port(health->fabric, at, port, &only, why)) {
		json_decref(ports);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (port == NULL || i == only)
			json_array_append_new(ports, port_json(health, at, i));
	}
	object = sums_json(health, at, now);
	json_object_set_new(object, "pools", pools_json(health->switches[at].values));
	json_object_set_new(object, "ports", ports);
	return object;
}

json_t *health_counters_json(const struct health *health, const char *at, const char *port,
			     ns_t now, char why[FIND_WHY_BYTES])
{
	json_t *list;
	uint32_t number;

	if (at != NULL)
		return find_switch(health->fabric, at, &number, why) ?
			       switch_json(health, number, port, now, why) :
			       NULL;
	list = json_array();
	for (uint32_t i = 0; i < health->fabric->switch_count; i++)
		json_array_append_new(list, sums_json(health, i, now));
	return json_pack("{s:o}", "switches", list);
}

// --- what is wrong ------------------------------------------------------------------------------

// Rows that speak of trouble, with what one of each weighs: a lossless frame that is lost is worse
// than any amount of pauses.
static const struct {
	enum health_row row;
	double weight;
} troubles[] = {
	{ HEALTH_LOSSLESS_DROPS, 1e9 }, { HEALTH_STORMS, 1e8 }, { HEALTH_ERRORS, 1e5 },
	{ HEALTH_DROPS, 1e3 },          { HEALTH_PAUSED, 100 }, { HEALTH_PAUSING, 10 },
};

struct bad_port {
	double badness;
	uint32_t at;
	uint32_t port;
};

static double badness_of(const struct health *health, uint32_t at, uint32_t port, ns_t now)
{
	const struct health_port *row = &health->ports[health_port_of(health, at, port)];
	double sum = 0;

	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		sum += row->alarm[i].on ? 1e4 : 0;
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		sum += health_is_fresh(health, at, now) ?
			       troubles[i].weight * (double)row->rate[troubles[i].row] :
			       0;
	return sum;
}

// Keeps the worst ones, sorted; *count is how many.
static void keep(struct bad_port worst[HEALTH_JSON_PORTS_MAX], uint32_t *count,
		 const struct bad_port *port)
{
	uint32_t i = *count;

	while (i > 0 && worst[i - 1].badness < port->badness)
		i--;
	if (i == HEALTH_JSON_PORTS_MAX)
		return;
	*count += *count < HEALTH_JSON_PORTS_MAX;
	memmove(&worst[i + 1], &worst[i], (*count - 1 - i) * sizeof(*worst));
	worst[i] = *port;
}

// What was dropped at all stands beside what is dropped now.
static json_t *bad_port_json(const struct health *health, const struct bad_port *bad)
{
	const struct health_port *port = &health->ports[health_port_of(health, bad->at, bad->port)];
	const uint64_t *values = health->switches[bad->at].values;
	json_t *object = json_object();
	json_t *alarms = json_array();

	set_port(object, health, bad->at, bad->port);
	json_object_set_new(object, "badness", json_real(bad->badness));
	json_object_set_new(object, "rates", rates_json(port));
	json_object_set_new(object, "dropped",
			    json_integer((json_int_t)port->counted[HEALTH_DROPS]));
	json_object_set_new(object, "lossless_dropped",
			    json_integer((json_int_t)port->counted[HEALTH_LOSSLESS_DROPS]));
	json_object_set_new(object, "errors",
			    json_integer((json_int_t)port->counted[HEALTH_ERRORS]));
	json_object_set_new(object, "drops", drops_json(&values[counters_drop_at(bad->port)]));
	for (uint32_t i = 0; i < ALARM_COUNT; i++) {
		if (port->alarm[i].on)
			json_array_append_new(alarms, json_string(alarm_infos[i].name));
	}
	json_object_set_new(object, "alarms", alarms);
	return object;
}

static json_t *bad_ports_json(const struct health *health, ns_t now)
{
	struct bad_port worst[HEALTH_JSON_PORTS_MAX];
	json_t *list = json_array();
	uint32_t count = 0;

	for (uint32_t i = 0; i < health->port_count; i++) {
		const uint32_t at = health_switch_of(health, i);
		const uint32_t n = i - health->first_port[at];
		const struct bad_port port = { badness_of(health, at, n, now), at, n };

		if (port.badness > 0)
			keep(worst, &count, &port);
	}
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, bad_port_json(health, &worst[i]));
	return list;
}

static json_t *root_json(const struct health *health, const struct health_root *root)
{
	static const char *const kinds[] = {
		[HEALTH_ROOT_HOST] = "host",
		[HEALTH_ROOT_SWITCH] = "switch",
		[HEALTH_ROOT_RING] = "ring",
	};
	static const char *const words[] = {
		[HEALTH_ROOT_HOST] = "the host at this port pauses it, and nobody pauses the host",
		[HEALTH_ROOT_SWITCH] =
			("this switch pauses others and none of its ports is paused: the port "
			 "has the deepest queue, more is sent to it than its link takes"),
		[HEALTH_ROOT_RING] =
			"paused ports wait for each other in a ring: this is a deadlock",
	};
	json_t *object = json_object();

	set_port(object, health, root->at, root->port);
	set_text(object, "kind", kinds[root->kind]);
	set_text(object, "why", words[root->kind]);
	json_object_set_new(object, "victims", json_integer(root->victims));
	json_object_set_new(object, "share", json_real(root->share));
	return object;
}

static json_t *storms_json(const struct health *health, ns_t now, struct arena *scratch)
{
	struct health_storm storm;
	json_t *roots = json_array();

	if (health_storm_find(health, STORM_SHARE, now, scratch, &storm) != 0) {
		json_decref(roots);
		return NULL;
	}
	for (uint32_t i = 0; i < storm.count; i++)
		json_array_append_new(roots, root_json(health, &storm.root[i]));
	return json_pack("{s:I, s:I, s:o}", "paused_ports", (json_int_t)storm.pauses, "more",
			 (json_int_t)storm.more, "roots", roots);
}

static json_t *cable_json(const struct health *health, uint32_t at, uint32_t port,
			  enum health_cable judged)
{
	const struct health_neighbor *heard =
		&health->ports[health_port_of(health, at, port)].neighbor;
	const struct health_expected expected = health_expected(health, at, port);
	json_t *object = json_object();

	set_port(object, health, at, port);
	set_text(object, "expected", expected.name);
	set_text(object, "expected_port", expected.port);
	set_text(object, "seen", heard->name);
	set_text(object, "seen_port", heard->port);
	set_text(object, "seen_chassis", heard->chassis);
	set_text(object, "state", judged == HEALTH_CABLE_WRONG ? "wrong" : "unknown");
	return object;
}

static json_t *cables_json(const struct health *health)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < health->port_count; i++) {
		const uint32_t at = health_switch_of(health, i);
		const uint32_t n = i - health->first_port[at];
		const enum health_cable judged = health_cable_judge(health, at, n);

		if (judged == HEALTH_CABLE_WRONG || judged == HEALTH_CABLE_UNKNOWN)
			json_array_append_new(list, cable_json(health, at, n, judged));
	}
	return list;
}

json_t *health_errors_json(const struct health *health, ns_t now, struct arena *scratch)
{
	return json_pack("{s:o, s:o, s:o}", "ports", bad_ports_json(health, now), "storms",
			 storms_json(health, now, scratch), "cables", cables_json(health));
}

// --- alarms -------------------------------------------------------------------------------------

struct raised {
	ns_t since;
	uint32_t at;
	uint32_t port;
	enum alarm_kind kind;
};

static int by_age(const void *a, const void *b)
{
	const struct raised *first = a;
	const struct raised *second = b;

	return first->since.v < second->since.v ? 1 : first->since.v > second->since.v ? -1 : 0;
}

static const struct health_alarm *alarm_at(const struct health *health, uint32_t at, uint32_t port,
					   enum alarm_kind kind)
{
	return alarm_infos[kind].object == HEALTH_PORT ?
		       &health->ports[health_port_of(health, at, port)].alarm[kind] :
		       &health->switches[at].alarm[kind];
}

static json_t *alarm_json(const struct health *health, const struct raised *raised, ns_t now)
{
	const struct alarm_info *info = &alarm_infos[raised->kind];
	const struct health_alarm *alarm = alarm_at(health, raised->at, raised->port, raised->kind);
	json_t *object = json_object();

	if (info->object == HEALTH_PORT)
		set_port(object, health, raised->at, raised->port);
	else
		set_text(object, "switch", health->fabric->switches[raised->at].name);
	set_text(object, "alarm", info->name);
	set_text(object, "severity", info->severity == HEALTH_ERROR ? "error" : "warning");
	set_text(object, "what", info->doc);
	json_object_set_new(object, "level", json_real(alarm->level));
	set_text(object, "unit", info->unit);
	json_object_set_new(object, "raised_above", json_real(health->limits[raised->kind].raise));
	json_object_set_new(object, "for_ns",
			    json_integer((json_int_t)ns_since(now, alarm->since)));
	return object;
}

// Writes those of a kind that are raised at one switch; returns how many.
static size_t collect(const struct health *health, uint32_t at, enum alarm_kind kind,
		      struct raised *out)
{
	const uint32_t objects = alarm_infos[kind].object == HEALTH_PORT ?
					 health->fabric->switches[at].port_count :
					 1;
	size_t count = 0;

	for (uint32_t i = 0; i < objects; i++) {
		const struct health_alarm *alarm = alarm_at(health, at, i, kind);

		if (alarm->on)
			out[count++] = (struct raised){ alarm->since, at, i, kind };
	}
	return count;
}

json_t *health_alarms_json(const struct health *health, ns_t now)
{
	const size_t most = ((size_t)health->port_count + health->fabric->switch_count) *
			    ALARM_COUNT;
	struct raised *raised = calloc(most + 1, sizeof(*raised));
	json_t *list = json_array();
	size_t count = 0;

	if (raised == NULL) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t at = 0; at < health->fabric->switch_count; at++) {
		for (uint32_t kind = 0; kind < ALARM_COUNT; kind++)
			count += collect(health, at, kind, raised + count);
	}
	qsort(raised, count, sizeof(*raised), by_age);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, alarm_json(health, &raised[i], now));
	free(raised);
	return json_pack("{s:o}", "alarms", list);
}

// --- history ------------------------------------------------------------------------------------

static bool find_row(const char *key, enum health_row *row, char why[FIND_WHY_BYTES])
{
	struct nearest near = nearest_to(key);

	for (uint32_t i = 0; i < HEALTH_ROW_COUNT; i++) {
		*row = i;
		if (strcmp(key, health_row_keys[i]) == 0)
			return true;
		nearest_offer(&near, health_row_keys[i]);
	}
	snprintf(why, FIND_WHY_BYTES, "there is no row %.*s%s%s%s", FABRIC_NAME_BYTES - 1, key,
		 near.best != NULL ? "; did you mean " : "", near.best != NULL ? near.best : "",
		 near.best != NULL ? "?" : "");
	return false;
}

// "leaf1:Ethernet4", any port of a switch.
static bool find_object(const struct fabric *fabric, const char *name, uint32_t *at, uint16_t *port,
			char why[FIND_WHY_BYTES])
{
	const char *colon = strrchr(name, ':');
	char stem[FABRIC_NAME_BYTES];

	if (colon == NULL || colon - name >= FABRIC_NAME_BYTES) {
		snprintf(why, FIND_WHY_BYTES, "a port is named as leaf1:Ethernet4");
		return false;
	}
	snprintf(stem, sizeof(stem), "%.*s", (int)(colon - name), name);
	return find_switch(fabric, stem, at, why) && find_port(fabric, *at, colon + 1, port, why);
}

static json_t *rows_list(void)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < HEALTH_ROW_COUNT; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "row", health_row_keys[i],
						      "what", health_row_docs[i]));
	return json_pack("{s:o}", "rows", list);
}

json_t *health_history_json(const struct health *health, const char *port, const char *row,
			    uint32_t seconds, char why[FIND_WHY_BYTES])
{
	const uint32_t steps = seconds / health->step_s;
	enum health_row number;
	json_t *values;
	uint32_t at;
	uint16_t n;

	if (row[0] == '\0')
		return rows_list();
	if (!find_row(row, &number, why) || !find_object(health->fabric, port, &at, &n, why))
		return NULL;
	values = json_array();
	for (uint32_t ago = steps < health->slots ? steps : health->slots - 1; ago > 0; ago--) {
		const double value = health_past(health, health_port_of(health, at, n), number,
						 ago);

		json_array_append_new(values, value < 0 ? json_null() : json_real(value));
	}
	return json_pack("{s:s, s:s, s:s, s:I, s:o}", "port", port, "row", row, "what",
			 health_row_docs[number], "step_s", (json_int_t)health->step_s, "values",
			 values);
}
