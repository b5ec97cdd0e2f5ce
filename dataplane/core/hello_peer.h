// SPDX-License-Identifier: BSD-3-Clause
//
// What one end of a link knows of the other from its hello frames: whether it is there, whether it
// hears us too, and whether it agrees on lanes. A state machine without clock or memory of its own.
//
// A port is usable until its hellos say otherwise: a peer that has never sent one may not know them
// (unless they are required). From the first two-way exchange on they are expected, also after the
// carrier was gone.
//
//	UNHEARD > HEARD > UP > SILENT or DEAF > RETURNING > UP
#pragma once

#include "dataplane/core/hello.h"

enum hello_status {
	HELLO_OFF,       // not a port that sends hellos
	HELLO_UNHEARD,   // none since the carrier came
	HELLO_HEARD,     // the peer has not said yet that it hears us
	HELLO_UP,        // both hear each other
	HELLO_SILENT,    // was heard, and is no longer
	HELLO_DEAF,      // is heard, but does not hear us
	HELLO_LOOPED,    // our own hellos come back
	HELLO_RETURNING, // both hear each other again, not for long enough
};

// Why a port carries no lossless traffic although its peer is there.
enum hello_mismatch {
	HELLO_AGREE,
	HELLO_LANE_COUNT,    // lanes in use; have: ours, want: the peer's
	HELLO_LANE_PRIORITY, // of lane `at`; have, want
	HELLO_LANE_TAG,      // one end tags frames; have, want: 0 or 1
	HELLO_PFC_SENT,      // priorities that are paused; have, want: masks
	HELLO_PFC_OBEYED,    // paused and not obeyed; have: not by us, want: not by the peer
};

enum { HELLO_STATUS_COUNT = HELLO_RETURNING + 1 };

extern const char *const hello_status_words[HELLO_STATUS_COUNT];

enum {
	HELLO_RETURN_COUNT = 3, // consecutive hellos, both ways, that bring a port back
};

struct hello_profile {
	bool on;
	bool required;
	uint64_t interval_ns;
	uint32_t multiplier;
	struct hello_lanes lanes;
};

struct hello_peer {
	enum hello_status status;
	enum hello_mismatch mismatch;
	uint8_t at; // of the mismatch
	uint8_t have, want;
	bool usable;
	bool expected; // was UP once: a carrier alone does not make the port usable again
	uint32_t streak;
	ns_t heard_at;
	ns_t met_at;        // of HEARD
	struct hello hello; // the newest
};

// Begins anew, as when the profile turns hellos on; the carrier is down.
void hello_peer_init(const struct hello_profile *pf, struct hello_peer *peer);

// The carrier came or went.
void hello_peer_link(const struct hello_profile *pf, struct hello_peer *peer, bool up);

// A hello from the link of the end `self`. False when it counts for nothing: an old one again.
bool hello_peer_heard(const struct hello_profile *pf, struct hello_peer *peer,
		      const struct hello_end *self, const struct hello *hello, ns_t now);

// Looks at the time. The switch was not there for `away_ns` of it: that much silence is its own
// doing.
void hello_peer_tick(const struct hello_profile *pf, struct hello_peer *peer, uint64_t away_ns,
		     ns_t now);

// When hello_peer_tick() must look again, NS_NEVER: not by itself.
ns_t hello_peer_deadline(const struct hello_profile *pf, const struct hello_peer *peer);

// Whether the peer has been heard lately: what our own hellos say.
bool hello_peer_is_heard(const struct hello_peer *peer);

// Compares lanes anew, after the profile changed.
void hello_peer_agree(const struct hello_profile *pf, struct hello_peer *peer);

// The longest silence that a peer is granted.
uint64_t hello_peer_hold_ns(const struct hello_profile *pf, const struct hello_peer *peer);
