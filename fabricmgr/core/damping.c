// SPDX-License-Identifier: BSD-3-Clause
//
// Decay in whole numbers: a shift for whole half-lives, a table of sixteenths for the rest, with a
// straight line between two of them. The penalty is kept as of the last loss and never rewritten
// by looking, so that it does not matter how often somebody looks.

#include "fabricmgr/core/damping.h"

enum { STEPS = 16, HALVINGS_MAX = 31 };

// The penalty `since` nanoseconds later.
static uint32_t decayed(uint32_t penalty, uint64_t since, uint64_t half_life)
{
	// 2^(-i/16) x 2^16
	static const uint32_t part[STEPS + 1] = { 65536, 62757, 60097, 57549, 55109, 52773,
						  50535, 48393, 46341, 44376, 42495, 40693,
						  38968, 37316, 35734, 34219, 32768 };
	const uint64_t halvings = since / half_life;
	// In 16 bits behind the point; a half-life of hours times 2^20 fits into 64 bits.
	const uint64_t rest = (since % half_life) * (STEPS << 16) / half_life;
	const uint32_t step = (uint32_t)(rest >> 16);
	const uint64_t down = (part[step] - part[step + 1]) * (rest & 0xffff) >> 16;

	if (halvings > HALVINGS_MAX)
		return 0;
	return (uint32_t)(((uint64_t)penalty * (part[step] - down) >> 16) >> halvings);
}

static uint32_t penalty_at(const struct damping *d, uint64_t half_life, ns_t now)
{
	return half_life == 0 ? 0 : decayed(d->penalty, ns_since(now, d->at), half_life);
}

void damping_init(struct damping *d, bool up, ns_t now)
{
	*d = (struct damping){ .up = up, .at = now };
}

// A loss, on top of what is left of those before.
static void punish(struct damping *d, uint64_t half_life, ns_t now)
{
	const uint32_t penalty = penalty_at(d, half_life, now) + DAMPING_LOSS;

	d->penalty = penalty < DAMPING_MAX ? penalty : DAMPING_MAX;
	d->at = now;
	d->suppressed |= half_life != 0 && d->penalty > DAMPING_SUPPRESS;
}

bool damping_report(struct damping *d, bool up, uint64_t half_life_ns, ns_t now)
{
	const bool usable = damping_usable(d);

	if (d->suppressed && penalty_at(d, half_life_ns, now) < DAMPING_REUSE)
		d->suppressed = false;
	if (d->up && !up)
		punish(d, half_life_ns, now);
	d->up = up;
	return damping_usable(d) != usable;
}

// The first time at which the penalty is below the limit: it falls, so it is found by halving.
static ns_t reuse_time(const struct damping *d, uint64_t half_life)
{
	uint64_t before = 0;
	uint64_t after = 4 * half_life; // DAMPING_MAX < 2^4 x DAMPING_REUSE

	while (after - before > 1) {
		const uint64_t middle = before + (after - before) / 2;

		if (decayed(d->penalty, middle, half_life) < DAMPING_REUSE)
			after = middle;
		else
			before = middle;
	}
	return ns_add(d->at, after);
}

bool damping_tick(struct damping *d, uint64_t half_life_ns, ns_t now, ns_t *next)
{
	*next = NS_NEVER;
	if (!d->suppressed)
		return false;
	if (penalty_at(d, half_life_ns, now) < DAMPING_REUSE) {
		d->suppressed = false;
		return d->up;
	}
	*next = reuse_time(d, half_life_ns);
	return false;
}
