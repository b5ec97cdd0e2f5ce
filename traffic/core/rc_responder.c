// SPDX-License-Identifier: BSD-3-Clause
//
// The responder: takes requests in the order of their PSNs, places their data, and answers. A
// request has its effect once: what comes again is acknowledged again, a READ answered again, and
// what comes behind a gap is told once and dropped. InfiniBand volume 1, 9.7 to 9.9.
//
// Everything is checked before the first byte of a packet is placed. A request that is wrong ends
// the connection (9.9.3, class C), with a NAK behind the READ responses that are owed.

#include "traffic/core/rc_state.h"

// What an opcode of SEND or WRITE says about its message.
struct part {
	uint8_t op; // enum rc_op
	bool starts;
	bool ends;
	bool has_imm;
};

enum verdict { TAKEN, NOT_READY, INVALID, NO_ACCESS, TOO_LONG };

static struct part part_of(uint8_t opcode)
{
	const bool write = opcode >= ROCE_WRITE_FIRST;
	const uint8_t place = (uint8_t)(write ? opcode - ROCE_WRITE_FIRST : opcode);

	return (struct part){
		.op = write ? RC_WRITE : RC_SEND,
		.starts = place == ROCE_SEND_FIRST || place >= ROCE_SEND_ONLY,
		.ends = place >= ROCE_SEND_LAST,
		.has_imm = place == ROCE_SEND_LAST_IMM || place == ROCE_SEND_ONLY_IMM,
	};
}

bool rc_region_find(const struct rc_responder *rs, const struct roce_packet *request, enum rc_op op,
		    uint8_t **data)
{
	const uint32_t index = request->rkey >> 8;
	const struct rc_region *region;
	uint64_t offset;

	*data = NULL;
	if (request->dma_bytes == 0)
		return true; // 9.7.4.1.6: nothing is reached, so the key does not matter
	if (index >= rs->region_count || rs->region[index].rkey != request->rkey)
		return false;
	region = &rs->region[index];
	offset = request->va - region->va;
	if (!(op == RC_READ ? region->remote_read : region->remote_write) ||
	    request->va < region->va || offset > region->bytes ||
	    request->dma_bytes > region->bytes - offset)
		return false;
	if (region->data != NULL)
		*data = region->data + offset;
	return true;
}

void rc_answer(struct rc_responder *rs, uint8_t syndrome)
{
	rs->answer = syndrome;
	rs->ack_due = NS_NEVER;
	rs->coalesced = 0;
}

// A packet that is to be acknowledged, at once or with others.
void rc_acknowledge(const struct rc_profile *pf, struct rc_responder *rs, bool asked, ns_t now)
{
	if (rs->answer != RC_NO_ANSWER)
		return; // says the same, or more
	if (asked || ++rs->coalesced >= pf->ack_every || pf->ack_delay_ns == 0)
		rc_answer(rs, ROCE_SYNDROME_ACK);
	else if (rs->ack_due.v == NS_NEVER.v)
		rs->ack_due = ns_add(now, pf->ack_delay_ns);
}

// Lengths that agree with the place in the message: all packets but the last are full.
static bool fits(const struct rc_profile *pf, const struct rc_responder *rs,
		 const struct roce_packet *packet, const struct part *part)
{
	const uint32_t left = part->starts ? packet->dma_bytes : rs->left;

	if (part->starts != (rs->message == RC_NO_MESSAGE) ||
	    (!part->starts && rs->message != part->op))
		return false;
	if (!part->ends && packet->payload_bytes != pf->mtu)
		return false;
	if (packet->payload_bytes > pf->mtu || (!part->starts && packet->payload_bytes == 0))
		return false;
	if (part->op == RC_SEND)
		return true;
	return left <= RC_BYTES_MAX &&
	       (part->ends ? left == packet->payload_bytes : left > packet->payload_bytes);
}

