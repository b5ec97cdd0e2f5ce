// SPDX-License-Identifier: BSD-3-Clause
//
// Differences of counters over the switch's own time. Products are 128 bits wide: 2^63 bytes times
// eight times 10^9 fit.

#include "cli/rate.h"

static const json_t *switch_member(const json_t *reply, const char *key)
{
	return json_object_get(json_object_get(reply, "switch"), key);
}

uint64_t rate_elapsed_ns(const json_t *before, const json_t *after)
{
	const json_int_t then = json_integer_value(switch_member(before, "uptime_ns"));
	const json_int_t now = json_integer_value(switch_member(after, "uptime_ns"));

	if (!json_equal(switch_member(before, "boot_id"), switch_member(after, "boot_id")))
		return 0;
	return now > then ? (uint64_t)(now - then) : 0;
}

bool rate_difference(const json_t *before, const json_t *after, const char *key, uint64_t *by)
{
	const json_t *then = json_object_get(before, key);
	const json_t *now = json_object_get(after, key);

	if (!json_is_integer(then) || !json_is_integer(now) ||
	    json_integer_value(now) < json_integer_value(then))
		return false;
	*by = (uint64_t)json_integer_value(now) - (uint64_t)json_integer_value(then);
	return true;
}

uint64_t rate_per_second(uint64_t count, uint64_t scale, uint64_t elapsed_ns)
{
	const unsigned __int128 rate = (unsigned __int128)count * scale * 1000000000 / elapsed_ns;

	return rate > INT64_MAX ? INT64_MAX : (uint64_t)rate;
}

uint64_t rate_share_ppm(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (uint64_t)((unsigned __int128)part * 1000000 / whole);
}

const json_t *rate_same_port(const json_t *reply, const json_t *port)
{
	const json_t *ports = json_object_get(reply, "ports");
	const json_t *name = json_object_get(port, "name");

	for (size_t i = 0; name != NULL && i < json_array_size(ports); i++) {
		if (json_equal(json_object_get(json_array_get(ports, i), "name"), name))
			return json_array_get(ports, i);
	}
	return NULL;
}
