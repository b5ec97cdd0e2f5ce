// SPDX-License-Identifier: BSD-3-Clause
//
// What a pause does not recall: peers that respond late, long cables and large frames against the
// headroom that should cover them. The loss equals the overrun exactly, and the field's headroom
// formula is enough for what it assumes.
//
// Arithmetic of a run: the sender is gapless, a frame takes W ns of wire, the cable D ns. Frame k
// (from 0) starts at k W and arrives at (k + 1) W + D. The frame that does not fit under the limit,
// frame n, raises XOFF; the PFC frame takes 67.2 ns of wire (84 bytes at 10G) and D ns, and works R
// ns later, at (n + 1) W + 2 D + 67 + R. Every frame that started before is still delivered.

#include "tests/rig/net.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	LEN = 1226, // 1250 bytes of wire
	WIRE_NS = 1000,
	PFC_NS = 67,
};

#define MS 1000000ull
#define LINE_BPS 10000000000u

struct run {
	struct net *net;
	uint32_t sw, sender, sink;
};

// Host 0 sends `frames` at line rate to host 1, which storms until `stop`, so nothing leaves the
// switch before.
static struct run run_new(struct sw_config *c, struct host_config *sender, uint64_t stop_ns,
			  uint64_t bps, uint64_t delay_ns)
{
	struct run run = { .net = net_new() };
	struct host_config sink;

	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].speed = bps;
	host_config_init(&sink, 1);
	sink.bps = bps;
	sink.storm = (struct host_storm_config){
		.enable = 1 << 3, .quanta = 65535, .gap_ns = 50000, .stop = { stop_ns }
	};
	sender->bps = bps;
	run.sw = net_add_switch(run.net, rig_new(c));
	run.sender = net_add_host(run.net, sender);
	run.sink = net_add_host(run.net, &sink);
	net_join(run.net, run.sender, 0, run.sw, 0, bps, delay_ns);
	net_join(run.net, run.sink, 0, run.sw, 1, bps, delay_ns);
	return run;
}

static struct sw_config *unreserved(uint64_t xoff)
{
	struct sw_config *c = setup_kvm(2);

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = xoff;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = xoff;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 900000; // limit: 900000 / 9 = 100000
	for (uint32_t i = 0; i < 2; i++)
		c->port[i].mtu = LEN - 14; // headroom holds at least one largest frame
	return c;
}

static const struct {
	const char *what;
	uint64_t response_ns;
	uint64_t delay_ns;
	uint64_t xoff_frames; // headroom configured, in frames of LEN
} response_rows[] = {
	{ "at once, short cable", 0, 25, 4 },
	{ "at once, headroom to the frame", 0, 500, 3 },
	{ "at once, one frame short", 0, 500, 2 },
	{ "10 us, inside", 10000, 500, 13 },
	{ "10 us, one frame short", 10000, 500, 12 },
	{ "100 us, far outside", 100000, 500, 40 },
	{ "300 m of cable, inside", 0, 1515, 5 },
	{ "300 m of cable, one frame short", 0, 1515, 4 },
	{ "slow peer at the end of 40 km", 5000, 202000, 411 },
	{ "the same, a frame short", 5000, 202000, 410 },
};

TABLE_TEST(scenario, peer_response, row, response_rows)
{
	struct host_config sender;
	struct run run;
	struct rig *rig;
	// Frames under the limit, then those that started before the pause worked.
	const uint64_t limit = 100000 / LEN;
	const uint64_t works = (limit + 1) * WIRE_NS + 2 * row->delay_ns + PFC_NS +
			       row->response_ns;
	const uint64_t over = (works + WIRE_NS - 1) / WIRE_NS - limit;
	const uint64_t lost = u64_minus(over, row->xoff_frames);

	host_config_init(&sender, 0);
	sender.response_ns = row->response_ns;
	host_add_flow(&sender, 1, 3, LEN)->frames = 2000;
	run = run_new(unreserved(row->xoff_frames * LEN), &sender, 4 * MS, LINE_BPS, row->delay_ns);
	rig = net_rig(run.net, run.sw);
	net_watch(run.net);
	net_run(run.net, 3 * MS);

	cr_assert_eq(net_host_stats(run.net, run.sender).prio[3].tx_packets, limit + over, "%s",
		     row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_room_watermark_bytes,
		     u64_min(over, row->xoff_frames) * LEN, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).dropped_packets, lost, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), lost, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_events, 1);

	// The storm ends, the rest follows. Whether XOFF comes again is not the matter of this row.
	if (lost == 0) {
		cr_assert(net_run_dry(run.net, 100 * MS));
		cr_assert_eq(net_host_stats(run.net, run.sink).prio[3].rx_packets, 2000);
		cr_assert_eq(net_host_stats(run.net, run.sink).prio[3].rx_lost, 0);
	}
	net_end(run.net);
}

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t cable_m;
	uint32_t len;
} formula_rows[] = {
	{ "10G 5m, 1 KB", 10000000000, 5, 1082 },
	{ "10G 300m, 1 KB", 10000000000, 300, 1082 },
	{ "25G 40m, full frames", 25000000000, 40, 1024 },
	{ "40G 300m", 40000000000, 300, 1024 },
	{ "100G 5m", 100000000000, 5, 1024 },
	{ "100G 300m", 100000000000, 300, 1024 },
	{ "400G 40m", 400000000000, 40, 1024 },
	{ "100G 5m, small frames", 100000000000, 5, 128 },
};

// Quanta that the formula grants the peer, IEEE 802.1Q's response times.
static uint64_t response_quanta(uint64_t bps)
{
	switch (bps / 1000000000) {
	case 10: return 67;
	case 25: return 80;
	case 40: return 118;
	case 100: return 394;
	case 400: return 905;
	}
	return 0;
}

