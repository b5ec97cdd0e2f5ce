// SPDX-License-Identifier: BSD-3-Clause
//
// The RED law at an egress queue and the verdict per packet: marking at dequeue (or enqueue) and
// WRED drop at enqueue. The queue is measured in bytes at this instant, the packet included; there
// is no average (DCQCN's congestion point, SAI WRED weight 0).
//
// Invariant: a packet that can carry the signal (ECT, CE) is marked, never dropped, while marking
// is on.

#include "ecn/ecn.h"

// True when `dice` hits: dice < probability * 2^32. The comparison is multiplied out, because a
// division here would cost every packet of a congested queue. Both sides stay below 2^117.
static bool red_hit(const struct red_curve *curve, uint64_t queue_bytes, uint32_t dice)
{
	unsigned __int128 chance, all;

	if (queue_bytes < curve->min_bytes)
		return false;
	if (queue_bytes > curve->max_bytes || curve->min_bytes == curve->max_bytes)
		return true;
	chance = (unsigned __int128)(queue_bytes - curve->min_bytes) * curve->prob_ppm;
	all = (unsigned __int128)(curve->max_bytes - curve->min_bytes) * 1000000;
	return all * (dice + 1ull) <= chance << 32;
}

// Bisection for the first value of the dice that does not hit, so that there is one law.
uint64_t red_probability(const struct red_curve *curve, uint64_t queue_bytes)
{
	uint64_t low = 0;
	uint64_t high = 1ull << 32;

	while (low < high) {
		const uint64_t middle = (low + high) / 2;

		if (red_hit(curve, queue_bytes, (uint32_t)middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum ecn_verdict ecn_mark_verdict(const struct wred_profile *pf, enum ecn_codepoint codepoint,
				  uint64_t queue_bytes, uint32_t dice)
{
	if (!pf->ecn || codepoint == ECN_NOT_ECT)
		return ECN_PASS;
	return red_hit(&pf->mark, queue_bytes, dice) ? ECN_MARK : ECN_PASS;
}

enum ecn_verdict ecn_drop_verdict(const struct wred_profile *pf, enum ecn_codepoint codepoint,
				  uint64_t queue_bytes, uint32_t dice)
{
	if (!pf->wred || (pf->ecn && codepoint != ECN_NOT_ECT))
		return ECN_PASS;
	return red_hit(&pf->drop, queue_bytes, dice) ? ECN_DROP : ECN_PASS;
}
