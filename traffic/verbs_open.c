// SPDX-License-Identifier: BSD-3-Clause
//
// Making and unmaking the queue pairs of a device, and leading them to their peers. What no knob
// says is as endpoints in software have it: sixteen READs at a time, receivers that ask for 10 us
// when they are not ready, and senders that wait for them as often as it takes.

#include "traffic/verbs_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PORT = 1,
	SEND_MIN = 64,
	READS = 16,
	RNR_TIMER = 1,   // 10 us
	RNR_RETRIES = 7, // any number
	RETRIES_MAX = 7,
	TIMEOUT_MAX = 31, // of a code: 4.096 us x 2^code
	TIMEOUT_UNIT_NS = 4096,
	HOP_LIMIT = 64,
	PAGE = 4096,
	PSN_MASK = 0xffffff,
	PSN_STEP = 64,
};

__attribute__((format(printf, 3, 4))) static int fail(const struct verbs_host *host, int rc,
						      const char *format, ...)
{
	va_list args;

	fprintf(stderr, "weft-traffic: %s: ", host->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return rc;
}

// As libibverbs says what went wrong: in errno.
static int fail_errno(const struct verbs_host *host, const char *what)
{
	const int rc = errno == 0 ? -EIO : -errno;

	return fail(host, rc, "%s: %s", what, strerror(-rc));
}

// --- the device -------------------------------------------------------------------------------

static int no_device(const struct verbs_host *host, struct ibv_device **list)
{
	fprintf(stderr, "weft-traffic: no RDMA device %s; there %s", host->name,
		list == NULL || list[0] == NULL ? "is none" : "is");
	for (uint32_t i = 0; list != NULL && list[i] != NULL; i++)
		fprintf(stderr, " %s", ibv_get_device_name(list[i]));
	fputc('\n', stderr);
	return -ENODEV;
}

static int open_device(struct verbs_host *host)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device = NULL;
	int rc = 0;

	for (uint32_t i = 0; list != NULL && list[i] != NULL; i++) {
		if (strcmp(ibv_get_device_name(list[i]), host->name) == 0)
			device = list[i];
	}
	if (device == NULL) {
		rc = no_device(host, list);
	} else {
		host->context = ibv_open_device(device);
		if (host->context == NULL)
			rc = fail_errno(host, "cannot be opened");
	}
	if (list != NULL)
		ibv_free_device_list(list);
	return rc;
}

static enum ibv_mtu mtu_code(uint64_t bytes)
{
	uint32_t code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && 128ull << code < bytes)
		code++;
	return (enum ibv_mtu)code;
}

static int look_at_port(struct verbs_host *host, struct ibv_port_attr *port)
{
	if (ibv_query_device(host->context, &host->limits) != 0 ||
	    ibv_query_port(host->context, PORT, port) != 0)
		return fail_errno(host, "does not answer");
	if (port->link_layer != IBV_LINK_LAYER_ETHERNET)
		return fail(host, -EPROTONOSUPPORT, "is not on Ethernet");
	if (port->state != IBV_PORT_ACTIVE)
		return fail(host, -ENETDOWN, "its port is %s", ibv_port_state_str(port->state));
	host->mtu = mtu_code(host->config->run.mtu);
	if (host->mtu > port->active_mtu)
		return fail(host, -EMSGSIZE, "--mtu %u: its interface has room for %u only",
			    128u << host->mtu, 128u << port->active_mtu);
	return 0;
}

// --- its address ------------------------------------------------------------------------------

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

