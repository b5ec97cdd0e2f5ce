// SPDX-License-Identifier: BSD-3-Clause
//
// The work of a perftest: messages of one size on some queue pairs, so many of each, one way or
// both at once. Each queue pair has a place of its own for what the peer sends or reaches; what is
// sent, and what a READ fetches, is one buffer for all. Like perftest, small messages go round in
// the peer's place, a cache line or more apart.
#pragma once

#include "traffic/config.h"
#include "traffic/core/endpoint.h"
#include "traffic/core/perftest.h"

enum { PERFTEST_CACHE_LINE = 64 };

struct perftest_work_qp {
	uint64_t posted;
	uint64_t done;
};

struct perftest_work {
	struct perftest_shape shape;
	bool works;        // a server does so both ways only
	uint64_t iters;    // messages of a queue pair
	uint64_t depth;    // of them on their way
	uint64_t place;    // bytes of each queue pair
	uint8_t *local;    // sent from, or READ into
	uint64_t *done_ns; // when each message was done
	uint64_t done;
	uint64_t received;
	ns_t begun; // by what is sent, or else received
	ns_t ended;
	bool failed;
	struct rc_region region; // what the peer reaches, and receives go to
	struct perftest_work_qp qp[PERFTEST_QPS_MAX];
};

// Makes it, idle. 0 or -ENOMEM.
int perftest_work_make(const struct traffic_config *config, struct perftest_work *work);
void perftest_work_free(struct perftest_work *work);

// Address of a queue pair's place, as the peer is told.
uint64_t perftest_work_va(const struct perftest_work *work, uint32_t qp);

// Where a message goes in a place of the peer, which is at keys->va.
uint64_t perftest_work_target(const struct perftest_shape *shape, const struct perftest_side *peer,
			      uint32_t qp, uint64_t message);

// Posts as many receives as there is room for on a queue pair.
void perftest_work_listen(const struct perftest_work *work, struct endpoint_state *endpoint,
			  uint32_t qp);

// Posts what may be on its way. True when all is done, or there is nothing to do.
bool perftest_work_go(struct perftest_work *work, const struct perftest_side *peer,
		      const struct endpoint_profile *profile, struct endpoint_state *endpoint,
		      ns_t now);

// Takes the endpoint's completions.
void perftest_work_take(struct perftest_work *work, struct endpoint_state *endpoint);
