// SPDX-License-Identifier: BSD-3-Clause
//
// Congestion notification packets with the field's own maps (AZURE), which put their class into
// group 0 with all best effort: while that has taken both pools, the 4 KiB kept for CNPs at ingress
// and at egress are still there, and nothing of theirs is lost.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	HOG = 2,
	PORTS = 3,
	RESERVE = 4096,
	CNP_LEN = 74,
	CNP_PG = 6, // groups 0, 3, 4 and 7 are those of the map
	CNP_QUEUE = 6,
	FILL_FRAMES = 20000, // more than any buffer here holds
};

static struct sw_config *greedy(uint64_t reserve)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *hogs[] = { setup_find_profile(c, KVM_PG_LOSSY),
						 setup_find_profile(c, KVM_QUEUE_LOSSY) };

	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].cnp_reserve = reserve;
	for (uint32_t i = 0; i < 2; i++) {
		hogs[i]->dynamic_th = CONFIG_UNSET_INT;
		hogs[i]->static_th = 0;
		hogs[i]->size = 0;
	}
	return c;
}

// Class 1 of the map, until neither a large nor a small frame fits.
static void fill_pools(struct rig *rig)
{
	struct frame hog = rig_frame(HOG, DST, 0, 1000);

	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) == 0; i++)
		rig_send_many(rig, HOG, &hog, 1);
	hog.len = 60;
	hog.kind = FRAME_UDP;
	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) < 2; i++)
		rig_send_many(rig, HOG, &hog, 1);
	cr_assert_eq(rig_all_drops(rig), 2);
}

static const struct {
	const char *what;
	uint64_t reserve;
	uint64_t admitted; // CNPs in full pools
	uint32_t pg;       // where they are
} azure_rows[] = {
	{ "a group of their own, with the reserve", RESERVE, RESERVE / CNP_LEN, CNP_PG },
	{ "without a reserve, in group 0 like the rest", 0, 0, 0 },
};

TABLE_TEST(scenario, cnp_azure, row, azure_rows)
{
	struct rig *rig = rig_new(greedy(row->reserve));
	struct frame cnp = rig_frame(SRC, DST, 48, CNP_LEN);

	fill_pools(rig);
	cnp.opcode = 0x81;
	rig_send_many(rig, SRC, &cnp, row->admitted);
	cr_assert_eq(rig_all_drops(rig), 2, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, row->pg).packets, row->admitted, "%s", row->what);
	cr_assert_eq(rig_queue(rig, DST, CNP_QUEUE).packets, 0);
	rig_send_many(rig, SRC, &cnp, 1);
	cr_assert_eq(rig_all_drops(rig), 3, "%s", row->what);
	// Strict, and within what a capped queue may send at once: they are the first to leave.
	for (uint64_t i = 0; i < row->admitted; i++) {
		struct frame got;

		cr_assert(rig_take_frame(rig, DST, &got));
		cr_assert_eq(got.opcode, 0x81, "%s", row->what);
	}
	rig_end(rig);
}

// A packet of the same class that is no CNP stays in the group that the map names.
Test(scenario, cnp_class_is_not_cnp)
{
	struct rig *rig = rig_new(greedy(RESERVE));
	struct frame f = rig_frame(SRC, DST, 48, 200);

	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig_pg(rig, SRC, 0).packets, 1);
	cr_assert_eq(rig_pg(rig, SRC, CNP_PG).packets, 0);
	cr_assert_eq(rig_queue(rig, DST, CNP_QUEUE).curr_occupancy_packets, 1);
	rig_end(rig);
}
