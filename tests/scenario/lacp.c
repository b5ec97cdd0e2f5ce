// SPDX-License-Identifier: BSD-3-Clause
//
// LACP between switches on the bench: port 0 is a host's, ports 1 to 3 of both are one LAG, joined
// one to one. Links carry LACPDUs at once, unless a test cuts them; data is looked at where it
// leaves. Times are those of IEEE 802.1AX 6.4.4.

#include "tests/rig/rig.h"
#include "tests/table.h"

#include "base/bytes.h"

enum {
	PORTS = 4,
	FIRST = 1,
	MEMBERS = 3,
	STEP_MS = 100,
	LEN = 128,
	FLOWS = 300,
};

struct bench {
	struct rig *rig[3];
	struct {
		uint32_t rig, port;
		bool cut; // LACPDUs do not pass, the carrier stays
	} far[3][PORTS];
};

static struct rig *lag_rig(const char *name, uint32_t lcores, enum config_lacp_rate rate)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct lag_config *lag = setup_lag(c, "PortChannel1", "Ethernet4 Ethernet8 Ethernet12");

	lag->mode = CONFIG_LAG_LACP;
	lag->lacp_rate = rate;
	setup_name(c->sw.name, name);
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].lcore = i % lcores;
	return rig_new(c);
}

static void join(struct bench *b, uint32_t a, uint32_t a_port, uint32_t z, uint32_t z_port)
{
	b->far[a][a_port].rig = z;
	b->far[a][a_port].port = z_port;
	b->far[z][z_port].rig = a;
	b->far[z][z_port].port = a_port;
}

static struct bench two_switches(uint32_t lcores, enum config_lacp_rate rate)
{
	struct bench b = { .rig = { lag_rig("one", lcores, rate), lag_rig("two", lcores, rate) } };

	for (uint32_t i = FIRST; i < PORTS; i++)
		join(&b, 0, i, 1, i);
	return b;
}

static void carry(struct bench *b, uint32_t from, uint32_t port)
{
	static const uint8_t src[6] = { 0x02, 0, 0, 0, 0, 0x77 };
	struct rig *rig = b->rig[from];
	struct rig *far = b->rig[b->far[from][port].rig];
	uint8_t bytes[LACP_FRAME_BYTES];

	if (!rig->lacp_due[port])
		return;
	rig->lacp_due[port] = false;
	sw_lacpdu(rig->sw, (port_t){ (uint16_t)port }, src, bytes);
	if (!b->far[from][port].cut && sw_link_up(rig->sw, (port_t){ (uint16_t)port }))
		rig_send_bytes(far, b->far[from][port].port, bytes, sizeof(bytes));
}

static void step(struct bench *b)
{
	for (uint32_t i = 0; i < 3 && b->rig[i] != NULL; i++)
		rig_advance(b->rig[i], STEP_MS * 1000000ull);
	for (uint32_t i = 0; i < 3 * PORTS; i++) {
		if (b->rig[i / PORTS] != NULL && i % PORTS >= FIRST)
			carry(b, i / PORTS, i % PORTS);
	}
}

// Lets time pass on all switches.
static void run(struct bench *b, uint64_t ms)
{
	for (uint64_t at = 0; at < ms; at += STEP_MS)
		step(b);
}

static void end(struct bench *b)
{
	for (uint32_t i = 0; i < 3 && b->rig[i] != NULL; i++)
		rig_end(b->rig[i]);
}

// Members of a switch that can be used, a bit each.
static uint8_t used(const struct rig *rig)
{
	uint8_t mask = 0;

	for (uint16_t i = FIRST; i < PORTS; i++)
		mask |= (uint8_t)(sw_port_usable(rig->sw, (port_t){ i }) << i);
	return mask;
}

// Flows from the host to the LAG; which members they leave by.
static uint8_t members_taken(struct rig *rig)
{
	uint8_t mask = 0;
	uint64_t sent = 0;

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = rig_frame(0, FIRST, 3, LEN);

		f.qp = i;
		rig_send(rig, 0, &f);
	}
	for (uint32_t i = FIRST; i < PORTS; i++) {
		const uint64_t count = rig_release(rig, i, UINT64_MAX);

		mask |= (uint8_t)((count > 0) << i);
		sent += count;
	}
	cr_assert_eq(sent, FLOWS);
	return mask;
}

enum { ALL = 0x0e };

static const struct {
	uint32_t lcores;
	enum config_lacp_rate rate;
} up_rows[] = {
	{ 1, CONFIG_LACP_SLOW },
	{ 1, CONFIG_LACP_FAST },
	{ 2, CONFIG_LACP_SLOW },
	{ 3, CONFIG_LACP_FAST },
};

