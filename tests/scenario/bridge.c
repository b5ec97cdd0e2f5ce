// SPDX-License-Identifier: BSD-3-Clause
//
// The learning bridge: addresses are learned, move, age and are limited; group and unknown traffic
// is flooded as copies and policed; lossless unicast to an unknown address waits for its
// destination to answer; ARP is punted, learned, then forwarded.

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	LEN = 500,
};

#define BROADCAST 0xffffffffffffu

static struct mac_entry find(const struct rig *rig, uint64_t mac)
{
	struct mac_entry entry;
	uint32_t at = 0;

	do {
		if (sw_mac_walk(rig->sw, LCORE_FIRST, &at, &entry, 1) == 1 && entry.mac == mac)
			return entry;
	} while (at != 0);
	return (struct mac_entry){ .port = PORT_NONE };
}

static uint32_t mac_count(const struct rig *rig)
{
	struct mac_entry entry[64];
	uint32_t count = 0;
	uint32_t at = 0;

	do {
		count += sw_mac_walk(rig->sw, LCORE_FIRST, &at, entry, 64);
	} while (at != 0);
	return count;
}

Test(scenario, bridge_learns_and_moves)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, 0, LEN);
	struct frame back = rig_frame(1, 0, 0, LEN);

	rig_send(rig, 0, &f);
	cr_assert_eq(find(rig, f.src).port.v, 0);
	cr_assert_eq(find(rig, f.src).vid, 1);
	rig_send(rig, 1, &back); // the way back is known: no flood
	cr_assert_eq(rig_release(rig, 0, 9), 1);
	cr_assert_eq(rig_release(rig, 2, 9), 1); // the flooded first frame alone
	cr_assert_eq(rig_switch(rig).mac_moves, 0);

	rig_send(rig, 3, &f); // host 0 has moved
	cr_assert_eq(find(rig, f.src).port.v, 3);
	cr_assert_eq(rig_switch(rig).mac_moves, 1);
	rig_send(rig, 1, &back);
	cr_assert_eq(rig_release(rig, 3, 9), 2); // the first flood, and this one
	cr_assert_eq(rig_release(rig, 0, 9), 0);
	cr_assert_eq(mac_count(rig), 2);
	rig_end(rig);
}

// A burst of one new source announces it once; unanswered, again after 10 ms.
Test(scenario, bridge_announces_once)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, 0, LEN);

	rig->answer_learn = false;
	rig_send_many(rig, 0, &f, 50);
	cr_assert_eq(rig->learns, 1);
	cr_assert_eq(rig->last.kind, SW_ACTION_COPY);
	rig_advance(rig, 10000000);
	rig_send_many(rig, 0, &f, 50);
	cr_assert_eq(rig->learns, 2);
	rig_end(rig);
}

Test(scenario, bridge_ages)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, 0, LEN);
	struct rig *rig;

	c->sw.mac_age = 10000000000;
	rig = rig_new(c);
	cr_assert_eq(mac_count(rig), PORTS);
	rig_advance(rig, 6000000000);
	rig_send(rig, 0, &f); // host 0 is seen
	rig_release(rig, 1, 1);
	rig_advance(rig, 6000000000);
	for (uint32_t i = 0; i < 100; i++)
		sw_mac_age(rig->sw, LCORE_FIRST, 64, rig->now);
	cr_assert_eq(mac_count(rig), 1);
	cr_assert_eq(find(rig, f.src).port.v, 0);
	rig_end(rig);
}

