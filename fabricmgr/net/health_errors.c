// SPDX-License-Identifier: BSD-3-Clause
//
// Sentences are made of what /v1/fabric/alarms and /v1/fabric/health tell, so that all three say
// the same. A port is called "leaf1:Ethernet4" here, as links are.

#include "fabricmgr/net/health_errors.h"

#include <stdio.h>
#include <string.h>

#include "fabricmgr/net/health_json.h"
#include "sys/text_json.h"

enum { WORDS_BYTES = 320 };

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "";
}

// Names are those of a switch and of a port; "" of none.
static const char *place(const char *at, const char *port, char out[WORDS_BYTES])
{
	snprintf(out, WORDS_BYTES, "%.64s%s%.64s", at, port[0] != '\0' ? ":" : "", port);
	return out;
}

static void add(json_t *list, const char *severity, const json_t *where, const char *what,
		const char *advice)
{
	char object[WORDS_BYTES];

	place(text(where, "switch"), text(where, "port"), object);
	json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}", "severity", severity,
					      "object", object, "what",
					      text_json(what, strlen(what)), "advice", advice));
}

// Who looks closer.
static const char *look_closer(const json_t *where, char out[WORDS_BYTES])
{
	const char *port = text(where, "port");

	if (port[0] != '\0')
		snprintf(out, WORDS_BYTES, "weft -n %.64s show why %.64s says more",
			 text(where, "switch"), port);
	else
		snprintf(out, WORDS_BYTES, "weft fabric counters %.64s says more",
			 text(where, "switch"));
	return out;
}

static void add_alarm(json_t *list, const json_t *alarm)
{
	const char *unit = text(alarm, "unit");
	char what[WORDS_BYTES];
	char advice[WORDS_BYTES];

	if (unit[0] != '\0')
		snprintf(what, WORDS_BYTES, "%.200s (%.4g %.32s now)", text(alarm, "what"),
			 json_number_value(json_object_get(alarm, "level")), unit);
	else
		snprintf(what, WORDS_BYTES, "%.200s", text(alarm, "what"));
	add(list, text(alarm, "severity"), alarm, what, look_closer(alarm, advice));
}

// What others tell in more words.
static bool is_told(const json_t *alarm)
{
	const char *name = text(alarm, "alarm");

	return strcmp(name, alarm_infos[ALARM_HEADLESS].name) == 0 ||
	       strcmp(name, alarm_infos[ALARM_MISCABLED].name) == 0;
}

static void add_alarms(const struct health *health, ns_t now, json_t *list)
{
	json_t *answer = health_alarms_json(health, now);
	const json_t *alarms = json_object_get(answer, "alarms");

	for (size_t i = 0; i < json_array_size(alarms); i++) {
		const json_t *alarm = json_array_get(alarms, i);

		if (!is_told(alarm))
			add_alarm(list, alarm);
	}
	json_decref(answer);
}

static void add_cable(json_t *list, const json_t *cable)
{
	char meant[WORDS_BYTES];
	char seen[WORDS_BYTES];
	char what[3 * WORDS_BYTES];

	if (strcmp(text(cable, "state"), "wrong") != 0)
		return;
	snprintf(what, sizeof(what), "its cable is meant for %s and leads to %s",
		 place(text(cable, "expected"), text(cable, "expected_port"), meant),
		 place(text(cable, "seen"), text(cable, "seen_port"), seen));
	add(list, "warning", cable, what, "plug it over, or change the intent");
}

static void add_root(json_t *list, const json_t *root)
{
	const json_int_t victims = json_integer_value(json_object_get(root, "victims"));
	const bool ring = strcmp(text(root, "kind"), "ring") == 0;
	char what[WORDS_BYTES];
	char advice[WORDS_BYTES];

	snprintf(what, WORDS_BYTES, "%.200s; ports that wait for it: %" JSON_INTEGER_FORMAT,
		 text(root, "why"), victims);
	add(list, ring ? "error" : "warning", root, what, look_closer(root, advice));
}

static void add_all(json_t *list, const json_t *things,
		    void (*add_one)(json_t *list, const json_t *thing))
{
	for (size_t i = 0; i < json_array_size(things); i++)
		add_one(list, json_array_get(things, i));
}

void health_errors_add(const struct health *health, ns_t now, struct arena *scratch, json_t *list)
{
	json_t *answer = health_errors_json(health, now, scratch);

	add_alarms(health, now, list);
	add_all(list, json_object_get(answer, "cables"), add_cable);
	add_all(list, json_object_get(json_object_get(answer, "storms"), "roots"), add_root);
	json_decref(answer);
}
