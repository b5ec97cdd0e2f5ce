// SPDX-License-Identifier: BSD-3-Clause
//
// Everything at once: random traffic to known and unknown addresses, bursts, storms, link flaps,
// other profiles, ageing, garbage. No prediction here, only what must always hold: conservation
// after every step, counters that add up, and a switch that is empty and open in the end.

#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"
#include <stdio.h>
#include <stdlib.h>

enum {
	STEPS = 2500,
	PROFILES = 3,
};

struct bench {
	struct rig *rig;
	struct rng *rng;
	uint32_t ports;
	struct sw_config *config[PROFILES];
	uint64_t told[CONFIG_PORT_MAX]; // PFC frames of earlier lives of a port's link
};

static struct frame random_frame(struct bench *b, uint32_t port)
{
	static const enum frame_kind kinds[] = { FRAME_ROCE,        FRAME_ROCE,   FRAME_ROCE,
						 FRAME_UDP,         FRAME_TCP,    FRAME_PLAIN,
						 FRAME_ARP_REQUEST, FRAME_ROCE_V1 };
	struct frame f = rig_frame(port, rng_below(b->rng, 12), 0, 0);

	f.dscp = (uint8_t)rng_below(b->rng, 64);
	f.kind = kinds[rng_below(b->rng, 8)];
	f.len = 60 + rng_below(b->rng, random_one_in(b->rng, 8) ? 9100 : 1500);
	f.ipv6 = random_one_in(b->rng, 3);
	f.dscp = random_one_in(b->rng, 2) ? (uint8_t)(3 + rng_below(b->rng, 2)) : f.dscp;
	f.ecn = (uint8_t)rng_below(b->rng, 4);
	f.ethertype = 0x88b5;
	f.opcode = random_one_in(b->rng, 10) ? 0x81 : 0x07;
	if (random_one_in(b->rng, 10))
		f.dst = 0xffffffffffff;
	if (random_one_in(b->rng, 10))
		f.src = frame_host_mac(rng_below(b->rng, 20));
	f.tag_count = (uint8_t)(random_one_in(b->rng, 4) ? 1 + rng_below(b->rng, 2) : 0);
	f.tag[0].tci = (uint16_t)(rng_below(b->rng, 8) << 13);
	f.tag[0].tci |= (uint16_t)rng_below(b->rng, 3);
	return f;
}

static void send_burst(struct bench *b)
{
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t port = rng_below(b->rng, b->ports);
	uint32_t count = 1 + rng_below(b->rng, random_one_in(b->rng, 4) ? SW_BURST_MAX : 4);

	if (!sw_link_up(b->rig->sw, (port_t){ (uint16_t)port }) ||
	    sw_held(b->rig->sw, (port_t){ (uint16_t)port }))
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct frame f = random_frame(b, port);
		uint32_t at = 12 + rng_below(b->rng, 40); // behind the addresses

		pkts[i] = rig_build(b->rig, &f);
		pkts[i]->descriptors = (uint8_t)(1 + rng_below(b->rng, 4));
		// Garbage in some.
		if (random_one_in(b->rng, 20))
			pkts[i]->data[at] = (uint8_t)rng_next32(b->rng);
	}
	rig_rx(b->rig, port, pkts, count);
}

static void change_profile(struct bench *b)
{
	struct sw_config *other = b->config[rng_below(b->rng, PROFILES)];

	memcpy(b->rig->config, other, sizeof(*other));
	cr_assert_eq(rig_reload(b->rig), 0);
}

static void take_burst(struct bench *b, uint32_t port)
{
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t count = sw_tx(b->rig->sw, (port_t){ (uint16_t)port }, pkts,
			       1 + rng_below(b->rng, SW_BURST_MAX), b->rig->now);

	rig_drain(b->rig);
	for (uint32_t i = 0; i < count; i++) {
		if (random_one_in(b->rng, 50))
			sw_tx_refused(b->rig->sw, (port_t){ (uint16_t)port }, pkts[i]);
		rig_free(b->rig, pkts[i]);
	}
}

// A peer forgets what it was told when its link goes down.
static void flap(struct bench *b, uint32_t port, bool up)
{
	if (!up)
		b->told[port] = b->rig->pfc[port].count;
	rig_link(b->rig, port, up);
}

// Pauses of all lengths, short ones as likely as long ones.
static void send_random_pfc(struct bench *b, uint32_t port)
{
	uint8_t enable = (uint8_t)rng_next32(b->rng);
	uint16_t quanta = (uint16_t)rng_next32(b->rng);

	rig_send_pfc(b->rig, port, enable, quanta >> rng_below(b->rng, 16));
}

