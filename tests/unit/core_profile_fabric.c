// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/profile_fabric.c: what lanes and the hash of groups may not be, each fault with
// the line and object it names. Every row edits a switch of two lanes.

#include <stdlib.h>

#include "dataplane/core/profile.h"

#include "tests/keep.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	LINE = 77,
	LANES_34 = 0x18,
	LANE_RESERVE_BYTES = 9100 + 14 + 8, // a largest frame with two tags
};

static struct sw_config *last; // what an edit works on

static void nothing(void)
{
}

// Two lanes on fabric ports 2 and 3.
static struct sw_config *laned(void)
{
	struct sw_config *c = keep(setup_kvm(PORTS));
	struct buffer_profile_config *lossless = setup_find_profile(c, KVM_PG_LOSSLESS);

	c->sw.line = LINE;
	c->sw.lanes = LANES_34;
	lossless->size = KVM_XOFF_BYTES + LANE_RESERVE_BYTES;
	lossless->xon = LANE_RESERVE_BYTES;
	for (uint32_t i = 2; i < PORTS; i++) {
		c->port[i].role = CONFIG_ROLE_FABRIC;
		c->port[i].lane_tag = true;
		c->port[i].line = LINE;
	}
	return c;
}

static void lossy_lane(void)
{
	last->sw.lanes |= 1u << 5;
}

static void five_lanes(void)
{
	last->sw.lanes = 0x1f;
}

static void shared_queue(void)
{
	setup_map(last, CONFIG_MAP_TC_TO_QUEUE, "own", "0:0 1:1 2:2 3:3 4:3 5:5 6:6 7:7");
	setup_map(last, CONFIG_MAP_PFC_TO_QUEUE, "own", "0:0 1:1 2:2 3:3 4:3 5:5 6:6 7:7");
	for (uint32_t i = 0; i < PORTS; i++) {
		setup_name(last->port[i].tc_to_queue_map, "own");
		setup_name(last->port[i].pfc_to_queue_map, "own");
	}
}

static void reserve_short(void)
{
	setup_find_profile(last, KVM_PG_LOSSLESS)->size--;
}

static void xon_short(void)
{
	setup_find_profile(last, KVM_PG_LOSSLESS)->xon--;
	setup_find_profile(last, KVM_PG_LOSSLESS)->xon_offset = 0;
}

static void untagged_fabric(void)
{
	last->port[2].lane_tag = false;
}

static void one_lane_untagged(void)
{
	last->sw.lanes = 0x08;
	last->port[2].lane_tag = false;
}

static void tagged_edge(void)
{
	last->port[2].role = CONFIG_ROLE_EDGE;
}

static void unsaid_lane(void)
{
	setup_map(last, CONFIG_MAP_DOT1P_TO_TC, "own", "0:1 1:0 2:2 3:3 4:3 5:5 6:6 7:7");
	setup_name(last->port[2].dot1p_to_tc_map, "own");
}

static void swapped_priorities(void)
{
	setup_map(last, CONFIG_MAP_DOT1P_TO_TC, "own", "0:1 1:0 2:2 3:4 4:3 5:5 6:6 7:7");
	setup_name(last->port[2].dot1p_to_tc_map, "own");
}

static void hash_fields(void)
{
	setup_name(last->sw.ecmp_hash, "SRC_IP DST_IP  RDMA_BTH_DEST_QP");
}

static void hash_field(void)
{
	setup_name(last->sw.ecmp_hash, "SRC_IP DST_PORT");
}

static void group_router(void)
{
	last->sw.router_mac = 0x01aa00000001;
}

static void unicast_router(void)
{
	last->sw.router_mac = 0x00aa00000001;
}

static const struct {
	const char *what;
	void (*edit)(void);
	enum profile_fault_id want;
	const char *object;
	uint64_t have, allowed;
} lane_rows[] = {
	{ "two lanes", nothing, FAULT_NONE, "", 0, 0 },
	{ "a lossy lane", lossy_lane, FAULT_LANE_LOSSY, "Ethernet8", 5, 0 },
	{ "five lanes", five_lanes, FAULT_TOO_MANY, "sw0", 0, LANE_MAX },
	{ "two lanes in a queue", shared_queue, FAULT_LANE_LOSSY, "Ethernet8", 3, 0 },
	{ "a reserve a byte short", reserve_short, FAULT_LANE_RESERVE, "Ethernet8", 3,
	  LANE_RESERVE_BYTES },
	{ "an xon a byte short", xon_short, FAULT_LANE_RESERVE, "Ethernet8", 3,
	  LANE_RESERVE_BYTES },
	{ "two lanes without tags", untagged_fabric, FAULT_LANE_TAG, "Ethernet8", 2, 0 },
	{ "one lane without tags", one_lane_untagged, FAULT_NONE, "", 0, 0 },
	{ "hosts that choose their lane", tagged_edge, FAULT_LANE_EDGE, "Ethernet8", 0, 0 },
	{ "a lane that no priority says", unsaid_lane, FAULT_LANE_PCP, "Ethernet8", 4, 0 },
	{ "lanes by other priorities", swapped_priorities, FAULT_NONE, "", 0, 0 },
	{ "fields of the hash", hash_fields, FAULT_NONE, "", 0, 0 },
	{ "a router with a group address", group_router, FAULT_GROUP_MAC, "sw0", 0, 0 },
	{ "a router with one of its own", unicast_router, FAULT_NONE, "", 0, 0 },
	{ "a field that is none", hash_field, FAULT_UNKNOWN_HASH_FIELD, "sw0", 0, 0 },
};

TABLE_TEST(core_profile_fabric, fault, row, lane_rows)
{
	struct sw_profile *pf;
	struct profile_fault fault;

	last = laned();
	setup_name(last->sw.name, "sw0");
	row->edit();
	pf = keep(malloc(profile_bytes(last)));
	profile_build(last, pf, &fault);
	cr_assert_eq(fault.id, row->want, "%s: %s %s", row->what, profile_fault_texts[fault.id],
		     fault.object);
	cr_expect_eq(fault.line, row->want == FAULT_NONE ? 0 : LINE, "%s", row->what);
	cr_expect_str_eq(fault.object, row->object, "%s: %s", row->what, fault.object);
	cr_expect_eq(fault.have, row->have, "%s: %lu", row->what, fault.have);
	cr_expect_eq(fault.want, row->allowed, "%s: %lu", row->what, fault.want);
}
