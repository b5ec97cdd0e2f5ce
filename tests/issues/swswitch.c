// SPDX-License-Identifier: BSD-3-Clause
//
// What other software switches lack or get wrong: PFC and QoS at all, one index per queue, rates
// and limits per queue, queues that form where they can be seen, strict priority and byte shares
// under congestion. Names are those of rows.tsv, which says what holds instead of the bug.

#include "tests/issues/star.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 1000,
};

#define GIGA 1000000000ull

// DSCP 8 q is class q, queue q.
static struct sw_config *straight(uint32_t ports)
{
	struct sw_config *c = setup_kvm(ports);

	setup_map(c, CONFIG_MAP_DSCP_TO_TC, "straight",
		  "0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7");
	for (uint32_t i = 0; i < ports; i++)
		setup_name(c->port[i].dscp_to_tc_map, "straight");
	return c;
}

// --- PFC and QoS in software ------------------------------------------------------------------

// What a watchdog's suite needs of its ports: a storm without gaps pauses the queue for all of its
// time, the pause goes up to the sender, nothing is lost, and all ends with the storm.
Test(issues, sonic_buildimage_25784)
{
	enum { STORM = 10 * 1000 }; // us
	struct host_config hosts[2];
	struct prio_stats prio;
	struct star star;

	star_hosts(hosts, 2);
	host_add_flow(&hosts[SRC], DST, 3, STAR_LEN)->stop = (ns_t){ 20 * STAR_MS };
	// Quanta of 1000 are 51.2 us; a frame each 20 us leaves no gap.
	hosts[DST].storm = (struct host_storm_config){
		.enable = 1 << 3, .quanta = 1000, .gap_ns = 20000, .stop = { STORM * 1000 }
	};
	star = star_new(star_config(2), hosts);
	net_run(star.net, STORM * 1000);
	prio = rig_prio(star.rig, DST, 3);
	cr_assert_geq(prio.pfc_rx_pkts, STORM / 20 - 1);
	cr_assert_eq(prio.rx_pause_transitions, 1);
	cr_assert_eq(prio.on2off_rx_pkts, 0);
	cr_assert_geq(prio.rx_pause_duration_us, STORM - 21); // as of its last event
	cr_assert_leq(star_prio(&star, DST, 3).rx_packets, 1);
	cr_assert_gt(rig_prio(star.rig, SRC, 3).pfc_tx_pkts, 1);
	cr_assert_gt(rig_prio(star.rig, SRC, 3).tx_pause_duration_us, STORM - 1000);
	cr_assert_gt(star_prio(&star, SRC, 3).paused_ns, (STORM - 1000) * 1000ull);

	net_run(star.net, 100 * STAR_MS);
	cr_assert_eq(rig_prio(star.rig, DST, 3).on2off_rx_pkts, 1);
	cr_assert_eq(rig_pg(star.rig, SRC, 3).xoff_state, 0);
	cr_assert_eq(star_prio(&star, DST, 3).rx_packets, star_sent(&star, 3));
	cr_assert_eq(rig_all_drops(star.rig), 0);
	net_end(star.net);
}

// Maps, shared buffer, PFC, DWRR, strict priority and ECN in one run: two senders of 30 Gb/s in all
// for a line of ten.
Test(issues, sonic_buildimage_25791)
{
	struct sw_config *c = star_config(4);
	struct host_config hosts[4];
	uint64_t bytes[QUEUE_COUNT];
	struct star star;

	setup_scheduler(c, "one", CONFIG_SCHEDULER_DWRR, 10);
	setup_scheduler(c, "two", CONFIG_SCHEDULER_DWRR, 20);
	setup_scheduler(c, "first", CONFIG_SCHEDULER_STRICT, 1)->pir = GIGA;
	setup_wred(c, "ecn", 50000, 100000, 1000000);
	setup_queue(c, "all", 1 << 3, "two", "ecn");
	setup_queue(c, "all", 1 << 0, "one", "");
	setup_queue(c, "all", 1 << 5, "first", "");
	star_hosts(hosts, 4);
	for (uint32_t i = 0; i < 3; i++) {
		host_add_flow(&hosts[i], 3, 3, STAR_LEN);
		host_add_flow(&hosts[i], 3, 0, STAR_LEN)->dscp = 8;
	}
	host_add_flow(&hosts[0], 3, 5, STAR_LEN)->dscp = 46;
	star = star_new(c, hosts);
	net_run(star.net, 2 * STAR_MS);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		bytes[i] = rig_queue(star.rig, 3, i).bytes;
	net_run(star.net, 12 * STAR_MS);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		bytes[i] = rig_queue(star.rig, 3, i).bytes - bytes[i];
	// Strict to its rate of 1 Gb/s of wire, 1000 frames of 1250 bytes; the others 2 : 1.
	cr_assert_geq(bytes[5], 990ull * STAR_LEN);
	cr_assert_leq(bytes[5], 1010ull * STAR_LEN);
	cr_assert_geq(bytes[3] * 100, 2 * bytes[0] * 95);
	cr_assert_leq(bytes[3] * 100, 2 * bytes[0] * 105);
	cr_assert_geq(bytes[0] + bytes[3] + bytes[5], 9990ull * STAR_LEN);
	star_finish(&star, 12 * STAR_MS);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_gt(rig_pg(star.rig, i, 3).xoff_events, 0);
	cr_assert_eq(star_prio(&star, 3, 3).rx_packets, star_sent(&star, 3));
	cr_assert_gt(star_prio(&star, 3, 3).rx_ce, 1000);
	cr_assert_eq(star_prio(&star, 3, 0).rx_ce, 0);
	cr_assert_gt(rig_drops(star.rig, 3, DROP_QUEUE_FULL), 0);
	cr_assert_eq(rig_all_drops(star.rig), rig_drops(star.rig, 3, DROP_QUEUE_FULL));
	net_end(star.net);
}

