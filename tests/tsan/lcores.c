// SPDX-License-Identifier: BSD-3-Clause
//
// A whole switch on two threads, one for each of its lcores: lossless and lossy traffic,
// broadcasts, and a link that goes down and up, over pools that two of its ports can fill. Peers
// obey XOFF. Now and then the first lcore replaces the profile while the other is parked between
// two visits, as a live change of the configuration does. Every access of one lcore to what the
// other writes must be ordered; in the end nothing is lost, counted twice or charged, and XOFF,
// headroom and the way across have been used.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "dataplane/core/sw.h"
#include "tests/host/frame.h"
#include "tests/rig/setup.h"

enum {
	LCORES = 2,
	PORTS = 4,
	VISITS = 4000,
	BURST = 8,
	XOFF_BYTES = 20000, // more than a burst
	POOL_BYTES = 200000,
	VISIT_NS = 1000,
	SWAP_VISITS = 40,
};

// The protocol of a swap: the first lcore asks, the other parks, and goes on when it is over.
struct meeting {
	uint32_t asked;  // swaps
	uint32_t parked; // of them, here; UINT32_MAX: the lcore has ended
	uint32_t over;   // of them, done
	ns_t now;        // of the newest
};

struct buffer {
	struct pkt pkt; // first: the core's pointer is ours
	uint8_t bytes[SW_TAG_ROOM + 1600];
};

struct lcore {
	struct sw *sw;
	lcore_t id;
	struct rng dice;
	ns_t now;
	uint64_t taken, sent;
	struct meeting *meeting;
	const struct sw_profile *profile[2];
	uint64_t swaps; // with the other lcore parked
};

static struct pkt *new_pkt(uint32_t len)
{
	struct buffer *b = calloc(1, sizeof(*b));

	WEFT_CHECK(b != NULL && len <= 1600);
	b->pkt.data = b->bytes + SW_TAG_ROOM;
	b->pkt.len = len;
	b->pkt.head_len = (uint16_t)len;
	b->pkt.descriptors = 1;
	return &b->pkt;
}

static void copy(struct lcore *lc, const struct sw_action *action)
{
	PORT_SET_FOR_EACH(port, &action->ports) {
		struct pkt *p = new_pkt(action->pkt->len);

		memcpy(p->data, action->pkt->data, p->len);
		sw_copy(lc->sw, action->pkt, p, port, lc->now);
	}
}

static void drain(struct lcore *lc)
{
	struct sw_action action;

	while (sw_action(lc->sw, lc->id, &action, lc->now)) {
		if (action.kind == SW_ACTION_COPY)
			copy(lc, &action);
		else if (action.kind == SW_ACTION_FREE || action.kind == SW_ACTION_PUNT)
			free(action.pkt);
	}
}

static struct pkt *random_pkt(struct lcore *lc, uint32_t port, uint32_t class)
{
	uint32_t to = (port + 1 + rng_below(&lc->dice, PORTS - 1)) % PORTS;
	struct frame f = {
		.kind = FRAME_ROCE,
		.dst = frame_host_mac(to),
		.src = frame_host_mac(port),
		.dst_ip = frame_host_ip(to),
		.src_ip = frame_host_ip(port),
		.opcode = 6,
		.dscp = (uint8_t) class,
		.ecn = 2,
		.len = 100 + rng_below(&lc->dice, 1400),
	};
	struct pkt *p;

	if (class == 0 && rng_below(&lc->dice, 16) == 0)
		f.dst = 0xffffffffffff;
	p = new_pkt(f.len);
	frame_write(&f, p->data);
	return p;
}

// A peer that is told to stop sends nothing more; what it had on the way is less than a burst.
static void receive(struct lcore *lc, port_t port)
{
	uint32_t class = rng_below(&lc->dice, 3) == 0 ? 0 : 3;
	struct pkt *pkts[BURST];
	struct pg_stats st;

	sw_stats_pg(lc->sw, port, (pg_t){ (uint8_t) class }, WATERMARK_USER, &st);
	if (st.xoff_state)
		return;
	for (uint32_t i = 0; i < BURST; i++)
		pkts[i] = random_pkt(lc, port.v, class);
	sw_rx(lc->sw, port, pkts, BURST, lc->now);
	drain(lc);
}

static void transmit(struct lcore *lc, port_t port, uint32_t max)
{
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t count = sw_tx(lc->sw, port, pkts, max, lc->now);

	for (uint32_t i = 0; i < count; i++)
		free(pkts[i]);
	lc->sent += count;
	drain(lc);
}

static void visit(struct lcore *lc, uint32_t tx_max, bool rx)
{
	lc->now = ns_add(lc->now, VISIT_NS);
	sw_tick(lc->sw, lc->id, lc->now);
	drain(lc);
	for (uint16_t i = lc->id.v; i < PORTS && rx; i += LCORES)
		receive(lc, (port_t){ i });
	lc->taken += sw_take(lc->sw, lc->id, lc->now);
	drain(lc);
	for (uint16_t i = lc->id.v; i < PORTS; i += LCORES)
		transmit(lc, (port_t){ i }, tx_max);
}

static void park(struct lcore *lc)
{
	struct meeting *m = lc->meeting;
	const uint32_t asked = __atomic_load_n(&m->asked, __ATOMIC_ACQUIRE);

	if (asked == m->parked)
		return;
	__atomic_store_n(&m->parked, asked, __ATOMIC_RELEASE);
	while (__atomic_load_n(&m->over, __ATOMIC_ACQUIRE) != asked)
		sched_yield();
	lc->now.v = u64_max(lc->now.v, m->now.v);
}