// The port's limit and the table's: what does not fit is flooded, not learned, and a place that is
// freed can be used again.
Test(scenario, bridge_limits)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct rig *rig;

	c->port[0].mac_limit = 10;
	c->sw.mac_count = 32;
	rig = rig_new_blank(c);
	for (uint32_t i = 0; i < 20; i++)
		cr_assert_eq(sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000100 + i, 1, (port_t){ 0 },
					rig->now),
			     i < 10);
	for (uint32_t i = 0; i < 40; i++)
		cr_assert_eq(sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000200 + i, 1, (port_t){ 1 },
					rig->now),
			     i < 22);
	cr_assert_eq(mac_count(rig), 32);
	// A move counts at its new port.
	cr_assert(!sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000200, 1, (port_t){ 0 }, rig->now));
	cr_assert(sw_mac_delete(rig->sw, LCORE_FIRST, 0x020000000100, 1));
	cr_assert(!sw_mac_delete(rig->sw, LCORE_FIRST, 0x020000000100, 1));
	cr_assert(sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000200, 1, (port_t){ 0 }, rig->now));
	cr_assert_eq(mac_count(rig), 31);
	for (uint32_t i = 0; i < 2; i++) // one place is free, and no more
		cr_assert_eq(sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000300 + i, 1, (port_t){ 2 },
					rig->now),
			     i == 0);
	cr_assert(!sw_mac_set(rig->sw, LCORE_FIRST, 0x010000000001, 1, (port_t){ 2 },
			      rig->now)); // group
	cr_assert(!sw_mac_set(rig->sw, LCORE_FIRST, 0, 1, (port_t){ 2 }, rig->now));
	rig_end(rig);
}

enum { CHURN = 512 };

// port_of[i] is the port of address i plus 1, 0 when it is not in the table.
static void check_table(const struct rig *rig, const uint8_t port_of[CHURN])
{
	for (uint32_t i = 0; i < CHURN; i++) {
		struct mac_entry entry = find(rig, 0x020000000000 + i);

		cr_assert_eq(entry.port.v, port_of[i] ? port_of[i] - 1 : PORT_NONE.v);
	}
}

static void churn(struct rig *rig, struct rng *rng, uint8_t port_of[CHURN])
{
	uint32_t i = rng_below(rng, CHURN);
	uint16_t port = (uint16_t)rng_below(rng, 2);

	if (rng_below(rng, 2) == 0) {
		if (sw_mac_set(rig->sw, LCORE_FIRST, 0x020000000000 + i, 1, (port_t){ port },
			       rig->now))
			port_of[i] = (uint8_t)(port + 1);
		return;
	}
	cr_assert_eq(sw_mac_delete(rig->sw, LCORE_FIRST, 0x020000000000 + i, 1), port_of[i] != 0);
	port_of[i] = 0;
}

// Many addresses come and go in a full table; each look-up stays right (probing and deletion).
Test(scenario, bridge_table_churn)
{
	struct sw_config *c = setup_kvm(2);
	static uint8_t port_of[CHURN];
	struct rng rng;
	struct rig *rig;

	c->sw.mac_count = CHURN / 2;
	rig = rig_new_blank(c);
	rng_seed(&rng, 7);
	for (uint32_t step = 0; step < 20000; step++) {
		churn(rig, &rng, port_of);
		if (step % 500 == 0)
			check_table(rig, port_of);
	}
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t dst;
	uint8_t dscp;
	enum frame_kind kind;
} flood_rows[] = {
	{ "broadcast", BROADCAST, 0, FRAME_UDP },
	{ "multicast", 0x01005e000101, 0, FRAME_UDP },
	{ "lossless multicast: as lossy copies", 0x01005e000101, 3, FRAME_ROCE },
	{ "unknown lossy unicast", 0x020000009999, 0, FRAME_TCP },
};

// To every other port that is up, byte for byte, and without a charge at ingress.
TABLE_TEST(scenario, bridge_floods, row, flood_rows)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, row->dscp, LEN);
	uint8_t want[LEN];

	f.dst = row->dst;
	f.kind = row->kind;
	rig_link(rig, 3, false);
	rig_send(rig, 0, &f);
	frame_write(&f, want);
	cr_assert_eq(rig_switch(rig).copied_packets, 2, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 0).curr_occupancy_bytes, 0);
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).curr_occupancy_bytes, 0);
	for (uint32_t i = 0; i < PORTS; i++) {
		struct pkt *p = rig_take(rig, i);

		cr_assert_eq(p != NULL, i == 1 || i == 2, "%s, port %u", row->what, i);
		if (p == NULL)
			continue;
		cr_assert_arr_eq(p->data, want, LEN);
		rig_free(rig, p);
	}
	rig_end(rig);
}

