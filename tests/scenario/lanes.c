// SPDX-License-Identifier: BSD-3-Clause
//
// The tag that says a frame's lane: on the link between two switches every frame has it, at the
// host it is gone, and what the host wrote (DSCP, ECN, its own tags) is as it was, byte for byte.
// Frames are captures of kernel soft-RoCE, and those of the test host with up to two tags.

#include <pcap/pcap.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/rig/ring.h"
#include "tests/table.h"

enum {
	SWITCHES = 4,
	POOL_BYTES = 2000000,
	LANE0 = 3,
	LANE1 = 4,
	VLAN = 100,
	WIRE_NS = 2000, // more than any of the frames takes
	TAG_AT = 12,
	TAG_BYTES = 4,
	OUTER = 0x8100,
	TC0_PCP = 1, // AZURE: priority 1 is class 0 and the other way round
};

// The address of a test host at switch 1, and what captures have.
static const uint64_t captured_mac = 0x525400000002;

// Switch `i` of a ring, with hosts of captures and a tagged VLAN on all ports; RoCE is DSCP 26.
static struct rig *ring_rig(uint32_t i)
{
	struct sw_config *c = ring_switch(i, SWITCHES, true, POOL_BYTES);

	for (uint32_t to = 0; to < SWITCHES; to++) {
		if (to != i)
			ring_route(c, to, 1u << RING_NEXT);
	}
	setup_fabric_host(c, captured_mac - 1, 0x0a000001, 0, RING_HOST);
	setup_fabric_host(c, captured_mac, 0x0a000002, 1, RING_HOST);
	for (uint32_t host = 0; host < SWITCHES; host++) {
		struct fabric_host_config *row = setup_add_row(c, "host");

		row->mac = frame_host_mac(host);
		row->vlan = VLAN;
		row->edge = host;
	}
	setup_vlan(c, VLAN, "", "all");
	setup_name(c->port[RING_HOST].dscp_to_tc_map, "roce");
	return rig_new_blank(c);
}

static struct pkt *copy_of(struct rig *rig, const uint8_t *bytes, uint32_t len)
{
	struct pkt *p = rig_alloc(rig, len);

	memcpy(p->data, bytes, len);
	return p;
}

// Takes a frame from the host of switch 0 to the host of switch 1 and checks both links.
static void carry(struct rig *first, struct rig *second, const uint8_t *bytes, uint32_t len,
		  uint8_t pcp)
{
	struct pkt *p = copy_of(first, bytes, len);

	rig_rx(first, RING_HOST, &p, 1);
	p = rig_take(first, RING_NEXT);
	cr_assert_not_null(p, "%u bytes", len);
	cr_assert_eq(p->len, len + TAG_BYTES);
	cr_assert_eq(load_be16(p->data + TAG_AT), OUTER);
	cr_assert_eq(load_be16(p->data + TAG_AT + 2), pcp << 13); // VID 0: a priority tag
	cr_assert_eq(memcmp(p->data, bytes, TAG_AT), 0);
	cr_assert_eq(memcmp(p->data + TAG_AT + TAG_BYTES, bytes + TAG_AT, len - TAG_AT), 0);

	struct pkt *q = copy_of(second, p->data, p->len);

	rig_free(first, p);
	rig_rx(second, RING_BEFORE, &q, 1);
	q = rig_take(second, RING_HOST);
	cr_assert_not_null(q);
	cr_assert_eq(q->len, len);
	cr_assert_eq(memcmp(q->data, bytes, len), 0);
	rig_free(second, q);
	rig_advance(first, WIRE_NS);
	rig_advance(second, WIRE_NS);
}

static const char *const captures[] = { CAPTURES "/rxe-ect0.pcap", CAPTURES "/rxe-ce.pcap" };

TABLE_TEST(lanes, captured_roce_is_untouched, capture, captures)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(*capture, error);
	struct rig *first = ring_rig(0);
	struct rig *second = ring_rig(1);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	uint32_t count = 0;

	cr_assert_not_null(pcap, "%s", error);
	while (pcap_next_ex(pcap, &header, &bytes) == 1) {
		if (load_be48(bytes) != captured_mac)
			continue;
		carry(first, second, bytes, header->caplen, LANE0);
		count++;
	}
	pcap_close(pcap);
	cr_assert_geq(count, 40);
	cr_assert_eq(rig_pg(second, RING_BEFORE, LANE0).packets, count);
	rig_end(first);
	rig_end(second);
}

