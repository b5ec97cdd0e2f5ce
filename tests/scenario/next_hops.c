// SPDX-License-Identifier: BSD-3-Clause
//
// A group of a live switch whose next hops are found one after the other: it works with those that
// are known, and each further one takes its share of the flows and no others. tests/flows.h says
// what balanced means.

#include "base/bytes.h"
#include "tests/flows.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum { HOPS = 4, HOP_AT = 1 };

#define HOP_MAC 0x02bb00000000u

// A host on port 0 and a route over four next hops whose addresses are not resolved.
static struct rig *new_router(void)
{
	struct sw_config *c = setup_kvm(HOP_AT + HOPS);

	c->sw.router_mac = 0x02aa00000001;
	setup_vlan(c, 10, "Ethernet0", "");
	setup_interface(c, 10, 0x0a010001, 24);
	for (uint32_t i = 0; i < HOPS; i++)
		setup_next_hop(c, "far", HOP_AT + i, 0)->address = setup_ipv4(0x0a020000 + i, 32);
	setup_route(c, 0x0b000000, 8, "far");
	return rig_new(c);
}

static void resolve(struct rig *rig, uint32_t hop)
{
	const port_t port = { (uint16_t)(HOP_AT + hop) };

	cr_assert_eq(tables_next_hop_set(rig->tables, hop, port, HOP_MAC + hop), 0);
	tables_quiesce(rig->tables);
}

// The next hop that a queue pair's packet leaves by, HOPS when none.
static uint8_t send_flow(struct rig *rig, uint32_t qp)
{
	struct frame f = rig_frame(0, 0, 3, 256);
	uint8_t found = HOPS;

	f.dst = 0x02aa00000001;
	f.dst_ip = 0x0b000001;
	f.qp = qp;
	rig_send(rig, 0, &f);
	for (uint8_t hop = 0; hop < HOPS; hop++) {
		struct pkt *p = rig_take(rig, HOP_AT + hop);

		if (p == NULL)
			continue;
		cr_assert_eq(load_be48(p->data), HOP_MAC + hop);
		cr_assert_eq(found, HOPS);
		rig_free(rig, p);
		found = hop;
	}
	return found;
}

// As many flows as are needed to judge; counts[HOPS] are those that went nowhere.
static void send_flows(struct rig *rig, uint32_t counts[HOPS + 1], uint8_t hop_of[])
{
	memset(counts, 0, (HOPS + 1) * sizeof(counts[0]));
	for (uint32_t i = 0; i < HOPS * FLOWS_PER_PATH; i++) {
		hop_of[i] = send_flow(rig, i);
		counts[hop_of[i]]++;
	}
}

// From one next hop to all four; each step takes only what is the new one's share.
Test(next_hops, join_one_after_the_other)
{
	static uint8_t before[HOPS * FLOWS_PER_PATH];
	static uint8_t after[HOPS * FLOWS_PER_PATH];
	struct rig *rig = new_router();
	uint32_t counts[HOPS + 1];

	resolve(rig, 0);
	send_flows(rig, counts, before);
	cr_assert_eq(counts[0], HOPS * FLOWS_PER_PATH);
	for (uint32_t hop = 1; hop < HOPS; hop++) {
		resolve(rig, hop);
		send_flows(rig, counts, after);
		cr_assert(flows_are_balanced(counts, hop + 1), "%u next hops", hop + 1);
		for (uint32_t i = 0; i < HOPS * FLOWS_PER_PATH; i++)
			cr_assert(after[i] == before[i] || after[i] == hop);
		memcpy(before, after, sizeof(before));
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Two of four are known: the group works at once over these, and nothing is sent to the others.
Test(next_hops, work_while_others_are_unknown)
{
	static uint8_t hop_of[HOPS * FLOWS_PER_PATH];
	struct rig *rig = new_router();
	uint32_t counts[HOPS + 1];

	send_flows(rig, counts, hop_of);
	cr_assert_eq(rig_drops(rig, 0, DROP_GROUP_DEAD), HOPS * FLOWS_PER_PATH);
	resolve(rig, 1);
	resolve(rig, 3);
	send_flows(rig, counts, hop_of);
	cr_assert_eq(counts[0] + counts[2], 0);
	cr_assert(flows_are_balanced((const uint32_t[]){ counts[1], counts[3] }, 2));
	cr_assert_eq(counts[1] + counts[3], HOPS * FLOWS_PER_PATH);
	resolve(rig, 0);
	resolve(rig, 2);
	send_flows(rig, counts, hop_of);
	cr_assert(flows_are_balanced(counts, HOPS));
	rig_end(rig);
}
