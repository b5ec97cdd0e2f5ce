// SPDX-License-Identifier: BSD-3-Clause
//
// One end of a connection for tests: a queue pair with its memory, which has guard bytes around it,
// and rc_check(), which says what must hold of a queue pair whatever came.
#pragma once

#include "base/check.h"
#include "tests/keep.h"
#include "traffic/core/rc.h"

enum {
	END_SENDS = 16,
	END_RECEIVES = 16,
	END_READS = 8,
	END_EARLY = 256,
	END_RANGES = 4,
	END_GUARD = 64,
	END_GUARD_BYTE = 0xa5,
	END_RKEY = 0x0142, // region 1, key 0x42
};

#define END_VA 0x7fff00001000u

struct end {
	struct rc_profile pf;
	struct rc_qp qp;
	struct rc_wqe send[END_SENDS];
	struct rc_rqe receive[END_RECEIVES];
	struct rc_read read[END_READS];
	struct rc_early early[END_EARLY];
	struct rc_range range[END_RANGES];
	struct rc_region region[2]; // 0 is nothing
	uint8_t *guarded;           // memory of region 1 behind END_GUARD bytes
};

static inline uint8_t *end_memory(const struct end *end)
{
	return end->guarded + END_GUARD;
}

// Zeroed memory of a region with guards on both sides. `end` is zeroed, or was given as many bytes
// before.
static inline void end_init(struct end *end, const struct rc_profile *pf, uint64_t region_bytes,
			    uint32_t send_psn, uint32_t receive_psn)
{
	const struct rc_memory memory = {
		.send = end->send,
		.send_count = END_SENDS,
		.receive = end->receive,
		.receive_count = END_RECEIVES,
		.read = end->read,
		.read_count = END_READS,
		.early = end->early,
		.early_count = END_EARLY,
		.range = end->range,
		.range_count = END_RANGES,
		.region = end->region,
		.region_count = 2,
	};

	end->pf = *pf;
	if (end->guarded == NULL)
		end->guarded = keep(malloc(region_bytes + 2 * END_GUARD));
	memset(end->guarded, END_GUARD_BYTE, END_GUARD);
	memset(end_memory(end), 0, region_bytes);
	memset(end_memory(end) + region_bytes, END_GUARD_BYTE, END_GUARD);
	end->region[0] = (struct rc_region){ 0 };
	end->region[1] = (struct rc_region){
		.va = END_VA,
		.bytes = region_bytes,
		.data = end_memory(end),
		.rkey = END_RKEY,
		.remote_write = true,
		.remote_read = true,
	};
	rc_init(&end->pf, &end->qp, &memory, 0x123456, send_psn, receive_psn);
}

static inline void rc_check_requester(const struct rc_profile *pf, const struct rc_requester *rq)
{
	uint64_t packets = rq->posted;
	uint32_t reads = 0;

	WEFT_CHECK(rq->una <= rq->next && rq->next <= rq->sent && rq->sent <= rq->posted);
	WEFT_CHECK(rq->sent - rq->una <= RC_SPAN_MAX);
	WEFT_CHECK(rq->head - rq->tail <= END_SENDS);
	WEFT_CHECK(rq->next_place - rq->tail <= rq->head - rq->tail);
	WEFT_CHECK(rq->una_place - rq->tail <= rq->head - rq->tail);
	WEFT_CHECK(rq->read_psns <= rq->next - rq->una);
	WEFT_CHECK(rq->next - rq->una - rq->read_psns <= pf->window);
	WEFT_CHECK(rq->reads_out <= rq->read_left && rq->reads_out <= pf->read_depth);
	WEFT_CHECK(rq->asked <= rq->sent);
	for (uint32_t place = rq->head; place != rq->tail; place--) {
		const struct rc_wqe *wqe = &rq->send[(place - 1) & rq->mask];

		WEFT_CHECK(wqe->first + wqe->packets == packets);
		WEFT_CHECK((place > rq->next_place) == (packets > rq->next));
		packets = wqe->first;
		reads += wqe->op == RC_READ && wqe->first + wqe->packets > rq->una;
	}
	WEFT_CHECK(reads == rq->read_left);
}

static inline void rc_check_ranges(const struct rc_requester *rq)
{
	uint64_t end = rq->una;

	WEFT_CHECK(rq->range_head - rq->range_tail <= END_RANGES);
	for (uint32_t place = rq->range_tail; place != rq->range_head; place++) {
		const struct rc_range *range = &rq->range[place & rq->range_mask];

		WEFT_CHECK(range->first >= end && range->first < range->end);
		end = range->end;
	}
	WEFT_CHECK(end <= rq->next);
}

static inline void rc_check_early(const struct rc_responder *rs)
{
	const int32_t far = psn_diff(rs->far, rs->psn);

	WEFT_CHECK(far >= 0 && far <= END_EARLY);
	WEFT_CHECK((far != 0) == (rs->gap_due.v != NS_NEVER.v));
	for (uint32_t i = 0; i < END_EARLY; i++)
		WEFT_CHECK(!rs->early[psn_add(rs->psn, i) & rs->early_mask].placed ||
			   (int32_t)i < far);
	WEFT_CHECK(rs->name == rs->name_end ||
		   (psn_diff(rs->name, rs->psn) >= 0 && psn_diff(rs->far, rs->name_end) >= 0));
}

static inline void rc_check_responder(const struct rc_responder *rs)
{
	WEFT_CHECK(rs->receive_head - rs->receive_tail <= END_RECEIVES);
	WEFT_CHECK(rs->receive_next - rs->receive_tail <= rs->receive_head - rs->receive_tail);
	WEFT_CHECK(rs->read_head - rs->read_tail <= END_READS);
	WEFT_CHECK(rs->psn < 1u << ROCE_PSN_BITS && rs->msn < 1u << ROCE_PSN_BITS);
	for (uint32_t place = rs->read_tail; place != rs->read_head; place++) {
		const struct rc_read *read = &rs->read[place & rs->read_mask];

		WEFT_CHECK(read->sent < read->packets);
		WEFT_CHECK(psn_diff(rs->psn, read->first) >= (int32_t)read->packets);
	}
}

static inline void rc_check(const struct end *end)
{
	if (!end->qp.failed)
		rc_check_requester(&end->pf, &end->qp.rq);
	rc_check_responder(&end->qp.rs);
	if (end->pf.selective && !end->qp.failed) {
		rc_check_ranges(&end->qp.rq);
		rc_check_early(&end->qp.rs);
	}
	WEFT_CHECK(!end->qp.failed || end->qp.rq.timer.v == NS_NEVER.v);
	for (uint32_t i = 0; i < END_GUARD; i++) {
		WEFT_CHECK(end->guarded[i] == END_GUARD_BYTE);
		WEFT_CHECK(end_memory(end)[end->region[1].bytes + i] == END_GUARD_BYTE);
	}
}
