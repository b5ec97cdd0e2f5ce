// SPDX-License-Identifier: BSD-3-Clause
//
// A host whose queue pairs are those of an RDMA device of this machine, NIC or soft-RoCE
// (libibverbs): the same posts and completions as an endpoint in software has (core/endpoint.h), so
// that a job does not know the difference. RoCE v2 only, reliable connections only. Functions that
// fail say so on stderr, with the device's name.
#pragma once

#include <infiniband/verbs.h>

#include "traffic/config.h"
#include "traffic/core/meet_message.h"

enum { VERBS_BATCH = 32, VERBS_ERROR_BYTES = 160 };

// Work of a queue pair that has not completed, in the order of posting.
struct verbs_sent {
	uint64_t id;
	uint64_t bytes;
	ns_t posted;
	bool takes; // data comes to this host: a READ
};

struct verbs_qp {
	struct ibv_qp *qp;
	struct verbs_sent *sent; // `send_depth` of them, a ring
	uint32_t head;
	uint32_t tail;
	uint32_t receives; // posted
};

struct verbs_host {
	const struct traffic_config *config;
	const char *name;
	struct ibv_context *context;
	struct ibv_device_attr limits;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *region;
	uint8_t *memory;
	uint64_t memory_bytes;
	struct meet_host address;
	uint32_t gid_index;
	enum ibv_mtu mtu;
	struct verbs_qp *qp;
	uint32_t qp_count;
	uint32_t send_depth;
	uint32_t receive_depth;
	struct ibv_wc done[VERBS_BATCH]; // polled, and not handed out yet
	uint32_t done_count;
	uint32_t done_at;
	uint64_t on_way;   // work that has not completed
	uint64_t tx_bytes; // payload of completed messages
	uint64_t rx_bytes;
	char error[VERBS_ERROR_BYTES]; // the first; empty: none
	uint32_t error_qp;             // where; JOB_NONE: not at a queue pair
};

// Opens the device, with so many queue pairs and bytes of memory that peers may reach. 0 or -errno.
int verbs_open(struct verbs_host *host, const struct traffic_config *config, uint32_t qp_count,
	       uint32_t receive_depth, uint64_t memory_bytes);

uint32_t verbs_qp_number(const struct verbs_host *host, uint32_t qp);

// Leads a queue pair to that number of a peer. 0 or -errno.
int verbs_connect(struct verbs_host *host, uint32_t qp, const struct meet_host *peer,
		  uint32_t number, uint8_t dscp);

// False: there is no room, or host->error says what went wrong.
bool verbs_post(struct verbs_host *host, uint32_t qp, const struct rc_work *work, ns_t now);
bool verbs_post_receive(struct verbs_host *host, uint32_t qp, const struct rc_receive *receive);

// The next completion; an error of it is in host->error, in words.
bool verbs_complete(struct verbs_host *host, uint32_t *qp, struct rc_completion *out, ns_t now);

// A completion from now on makes verbs_fd() readable, until verbs_disarm().
bool verbs_arm(struct verbs_host *host);
int verbs_fd(const struct verbs_host *host);
void verbs_disarm(struct verbs_host *host);

// Looks whether the port or the device has failed; then host->error says so.
void verbs_look(struct verbs_host *host);

// Retransmissions, gaps, marks and CNPs, as far as the device counts them.
void verbs_count(const struct verbs_host *host, struct meet_numbers *out);

void verbs_close(struct verbs_host *host);
