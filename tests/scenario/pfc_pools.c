// SPDX-License-Identifier: BSD-3-Clause
//
// Pools: the shared headroom pool filled to the brim, what reserves leave, a storm while headroom
// is occupied, and the watermarks on the way. HeadroomPoolSize, HeadroomPoolWatermark,
// SharedReservationSize, PfcStormWithSharedHeadroomOccupancy.

#include "tests/rig/oracle.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	SINK = 3,
	LEN = 1000,
	SHP_BYTES = 200000,
	FILL_FRAMES = 20000, // more than any buffer here holds
};

// With a shared headroom pool the profile's size is its xon, all of it reserved.
static struct sw_config *shared_headroom(uint64_t bytes)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);

	setup_find_pool(c, KVM_INGRESS_POOL)->xoff = bytes;
	profile->size = KVM_XON_BYTES;
	return c;
}

static void fill_to_limit(struct rig *rig, uint32_t port, uint8_t pg)
{
	struct frame f = rig_frame(port, SINK, pg, LEN);
	uint64_t guard = 0;

	while ((rig_pg(rig, port, pg).curr_occupancy_bytes + LEN) <=
		       rig_pg(rig, port, pg).xoff_threshold_bytes &&
	       guard++ < 100000)
		rig_send_many(rig, port, &f, 1);
}

// Sends `count` frames that all must go to headroom.
static void fill_headroom(struct rig *rig, uint32_t port, uint8_t pg, uint64_t count)
{
	struct frame f = rig_frame(port, SINK, pg, LEN);
	uint64_t before = rig_pg(rig, port, pg).xoff_room_curr_occupancy_bytes;

	rig_send_many(rig, port, &f, count);
	cr_assert_eq(rig_pg(rig, port, pg).xoff_room_curr_occupancy_bytes, before + count * LEN);
}

// Raises XOFF on six groups: the frame that does not fit is the first of its headroom. Groups
// interleave, since each one lowers the limit of the others.
static uint64_t pause_all(struct rig *rig)
{
	struct frame f[6];
	uint64_t headroom = 0;
	uint32_t open = 6;

	for (uint32_t i = 0; i < 6; i++)
		f[i] = rig_frame(i / 2, SINK, (uint8_t)(3 + i % 2), LEN);
	for (uint32_t n = 0; n < FILL_FRAMES && open > 0; n++) {
		const uint32_t i = n % 6;

		if (rig_pg(rig, i / 2, 3 + i % 2).xoff_state)
			continue;
		rig_send_many(rig, i / 2, &f[i], 1);
		open -= rig_pg(rig, i / 2, 3 + i % 2).xoff_state;
	}
	cr_assert_eq(open, 0);
	for (uint32_t i = 0; i < 6; i++)
		headroom += rig_pg(rig, i / 2, 3 + i % 2).xoff_room_curr_occupancy_bytes;
	return headroom;
}

// HeadroomPoolSize: six groups of at most 55120 bytes share 200000. All are in XOFF with one frame
// of headroom; then three fill their share, the fourth takes what is left, and the next frame of
// any group is dropped.
Test(scenario, headroom_pool_size)
{
	struct rig *rig = rig_new(shared_headroom(SHP_BYTES));
	const uint64_t share = KVM_XOFF_BYTES / LEN; // 55 frames
	struct frame f = rig_frame(2, SINK, 4, LEN);

	cr_assert_eq(pause_all(rig), 6 * LEN);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).xoff_room_curr_occupancy_bytes, 6 * LEN);
	fill_headroom(rig, 0, 3, share - 1);
	fill_headroom(rig, 0, 4, share - 1);
	fill_headroom(rig, 1, 3, share - 1);
	fill_headroom(rig, 1, 4, SHP_BYTES / LEN - 3 * share - 2 - 1);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).xoff_room_curr_occupancy_bytes, SHP_BYTES);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).xoff_room_watermark_bytes, SHP_BYTES);
	cr_assert_eq(rig_all_drops(rig), 0);

	rig_send(rig, 2, &f);
	cr_assert_eq(rig_drops(rig, 2, DROP_PG_LOSSLESS_FULL), 1);
	cr_assert_eq(rig_pg(rig, 2, 4).dropped_packets, 1);

	// Everything drains and resumes; only the one frame was lost.
	rig_release(rig, SINK, UINT64_MAX);
	for (uint32_t i = 0; i < 6; i++) {
		cr_assert_eq(rig_pg(rig, i / 2, 3 + i % 2).xoff_state, 0);
		cr_assert_eq(rig->pfc[i / 2].xon[3 + i % 2], 1);
	}
	cr_assert_eq(rig_all_drops(rig), 1);
	rig_end(rig);
}

// A group's own share binds although the pool has more.
Test(scenario, headroom_pool_share)
{
	struct rig *rig = rig_new(shared_headroom(8 * KVM_XOFF_BYTES));
	struct frame f = rig_frame(0, SINK, 3, LEN);

	fill_to_limit(rig, 0, 3);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0);
	fill_headroom(rig, 0, 3, KVM_XOFF_BYTES / LEN);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_pg(rig, 0, 3).dropped_packets, 1);
	rig_end(rig);
}

