// SPDX-License-Identifier: BSD-3-Clause
//
// Other QoS for a fabric that carries lossless traffic, some switches at a time: two leaves and two
// spines. What does not change PFC costs nothing in any order. While two neighbours differ in PFC
// their link takes no lossless traffic, and frames find links that agree: nothing is lost as long
// as there is a way of such links, and it is counted when there is none.

#include <stdlib.h>

#include "tests/scenario/fabric_bed.h"
#include "tests/table.h"

enum {
	HOSTS = 4, // two at each leaf
	PRIO = 3,
	FLOWS = 8, // of each sender
	STEPS = 4, // at most
	LEAF1 = 1 << 0,
	LEAF2 = 1 << 1,
	SPINE1 = 1 << 2,
	SPINE2 = 1 << 3,
	SWITCHES = 4,
};

#define MS 1000000ull
#define STEP (20 * MS)
#define STOP ((STEPS + 2) * STEP)
#define TREE "leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 2; }; " BED_LINKS
#define ROCE "{ name = \"roce\"; dscp = [26]; }"
#define ONE TREE "classes = ( " ROCE " );" // what is without classes
#define SHARED TREE "classes = ( { name = \"roce\"; dscp = [26, 24]; share = \"70%\"; } );"
#define TWO TREE "classes = ( " ROCE ", { name = \"storage\"; dscp = [18]; share = \"20%\"; } );"

static const struct {
	const char *what;
	const char *before;
	const char *after;
	uint8_t step[STEPS]; // switches that change together
	uint8_t lossy;       // steps in which there is no way, bit by bit
} rows[] = {
	{ "shares and maps, one by one", ONE, SHARED, { LEAF1, SPINE2, LEAF2, SPINE1 }, 0 },
	{ "a class more: a spine, the leaves, the other spine",
	  ONE,
	  TWO,
	  { SPINE1, LEAF1 | LEAF2, SPINE2 },
	  0 },
	{ "and back in reverse", TWO, ONE, { SPINE2, LEAF1 | LEAF2, SPINE1 }, 0 },
	{ "everywhere at once", ONE, TWO, { LEAF1 | LEAF2 | SPINE1 | SPINE2 }, 0 },
	{ "leaves apart: their spines differ",
	  ONE,
	  TWO,
	  { SPINE1, LEAF1, LEAF2, SPINE2 },
	  1 << 1 | 1 << 2 }, // until leaf 2 has said that it agrees
	{ "a leaf first: no spine agrees with it",
	  ONE,
	  TWO,
	  { LEAF1, SPINE1 | SPINE2 | LEAF2 },
	  1 << 0 },
};

// Hosts of leaf 1 send to those of leaf 2, by both spines, a third of what a spine carries.
static void across(const struct fabric_bed *bed, struct host_config *config, uint32_t from)
{
	for (uint32_t k = 0; from < HOSTS / 2 && k < FLOWS; k++) {
		struct host_flow_config *flow = bed_flow(bed, config, HOSTS / 2 + from);

		flow->qp = from << 8 | k;
		flow->bps = BED_BPS / 3 / HOSTS / FLOWS * 2;
		flow->start = (ns_t){ STEP / 2 };
		flow->stop = (ns_t){ STOP };
	}
}

// All of one switch changes between two polls.
static void change(struct fabric_bed *bed, const struct fabric_bed *next, uint32_t at)
{
	struct sw_config *config = bed_configure(next, at);
	struct rig *rig = net_rig(bed->net, bed->sw[at]);

	*rig->config = *config;
	free(config);
	cr_assert_eq(rig_reload(rig), 0);
}

static void change_some(struct fabric_bed *bed, const struct fabric_bed *next, uint8_t which)
{
	for (uint32_t at = 0; at < SWITCHES; at++) {
		if (which >> at & 1)
			change(bed, next, at);
	}
}

TABLE_TEST(fabric_change, switch_by_switch, row, rows)
{
	struct fabric_bed bed, next;
	uint64_t before = 0;
	uint64_t received = 0;
	uint64_t sent = 0;

	bed_build(&bed, row->before, across);
	bed_plan(&next, row->after);
	net_run(bed.net, STEP);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t drops;

		change_some(&bed, &next, row->step[i]);
		net_run(bed.net, (i + 2) * STEP);
		drops = bed_sum(&bed).drops;
		cr_assert_eq(drops > before, row->lossy >> i & 1, "%s: step %u, %lu drops",
			     row->what, i, (unsigned long)(drops - before));
		before = drops;
	}
	net_run(bed.net, STOP + STEP);
	for (uint32_t i = 0; i < HOSTS; i++) {
		const struct host_stats stats = net_host_stats(bed.net, bed.host[i]);

		sent += stats.prio[PRIO].tx_packets;
		received += stats.prio[PRIO].rx_packets;
	}
	cr_assert_gt(received, 0);
	cr_assert_eq(sent, received + bed_sum(&bed).drops, "%s: each is counted", row->what);
	cr_assert_eq(bed_sum(&bed).open, SWITCHES);
	bed_end(&bed);
	source_close(&next.source);
}
