// SPDX-License-Identifier: BSD-3-Clause
//
// The headroom that each port class asks for, against the worst that can arrive: the path from the
// peer through its ring, the wire and our ring is played out event by event into a real switch, and
// what ends in headroom is compared with the formula, which is not used to play.
//
// For frames of the largest length the formula is exact: all of it is used, to the frame, and with
// one frame less exactly one is dropped. For any other length nothing is lost. A byte takes a
// nanosecond (8 Gbit/s), so times are whole.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	POOL_BYTES = 900000, // limit of a lone group with alpha 1/8: a ninth
	LIMIT_BYTES = POOL_BYTES / 9,
	EXTRA_BYTES = 24, // FCS, preamble, delimiter and gap
	PFC_WIRE_BYTES = 84,
	WIRE_FRAMES = 100000, // more than are needed for XOFF
};

struct outcome {
	uint64_t used; // most headroom in use
	uint64_t drops;
};

static uint64_t charge_of(uint64_t len, uint64_t cell)
{
	return (len + cell - 1) / cell * cell;
}

// A switch whose port 0 has `xoff` bytes of headroom, and whose port 1 sends nothing.
static struct rig *rig_of(const struct headroom_path *path, uint64_t xoff)
{
	struct sw_config *c = setup_kvm(2);

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = xoff;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = xoff;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xon = 0;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = POOL_BYTES;
	c->sw.cell = path->cell_bytes;
	for (uint32_t i = 0; i < 2; i++)
		c->port[i].mtu = path->frame_bytes - 14;
	if (path->class == HEADROOM_HOLD)
		c->port[0].pause = CONFIG_PAUSE_HOLD;
	return rig_new(c);
}

static bool in_xoff(const struct rig *rig)
{
	return rig_pg(rig, 0, 3).xoff_state != 0;
}

static void receive(struct rig *rig, uint32_t len)
{
	struct frame f = rig_frame(0, 1, 3, len);

	rig_send(rig, 0, &f);
}

// Fills the group up to its limit: the next frame raises XOFF.
static uint64_t fill(struct rig *rig, const struct headroom_path *path, uint32_t len)
{
	const uint64_t count = LIMIT_BYTES / charge_of(len, path->cell_bytes);

	for (uint64_t i = 0; i < count; i++)
		receive(rig, len);
	cr_assert(!in_xoff(rig));
	return count;
}

static struct outcome finish(struct rig *rig)
{
	const struct outcome outcome = {
		.used = rig_pg(rig, 0, 3).xoff_room_watermark_bytes,
		.drops = rig_pg(rig, 0, 3).dropped_packets,
	};

	cr_assert(in_xoff(rig));
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_events, 1);
	cr_assert_eq(rig_all_drops(rig), outcome.drops);
	rig_end(rig);
	return outcome;
}

// Gapless frames from the peer; the first of them is the one that raises XOFF, and it arrives just
// after a visit of the switch.
static struct outcome play_wire(const struct headroom_path *path, uint64_t xoff, uint32_t len)
{
	struct rig *rig = rig_of(path, xoff);
	const uint64_t wire = len + EXTRA_BYTES;
	const uint64_t longest = path->frame_bytes + EXTRA_BYTES;
	const uint64_t visit = wire + path->delay_ns + path->gap_ns;
	uint64_t stops = UINT64_MAX;
	uint64_t now = visit;

	fill(rig, path, len);
	rig_advance(rig, visit);
	for (uint64_t sent = 0; sent * wire < stops; sent++) {
		uint64_t arrives = (sent + 1) * wire + path->delay_ns;

		cr_assert(stops != UINT64_MAX || sent < WIRE_FRAMES, "no XOFF");
		rig_advance(rig, u64_minus(arrives, now));
		now = u64_max(now, arrives);
		receive(rig, len);
		if (stops == UINT64_MAX && rig->pfc[0].xoff[3] > 0)
			stops = visit + path->ahead_frames * longest + PFC_WIRE_BYTES +
				path->delay_ns + path->response_ns + path->peer_frames * longest;
	}
	return finish(rig);
}

// The ring is full behind the burst in hand, and whenever it has room the peer fills it again: from
// what it makes until it obeys, then from what it has held back.
static struct outcome play_ring(const struct headroom_path *path, uint64_t xoff, uint32_t len)
{
	struct rig *rig = rig_of(path, xoff);
	const uint64_t wire = len + EXTRA_BYTES;
	uint64_t makes = path->bps == 0 ? path->visit_frames :
					  (path->response_ns + wire - 1) / wire;
	uint64_t held = path->peer_frames;
	uint64_t ring = path->ring_frames;
	uint64_t burst = path->burst_frames;