// Whether a packet may have its effect; begins its message when it does.
static enum verdict judge(const struct rc_profile *pf, struct rc_responder *rs,
			  const struct roce_packet *packet, const struct part *part, ns_t now)
{
	const bool takes_receive = part->op == RC_SEND ? part->starts : part->has_imm;
	const struct rc_rqe *rqe = &rs->receive[rs->receive_next & rs->receive_mask];
	uint8_t *data = NULL;

	if (!fits(pf, rs, packet, part))
		return INVALID;
	if (part->op == RC_WRITE && part->starts && !rc_region_find(rs, packet, RC_WRITE, &data))
		return NO_ACCESS;
	if (takes_receive && rs->receive_next == rs->receive_head)
		return NOT_READY;
	if (part->starts) {
		rs->at = part->op == RC_SEND ? rqe->data : data;
		rs->left = part->op == RC_SEND ? rqe->room : packet->dma_bytes;
		rs->bytes = 0;
		rs->began = now;
		rs->message = part->op;
	}
	return packet->payload_bytes <= rs->left ? TAKEN : TOO_LONG;
}

// The message that arrives is whole, or never will be: fills in the receive that it takes.
void rc_complete_receive(struct rc_responder *rs, enum rc_status status, bool has_imm, uint32_t imm,
			 ns_t now)
{
	struct rc_rqe *rqe = &rs->receive[rs->receive_next++ & rs->receive_mask];

	rqe->began = rs->began;
	rqe->done = now;
	rqe->bytes = rs->bytes;
	rqe->imm = imm;
	rqe->status = (uint8_t)status;
	rqe->has_imm = has_imm;
}

static void place(struct rc_responder *rs, const struct roce_packet *packet)
{
	rc_place(rs->at, packet->payload, packet->payload_bytes);
	if (rs->at != NULL)
		rs->at += packet->payload_bytes;
	rs->left -= packet->payload_bytes;
	rs->bytes += packet->payload_bytes;
}

// The expected packet had its effect.
void rc_taken(struct rc_responder *rs, uint32_t packets)
{
	rs->psn = psn_add(rs->psn, packets);
	rs->told = false;
	if (rs->answer != RC_NO_ANSWER)
		rs->answer = ROCE_SYNDROME_ACK; // also instead of what told of the gap
}

static void advance(struct rc_qp *qp, const struct roce_packet *packet, uint32_t packets)
{
	rc_taken(&qp->rs, packets);
	qp->stats.rx_packets++;
	qp->stats.rx_bytes += packet->payload_bytes;
}

// Something is wrong with the request: that is said, and everything ends.
void rc_refuse(struct rc_qp *qp, uint8_t syndrome, ns_t now)
{
	qp->stats.refused++;
	rc_fail(qp, RC_FLUSHED, UINT64_MAX, now);
	rc_answer(&qp->rs, syndrome);
}

void rc_not_ready(const struct rc_profile *pf, struct rc_qp *qp)
{
	qp->stats.rnr_sent++;
	rc_answer(&qp->rs, (uint8_t)(ROCE_SYNDROME_RNR | (pf->rnr_timer & 0x1f)));
	qp->rs.told = true; // what follows is dropped until this packet comes again
}

static void take(const struct rc_profile *pf, struct rc_qp *qp, const struct roce_packet *packet,
		 ns_t now)
{
	struct rc_responder *rs = &qp->rs;
	const struct part part = part_of(packet->opcode);

	switch (judge(pf, rs, packet, &part, now)) {
	case TAKEN: break;
	case NOT_READY: rc_not_ready(pf, qp); return;
	case INVALID: rc_refuse(qp, ROCE_SYNDROME_NAK_REQUEST, now); return;
	case NO_ACCESS: rc_refuse(qp, ROCE_SYNDROME_NAK_ACCESS, now); return;
	case TOO_LONG:
		rc_complete_receive(rs, RC_LOCAL_LENGTH, false, 0, now);
		rc_refuse(qp, ROCE_SYNDROME_NAK_REQUEST, now);
		return;
	}
	place(rs, packet);
	if (part.ends) {
		if (part.op == RC_SEND || part.has_imm)
			rc_complete_receive(rs, RC_OK, part.has_imm, packet->imm, now);
		rs->message = RC_NO_MESSAGE;
		rs->bytes = 0;
		rs->msn = psn_add(rs->msn, 1);
	}
	advance(qp, packet, 1);
	rc_acknowledge(pf, rs, packet->ack_req, now);
}

