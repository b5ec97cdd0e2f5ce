// SPDX-License-Identifier: BSD-3-Clause
//
// What a requester is to send again when both hosts tolerate reordering: a short queue of ranges of
// packets, in the order in which the responder named them. A range that finds no room is named
// again.
//
// Invariants: ranges are not empty, begin at una or behind it and end before `next` or at it.

#include "traffic/core/rc_state.h"

static struct rc_range *range_at(const struct rc_requester *rq, uint32_t place)
{
	return &rq->range[place & rq->range_mask];
}

// The gaps of one round of NAKs rise; those that come while an earlier round waits are in it.
void rc_range_add(struct rc_requester *rq, uint64_t first, uint64_t end)
{
	if (rc_range_waits(rq))
		first = u64_max(first, range_at(rq, rq->range_head - 1)->end);
	first = u64_max(first, rq->una);
	end = u64_min(end, rq->next);
	if (first < end && rq->range_head - rq->range_tail <= rq->range_mask)
		*range_at(rq, rq->range_head++) = (struct rc_range){ first, end };
}

void rc_range_trim(struct rc_requester *rq, uint64_t before)
{
	while (rc_range_waits(rq)) {
		struct rc_range *range = range_at(rq, rq->range_tail);

		if (range->end > before) {
			range->first = u64_max(range->first, before);
			return;
		}
		rq->range_tail++;
	}
}

uint64_t rc_range_first(const struct rc_requester *rq)
{
	return range_at(rq, rq->range_tail)->first;
}