	fill(rig, path, len);
	while (burst > 0) {
		uint64_t room;

		for (uint64_t i = 0; i < burst; i++)
			receive(rig, len);
		room = path->ring_frames - ring;
		ring += u64_min(room, makes);
		makes -= u64_min(room, makes);
		if (makes == 0) {
			room = u64_min(path->ring_frames - ring, held);
			ring += room;
			held -= room;
		}
		burst = u64_min(path->burst_frames, ring);
		ring -= burst;
	}
	cr_assert_eq(makes + held + ring, 0);
	return finish(rig);
}

// The shell asks before each burst whether the port may be polled.
static struct outcome play_hold(const struct headroom_path *path, uint64_t xoff, uint32_t len)
{
	struct rig *rig = rig_of(path, xoff);
	uint32_t bursts = 0;

	fill(rig, path, len);
	for (; bursts < 2 && !sw_held(rig->sw, (port_t){ 0 }); bursts++) {
		for (uint32_t i = 0; i < path->burst_frames; i++)
			receive(rig, len);
	}
	cr_assert_eq(bursts, 1);
	return finish(rig);
}

static struct outcome play(const struct headroom_path *path, uint64_t xoff, uint32_t len)
{
	switch (path->class) {
	case HEADROOM_WIRE: return play_wire(path, xoff, len);
	case HEADROOM_RING: return play_ring(path, xoff, len);
	case HEADROOM_HOLD: return play_hold(path, xoff, len);
	}
	return (struct outcome){ 0 };
}

static struct headroom_path random_path(struct rng *rng, enum headroom_class class)
{
	struct headroom_path path = {
		.class = class,
		.bps = 8000000000,
		.delay_ns = rng_below(rng, 3000),
		.response_ns = rng_below(rng, 20000),
		.ring_frames = 1 + rng_below(rng, 64),
		.ahead_frames = 1 + rng_below(rng, 8),
		.peer_frames = rng_below(rng, 16),
		.burst_frames = 3 + rng_below(rng, 30),
		.visit_frames = rng_below(rng, 128),
		.frame_bytes = 256 + rng_below(rng, 4000),
		.cell_bytes = 1,
	};

	if (class == HEADROOM_RING && rng_below(rng, 2) == 0)
		path.bps = 0;
	// A gap that the ring bridges: longer ones lose frames before the switch sees them.
	path.gap_ns = rng_below(rng, path.ring_frames * (path.frame_bytes + EXTRA_BYTES));
	return path;
}

static void exact(struct rng *rng, enum headroom_class class)
{
	const struct headroom_path path = random_path(rng, class);
	const uint64_t need = headroom_class_bytes(&path);
	const uint64_t whole = need / path.frame_bytes * path.frame_bytes;
	const struct outcome enough = play(&path, need, path.frame_bytes);
	const struct outcome less = play(&path, whole - path.frame_bytes, path.frame_bytes);

	cr_assert_eq(enough.drops, 0);
	cr_assert_eq(enough.used, whole, "%lu of %lu", enough.used, need);
	cr_assert_eq(less.drops, 1);
	cr_assert_eq(less.used, whole - path.frame_bytes);
}

SEED_TEST(headroom_class, wire_is_exact, rng, 20)
{
	exact(rng, HEADROOM_WIRE);
}

SEED_TEST(headroom_class, ring_is_exact, rng, 20)
{
	exact(rng, HEADROOM_RING);
}

SEED_TEST(headroom_class, hold_is_exact, rng, 20)
{
	exact(rng, HEADROOM_HOLD);
}

// Any length of frame in any cell: never more than the formula says.
SEED_TEST(headroom_class, enough_for_every_length, rng, 40)
{
	struct headroom_path path = random_path(rng, (enum headroom_class)rng_below(rng, 3));
	const uint32_t len = 80 + rng_below(rng, path.frame_bytes - 80);
	struct outcome outcome;
	uint64_t need;

	path.cell_bytes = 1 + rng_below(rng, 256);
	need = headroom_class_bytes(&path);
	outcome = play(&path, need, len);
	cr_assert_eq(outcome.drops, 0, "%lu of %lu", outcome.used, need);
	cr_assert_gt(outcome.used, 0);
	cr_assert_leq(outcome.used, need);
	cr_assert_leq(outcome.used / charge_of(len, path.cell_bytes), headroom_class_frames(&path));
}

// Where no rate has a part, frames are counted as they are, whatever their length.
SEED_TEST(headroom_class, frames_of_rings_are_exact, rng, 40)
{
	const bool hold = rng_below(rng, 2) == 0;
	struct headroom_path path = random_path(rng, hold ? HEADROOM_HOLD : HEADROOM_RING);
	const uint32_t len = 80 + rng_below(rng, path.frame_bytes - 80);
	struct outcome outcome;

	path.bps = 0;
	outcome = play(&path, headroom_class_bytes(&path), len);
	cr_assert_eq(outcome.used, headroom_class_frames(&path) * len);
}