static void swap(struct lcore *lc, struct lcore *other)
{
	struct meeting *m = lc->meeting;
	const uint32_t asked = m->asked + 1;
	uint32_t parked;

	__atomic_store_n(&m->asked, asked, __ATOMIC_RELEASE);
	do {
		sched_yield();
		parked = __atomic_load_n(&m->parked, __ATOMIC_ACQUIRE);
	} while (parked != asked && parked != UINT32_MAX);
	m->now.v = u64_max(lc->now.v, other->now.v);
	lc->now = m->now;
	WEFT_CHECK(sw_set_profile(lc->sw, lc->profile[asked % 2], lc->now) == 0);
	lc->swaps += parked == asked;
	__atomic_store_n(&m->over, asked, __ATOMIC_RELEASE);
	drain(lc);
}

static void *run(void *arg)
{
	struct lcore *lc = arg;
	port_t last = { (uint16_t)(PORTS - LCORES + lc->id.v) };

	for (uint32_t i = 0; i < VISITS; i++) {
		// Sometimes nothing leaves for a while.
		visit(lc, i % 64 < 32 ? BURST / 2 : 2 * BURST, true);
		if (i % 500 == 400)
			sw_link(lc->sw, last, false, lc->now);
		if (i % 500 == 410)
			sw_link(lc->sw, last, true, lc->now);
		drain(lc);
		if (lc->id.v != 0)
			park(lc);
		else if (i % SWAP_VISITS == 0)
			swap(lc, lc + 1);
		if (i % 8 == 0)
			sched_yield();
	}
	if (lc->id.v != 0)
		__atomic_store_n(&lc->meeting->parked, UINT32_MAX, __ATOMIC_RELEASE);
	return NULL;
}

// The pool takes more or less, never less than reserves.
static struct sw_profile *make_profile(uint64_t pool_bytes)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct sw_profile *pf = malloc(profile_bytes(c));
	struct profile_fault fault;

	WEFT_CHECK(pf != NULL);
	c->sw.descriptors = 16384;
	c->sw.solicit_time = 1000000; // that a frame waits for a port that is down
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].lcore = i % LCORES;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = pool_bytes;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = POOL_BYTES;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = XOFF_BYTES;
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = XOFF_BYTES + 2000;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xon = 2000;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xon_offset = 0;
	WEFT_CHECK(profile_build(c, pf, &fault) == 0);
	free(c);
	return pf;
}

static struct sw *make_switch(const struct sw_profile *pf)
{
	struct sw *sw;

	sw = sw_init(aligned_alloc(64, (sw_bytes(pf) + 63) & ~(size_t)63), pf, 1, (ns_t){ 1 });
	for (uint16_t i = 0; i < PORTS; i++) {
		sw_link(sw, (port_t){ i }, true, (ns_t){ 1 });
		for (uint8_t k = 0; k < LCORES; k++)
			WEFT_CHECK(sw_mac_set(sw, (lcore_t){ k }, frame_host_mac(i), 1,
					      (port_t){ i }, (ns_t){ 1 }));
	}
	return sw;
}

static void check(const struct sw *sw, uint64_t taken)
{
	struct switch_stats st;
	uint64_t xoffs = 0;
	uint64_t headroom = 0;

	WEFT_CHECK(sw_conserved(sw));
	sw_stats_switch(sw, WATERMARK_USER, &st);
	WEFT_CHECK(st.queued_packets == 0 && st.descriptors_in_use == 0);
	for (uint16_t i = 0; i < PORTS; i++) {
		struct pg_stats pg;

		sw_stats_pg(sw, (port_t){ i }, (pg_t){ 3 }, WATERMARK_USER, &pg);
		WEFT_CHECK(pg.dropped_packets == 0 && pg.curr_occupancy_bytes == 0);
		WEFT_CHECK(!pg.xoff_state);
		xoffs += pg.xoff_events;
		headroom = u64_max(headroom, pg.xoff_room_watermark_bytes);
	}
	printf("rx %llu tx %llu dropped %llu, %llu across, %llu XOFFs, headroom %llu\n",
	       (unsigned long long)st.rx_packets, (unsigned long long)st.tx_packets,
	       (unsigned long long)st.dropped_packets, (unsigned long long)taken,
	       (unsigned long long)xoffs, (unsigned long long)headroom);
	WEFT_CHECK(xoffs > 0 && headroom > 0 && taken > 1000);
}

int main(void)
{
	struct sw_profile *profile[2] = { make_profile(POOL_BYTES), make_profile(POOL_BYTES / 2) };
	struct sw *sw = make_switch(profile[0]);
	struct meeting meeting = { 0 };
	struct lcore lcore[LCORES];
	pthread_t thread[LCORES];

	for (uint8_t i = 0; i < LCORES; i++) {
		lcore[i] =
			(struct lcore){ .sw = sw, .id = { i }, .now = { 1 }, .meeting = &meeting };
		memcpy(lcore[i].profile, profile, sizeof(profile));
		rng_seed(&lcore[i].dice, i + 1u);
	}
	for (uint8_t i = 0; i < LCORES; i++)
		WEFT_CHECK(pthread_create(&thread[i], NULL, run, &lcore[i]) == 0);
	for (uint8_t i = 0; i < LCORES; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t round = 0; round < 2000; round++) {
		for (uint8_t i = 0; i < LCORES; i++)
			visit(&lcore[i], SW_BURST_MAX, false);
	}
	check(sw, lcore[0].taken + lcore[1].taken);
	WEFT_CHECK(lcore[0].swaps > VISITS / SWAP_VISITS / 2);
	free(profile[0]);
	free(profile[1]);
	free(sw);
	return 0;
}
