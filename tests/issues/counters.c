// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs of watermarks: they follow whether or not anybody reads, and they belong to pools by
// name, also when pools are made anew. Names are those of rows.tsv, which says what holds instead
// of the bug. What the command line shows and clears is in test_show.py.

#include "tests/issues/star.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 1000,
};

static void read_everything(const struct rig *rig)
{
	(void)rig_switch(rig);
	for (uint32_t i = 0; i < rig->pf->pool_count; i++)
		(void)rig_pool(rig, rig->pf->pool[i].name);
	for (uint32_t port = 0; port < rig->pf->port_count; port++) {
		(void)rig_port(rig, port);
		for (uint32_t i = 0; i < 8; i++) {
			(void)rig_prio(rig, port, i);
			(void)rig_pg(rig, port, i);
			(void)rig_queue(rig, port, i);
		}
	}
}

enum { UNDER = 300, OVER = 30 }; // frames below the limit and in headroom

// A burst that fills a group into its headroom, and leaves again 5 us later.
static struct rig *burst(bool read)
{
	struct sw_config *c = setup_kvm(2);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct rig *rig;

	profile->size = KVM_XOFF_BYTES;
	profile->dynamic_th = CONFIG_UNSET_INT;
	profile->static_th = UNDER * LEN;
	rig = rig_new(c);
	for (uint32_t n = 0; n < UNDER + OVER; n++) {
		rig_send_many(rig, SRC, &f, 1);
		if (read)
			read_everything(rig);
	}
	rig_advance(rig, 5000);
	while (rig_release(rig, DST, 1) == 1) {
		if (read)
			read_everything(rig);
	}
	return rig;
}

// The same burst through two switches, one read in full at every frame, one never: when all is
// drained, each watermark says the same on both, alone and in any order.
Test(issues, sonic_buildimage_11219)
{
	struct rig *rig[2] = { burst(true), burst(false) };

	for (uint32_t k = 2; k-- > 0;) {
		cr_assert_eq(rig_pg(rig[k], SRC, 3).xoff_room_watermark_bytes, OVER * LEN);
		cr_assert_eq(rig_queue(rig[k], DST, 3).delay_watermark_ns, 5000);
		cr_assert_eq(rig_pool(rig[k], KVM_EGRESS_POOL).watermark_bytes,
			     (UNDER + OVER) * LEN);
		cr_assert_eq(rig_pg(rig[k], SRC, 3).shared_watermark_bytes, UNDER * LEN);
		cr_assert_eq(rig_pool(rig[k], KVM_INGRESS_POOL).xoff_room_watermark_bytes,
			     OVER * LEN);
		cr_assert_eq(rig_queue(rig[k], DST, 3).shared_watermark_bytes,
			     (UNDER + OVER) * LEN);
		cr_assert_eq(rig_pool(rig[k], KVM_INGRESS_POOL).watermark_bytes, UNDER * LEN);
		cr_assert_eq(rig_switch(rig[k]).descriptors_watermark, UNDER + OVER);
		rig_end(rig[k]);
	}
}

static const struct {
	const char *what;
	bool queued; // packets wait while the pools change
} pool_rows[] = {
	{ "empty", false },
	{ "under traffic", true },
};

// Pools and profiles come back in another order and under other names, as after clearing and
// loading QoS. Each name has watermarks of its own that start with what it holds, and follow.
TABLE_TEST(issues, sonic_swss_3861, row, pool_rows)
{
	enum { BEFORE = 200, AFTER = 50 };
	struct rig *rig = rig_new(setup_kvm(2));
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	const uint64_t held = row->queued ? BEFORE : 0;
	struct sw_config *c = rig->config;
	struct pool_config lossy;

	rig_send_many(rig, SRC, &f, BEFORE);
	cr_assert_eq(rig_pool(rig, KVM_EGRESS_POOL).watermark_bytes, BEFORE * LEN);
	if (!row->queued)
		rig_release(rig, DST, UINT64_MAX);
	lossy = c->pool[2];
	c->pool[2] = c->pool[0];
	c->pool[0] = lossy;
	setup_name(c->pool[1].name, "egress_new");
	setup_name(setup_find_profile(c, KVM_QUEUE_LOSSLESS)->pool, "egress_new");
	cr_assert_eq(rig_reload(rig), 0);

	// The ingress pool is the same one at another place; the lossy pool never held anything.
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).watermark_bytes, BEFORE * LEN, "%s",
		     row->what);
	cr_assert_eq(rig_pool(rig, KVM_LOSSY_POOL).watermark_bytes, 0, "%s", row->what);
	cr_assert_eq(rig_pool(rig, "egress_new").watermark_bytes, held * LEN, "%s", row->what);
	rig_send_many(rig, SRC, &f, BEFORE + AFTER - held);
	cr_assert_eq(rig_pool(rig, "egress_new").watermark_bytes, (BEFORE + AFTER) * LEN, "%s",
		     row->what);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).watermark_bytes, (BEFORE + AFTER) * LEN);
	cr_assert_eq(rig_pool(rig, KVM_LOSSY_POOL).watermark_bytes, 0);
	rig_end(rig);
}
