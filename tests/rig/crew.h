// SPDX-License-Identifier: BSD-3-Clause
//
// A job carried by endpoints of a net: the ranks are endpoints, node by node, connected as the job
// says, with memory of their own or with lengths alone.
#pragma once

#include "tests/rig/net.h"
#include "traffic/core/job.h"

struct crew {
	struct net *net;
	struct job *job;
	struct job_config config;
	uint32_t *node; // of a rank
	uint8_t **memory;
	struct rc_region *region;
	ns_t *seen;
	bool data;
};

// Endpoint `id` as tests begin with one: conventional addresses of both families, `bps` of line,
// priority 3 for DSCP 3, RC that suits the wire. Queue pairs and neighbours are the caller's.
struct endpoint_profile crew_endpoint(uint32_t id, uint64_t bps);

// The profile of rank `rank`: conventional addresses, `bps` of line, priority 3 for DSCP 3, queue
// pairs for the job, RC that suits the wire.
struct endpoint_profile crew_profile(const struct crew *crew, uint32_t rank, uint64_t bps);

// A job of this configuration, in which ranks have memory (`data`) or not.
void crew_init(struct crew *crew, struct net *net, const struct job_config *config, bool data);

// Adds the endpoint of the next rank, which the caller joins to the net. Returns its node.
uint32_t crew_add(struct crew *crew, uint32_t rank, const struct endpoint_profile *pf);

// Connects the queue pairs of all ranks, once each is added.
void crew_connect(struct crew *crew);

// Runs until the job is over, at most until `limit_ns`. True when it is.
bool crew_run(struct crew *crew, uint64_t limit_ns);

// Counters of all ranks together.
struct rc_stats crew_stats(struct crew *crew);

// Frees what crew_init() and crew_add() made; the net is the caller's.
void crew_end(struct crew *crew);