static const struct {
	const char *what;
	struct frame frame;
	uint8_t pcp; // on the link between switches
} frame_rows[] = {
	{ "RoCE over IPv6", { .kind = FRAME_ROCE, .dscp = 26, .ecn = 1, .ipv6 = true }, LANE0 },
	{ "RoCE in a VLAN",
	  { .kind = FRAME_ROCE, .dscp = 26, .tag_count = 1, .tag = { { 0, 0xa000 | VLAN } } },
	  LANE0 },
	{ "RoCE in QinQ",
	  { .kind = FRAME_ROCE,
	    .dscp = 26,
	    .tag_count = 2,
	    .tag = { { 0x88a8, 0x6000 | VLAN }, { 0, 7 } } },
	  LANE0 },
	{ "lossy UDP", { .kind = FRAME_UDP, .dscp = 0 }, TC0_PCP },
	{ "no IP", { .kind = FRAME_PLAIN, .ethertype = 0x88b5 }, TC0_PCP },
};

TABLE_TEST(lanes, frames_with_tags_of_their_own_are_untouched, row, frame_rows)
{
	struct rig *first = ring_rig(0);
	struct rig *second = ring_rig(1);
	struct frame f = row->frame;
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };

	f.src = frame_host_mac(0);
	f.dst = frame_host_mac(1);
	f.len = 200;
	carry(first, second, bytes, frame_write(&f, bytes), row->pcp);
	rig_end(first);
	rig_end(second);
}

Test(lanes, pfc_is_sent_on_the_lane_of_arrival)
{
	struct rig *rig = ring_rig(SWITCHES - 1); // crosses the dateline: lane 0 in, lane 1 out
	struct frame f = rig_frame(0, 0, 26, 1000);

	f.src = frame_host_mac(2);
	f.tag_count = 1;
	f.tag[0].tci = LANE0 << 13;
	for (uint32_t i = 0; i < 2000 && rig->pfc[RING_BEFORE].xoff[LANE0] == 0; i++)
		rig_send(rig, RING_BEFORE, &f);
	cr_assert_gt(rig->pfc[RING_BEFORE].xoff[LANE0], 0);
	cr_assert_eq(rig->pfc[RING_BEFORE].xoff[LANE1], 0);
	cr_assert_gt(rig_queue(rig, RING_NEXT, LANE1).curr_occupancy_packets, 0);
	cr_assert_eq(rig_queue(rig, RING_NEXT, LANE0).curr_occupancy_packets, 0);
	// And obeyed on the lane of departure.
	rig_send_pfc(rig, RING_NEXT, 1u << LANE0, 1000);
	cr_assert_gt(rig_release(rig, RING_NEXT, 1), 0);
	rig_send_pfc(rig, RING_NEXT, 1u << LANE1, 1000);
	cr_assert_eq(rig_release(rig, RING_NEXT, 1), 0);
	rig_send_pfc(rig, RING_NEXT, 1u << LANE1, 0);
	rig_release(rig, RING_NEXT, 2000);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint16_t tci;
	bool tagged;
	uint32_t in;
	uint64_t to; // host
	enum drop_reason reason;
} refused_rows[] = {
	{ "no tag on a link of lanes", 0, false, RING_BEFORE, 1, DROP_LANE_TAG },
	{ "a second crossing, lossless", LANE1 << 13, true, RING_BEFORE, 0, DROP_TURN_DENIED },
	{ "a second crossing, lossy", 1, true, RING_BEFORE, 0, DROP_TURN_DENIED },
	{ "a lane that does not exist", 9, true, RING_BEFORE, 0, DROP_TURN_DENIED },
	{ "back where it came from", LANE0 << 13, true, RING_NEXT, 0, DROP_SAME_PORT },
};

TABLE_TEST(lanes, refused, row, refused_rows)
{
	struct rig *rig = ring_rig(SWITCHES - 1);
	struct frame f = rig_frame(2, (uint32_t)row->to, 0, 200);

	f.tag_count = row->tagged;
	f.tag[0].tci = row->tci;
	rig_send(rig, row->in, &f);
	cr_assert_eq(rig_drops(rig, row->in, row->reason), 1, "%s", row->what);
	rig_end(rig);
}
