// SPDX-License-Identifier: BSD-3-Clause
//
// Damping of links that flap (the idea of RFC 2439): each loss adds to a penalty that halves with
// time; a link whose penalty is above a limit is not planned with until it is below a lower one. A
// loss always counts at once: only the return waits.
#pragma once

#include "base/types.h"

enum {
	DAMPING_LOSS = 1000,     // of one loss
	DAMPING_SUPPRESS = 2500, // above: not used
	DAMPING_REUSE = 1000,    // below: used again
	DAMPING_MAX = 12000,     // bounds the wait: log2(12) half-lives
};

struct damping {
	uint32_t penalty; // as of `at`
	bool suppressed;
	bool up; // as last reported
	ns_t at;
};

void damping_init(struct damping *d, bool up, ns_t now);

// The link is reported up or down. True when what may be planned with has changed.
bool damping_report(struct damping *d, bool up, uint64_t half_life_ns, ns_t now);

// Time passes. True as above; *next is when to look again, NS_NEVER when there is nothing to wait
// for.
bool damping_tick(struct damping *d, uint64_t half_life_ns, ns_t now, ns_t *next);

static inline bool damping_usable(const struct damping *d)
{
	return d->up && !d->suppressed;
}
