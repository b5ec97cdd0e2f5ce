// SPDX-License-Identifier: BSD-3-Clause
//
// What runs the rules of weft show why: which of them speak when a queue is asked about or when the
// switch restarted between the looks, their order, and what is left out when there are too many.
// Rules themselves are in cli_why_*.c.

#include "cli/why.h"

#include <stdio.h>
#include <string.h>

#include "tests/table.h"
#include "tests/unit/why_scene.h"

#define LOSS "ports.0.queues.1.dropped_packets="

// Findings of a queue are about it and the port's way out, so that what is said of it is true.
static const struct scope_row {
	const char *what;
	const char *both;
	const char *after;
	const char *rule;
	int queue;
	bool found;
} scopes[] = {
	{ "the queue itself", "", WHY_Q "blocked=true", "blocked", 3, true },
	{ "another queue", "", WHY_Q "blocked=true", "blocked", 4, false },
	{ "the port that is down", "", "ports.0.admin=false", "admin_down", 4, true },
	{ "a hook on the port", "", "ports.0.tx_disabled=true", "tx_disabled", 4, true },
	{ "a group of its priority", "", WHY_G "xoff_state=1", "group_xoff", 3, true },
	{ "a group of another", "", WHY_G "xoff_state=1", "group_xoff", 4, false },
	{ "any group of the port", "", WHY_G "xoff_state=1", "group_xoff", WHY_ANY_QUEUE, true },
	{ "drops on the way out", "", "ports.0.drops.EGRESS_MTU=5", "drops", 4, true },
	{ "drops on the way in", "", "ports.0.drops.VLAN_NOT_MEMBER=5", "drops", 4, false },
	{ "drops on the way in of the port", "", "ports.0.drops.VLAN_NOT_MEMBER=5", "drops",
	  WHY_ANY_QUEUE, true },
	{ "its own drops", LOSS "1", "ports.0.drops.QUEUE_FULL=5 " LOSS "6", "drops", 1, true },
	{ "drops of another queue", LOSS "1", "ports.0.drops.QUEUE_FULL=5 " LOSS "6", "drops", 4,
	  false },
	{ "lossless frames to a lossy peer", "", "ports.0.drops.EGRESS_MISMATCH=5", "drops", 3,
	  true },
	{ "lossless frames are of no lossy queue", "", "ports.0.drops.EGRESS_MISMATCH=5", "drops",
	  4, false },
	{ "frames that its driver loses", "", "ports.0.stats.rx_missed=7", "rx_lost", 4, false },
	{ "PFC holds a lossless queue", "ports.0.pfc_path=\"none\"", "", "pfc_path", 3, true },
	{ "PFC holds no lossy one", "ports.0.pfc_path=\"none\"", "", "pfc_path", 4, false },
	{ "its pool", "pools.0.shared_curr_occupancy_bytes=190000", "", "pool_full", 4, true },
	{ "another pool", "pools.0.shared_curr_occupancy_bytes=190000", "", "pool_full", 3, false },
};

TABLE_TEST(why, scope, row, scopes)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	struct why_findings found;

	why_apply(before, row->both);
	why_apply(after, row->both);
	why_apply(after, row->after);
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = row->queue },
		 &found);
	cr_expect_eq(why_find_rule(&found, row->rule, NULL) != NULL, row->found, "%s", row->what);
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

// Rates of a switch that restarted in between are unknown, its state is not.
Test(why, restart)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	struct why_findings found;

	why_apply(after, WHY_Q "blocked=true ports.0.drops.EGRESS_MTU=5 switch.boot_id=\"b\"");
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_expect_not_null(why_find_rule(&found, "blocked", "queue 3"));
	cr_expect_null(why_find_rule(&found, "drops", "port"));
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

// The worst first, and those of one severity in the order of the rules.
Test(why, order)
{
	static const char *const rules[] = { "admin_down", "tx_disabled", "held", "impaired",
					     "headroom" };
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	struct why_findings found;

	why_apply(after, "ports.0.admin=false ports.0.tx_disabled=true ports.0.held=true "
			 "ports.0.stats.impair_lost_packets=1 " WHY_G "xoff_bytes=100");
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_assert_eq(found.count, TABLE_COUNT(rules), "%u", found.count);
	for (uint32_t i = 0; i < found.count; i++)
		cr_expect_str_eq(found.finding[i].rule, rules[i]);
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

// Reasons that this command does not know are warnings, and there are more of them than fit: what
// is worse stays though its rule comes later, and of two as bad the first.
Test(why, overflow)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	const struct why_finding *first, *last;
	struct why_findings found;
	char change[64];

	for (uint32_t i = 0; i < WHY_FINDINGS_MAX + 10; i++) {
		snprintf(change, sizeof(change), "ports.0.drops.UNKNOWN_%03u=1", i);
		why_apply(after, change);
	}
	why_apply(after, "ports.0.tx_disabled=true " WHY_G "xoff_bytes=100 "
			 "ports.0.stats.rx_missed=7");
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_assert_eq(found.count, WHY_FINDINGS_MAX);
	cr_expect_str_eq(found.finding[0].rule, "rx_lost");
	cr_expect_str_eq(found.finding[1].rule, "tx_disabled");
	cr_expect_null(why_find_rule(&found, "headroom", NULL));
	first = &found.finding[2];
	last = &found.finding[WHY_FINDINGS_MAX - 1];
	cr_expect_not_null(strstr(first->text, "UNKNOWN_000"), "%s", first->text);
	snprintf(change, sizeof(change), "UNKNOWN_%03d", WHY_FINDINGS_MAX - 3);
	cr_expect_not_null(strstr(last->text, change), "%s", last->text);
	for (uint32_t i = 0; i < found.count; i++)
		cr_expect_not_null(found.finding[i].evidence);
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

// Answers of an older switch, or of something else: no rule may trip over what is missing.
Test(why, nothing_known)
{
	json_t *nothing = json_object();
	json_t *nameless = json_loads("{\"ports\":[{\"name\":\"Ethernet0\"}]}", 0, NULL);
	struct why_findings found;

	why_find(&(struct why_scene){ .before = nothing,
				      .after = nameless,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_expect_eq(found.count, 0);
	why_release(&found);
	json_decref(nothing);
	json_decref(nameless);
}
