// SPDX-License-Identifier: BSD-3-Clause
//
// The kernel's TCP behind the port of a RoCE host: a TAP interface with the host's MAC and IPv4
// address, in a network namespace of its own, that carries what is not the endpoint's (share.h).
// Sockets made here are in that namespace wherever the process is, and all of it goes with them.
#pragma once

#include "base/types.h"

struct kernel_side {
	int tap;
	int namespace; // of the interface
	uint64_t lost; // frames that the kernel did not take
};

// 0, or -errno after a line on stderr. Needs the right to make namespaces and interfaces (root).
int kernel_side_open(struct kernel_side *side, uint64_t mac, const uint8_t ipv4[4]);

// A TCP socket in there that does not block, or -errno.
int kernel_side_socket(const struct kernel_side *side);

// Gives the kernel a frame that the port received, if it is one for it. True when the endpoint is
// to see it, too.
bool kernel_side_receive(struct kernel_side *side, const uint8_t *frame, uint32_t len);

// Takes the next frame that the kernel sends; its length, or 0.
uint32_t kernel_side_transmit(struct kernel_side *side, uint8_t *out, uint32_t room);

void kernel_side_close(struct kernel_side *side);