static void random_step(struct bench *b)
{
	uint32_t port = rng_below(b->rng, b->ports);

	switch (rng_below(b->rng, 32)) {
	case 0: flap(b, port, random_one_in(b->rng, 2)); return;
	case 1: change_profile(b); return;
	case 2: sw_mac_age(b->rig->sw, LCORE_FIRST, 8, b->rig->now); return;
	case 3:
		sw_mac_delete(b->rig->sw, LCORE_FIRST, frame_host_mac(rng_below(b->rng, 12)), 1);
		return;
	case 4: sw_clear_watermarks(b->rig->sw, (enum watermark_kind)rng_below(b->rng, 3)); return;
	case 5: b->rig->answer_solicit = !b->rig->answer_solicit; return;
	case 6: send_random_pfc(b, port); return;
	case 7:
	case 8: rig_advance(b->rig, random_between(b->rng, 0, 1000000)); return;
	case 9:
		sw_mac_set(b->rig->sw, LCORE_FIRST, frame_host_mac(rng_below(b->rng, 12)), 1,
			   (port_t){ (uint16_t)port }, b->rig->now);
		rig_drain(b->rig);
		return;
	case 10:
	case 11:
	case 12:
	case 13:
	case 14:
	case 15: take_burst(b, port); return;
	default: send_burst(b); return;
	}
}

// Drop reasons of each side sum to the SAI totals of the port, and all of them to the switch's.
static void check_counters(const struct bench *b)
{
	uint64_t all = 0;

	for (uint32_t port = 0; port < b->ports; port++) {
		struct port_stats st = rig_port(b->rig, port);
		uint64_t sum[2] = { 0 };

		for (uint32_t r = 1; r < DROP_REASON_COUNT; r++)
			sum[drop_infos[r].side] += rig_drops(b->rig, port, (enum drop_reason)r);
		cr_assert_eq(sum[DROP_SIDE_IN], st.in_dropped_pkts);
		cr_assert_eq(sum[DROP_SIDE_OUT], st.out_dropped_pkts);
		all += sum[0] + sum[1];
	}
	cr_assert_leq(all, rig_all_drops(b->rig)); // solicitations belong to no port
}

// What the peer was told last: every frame lists all priorities in XOFF.
static bool peer_paused(const struct bench *b, uint32_t port, uint32_t prio)
{
	const struct rig_pfc *pfc = &b->rig->pfc[port];

	return pfc->count != b->told[port] &&
	       pfc->log[(pfc->count - 1) % RIG_PFC_LOG].frame.quanta[prio] != 0;
}

// Each peer knows the state of its groups; a port is held exactly while it holds and has one in
// XOFF.
static void check_pauses(const struct bench *b)
{
	for (uint32_t port = 0; port < b->ports; port++) {
		port_t id = { (uint16_t)port };
		bool hold = b->rig->pf->port[port].hold;
		bool up = sw_link_up(b->rig->sw, id);
		bool any = false;

		for (uint32_t prio = 3; prio <= 4; prio++) {
			bool xoff = rig_pg(b->rig, port, prio).xoff_state;

			any |= xoff;
			cr_assert(!up || peer_paused(b, port, prio) == (xoff && !hold),
				  "port %u priority %u", port, prio);
		}
		cr_assert_eq(sw_held(b->rig->sw, id), any && hold);
	}
}

static void drain(struct bench *b)
{
	cr_assert(rig_run_dry(b->rig, 100000));
	cr_assert(rig_is_open(b->rig));
}

// The last two or three ports, alike, as one port; other profiles have them alone.
static void random_lag(struct bench *b, struct sw_config *c)
{
	const uint32_t members = random_one_in(b->rng, 2) ? 2 : 3;
	const uint32_t first = b->ports - members;
	char names[CONFIG_TEXT_BYTES] = "";
	size_t used = 0;

	if (b->ports <= members || !random_one_in(b->rng, 2))
		return;
	for (uint32_t i = first; i < b->ports; i++) {
		const struct port_config own = c->port[i];

		c->port[i] = c->port[first];
		setup_name(c->port[i].name, own.name);
		setup_text(c->port[i].devargs, own.devargs);
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s ", own.name);
	}
	setup_lag(c, "PortChannel1", names)->min_links = 1 + rng_below(b->rng, 2);
}

static void random_profile(struct bench *b, uint32_t index)
{
	struct sw_config *c = random_config(b->rng, b->ports);

	b->config[index] = c;
	c->sw.descriptors = random_one_in(b->rng, 2) ? 32768 : 4194304;
	for (uint32_t p = 0; p < b->ports; p++) {
		if (random_one_in(b->rng, 4))
			c->port[p].pause = CONFIG_PAUSE_HOLD;
		c->port[p].mtu = random_one_in(b->rng, 4) ? 1500 : 9100;
	}
	random_lag(b, c);
}

SEED_TEST(prop, core_chaos, rng, 40)
{
	struct bench b = { .rng = rng };

	b.ports = (uint32_t)random_between(rng, 2, 6);
	for (uint32_t i = 0; i < PROFILES; i++)
		random_profile(&b, i);
	b.rig = rig_new(memcpy(setup_blank(), b.config[0], sizeof(*b.config[0])));
	for (uint32_t step = 0; step < STEPS; step++) {
		random_step(&b);
		cr_assert(sw_conserved(b.rig->sw), "step %u", step);
		rig_advance(b.rig, 0);
		cr_assert(sw_conserved(b.rig->sw), "step %u", step);
		check_counters(&b);
		check_pauses(&b);
	}
	drain(&b);
	rig_end(b.rig);
	for (uint32_t i = 0; i < PROFILES; i++)
		free(b.config[i]);
}
