// SPDX-License-Identifier: BSD-3-Clause
//
// Words are made of members as they come: null and what is missing read as 0 or "". Texts of
// switches are among them: control characters are not passed on to the terminal.

#include "cli/fabric_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// A text that grows at its end and is cut where it does not fit.
struct words {
	char *out;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *format, ...)
{
	const size_t room = FABRIC_TEXT_BYTES - words->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(words->out + words->len, room, format, args);
	va_end(args);
	if (len > 0)
		words->len += (size_t)len < room ? (size_t)len : room - 1;
}

static uint64_t number(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "";
}

const char *fabric_text_time(uint64_t ns, char out[FABRIC_TEXT_BYTES])
{
	static const struct {
		uint64_t ns;
		uint64_t most; // of the unit before
		const char *name;
	} units[] = {
		{ 86400000000000, 48 * 3600000000000, "d" },
		{ 3600000000000, 120 * 60000000000, "h" },
		{ 60000000000, 120 * 1000000000ull, "min" },
		{ 1000000000, 10000000000, "s" },
		{ 1000000, 10000000, "ms" },
		{ 1000, 0, "us" },
	};
	size_t at = 0;

	while (ns < units[at].most)
		at++;
	snprintf(out, FABRIC_TEXT_BYTES, "%llu %s", (unsigned long long)(ns / units[at].ns),
		 units[at].name);
	return out;
}

static void add_repair(struct words *words, const json_t *repair)
{
	const json_t *later = json_object_get(repair, "planned_to_in_force_ns");
	char time[FABRIC_TEXT_BYTES];

	add(words, "planned in %s", fabric_text_time(number(repair, "asked_to_planned_ns"), time));
	if (json_is_integer(later))
		add(words, ", in force %s later",
		    fabric_text_time((uint64_t)json_integer_value(later), time));
	else
		add(words, ", not in force yet");
	add(words, "; %llu rows of %llu switches changed",
	    (unsigned long long)number(repair, "rows_changed"),
	    (unsigned long long)number(repair, "switches_changed"));
}

const char *fabric_text_repair(const json_t *status, char out[FABRIC_TEXT_BYTES])
{
	const json_t *repair = json_object_get(status, "last_repair");
	struct words words = { .out = out };

	if (json_is_object(repair))
		add_repair(&words, repair);
	else
		add(&words, "nothing is planned yet");
	return out;
}

static void add_state(struct words *words, const json_t *status)
{
	const json_t *since = json_object_get(status, "in_force_for_ns");
	const json_t *switches = json_object_get(status, "switches");
	const uint64_t behind = number(switches, "behind");
	char time[FABRIC_TEXT_BYTES];

	add(words, "%llu of epoch %llu", (unsigned long long)number(status, "generation"),
	    (unsigned long long)number(status, "epoch"));
	if (json_is_integer(since))
		add(words, ", in force for %s",
		    fabric_text_time((uint64_t)json_integer_value(since), time));
	else if (behind > 0)
		add(words, ", not in force yet: %llu switches behind", (unsigned long long)behind);
	else
		add(words, ", not in force yet: %s",
		    number(switches, "there") > 0 ? "it is on its way" : "no switch has called");
}

const char *fabric_text_generation(const json_t *status, char out[FABRIC_TEXT_BYTES])
{
	struct words words = { .out = out };

	add_state(&words, status);
	return out;
}

const char *fabric_text_counts(const json_t *counts, char out[FABRIC_TEXT_BYTES])
{
	struct words words = { .out = out };
	const char *key;
	json_t *value;

	out[0] = '\0';
	json_object_foreach((json_t *)counts, key, value) {
		if (strcmp(key, "all") != 0 && json_integer_value(value) > 0)
			add(&words, "%s%" JSON_INTEGER_FORMAT " %s", words.len > 0 ? ", " : "",
			    json_integer_value(value), key);
	}
	return out;
}

const char *fabric_text_clock(json_int_t wall_ms, char out[FABRIC_TEXT_BYTES])
{
	const time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm = { 0 };
	size_t len;

	localtime_r(&seconds, &tm);
	len = strftime(out, FABRIC_TEXT_BYTES, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out + len, FABRIC_TEXT_BYTES - len, ".%03d", (int)(wall_ms % 1000));
	return out;
}

const char *fabric_text_event(const json_t *event, char out[FABRIC_TEXT_BYTES])
{
	struct words words = { .out = out };
	char time[FABRIC_TEXT_BYTES];

	add(&words, "%s  %-7s  %s", fabric_text_clock((json_int_t)number(event, "wall_ms"), time),
	    text(event, "severity"), text(event, "what"));
	for (char *c = out; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	return out;
}
