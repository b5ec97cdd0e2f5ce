// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs around ECN: who is marked and who is dropped in one congested queue, thresholds of
// their own for marking, and a recipe that is short enough to be found. Names are those of
// rows.tsv, which says what holds instead of the bug.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/cfg_load.h"
#include "tests/issues/star.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 1000,
	FRAMES = 200,
	STEP = 60, // frames in the queue at which the law steps from nothing to all
	CE = 3,
};

static struct sw_config *stepped(uint64_t drop_frames, uint64_t mark_frames)
{
	struct sw_config *c = setup_kvm(2);

	setup_wred(c, "step", drop_frames * LEN, drop_frames * LEN, 1000000);
	if (mark_frames != 0) {
		c->wred[0].green_ect_min_threshold = mark_frames * LEN;
		c->wred[0].green_ect_max_threshold = mark_frames * LEN;
	}
	setup_queue(c, "all", 0xff, "", "step");
	return c;
}

static const struct {
	const char *what;
	bool knob; // wred_green_enable: non-ECT is dropped where ECT is marked
} non_ect_rows[] = {
	{ "off: forwarded unmarked, PFC protects it", false },
	{ "on: dropped by the same law", true },
};

// All four code points take turns in a lossless queue of 200 frames that waits. Each frame that
// leaves is looked at: its code point follows from the one it came with and from the queue.
TABLE_TEST(issues, sonic_buildimage_27606, row, non_ect_rows)
{
	struct sw_config *c = stepped(STEP, 0);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint64_t accepted = 0;
	uint64_t marked = 0;
	uint64_t left;
	struct frame got;
	struct rig *rig;

	c->wred[0].wred_green_enable = row->knob;
	rig = rig_new(c);
	for (uint32_t i = 0; i < FRAMES; i++) {
		f.ecn = i % 4;
		rig_send_many(rig, SRC, &f, 1);
		accepted += f.ecn != 0 || !row->knob || accepted + 1 < STEP;
	}
	cr_assert_eq(rig_drops(rig, DST, DROP_QUEUE_WRED), FRAMES - accepted, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), FRAMES - accepted, "%s", row->what);
	cr_assert_eq(FRAMES - accepted > 0, row->knob);
	for (left = accepted; rig_take_frame(rig, DST, &got); left--) {
		uint8_t came = got.seq % 4;
		bool mark = (came == 1 || came == 2) && left >= STEP;

		cr_assert_eq(got.ecn, mark ? CE : came, "%s: frame %lu", row->what, got.seq);
		marked += mark;
	}
	cr_assert_eq(left, 0);
	cr_assert_gt(marked, 50);
	cr_assert_eq(rig_queue(rig, DST, 3).wred_ecn_marked_packets, marked);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t mark; // frames; 0: unset
} threshold_rows[] = {
	{ "marking from 20 frames on", 20 },
	{ "marking later than dropping", 90 },
	{ "unset: where dropping starts, as before", 0 },
};

// Non-ECT frames are dropped from frame 60 on, whatever the thresholds for marking are; of 100 ECT
// frames in the queue those are marked that leave it at its marking threshold or above.
TABLE_TEST(issues, sonic_swss_4718, row, threshold_rows)
{
	const uint64_t mark = row->mark != 0 ? row->mark : STEP;
	struct sw_config *c = stepped(STEP, row->mark);
	struct frame f = rig_frame(SRC, DST, 8, LEN);
	struct rig *rig;

	c->wred[0].wred_green_enable = true;
	rig = rig_new(c);
	f.ecn = 0;
	rig_send_many(rig, SRC, &f, 100);
	cr_assert_eq(rig_drops(rig, DST, DROP_QUEUE_WRED), 100 - (STEP - 1), "%s", row->what);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), STEP - 1);
	cr_assert_eq(rig_port(rig, DST).ecn_marked_packets, 0);
	f.ecn = 2;
	rig_send_many(rig, SRC, &f, 100);
	cr_assert_eq(rig_drops(rig, DST, DROP_QUEUE_WRED), 100 - (STEP - 1), "%s", row->what);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 100);
	cr_assert_eq(rig_port(rig, DST).ecn_marked_packets, 100 - mark + 1, "%s", row->what);
	rig_end(rig);
}

// --- the recipe of the documentation ----------------------------------------------------------

// Lossless traffic without marking: what somebody has who looks for ECN.
static const char without_ecn[] =
	"port = ({ name = \"Ethernet0\"; devargs = \"net_null0\"; dscp_to_tc_map = \"roce\";\n"
	"	dot1p_to_tc_map = \"roce\"; tc_to_pg_map = \"roce\"; pfc_to_pg_map = \"roce\";\n"
	"	pfc_enable = \"3\"; },\n"
	"	{ name = \"Ethernet4\"; devargs = \"net_null1\"; dscp_to_tc_map = \"roce\";\n"
	"	dot1p_to_tc_map = \"roce\"; tc_to_pg_map = \"roce\"; pfc_to_pg_map = \"roce\";\n"
	"	pfc_enable = \"3\"; });\n"
	"buffer_pool = ({ name = \"i\"; type = \"ingress\"; size = \"16MiB\"; },\n"
	"	{ name = \"e\"; type = \"egress\"; size = \"16MiB\"; });\n"
	"buffer_profile = ({ name = \"pg\"; pool = \"i\"; xoff = \"64KiB\"; dynamic_th = 0; },\n"
	"	{ name = \"pg_lossy\"; pool = \"i\"; dynamic_th = 3; },\n"
	"	{ name = \"q\"; pool = \"e\"; static_th = 0; },\n"
	"	{ name = \"q_lossy\"; pool = \"e\"; dynamic_th = 3; });\n"
	"buffer_pg = ({ port = \"all\"; pg = \"3\"; profile = \"pg\"; },\n"
	"	{ port = \"all\"; pg = \"0-2,4-7\"; profile = \"pg_lossy\"; });\n"
	"buffer_queue = ({ port = \"all\"; queue = \"3\"; profile = \"q\"; },\n"
	"	{ port = \"all\"; queue = \"0-2,4-7\"; profile = \"q_lossy\"; });\n";

// Copies the first fenced block under the heading "## Marking" to `out`; returns its lines.
static uint32_t copy_recipe(FILE *out)
{
	FILE *in = fopen(ISSUES_DOC, "r");
	bool section = false;
	bool block = false;
	uint32_t lines = 0;
	char line[512];

	cr_assert_not_null(in, "%s", ISSUES_DOC);
	while (fgets(line, sizeof(line), in) != NULL) {
		bool fence = section && strncmp(line, "```", 3) == 0;

		if (fence && block)
			break;
		if (block && fputs(line, out) >= 0)
			lines++;
		if (strncmp(line, "## ", 3) == 0)
			section = strcmp(line, "## Marking\n") == 0;
		block |= fence;
	}
	fclose(in);
	return lines;
}

Test(issues, SONiC_788)
{
	struct sw_config *c = setup_blank();
	char path[] = "/tmp/weft-issue-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct frame f = rig_frame(SRC, DST, 26, LEN);
	struct rig *rig;
	int rc;

	cr_assert_not_null(file);
	fputs(without_ecn, file);
	cr_assert_eq(copy_recipe(file), 2);
	fclose(file);
	rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, c, stderr);
	unlink(path);
	cr_assert_eq(rc, 0);
	rig = rig_new(c);
	rig_send_many(rig, SRC, &f, 3000);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 3000);
	cr_assert_gt(rig_queue(rig, DST, 3).wred_ecn_marked_packets, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}