// --- one queue, one index ---------------------------------------------------------------------

// Queue q alone gets a rate: it is the one that keeps its frames, and the one whose numbers say so.
static void check_index(uint32_t q)
{
	struct sw_config *c = straight(2);
	uint64_t sent = 0;
	struct rig *rig;

	for (uint32_t i = 0; i < 2; i++)
		c->port[i].pfc_asymmetric = true;
	setup_scheduler(c, "slow", CONFIG_SCHEDULER_DWRR, 1)->pir = 1000000;
	setup_scheduler(c, "open", CONFIG_SCHEDULER_DWRR, 1);
	setup_queue(c, "all", (uint8_t)(1u << q), "slow", "");
	setup_queue(c, "all", (uint8_t) ~(1u << q), "open", "");
	rig = rig_new(c);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		struct frame f = rig_frame(SRC, DST, (uint8_t)(8 * i), LEN);

		rig_send_many(rig, SRC, &f, 50);
	}
	sent = rig_release(rig, DST, UINT64_MAX);
	// The burst of a shaper is 16 KiB of wire: frame k waits for k frames before it.
	cr_assert_eq(sent, 7 * 50 + 16384 / frame_wire_bytes(LEN) + 1, "queue %u", q);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		cr_assert_eq(rig_queue(rig, DST, i).packets, i == q ? sent - 7 * 50 : 50,
			     "%u of %u", i, q);
		cr_assert_eq(rig_queue(rig, DST, i).curr_occupancy_packets,
			     i == q ? 8 * 50 - sent : 0, "%u of %u", i, q);
		cr_assert_eq(rig_queue(rig, DST, i).watermark_bytes, 50 * LEN);
	}
	// The pause of priority q holds queue q.
	rig_send_pfc(rig, DST, (uint8_t)(1u << q), 65535);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		cr_assert_eq(rig_queue(rig, DST, i).pause_status, i == q, "%u of %u", i, q);
	rig_end(rig);
}

Test(issues, behavioral_model_1264)
{
	for (uint32_t q = 0; q < QUEUE_COUNT; q++)
		check_index(q);
}

// Four queues of one port with rates and limits of their own; the port itself has neither.
Test(issues, behavioral_model_907)
{
	static const struct {
		uint32_t queue;
		uint64_t bps;    // 0: none
		uint64_t frames; // that it may hold
	} row[] = { { 0, GIGA, 20 }, { 1, 2 * GIGA, 40 }, { 2, 4 * GIGA, 80 }, { 5, 0, 10 } };
	struct sw_config *c = straight(2);
	struct rig *rig;

	setup_unbind_queues(c);
	setup_buffer_queue(c, "all", 0x18, KVM_QUEUE_LOSSLESS);
	setup_buffer_queue(c, "all", 0xc0, KVM_QUEUE_LOSSY);
	for (uint32_t i = 0; i < 4; i++) {
		char name[CONFIG_NAME_BYTES] = { 'q', (char)('0' + i) };

		setup_scheduler(c, name, CONFIG_SCHEDULER_DWRR, 1)->pir = row[i].bps;
		setup_queue(c, "all", (uint8_t)(1u << row[i].queue), name, "");
		setup_profile(c, name, KVM_LOSSY_POOL)->static_th = row[i].frames * LEN;
		setup_buffer_queue(c, "all", (uint8_t)(1u << row[i].queue), name);
	}
	rig = rig_new(c);
	for (uint32_t i = 0; i < 4; i++) {
		struct frame f = rig_frame(SRC, DST, (uint8_t)(8 * row[i].queue), LEN);

		rig_send_many(rig, SRC, &f, 100);
		cr_assert_eq(rig_queue(rig, DST, row[i].queue).curr_occupancy_packets,
			     row[i].frames);
		cr_assert_eq(rig_queue(rig, DST, row[i].queue).dropped_packets,
			     100 - row[i].frames);
	}
	// Let bursts go, then top the queues up for 100 us.
	for (uint32_t t = 0; t < 200000; t += 100) {
		for (uint32_t i = 0; i < 4; i++) {
			struct frame f = rig_frame(SRC, DST, (uint8_t)(8 * row[i].queue), LEN);
			uint64_t left = rig_queue(rig, DST, row[i].queue).curr_occupancy_packets;

			rig_send_many(rig, SRC, &f, row[i].frames - left);
		}
		rig_release(rig, DST, UINT64_MAX);
		rig_advance(rig, 100);
	}
	for (uint32_t i = 0; i < 3; i++) {
		// Burst of 16 KiB, then the rate for 200 us, both in bytes of wire.
		uint64_t wire = 16384 + row[i].bps / 8 * 200 / 1000000;
		uint64_t want = wire / frame_wire_bytes(LEN);

		cr_assert_geq(rig_queue(rig, DST, row[i].queue).packets, want, "%u", i);
		cr_assert_leq(rig_queue(rig, DST, row[i].queue).packets, want + 1, "%u", i);
	}
	cr_assert_eq(rig_queue(rig, DST, 5).packets, 2000 * 10);
	rig_end(rig);
}

