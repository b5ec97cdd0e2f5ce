// SPDX-License-Identifier: BSD-3-Clause
//
// Dwrr, DwrrWeightChange and strict priority: queues are loaded while the destination is held, then
// released one frame at a time; the order must follow the weights in bytes at every moment.
//
// The bound on the way is that of deficit round robin (Shreedhar and Varghese 1995): two backlogged
// queues differ by less than one quantum and one frame each, scaled by their weights.

#include <stdlib.h>

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	FRAME_MAX = 9100 + 14,
	QUANTUM = FRAME_MAX + 8, // of the lightest queue: one largest frame with two tags
};

// Queue by DSCP in AZURE.
static const uint8_t dscp_of[] = { 8, 0, 5, 3, 4, 46, 48 };

// Two weighted queues, with their frame lengths.
struct pair {
	uint32_t queue[2];
	uint64_t weight[2];
	uint32_t len[2];
};

static struct sw_config *weighted(const struct pair *pair)
{
	struct sw_config *c = setup_kvm(2);

	setup_scheduler(c, "a", CONFIG_SCHEDULER_DWRR, pair->weight[0]);
	setup_scheduler(c, "b", CONFIG_SCHEDULER_DWRR, pair->weight[1]);
	// All other queues have a weight as well: quanta are multiples of the lightest queue's.
	setup_queue(c, "all", (uint8_t) ~(1u << pair->queue[1]), "a", "");
	setup_queue(c, "all", (uint8_t)(1u << pair->queue[1]), "b", "");
	// Headroom is not the subject: room for all that is loaded.
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 1u << 30;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = 1u << 30;
	setup_find_profile(c, KVM_QUEUE_LOSSLESS)->static_th = 0;
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = 0;
	return c;
}

static void load(struct rig *rig, const struct pair *pair, uint64_t bytes)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct frame f = rig_frame(SRC, DST, dscp_of[pair->queue[i]], pair->len[i]);

		f.stream = i;
		rig_send_many(rig, SRC, &f, bytes * pair->weight[i] / pair->len[i]);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

// Releases frames while both queues are backlogged, checking the bound at each; *sent grows.
static void check_order(struct rig *rig, const struct pair *pair, uint64_t sent[2], uint64_t limit)
{
	uint64_t least = u64_min(pair->weight[0], pair->weight[1]);
	struct frame f;

	while (rig_queue(rig, DST, pair->queue[0]).curr_occupancy_packets > 0 &&
	       rig_queue(rig, DST, pair->queue[1]).curr_occupancy_packets > 0 &&
	       sent[0] + sent[1] < limit) {
		cr_assert(rig_take_frame(rig, DST, &f));
		sent[f.stream] += f.len;
		// |a/wa - b/wb| <= quantum per weight + frames per weight, without division.
		cr_assert_leq(difference(sent[0] * pair->weight[1], sent[1] * pair->weight[0]) *
				      least,
			      QUANTUM * pair->weight[0] * pair->weight[1] +
				      least * (pair->len[0] * pair->weight[1] +
					       pair->len[1] * pair->weight[0]));
	}
}

static void check_share(const struct pair *pair, const uint64_t sent[2], const char *what)
{
	uint64_t total = sent[0] + sent[1];
	uint64_t ideal = total * pair->weight[0] / (pair->weight[0] + pair->weight[1]);

	cr_assert_lt(difference(sent[0], ideal) * 20, ideal, "%s: %lu of %lu", what, sent[0],
		     total);
}

// `bytes` are many rounds: a round of 1 and 100 is 101 largest frames.
static const struct {
	const char *what;
	struct pair pair;
	uint64_t bytes;
} dwrr_rows[] = {
	{ "stock weights 14 and 15", { { 1, 3 }, { 14, 15 }, { 1500, 1500 } }, 3000000 },
	{ "both lossless", { { 3, 4 }, { 15, 15 }, { 1078, 1078 } }, 3000000 },
	{ "8 and 30", { { 1, 3 }, { 8, 30 }, { 1500, 1500 } }, 3000000 },
	{ "mixed sizes, small against jumbo", { { 3, 4 }, { 15, 15 }, { 128, 9114 } }, 3000000 },
	{ "mixed sizes, 1 and 100", { { 0, 5 }, { 1, 100 }, { 300, 9000 } }, 46000000 },
	{ "mixed sizes, 14 and 15", { { 2, 4 }, { 14, 15 }, { 777, 1078 } }, 3000000 },
};

TABLE_TEST(scenario, dwrr, row, dwrr_rows)
{
	struct rig *rig = rig_new(weighted(&row->pair));
	uint64_t weights = row->pair.weight[0] + row->pair.weight[1];
	uint64_t sent[2] = { 0 };

	load(rig, &row->pair, row->bytes / weights * 5 / 4);
	check_order(rig, &row->pair, sent, row->bytes);
	check_share(&row->pair, sent, row->what);
	rig_release(rig, DST, UINT64_MAX);
	rig_end(rig);
}