// Nothing is sent into the LAG before both ends agree, two seconds after they hear each other.
TABLE_TEST(lacp, two_switches_bring_their_lag_up, row, up_rows)
{
	struct bench b = two_switches(row->lcores, row->rate);

	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(used(b.rig[i]), 0);
		cr_assert_not(sw_link_reachable(b.rig[i]->sw, (port_t){ FIRST }));
	}
	run(&b, 1900);
	cr_assert_eq(used(b.rig[0]) | used(b.rig[1]), 0);
	run(&b, 1600);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(used(b.rig[i]), ALL, "%02x", used(b.rig[i]));
		cr_assert(sw_link_reachable(b.rig[i]->sw, (port_t){ FIRST }));
		cr_assert_eq(members_taken(b.rig[i]), ALL);
		cr_assert_eq(rig_all_drops(b.rig[i]), 0);
		cr_assert_gt(rig_port(b.rig[i], FIRST).lacp_rx_pdus, 1);
		cr_assert_eq(rig_port(b.rig[i], FIRST).lacp_tx_pdus, b.rig[i]->lacp_sent[FIRST]);
	}
	end(&b);
}

static const struct {
	const char *what;
	enum config_lacp_rate rate;
	uint32_t lcores;
	uint64_t timeout_ms; // three periods of what this end asked for
	uint64_t period_ms;
} silence_rows[] = {
	{ "fast", CONFIG_LACP_FAST, 1, 3000, 1000 },
	{ "fast, two lcores", CONFIG_LACP_FAST, 2, 3000, 1000 },
	{ "slow", CONFIG_LACP_SLOW, 1, 90000, 30000 },
};

// The carrier of one member stays, but nothing is heard there: after three periods it is out, at
// both ends, the others stay, and it comes back when the partner does.
TABLE_TEST(lacp, a_member_that_falls_silent_is_left_out, row, silence_rows)
{
	struct bench b = two_switches(row->lcores, row->rate);
	const uint32_t silent = FIRST + 1;

	run(&b, 10000 + row->period_ms);
	cr_assert_eq(used(b.rig[0]), ALL);
	b.far[0][silent].cut = true;
	b.far[1][silent].cut = true;
	run(&b, row->timeout_ms - row->period_ms - STEP_MS);
	cr_assert_eq(used(b.rig[0]), ALL, "%s", row->what);
	run(&b, row->period_ms + 2 * STEP_MS);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(used(b.rig[i]), ALL & ~(1u << silent), "%s", row->what);
		cr_assert_eq(members_taken(b.rig[i]), ALL & ~(1u << silent), "%s", row->what);
	}
	run(&b, 10000);
	b.far[0][silent].cut = false;
	b.far[1][silent].cut = false;
	run(&b, 10000 + row->period_ms);
	cr_assert_eq(used(b.rig[0]) & used(b.rig[1]), ALL, "%s", row->what);
	cr_assert_eq(rig_all_drops(b.rig[0]), 0);
	end(&b);
}

// One end hears nothing and says so; the other, which still hears it, stops as well.
Test(lacp, one_way_silence_stops_both_ends)
{
	struct bench b = two_switches(1, CONFIG_LACP_FAST);
	const uint32_t silent = FIRST + 2;

	run(&b, 5000);
	b.far[0][silent].cut = true; // switch 1 does not hear switch 0
	run(&b, 3000 + 3 * STEP_MS);
	cr_assert_eq(used(b.rig[1]), ALL & ~(1u << silent));
	run(&b, 4000);
	cr_assert_eq(used(b.rig[0]), ALL & ~(1u << silent));
	end(&b);
}

// A link that goes down is out at once; its return takes LACP's time.
TABLE_TEST(lacp, a_link_that_flaps_is_out_at_once, row, up_rows)
{
	struct bench b = two_switches(row->lcores, row->rate);

	run(&b, 5000);
	rig_link(b.rig[0], FIRST, false);
	rig_link(b.rig[1], FIRST, false);
	cr_assert_eq(members_taken(b.rig[0]), ALL & ~(1u << FIRST));
	cr_assert_eq(rig_all_drops(b.rig[0]), 0);
	rig_link(b.rig[0], FIRST, true);
	rig_link(b.rig[1], FIRST, true);
	run(&b, 1500);
	cr_assert_eq(used(b.rig[0]), ALL & ~(1u << FIRST));
	run(&b, 2000);
	cr_assert_eq(used(b.rig[0]), ALL);
	cr_assert_eq(members_taken(b.rig[0]), ALL);
	end(&b);
}

