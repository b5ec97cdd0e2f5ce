// SPDX-License-Identifier: BSD-3-Clause
//
// A healthy switch of three equal ports, of which queue and group 3 are lossless and marked, and
// what runs a row over two looks at it.

#include "tests/unit/why_scene.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { PORTS = 3 };

static json_t *queue(uint32_t at)
{
	json_t *one = json_pack(
		"{s:b, s:s, s:b, s:i, s:i, s:b, s:[i], s:i, s:i, s:i, s:i, s:i, s:i}", "strict",
		at >= 6, "pool", at == 3 ? "lossless" : "lossy", "lossless", at == 3, "limit_bytes",
		100000, "pir_bps", 0, "blocked", 0, "priorities", at, "packets", 1000, "bytes",
		1000000, "curr_occupancy_bytes", 0, "curr_occupancy_packets", 0,
		"wred_ecn_marked_packets", 0, "pause_status", 0);

	if (at == 3)
		json_object_set_new(one, "ecn",
				    json_pack("{s:i, s:i, s:i}", "min_bytes", 20000, "max_bytes",
					      80000, "probability_ppm", 50000));
	return one;
}

static json_t *group(uint32_t at)
{
	return json_pack("{s:b, s:s, s:i, s:[i], s:i, s:i, s:i, s:i}", "lossless", at == 3, "pool",
			 "in", "xoff_bytes", at == 3 ? 30000 : 0, "priorities", at,
			 "curr_occupancy_bytes", 0, "xoff_threshold_bytes", at == 3 ? 50000 : 0,
			 "xoff_room_curr_occupancy_bytes", 0, "xoff_state", 0);
}

static json_t *port(uint32_t at)
{
	json_t *one = json_pack("{s:b, s:b, s:b, s:I, s:s, s:i, s:i, s:{}, s:n, s:s}", "admin", 1,
				"link", 1, "present", 1, "speed_bps", (json_int_t)1000000000,
				"pfc_path", "software", "pfc_enable", 8, "headroom_need_bytes",
				30000, "drops", "hello", "devargs", "net_x");
	json_t *queues = json_array(), *groups = json_array(), *priorities = json_array();
	char name[16];

	snprintf(name, sizeof(name), "Ethernet%u", at * 4);
	json_object_set_new(one, "name", json_string(name));
	json_object_set_new(one, "stats",
			    json_pack("{s:i, s:i, s:i, s:i, s:i}", "rx_missed", 0, "rx_no_buffer",
				      0, "pause_rx_pkts", 0, "impair_lost_packets", 0,
				      "tx_retried_packets", 0));
	for (uint32_t i = 0; i < 8; i++) {
		json_array_append_new(queues, queue(i));
		json_array_append_new(groups, group(i));
		json_array_append_new(
			priorities, json_pack("{s:i, s:i, s:i, s:i, s:i}", "pfc_rx_pkts", 0,
					      "rx_paused", 0, "rx_pause_duration_us", 0,
					      "tx_pause_duration_us", 0, "rx_pause_recent_us", 0));
	}
	json_object_set_new(one, "queues", queues);
	json_object_set_new(one, "priority_groups", groups);
	json_object_set_new(one, "priorities", priorities);
	return one;
}

json_t *why_healthy(uint64_t uptime_ms)
{
	json_t *ports = json_array();

	for (uint32_t i = 0; i < PORTS; i++)
		json_array_append_new(ports, port(i));
	return json_pack("{s:{s:s, s:I, s:i, s:i, s:i, s:i, s:i}, s:[{s:s, s:i, s:i}], s:o}",
			 "switch", "boot_id", "a", "uptime_ns", (json_int_t)(uptime_ms * 1000000),
			 "shared_descriptors", 8000, "descriptors_in_use", 0,
			 "headroom_descriptors_in_use", 0, "queued_packets", 0, "held_packets", 0,
			 "pools", "name", "lossy", "shared_bytes", 200000,
			 "shared_curr_occupancy_bytes", 0, "ports", ports);
}

// Sets the member at a path such as "ports.0.link"; what is not there is made.
static void set_at(json_t *at, char *path, const char *value)
{
	char *key = path;
	char *dot;

	for (; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
		*dot = '\0';
		if (json_is_array(at)) {
			at = json_array_get(at, (size_t)(key[0] - '0'));
			continue;
		}
		if (json_object_get(at, key) == NULL || json_is_null(json_object_get(at, key)))
			json_object_set_new(at, key, json_object());
		at = json_object_get(at, key);
	}
	json_object_set_new(at, key, json_loads(value, JSON_DECODE_ANY, NULL));
}

void why_apply(json_t *answer, const char *changes)
{
	char text[1024];
	char *rest = text;
	char *one;

	snprintf(text, sizeof(text), "%s", changes);
	while ((one = strsep(&rest, " ")) != NULL) {
		char *equals = strchr(one, '=');

		if (one[0] == '\0')
			continue;
		cr_assert_not_null(equals, "%s", one);
		*equals = '\0';
		set_at(answer, one, equals + 1);
	}
}

const struct why_finding *why_find_rule(const struct why_findings *all, const char *rule,
					const char *where)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (strcmp(all->finding[i].rule, rule) == 0 &&
		    (where == NULL || strcmp(all->finding[i].where, where) == 0))
			return &all->finding[i];
	}
	return NULL;
}

void why_check_words(const struct why_row *row, const struct why_finding *found)
{
	cr_assert_not_null(found, "%s: no finding of %s", row->what, row->rule);
	cr_expect_eq(found->severity, row->severity, "%s: %d", row->what, (int)found->severity);
	for (size_t i = 0; i < 4 && row->words[i] != NULL; i++)
		cr_expect_not_null(strstr(found->text, row->words[i]), "%s: \"%s\" is not in: %s",
				   row->what, row->words[i], found->text);
	if (row->advice == NULL)
		cr_expect_str_empty(found->advice, "%s: %s", row->what, found->advice);
	else
		cr_expect_not_null(strstr(found->advice, row->advice), "%s: \"%s\" is not in: %s",
				   row->what, row->advice, found->advice);
}

static void check_silence(const struct why_row *row, const struct why_findings *found)
{
	const struct why_finding *one = NULL;

	if (row->silent != NULL)
		one = why_find_rule(found, row->silent, NULL);
	cr_expect_null(one, "%s: %s", row->what, one == NULL ? "" : one->text);
	for (uint32_t i = 0; i < found->count && row->rule == NULL && row->silent == NULL; i++)
		cr_expect_eq(found->finding[i].severity, WHY_NOTE, "%s: %s", row->what,
			     found->finding[i].text);
}

void why_check(const struct why_row *row)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	struct why_findings found;

	if (row->both != NULL) {
		why_apply(before, row->both);
		why_apply(after, row->both);
	}
	if (row->after != NULL)
		why_apply(after, row->after);
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	if (row->rule != NULL)
		why_check_words(row, why_find_rule(&found, row->rule, row->where));
	check_silence(row, &found);
	for (uint32_t i = 1; i < found.count; i++)
		cr_expect_leq(found.finding[i].severity, found.finding[i - 1].severity);
	why_release(&found);
	json_decref(before);
	json_decref(after);
}