// XON's second condition: with the pool's headroom taken by another group, an empty group waits
// until xoff bytes are free again.
Test(scenario, xon_waits_for_headroom)
{
	struct sw_config *c = shared_headroom(60000);
	struct rig *rig = rig_new(c);
	struct frame f = rig_frame(0, 1, 3, LEN);
	uint64_t occupied;

	// Port 2 occupies 20000 bytes towards the sink, port 0 has one frame towards port 1.
	fill_to_limit(rig, 2, 3);
	fill_headroom(rig, 2, 3, 20);
	rig_fill(rig, 0, 3, &f);
	rig_release(rig, 1, UINT64_MAX);
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);

	// It resumes with the release that leaves 60000 - 55120 = 4880 bytes or less in use.
	for (occupied = 20; occupied * LEN > 60000 - KVM_XOFF_BYTES; occupied--) {
		cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
		rig_release(rig, SINK, 1);
	}
	cr_assert_eq(occupied, 4);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0);
	cr_assert_eq(rig->pfc[0].xon[3], 1);
	rig_end(rig);
}

// SharedReservationSize: what is reserved plus what is shared is the size of each pool, and every
// reserve can be used at the same time without touching the shared part.
Test(scenario, shared_reservation_size)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	const uint64_t in_reserve = PORTS * 2 * KVM_RESERVE_BYTES;
	const uint64_t lossy_reserve = PORTS * 6 * KVM_LOSSY_QUEUE_BYTES;
	static const uint8_t dscp_of_queue[] = { 8, 0, 5, 3, 4, 46, 48 }; // AZURE, queues 0 to 6

	cr_assert_eq(rig_pool_profile(rig, KVM_INGRESS_POOL)->shared_bytes,
		     KVM_POOL_BYTES - in_reserve);
	cr_assert_eq(rig_pool_profile(rig, KVM_EGRESS_POOL)->shared_bytes, KVM_POOL_BYTES);
	cr_assert_eq(rig_pool_profile(rig, KVM_LOSSY_POOL)->shared_bytes,
		     KVM_LOSSY_POOL_BYTES - lossy_reserve);

	for (uint32_t port = 0; port < PORTS; port++) {
		for (uint8_t queue = 0; queue < 7; queue++) {
			bool lossless = queue == 3 || queue == 4;
			struct frame f = rig_frame(port, (port + 1) % PORTS, dscp_of_queue[queue],
						   lossless ? KVM_RESERVE_BYTES :
							      KVM_LOSSY_QUEUE_BYTES);

			rig_send(rig, port, &f);
		}
	}
	// Lossless groups sit in their reserves; lossy groups have none, so they are all shared.
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).shared_curr_occupancy_bytes,
		     PORTS * 5 * KVM_LOSSY_QUEUE_BYTES);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).curr_occupancy_bytes,
		     PORTS * 5 * KVM_LOSSY_QUEUE_BYTES + in_reserve);
	cr_assert_eq(rig_pool(rig, KVM_LOSSY_POOL).shared_curr_occupancy_bytes, 0);
	cr_assert_eq(rig_pool(rig, KVM_LOSSY_POOL).curr_occupancy_bytes,
		     PORTS * 5 * KVM_LOSSY_QUEUE_BYTES);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// PfcStormWithSharedHeadroomOccupancy: 100000 bytes of the headroom pool are occupied by group 4
// of two ports while the sink storms on priority 3. Each sender of priority 3 still delivers 40
// frames after its XOFF; they fit, and nothing is lost once the storm is over.
Test(scenario, storm_with_shared_headroom_occupied)
{
	struct rig *rig = rig_new(shared_headroom(SHP_BYTES));
	uint64_t sent = 0;

	for (uint32_t port = 0; port < 2; port++) {
		fill_to_limit(rig, port, 4);
		fill_headroom(rig, port, 4, 50);
	}
	rig_send_pfc(rig, SINK, 1 << 3, 65535);
	for (uint32_t port = 0; port < 2; port++) {
		struct frame f = rig_frame(port, SINK, 3, LEN);

		rig_fill(rig, port, 3, &f);
		rig_send_many(rig, port, &f, 39);
		sent += f.seq;
		rig_send_pfc(rig, SINK, 1 << 3, 65535);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).xoff_room_watermark_bytes, 100000 + 80000);

	// Only the other priority leaves during the storm.
	rig_release(rig, SINK, UINT64_MAX);
	cr_assert_eq(rig_queue(rig, SINK, 3).packets, 0);
	rig_send_pfc(rig, SINK, 1 << 3, 0);
	rig_release(rig, SINK, UINT64_MAX);
	cr_assert_eq(rig_queue(rig, SINK, 3).packets, sent);
	cr_assert_eq(rig_all_drops(rig), 0);
	for (uint32_t port = 0; port < 2; port++)
		cr_assert_eq(rig_pg(rig, port, 3).xoff_state, 0);
	rig_end(rig);
}

// Two pools of profile styles: size above and below xon + xoff give the reserve max(0, size -
// xoff).
static const struct {
	const char *what;
	uint64_t size, xon, xoff, reserve;
} style_rows[] = {
	{ "size = xon + xoff: all of xon is reserved", 50176, 19456, 30720, 19456 },
	{ "size below xoff: no reserve", 1248, 1248, 54080, 0 },
	{ "size a little above xoff", 56368, 18432, 55120, 1248 },
};

TABLE_TEST(scenario, profile_styles, row, style_rows)
{
	struct sw_config *c = setup_kvm(2);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct rig *rig;

	profile->size = row->size;
	profile->xon = row->xon;
	profile->xoff = row->xoff;
	rig = rig_new(c);
	cr_assert_eq(rig_pool_profile(rig, KVM_INGRESS_POOL)->shared_bytes,
		     KVM_POOL_BYTES - 4 * row->reserve, "%s", row->what);
	rig_end(rig);
}