// The first of RoCE v2 with an IPv4 address, or any of RoCE v2, or the one that was asked for.
static int choose_gid(struct verbs_host *host, int count)
{
	const uint64_t wanted = host->config->run.gid_index;
	struct ibv_gid_entry entry;
	bool found = false;

	for (uint32_t i = 0; i < (uint32_t)count; i++) {
		if (wanted != CONFIG_UNSET && i != wanted)
			continue;
		if (ibv_query_gid_ex(host->context, PORT, i, &entry, 0) != 0 ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 || (found && !is_ipv4(&entry.gid)))
			continue;
		memcpy(host->address.gid, entry.gid.raw, sizeof(host->address.gid));
		host->gid_index = i;
		found = true;
		if (is_ipv4(&entry.gid))
			break;
	}
	if (found)
		return 0;
	if (wanted != CONFIG_UNSET)
		return fail(host, -EADDRNOTAVAIL, "--gid-index %u: is no address of RoCE v2",
			    (uint32_t)wanted);
	return fail(host, -EADDRNOTAVAIL, "has no address of RoCE v2: its interface needs one");
}

// --- memory and queues ------------------------------------------------------------------------

static int make_memory(struct verbs_host *host)
{
	const size_t bytes = (host->memory_bytes + PAGE) / PAGE * PAGE;

	host->memory = aligned_alloc(PAGE, bytes);
	if (host->memory == NULL)
		return fail(host, -ENOMEM, "out of memory");
	memset(host->memory, 0, bytes);
	host->pd = ibv_alloc_pd(host->context);
	if (host->pd == NULL)
		return fail_errno(host, "protection domain");
	host->region = ibv_reg_mr(host->pd, host->memory, bytes,
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					  IBV_ACCESS_REMOTE_READ);
	if (host->region == NULL)
		return fail_errno(host, "memory cannot be registered (ulimit -l)");
	host->address.va = (uintptr_t)host->memory;
	host->address.rkey = host->region->rkey;
	return 0;
}

static int make_queue(struct verbs_host *host)
{
	const uint64_t entries = (uint64_t)host->qp_count *
				 (host->send_depth + host->receive_depth);

	if (entries > (uint64_t)host->limits.max_cqe)
		return fail(host, -ENOSPC,
			    "%u queue pairs with %u messages on their way are more than its "
			    "completion queue has room for (%d); fewer --qps or less --depth",
			    host->qp_count, host->send_depth, host->limits.max_cqe);
	host->channel = ibv_create_comp_channel(host->context);
	if (host->channel == NULL ||
	    fcntl(host->channel->fd, F_SETFL, fcntl(host->channel->fd, F_GETFL) | O_NONBLOCK) != 0)
		return fail_errno(host, "completion events");
	host->cq = ibv_create_cq(host->context, (int)u64_max(entries, 1), NULL, host->channel, 0);
	return host->cq == NULL ? fail_errno(host, "completion queue") : 0;
}

// What ibv_modify_qp() returns is a positive errno.
static int modified(const struct verbs_host *host, const char *what, int rc)
{
	return rc == 0 ? 0 : fail(host, -rc, "%s: %s", what, strerror(rc));
}

