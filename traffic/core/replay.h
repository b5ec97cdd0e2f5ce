// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of a capture that one host sends again, and others count: when each is due, whose
// addresses it gets, and which of the frames that arrive are of that kind. Who reads the capture
// and carries frames is elsewhere. Pure.
#pragma once

#include "base/types.h"

enum {
	REPLAY_FRAME_MIN = 14, // a frame has both addresses and a type
	REPLAY_PAD = 60,       // shorter ones are filled up to the least that Ethernet knows
};

// Times of the capture as times of the run. Frames that are out of order are due at once.
struct replay_pace {
	uint64_t rate_ppm; // of the speed of the capture; 0: all are due at once
	ns_t start;        // when the first one is due
	ns_t first;        // when it was captured
	bool begun;
};
ns_t replay_due(struct replay_pace *pace, ns_t captured);

// Gives a frame the addresses of the hosts that it goes between; that of a group it keeps.
void replay_readdress(uint8_t *frame, uint64_t src_mac, uint64_t dst_mac);

// What a host has received of a replay.
struct replay_tally {
	uint64_t src_mac; // of the frames; 0: whatever is not between neighbours only
	bool counts;      // from the beginning of the replay on
	uint64_t frames;
	uint64_t bytes;
};

// True when the frame is one of the replay, and is counted.
bool replay_count(struct replay_tally *tally, const uint8_t *frame, uint32_t len);
