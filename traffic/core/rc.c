// SPDX-License-Identifier: BSD-3-Clause
//
// The queue pair as its owner sees it: queues of work and receives, completions, turns to send.
//
// Completions are not stored: work is done once its last packet is acknowledged, so taking the next
// completion is a comparison, and an ACK for a thousand messages costs what one for a single one
// does. A queue pair that has failed still sends what its responder owes.

#include "traffic/core/rc_state.h"

#include "base/check.h"

static bool is_power_of_two(uint32_t count)
{
	return count != 0 && (count & (count - 1)) == 0;
}

void rc_init(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_memory *memory,
	     uint32_t peer_qp, uint32_t send_psn, uint32_t receive_psn)
{
	WEFT_CHECK(pf->mtu >= 1 && pf->mtu <= ROCE_PAYLOAD_MAX);
	WEFT_CHECK(pf->window >= 1 && pf->window <= RC_WINDOW_MAX);
	WEFT_CHECK(is_power_of_two(memory->send_count) && is_power_of_two(memory->receive_count));
	WEFT_CHECK(is_power_of_two(memory->read_count));
	WEFT_CHECK(!pf->selective ||
		   (is_power_of_two(memory->early_count) && memory->early_count >= pf->window &&
		    is_power_of_two(memory->range_count)));
	*qp = (struct rc_qp){ .peer_qp = peer_qp };
	qp->rq = (struct rc_requester){
		.send = memory->send,
		.timer = NS_NEVER,
		.range = memory->range,
		.mask = memory->send_count - 1,
		.range_mask = memory->range_count - 1,
		.first_psn = psn_add(send_psn, 0),
	};
	qp->rs = (struct rc_responder){
		.receive = memory->receive,
		.read = memory->read,
		.early = memory->early,
		.region = memory->region,
		.region_count = memory->region_count,
		.ack_due = NS_NEVER,
		.gap_due = NS_NEVER,
		.far = psn_add(receive_psn, 0),
		.gap_end = psn_add(receive_psn, 0),
		.name = psn_add(receive_psn, 0),
		.name_end = psn_add(receive_psn, 0),
		.early_mask = memory->early_count - 1,
		.psn = psn_add(receive_psn, 0),
		.read_sent = psn_add(receive_psn, 0),
		.receive_mask = memory->receive_count - 1,
		.read_mask = memory->read_count - 1,
		.answer = RC_NO_ANSWER,
		.message = RC_NO_MESSAGE,
	};
	if (pf->selective)
		memset(memory->early, 0, memory->early_count * sizeof(memory->early[0]));
}

bool rc_post(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_work *work, ns_t now)
{
	struct rc_requester *rq = &qp->rq;
	struct rc_wqe *wqe = &rq->send[rq->head & rq->mask];

	if (qp->failed || rq->head - rq->tail > rq->mask || work->bytes > RC_BYTES_MAX)
		return false;
	*wqe = (struct rc_wqe){
		.id = work->id,
		.data = work->data,
		.remote_va = work->remote_va,
		.first = rq->posted,
		.posted = now,
		.bytes = (uint32_t)work->bytes,
		.packets = rc_packets(pf, (uint32_t)work->bytes),
		.rkey = work->rkey,
		.imm = work->imm,
		.op = (uint8_t)work->op,
		.has_imm = work->has_imm,
		.asks = work->asks,
	};
	if (work->op == RC_READ) {
		if (rq->read_left++ == 0)
			rq->read = rq->head;
		else
			rq->send[rq->read_last & rq->mask].next_read = rq->head;
		rq->read_last = rq->head;
	}
	rq->posted += wqe->packets;
	rq->head++;
	return true;
}

bool rc_post_receive(struct rc_qp *qp, const struct rc_receive *receive)
{
	struct rc_responder *rs = &qp->rs;

	if (qp->failed || rs->receive_head - rs->receive_tail > rs->receive_mask)
		return false;
	rs->receive[rs->receive_head++ & rs->receive_mask] = (struct rc_rqe){
		.id = receive->id,
		.data = receive->data,
		.room = (uint32_t)u64_min(receive->bytes, RC_BYTES_MAX),
	};
	return true;
}

void rc_rx(const struct rc_profile *pf, struct rc_qp *qp, const struct roce_packet *packet,
	   ns_t now)
{
	if (qp->failed) {
		qp->stats.refused++;
		return;
	}
	if (packet->opcode <= ROCE_READ_REQUEST)
		rc_responder_rx(pf, qp, packet, now);
	else if (packet->opcode <= ROCE_READ_RESPONSE_ONLY)
		rc_requester_response(pf, qp, packet, now);
	else if (packet->opcode == ROCE_ACK)
		rc_requester_ack(pf, qp, packet, now);
	else
		qp->stats.refused++;
}

static void tick(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	const ns_t due = ns_min(qp->rq.timer, ns_min(qp->rs.ack_due, qp->rs.gap_due));

	if (ns_before(now, due) && qp->rq.hold.v == 0)
		return;
	rc_requester_tick(pf, qp, now);
	rc_responder_tick(pf, &qp->rs, now);
}

