// SPDX-License-Identifier: BSD-3-Clause
//
// Two lcores of one switch, each a thread, route and forward to fabric edges while the control
// thread changes neighbours, next hops and edges, built with -fsanitize=thread: no data race, and
// no packet leaves to an address that its destination never had. An address says whose it is, so a
// row of the tables that was used again too early, or was seen before it was written, shows.
//
// Neighbours are few and always known or being asked for, so NO_ROUTE and BLACK_HOLE are wrong
// answers; the switch is whole in the end.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/rng.h"
#include "dataplane/core/sw.h"
#include "dataplane/core/tables.h"
#include "tests/host/frame.h"
#include "tests/rig/setup.h"

enum {
	LCORES = 2,
	PORTS = 4, // two each
	NEIGHBORS = 6,
	VERSIONS = 4, // addresses of one neighbour
	HOSTS = 4,
	CHANGES = 6000,
	WAIT_EVERY = 16,
	BURST = 8,
	ROOM = 8, // rows for learned neighbours: soon used again
	LEN = 128,
	LIMIT_S = 120,
	STEP_NS = 1000,
	IP_DST_AT = 14 + 16,
};

static const uint64_t router_mac = 0x02aa00000001;
static const uint64_t hop_mac = 0x02bb00000000;
static const uint64_t fabric_mac = 0x02cc00000000;
static const uint64_t neighbor_mac = 0x02dd00000000;
static const uint32_t net_near = 0x0a000000;
static const uint32_t net_far = 0x0b000000;
static const uint32_t net_fabric = 0x0d000000;

struct buffer {
	struct pkt pkt; // first: the core's pointer is ours
	uint8_t bytes[SW_TAG_ROOM + LEN];
};

static struct sw *sw;
static struct sw_tables *tables;
static _Atomic uint64_t epoch = 1;
static _Atomic uint64_t seen[LCORES];
static _Atomic bool done;
static _Atomic uint64_t sent[3], wrong;

// --- the switch ---------------------------------------------------------------------------------

static struct sw_config *config(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	c->sw.router_mac = router_mac;
	c->sw.edge_number = 0;
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].lcore = i % LCORES;
	setup_interface(c, 1, net_near + 0xfffe, 16);
	for (uint32_t i = 0; i < PORTS; i++)
		setup_next_hop(c, i < 2 ? "low" : "high", i, hop_mac + i);
	setup_route(c, net_far, 8, "low");
	setup_edge(c, 1, "low");
	for (uint32_t i = 0; i < HOSTS; i++)
		setup_fabric_host(c, fabric_mac + i, net_fabric + i, 1, 0);
	return c;
}

static void *aligned(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	WEFT_CHECK(memory != NULL);
	return memory;
}

static void start(const struct sw_config *c, ns_t now)
{
	struct sw_profile *pf = aligned(profile_bytes(c));
	struct profile_fault fault;

	WEFT_CHECK(profile_build(c, pf, &fault) == 0);
	WEFT_CHECK(tables_build(c, pf, ROOM, aligned(tables_bytes(c, ROOM)), &tables, &fault) == 0);
	sw = sw_init(aligned(sw_bytes(pf)), pf, 1, now);
	sw_set_tables(sw, tables);
	for (uint16_t i = 0; i < PORTS; i++)
		sw_link(sw, (port_t){ i }, true, now);
	for (uint8_t lcore = 0; lcore < LCORES; lcore++) {
		for (uint16_t i = 0; i < NEIGHBORS * VERSIONS; i++)
			sw_mac_set(sw, (lcore_t){ lcore }, neighbor_mac + i, 1,
				   (port_t){ i % PORTS }, now);
	}
}

// --- an lcore -----------------------------------------------------------------------------------

static struct pkt *new_packet(struct rng *rng)
{
	struct buffer *b = malloc(sizeof(*b));
	struct frame f = {
		.kind = FRAME_ROCE,
		.dst = router_mac,
		.src = frame_host_mac(0),
		.src_ip = net_near + 0x100,
		.src_port = 0xc000,
		.dscp = 3,
		.qp = rng_below(rng, 64),
		.len = LEN,
	};

	WEFT_CHECK(b != NULL);
	switch (rng_below(rng, 4)) {
	case 0: f.dst_ip = net_far + rng_below(rng, 256); break;
	case 1: f.dst_ip = net_fabric + rng_below(rng, HOSTS); break;
	case 2:
		f.dst = fabric_mac + rng_below(rng, HOSTS);
		f.dst_ip = net_fabric + (uint32_t)(f.dst - fabric_mac);
		break;
	default: f.dst_ip = net_near + rng_below(rng, NEIGHBORS); break;
	}
	frame_write(&f, b->bytes + SW_TAG_ROOM);
	b->pkt = (struct pkt){
		.data = b->bytes + SW_TAG_ROOM,
		.len = LEN,
		.head_len = LEN,
		.descriptors = 1,
	};
	return &b->pkt;
}

static void check(const struct pkt *p)
{
	const uint32_t ip = load_be32(p->data + IP_DST_AT);
	const uint64_t mac = load_be48(p->data);
	const uint32_t kind = ip >> 24 == net_far >> 24 ? 0 : ip >> 24 == net_fabric >> 24 ? 1 : 2;
	bool right;

	if (kind == 0)
		right = mac >= hop_mac && mac < hop_mac + PORTS * VERSIONS;
	else if (kind == 1) // through a router, or its own
		right = mac == fabric_mac + (ip - net_fabric) ||
			(mac >= hop_mac && mac < hop_mac + PORTS * VERSIONS);
	else
		right = mac >= neighbor_mac && (mac - neighbor_mac) / VERSIONS == ip - net_near;
	atomic_fetch_add_explicit(&sent[kind], 1, memory_order_relaxed);
	if (!right)
		atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
}

