// SPDX-License-Identifier: BSD-3-Clause
//
// What the lcores of a switch share: the bytes of each pool's shared part, shared headroom, and
// descriptors. An lcore borrows them in chunks and charges against what it has borrowed, so the sum
// of all charges never exceeds what there is, and no packet costs an atomic operation.
//
// What is free, as an lcore sees it, is what nobody has borrowed (read once per burst) and what it
// has borrowed and not used: never more than what is free in truth. Near the end of a pool chunks
// shrink and idle ones go back, so little lies where nobody can use it. Shared headroom is borrowed
// to the byte: it is sized to the byte, and needed only while XOFF takes effect.
//
// Invariant: what the lcores have borrowed and what is left are all there is (sw_conserved()).

#include "dataplane/core/stage.h"

enum {
	CHUNKS = 32,     // of a pool and lcore
	LAST_PARTS = 16, // of what is left, at most one is borrowed ahead
};

bool credit_borrow(struct credit *credit, struct purse *purse, uint64_t used)
{
	int64_t need = (int64_t)(used - credit->limit);
	int64_t left = atomic_load_explicit(&purse->left, memory_order_relaxed);
	int64_t take;

	do {
		if (left < need)
			return false;
		take = left / LAST_PARTS < purse->chunk ? left / LAST_PARTS : purse->chunk;
		take = take < need ? need : take;
	} while (!atomic_compare_exchange_weak_explicit(
		&purse->left, &left, left - take, memory_order_relaxed, memory_order_relaxed));
	credit->limit += (uint64_t)take;
	credit->visible = credit->limit + (uint64_t)(left - take);
	return true;
}

// Lossless traffic is never stopped at egress, so it may have used more than there is to borrow:
// then nothing is left for others until that is paid back.
static void refresh(struct credit *credit, struct purse *purse, uint64_t used)
{
	int64_t left = atomic_load_explicit(&purse->left, memory_order_relaxed);
	uint64_t keep = used == 0 || left < purse->chunk ? 0 : (uint64_t)purse->chunk;
	int64_t back = 0;

	if (used > credit->limit)
		back = -(int64_t)(used - credit->limit);
	else if (credit->limit - used > 2 * keep)
		back = (int64_t)(credit->limit - used - keep);
	if (back != 0) {
		left = atomic_fetch_add_explicit(&purse->left, back, memory_order_relaxed) + back;
		credit->limit -= (uint64_t)back;
	}
	credit->visible = credit->limit + (left > 0 ? (uint64_t)left : 0);
}

void credit_refresh(struct sw_lcore *lc)
{
	for (uint32_t i = 0; i < lc->pf->pool_count; i++) {
		struct pool_state *pool = &lc->pool[i];

		refresh(&pool->credit, &pool->common->purse, pool->shared_used);
	}
	refresh(&lc->descriptor_credit, &lc->sw->descriptors, lc->descriptors_used);
}

// One lcore may use everything without asking; several begin with what they use already.
static void deal(struct sw *sw, struct credit *credit, struct purse *purse, uint64_t used,
		 uint64_t all)
{
	if (sw->lcore_count == 1) {
		*credit = (struct credit){ all, all };
		return;
	}
	*credit = (struct credit){ used, used };
	atomic_fetch_sub_explicit(&purse->left, (int64_t)used, memory_order_relaxed);
}

static void fill(const struct sw *sw, struct purse *purse, uint64_t all)
{
	bool shared = sw->lcore_count > 1;

	purse->chunk = shared ? (int64_t)(all / CHUNKS / sw->lcore_count) : 0;
	atomic_store_explicit(&purse->left, shared ? (int64_t)all : 0, memory_order_relaxed);
}

void credit_deal(struct sw *sw)
{
	const struct sw_profile *pf = sw->pf;

	fill(sw, &sw->descriptors, pf->descriptor_shared);
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		deal(sw, &sw->lcore[i].descriptor_credit, &sw->descriptors,
		     sw->lcore[i].descriptors_used, pf->descriptor_shared);
	for (uint32_t n = 0; n < pf->pool_count; n++) {
		struct pool_common *common = &sw->pool[n];
		uint64_t headroom = 0;

		fill(sw, &common->purse, pf->pool[n].shared_bytes);
		for (uint32_t i = 0; i < sw->lcore_count; i++) {
			struct pool_state *pool = &sw->lcore[i].pool[n];

			pool->common = common;
			headroom += pool->headroom_used;
			deal(sw, &pool->credit, &common->purse, pool->shared_used,
			     pf->pool[n].shared_bytes);
		}
		atomic_store_explicit(&common->headroom_used, headroom, memory_order_relaxed);
	}
	for (uint32_t i = 0; i < sw->lcore_count && sw->lcore_count > 1; i++)
		credit_refresh(&sw->lcore[i]);
}

bool headroom_take(struct pool_state *pool, uint64_t limit, uint64_t bytes)
{
	_Atomic(uint64_t) *all = &pool->common->headroom_used;
	uint64_t used = atomic_load_explicit(all, memory_order_relaxed);

	do {
		if (limit != 0 && used + bytes > limit)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		all, &used, used + bytes, memory_order_relaxed, memory_order_relaxed));
	pool->headroom_used += bytes;
	return true;
}

void headroom_give(struct pool_state *pool, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&pool->common->headroom_used, bytes, memory_order_relaxed);
	pool->headroom_used -= bytes;
}

uint64_t headroom_left(const struct pool_state *pool, uint64_t limit)
{
	return u64_minus(limit,
			 atomic_load_explicit(&pool->common->headroom_used, memory_order_relaxed));
}
