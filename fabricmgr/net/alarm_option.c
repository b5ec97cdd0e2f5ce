// SPDX-License-Identifier: BSD-3-Clause
//
// An alarm that is cleared above where it is raised would come and go every second, so that is
// refused; times are bounded by the hour that anybody remembers.

#include "fabricmgr/net/alarm_option.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "sys/nearest.h"

enum { PARTS = 4, SECONDS_MAX = 3600, SHOWN = 40 };

#define LEVEL_MAX 1000000000000ull

static bool find_alarm(const char *name, size_t len, enum alarm_kind *kind,
		       char why[ALARM_OPTION_WHY_BYTES])
{
	char text[SHOWN + 1];
	struct nearest near;

	snprintf(text, sizeof(text), "%.*s", (int)(len < SHOWN ? len : SHOWN), name);
	near = nearest_to(text);
	for (uint32_t i = 0; i < ALARM_COUNT; i++) {
		*kind = i;
		if (strcmp(text, alarm_infos[i].name) == 0)
			return true;
		nearest_offer(&near, alarm_infos[i].name);
	}
	snprintf(why, ALARM_OPTION_WHY_BYTES, "there is no alarm %s%s%s%s", text,
		 near.best != NULL ? "; did you mean " : "", near.best != NULL ? near.best : "",
		 near.best != NULL ? "?" : "");
	return false;
}

bool alarm_option_parse(const char *text, struct alarm_limits limits[ALARM_COUNT],
			char why[ALARM_OPTION_WHY_BYTES])
{
	const char *at = text + strcspn(text, ":");
	struct alarm_limits changed;
	enum alarm_kind kind;
	uint64_t value[PARTS];
	bool bad = false;

	if (!find_alarm(text, (size_t)(at - text), &kind, why))
		return false;
	changed = limits[kind];
	value[0] = (uint64_t)changed.raise;
	value[1] = changed.raise_s;
	value[2] = (uint64_t)changed.clear;
	value[3] = changed.clear_s;
	for (uint32_t i = 0; i < PARTS && *at == ':' && !bad; i++) {
		const char *part = at + 1;
		const size_t len = strcspn(part, ":");

		at = part + len;
		bad = len > 0 && !unit_parse(UNIT_COUNT, part, len, &value[i]);
	}
	if (bad || *at != '\0' || value[1] > SECONDS_MAX || value[3] > SECONDS_MAX ||
	    value[0] > LEVEL_MAX || value[2] > value[0]) {
		snprintf(why, ALARM_OPTION_WHY_BYTES,
			 "NAME:RAISE:SECONDS:CLEAR:SECONDS in whole numbers, up to %d seconds, "
			 "CLEAR not above RAISE",
			 SECONDS_MAX);
		return false;
	}
	limits[kind] = (struct alarm_limits){ (double)value[0], (double)value[2],
					      (uint32_t)value[1], (uint32_t)value[3] };
	return true;
}