static void drain(lcore_t lcore, ns_t now)
{
	struct sw_action action;

	while (sw_action(sw, lcore, &action, now)) {
		if (action.kind == SW_ACTION_FREE || action.kind == SW_ACTION_PUNT)
			free(action.pkt);
	}
}

static void poll_port(port_t port, lcore_t lcore, struct rng *rng, ns_t now, bool receive)
{
	struct pkt *pkts[BURST];
	uint32_t count;

	for (uint32_t i = 0; i < BURST && receive; i++)
		pkts[i] = new_packet(rng);
	if (receive)
		sw_rx(sw, port, pkts, BURST, now);
	drain(lcore, now);
	sw_take(sw, lcore, now);
	drain(lcore, now);
	count = sw_tx(sw, port, pkts, BURST, now);
	drain(lcore, now);
	for (uint32_t i = 0; i < count; i++) {
		check(pkts[i]);
		free(pkts[i]);
	}
}

static void poll_once(uint8_t lcore, struct rng *rng, ns_t now, bool receive)
{
	sw_tick(sw, (lcore_t){ lcore }, now);
	sw_retry_held(sw, (lcore_t){ lcore }, now);
	drain((lcore_t){ lcore }, now);
	for (uint16_t port = lcore; port < PORTS; port += LCORES)
		poll_port((port_t){ port }, (lcore_t){ lcore }, rng, now, receive);
}

static void *lcore_run(void *argument)
{
	_Atomic uint64_t *mine = argument;
	const uint8_t lcore = (uint8_t)(mine - seen);
	ns_t now = { STEP_NS };
	struct rng rng;

	rng_seed(&rng, lcore + 1u);
	while (!atomic_load(&done)) {
		atomic_store(mine, atomic_load(&epoch));
		now = ns_add(now, STEP_NS);
		poll_once(lcore, &rng, now, true);
	}
	atomic_store(mine, UINT64_MAX);
	return NULL;
}

// --- the control thread -------------------------------------------------------------------------

// Every lcore has been between two polls since the last change.
static void grace(void)
{
	const uint64_t now = atomic_fetch_add(&epoch, 1) + 1;

	for (uint32_t i = 0; i < LCORES; i++) {
		while (atomic_load(&seen[i]) < now)
			sched_yield();
	}
	tables_quiesce(tables);
}

static uint32_t change(struct rng *rng)
{
	uint32_t refused = 0;

	for (uint32_t n = 0; n < CHANGES; n++) {
		const uint32_t i = rng_below(rng, NEIGHBORS);
		const uint32_t hop = rng_below(rng, PORTS);
		const uint32_t version = rng_below(rng, VERSIONS);
		const struct ip_prefix address = setup_ipv4(net_near + i, 32);

		switch (rng_below(rng, 4)) {
		case 0: tables_neighbor_delete(tables, &address); break;
		case 1: tables_edge_set(tables, 1, (uint16_t)rng_below(rng, 2)); break;
		case 2:
			refused += tables_next_hop_set(tables, hop,
						       (port_t){ (uint16_t)rng_below(rng, PORTS) },
						       hop_mac + hop * VERSIONS + version) != 0;
			break;
		default:
			refused += tables_neighbor_set(tables, &address, 1,
						       neighbor_mac + i * VERSIONS + version) != 0;
			break;
		}
		if (n % WAIT_EVERY == 0)
			grace();
	}
	return refused;
}

static bool is_whole(void)
{
	uint64_t lost = 0;
	struct rng rng;

	rng_seed(&rng, 1);
	for (uint32_t round = 0; round < 1000; round++) {
		for (uint8_t lcore = 0; lcore < LCORES; lcore++)
			poll_once(lcore, &rng, (ns_t){ 3600000000000 + round * 10000000ull },
				  false);
	}
	for (uint16_t i = 0; i < PORTS; i++)
		lost += sw_drops(sw, (port_t){ i }, DROP_NO_ROUTE) +
			sw_drops(sw, (port_t){ i }, DROP_BLACK_HOLE);
	return sw_conserved(sw) && lost == 0;
}

int main(void)
{
	struct sw_config *c = config();
	pthread_t thread[LCORES];
	uint32_t refused;
	struct rng rng;
	bool whole;

	alarm(LIMIT_S);
	rng_seed(&rng, 7);
	start(c, (ns_t){ 0 });
	for (uint32_t i = 0; i < LCORES; i++) {
		if (pthread_create(&thread[i], NULL, lcore_run, &seen[i]) != 0)
			return 1;
	}
	refused = change(&rng);
	atomic_store(&done, true);
	for (uint32_t i = 0; i < LCORES; i++)
		pthread_join(thread[i], NULL);
	whole = is_whole();
	printf("%lu far, %lu fabric, %lu near, %lu wrong; %u changes refused; %s\n",
	       (unsigned long)sent[0], (unsigned long)sent[1], (unsigned long)sent[2],
	       (unsigned long)wrong, refused, whole ? "whole" : "not whole");
	free(c);
	return wrong == 0 && whole && refused > 0 && sent[0] > 0 && sent[1] > 0 && sent[2] > 0 ? 0 :
												 1;
}