// 100 Mb/s with 32 KiB at once: 1000-byte frames take 80 us each, and 2621440 ns may be ahead.
Test(scenario, bridge_polices_floods)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, 0, 1000);
	struct rig *rig;

	c->port[0].flood_rate = 100000000;
	rig = rig_new(c);
	f.dst = BROADCAST;
	rig_send_many(rig, 0, &f, 100);
	cr_assert_eq(rig_drops(rig, 0, DROP_FLOOD_POLICED), 100 - (1 + 2621440 / 80000));
	rig_advance(rig, 8000000);
	rig_send_many(rig, 0, &f, 100);
	cr_assert_eq(rig_drops(rig, 0, DROP_FLOOD_POLICED),
		     200 - (1 + 2621440 / 80000) - (2621440 / 80000 + 1));
	// Known unicast is none of the policer's business, and each port has its own.
	f.dst = frame_host_mac(1);
	rig_send_many(rig, 0, &f, 100);
	cr_assert_eq(rig_queue(rig, 1, 1).curr_occupancy_packets, 33 + 33 + 100);
	rig_end(rig);
}

// Copies may hold an eighth of the descriptors; the others are counted as lost copies.
Test(scenario, bridge_copies_are_bounded)
{
	struct sw_config *c = setup_kvm(2);
	uint64_t shared = 16384 - 4 * ((KVM_XOFF_BYTES + 59) / 60);
	struct frame f = rig_frame(0, 1, 0, 100);
	struct rig *rig;

	c->sw.descriptors = 16384;
	rig = rig_new(c);
	f.dst = BROADCAST;
	rig_send_many(rig, 0, &f, shared / 8 + 5);
	cr_assert_eq(rig_drops(rig, 0, DROP_COPY_NO_BUFFER), 5);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), shared / 8);
	rig_end(rig);
}

// A copy for which there is no buffer is counted where its original came from.
Test(scenario, bridge_copy_without_buffer)
{
	struct rig *rig = rig_new(setup_kvm(2));
	const struct pkt original = { .in_port = { 0 } };

	sw_copy(rig->sw, &original, NULL, (port_t){ 1 }, rig->now);
	cr_assert_eq(rig_drops(rig, 0, DROP_COPY_NO_BUFFER), 1);
	cr_assert_eq(rig_port(rig, 0).in_dropped_pkts, 1);
	rig_end(rig);
}

// Lossless unicast waits, in order and charged, until its destination answers.
Test(scenario, bridge_holds_lossless)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, 3, LEN);
	struct frame got, reply = {
		.kind = FRAME_ARP_REPLY,
		.dst = 0x02ffff000001,
		.src = frame_host_mac(1),
		.dst_ip = 0x0a01ffff,
		.src_ip = frame_host_ip(1),
	};

	rig_send_many(rig, 0, &f, 5);
	cr_assert_eq(rig->solicits, 1);
	cr_assert_eq(rig_switch(rig).queued_packets, 5 + PORTS); // and the request, to all ports
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 5 * LEN);
	cr_assert(rig_take_frame(rig, 1, &got));
	cr_assert_eq(got.kind, FRAME_ARP_REQUEST);
	cr_assert_eq(got.dst_ip, frame_host_ip(1));

	rig_send(rig, 1, &reply);
	cr_assert_eq(find(rig, frame_host_mac(1)).port.v, 1);
	for (uint32_t i = 0; i < 5; i++) {
		cr_assert(rig_take_frame(rig, 1, &got));
		cr_assert_eq(got.seq, i);
		cr_assert_eq(got.dscp, 3);
	}
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Nobody answers: given up after the time that is configured, each frame by its own clock.
Test(scenario, bridge_gives_up)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, 3, LEN);
	struct rig *rig;

	c->sw.solicit_time = 5000000;
	rig = rig_new_blank(c);
	rig->answer_solicit = false;
	rig_send_many(rig, 0, &f, 1);
	rig_advance(rig, 1000000);
	rig_send_many(rig, 0, &f, 1);
	// The next thing to do is to ask again, an eighth of the time after the last question.
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, rig->now.v + 5000000 / 8);
	rig_advance(rig, 3999999);
	cr_assert_geq(rig->solicits, 2);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_advance(rig, 1);
	cr_assert_eq(rig_drops(rig, 0, DROP_UNKNOWN_LOSSLESS), 1);
	rig_advance(rig, 1000000);
	cr_assert_eq(rig_drops(rig, 0, DROP_UNKNOWN_LOSSLESS), 2);
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	rig_end(rig);
}