// --- queues form, and form here ---------------------------------------------------------------

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t arrivals; // frames per microsecond
} rate_rows[] = {
	{ "half the offered load", 10 * GIGA, 2 },
	{ "a fifth", 4 * GIGA, 2 },
	{ "as much as offered", 10 * GIGA, 1 },
	{ "no rate: no queue", 0, 2 },
};

// Frames of 1250 bytes of wire arrive each microsecond: what is in the queue is what came less what
// the rate let go, at every moment.
TABLE_TEST(issues, behavioral_model_493, row, rate_rows)
{
	struct sw_config *c = setup_kvm(2);
	struct frame f = rig_frame(SRC, DST, 3, STAR_LEN);
	struct rig *rig;

	c->port[DST].speed = row->bps;
	rig = rig_new(c);
	for (uint64_t t = 0; t < 500; t++) {
		// Frame k starts at k times its wire time.
		uint64_t gone = row->bps == 0 ? UINT64_MAX : t * row->bps / (10 * GIGA) + 1;
		uint64_t came = (t + 1) * row->arrivals;

		rig_send_many(rig, SRC, &f, row->arrivals);
		rig_release(rig, DST, UINT64_MAX);
		cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets, u64_minus(came, gone),
			     "%s at %lu us", row->what, t);
		cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_bytes,
			     u64_minus(came, gone) * STAR_LEN);
		rig_advance(rig, 1000);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A shell that asks for 64 packets gets one per frame time: what waits, waits in the queue, where a
// late frame of a strict queue passes it.
Test(issues, tutorials_343)
{
	struct sw_config *c = setup_kvm(2);
	struct frame low = rig_frame(SRC, DST, 3, STAR_LEN);
	struct frame high = rig_frame(SRC, DST, 4, STAR_LEN);
	struct pkt *burst[SW_BURST_MAX];
	struct rig *rig;

	setup_scheduler(c, "first", CONFIG_SCHEDULER_STRICT, 1);
	setup_queue(c, "all", 1 << 4, "first", "");
	c->port[DST].speed = STAR_BPS;
	rig = rig_new(c);
	rig_send_many(rig, SRC, &low, 100);
	for (uint32_t n = 0; n < 150; n++) {
		if (n % 3 == 1)
			rig_send_many(rig, SRC, &high, 1);
		cr_assert_eq(sw_tx(rig->sw, (port_t){ DST }, burst, SW_BURST_MAX, rig->now), 1);
		cr_assert_eq(burst[0]->queue.v, n % 3 == 1 ? 4 : 3, "frame %u", n);
		rig_free(rig, burst[0]);
		rig_drain(rig);
		// Everything that came and did not leave is in a queue that is shown.
		cr_assert_eq(rig_queue(rig, DST, 3).curr_occupancy_packets,
			     low.seq - rig_queue(rig, DST, 3).packets);
		cr_assert_eq(rig_queue(rig, DST, 4).curr_occupancy_packets, 0);
		rig_advance(rig, 1000); // one frame at 10G
	}
	cr_assert_eq(rig_queue(rig, DST, 4).delay_watermark_ns, 0);
	cr_assert_geq(rig_queue(rig, DST, 3).delay_watermark_ns, 149000);
	rig_end(rig);
}

// --- shares under congestion ------------------------------------------------------------------

