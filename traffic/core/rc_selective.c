// SPDX-License-Identifier: BSD-3-Clause
//
// The responder when both hosts tolerate reordering. Each packet of a WRITE is a WRITE_ONLY with
// the address of its own bytes; its RETH says how many bytes the message has from there on, so the
// last one is known by that it carries all of them. What is ahead of the expected PSN is placed at
// once and has its effect (MSN, receive, immediate) when all before it has come: order is kept.
//
// Missing PSNs count as lost once they have been for reorder_ns. Then NAKs name them, one each gap:
// PSN and, in place of the MSN, the PSN behind the gap; they acknowledge nothing. What is missing
// still is named again, ever more rarely.

#include "traffic/core/rc_state.h"

enum { DOUBLINGS_MAX = 10 };

static struct rc_early *early_at(const struct rc_responder *rs, uint32_t psn)
{
	return &rs->early[psn & rs->early_mask];
}

static bool is_write(const struct roce_packet *packet)
{
	return packet->opcode == ROCE_WRITE_ONLY || packet->opcode == ROCE_WRITE_ONLY_IMM;
}

static bool fits(const struct rc_profile *pf, const struct roce_packet *packet)
{
	const bool ends = packet->payload_bytes == packet->dma_bytes;

	return packet->payload_bytes <= pf->mtu && packet->dma_bytes <= RC_BYTES_MAX &&
	       packet->payload_bytes <= packet->dma_bytes &&
	       (ends || (packet->payload_bytes != 0 && packet->opcode == ROCE_WRITE_ONLY));
}

// Places a WRITE that has a slot. RC_OK, or why it cannot be done.
static enum rc_status place(const struct rc_profile *pf, struct rc_responder *rs,
			    const struct roce_packet *packet)
{
	uint8_t *data;

	if (!fits(pf, packet) || (packet->psn == rs->psn && rs->message != RC_NO_MESSAGE))
		return RC_REMOTE_INVALID;
	if (!rc_region_find(rs, packet, RC_WRITE, &data))
		return RC_REMOTE_ACCESS;
	rc_place(data, packet->payload, packet->payload_bytes);
	*early_at(rs, packet->psn) = (struct rc_early){
		.imm = packet->imm,
		.bytes = (uint16_t)packet->payload_bytes,
		.placed = true,
		.ends = packet->payload_bytes == packet->dma_bytes,
		.has_imm = packet->opcode == ROCE_WRITE_ONLY_IMM,
		.asks = packet->ack_req,
	};
	return RC_OK;
}

// What was placed has its effect as far as nothing is missing.
static void drain(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	struct rc_responder *rs = &qp->rs;

	while (early_at(rs, rs->psn)->placed && rs->message == RC_NO_MESSAGE) {
		struct rc_early *early = early_at(rs, rs->psn);

		early->placed = false;
		if (early->has_imm && rs->receive_next == rs->receive_head) {
			rc_not_ready(pf, qp);
			return;
		}
		if (rs->bytes == 0)
			rs->began = now;
		rs->bytes += early->bytes;
		if (early->has_imm)
			rc_complete_receive(rs, RC_OK, true, early->imm, now);
		if (early->ends) {
			rs->bytes = 0;
			rs->msn = psn_add(rs->msn, 1);
		}
		qp->stats.rx_packets++;
		qp->stats.rx_bytes += early->bytes;
		rc_taken(rs, 1);
		rc_acknowledge(pf, rs, early->asks, now);
	}
}

// A READ took PSNs that an honest peer cannot have sent anything else with.
static void forget(struct rc_responder *rs, uint32_t before)
{
	const uint32_t count = (uint32_t)psn_diff(rs->psn, before);

	for (uint32_t i = 0; i < count && i <= rs->early_mask; i++)
		early_at(rs, before + i)->placed = false;
}