// Nothing but the buffer bounds what may wait: the group goes into XOFF, and nothing is lost.
Test(scenario, bridge_hold_raises_xoff)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, 3, LEN);
	uint64_t sent = 0;

	rig->answer_solicit = false;
	for (; rig_pg(rig, 0, 3).xoff_events == 0; sent++) {
		cr_assert_lt(sent, KVM_POOL_BYTES / LEN);
		rig_send_many(rig, 0, &f, 1);
	}
	// What a peer still sends after XOFF waits in headroom.
	rig_send_many(rig, 0, &f, KVM_XOFF_BYTES / LEN - 1);
	sent += KVM_XOFF_BYTES / LEN - 1;
	cr_assert_gt(rig_pg(rig, 0, 3).xoff_room_watermark_bytes, 0);
	cr_assert_eq(rig->solicits, 1);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 1, (port_t){ 2 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, 2, UINT64_MAX), sent);
	cr_assert_eq(rig_pg(rig, 0, 3).xon_events, 1);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Only those that wait for the address that is learned go.
Test(scenario, bridge_releases_by_address)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame f[3] = { rig_frame(0, 1, 3, LEN), rig_frame(0, 2, 3, LEN),
			      rig_frame(0, 3, 4, LEN) };

	rig->answer_solicit = false;
	for (uint32_t i = 0; i < 9; i++)
		rig_send_many(rig, 0, &f[i % 3], 1);
	sw_mac_set(rig->sw, LCORE_FIRST, f[1].dst, 1, (port_t){ 2 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, 2, UINT64_MAX), 3);
	sw_mac_set(rig->sw, LCORE_FIRST, f[2].dst, 1, (port_t){ 3 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, 3, UINT64_MAX), 3);
	// The last ones turn out to be behind the port they came from.
	sw_mac_set(rig->sw, LCORE_FIRST, f[0].dst, 1, (port_t){ 0 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_drops(rig, 0, DROP_SAME_PORT), 3);
	cr_assert_eq(rig_switch(rig).queued_packets, 0);
	rig_end(rig);
}

// A request is punted, its sender learned, and only then flooded; the answer goes straight back.
Test(scenario, bridge_arp)
{
	struct rig *rig = rig_new_blank(setup_kvm(PORTS));
	struct frame got, request = {
		.kind = FRAME_ARP_REQUEST,
		.dst = BROADCAST,
		.src = frame_host_mac(0),
		.src_ip = frame_host_ip(0),
		.dst_ip = frame_host_ip(1),
	};
	struct frame reply = request;

	rig_send(rig, 0, &request);
	cr_assert_eq(rig->punts, 1);
	cr_assert_eq(find(rig, request.src).port.v, 0);
	cr_assert(rig_take_frame(rig, 1, &got) || got.kind == FRAME_ARP_REQUEST);
	reply.kind = FRAME_ARP_REPLY;
	reply.dst = frame_host_mac(0);
	reply.src = frame_host_mac(1);
	reply.dst_ip = frame_host_ip(0);
	reply.src_ip = frame_host_ip(1);
	rig_send(rig, 1, &reply);
	cr_assert_eq(rig->punts, 2);
	cr_assert_eq(find(rig, reply.src).port.v, 1);
	cr_assert_eq(rig_release(rig, 0, 9), 1);
	cr_assert_eq(rig_release(rig, 2, 9), 1); // the request alone
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t dst, src;
	uint16_t ethertype;
	enum drop_reason reason; // DROP_NONE: punted
} refused_rows[] = {
	{ "LLDP is punted", 0x0180c200000e, 0x020000000001, 0x88cc, DROP_NONE },
	{ "LLDP that goes further is not for us", 0x0180c2000003, 0x020000000001, 0x88cc,
	  DROP_RESERVED_MAC },
	{ "STP is not forwarded", 0x0180c2000000, 0x020000000001, 0x88b5, DROP_RESERVED_MAC },
	{ "group source", 0x020000000002, 0x030000000001, 0x88b5, DROP_SRC_MAC_INVALID },
	{ "zero source", 0x020000000002, 0, 0x88b5, DROP_SRC_MAC_INVALID },
	{ "to itself", 0x020000000001, 0x020000000001, 0x88b5, DROP_SAME_PORT },
};