static const struct {
	const char *what;
	enum config_scheduler_type type;
	uint64_t least, most; // frames of the favoured host, of 10000
} strict_rows[] = {
	{ "strict: all of the line", CONFIG_SCHEDULER_STRICT, 9990, 10000 },
	{ "weighted alike: half of it", CONFIG_SCHEDULER_DWRR, 4900, 5100 },
};

// Two hosts, each able to fill the line, one of them in the higher queue.
TABLE_TEST(issues, p4_learning_16, row, strict_rows)
{
	struct sw_config *c = star_config(3);
	struct host_config hosts[3];
	struct star star;
	uint64_t high, low;

	setup_scheduler(c, "high", row->type, 1);
	setup_queue(c, "all", 1 << 5, "high", "");
	star_hosts(hosts, 3);
	host_add_flow(&hosts[0], 2, 5, STAR_LEN)->dscp = 46;
	host_add_flow(&hosts[1], 2, 0, STAR_LEN)->dscp = 8;
	star = star_new(c, hosts);
	net_run(star.net, 2 * STAR_MS);
	high = star_prio(&star, 2, 5).rx_packets;
	low = star_prio(&star, 2, 0).rx_packets;
	net_run(star.net, 12 * STAR_MS);
	high = star_prio(&star, 2, 5).rx_packets - high;
	low = star_prio(&star, 2, 0).rx_packets - low;
	cr_assert_geq(high, row->least, "%s: %lu", row->what, high);
	cr_assert_leq(high, row->most, "%s: %lu", row->what, high);
	cr_assert_geq(high + low, 9999, "%s", row->what);
	cr_assert_leq(high + low, 10001, "%s", row->what);
	cr_assert_gt(rig_queue(star.rig, 2, 0).dropped_packets, 0, "%s", row->what);
	star_finish(&star, 12 * STAR_MS);
	net_end(star.net);
}

static const struct {
	const char *what;
	uint64_t weight[3];
	uint32_t len[3][3];
} share_rows[] = {
	{ "alike, sizes far apart",
	  { 1, 1, 1 },
	  { { 64, 64, 64 }, { 9000, 9000, 9000 }, { 64, 9000, 700 } } },
	{ "1 2 4, mixed",
	  { 1, 2, 4 },
	  { { 1500, 64, 300 }, { 9000, 128, 1000 }, { 64, 256, 512 } } },
	{ "4 2 1, mixed",
	  { 4, 2, 1 },
	  { { 64, 128, 256 }, { 1500, 300, 64 }, { 9000, 4000, 1000 } } },
	{ "10 30 60",
	  { 10, 30, 60 },
	  { { 9000, 64, 1500 }, { 128, 128, 1500 }, { 1078, 64, 4096 } } },
};

// Three hosts, one per queue and each able to fill the line with frames of three sizes.
TABLE_TEST(issues, bess_717, row, share_rows)
{
	static const uint8_t dscp[3] = { 8, 0, 5 }; // queues 0, 1, 2
	const uint64_t weights = row->weight[0] + row->weight[1] + row->weight[2];
	struct sw_config *c = star_config(4);
	struct host_config hosts[4];
	uint64_t bytes[3];
	uint64_t total = 0;
	struct star star;

	setup_find_pool(c, KVM_LOSSY_POOL)->size = 4000000;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = KVM_POOL_BYTES;
	star_hosts(hosts, 4);
	for (uint32_t i = 0; i < 3; i++) {
		char name[CONFIG_NAME_BYTES] = { 'w', (char)('0' + i) };

		setup_scheduler(c, name, CONFIG_SCHEDULER_DWRR, row->weight[i]);
		setup_queue(c, "all", (uint8_t)(1u << i), name, "");
		for (uint32_t k = 0; k < 3; k++)
			host_add_flow(&hosts[i], 3, 0, row->len[i][k])->dscp = dscp[i];
	}
	star = star_new(c, hosts);
	net_run(star.net, 3 * STAR_MS);
	for (uint32_t i = 0; i < 3; i++)
		bytes[i] = rig_queue(star.rig, 3, i).bytes;
	net_run(star.net, 13 * STAR_MS);
	for (uint32_t i = 0; i < 3; i++) {
		bytes[i] = rig_queue(star.rig, 3, i).bytes - bytes[i];
		total += bytes[i];
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t ideal = total * row->weight[i] / weights;

		cr_assert_geq(bytes[i] * 100, ideal * 95, "%s: queue %u %lu of %lu", row->what, i,
			      bytes[i], ideal);
		cr_assert_leq(bytes[i] * 100, ideal * 105, "%s: queue %u %lu of %lu", row->what, i,
			      bytes[i], ideal);
		cr_assert_gt(rig_queue(star.rig, 3, i).dropped_packets, 0, "%s", row->what);
	}
	star_finish(&star, 13 * STAR_MS);
	net_end(star.net);
}