static void expected(const struct rc_profile *pf, struct rc_qp *qp,
		     const struct roce_packet *packet, ns_t now)
{
	struct rc_responder *rs = &qp->rs;
	enum rc_status status = RC_OK;

	if (is_write(packet)) {
		status = place(pf, rs, packet);
	} else {
		early_at(rs, rs->psn)->placed = false;
		rc_responder_take(pf, qp, packet, now);
		if (packet->opcode == ROCE_READ_REQUEST)
			forget(rs, packet->psn);
	}
	if (status == RC_REMOTE_INVALID)
		rc_refuse(qp, ROCE_SYNDROME_NAK_REQUEST, now);
	else if (status == RC_REMOTE_ACCESS)
		rc_refuse(qp, ROCE_SYNDROME_NAK_ACCESS, now);
	else if (!qp->failed)
		drain(pf, qp, now);
	if (rs->psn == packet->psn && rs->far == rs->psn && !rs->told)
		rs->far = psn_add(rs->psn, 1); // no room for a READ: it is as good as lost
}

// What cannot be placed is dropped: if it is wrong, that is said when it is expected.
static void ahead(const struct rc_profile *pf, struct rc_qp *qp, const struct roce_packet *packet)
{
	struct rc_responder *rs = &qp->rs;
	const int32_t distance = psn_diff(packet->psn, rs->psn);

	if ((uint32_t)distance > rs->early_mask) {
		qp->stats.out_of_sequence++;
		return;
	}
	if (distance >= psn_diff(rs->far, rs->psn))
		rs->far = psn_add(packet->psn, 1);
	if (early_at(rs, packet->psn)->placed) {
		qp->stats.duplicates++;
		rs->named = 0; // the peer waits for news
		rs->gap_due = NS_NEVER;
	} else if (!is_write(packet) || place(pf, rs, packet) != RC_OK) {
		qp->stats.out_of_sequence++;
	}
}

// Puts `name` on the next PSN that is missing.
static void seek(struct rc_responder *rs)
{
	while (rs->name != rs->name_end && early_at(rs, rs->name)->placed)
		rs->name = psn_add(rs->name, 1);
}

// Looks at what is missing now after a while: what is missing still is lost, but what comes up as
// missing in between may be late.
static void watch(const struct rc_profile *pf, struct rc_responder *rs, ns_t now)
{
	rs->gap_end = rs->far;
	rs->gap_due = ns_add(now, u64_max(pf->reorder_ns, 1) << rs->named);
}

// The expected PSN has moved.
static void settle(struct rc_responder *rs)
{
	if (psn_diff(rs->far, rs->psn) < 0)
		rs->far = rs->psn;
	if (psn_diff(rs->name_end, rs->psn) < 0)
		rs->name_end = rs->psn;
	if (psn_diff(rs->name, rs->psn) < 0)
		rs->name = rs->psn;
	seek(rs);
	rs->named = rs->named != 0; // repairs arrive
	if (psn_diff(rs->gap_end, rs->psn) <= 0) {
		rs->named = 0;
		rs->gap_due = NS_NEVER;
	}
}

void rc_selective_rx(const struct rc_profile *pf, struct rc_qp *qp,
		     const struct roce_packet *packet, ns_t now)
{
	struct rc_responder *rs = &qp->rs;
	const uint32_t before = rs->psn;
	const int32_t distance = psn_diff(packet->psn, before);

	if (distance > 0)
		ahead(pf, qp, packet);
	else if (distance == 0)
		expected(pf, qp, packet, now);
	else
		rc_responder_take(pf, qp, packet, now);
	if (rs->psn != before)
		settle(rs);
	if (!qp->failed && rs->far != rs->psn && rs->gap_due.v == NS_NEVER.v)
		watch(pf, rs, now);
}

void rc_gap_tick(const struct rc_profile *pf, struct rc_responder *rs, ns_t now)
{
	rs->name = rs->psn;
	rs->name_end = rs->gap_end;
	seek(rs);
	rs->named += rs->named < DOUBLINGS_MAX;
	watch(pf, rs, now);
}

void rc_gap_name(struct rc_qp *qp, struct roce_packet *out)
{
	struct rc_responder *rs = &qp->rs;

	out->psn = rs->name;
	out->syndrome = ROCE_SYNDROME_NAK_PSN;
	while (rs->name != rs->name_end && !early_at(rs, rs->name)->placed)
		rs->name = psn_add(rs->name, 1);
	out->msn = rs->name;
	seek(rs);
	qp->stats.naks_sent++;
}
