// SPDX-License-Identifier: BSD-3-Clause
//
// Switches with bad links on purpose. A neighbour that is slow to obey PFC fills headroom and
// nothing else, up to exactly what headroom holds; what comes beyond is dropped at the priority
// group, as many frames as the delay is too long. Lost frames end at the impairment and nowhere
// else, and a host that waits for them long enough sees all others.
//
// Arithmetic as in headroom.c, with a switch in the place of the host: it forwards gaplessly, frame
// n raises XOFF, and what it starts before the pause works is delivered.

#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	LEN = 1226, // 1250 bytes of wire: a microsecond at 10G
	WIRE_NS = 1000,
	PFC_NS = 67,
	FRAMES = 2000,
};

#define MS 1000000ull
#define LINE_BPS 10000000000u

struct chain {
	struct net *net;
	uint32_t sender, slow, sw, sink;
};

// Sender, a switch whose port 1 is impaired, a switch with `xoff` bytes of headroom, and a sink
// that storms until `stop_ns`.
static struct chain chain_new(struct sw_config *slow, uint64_t xoff, uint64_t delay_ns,
			      uint64_t stop_ns)
{
	struct chain chain = { .net = net_new() };
	struct sw_config *c = setup_kvm(2);
	struct host_config sender, sink;

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = xoff;
	setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = xoff;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 900000; // limit: 900000 / 9 = 100000
	for (uint32_t i = 0; i < 2; i++) {
		c->port[i].mtu = LEN - 14;
		c->port[i].speed = LINE_BPS;
		slow->port[i].speed = LINE_BPS;
	}
	host_config_init(&sender, 0);
	host_config_init(&sink, 1);
	sender.bps = LINE_BPS;
	sink.bps = LINE_BPS;
	host_add_flow(&sender, 1, 3, LEN)->frames = FRAMES;
	sink.storm = (struct host_storm_config){
		.enable = 1 << 3, .quanta = 65535, .gap_ns = 50000, .stop = { stop_ns }
	};
	chain.slow = net_add_switch(chain.net, rig_new(slow));
	chain.sw = net_add_switch(chain.net, rig_new(c));
	chain.sender = net_add_host(chain.net, &sender);
	chain.sink = net_add_host(chain.net, &sink);
	net_join(chain.net, chain.sender, 0, chain.slow, 0, LINE_BPS, 25);
	net_join(chain.net, chain.slow, 1, chain.sw, 0, LINE_BPS, delay_ns);
	net_join(chain.net, chain.sw, 1, chain.sink, 0, LINE_BPS, 25);
	net_watch(chain.net);
	return chain;
}

static const struct {
	const char *what;
	uint64_t pfc_delay_ns;
	uint64_t delay_ns;
	uint64_t xoff_frames; // headroom configured, in frames of LEN
} response_rows[] = {
	{ "obeys at once", 0, 25, 4 },
	{ "10 us late, inside", 10000, 500, 13 },
	{ "10 us late, a frame short", 10000, 500, 12 },
	{ "30 us late, inside", 30000, 250, 32 },
	{ "30 us late, half the headroom", 30000, 250, 16 },
	{ "100 us late, far outside", 100000, 500, 40 },
};

TABLE_TEST(scenario, slow_neighbour, row, response_rows)
{
	struct sw_config *slow = setup_kvm(2);
	const uint64_t limit = 100000 / LEN;
	const uint64_t works = (limit + 1) * WIRE_NS + 2 * row->delay_ns + PFC_NS +
			       row->pfc_delay_ns;
	const uint64_t over = (works + WIRE_NS - 1) / WIRE_NS - limit;
	const uint64_t lost = u64_minus(over, row->xoff_frames);
	struct chain chain;
	struct rig *rig;

	setup_impairment(slow, "Ethernet4")->pfc_delay = row->pfc_delay_ns;
	chain = chain_new(slow, row->xoff_frames * LEN, row->delay_ns, 4 * MS);
	rig = net_rig(chain.net, chain.sw);
	net_run(chain.net, 3 * MS);

	cr_assert_eq(rig_pg(rig, 0, 3).packets, limit + over - lost, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_room_watermark_bytes,
		     u64_min(over, row->xoff_frames) * LEN, "%s: %lu", row->what,
		     rig_pg(rig, 0, 3).xoff_room_watermark_bytes / LEN);
	cr_assert_eq(rig_pg(rig, 0, 3).dropped_packets, lost, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), lost, "%s", row->what);
	cr_assert_eq(rig_all_drops(net_rig(chain.net, chain.slow)), 0, "%s", row->what);
	cr_assert_gt(rig_prio(net_rig(chain.net, chain.slow), 1, 3).pfc_rx_pkts, 0);
	if (lost == 0) {
		cr_assert(net_run_dry(chain.net, 100 * MS));
		cr_assert_eq(net_host_stats(chain.net, chain.sink).prio[3].rx_packets, FRAMES);
	}
	net_end(chain.net);
}

static const struct {
	const char *what;
	uint64_t loss_ppm, delay_ns, jitter_ns, rate;
	uint64_t limit;
	bool overruns;
} line_rows[] = {
	{ "loss", 100000, 0, 0, 0, 4096, false },
	{ "delay and jitter", 0, 100000, 50000, 0, 4096, false },
	{ "all of it, slower than the sender", 20000, 20000, 5000, 5000000000, 4096, false },
	{ "more than the line holds", 0, 2000000, 0, 0, 100, true },
};

// Whatever the link does: what was sent arrived, or was lost at the impairment and counted there.
TABLE_TEST(scenario, impaired_link, row, line_rows)
{
	struct sw_config *slow = setup_kvm(2);
	struct impairment_config *impairment = setup_impairment(slow, "Ethernet0");
	struct impair_stats line;
	struct chain chain;
	uint64_t arrived;

	impairment->loss = row->loss_ppm;
	impairment->delay = row->delay_ns;
	impairment->jitter = row->jitter_ns;
	impairment->rate = row->rate;
	impairment->limit = row->limit;
	// The sink pauses once, for 3.4 ms; what is on the line then needs headroom.
	setup_find_profile(slow, KVM_PG_LOSSLESS)->size = 400 * LEN;
	setup_find_profile(slow, KVM_PG_LOSSLESS)->xoff = 400 * LEN;
	chain = chain_new(slow, 300 * LEN, 25, 1);
	cr_assert(net_run_dry(chain.net, 100 * MS), "%s", row->what);
	line = net_impair_stats(chain.net, chain.slow, 0);
	arrived = net_host_stats(chain.net, chain.sink).prio[3].rx_packets;
	cr_assert_eq(line.taken, FRAMES, "%s: %lu", row->what, line.taken);
	cr_assert_eq(arrived + line.lost + line.overrun, FRAMES, "%s", row->what);
	cr_assert_eq(line.lost > 0, row->loss_ppm > 0, "%s", row->what);
	cr_assert_eq(line.overrun > 0, row->overruns, "%s", row->what);
	cr_assert_gt(arrived, 0);
	if (!row->overruns)
		cr_assert_gt(rig_pg(net_rig(chain.net, chain.slow), 0, 3).xoff_room_watermark_bytes,
			     0, "%s", row->what);
	cr_assert_eq(rig_all_drops(net_rig(chain.net, chain.slow)), 0, "%s", row->what);
	cr_assert_eq(rig_all_drops(net_rig(chain.net, chain.sw)), 0, "%s", row->what);
	net_end(chain.net);
}