// The third port leads to another switch: it is not used, and what comes from there is dropped.
TABLE_TEST(lacp, a_member_that_leads_elsewhere_is_not_used, row, up_rows)
{
	struct bench b = two_switches(row->lcores, row->rate);
	const uint32_t wrong = FIRST + 2;
	struct frame f = rig_frame(FIRST, 0, 3, LEN);

	b.rig[2] = lag_rig("three", 1, row->rate);
	join(&b, 0, wrong, 2, wrong);
	b.far[1][wrong].cut = true;
	b.far[2][FIRST].cut = true;
	b.far[2][FIRST + 1].cut = true;
	run(&b, 6000);
	cr_assert_eq(used(b.rig[0]), ALL & ~(1u << wrong));
	cr_assert_eq(members_taken(b.rig[0]), ALL & ~(1u << wrong));
	rig_send(b.rig[0], wrong, &f);
	cr_assert_eq(rig_drops(b.rig[0], wrong, DROP_LAG_NOT_COLLECTING), 1);
	rig_send(b.rig[0], FIRST, &f);
	cr_assert_eq(rig_release(b.rig[0], 0, 9), 1);
	// Wired as it should be, it joins.
	join(&b, 0, wrong, 1, wrong);
	b.far[1][wrong].cut = false;
	b.far[2][wrong].cut = true;
	run(&b, 100000);
	cr_assert_eq(used(b.rig[0]), ALL);
	end(&b);
}

// Nobody answers: no port is used, not even alone, and the LAG stays down.
Test(lacp, without_a_partner_nothing_is_used)
{
	struct bench b = { .rig = { lag_rig("one", 1, CONFIG_LACP_SLOW) } };
	struct frame f = rig_frame(0, FIRST, 0, LEN);

	for (uint32_t i = FIRST; i < PORTS; i++)
		b.far[0][i].cut = true;
	run(&b, 100000);
	cr_assert_eq(used(b.rig[0]), 0);
	f.dst = 0xffffffffffff;
	rig_send(b.rig[0], 0, &f);
	cr_assert_eq(rig_drops(b.rig[0], 0, DROP_FLOOD_NOWHERE), 1);
	end(&b);
}

// From static to LACP while it runs: the LAG is down until there is a partner, and back at once.
Test(lacp, the_mode_changes_while_it_runs)
{
	struct bench b = two_switches(1, CONFIG_LACP_FAST);

	run(&b, 5000);
	b.rig[0]->config->lag[0].mode = CONFIG_LAG_STATIC;
	cr_assert_eq(rig_reload(b.rig[0]), 0);
	cr_assert_eq(used(b.rig[0]), ALL);
	run(&b, 10000);
	cr_assert_eq(used(b.rig[1]), 0, "its partner is gone");
	b.rig[0]->config->lag[0].mode = CONFIG_LAG_LACP;
	cr_assert_eq(rig_reload(b.rig[0]), 0);
	cr_assert_eq(used(b.rig[0]), 0);
	run(&b, 6000);
	cr_assert_eq(used(b.rig[0]) & used(b.rig[1]), ALL);
	end(&b);
}

static const struct {
	const char *what;
	uint64_t dst;
	bool exempt;
} lldp_rows[] = {
	{ "LLDP ends in the switch", 0x0180c200000e, true },
	{ "its EtherType to a host", 0x020000000063, false },
};

// A member that LACP has not taken in receives nothing but the protocols of the link.
TABLE_TEST(lacp, an_ethertype_is_no_way_into_a_lag, row, lldp_rows)
{
	struct bench b = { .rig = { lag_rig("one", 1, CONFIG_LACP_SLOW) } };
	struct frame f = {
		.kind = FRAME_PLAIN, .dst = row->dst, .src = frame_host_mac(1), .ethertype = 0x88cc
	};

	rig_send(b.rig[0], FIRST, &f);
	cr_expect_eq(b.rig[0]->punts, row->exempt, "%s", row->what);
	cr_expect_eq(rig_drops(b.rig[0], FIRST, DROP_LAG_NOT_COLLECTING), !row->exempt, "%s",
		     row->what);
	rig_end(b.rig[0]);
}

static const struct {
	const char *what;
	uint32_t port;
	uint8_t subtype, version;
	uint32_t len;
	enum drop_reason reason;
} frame_rows[] = {
	{ "not on a port without LACP", 0, 1, 1, 124, DROP_RESERVED_MAC },
	{ "OAM", FIRST, 3, 1, 124, DROP_RESERVED_MAC },
	{ "cut off", FIRST, 1, 1, 40, DROP_LACP_MALFORMED },
	{ "version 0", FIRST, 1, 0, 124, DROP_LACP_MALFORMED },
};

TABLE_TEST(lacp, what_is_no_lacpdu_is_dropped, row, frame_rows)
{
	struct bench b = two_switches(1, CONFIG_LACP_SLOW);
	uint8_t bytes[LACP_FRAME_BYTES];
	static const uint8_t src[6] = { 0x02 };

	sw_lacpdu(b.rig[1]->sw, (port_t){ FIRST }, src, bytes);
	bytes[14] = row->subtype;
	bytes[15] = row->version;
	rig_send_bytes(b.rig[0], row->port, bytes, row->len);
	cr_assert_eq(rig_drops(b.rig[0], row->port, row->reason), 1, "%s", row->what);
	cr_assert_eq(rig_all_drops(b.rig[0]), 1, "%s", row->what);
	end(&b);
}
