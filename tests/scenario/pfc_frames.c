// SPDX-License-Identifier: BSD-3-Clause
//
// The eight rules for PFC frames: which are obeyed, which are only counted, what they never are
// (data, forwarded, a reason to pause a lossless priority through 802.3x), and when frames of our
// own go out. Ports at 10 Gb/s, where a quantum is 51.2 ns.

#include "base/bytes.h"
#include "tests/rig/oracle.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 3,
	SRC = 0,
	DST = 1,
	LEN = 1000,
	QUANTUM_DECI_NS = 512,                       // 512 bit times at 10G are 51.2 ns
	PAUSE_MAX_NS = 65535 * QUANTUM_DECI_NS / 10, // 3355392
};

static struct sw_config *ten_gig(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].speed = 10000000000;
	return c;
}

// One frame per priority waits at DST; DSCP 8, 0, 5, 3, 4, 46, 48 are classes 0 to 6 of AZURE.
static void load_queues(struct rig *rig)
{
	static const uint8_t dscp[] = { 8, 0, 5, 3, 4, 46, 48 };

	for (uint32_t i = 0; i < 7; i++) {
		struct frame f = rig_frame(SRC, DST, dscp[i], LEN);

		rig_send(rig, SRC, &f);
	}
}

// Queues that send now, one frame time after the other.
static uint8_t sending(struct rig *rig)
{
	uint8_t queues = 0;

	for (uint32_t i = 0; i < 7; i++) {
		rig_advance(rig, 1000);
		rig_release(rig, DST, 1);
	}
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		queues |= (uint8_t)((rig_queue(rig, DST, i).packets != 0) << i);
	return queues;
}

static const struct {
	const char *what;
	uint8_t enable;
	bool asymmetric;
	uint8_t sending; // queues that still send, of 0 to 6
} obey_rows[] = {
	{ "lossless 3 pauses 3 alone", 1 << 3, false, 0x77 },
	{ "lossless 3 and 4", 0x18, false, 0x67 },
	{ "all eight, symmetric: only enabled priorities obey", 0xff, false, 0x67 },
	{ "lossy 0: counted, not obeyed", 1 << 0, false, 0x7f },
	{ "lossy 7 has no queue in use", 1 << 7, false, 0x7f },
	{ "unset vector: timers without enable bits", 0, false, 0x7f },
	{ "asymmetric obeys all eight", 0xff, true, 0x00 },
	{ "asymmetric, lossy 5", 1 << 5, true, 0x5f },
};

TABLE_TEST(scenario, pfc_obeyed, row, obey_rows)
{
	struct sw_config *c = ten_gig();
	struct rig *rig;

	c->port[DST].pfc_asymmetric = row->asymmetric;
	rig = rig_new(c);
	load_queues(rig);
	rig_send_pfc(rig, DST, row->enable, 65535);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		bool enabled = row->enable >> i & 1;
		bool obeyed = enabled && (row->asymmetric || (0x18 >> i & 1));

		cr_assert_eq(rig_prio(rig, DST, i).pfc_rx_pkts, enabled, "%s", row->what);
		cr_assert_eq(rig_prio(rig, DST, i).rx_paused, obeyed, "%s", row->what);
		cr_assert_eq(rig_queue(rig, DST, i).pause_status, obeyed);
	}
	cr_assert_eq(sending(rig), row->sending, "%s", row->what);
	rig_end(rig);
}

// The pause is 65535 quanta to the nanosecond; what comes later replaces it, longer or shorter.
Test(scenario, pfc_timer_to_the_nanosecond)
{
	struct rig *rig = rig_new(ten_gig());
	ns_t start = rig->now;

	load_queues(rig);
	rig_send_pfc(rig, DST, 0x18, 65535);
	rig_advance(rig, PAUSE_MAX_NS - 1);
	rig_release(rig, DST, UINT64_MAX);
	cr_assert_eq(rig_queue(rig, DST, 3).packets, 0);
	cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v, start.v + PAUSE_MAX_NS);
	rig_advance(rig, 1);
	cr_assert_eq(rig_release(rig, DST, 1), 1);
	cr_assert_eq(rig_prio(rig, DST, 3).rx_pause_duration_us, PAUSE_MAX_NS / 1000);
	cr_assert_eq(rig_prio(rig, DST, 3).rx_pause_transitions, 1);
	cr_assert_eq(rig_prio(rig, DST, 3).on2off_rx_pkts, 1);
	rig_end(rig);
}