// Weights change from 14:15 to 8:30 while both queues hold packets.
Test(scenario, dwrr_weight_change)
{
	struct pair pair = { { 1, 3 }, { 14, 15 }, { 1500, 1500 } };
	struct rig *rig = rig_new(weighted(&pair));
	uint64_t sent[2] = { 0 };
	uint64_t queued;

	load(rig, &pair, 200000);
	check_order(rig, &pair, sent, 1000000);
	check_share(&pair, sent, "before");
	queued = rig_switch(rig).queued_packets;
	rig->config->scheduler[0].weight = 8;
	rig->config->scheduler[1].weight = 30;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(rig_switch(rig).queued_packets, queued);

	pair.weight[0] = 8;
	pair.weight[1] = 30;
	memset(sent, 0, sizeof(sent));
	check_order(rig, &pair, sent, 1500000);
	check_share(&pair, sent, "after");
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A queue that is paused while the other sends 500 KB has no claim on what it missed.
Test(scenario, dwrr_nothing_earned_while_paused)
{
	struct pair pair = { { 3, 4 }, { 15, 15 }, { 1500, 1500 } };
	struct rig *rig = rig_new(weighted(&pair));
	uint64_t sent[2] = { 0 };
	struct frame f;

	load(rig, &pair, 100000);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	for (uint32_t i = 0; i < 333; i++) {
		cr_assert(rig_take_frame(rig, DST, &f));
		cr_assert_eq(f.stream, 1);
	}
	rig_send_pfc(rig, DST, 1 << 3, 0);
	check_order(rig, &pair, sent, 1000000);
	check_share(&pair, sent, "after the pause");
	rig_end(rig);
}

// An idle queue has none either: it starts at zero when it is loaded.
Test(scenario, dwrr_nothing_earned_while_empty)
{
	struct pair pair = { { 3, 4 }, { 15, 15 }, { 1500, 1500 } };
	struct rig *rig = rig_new(weighted(&pair));
	struct frame f = rig_frame(SRC, DST, 4, 1500);
	uint64_t sent[2] = { 0 };

	for (uint32_t i = 0; i < 333; i++) {
		rig_send(rig, SRC, &f);
		cr_assert_eq(rig_release(rig, DST, 1), 1);
	}
	load(rig, &pair, 100000);
	check_order(rig, &pair, sent, 1000000);
	check_share(&pair, sent, "after idling");
	rig_end(rig);
}

// Seven queues of equal weight: all within one quantum and one frame of each other.
Test(scenario, dwrr_seven_queues)
{
	struct sw_config *c = setup_kvm(2);
	uint64_t sent[7] = { 0 };
	struct frame f;
	struct rig *rig;

	setup_scheduler(c, "even", CONFIG_SCHEDULER_DWRR, 7);
	setup_queue(c, "all", 0xff, "even", "");
	rig = rig_new(c);
	for (uint32_t i = 0; i < 7; i++) {
		f = rig_frame(SRC, DST, dscp_of[i], 700 + 100 * i);
		f.stream = i;
		rig_send_many(rig, SRC, &f, 400);
	}
	for (uint32_t n = 0; n < 1500; n++) {
		cr_assert(rig_take_frame(rig, DST, &f));
		sent[f.stream] += f.len;
		for (uint32_t i = 1; i < 7; i++)
			cr_assert_leq(difference(sent[i], sent[0]), QUANTUM + 2 * 1300);
	}
	rig_end(rig);
}

// Strict queues first, the highest before the others, and DWRR gets what is left: a quantum holds
// nine frames of 1000 bytes, so it serves queue after queue, beginning anywhere.
Test(scenario, strict_priority)
{
	struct sw_config *c = setup_kvm(2);
	static const uint32_t order[] = { 6, 4, 2 };
	uint32_t queue = 0;
	struct frame f;
	struct rig *rig;

	setup_scheduler(c, "first", CONFIG_SCHEDULER_STRICT, 1);
	setup_queue(c, "all", 1 << 2 | 1 << 4 | 1 << 6, "first", "");
	rig = rig_new(c);
	for (uint32_t i = 0; i < 7; i++) {
		f = rig_frame(SRC, DST, dscp_of[i], 1000);
		f.stream = i;
		rig_send_many(rig, SRC, &f, 9);
	}
	for (uint32_t i = 0; i < 7 * 9; i++) {
		cr_assert(rig_take_frame(rig, DST, &f));
		if (i % 9 == 0)
			queue = i < 27 ? order[i / 9] : f.stream;
		cr_assert_eq(f.stream, queue, "frame %u of queue %u", i, f.stream);
	}
	rig_end(rig);
}

// A strict queue that comes late passes what waits; one that is paused lets the others go.
Test(scenario, strict_priority_late_and_paused)
{
	struct sw_config *c = setup_kvm(2);
	struct frame low = rig_frame(SRC, DST, 3, 1000);
	struct frame high = rig_frame(SRC, DST, 4, 1000);
	struct frame f;
	struct rig *rig;

	setup_scheduler(c, "first", CONFIG_SCHEDULER_STRICT, 1);
	setup_queue(c, "all", 1 << 4, "first", "");
	rig = rig_new(c);
	rig_send_many(rig, SRC, &low, 3);
	rig_release(rig, DST, 1);
	rig_send_many(rig, SRC, &high, 2);
	rig_take_frame(rig, DST, &f);
	cr_assert_eq(f.dscp, 4);
	rig_send_pfc(rig, DST, 1 << 4, 65535);
	rig_take_frame(rig, DST, &f);
	cr_assert_eq(f.dscp, 3);
	rig_send_pfc(rig, DST, 1 << 4, 0);
	rig_take_frame(rig, DST, &f);
	cr_assert_eq(f.dscp, 4);
	rig_end(rig);
}