// The packet that is expected is missing, or there is no room for it.
static void gap(const struct rc_profile *pf, struct rc_qp *qp)
{
	qp->stats.out_of_sequence++;
	if (qp->rs.told || pf->selective)
		return; // rc_selective.c names gaps in its own way
	qp->rs.told = true;
	rc_answer(&qp->rs, ROCE_SYNDROME_NAK_PSN);
}

static void take_read(const struct rc_profile *pf, struct rc_qp *qp,
		      const struct roce_packet *packet, ns_t now)
{
	struct rc_responder *rs = &qp->rs;

	if (rs->message != RC_NO_MESSAGE) {
		rc_refuse(qp, ROCE_SYNDROME_NAK_REQUEST, now);
		return;
	}
	switch (rc_read_take(pf, rs, packet)) {
	case RC_READ_TAKEN: break;
	case RC_READ_FULL: gap(pf, qp); return; // told when the others are answered
	case RC_READ_INVALID: rc_refuse(qp, ROCE_SYNDROME_NAK_REQUEST, now); return;
	case RC_READ_ACCESS: rc_refuse(qp, ROCE_SYNDROME_NAK_ACCESS, now); return;
	}
	// Its responses acknowledge everything before them.
	rc_answer(rs, RC_NO_ANSWER);
	advance(qp, packet, rc_packets(pf, packet->dma_bytes));
}

void rc_responder_take(const struct rc_profile *pf, struct rc_qp *qp,
		       const struct roce_packet *packet, ns_t now)
{
	const bool again = packet->psn != qp->rs.psn;

	if (!again && packet->opcode == ROCE_READ_REQUEST) {
		take_read(pf, qp, packet, now);
	} else if (!again) {
		take(pf, qp, packet, now);
	} else if (packet->opcode != ROCE_READ_REQUEST) {
		qp->stats.duplicates++;
		rc_acknowledge(pf, &qp->rs, packet->ack_req, now);
	} else if (rc_read_again(pf, &qp->rs, packet)) {
		qp->stats.duplicates++;
	} else {
		qp->stats.refused++;
	}
}

void rc_responder_rx(const struct rc_profile *pf, struct rc_qp *qp,
		     const struct roce_packet *packet, ns_t now)
{
	if (pf->selective)
		rc_selective_rx(pf, qp, packet, now);
	else if (psn_diff(packet->psn, qp->rs.psn) > 0)
		gap(pf, qp);
	else
		rc_responder_take(pf, qp, packet, now);
}

void rc_responder_tick(const struct rc_profile *pf, struct rc_responder *rs, ns_t now)
{
	if (!ns_before(now, rs->ack_due))
		rc_answer(rs, ROCE_SYNDROME_ACK);
	if (!ns_before(now, rs->gap_due))
		rc_gap_tick(pf, rs, now);
}

void rc_responder_answer(struct rc_qp *qp, struct roce_packet *out)
{
	struct rc_responder *rs = &qp->rs;
	const bool ack = rs->answer == ROCE_SYNDROME_ACK;

	out->opcode = ROCE_ACK;
	if (rs->answer == RC_NO_ANSWER) {
		rc_gap_name(qp, out);
		return;
	}
	out->psn = ack ? psn_add(rs->psn, UINT32_MAX) : rs->psn;
	out->syndrome = rs->answer;
	out->msn = rs->msn;
	qp->stats.naks_sent += rs->answer == ROCE_SYNDROME_NAK_PSN;
	rc_answer(rs, RC_NO_ANSWER);
}