// READ responses say what an answer would, so that one waits for them.
uint32_t rc_kinds(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	uint32_t kinds;

	tick(pf, qp, now);
	if (rc_reads_wait(&qp->rs))
		return 1u << RC_DATA;
	kinds = (uint32_t)rc_requester_ready(pf, qp) << RC_DATA;
	if (qp->rs.answer != RC_NO_ANSWER || rc_gap_waits(&qp->rs))
		kinds |= 1u << RC_ANSWER;
	return kinds;
}

// Responses and requests take turns, so that neither direction starves the other.
static void tx_data(const struct rc_profile *pf, struct rc_qp *qp, ns_t now,
		    struct roce_packet *out)
{
	const bool responses = rc_reads_wait(&qp->rs);

	qp->responses_last = responses && !(qp->responses_last && rc_requester_ready(pf, qp));
	if (qp->responses_last)
		rc_read_response(pf, qp, out);
	else
		rc_requester_tx(pf, qp, now, out);
	qp->stats.tx_packets++;
	qp->stats.tx_bytes += out->payload_bytes;
}

bool rc_tx(const struct rc_profile *pf, struct rc_qp *qp, enum rc_kind kind, ns_t now,
	   struct roce_packet *out)
{
	if (!rc_ready(pf, qp, kind, now))
		return false;
	*out = (struct roce_packet){ .pkey = UINT16_MAX, .dest_qp = qp->peer_qp };
	if (kind == RC_ANSWER)
		rc_responder_answer(qp, out);
	else
		tx_data(pf, qp, now, out);
	return true;
}

ns_t rc_deadline(const struct rc_profile *pf, const struct rc_qp *qp)
{
	ns_t at = qp->rq.timer;

	if (qp->rq.hold.v != 0)
		at = ns_min(at, qp->rq.hold);
	if (!rc_reads_wait(&qp->rs))
		at = ns_min(at, ns_min(qp->rs.ack_due, qp->rs.gap_due));
	return at;
}

bool rc_away(struct rc_qp *qp, uint64_t ns)
{
	// NS_NEVER stays what it is.
	qp->rq.timer = ns_add(qp->rq.timer, ns);
	qp->rs.gap_due = ns_add(qp->rs.gap_due, ns);
	return qp->rq.timer.v != NS_NEVER.v || qp->rs.gap_due.v != NS_NEVER.v;
}

void rc_fail(struct rc_qp *qp, enum rc_status status, uint64_t at, ns_t now)
{
	qp->failed = true;
	qp->status = (uint8_t)status;
	qp->failed_at = at;
	qp->failed_since = now;
	qp->rq.timer = NS_NEVER;
	qp->rq.hold = (ns_t){ 0 };
	qp->rs.ack_due = NS_NEVER;
	qp->rs.gap_due = NS_NEVER;
	qp->rs.name_end = qp->rs.name;
}

static bool complete_receive(struct rc_qp *qp, struct rc_completion *out)
{
	struct rc_responder *rs = &qp->rs;
	const struct rc_rqe *rqe = &rs->receive[rs->receive_tail & rs->receive_mask];
	const bool done = rs->receive_tail != rs->receive_next;

	if (!done && !(qp->failed && rs->receive_tail != rs->receive_head))
		return false;
	*out = (struct rc_completion){
		.id = rqe->id,
		.receive = true,
		.has_imm = done && rqe->has_imm,
		.status = done ? (enum rc_status)rqe->status : RC_FLUSHED,
		.imm = rqe->imm,
		.bytes = done ? rqe->bytes : 0,
		.posted = done ? rqe->began : qp->failed_since,
		.done = done ? rqe->done : qp->failed_since,
	};
	rs->receive_tail++;
	if (!done)
		rs->receive_next++;
	return true;
}

static bool complete_work(struct rc_qp *qp, struct rc_completion *out)
{
	struct rc_requester *rq = &qp->rq;
	const struct rc_wqe *wqe = &rq->send[rq->tail & rq->mask];
	bool done;

	if (rq->tail == rq->head)
		return false;
	done = wqe->first + wqe->packets <= rq->una;
	if (!done && !qp->failed)
		return false;
	*out = (struct rc_completion){
		.id = wqe->id,
		.status = done ? RC_OK : RC_FLUSHED,
		.bytes = done ? wqe->bytes : 0,
		.posted = wqe->posted,
		.done = done ? rq->progress : qp->failed_since,
	};
	if (!done && qp->failed_at - wqe->first < wqe->packets)
		out->status = (enum rc_status)qp->status;
	// What looks for the work of a packet begins no earlier than here.
	if (rq->una_place == rq->tail)
		rq->una_place++;
	if (rq->next_place == rq->tail)
		rq->next_place++;
	rq->tail++;
	return true;
}

bool rc_complete(struct rc_qp *qp, struct rc_completion *out)
{
	return complete_receive(qp, out) || complete_work(qp, out);
}

void rc_stats_add(struct rc_stats *sum, const struct rc_stats *more)
{
	const uint64_t *from = (const uint64_t *)more;
	uint64_t *to = (uint64_t *)sum;

	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "counters alone");
	for (uint32_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		to[i] += from[i];
}
