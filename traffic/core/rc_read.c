// SPDX-License-Identifier: BSD-3-Clause
//
// READs of the peer: a queue of ranges of memory in the order of their PSNs, whose packets are made
// when their turn comes. InfiniBand volume 1, 9.7.5.1 and 9.4.4.
//
// A READ that comes again means that the peer has lost responses, from its PSN on: it goes to where
// it belongs in the queue, unless its answer has yet to be sent anyway. So the queue never holds a
// packet twice, a peer that repeats itself makes it no longer than its READs are many, and only a
// repeat costs more than a constant (the length of the queue).

#include "traffic/core/rc_state.h"

static struct rc_read *read_at(const struct rc_responder *rs, uint32_t place)
{
	return &rs->read[place & rs->read_mask];
}

static bool is_full(const struct rc_responder *rs)
{
	return rs->read_head - rs->read_tail > rs->read_mask;
}

static bool is_valid(const struct rc_profile *pf, const struct roce_packet *request)
{
	return request->dma_bytes <= RC_BYTES_MAX && request->payload_bytes == 0 &&
	       rc_packets(pf, request->dma_bytes) <= RC_SPAN_MAX;
}

static struct rc_read read_of(const struct rc_profile *pf, const struct rc_responder *rs,
			      const struct roce_packet *request, const uint8_t *data)
{
	return (struct rc_read){
		.data = data,
		.bytes = request->dma_bytes,
		.first = request->psn,
		.packets = rc_packets(pf, request->dma_bytes),
		.msn = rs->msn,
	};
}

enum rc_read_verdict rc_read_take(const struct rc_profile *pf, struct rc_responder *rs,
				  const struct roce_packet *request)
{
	uint8_t *data;

	if (!is_valid(pf, request))
		return RC_READ_INVALID;
	if (!rc_region_find(rs, request, RC_READ, &data))
		return RC_READ_ACCESS;
	if (is_full(rs))
		return RC_READ_FULL;
	if (!rc_reads_wait(rs))
		rs->read_sent = request->psn;
	rs->msn = psn_add(rs->msn, 1);
	*read_at(rs, rs->read_head++) = read_of(pf, rs, request, data);
	return RC_READ_TAKEN;
}

// The place of the first READ in the queue that ends behind `psn`.
static uint32_t find(const struct rc_responder *rs, uint32_t psn)
{
	uint32_t place = rs->read_tail;

	while (place != rs->read_head) {
		const struct rc_read *read = read_at(rs, place);

		if (psn_diff(psn, read->first) < (int32_t)read->packets)
			break;
		place++;
	}
	return place;
}

bool rc_read_again(const struct rc_profile *pf, struct rc_responder *rs,
		   const struct roce_packet *request)
{
	const uint32_t place = find(rs, request->psn);
	struct rc_read *read = read_at(rs, place);
	uint8_t *data;

	if (!is_valid(pf, request) || !rc_region_find(rs, request, RC_READ, &data) ||
	    psn_diff(request->psn, rs->psn) + (int32_t)rc_packets(pf, request->dma_bytes) > 0)
		return false;
	if (place != rs->read_head && psn_diff(request->psn, read->first) >= 0) {
		if (psn_diff(request->psn, read->first) < (int32_t)read->sent)
			*read = read_of(pf, rs, request, data);
		return true;
	}
	if (is_full(rs))
		return true; // dropped: it will come again
	for (uint32_t at = rs->read_head++; at != place; at--)
		*read_at(rs, at) = *read_at(rs, at - 1);
	*read = read_of(pf, rs, request, data);
	return true;
}

void rc_read_response(const struct rc_profile *pf, struct rc_qp *qp, struct roce_packet *out)
{
	struct rc_responder *rs = &qp->rs;
	struct rc_read *read = read_at(rs, rs->read_tail);
	const uint64_t offset = (uint64_t)read->sent * pf->mtu;
	const bool starts = read->sent == 0, ends = read->sent == read->packets - 1;

	if (starts)
		out->opcode = ends ? ROCE_READ_RESPONSE_ONLY : ROCE_READ_RESPONSE_FIRST;
	else
		out->opcode = ends ? ROCE_READ_RESPONSE_LAST : ROCE_READ_RESPONSE_MIDDLE;
	out->psn = psn_add(read->first, read->sent);
	if (starts || ends) {
		out->syndrome = ROCE_SYNDROME_ACK;
		out->msn = read->msn;
	}
	out->payload = read->data == NULL ? NULL : read->data + offset;
	out->payload_bytes = (uint32_t)u64_min(pf->mtu, read->bytes - offset);
	if (psn_diff(out->psn, rs->read_sent) < 0)
		qp->stats.retransmits++;
	else
		rs->read_sent = psn_add(out->psn, 1);
	read->sent++;
	if (ends)
		rs->read_tail++;
}
