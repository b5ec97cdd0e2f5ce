// SPDX-License-Identifier: BSD-3-Clause
//
// What the control thread tells senders of packets that were not routed: from the gateway address
// of the VLAN that the packet came from, out of the port it came from, to the station that sent it.
// Errors are lossy copies of class 0, so one about a lossless packet holds no lossless charge.
#pragma once

#include "dataplane/dpdk/worker.h"
#include "dataplane/icmp_limit.h"

// Of one switch that routes.
struct icmp_sender {
	struct icmp_limit limit;
	uint64_t sent;
	uint64_t policed;
};

void icmp_sender_init(struct icmp_sender *sender, const struct sw_config *config);

// Answers MESSAGE_TELL, whose frame it frees or sends.
void icmp_send(struct workers *workers, const struct message *report);
