// SPDX-License-Identifier: BSD-3-Clause
//
// Explicit congestion notification at a switch: the RED law over instantaneous queue bytes, the
// verdict per packet, CE marking in IPv4 and IPv6 headers, and CNP recognition.
//
// RFC 3168 (ECN), RFC 1624 (incremental checksum), RED as configured by SAI WRED objects and
// DCQCN's congestion point. Dice are an argument.
#pragma once

#include "base/types.h"

// --- mark.c -----------------------------------------------------------------------------------

enum ecn_codepoint { // the two low bits of TOS / traffic class
	ECN_NOT_ECT = 0,
	ECN_ECT1 = 1,
	ECN_ECT0 = 2,
	ECN_CE = 3,
};

// probability(q) = 0 below min; prob * (q - min) / (max - min) up to max; 1 above max. With
// min = max it is a step: 1 at or above.
struct red_curve {
	uint64_t min_bytes;
	uint64_t max_bytes; // >= min_bytes
	uint32_t prob_ppm;  // at max_bytes, 0..1000000
};

struct wred_profile {
	bool ecn;  // mark ECT packets by `mark`
	bool wred; // drop non-ECT packets by `drop`; off: they pass and PFC protects them
	bool mark_at_enqueue; // otherwise at dequeue, as the field's tests expect
	struct red_curve mark;
	struct red_curve drop;
};

enum ecn_verdict { ECN_PASS, ECN_MARK, ECN_DROP };

// Probability scaled to 0..2^32 inclusive, rounded down: how many of the 2^32 values of the dice
// hit. For display and tests; the verdicts need no division.
uint64_t red_probability(const struct red_curve *curve, uint64_t queue_bytes);

// The fate of a packet on a queue that holds `queue_bytes` with the packet included. ECT becomes
// CE and is never dropped here; CE stays CE (ECN_MARK is returned for it too when the law says
// mark, so that the caller counts it as marked only if it was not CE). With pf->ecn off nothing is
// marked, and ECT, which would then get no signal at all, is dropped like non-ECT (SAI's
// ECN_MARK_MODE_NONE). `dice` is uniform.
enum ecn_verdict ecn_mark_verdict(const struct wred_profile *pf, enum ecn_codepoint codepoint,
				  uint64_t queue_bytes, uint32_t dice);
enum ecn_verdict ecn_drop_verdict(const struct wred_profile *pf, enum ecn_codepoint codepoint,
				  uint64_t queue_bytes, uint32_t dice);

// --- ip_ecn.c ---------------------------------------------------------------------------------

// Sets CE in the IPv4 header at `ip` (at least 20 readable bytes) and updates the header checksum
// incrementally (RFC 1624 equation 3). False, and nothing changed, when it was CE already.
bool ip_ecn_mark_v4(uint8_t *ip);

// Sets CE in the traffic class of the IPv6 header at `ip` (at least 2 readable bytes).
bool ip_ecn_mark_v6(uint8_t *ip);

// Sets the code point (0..63) of an IPv4 header (20 readable bytes, checksum included) or of an
// IPv6 header; the ECN bits stay.
void ip_dscp_set_v4(uint8_t *ip, uint8_t dscp);
void ip_dscp_set_v6(uint8_t *ip, uint8_t dscp);

// --- cnp.c ------------------------------------------------------------------------------------

enum {
	BTH_OPCODE_CNP = 0x81, // RoCEv2 congestion notification packet, IBTA A17.9.2
	CNP_FLOW_COUNT = 64,
};

// Congestion notifications counted per pair of addresses. Bounded by the space-saving method
// (Metwally et al. 2005): a new pair takes the place of the smallest count and inherits it, so
// `count - error` never exceeds the truth and `count` is never below it.
struct cnp_flow {
	uint64_t src_hi; // address as 16 bytes, IPv4 mapped (::ffff:a.b.c.d)
	uint64_t src_lo;
	uint64_t dst_hi;
	uint64_t dst_lo;
	uint64_t count;
	uint64_t error;
};

struct cnp_flows {
	struct cnp_flow flow[CNP_FLOW_COUNT];
	uint32_t used;
};

// Counts one CNP between two 16-byte addresses.
void cnp_flows_count(struct cnp_flows *flows, const uint8_t src[16], const uint8_t dst[16]);