// Headroom by the formula (VS ASIC, 50 % small packets) is enough while a jumbo frame of another
// class delays the PFC frame, the peer takes its full response time, and the cable is as long as it
// says (198 m per microsecond).
TABLE_TEST(scenario, headroom_formula, row, formula_rows)
{
	const struct headroom_link link = {
		.bps = row->bps,
		.cable_m = row->cable_m,
		.port_mtu = 9100,
		.lossless_mtu = 1024,
		.small_percent = 50,
	};
	const struct headroom room = headroom_wire(&headroom_asic_virtual, &link);
	struct sw_config *c = setup_kvm(2);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct host_config sender;
	struct host_config *sink;
	struct run run;
	struct rig *rig;

	profile->size = room.size;
	profile->xon = room.xon;
	profile->xoff = room.xoff;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 4000000;
	host_config_init(&sender, 0);
	sender.response_ns = response_quanta(row->bps) * 512 * 1000000000 / row->bps;
	host_add_flow(&sender, 1, 3, row->len);
	run = run_new(c, &sender, 2 * MS, row->bps, row->cable_m * 1000u / 198 + 1);
	rig = net_rig(run.net, run.sw);
	sink = net_host_config(run.net, run.sink);
	host_add_flow(sink, 0, 0, 9114); // jumbo frames towards the sender, in front of its PFC
	net_run(run.net, 4 * MS);
	cr_assert_gt(rig_pg(rig, 0, 3).xoff_events, 0, "%s", row->what);
	cr_assert_gt(rig_pg(rig, 0, 3).xoff_room_watermark_bytes, 0, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), 0, "%s: %lu of %lu", row->what,
		     rig_pg(rig, 0, 3).xoff_room_watermark_bytes, room.xoff);
	cr_assert_eq(net_host_stats(run.net, run.sink).prio[3].rx_lost, 0);
	net_end(run.net);
}

// Refresh over 50 ms of storm: the sender stays silent throughout, its pauses never run out.
Test(scenario, long_pause_holds)
{
	struct host_config sender;
	struct run run;
	uint64_t sent;

	host_config_init(&sender, 0);
	host_add_flow(&sender, 1, 3, LEN);
	run = run_new(unreserved(20 * LEN), &sender, 60 * MS, LINE_BPS, 250);
	net_run(run.net, 1 * MS);
	sent = net_host_stats(run.net, run.sender).prio[3].tx_packets;
	net_run(run.net, 50 * MS);
	cr_assert_eq(net_host_stats(run.net, run.sender).prio[3].tx_packets, sent);
	// XOFF with frame 82 (100000 / 1226 fit), at 82 us and the cable; then every half pause
	// time.
	cr_assert_eq(rig_prio(net_rig(run.net, run.sw), 0, 3).pfc_tx_pkts,
		     1 + (50 * MS - 82250) / 1677696);
	cr_assert_eq(rig_all_drops(net_rig(run.net, run.sw)), 0);
	// The storm's last pause of 3.4 ms runs out after 63.4 ms; then a frame each microsecond.
	net_run(run.net, 70 * MS);
	cr_assert_gt(net_host_stats(run.net, run.sender).prio[3].tx_packets, sent + 6500);
	cr_assert_eq(net_host_stats(run.net, run.sink).prio[3].rx_lost, 0);
	net_end(run.net);
}

static const struct {
	const char *what;
	uint8_t enable;
	uint64_t gap_ns;
	bool flows[3]; // delivered: priorities 3, 4, 0
} storm_rows[] = {
	{ "priority 3 alone (pause_lossless)", 1 << 3, 100000, { false, true, true } },
	{ "priority 3, gapless", 1 << 3, 0, { false, true, true } },
	{ "all lossless priorities at once, gapless", 0x18, 0, { false, false, true } },
	{ "all eight, gapless: lossy flows are not touched", 0xff, 0, { false, false, true } },
	{ "lossy priority (pause_lossy)", 1 << 0 | 1 << 1, 0, { true, true, true } },
};

// A paused flow delivers nothing while the others have the line to themselves.
TABLE_TEST(scenario, pause_storm, row, storm_rows)
{
	static const uint8_t prio[3] = { 3, 4, 0 };
	struct host_config sender;
	struct run run;
	struct host_config *sink;
	struct host_stats got;
	uint32_t open = 0;

	host_config_init(&sender, 0);
	for (uint32_t i = 0; i < 3; i++) {
		host_add_flow(&sender, 1, prio[i], LEN);
		open += row->flows[i];
	}
	run = run_new(unreserved(20 * LEN), &sender, 0, LINE_BPS, 250);
	sink = net_host_config(run.net, run.sink);
	sink->storm.enable = row->enable;
	sink->storm.gap_ns = row->gap_ns;
	net_run(run.net, 10 * MS);
	got = net_host_stats(run.net, run.sink);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t share = 10000 / open;

		if (!row->flows[i])
			cr_assert_eq(got.prio[prio[i]].rx_packets, 0, "%s", row->what);
		else
			cr_assert_geq(got.prio[prio[i]].rx_packets * 100, share * 80, "%s: %lu",
				      row->what, got.prio[prio[i]].rx_packets);
		cr_assert_eq(got.prio[prio[i]].rx_lost, 0);
		cr_assert_eq(rig_prio(net_rig(run.net, run.sw), 1, prio[i]).pfc_rx_pkts > 0,
			     row->enable >> prio[i] & 1);
	}
	cr_assert_eq(rig_all_drops(net_rig(run.net, run.sw)), 0, "%s", row->what);
	net_end(run.net);
}