Test(scenario, pfc_timer_replaced)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig_send_many(rig, SRC, &f, 2);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_send_pfc(rig, DST, 1 << 3, 100); // shorter: 5120 ns
	rig_advance(rig, 5119);
	cr_assert_eq(rig_release(rig, DST, 1), 0);
	rig_advance(rig, 1);
	cr_assert_eq(rig_release(rig, DST, 1), 1);

	rig_send_pfc(rig, DST, 1 << 3, 100);
	rig_advance(rig, 5000);
	rig_send_pfc(rig, DST, 1 << 3, 200); // longer: 10240 ns from here
	rig_advance(rig, 10239);
	cr_assert_eq(rig_release(rig, DST, 1), 0);
	rig_advance(rig, 1);
	cr_assert_eq(rig_release(rig, DST, 1), 1);
	cr_assert_eq(rig_prio(rig, DST, 3).rx_pause_transitions, 2);
	rig_end(rig);
}

// Quanta 0 resumes at once, and only the priority it names.
Test(scenario, pfc_quanta_zero_resumes)
{
	struct rig *rig = rig_new(ten_gig());

	load_queues(rig);
	rig_send_pfc(rig, DST, 0x18, 65535);
	rig_advance(rig, 7);
	rig_send_pfc(rig, DST, 1 << 4, 0);
	cr_assert_eq(sending(rig), 0x77);
	rig_send_pfc(rig, DST, 1 << 3, 0);
	cr_assert_eq(sending(rig), 0x7f);
	rig_end(rig);
}

// A received frame that is MAC control, as a peer may send it.
static uint32_t control_frame(uint64_t dst, uint64_t src, uint16_t opcode, bool tagged,
			      uint8_t *out)
{
	uint32_t at = 12;

	memset(out, 0, 64);
	store_be48(out, dst);
	store_be48(out + 6, src);
	if (tagged) {
		store_be16(out + at, 0x8100);
		store_be16(out + at + 2, 7 << 13);
		at += 4;
	}
	store_be16(out + at, 0x8808);
	store_be16(out + at + 2, opcode);
	store_be16(out + at + 4, opcode == 0x0101 ? 1 << 3 : 65535);
	store_be16(out + at + 6 + 2 * 3, 65535);
	return tagged ? 64 : 60;
}

static const struct {
	const char *what;
	uint64_t dst, src;
	uint16_t opcode;
	bool tagged;
	bool pauses;
} control_rows[] = {
	{ "plain PFC", 0x0180c2000001, 0x020000000002, 0x0101, false, true },
	{ "all-zero source address", 0x0180c2000001, 0, 0x0101, false, true },
	{ "group source address", 0x0180c2000001, 0x010203040506, 0x0101, false, true },
	{ "priority-tagged", 0x0180c2000001, 0x020000000002, 0x0101, true, true },
	{ "unicast destination", 0x020000000003, 0x020000000002, 0x0101, false, true },
	{ "broadcast destination", 0xffffffffffff, 0x020000000002, 0x0101, false, true },
	{ "802.3x PAUSE", 0x0180c2000001, 0x020000000002, 0x0001, false, false },
	{ "802.3x PAUSE, zero source", 0x0180c2000001, 0, 0x0001, false, false },
	{ "unknown opcode", 0x0180c2000001, 0x020000000002, 0x0202, false, false },
};

// Never data: no octets, no packets, no drops; never forwarded or flooded; 802.3x counts apart.
TABLE_TEST(scenario, pfc_is_not_data, row, control_rows)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint8_t bytes[64];
	uint32_t len = control_frame(row->dst, row->src, row->opcode, row->tagged, bytes);
	struct port_stats port;

	rig_send_many(rig, SRC, &f, 1);
	rig_send_bytes(rig, DST, bytes, len);
	port = rig_port(rig, DST);
	cr_assert_eq(port.if_in_ucast_pkts + port.if_in_non_ucast_pkts + port.if_in_octets, 0);
	cr_assert_eq(port.in_dropped_pkts + port.out_dropped_pkts, 0, "%s", row->what);
	cr_assert_eq(port.pause_rx_pkts, row->opcode == 1, "%s", row->what);
	cr_assert_eq(port.mac_control_unknown, row->opcode == 0x0202);
	cr_assert_eq(rig_prio(rig, DST, 3).pfc_rx_pkts, row->pauses, "%s", row->what);
	for (uint32_t i = 0; i < PORTS; i++)
		cr_assert_eq(rig_release(rig, i, UINT64_MAX), i == DST && !row->pauses, "%s",
			     row->what);
	cr_assert_eq(rig_switch(rig).copied_packets, 0);
	cr_assert_eq(rig->learns, 0);
	rig_end(rig);
}

// Sent PFC is no data either.
Test(scenario, sent_pfc_is_not_data)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct port_stats port;

	rig_fill(rig, SRC, 3, &f);
	port = rig_port(rig, SRC);
	cr_assert_eq(port.if_out_ucast_pkts + port.if_out_non_ucast_pkts + port.if_out_octets, 0);
	cr_assert_eq(port.out_dropped_pkts + port.in_dropped_pkts, 0);
	cr_assert_eq(rig_prio(rig, SRC, 3).pfc_tx_pkts, 1);
	rig_end(rig);
}

