// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers of a process, shared by its switches. Data frames and frames that a switch makes itself
// (PFC, solicitations) come from different pools, so that no load of data can keep a PFC frame from
// being made.
//
// One set of pools for all switches, as large as the sum of what each may hold: a frame that
// crosses an in-memory link changes hands without a copy, and still no switch can starve another,
// because what a switch holds is bounded by its own descriptors, wherever its frames came from.
//
// Every mbuf carries the core's struct pkt in its private area, right behind struct rte_mbuf.
#pragma once

#include <rte_mbuf.h>

#include "dataplane/core/config.h"
#include "dataplane/core/pkt.h"

enum {
	POOL_CACHE = 256,
	POOL_SEGMENT_BYTES = 2048, // data per mbuf where frames may span several
	POOL_CONTROL_BYTES = 704,  // data per mbuf of the control pool
	// The kernel takes no chunk of a UMEM that is larger than a page, and a chunk is a whole
	// object of the mempool: header, struct rte_mbuf, struct pkt, headroom, then room.
	POOL_UMEM_CHUNK_BYTES = 4096,
	POOL_UMEM_ROOM_BYTES = POOL_UMEM_CHUNK_BYTES - RTE_CACHE_LINE_SIZE -
			       (int)sizeof(struct rte_mbuf) - (int)sizeof(struct pkt) -
			       RTE_PKTMBUF_HEADROOM,
};

struct pools {
	struct rte_mempool *data;    // segments: frames may span several
	struct rte_mempool *wide;    // for drivers that want each frame in one mbuf; or NULL
	struct rte_mempool *umem;    // the same, of mbufs that are chunks of a UMEM; or NULL
	struct rte_mempool *control; // what the switch makes itself
};

// What a switch may hold at a time, wherever it came from.
struct pool_need {
	uint32_t data;             // frames
	uint32_t control;          // frames that it made itself
	uint32_t contiguous_bytes; // the longest frame that must lie in one mbuf; 0: none
	uint32_t umem_bytes;       // the same where that mbuf is a chunk of a UMEM
};

// What to create; made before the EAL starts, since without hugepages it must be told all memory
// in advance.
struct pool_plan {
	uint32_t data_count;      // of data, of wide and of umem
	uint32_t wide_room_bytes; // 0: no wide pool
	uint32_t umem_room_bytes; // 0: no umem pool
	uint32_t control_count;
};

// Needs of a switch with a buffer of so many descriptors, before its ports are added.
struct pool_need pool_need_of(uint32_t descriptors);

// Adds a port with rings of `ring_mbufs` in all, `tx_ring` of them to transmit, and what its driver
// keeps for itself.
void pool_need_port(struct pool_need *need, uint32_t ring_mbufs, uint32_t tx_ring,
		    uint32_t own_mbufs);

// Adds what one mbuf of a port must hold, 0 where frames may span several; as a chunk of a UMEM it
// is at most POOL_UMEM_ROOM_BYTES.
void pool_need_room(struct pool_need *need, uint32_t contiguous_bytes, bool umem);

// Starts a plan with what the process itself needs, and adds a switch to it.
struct pool_plan pool_plan_start(uint32_t lcores);
void pool_plan_add(struct pool_plan *plan, const struct pool_need *need);

// Memory of all pools, with all overhead.
uint64_t pool_plan_bytes(const struct pool_plan *plan);

// Creates the pools. Control thread only. 0, or -errno and nothing created.
int pools_create(const struct pool_plan *plan, struct pools *pools);

// Accepts pools that were never created.
void pools_destroy(struct pools *pools);

// The pool that feeds a port whose mbufs must hold `contiguous_bytes`, as chunks of a UMEM or not.
static inline struct rte_mempool *pools_rx(const struct pools *pools, uint32_t contiguous_bytes,
					   bool umem)
{
	if (contiguous_bytes <= POOL_SEGMENT_BYTES)
		return pools->data;
	return umem ? pools->umem : pools->wide;
}

static inline struct pkt *pkt_of_mbuf(struct rte_mbuf *m)
{
	return (struct pkt *)(m + 1);
}

static inline struct rte_mbuf *mbuf_of_pkt(const struct pkt *p)
{
	return (struct rte_mbuf *)(uintptr_t)p - 1;
}

// Fills the fields of struct pkt that are the shell's.
static inline struct pkt *pkt_from_mbuf(struct rte_mbuf *m)
{
	struct pkt *p = pkt_of_mbuf(m);

	p->data = rte_pktmbuf_mtod(m, uint8_t *);
	p->len = m->pkt_len;
	p->head_len = m->data_len;
	p->descriptors = (uint8_t)m->nb_segs;
	return p;
}

// Gives a frame that the core has finished with back its shape as an mbuf: tags may have moved the
// start of the first segment.
static inline struct rte_mbuf *mbuf_from_pkt(const struct pkt *p)
{
	struct rte_mbuf *m = mbuf_of_pkt(p);

	m->data_off = (uint16_t)(p->data - (uint8_t *)m->buf_addr);
	m->data_len = (uint16_t)(m->data_len + p->len - m->pkt_len);
	m->pkt_len = p->len;
	return m;
}
