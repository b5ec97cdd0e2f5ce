// SPDX-License-Identifier: BSD-3-Clause
//
// What can be seen of a host's transport from outside: why it does not send more at this moment. An
// endpoint and a verbs device both say it, and a job makes causes of it.
#pragma once

#include "base/types.h"

struct sight {
	uint64_t line_bps;
	uint64_t rate_bps;    // that DCQCN leaves to the queue pairs that have data to send
	uint64_t retransmits; // so far
	bool sending;         // a queue pair has data to send, now or when its rate allows
	bool paused;          // all that would be sent now is held by PFC
};
