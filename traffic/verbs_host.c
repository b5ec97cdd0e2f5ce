// SPDX-License-Identifier: BSD-3-Clause
//
// Queue pairs of a device at work: posts, completions, events. Making them is verbs_open.c's.
//
// A work request is named by its queue pair and by whether it is a receive: work of one queue pair
// completes in the order of posting, so that what else there is to know waits in a ring.

#include "traffic/verbs_host.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- posts ------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void fail(struct verbs_host *host, const char *format,
						       ...)
{
	va_list args;

	if (host->error[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(host->error, sizeof(host->error), format, args);
	va_end(args);
}

static uint64_t name_of(uint32_t qp, bool is_receive)
{
	return (uint64_t)qp << 1 | is_receive;
}

static struct ibv_sge piece(const struct verbs_host *host, const uint8_t *data, uint64_t bytes)
{
	return (struct ibv_sge){ .addr = (uintptr_t)data,
				 .length = (uint32_t)u64_min(bytes, RC_BYTES_MAX),
				 .lkey = host->region->lkey };
}

static enum ibv_wr_opcode opcode_of(const struct rc_work *work)
{
	switch (work->op) {
	case RC_READ: return IBV_WR_RDMA_READ;
	case RC_WRITE: return work->has_imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
	case RC_SEND: break;
	}
	return work->has_imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
}

bool verbs_post(struct verbs_host *host, uint32_t qp, const struct rc_work *work, ns_t now)
{
	struct verbs_qp *q = &host->qp[qp];
	struct ibv_sge sge = piece(host, work->data, work->bytes);
	struct ibv_send_wr request = {
		.wr_id = name_of(qp, false),
		.sg_list = &sge,
		.num_sge = work->bytes != 0,
		.opcode = opcode_of(work),
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(work->imm),
		.wr.rdma = { .remote_addr = work->remote_va, .rkey = work->rkey },
	};
	struct ibv_send_wr *bad;
	int rc;

	if (q->head - q->tail == host->send_depth)
		return false;
	rc = ibv_post_send(q->qp, &request, &bad);
	if (rc != 0) {
		fail(host, "post of work: %s", strerror(rc));
		return false;
	}
	q->sent[q->head++ % host->send_depth] = (struct verbs_sent){ work->id, work->bytes, now,
								     work->op == RC_READ };
	host->on_way++;
	return true;
}

bool verbs_post_receive(struct verbs_host *host, uint32_t qp, const struct rc_receive *receive)
{
	struct verbs_qp *q = &host->qp[qp];
	struct ibv_sge sge = piece(host, receive->data, receive->bytes);
	struct ibv_recv_wr request = { .wr_id = name_of(qp, true), .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	int rc;

	if (q->receives == host->receive_depth)
		return false;
	rc = ibv_post_recv(q->qp, &request, &bad);
	if (rc != 0) {
		fail(host, "post of a receive: %s", strerror(rc));
		return false;
	}
	q->receives++;
	return true;
}

// --- completions ------------------------------------------------------------------------------

// Only what a peer or the network can bring about has a status of its own.
static enum rc_status status_of(enum ibv_wc_status status)
{
	if (status == IBV_WC_SUCCESS)
		return RC_OK;
	if (status == IBV_WC_RETRY_EXC_ERR)
		return RC_RETRY_EXCEEDED;
	if (status == IBV_WC_RNR_RETRY_EXC_ERR)
		return RC_RNR_EXCEEDED;
	if (status == IBV_WC_REM_ACCESS_ERR)
		return RC_REMOTE_ACCESS;
	if (status == IBV_WC_REM_INV_REQ_ERR)
		return RC_REMOTE_INVALID;
	if (status == IBV_WC_LOC_LEN_ERR)
		return RC_LOCAL_LENGTH;
	return status == IBV_WC_WR_FLUSH_ERR ? RC_FLUSHED : RC_REMOTE_OPERATION;
}

static void take_receive(struct verbs_host *host, const struct ibv_wc *wc, struct verbs_qp *q,
			 struct rc_completion *out)
{
	q->receives--;
	out->receive = true;
	if (wc->status != IBV_WC_SUCCESS)
		return;
	out->bytes = wc->byte_len;
	out->has_imm = (wc->wc_flags & IBV_WC_WITH_IMM) != 0;
	out->imm = out->has_imm ? be32toh(wc->imm_data) : 0;
	host->rx_bytes += wc->byte_len;
}

static void take_work(struct verbs_host *host, const struct ibv_wc *wc, struct verbs_qp *q,
		      struct rc_completion *out)
{
	const struct verbs_sent *sent = &q->sent[q->tail++ % host->send_depth];

	host->on_way--;
	out->id = sent->id;
	out->posted = sent->posted;
	if (wc->status != IBV_WC_SUCCESS)
		return;
	out->bytes = sent->bytes;
	*(sent->takes ? &host->rx_bytes : &host->tx_bytes) += sent->bytes;
}

bool verbs_complete(struct verbs_host *host, uint32_t *qp, struct rc_completion *out, ns_t now)
{
	const struct ibv_wc *wc;
	struct verbs_qp *q;
	int count;

	if (host->done_at == host->done_count) {
		count = ibv_poll_cq(host->cq, VERBS_BATCH, host->done);
		if (count < 0)
			fail(host, "completion queue: %s", strerror(errno));
		host->done_count = count < 0 ? 0 : (uint32_t)count;
		host->done_at = 0;
		if (count <= 0)
			return false;
	}
	wc = &host->done[host->done_at++];
	*qp = (uint32_t)(wc->wr_id >> 1);
	q = &host->qp[*qp];
	*out = (struct rc_completion){ .status = status_of(wc->status), .done = now };
	if (wc->wr_id & 1)
		take_receive(host, wc, q, out);
	else
		take_work(host, wc, q, out);
	// Those behind it are flushed, which says nothing.
	if (wc->status != IBV_WC_SUCCESS && host->error[0] == '\0') {
		host->error_qp = *qp;
		fail(host, "%s (vendor error 0x%x)", ibv_wc_status_str(wc->status), wc->vendor_err);
	}
	return true;
}

// --- events -----------------------------------------------------------------------------------

bool verbs_arm(struct verbs_host *host)
{
	const int rc = ibv_req_notify_cq(host->cq, 0);

	if (rc != 0)
		fail(host, "completion events: %s", strerror(rc));
	return rc == 0;
}

int verbs_fd(const struct verbs_host *host)
{
	return host->channel->fd;
}

void verbs_disarm(struct verbs_host *host)
{
	struct ibv_cq *cq;
	void *context;
	uint32_t count = 0;

	while (ibv_get_cq_event(host->channel, &cq, &context) == 0)
		count++;
	if (count != 0)
		ibv_ack_cq_events(host->cq, count);
}

static bool is_fatal(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_QP_FATAL ||
	       type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR ||
	       type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_PORT_ERR;
}

void verbs_look(struct verbs_host *host)
{
	struct pollfd ready = { .fd = host->context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&ready, 1, 0) == 1 && ibv_get_async_event(host->context, &event) == 0) {
		if (is_fatal(event.event_type))
			fail(host, "%s", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

// --- counters ---------------------------------------------------------------------------------

// Where a device counts something under a name in sysfs.
struct counter {
	const char *name;
	uint32_t offset;
};

#define COUNTER(name, field)                                                                       \
	{                                                                                          \
#		name, (uint32_t)offsetof(struct meet_numbers, field)                              \
	}
// Soft-RoCE's and mlx5's. Soft-RoCE counts as a retry what follows a NAK or a timer, so that its
// timeouts are known only as a part of that.
static const struct counter counters[] = {
	COUNTER(completer_retry_err, retransmits),      COUNTER(out_of_seq_request, gaps),
	COUNTER(packet_seq_err, retransmits),           COUNTER(local_ack_timeout_err, retransmits),
	COUNTER(local_ack_timeout_err, timeouts),       COUNTER(out_of_sequence, gaps),
	COUNTER(np_ecn_marked_roce_packets, ce_marked), COUNTER(rp_cnp_handled, cnps),
};

static uint64_t read_counter(const struct verbs_host *host, const char *name)
{
	char path[IBV_SYSFS_PATH_MAX + 64];
	unsigned long long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/ports/1/hw_counters/%s", host->context->device->ibdev_path,
		 name);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

void verbs_count(const struct verbs_host *host, struct meet_numbers *out)
{
	for (uint32_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		uint8_t *field = (uint8_t *)out + counters[i].offset;
		uint64_t sum;

		memcpy(&sum, field, sizeof(sum));
		sum += read_counter(host, counters[i].name);
		memcpy(field, &sum, sizeof(sum));
	}
}
