// SPDX-License-Identifier: BSD-3-Clause
//
// Drives a job in virtual time: whenever the net asks an endpoint, its completions go to the job
// and what the job wants posted is posted. Each look at a rank is also an observation of what it
// waits for.

#include "tests/rig/crew.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"

enum { QP_BASE = 0x100, RKEY = 0x55, SEND_COUNT = 64, RECEIVE_COUNT = 128, PRIO = 3 };

#define VA 0x100000000000ull

struct endpoint_profile crew_endpoint(uint32_t id, uint64_t bps)
{
	struct endpoint_profile pf = {
		.mac = frame_host_mac(id),
		.has_ipv4 = true,
		.has_ipv6 = true,
		.ipv6 = { 0xfd },
		.bps = bps,
		.mtu = 1500,
		.obey = 1 << PRIO,
		.cnp_dscp = 48,
		.rc = { .mtu = 1024,
			.window = 1024,
			.ack_every = 16,
			.request_every = 16,
			.read_depth = 16,
			.timeout_ns = 100000000,
			.ack_delay_ns = 200000,
			.retry_limit = 7,
			.rnr_limit = RC_RNR_FOR_EVER,
			.rnr_timer = 1 },
		.seed = id + 1,
	};

	store_be32(pf.ipv4, frame_host_ip(id));
	store_be32(pf.ipv6 + 12, frame_host_ip(id));
	pf.dscp_to_prio[3] = PRIO;
	pf.dscp_to_prio[48] = 6;
	return pf;
}

struct endpoint_profile crew_profile(const struct crew *crew, uint32_t rank, uint64_t bps)
{
	struct endpoint_profile pf = crew_endpoint(rank, bps);

	pf.qp_base = QP_BASE;
	pf.qp_count = job_qp_count(crew->job, rank);
	pf.neighbor_count = crew->config.rank_count;
	pf.send_count = SEND_COUNT;
	pf.receive_count = RECEIVE_COUNT;
	return pf;
}

static void *zeros(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);

	WEFT_CHECK(memory != NULL);
	memset(memory, 0, bytes);
	return memory;
}

static void visit(void *context, uint32_t node);

void crew_init(struct crew *crew, struct net *net, const struct job_config *config, bool data)
{
	const char *what;
	uint32_t flow;

	*crew = (struct crew){ .net = net, .config = *config, .data = data };
	WEFT_CHECK(job_check(&crew->config, &what, &flow) == 0);
	crew->job = job_init(&crew->config, zeros(job_bytes(&crew->config)));
	crew->node = calloc(config->rank_count, sizeof(*crew->node));
	crew->memory = calloc(config->rank_count, sizeof(*crew->memory));
	crew->region = calloc(config->rank_count, sizeof(*crew->region));
	crew->seen = calloc(config->rank_count, sizeof(*crew->seen));
	WEFT_CHECK(crew->node != NULL && crew->memory != NULL && crew->region != NULL &&
		   crew->seen != NULL);
	net_visit(net, visit, crew);
}

uint32_t crew_add(struct crew *crew, uint32_t rank, const struct endpoint_profile *pf)
{
	const uint64_t bytes = job_memory_bytes(crew->job);

	crew->memory[rank] = crew->data ? zeros(bytes) : NULL;
	crew->region[rank] = (struct rc_region){ .va = VA,
						 .bytes = bytes,
						 .data = crew->memory[rank],
						 .rkey = RKEY,
						 .remote_write = true,
						 .remote_read = true };
	crew->node[rank] = net_add_endpoint(crew->net, pf, &crew->region[rank], 1);
	job_attach(crew->job, rank, crew->memory[rank], VA, RKEY);
	return crew->node[rank];
}

void crew_connect(struct crew *crew)
{
	for (uint32_t rank = 0; rank < crew->config.rank_count; rank++) {
		const struct endpoint_profile *pf = net_endpoint_profile(crew->net,
									 crew->node[rank]);

		for (uint32_t qp = 0; qp < pf->qp_count; qp++) {
			const struct job_link link = job_link(crew->job, rank, qp);
			struct endpoint_peer peer = {
				.qp = QP_BASE + link.qp,
				.send_psn = 100 + rank,
				.receive_psn = 100 + link.rank,
				.dscp = link.dscp,
				.ecn = ECN_ECT0,
			};

			memcpy(peer.ip,
			       net_endpoint_profile(crew->net, crew->node[link.rank])->ipv4, 4);
			WEFT_CHECK(endpoint_connect(pf, net_endpoint(crew->net, crew->node[rank]),
						    qp, &peer, net_now(crew->net)) == 0);
		}
	}
}

static void observe(struct crew *crew, uint32_t rank, ns_t now)
{
	struct sight sight;

	if (ns_since(now, crew->seen[rank]) < 10000)
		return;
	crew->seen[rank] = now;
	endpoint_look(net_endpoint_profile(crew->net, crew->node[rank]),
		      net_endpoint(crew->net, crew->node[rank]), now, &sight);
	job_observe(crew->job, rank, &sight, now);
}

static void drive(struct crew *crew, uint32_t rank)
{
	const struct endpoint_profile *pf = net_endpoint_profile(crew->net, crew->node[rank]);
	struct endpoint_state *st = net_endpoint(crew->net, crew->node[rank]);
	const ns_t now = net_now(crew->net);
	struct rc_completion done;
	struct job_post post;
	uint32_t qp;

	while (endpoint_complete(st, &qp, &done))
		job_done(crew->job, rank, qp, &done, now);
	while (job_next(crew->job, rank, now, &post)) {
		if (!(post.is_receive ? endpoint_post_receive(st, post.qp, &post.receive) :
					endpoint_post(pf, st, post.qp, &post.work, now)))
			job_refused(crew->job, rank, &post);
	}
	observe(crew, rank, now);
	if (job_deadline(crew->job, now).v != NS_NEVER.v)
		net_wake(crew->net, crew->node[rank], ns_add(job_deadline(crew->job, now), 1));
}

static void visit(void *context, uint32_t node)
{
	struct crew *crew = context;

	for (uint32_t rank = 0; rank < crew->config.rank_count; rank++) {
		if (crew->node[rank] == node)
			drive(crew, rank);
	}
}

bool crew_run(struct crew *crew, uint64_t limit_ns)
{
	enum { STEP_NS = 20000 };

	while (job_state(crew->job) == JOB_RUNNING && net_now(crew->net).v < limit_ns)
		net_run(crew->net, net_now(crew->net).v + STEP_NS);
	return job_state(crew->job) == JOB_OVER;
}

struct rc_stats crew_stats(struct crew *crew)
{
	struct rc_stats sum = { 0 };

	for (uint32_t rank = 0; rank < crew->config.rank_count; rank++) {
		struct endpoint_stats stats;
		struct rc_stats one;

		endpoint_stats_read(net_endpoint_profile(crew->net, crew->node[rank]),
				    net_endpoint(crew->net, crew->node[rank]), &stats, &one);
		rc_stats_add(&sum, &one);
	}
	return sum;
}

void crew_end(struct crew *crew)
{
	for (uint32_t rank = 0; rank < crew->config.rank_count; rank++)
		free(crew->memory[rank]);
	free(crew->memory);
	free(crew->region);
	free(crew->node);
	free(crew->seen);
	free(crew->job);
}