// Refreshed at half the pause time by the timer alone, for as long as XOFF lasts, and not after.
Test(scenario, pfc_refresh_without_arrivals)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	ns_t start;

	rig_fill(rig, SRC, 3, &f);
	start = rig->now;
	for (uint32_t i = 1; i <= 100; i++) {
		cr_assert_eq(sw_deadline(rig->sw, LCORE_FIRST, rig->now).v,
			     rig->now.v); // DST has packets
		rig_advance(rig, PAUSE_MAX_NS / 2 - 1);
		cr_assert_eq(rig->pfc[SRC].count, i);
		rig_advance(rig, 1);
		cr_assert_eq(rig->pfc[SRC].count, i + 1);
		cr_assert_eq(rig->pfc[SRC].log[i].at.v, start.v + i * (PAUSE_MAX_NS / 2));
		cr_assert_eq(rig->pfc[SRC].log[i].frame.quanta[3], 65535);
	}
	rig_advance(rig, 1000);
	for (uint32_t i = 0; rig_pg(rig, SRC, 3).xoff_state; i++) {
		cr_assert_lt(i, 100000);
		rig_release(rig, DST, 1);
		rig_advance(rig, 1);
	}
	cr_assert_eq(rig->pfc[SRC].xon[3], 1);
	rig_release(rig, DST, UINT64_MAX);
	for (uint32_t i = 0; i < 10; i++)
		rig_advance(rig, PAUSE_MAX_NS);
	cr_assert_eq(rig->pfc[SRC].count, 102);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A refresh that was due long ago goes out with the next tick, once.
Test(scenario, pfc_refresh_after_late_poll)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig_fill(rig, SRC, 3, &f);
	rig_advance(rig, 10 * PAUSE_MAX_NS);
	cr_assert_eq(rig->pfc[SRC].count, 2);
	rig_advance(rig, PAUSE_MAX_NS / 2);
	cr_assert_eq(rig->pfc[SRC].count, 3);
	rig_end(rig);
}

// Two priorities in XOFF share frames and timers; each XON is told at once, the other stays told.
Test(scenario, pfc_two_priorities)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame a = rig_frame(SRC, DST, 3, LEN);
	struct frame b = rig_frame(SRC, DST + 1, 4, LEN);

	rig_fill(rig, SRC, 3, &a);
	rig_fill(rig, SRC, 4, &b);
	cr_assert_eq(rig->pfc[SRC].count, 2);
	cr_assert_eq(rig->pfc[SRC].log[1].frame.enable, 0x18);
	rig_release(rig, DST, UINT64_MAX);
	cr_assert_eq(rig->pfc[SRC].count, 3);
	cr_assert_eq(rig->pfc[SRC].log[2].frame.enable, 0x18);
	cr_assert_eq(rig->pfc[SRC].log[2].frame.quanta[3], 0);
	cr_assert_eq(rig->pfc[SRC].log[2].frame.quanta[4], 65535);
	rig_release(rig, DST + 1, UINT64_MAX);
	cr_assert_eq(rig->pfc[SRC].log[3].frame.enable, 1 << 4);
	rig_end(rig);
}

// Never for a lossy group, however hard it is hit; asymmetric ports generate for lossless ones
// only.
Test(scenario, pfc_never_for_lossy)
{
	struct sw_config *c = ten_gig();
	struct frame lossy = rig_frame(SRC, DST, 0, LEN);
	struct frame lossless = rig_frame(SRC, DST, 3, LEN);
	struct rig *rig;

	c->port[SRC].pfc_asymmetric = true;
	rig = rig_new(c);
	rig_send_many(rig, SRC, &lossy, 20000);
	cr_assert_gt(rig_all_drops(rig), 0);
	cr_assert_eq(rig->pfc[SRC].count, 0);
	rig_fill(rig, SRC, 3, &lossless);
	cr_assert_eq(rig->pfc[SRC].log[0].frame.enable, 1 << 3);
	rig_end(rig);
}

// Link down ends received pauses, and the next life of the link hears of an XOFF that lasts.
Test(scenario, pfc_over_link_toggle)
{
	struct rig *rig = rig_new(ten_gig());
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	rig_send_many(rig, SRC, &f, 1);
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_link(rig, DST, false);
	cr_assert_eq(rig_drops(rig, DST, DROP_LINK_FLUSH), 1);
	rig_link(rig, DST, true);
	cr_assert_eq(rig_prio(rig, DST, 3).rx_paused, 0);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(DST), 1, (port_t){ DST }, rig->now);
	rig_fill(rig, SRC, 3, &f);
	rig_link(rig, SRC, false);
	rig_advance(rig, 10 * PAUSE_MAX_NS);
	cr_assert_eq(rig->pfc[SRC].count, 1);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_state, 1);
	rig_link(rig, SRC, true);
	cr_assert_eq(rig->pfc[SRC].count, 2);
	cr_assert_eq(rig->pfc[SRC].log[1].frame.quanta[3], 65535);
	rig_end(rig);
}
