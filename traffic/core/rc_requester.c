// SPDX-License-Identifier: BSD-3-Clause
//
// The requester: sends work in order, takes ACKs, NAKs and READ responses, and goes back to the
// oldest unacknowledged packet when one was lost (go-back-N). InfiniBand volume 1, 9.7.
//
// ACKs are cumulative, but never count for a READ: its responses do. An ACK behind a READ whose
// responses are missing says that these were lost (implied NAK), as does a response behind a gap. A
// READ that lost responses in the middle asks for the rest only, at the PSN of the first that is
// missing.

#include "traffic/core/rc_state.h"

enum {
	READ_PACKETS_MAX = RC_WINDOW_MAX, // of one request; the rest is asked for afterwards
	SYNDROME_KIND = 0x60,
	SYNDROME_VALUE = 0x1f,
};

// Table 45: how long code 0..31 of an RNR NAK says to wait, in units of 10 us.
static const uint32_t rnr_timer[32] = {
	65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
	48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static struct rc_wqe *wqe_at(const struct rc_requester *rq, uint32_t place)
{
	return &rq->send[place & rq->mask];
}

static uint32_t psn_of(const struct rc_requester *rq, uint64_t packet)
{
	return psn_add(rq->first_psn, (uint32_t)packet);
}

// The packet that a PSN of the peer means, which may be none that was sent: una + distance.
static uint64_t packet_of(const struct rc_requester *rq, uint32_t psn)
{
	return rq->una + (uint64_t)(int64_t)psn_diff(psn, psn_of(rq, rq->una));
}

// The first place from `place` on whose work reaches beyond `packet`.
static uint32_t place_of(const struct rc_requester *rq, uint32_t place, uint64_t packet)
{
	while (place != rq->head && wqe_at(rq, place)->first + wqe_at(rq, place)->packets <= packet)
		place++;
	return place;
}

static void arm(const struct rc_profile *pf, struct rc_requester *rq, ns_t now)
{
	const bool waits = rq->una < rq->asked && pf->timeout_ns != 0;

	rq->timer = waits ? ns_add(now, pf->timeout_ns) : NS_NEVER;
}

static void go_back(struct rc_requester *rq)
{
	rq->una_place = place_of(rq, rq->una_place, rq->una);
	rq->next_place = rq->una_place;
	rq->next = rq->una;
	rq->asked = rq->una;
	rq->unasked = 0;
	rq->reads_out = 0;
	rq->read_psns = 0;
	rq->timer = NS_NEVER;
	rc_range_trim(rq, UINT64_MAX);
}

// False when trying again has not helped for too long.
static bool may_retry(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	if (qp->rq.retries++ < pf->retry_limit)
		return true;
	rc_fail(qp, RC_RETRY_EXCEEDED, qp->rq.una, now);
	return false;
}

static void retry(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	if (may_retry(pf, qp, now))
		go_back(&qp->rq);
}

static void progress(const struct rc_profile *pf, struct rc_requester *rq, uint64_t una, ns_t now)
{
	rq->una = una;
	rq->progress = now;
	rq->retries = 0;
	rq->rnr_retries = 0;
	rq->went_back = false;
	if (rq->next < una) {
		// It went back for packets whose ACK was on its way.
		rq->next = una;
		rq->next_place = place_of(rq, rq->next_place, una);
		rq->reads_out = 0;
		rq->read_psns = 0;
	}
	rc_range_trim(rq, una);
	arm(pf, rq, now);
}

// Packets before `end` have arrived. False when READ responses before it have not.
static bool acknowledge(const struct rc_profile *pf, struct rc_requester *rq, uint64_t end,
			ns_t now)
{
	uint64_t limit = end;

	if (rq->read_left != 0)
		limit = u64_min(end, u64_max(rq->una, wqe_at(rq, rq->read)->first));
	if (limit > rq->una)
		progress(pf, rq, limit, now);
	return end <= limit;
}

static void responses_lost(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	if (qp->rq.went_back)
		return;
	retry(pf, qp, now);
	qp->rq.went_back = true;
}

// Selective: these packets instead of what was to be sent again.
static void again(struct rc_requester *rq, uint64_t first, uint64_t end)
{
	rc_range_trim(rq, UINT64_MAX);
	rc_range_add(rq, first, end);
	rq->timer = NS_NEVER;
}

static void receiver_not_ready(const struct rc_profile *pf, struct rc_qp *qp, uint8_t code,
			       ns_t now)
{
	struct rc_requester *rq = &qp->rq;

	if (pf->rnr_limit != RC_RNR_FOR_EVER && rq->rnr_retries == pf->rnr_limit) {
		rc_fail(qp, RC_RNR_EXCEEDED, rq->una, now);
		return;
	}
	rq->rnr_retries += pf->rnr_limit != RC_RNR_FOR_EVER;
	if (pf->selective)
		again(rq, rq->una, rq->una + 1);
	else
		go_back(rq);
	rq->hold = ns_add(now, (uint64_t)10000 * rnr_timer[code]);
}

// What a NAK that is the end of everything says; RC_OK for codes that mean nothing.
static enum rc_status fatal(uint8_t syndrome)
{
	if (syndrome == ROCE_SYNDROME_NAK_REQUEST)
		return RC_REMOTE_INVALID;
	if (syndrome == ROCE_SYNDROME_NAK_ACCESS)
		return RC_REMOTE_ACCESS;
	return syndrome == ROCE_SYNDROME_NAK_OPERATIONAL ? RC_REMOTE_OPERATION : RC_OK;
}

// Selective: packets that have been missing for long.
static void missing(struct rc_qp *qp, const struct roce_packet *packet, uint64_t at)
{
	const int32_t count = psn_diff(packet->msn, packet->psn);

	qp->stats.naks_received++;
	if (count > 0)
		rc_range_add(&qp->rq, at, at + (uint32_t)count);
}

// A NAK for packet `at` acknowledges those before it.
static void negative(const struct rc_profile *pf, struct rc_qp *qp, uint8_t syndrome, uint64_t at,
		     ns_t now)
{
	const bool rnr = (syndrome & SYNDROME_KIND) == ROCE_SYNDROME_RNR;
	const bool sequence = syndrome == ROCE_SYNDROME_NAK_PSN;
	const bool complete = acknowledge(pf, &qp->rq, at, now);

	qp->stats.naks_received += sequence;
	qp->stats.rnr_received += rnr;
	if (!rnr && !sequence && fatal(syndrome) == RC_OK)
		qp->stats.refused++;
	else if (!rnr && !sequence)
		rc_fail(qp, fatal(syndrome), at, now);
	else if (!complete)
		responses_lost(pf, qp, now);
	else if (rnr)
		receiver_not_ready(pf, qp, syndrome & SYNDROME_VALUE, now);
	else
		retry(pf, qp, now);
}

void rc_requester_ack(const struct rc_profile *pf, struct rc_qp *qp,
		      const struct roce_packet *packet, ns_t now)
{
	const uint64_t at = packet_of(&qp->rq, packet->psn);

	if (psn_diff(packet->psn, psn_of(&qp->rq, qp->rq.una)) < 0)
		return; // said before
	if (at >= qp->rq.sent)
		qp->stats.refused++;
	else if (pf->selective && packet->syndrome == ROCE_SYNDROME_NAK_PSN)
		missing(qp, packet, at);
	else if ((packet->syndrome & SYNDROME_KIND) != (ROCE_SYNDROME_ACK & SYNDROME_KIND))
		negative(pf, qp, packet->syndrome, at, now);
	else if (!acknowledge(pf, &qp->rq, at + 1, now))
		responses_lost(pf, qp, now);
}

static void response_taken(const struct rc_profile *pf, struct rc_requester *rq,
			   const struct rc_wqe *wqe, uint64_t at, ns_t now)
{
	rq->read_psns -= at < rq->next;
	progress(pf, rq, at + 1, now);
	if (at + 1 == wqe->first + wqe->packets) {
		rq->read_left--;
		rq->read = wqe->next_read;
		rq->reads_out -= rq->reads_out != 0;
	}
	if (rq->una == rq->next)
		rq->reads_out = 0;
}

void rc_requester_response(const struct rc_profile *pf, struct rc_qp *qp,
			   const struct roce_packet *packet, ns_t now)
{
	struct rc_requester *rq = &qp->rq;
	const struct rc_wqe *wqe = wqe_at(rq, rq->read);
	const uint64_t at = packet_of(rq, packet->psn);
	const uint64_t expected = u64_max(rq->una, wqe->first);
	uint64_t offset;

	if (psn_diff(packet->psn, psn_of(rq, rq->una)) < 0) {
		qp->stats.duplicates++;
		return;
	}
	if (rq->read_left == 0 || at < expected || at >= rq->sent) {
		qp->stats.refused++;
		return;
	}
	if (at > expected) {
		qp->stats.out_of_sequence++;
		responses_lost(pf, qp, now);
		return;
	}
	offset = (at - wqe->first) * pf->mtu;
	if (packet->payload_bytes != u64_min(pf->mtu, wqe->bytes - offset)) {
		qp->stats.refused++;
		return;
	}
	rc_place(wqe->data == NULL ? NULL : wqe->data + offset, packet->payload,
		 packet->payload_bytes);
	qp->stats.rx_packets++;
	qp->stats.rx_bytes += packet->payload_bytes;
	response_taken(pf, rq, wqe, at, now);
}

void rc_requester_tick(const struct rc_profile *pf, struct rc_qp *qp, ns_t now)
{
	struct rc_requester *rq = &qp->rq;

	if (rq->hold.v != 0 && !ns_before(now, rq->hold))
		rq->hold = (ns_t){ 0 };
	if (ns_before(now, rq->timer))
		return;
	qp->stats.timeouts++;
	if (!pf->selective) {
		retry(pf, qp, now);
	} else if (may_retry(pf, qp, now)) {
		// The oldest may be all that is missing; the newest shows what else is.
		again(rq, rq->una, rq->una + 1);
		rc_range_add(rq, rq->next - 1, rq->next);
	}
}

// Packets that one request takes, of the numbers there are.
static uint32_t span(const struct rc_wqe *wqe, uint64_t at)
{
	if (wqe->op != RC_READ)
		return 1;
	return (uint32_t)u64_min(wqe->first + wqe->packets - at, READ_PACKETS_MAX);
}

static bool may_send(const struct rc_profile *pf, const struct rc_requester *rq)
{
	const struct rc_wqe *wqe = wqe_at(rq, rq->next_place);

	if (rq->next == rq->posted || rq->next - rq->una + span(wqe, rq->next) > RC_SPAN_MAX)
		return false;
	if (wqe->op != RC_READ)
		return rq->next - rq->una - rq->read_psns < pf->window;
	// The rest of a READ waits for what it has asked for.
	return rq->reads_out < u64_max(pf->read_depth, 1) &&
	       (rq->next == wqe->first || rq->next == rq->una);
}

bool rc_requester_ready(const struct rc_profile *pf, const struct rc_qp *qp)
{
	return !qp->failed && qp->rq.hold.v == 0 &&
	       (rc_range_waits(&qp->rq) || may_send(pf, &qp->rq));
}

static void fill_read(const struct rc_profile *pf, const struct rc_wqe *wqe, uint64_t at,
		      struct roce_packet *out)
{
	const uint64_t offset = (at - wqe->first) * pf->mtu;

	out->opcode = ROCE_READ_REQUEST;
	out->va = wqe->remote_va + offset;
	out->rkey = wqe->rkey;
	out->dma_bytes = (uint32_t)u64_min(wqe->bytes - offset, (uint64_t)span(wqe, at) * pf->mtu);
}

static void fill_data(const struct rc_profile *pf, const struct rc_wqe *wqe, uint64_t at,
		      struct roce_packet *out)
{
	const uint64_t index = at - wqe->first;
	const uint64_t offset = index * pf->mtu;
	const bool write = wqe->op == RC_WRITE;
	const bool begins = index == 0 || (write && pf->selective);
	const bool ends = index == wqe->packets - 1;
	uint8_t place = begins ? ROCE_SEND_FIRST : ROCE_SEND_MIDDLE;

	if (ends || (write && pf->selective))
		place = begins ? ROCE_SEND_ONLY : ROCE_SEND_LAST;
	out->opcode = (uint8_t)(place + (ends && wqe->has_imm) + (write ? ROCE_WRITE_FIRST : 0));
	if (write && begins) {
		out->va = wqe->remote_va + offset;
		out->rkey = wqe->rkey;
		out->dma_bytes = (uint32_t)(wqe->bytes - offset);
	}
	if (ends && wqe->has_imm)
		out->imm = wqe->imm;
	out->payload = wqe->data == NULL ? NULL : wqe->data + offset;
	out->payload_bytes = (uint32_t)u64_min(pf->mtu, wqe->bytes - offset);
}

// The request that begins with a packet; returns how many packets it takes.
static uint32_t fill(const struct rc_profile *pf, const struct rc_requester *rq,
		     const struct rc_wqe *wqe, uint64_t at, struct roce_packet *out)
{
	out->psn = psn_of(rq, at);
	if (wqe->op == RC_READ)
		fill_read(pf, wqe, at, out);
	else
		fill_data(pf, wqe, at, out);
	return span(wqe, at);
}

// An answer is asked for now and then, whenever nothing of the kind can follow at once, and at the
// end of work that wants it.
static bool ask(const struct rc_profile *pf, struct rc_requester *rq, bool wanted)
{
	const bool follows = may_send(pf, rq) && wqe_at(rq, rq->next_place)->op != RC_READ;

	if (!wanted && follows && ++rq->unasked != pf->request_every)
		return false;
	rq->unasked = 0;
	return true;
}

static void send_next(const struct rc_profile *pf, struct rc_qp *qp, struct roce_packet *out)
{
	struct rc_requester *rq = &qp->rq;
	const struct rc_wqe *wqe = wqe_at(rq, rq->next_place);
	const uint32_t packets = fill(pf, rq, wqe, rq->next, out);
	bool ends;

	qp->stats.retransmits += rq->next < rq->sent;
	rq->next += packets;
	ends = rq->next == wqe->first + wqe->packets;
	rq->next_place += ends;
	rq->sent = u64_max(rq->sent, rq->next);
	if (wqe->op == RC_READ) {
		rq->reads_out++;
		rq->read_psns += packets;
	} else {
		out->ack_req = ask(pf, rq, ends && wqe->asks);
	}
}

// The work of a packet that was sent: a search, since repairs jump about.
static const struct rc_wqe *wqe_of(const struct rc_requester *rq, uint64_t at)
{
	uint32_t low = 0, high = rq->head - rq->una_place;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (wqe_at(rq, rq->una_place + middle)->first <= at)
			low = middle;
		else
			high = middle;
	}
	return wqe_at(rq, rq->una_place + low);
}

static void send_again(const struct rc_profile *pf, struct rc_qp *qp, struct roce_packet *out)
{
	struct rc_requester *rq = &qp->rq;
	const uint64_t at = rc_range_first(rq);
	const struct rc_wqe *wqe = wqe_of(rq, at);

	rc_range_trim(rq, at + fill(pf, rq, wqe, at, out));
	qp->stats.retransmits++;
	out->ack_req = wqe->op != RC_READ && !rc_range_waits(rq);
}

void rc_requester_tx(const struct rc_profile *pf, struct rc_qp *qp, ns_t now,
		     struct roce_packet *out)
{
	struct rc_requester *rq = &qp->rq;

	if (rc_range_waits(rq))
		send_again(pf, qp, out);
	else
		send_next(pf, qp, out);
	if (!out->ack_req && out->opcode != ROCE_READ_REQUEST)
		return;
	rq->asked = rq->next;
	if (rq->timer.v == NS_NEVER.v)
		arm(pf, rq, now);
}