static int make_qp(struct verbs_host *host, struct verbs_qp *qp)
{
	struct ibv_qp_init_attr make = {
		.send_cq = host->cq,
		.recv_cq = host->cq,
		.cap = { .max_send_wr = host->send_depth,
			 .max_recv_wr = host->receive_depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	qp->sent = calloc(host->send_depth, sizeof(*qp->sent));
	if (qp->sent == NULL)
		return fail(host, -ENOMEM, "out of memory");
	qp->qp = ibv_create_qp(host->pd, &make);
	if (qp->qp == NULL)
		return fail_errno(host, "queue pair");
	return modified(host, "queue pair",
			ibv_modify_qp(qp->qp, &attr,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					      IBV_QP_ACCESS_FLAGS));
}

static int make_qps(struct verbs_host *host)
{
	int rc = 0;

	host->qp = calloc((size_t)host->qp_count + 1, sizeof(*host->qp));
	if (host->qp == NULL)
		return fail(host, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < host->qp_count && rc == 0; i++)
		rc = make_qp(host, &host->qp[i]);
	return rc;
}

int verbs_open(struct verbs_host *host, const struct traffic_config *config, uint32_t qp_count,
	       uint32_t receive_depth, uint64_t memory_bytes)
{
	struct ibv_port_attr port;
	int rc;

	*host = (struct verbs_host){
		.config = config,
		.name = config->run.verbs,
		.qp_count = qp_count,
		.send_depth = receive_depth > SEND_MIN ? receive_depth : SEND_MIN,
		.receive_depth = receive_depth,
		.memory_bytes = memory_bytes,
		.error_qp = JOB_NONE,
	};
	rc = open_device(host);
	if (rc == 0)
		rc = look_at_port(host, &port);
	if (rc == 0)
		rc = choose_gid(host, port.gid_tbl_len);
	if (rc == 0)
		rc = make_memory(host);
	if (rc == 0)
		rc = make_queue(host);
	return rc == 0 ? make_qps(host) : rc;
}

void verbs_close(struct verbs_host *host)
{
	for (uint32_t i = 0; host->qp != NULL && i < host->qp_count; i++) {
		if (host->qp[i].qp != NULL)
			ibv_destroy_qp(host->qp[i].qp);
		free(host->qp[i].sent);
	}
	free(host->qp);
	if (host->cq != NULL)
		ibv_destroy_cq(host->cq);
	if (host->channel != NULL)
		ibv_destroy_comp_channel(host->channel);
	if (host->region != NULL)
		ibv_dereg_mr(host->region);
	if (host->pd != NULL)
		ibv_dealloc_pd(host->pd);
	if (host->context != NULL)
		ibv_close_device(host->context);
	free(host->memory);
}

// --- to the peers -----------------------------------------------------------------------------

uint32_t verbs_qp_number(const struct verbs_host *host, uint32_t qp)
{
	return host->qp[qp].qp->qp_num;
}

// The first PSN of a queue pair, which its number tells both ends.
static uint32_t psn_of(uint32_t number)
{
	return number * PSN_STEP & PSN_MASK;
}

static uint8_t timeout_code(uint64_t ns)
{
	uint8_t code = 1;

	while (code < TIMEOUT_MAX && (uint64_t)TIMEOUT_UNIT_NS << code < ns)
		code++;
	return code;
}

static uint8_t reads(int limit)
{
	return (uint8_t)(limit < READS ? limit : READS);
}

static int make_ready(const struct verbs_host *host, struct verbs_qp *qp,
		      const struct meet_host *peer, uint32_t number, uint8_t dscp)
{
	const struct run_config *run = &host->config->run;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = host->mtu,
		.dest_qp_num = number,
		.rq_psn = psn_of(number),
		.max_dest_rd_atomic = reads(host->limits.max_qp_rd_atom),
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = { .is_global = 1,
			     .sl = (uint8_t)run->priority,
			     .port_num = PORT,
			     .grh = { .sgid_index = (uint8_t)host->gid_index,
				      .hop_limit = HOP_LIMIT,
				      .traffic_class =
					      (uint8_t)(dscp << 2 |
							(run->ecn ? ECN_ECT0 : ECN_NOT_ECT)) } },
	};

	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	return ibv_modify_qp(qp->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

int verbs_connect(struct verbs_host *host, uint32_t qp, const struct meet_host *peer,
		  uint32_t number, uint8_t dscp)
{
	const struct run_config *run = &host->config->run;
	struct verbs_qp *q = &host->qp[qp];
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn_of(q->qp->qp_num),
		.timeout = timeout_code(run->retry_timeout),
		.retry_cnt = (uint8_t)u64_min(run->retries, RETRIES_MAX),
		.rnr_retry = RNR_RETRIES,
		.max_rd_atomic = reads(host->limits.max_qp_init_rd_atom),
	};

	const int rc = modified(host, "a peer cannot be reached",
				make_ready(host, q, peer, number, dscp));

	if (rc != 0)
		return rc;
	return modified(host, "queue pair",
			ibv_modify_qp(q->qp, &attr,
				      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					      IBV_QP_MAX_QP_RD_ATOMIC));
}
