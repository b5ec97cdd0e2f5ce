// SPDX-License-Identifier: BSD-3-Clause
//
// Alarms: the level of each row of schema/alarms.def, and hysteresis. An alarm that is on is
// judged by its lower limit, one that is off by its upper; either has to be passed for a time, and
// a moment back starts that time again. Rates of a switch that is silent are not the rates of now,
// and count as 0: that it is silent is an alarm of its own.

#include "fabricmgr/core/health.h"

#include "fabricmgr/core/health_cables.h"

#define SECOND_NS 1000000000ull

const struct alarm_info alarm_infos[ALARM_COUNT] = {
#define ALARM(name, object, severity, unit, raise, raise_s, clear, clear_s, doc)                   \
	[ALARM_##name] = { #name,                                                                  \
			   unit,                                                                   \
			   doc,                                                                    \
			   HEALTH_##object,                                                        \
			   HEALTH_##severity,                                                      \
			   { raise, clear, raise_s, clear_s } },
#include "schema/alarms.def"
#undef ALARM
};

bool health_alarm_step(struct health_alarm *alarm, const struct alarm_limits *limits, double level,
		       ns_t now)
{
	const bool beyond = alarm->on ? level <= limits->clear : level > limits->raise;
	const uint64_t wait = (alarm->on ? limits->clear_s : limits->raise_s) * SECOND_NS;

	alarm->level = level;
	if (!beyond) {
		alarm->waits = false;
		return false;
	}
	if (!alarm->waits)
		alarm->beyond = now;
	alarm->waits = true;
	if (ns_since(now, alarm->beyond) < wait)
		return false;
	alarm->waits = false;
	alarm->on = !alarm->on;
	alarm->since = now;
	return true;
}

static double storm_level(const uint64_t *values, uint32_t port, const struct health_port *row)
{
	double level = row->rate[HEALTH_STORMS] > 0 ? 1 : 0;
	double now = 0;

	for (uint32_t i = 0; i < COUNTERS_PARTS; i++)
		now += values[counters_queue_at(port, i) + COUNTERS_QUEUE_PFC_WD_STATUS] != 0;
	return now > level ? now : level;
}

static double flap_level(const struct health_port *row, ns_t now)
{
	double count = 0;

	for (uint32_t i = 0; i < HEALTH_FLAPS_MAX && i < row->losses; i++)
		count += ns_since(now, row->lost[i]) < HEALTH_FLAP_SECONDS * SECOND_NS;
	return count;
}

double health_port_level(const struct health *health, uint32_t at, uint32_t port,
			 enum alarm_kind kind, ns_t now)
{
	const struct health_port *row = &health->ports[health_port_of(health, at, port)];
	const bool fresh = health_is_fresh(health, at, now);

	switch (kind) {
	case ALARM_LOSSLESS_DROPS: return fresh ? row->rate[HEALTH_LOSSLESS_DROPS] : 0;
	case ALARM_HEADROOM_OVERFLOW: return fresh ? row->rate[HEALTH_HEADROOM_DROPS] : 0;
	case ALARM_PFC_STORM:
		return fresh ? storm_level(health->switches[at].values, port, row) : 0;
	case ALARM_PAUSED: return fresh ? 100.0 * row->rate[HEALTH_PAUSED] : 0;
	case ALARM_ERRORS: return fresh ? row->rate[HEALTH_ERRORS] : 0;
	case ALARM_FLAPPING: return flap_level(row, now);
	case ALARM_MISCABLED: return health_cable_judge(health, at, port) == HEALTH_CABLE_WRONG;
	case ALARM_HEADLESS:
	case ALARM_BUFFER_FULL:
	case ALARM_UNREADABLE:
	case ALARM_COUNT: break; // of switches
	}
	return 0;
}

static double fullest_pool(const uint64_t *values)
{
	double most = 0;

	for (uint32_t i = 0; i < COUNTERS_POOL_MAX; i++) {
		const uint64_t *pool = &values[counters_pool_at(i)];
		const double used = (double)pool[COUNTERS_POOL_CURR_OCCUPANCY_BYTES];

		if (pool[POOL_STATE_SIZE_BYTES] != 0)
			most = used > most * (double)pool[POOL_STATE_SIZE_BYTES] ?
				       used / (double)pool[POOL_STATE_SIZE_BYTES] :
				       most;
	}
	return most;
}

double health_switch_level(const struct health *health, uint32_t at, enum alarm_kind kind)
{
	const struct health_switch *sw = &health->switches[at];

	switch (kind) {
	case ALARM_HEADLESS: return sw->seen && !sw->there;
	case ALARM_BUFFER_FULL: return sw->there ? 100 * fullest_pool(sw->values) : 0;
	case ALARM_UNREADABLE: return sw->unreadable;
	case ALARM_LOSSLESS_DROPS:
	case ALARM_HEADROOM_OVERFLOW:
	case ALARM_PFC_STORM:
	case ALARM_PAUSED:
	case ALARM_ERRORS:
	case ALARM_FLAPPING:
	case ALARM_MISCABLED:
	case ALARM_COUNT: break; // of ports
	}
	return 0;
}
