// SPDX-License-Identifier: BSD-3-Clause
//
// A bad link on purpose: what a port receives is delayed, slowed, lost or corrupted before the
// switch sees it, and PFC frames come later still, as from a switch that is slow to obey. A line
// stands between the shell's receive call and sw_rx(), so the switch itself knows nothing of it;
// frames lost here were never received.
//
// Conservation of a line: taken = given + lost + overrun + held. Same seed, same frames and times:
// same result.
#pragma once

#include "base/pacer.h"
#include "base/rng.h"
#include "dataplane/core/pkt.h"

struct impair_profile {
	bool on;
	uint32_t loss_ppm;
	uint32_t corrupt_ppm; // of the frames that are not lost: one bit behind the addresses
	uint32_t limit;       // frames that the line holds at once; 0: it is impaired no longer
	uint64_t delay_ns;
	uint64_t jitter_ns;        // up to this much more, evenly; the order stays
	uint64_t pfc_delay_ns;     // more delay of MAC control frames, which data may then overtake
	struct pacer_profile rate; // over wire bytes
};

struct impair_stats {
	uint64_t taken;
	uint64_t given;
	uint64_t lost;      // by the dice, or on the line when it was cleared
	uint64_t overrun;   // did not fit into the limit
	uint64_t corrupted; // of those given or held
};

// Frames in the order in which they end: pkt.at is when.
struct impair_queue {
	struct pkt *head;
	struct pkt *tail;
	ns_t last; // end of the newest
};

struct impair_line {
	struct rng dice;
	struct pacer_state rate;
	struct impair_queue data;
	struct impair_queue control;
	uint32_t held;
	uint32_t limit; // of the newest profile that had one
	struct impair_stats stats;
};

void impair_init(struct impair_line *line, uint64_t seed);

// Takes `count` frames that were received at `now`: data, len and head_len are set. Those that are
// lost stay the caller's to free: they are moved to the front of `pkts`, and their number returned.
// A profile of zeros adds nothing, but others line up behind frames that are still held, and the
// limit stays until there are none: buffers were made for so many.
uint32_t impair_take(const struct impair_profile *pf, struct impair_line *line, struct pkt **pkts,
		     uint32_t count, ns_t now);

// Gives at most `max` frames whose time has come, in the order of their times.
uint32_t impair_give(struct impair_line *line, struct pkt **pkts, uint32_t max, ns_t now);

// When impair_give() has something; NS_NEVER while nothing is held.
ns_t impair_deadline(const struct impair_line *line);

// The link went down: gives at most `max` frames to be freed; call until 0.
uint32_t impair_clear(struct impair_line *line, struct pkt **pkts, uint32_t max);
