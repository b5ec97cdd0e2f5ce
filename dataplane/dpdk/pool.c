// SPDX-License-Identifier: BSD-3-Clause
//
// Sizes and creates the mempools of the process.
//
// The data pools are never the limit: each can hold every descriptor that the switches may charge,
// plus all that sits in rings and on its way. Running out would be a hidden drop point before
// admission.

#include "dataplane/dpdk/pool.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>

enum {
	CACHE_MBUFS = POOL_CACHE * 3 / 2, // a cache holds up to 1.5 times its size
	BURST_MBUFS = 128,     // per port: a burst received and one that the driver refused
	PUNT_MBUFS = 1024,     // frames on their way to the control thread and back
	CONTROL_PER_PORT = 32, // PFC frames beside those in the transmit ring
	CONTROL_SHARED = 256,
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

struct pool_need pool_need_of(uint32_t descriptors)
{
	return (struct pool_need){ .data = descriptors };
}

void pool_need_port(struct pool_need *need, uint32_t ring_mbufs, uint32_t tx_ring,
		    uint32_t own_mbufs)
{
	need->data += ring_mbufs + own_mbufs + BURST_MBUFS;
	need->control += tx_ring + CONTROL_PER_PORT;
}

void pool_need_room(struct pool_need *need, uint32_t contiguous_bytes, bool umem)
{
	uint32_t *bytes = umem ? &need->umem_bytes : &need->contiguous_bytes;

	if (contiguous_bytes > *bytes)
		*bytes = contiguous_bytes;
}

struct pool_plan pool_plan_start(uint32_t lcores)
{
	// The control thread owns a cache as well.
	uint32_t caches = (lcores + 1) * CACHE_MBUFS;

	return (struct pool_plan){
		.data_count = PUNT_MBUFS + caches,
		.control_count = CONTROL_SHARED + caches,
	};
}

// Frames that fit in a segment need no pool of their own.
static void add_room(uint32_t *room_bytes, uint32_t bytes)
{
	if (bytes > POOL_SEGMENT_BYTES)
		*room_bytes = (uint32_t)u64_max(*room_bytes, RTE_ALIGN_CEIL(bytes, 64u));
}

void pool_plan_add(struct pool_plan *plan, const struct pool_need *need)
{
	plan->data_count += need->data;
	plan->control_count += need->control;
	add_room(&plan->wide_room_bytes, need->contiguous_bytes);
	add_room(&plan->umem_room_bytes, need->umem_bytes);
}

uint64_t pool_plan_bytes(const struct pool_plan *plan)
{
	uint64_t bytes = pool_bytes(plan->data_count, POOL_SEGMENT_BYTES) +
			 pool_bytes(plan->control_count, POOL_CONTROL_BYTES);

	if (plan->wide_room_bytes != 0)
		bytes += pool_bytes(plan->data_count, plan->wide_room_bytes);
	if (plan->umem_room_bytes != 0)
		bytes += pool_bytes(plan->data_count, plan->umem_room_bytes);
	return bytes;
}

static int create(const char *kind, uint32_t count, uint32_t room_bytes, struct rte_mempool **out)
{
	*out = rte_pktmbuf_pool_create(kind, count, POOL_CACHE, sizeof(struct pkt),
				       (uint16_t)(room_bytes + RTE_PKTMBUF_HEADROOM),
				       SOCKET_ID_ANY);
	return *out == NULL ? -rte_errno : 0;
}

// Objects are packed, since padding between them would make chunks larger than a page, and shall
// lie in one piece, because the driver takes the first piece for all (port.c checks).
static int create_umem(uint32_t count, uint32_t room_bytes, struct rte_mempool **out)
{
	const struct rte_pktmbuf_pool_private layout = {
		.mbuf_data_room_size = (uint16_t)(room_bytes + RTE_PKTMBUF_HEADROOM),
		.mbuf_priv_size = sizeof(struct pkt),
	};
	const uint32_t bytes = sizeof(struct rte_mbuf) + sizeof(struct pkt) + RTE_PKTMBUF_HEADROOM +
			       room_bytes;
	struct rte_mempool *pool;
	int rc;

	pool = rte_mempool_create_empty("umem", count, bytes, POOL_CACHE, sizeof(layout),
					SOCKET_ID_ANY,
					RTE_MEMPOOL_F_NO_SPREAD | RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return -rte_errno;
	rc = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	if (rc == 0) {
		rte_pktmbuf_pool_init(pool, (void *)(uintptr_t)&layout);
		rc = rte_mempool_populate_default(pool);
	}
	if (rc < 0) {
		rte_mempool_free(pool);
		return rc;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	*out = pool;
	return 0;
}

int pools_create(const struct pool_plan *plan, struct pools *pools)
{
	int err;

	*pools = (struct pools){ 0 };
	if (plan->wide_room_bytes + RTE_PKTMBUF_HEADROOM > UINT16_MAX)
		return -EINVAL;
	err = create("data", plan->data_count, POOL_SEGMENT_BYTES, &pools->data);
	if (err == 0 && plan->wide_room_bytes != 0)
		err = create("wide", plan->data_count, plan->wide_room_bytes, &pools->wide);
	if (err == 0 && plan->umem_room_bytes != 0)
		err = create_umem(plan->data_count, plan->umem_room_bytes, &pools->umem);
	if (err == 0)
		err = create("control", plan->control_count, POOL_CONTROL_BYTES, &pools->control);
	if (err != 0)
		pools_destroy(pools);
	return err;
}

void pools_destroy(struct pools *pools)
{
	rte_mempool_free(pools->data);
	rte_mempool_free(pools->wide);
	rte_mempool_free(pools->umem);
	rte_mempool_free(pools->control);
	*pools = (struct pools){ 0 };
}
