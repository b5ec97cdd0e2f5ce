// SPDX-License-Identifier: BSD-3-Clause
//
// What the halves of a queue pair see of each other: rc.c takes calls apart and hands packets and
// turns to rc_requester.c (requests out, ACKs, NAKs and READ responses in) and rc_responder.c
// (requests in, answers out), which leaves READs of the peer to rc_read.c and what is out of order
// to rc_selective.c. Nothing here is for owners of a queue pair.
#pragma once

#include "traffic/core/rc.h"

enum { RC_NO_ANSWER = 0xff, RC_NO_MESSAGE = 0xff };

// Everything outstanding ends: work that holds the packet `at` with `status`, all other FLUSHED.
// What the responder still has to say is the caller's affair.
void rc_fail(struct rc_qp *qp, enum rc_status status, uint64_t at, ns_t now);

void rc_requester_tick(const struct rc_profile *pf, struct rc_qp *qp, ns_t now);
bool rc_requester_ready(const struct rc_profile *pf, const struct rc_qp *qp);
void rc_requester_tx(const struct rc_profile *pf, struct rc_qp *qp, ns_t now,
		     struct roce_packet *out);
void rc_requester_ack(const struct rc_profile *pf, struct rc_qp *qp,
		      const struct roce_packet *packet, ns_t now);
void rc_requester_response(const struct rc_profile *pf, struct rc_qp *qp,
			   const struct roce_packet *packet, ns_t now);

void rc_responder_rx(const struct rc_profile *pf, struct rc_qp *qp,
		     const struct roce_packet *packet, ns_t now);
void rc_responder_tick(const struct rc_profile *pf, struct rc_responder *rs, ns_t now);
void rc_responder_answer(struct rc_qp *qp, struct roce_packet *out);

// What the two modes of a responder have in common.
void rc_answer(struct rc_responder *rs, uint8_t syndrome);
void rc_taken(struct rc_responder *rs, uint32_t packets);
void rc_acknowledge(const struct rc_profile *pf, struct rc_responder *rs, bool asked, ns_t now);
void rc_refuse(struct rc_qp *qp, uint8_t syndrome, ns_t now);
void rc_not_ready(const struct rc_profile *pf, struct rc_qp *qp);
void rc_complete_receive(struct rc_responder *rs, enum rc_status status, bool has_imm, uint32_t imm,
			 ns_t now);
// A request that is expected, or has been there before.
void rc_responder_take(const struct rc_profile *pf, struct rc_qp *qp,
		       const struct roce_packet *packet, ns_t now);

void rc_selective_rx(const struct rc_profile *pf, struct rc_qp *qp,
		     const struct roce_packet *packet, ns_t now);
void rc_gap_tick(const struct rc_profile *pf, struct rc_responder *rs, ns_t now);
void rc_gap_name(struct rc_qp *qp, struct roce_packet *out);

// Packets first..end-1 are to be sent again, unless they wait for that already.
void rc_range_add(struct rc_requester *rq, uint64_t first, uint64_t end);
// The first of them, of one range at least.
uint64_t rc_range_first(const struct rc_requester *rq);
// Those before `before` are not.
void rc_range_trim(struct rc_requester *rq, uint64_t before);

static inline bool rc_range_waits(const struct rc_requester *rq)
{
	return rq->range_head != rq->range_tail;
}

static inline bool rc_gap_waits(const struct rc_responder *rs)
{
	return rs->name != rs->name_end;
}

// The memory that a request names. False when it is not the peer's to reach that way; `*data` is
// NULL for nothing at all and where nobody keeps data.
bool rc_region_find(const struct rc_responder *rs, const struct roce_packet *request, enum rc_op op,
		    uint8_t **data);

enum rc_read_verdict { RC_READ_TAKEN, RC_READ_FULL, RC_READ_INVALID, RC_READ_ACCESS };

enum rc_read_verdict rc_read_take(const struct rc_profile *pf, struct rc_responder *rs,
				  const struct roce_packet *request);

// A READ that was taken before is answered again from where it begins. False when it is none.
bool rc_read_again(const struct rc_profile *pf, struct rc_responder *rs,
		   const struct roce_packet *request);
void rc_read_response(const struct rc_profile *pf, struct rc_qp *qp, struct roce_packet *out);

static inline bool rc_reads_wait(const struct rc_responder *rs)
{
	return rs->read_head != rs->read_tail;
}

// Packets that a message takes; one for nothing.
static inline uint32_t rc_packets(const struct rc_profile *pf, uint32_t bytes)
{
	return bytes == 0 ? 1 : (bytes - 1) / pf->mtu + 1;
}

// Fills in bytes that came; `from` is NULL for those that nobody kept.
static inline void rc_place(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	if (to == NULL || bytes == 0)
		return;
	if (from != NULL)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
}
