// SPDX-License-Identifier: BSD-3-Clause
//
// Who takes a frame of a port that a RoCE host shares with the kernel: both have the same MAC and
// IPv4 address. RoCEv2, PFC and IPv6 are the endpoint's, the rest of IPv4 is the kernel's. What is
// said in ARP both want to know, but the endpoint alone answers: two answers would be one too many.
// Pure.
#pragma once

#include "base/bytes.h"

enum share { SHARE_ENDPOINT, SHARE_KERNEL, SHARE_BOTH };

// For a frame that the port received.
enum share share_received(const uint8_t *frame, uint32_t len);

// True when a frame that the kernel sends may leave by the port.
bool share_may_leave(const uint8_t *frame, uint32_t len);
