// SPDX-License-Identifier: BSD-3-Clause
//
// The rule of weft show why about drops: rates and meanings by reason, and that every reason of
// schema/drops.def comes with advice.

#include <stdio.h>
#include <string.h>

#include "tests/table.h"
#include "tests/unit/why_scene.h"

static const struct why_row rows[] = {
	{ "a small MTU eats frames",
	  "ports.0.drops.EGRESS_MTU=10",
	  "ports.0.drops.EGRESS_MTU=60",
	  "drops",
	  WHY_WRONG,
	  "port",
	  { "100 frames/s", "EGRESS_MTU", "longer than the egress port's MTU" },
	  .advice = "raise mtu of this port" },
	{ "a reason that this command does not know", "", "ports.0.drops.COSMIC_RAY=1", "drops",
	  WHY_WARNING, "port", .words = { "2 frames/s", "COSMIC_RAY" } },
	{ "drops that stay", "ports.0.drops.EGRESS_MTU=10", "", .silent = "drops" },
	{ "link-local protocols end here",
	  "",
	  "ports.0.drops.RESERVED_MAC=4",
	  "drops",
	  WHY_NOTE,
	  "port",
	  { "RESERVED_MAC" },
	  .advice = "as in every bridge" },
};

TABLE_TEST(why_drops, rules, row, rows)
{
	why_check(row);
}

static const struct reason_row {
	const char *what;
	const char *doc;
} reasons[] = {
#define DROP(name, side, doc) { #name, doc },
#include "schema/drops.def"
#undef DROP
};

TABLE_TEST(why_drops, every_reason_has_advice, row, reasons)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	const struct why_finding *found;
	struct why_findings all;
	char change[64];

	snprintf(change, sizeof(change), "ports.0.drops.%s=1", row->what);
	why_apply(after, change);
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &all);
	found = why_find_rule(&all, "drops", "port");
	cr_assert_not_null(found, "%s", row->what);
	cr_expect_not_null(strstr(found->text, row->what), "%s", found->text);
	cr_expect_not_null(strstr(found->text, row->doc), "%s", found->text);
	cr_expect_str_not_empty(found->advice, "%s: no advice", row->what);
	why_release(&all);
	json_decref(before);
	json_decref(after);
}

Test(why_drops, access_list_row_is_named)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1500);
	json_t *acl = json_loads("{\"rows\":[{\"name\":\"web\",\"action\":\"deny\","
				 "\"dropped_packets\":5},{\"name\":\"other tenant\","
				 "\"action\":\"deny\",\"dropped_packets\":5}]}",
				 0, NULL);
	json_t *later = json_deep_copy(acl);
	struct why_findings found;

	why_apply(after, "ports.0.drops.ACL_DENY=20");
	why_apply(later, "rows.1.dropped_packets=25");
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .acl_before = acl,
				      .acl_after = later,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	why_check_words(&(struct why_row){ .what = "acl",
					   .rule = "acl",
					   .severity = WHY_WRONG,
					   .words = { "\"other tenant\"", "40/s" },
					   .advice = "change acl row \"other tenant\"" },
			why_find_rule(&found, "acl", "port"));
	for (uint32_t i = 0; i < found.count; i++)
		cr_expect_null(strstr(found.finding[i].text, "web"));
	why_release(&found);
	json_decref(before);
	json_decref(after);
	json_decref(acl);
	json_decref(later);
}
