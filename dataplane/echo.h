// SPDX-License-Identifier: BSD-3-Clause
//
// ping to an address of the switch: an ICMP or ICMPv6 echo request becomes its reply, in place (RFC
// 792, RFC 4443 4.2). Class and hops of the reply are the switch's own business: DSCP stays, ECN is
// cleared. Pure; whether one may be sent at all is the caller's question.
#pragma once

#include "base/types.h"

// Turns the frame around: `len` bytes are readable, the IP header is at `l3_offset`. False,
// and nothing changed, when it is no echo request that may be answered. `own_mac` is its new
// source.
bool echo_answer(uint8_t *frame, uint32_t len, uint32_t l3_offset, bool ipv6, uint64_t own_mac);
