// SPDX-License-Identifier: BSD-3-Clause
//
// What the halves of a queue pair see of each other: rc.c takes calls apart and hands packets and
// turns to rc_requester.c (requests out, ACKs, NAKs and READ responses in) and rc_responder.c
// (requests in, answers out), which leaves READs of the peer to rc_read.c. Nothing here is for
// owners of a queue pair.
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
void rc_responder_tick(struct rc_responder *rs, ns_t now);
void rc_responder_answer(struct rc_qp *qp, struct roce_packet *out);

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
