// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes and creates the mempools of a switch.
//
// The data pools are never the limit: each can hold every descriptor the core may charge, plus all
// that sits in rings and on its way. Running out would be a hidden drop point before admission.

#include "dataplane/dpdk/pool.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>

enum {
	// Threads that own a cache: the forwarding lcore and the control thread. A cache holds
	// up to 1.5 times its size.
	CACHES_MBUFS = 2 * POOL_CACHE * 3 / 2,
	BURST_MBUFS = 128,     // per port: a burst received and one that the driver refused
	PUNT_MBUFS = 1024,     // frames on their way to the control thread and back
	CONTROL_PER_PORT = 32, // PFC frames beside those in the transmit ring
	CONTROL_SHARED = 256 + CACHES_MBUFS,
	PAGE_BYTES = 4096,
	// struct rte_mbuf, struct pkt, mempool header and ring slot, alignment.
	OBJECT_BYTES = sizeof(struct rte_mbuf) + sizeof(struct pkt) + 64 + 16 + 64,
};

// Without hugepages an object may not cross a page, so one of 2.4 KB takes a page of 4 KiB. With
// them the same figure is more than enough.
static uint64_t pool_bytes(uint64_t count, uint64_t room_bytes)
{
	uint64_t object = OBJECT_BYTES + RTE_PKTMBUF_HEADROOM + room_bytes;
	uint64_t per_page = PAGE_BYTES / object;

	if (per_page == 0)
		return count * RTE_ALIGN_CEIL(object, PAGE_BYTES);
	return (count + per_page - 1) / per_page * PAGE_BYTES;
}

void pool_plan(const struct sw_config *config, uint32_t contiguous_bytes, uint32_t own_mbufs,
	       struct pool_plan *plan)
{
	uint32_t data = (uint32_t)config->sw.descriptors + own_mbufs + PUNT_MBUFS + CACHES_MBUFS;
	uint32_t control = CONTROL_SHARED;

	for (uint32_t i = 0; i < config->port_count; i++) {
		const struct port_config *port = &config->port[i];

		data += (uint32_t)(port->rx_ring + port->tx_ring) + BURST_MBUFS;
		control += (uint32_t)port->tx_ring + CONTROL_PER_PORT;
	}
	*plan = (struct pool_plan){ .data_count = data, .control_count = control };
	plan->bytes = pool_bytes(data, POOL_SEGMENT_BYTES) +
		      pool_bytes(control, POOL_CONTROL_BYTES);
	if (contiguous_bytes <= POOL_SEGMENT_BYTES)
		return;
	plan->wide_room_bytes = RTE_ALIGN_CEIL(contiguous_bytes, 64u);
	plan->bytes += pool_bytes(data, plan->wide_room_bytes);
}

static int create(uint32_t id, const char *kind, uint32_t count, uint32_t room_bytes,
		  struct rte_mempool **out)
{
	char text[RTE_MEMPOOL_NAMESIZE];

	snprintf(text, sizeof(text), "%s_%u", kind, id);
	*out = rte_pktmbuf_pool_create(text, count, POOL_CACHE, sizeof(struct pkt),
				       (uint16_t)(room_bytes + RTE_PKTMBUF_HEADROOM),
				       SOCKET_ID_ANY);
	return *out == NULL ? -rte_errno : 0;
}

// A switch's name is longer than that of a mempool may be, so switches are numbered.
int pools_create(const struct pool_plan *plan, struct pools *pools)
{
	static uint32_t created;
	uint32_t id = created++;
	int err;

	*pools = (struct pools){ 0 };
	if (plan->wide_room_bytes + RTE_PKTMBUF_HEADROOM > UINT16_MAX)
		return -EINVAL;
	err = create(id, "data", plan->data_count, POOL_SEGMENT_BYTES, &pools->data);
	if (err == 0 && plan->wide_room_bytes != 0)
		err = create(id, "wide", plan->data_count, plan->wide_room_bytes, &pools->wide);
	if (err == 0)
		err = create(id, "ctrl", plan->control_count, POOL_CONTROL_BYTES, &pools->control);
	if (err != 0)
		pools_destroy(pools);
	return err;
}

void pools_destroy(struct pools *pools)
{
	rte_mempool_free(pools->data);
	rte_mempool_free(pools->wide);
	rte_mempool_free(pools->control);
	*pools = (struct pools){ 0 };
}