TABLE_TEST(scenario, bridge_refuses, row, refused_rows)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = { .kind = FRAME_PLAIN };

	f.dst = row->dst;
	f.src = row->src;
	f.ethertype = row->ethertype;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_all_drops(rig), row->reason != DROP_NONE, "%s", row->what);
	cr_assert_eq(rig->punts, row->reason == DROP_NONE, "%s", row->what);
	if (row->reason != DROP_NONE)
		cr_assert_eq(rig_drops(rig, 0, row->reason), 1, "%s", row->what);
	for (uint32_t i = 0; i < PORTS; i++)
		cr_assert_eq(rig_release(rig, i, 9), 0);
	rig_end(rig);
}

// 20 at once and 20 a second of each port, whatever the flood policer has left: who floods LLDP
// must not fill the way to the control thread, and who floods anything else must not silence LLDP.
Test(scenario, bridge_polices_lldp)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame lldp = { .kind = FRAME_PLAIN,
			      .dst = 0x0180c200000e,
			      .src = frame_host_mac(0),
			      .ethertype = 0x88cc };
	struct frame f = rig_frame(0, 1, 0, 1000);
	struct rig *rig;

	c->port[0].flood_rate = 1000000;
	rig = rig_new(c);
	f.dst = BROADCAST;
	rig_send_many(rig, 0, &f, 100);
	cr_assert_gt(rig_drops(rig, 0, DROP_FLOOD_POLICED), 0);
	rig_send_many(rig, 0, &lldp, 100);
	cr_assert_eq(rig->punts, 20);
	cr_assert_eq(rig_drops(rig, 0, DROP_LLDP_POLICED), 80);
	rig_send_many(rig, 1, &lldp, 1); // another port has its own
	cr_assert_eq(rig->punts, 21);
	rig_advance(rig, 1000000000);
	rig_send_many(rig, 0, &lldp, 100);
	cr_assert_eq(rig->punts, 41);
	cr_assert_eq(rig_drops(rig, 0, DROP_LLDP_POLICED), 160);
	rig_end(rig);
}

// A link that goes down takes its addresses with it, and what was queued for it.
Test(scenario, bridge_link_down)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(0, 1, 0, LEN);

	rig_send_many(rig, 0, &f, 7);
	rig_link(rig, 1, false);
	cr_assert_eq(rig_drops(rig, 1, DROP_LINK_FLUSH), 7);
	cr_assert_eq(find(rig, f.dst).port.v, PORT_NONE.v);
	cr_assert_eq(mac_count(rig), PORTS - 1);
	cr_assert_eq(rig_pg(rig, 0, 0).curr_occupancy_bytes, 0);
	rig_send(rig, 0, &f); // unknown again: to the ports that are up
	cr_assert_eq(rig_release(rig, 2, 9) + rig_release(rig, 3, 9), 2);
	cr_assert_eq(rig_release(rig, 1, 9), 0);
	rig_end(rig);
}

// Another lcore forgets what was behind a lost link only when the shell says so. Until then its row
// stands, and what it sends there waits: the answer to its question must end that.
Test(bridge, a_wait_for_a_known_address_ends_with_its_answer)
{
	struct sw_config *c = setup_kvm(2);
	struct rig *rig;
	struct frame f = rig_frame(0, 1, 3, 256);
	struct frame got;

	c->port[1].lcore = 1;
	rig = rig_new(c);
	rig->answer_solicit = false;
	sw_link(rig->sw, (port_t){ 1 }, false, rig->now);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_switch(rig).queued_packets, 1);
	cr_assert_eq(rig->solicits, 1);
	sw_link(rig->sw, (port_t){ 1 }, true, rig->now);
	cr_assert(sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(1), 1, (port_t){ 1 }, rig->now));
	cr_assert(rig_take_frame(rig, 1, &got));
	cr_assert_eq(got.seq, f.seq);
	rig_end(rig);
}
