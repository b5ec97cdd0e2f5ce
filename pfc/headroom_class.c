// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom by the class of a port: the bytes that headroom must take so that nothing is lost, from
// what this side and its peer have. Each class has its proof
// at its function.
//
// All of them begin with the frame that does not fit under the limit of its group. It raises XOFF
// and goes to headroom, and so does every later one until XON. What is counted is therefore: that
// frame, and all that come behind it because nothing recalls them.

#include "pfc/pfc.h"

#include "base/check.h"

enum {
	GIGA = 1000000000,
	FRAME_MIN_BYTES = 60,
	WIRE_EXTRA_BYTES = 24, // FCS, preamble, start delimiter and gap, IEEE 802.3 4.4.2
	PFC_WIRE_BYTES = 84,
};

static uint64_t ceil_div(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

static uint64_t charge_of(uint64_t frame_bytes, uint64_t cell_bytes)
{
	return ceil_div(frame_bytes, cell_bytes) * cell_bytes;
}

// bps * ns alone would overflow at 11 ms of 1.6T.
static uint64_t bits_in(uint64_t bps, uint64_t ns)
{
	return bps / GIGA * ns + ceil_div(bps % GIGA * ns, GIGA);
}

// The length of frame that costs most per bit of wire. Within one number of cells that is the
// shortest; from one number to the next it goes up or down the whole way, so the ends are enough.
static uint64_t costliest_bytes(uint64_t most, uint64_t cell)
{
	const uint64_t least = u64_min(FRAME_MIN_BYTES, most);
	const uint64_t ends[] = {
		least,
		u64_min(charge_of(least, cell) + 1, most),
		u64_max((most - 1) / cell * cell + 1, least),
		most,
	};
	uint64_t best = ends[0];

	for (size_t i = 1; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (charge_of(ends[i], cell) * (best + WIRE_EXTRA_BYTES) >
		    charge_of(best, cell) * (ends[i] + WIRE_EXTRA_BYTES))
			best = ends[i];
	}
	return best;
}

// Charge of frames that start within `bits` of wire. Limits: bits are below 2^48 and a frame is
// below 2^15 bytes in whole cells.
static uint64_t charge_in(const struct headroom_path *path, uint64_t bits)
{
	const uint64_t len = costliest_bytes(path->frame_bytes, path->cell_bytes);

	WEFT_CHECK(bits < 1ull << 48);
	return bits * charge_of(len, path->cell_bytes) / (8 * (len + WIRE_EXTRA_BYTES)) +
	       charge_of(path->frame_bytes, path->cell_bytes);
}

// Frames come at most at line rate, so those that count are the ones whose first bit leaves the
// peer between the start of the frame that raises XOFF and the time the peer stops. That is:
//	its own time on the wire, and the delay                      frame + delay
//	it waits in our receive ring for the next visit              min(gap, ring at line rate)
//	the PFC frame waits for what our device has to send already  ahead x frame
//	the PFC frame on the wire, and the delay                     84 bytes + delay
//	the peer takes its time                                      response
//	what the peer's device has to send already leaves anyway     peer x frame
// Longer receive rings change nothing, they only hold what comes in that time. A mix of frames that
// starts within a time T ends at most one frame after it, so its charge is at most T at the rate of
// the length that costs most per bit, and one largest frame.
static uint64_t wire_bits(const struct headroom_path *path)
{
	const uint64_t frame_bits = 8 * (path->frame_bytes + (uint64_t)WIRE_EXTRA_BYTES);
	const uint64_t waiting = u64_min(bits_in(path->bps, path->gap_ns),
					 path->ring_frames * frame_bits);

	return (1ull + path->ahead_frames + path->peer_frames) * frame_bits +
	       bits_in(path->bps, 2 * path->delay_ns + path->response_ns) + 8 * PFC_WIRE_BYTES +
	       waiting;
}

// A software link has no bits in flight, but its ring may be full and its peer may hold what did
// not fit. The frame that raises XOFF is the first of a burst that was taken from the ring, which
// has filled up again meanwhile:
//	the burst, the ring behind it, what the peer holds back      burst + ring + peer frames
//	what the peer makes until it has read the PFC frame          response at its rate
// Without a rate, the last is what the peer sends between two looks at its ring (`visit`): a peer
// that reads before it sends, as weft does, reads the PFC frame at the next look.
static uint64_t ring_bytes(const struct headroom_path *path)
{
	const uint64_t charge = charge_of(path->frame_bytes, path->cell_bytes);
	const uint64_t held = (uint64_t)path->burst_frames + path->ring_frames + path->peer_frames;

	if (path->bps == 0)
		return (held + path->visit_frames) * charge;
	return held * charge + charge_in(path, bits_in(path->bps, path->response_ns));
}

// The port is not polled after the burst in hand, and what waits outside is in no buffer of the
// switch. The frame that raises XOFF is the first of the burst.
static uint64_t hold_bytes(const struct headroom_path *path)
{
	return path->burst_frames * charge_of(path->frame_bytes, path->cell_bytes);
}

uint64_t headroom_class_bytes(const struct headroom_path *path)
{
	WEFT_CHECK(path->frame_bytes >= 1 && path->frame_bytes < 1u << 14);
	WEFT_CHECK(path->cell_bytes >= 1 && path->cell_bytes <= 1024);
	WEFT_CHECK(path->delay_ns <= GIGA && path->response_ns <= 10ull * GIGA);
	WEFT_CHECK(path->gap_ns <= 10ull * GIGA && path->bps <= 1600ull * GIGA);

	switch (path->class) {
	case HEADROOM_WIRE: return charge_in(path, wire_bits(path));
	case HEADROOM_RING: return ring_bytes(path);
	case HEADROOM_HOLD: return hold_bytes(path);
	}
	return 0;
}

// Frames that start within `bits` of wire: the first at once, the others behind shortest ones.
static uint64_t frames_in(uint64_t bits)
{
	return bits / (8ull * (FRAME_MIN_BYTES + WIRE_EXTRA_BYTES)) + 1;
}

// The same sums as above over frames instead of bytes: rings count frames anyhow, and what a rate
// brings are as many as possible when all are short.
uint64_t headroom_class_frames(const struct headroom_path *path)
{
	const uint64_t held = (uint64_t)path->burst_frames + path->ring_frames + path->peer_frames;

	switch (path->class) {
	case HEADROOM_WIRE: return frames_in(wire_bits(path));
	case HEADROOM_RING:
		return held + (path->bps == 0 ? path->visit_frames :
						frames_in(bits_in(path->bps, path->response_ns)));
	case HEADROOM_HOLD: return path->burst_frames;
	}
	return 0;
}
