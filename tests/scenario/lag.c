// SPDX-License-Identifier: BSD-3-Clause
//
// LAGs on one switch: which member a flow takes, what happens when members go and come, that a LAG
// is one port to the bridge (one address, one copy of a flood), and a LAG behind a group of next
// hops. Ports 0 and 1 are hosts'; 2 to 4 are one LAG, 5 and 6 another.
//
// Everything holds for one lcore and for several, whose ports are dealt out in turn so that members
// of a LAG belong to different ones.

#include "tests/flows.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 7,
	FIRST = 2, // members of the first LAG
	MEMBERS = 3,
	SECOND = 5,
	SECOND_MEMBERS = 2,
	FLOWS = FLOWS_PER_PATH * MEMBERS,
	LEN = 128,
};

#define BROADCAST 0xffffffffffffu

static const struct {
	uint32_t lcores;
} lcore_rows[] = { { 1 }, { 2 }, { 3 } };

static struct sw_config *two_lags(uint32_t lcores)
{
	struct sw_config *c = setup_kvm(PORTS);

	setup_lag(c, "PortChannel1", "Ethernet8 Ethernet12 Ethernet16");
	setup_lag(c, "PortChannel2", "Ethernet24 Ethernet20");
	for (uint32_t i = 0; i < PORTS; i++)
		c->port[i].lcore = i % lcores;
	return c;
}

// The member that a frame from port 0 leaves by; it is freed.
static uint32_t member_of(struct rig *rig, const struct frame *f)
{
	uint32_t member = PORTS;

	rig_send(rig, 0, f);
	for (uint32_t i = FIRST; i < FIRST + MEMBERS; i++) {
		if (rig_release(rig, i, UINT64_MAX) == 0)
			continue;
		cr_assert_eq(member, PORTS, "one copy of a frame");
		member = i;
	}
	return member;
}

static struct frame flow(enum flow_pattern pattern, uint32_t i)
{
	struct frame f = rig_frame(0, FIRST, 3, LEN);

	f.src_port = (uint16_t)(f.src_port + (pattern == VARY_SRC_PORT ? i : 0));
	f.src_ip += pattern == VARY_SRC_IP ? i : 0;
	f.dst_ip += pattern == VARY_DST_IP ? i : 0;
	f.qp += pattern == VARY_DEST_QP ? i : 0;
	return f;
}

// --- spread -------------------------------------------------------------------------------------

static const struct {
	enum flow_pattern pattern;
	uint32_t lcores;
} spread_rows[] = {
	{ VARY_SRC_PORT, 1 }, { VARY_SRC_IP, 1 },  { VARY_DST_IP, 1 },
	{ VARY_DEST_QP, 1 },  { VARY_DEST_QP, 2 }, { VARY_DEST_QP, 3 },
};

TABLE_TEST(lag, flows_spread_over_members, row, spread_rows)
{
	struct rig *rig = rig_new(two_lags(row->lcores));
	uint32_t count[MEMBERS] = { 0 };

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(row->pattern, i);

		count[member_of(rig, &f) - FIRST]++;
	}
	cr_assert(flows_are_balanced(count, MEMBERS), "%u %u %u", count[0], count[1], count[2]);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Frames of a flow leave in order, through one member, while others come and go.
TABLE_TEST(lag, a_flow_keeps_its_member_and_its_order, row, lcore_rows)
{
	struct rig *rig = rig_new(two_lags(row->lcores));
	struct frame f = flow(VARY_DEST_QP, 7);
	struct frame got;
	uint32_t member = member_of(rig, &f);
	uint32_t other = member == FIRST ? FIRST + 1 : FIRST;

	for (uint32_t i = 0; i < 40; i++) {
		rig_send_many(rig, 0, &f, 10);
		rig_link(rig, other, i % 2 != 0);
	}
	for (uint64_t i = 0; i < 400; i++) {
		cr_assert(rig_take_frame(rig, member, &got));
		cr_assert_eq(got.seq, i);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- members that go and come -------------------------------------------------------------------

// Only the flows of the member that is lost move, at once, over both others; all come back.
TABLE_TEST(lag, a_lost_member_moves_its_own_flows_alone, row, lcore_rows)
{
	struct rig *rig = rig_new(two_lags(row->lcores));
	const uint32_t lost = FIRST; // the one that stands for the LAG
	uint32_t before[FLOWS];
	uint32_t moved[MEMBERS] = { 0 };

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(VARY_DEST_QP, i);

		before[i] = member_of(rig, &f);
	}
	rig_link(rig, lost, false);
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(VARY_DEST_QP, i);
		uint32_t member = member_of(rig, &f);

		cr_assert_neq(member, lost);
		if (before[i] == lost)
			moved[member - FIRST]++;
		else
			cr_assert_eq(member, before[i]);
	}
	cr_assert_gt(moved[1], 0);
	cr_assert_gt(moved[2], 0);
	rig_link(rig, lost, true);
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(VARY_DEST_QP, i);

		cr_assert_eq(member_of(rig, &f), before[i]);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	cr_assert_eq(rig->learns, 0); // nothing was forgotten
	rig_end(rig);
}

// A configuration with a member less, then with it again: what is queued there still leaves.
TABLE_TEST(lag, a_member_is_removed_and_added, row, lcore_rows)
{
	struct rig *rig = rig_new(two_lags(row->lcores));
	const uint32_t gone = FIRST + MEMBERS - 1;
	uint64_t count[MEMBERS] = { 0 };
	uint64_t queued;

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(VARY_DEST_QP, i);

		rig_send(rig, 0, &f);
	}
	setup_text(rig->config->lag[0].members, "Ethernet8 Ethernet12");
	cr_assert_eq(rig_reload(rig), 0);
	queued = rig_release(rig, gone, UINT64_MAX);
	cr_assert_gt(queued, 0);
	for (uint32_t i = 0; i < MEMBERS - 1; i++)
		queued += rig_release(rig, FIRST + i, UINT64_MAX);
	cr_assert_eq(queued, FLOWS);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < FLOWS; i++) {
			struct frame f = flow(VARY_DEST_QP, i);

			count[member_of(rig, &f) - FIRST]++;
		}
		cr_assert_eq(count[2] > 0, round == 1);
		setup_text(rig->config->lag[0].members, "Ethernet8 Ethernet12 Ethernet16");
		cr_assert_eq(rig_reload(rig), 0);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

static void down_and_forgotten(struct rig *rig, const struct frame *f)
{
	struct frame lossy = *f;

	// Unknown now, so it is flooded: to port 1 and the other LAG.
	lossy.dscp = 0;
	cr_assert_eq(member_of(rig, &lossy), PORTS);
	cr_assert_eq(rig_release(rig, 1, 9), 1);
	cr_assert_eq(rig_release(rig, SECOND, 9) + rig_release(rig, SECOND + 1, 9), 1);
}

// Fewer members than min_links: the LAG is down as a whole, and with it its addresses.
TABLE_TEST(lag, fewer_than_min_links_is_down, row, lcore_rows)
{
	struct sw_config *c = two_lags(row->lcores);
	struct frame f = flow(VARY_DEST_QP, 0);
	struct rig *rig;

	c->lag[0].min_links = 2;
	rig = rig_new(c);
	rig_link(rig, FIRST, false);
	cr_assert_neq(member_of(rig, &f), PORTS); // two are left
	rig_link(rig, FIRST + 1, false);
	down_and_forgotten(rig, &f);
	rig_link(rig, FIRST + 1, true);
	rig_mac_set(rig, f.dst, 1, (port_t){ FIRST + 1 }); // by any member
	cr_assert_neq(member_of(rig, &f), PORTS);
	rig_end(rig);
}

// --- a LAG is one port to the bridge ------------------------------------------------------------

TABLE_TEST(lag, an_address_is_learned_once_whatever_member_it_is_seen_on, row, lcore_rows)
{
	struct rig *rig = rig_new_blank(two_lags(row->lcores));
	struct frame f = rig_frame(FIRST, 0, 0, LEN);
	struct frame back = rig_frame(0, FIRST, 3, LEN);

	rig_mac_set(rig, f.dst, 1, (port_t){ 0 });
	for (uint32_t i = 0; i < 30; i++) {
		rig_send(rig, FIRST + i % MEMBERS, &f);
		rig_advance(rig, 20000000);
	}
	cr_assert_eq(rig_release(rig, 0, UINT64_MAX), 30);
	cr_assert_eq(rig->learns, 1);
	cr_assert_eq(rig->last.port.v, FIRST);
	cr_assert_eq(rig_switch(rig).mac_moves, 0);
	cr_assert_neq(member_of(rig, &back), PORTS);
	rig_end(rig);
}

static void age(struct rig *rig, uint8_t lcores, uint64_t ns)
{
	rig_advance(rig, ns);
	for (uint8_t lcore = 0; lcore < lcores; lcore++)
		sw_mac_age(rig->sw, (lcore_t){ lcore }, 1 << 16, rig->now);
	rig_drain(rig);
}

// What the owner of the LAG knows of an address.
static bool knows(const struct rig *rig, uint64_t mac, struct mac_entry *entry)
{
	const lcore_t owner = rig->pf->port[FIRST].lcore;
	uint32_t at = 0;

	while (sw_mac_walk(rig->sw, owner, &at, entry, 1) == 1) {
		if (entry->mac == mac)
			return true;
		if (at == 0)
			break;
	}
	return false;
}

// The owner of the LAG ages its addresses; that another member sees them keeps them alive, and when
// none does any more they are forgotten.
TABLE_TEST(lag, an_address_seen_on_any_member_does_not_age, row, lcore_rows)
{
	struct rig *rig = rig_new_blank(two_lags(row->lcores));
	struct frame f = rig_frame(FIRST, 0, 0, LEN);
	struct mac_entry entry = { 0 };

	rig_mac_set(rig, f.dst, 1, (port_t){ 0 });
	for (uint32_t i = 0; i < 4; i++) {
		rig_send(rig, FIRST + 1, &f);
		age(rig, row->lcores, rig->pf->mac_age_ns / 2);
	}
	cr_assert(knows(rig, f.src, &entry));
	cr_assert_eq(entry.port.v, FIRST);
	age(rig, row->lcores, rig->pf->mac_age_ns + 1);
	cr_assert_not(knows(rig, f.src, &entry));
	rig_release(rig, 0, UINT64_MAX);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint32_t from, lcores;
	uint64_t to_hosts, to_first, to_second;
} flood_rows[] = {
	{ "from a host", 0, 1, 1, 1, 1 },
	{ "from a host, two lcores", 0, 2, 1, 1, 1 },
	{ "from the port that stands for a LAG", FIRST, 1, 2, 0, 1 },
	{ "from another member", FIRST + 2, 1, 2, 0, 1 },
	{ "from another member, three lcores", FIRST + 1, 3, 2, 0, 1 },
	{ "from the other LAG", SECOND + 1, 2, 2, 1, 0 },
};

// Of many different frames each goes once to each LAG and never back; members take turns by hash.
TABLE_TEST(lag, a_flood_goes_once_to_each_lag, row, flood_rows)
{
	struct rig *rig = rig_new_blank(two_lags(row->lcores));
	uint64_t hosts = 0;
	uint64_t member[MEMBERS + SECOND_MEMBERS] = { 0 };

	for (uint32_t i = 0; i < 100; i++) {
		struct frame f = rig_frame(row->from, row->from, 0, LEN);

		f.dst = BROADCAST;
		f.qp = i;
		rig_send(rig, row->from, &f);
	}
	for (uint32_t i = 0; i < FIRST; i++)
		hosts += rig_release(rig, i, UINT64_MAX);
	for (uint32_t i = 0; i < MEMBERS + SECOND_MEMBERS; i++)
		member[i] = rig_release(rig, FIRST + i, UINT64_MAX);
	cr_assert_eq(hosts, 100 * row->to_hosts, "%s", row->what);
	cr_assert_eq(member[0] + member[1] + member[2], 100 * row->to_first, "%s", row->what);
	cr_assert_eq(member[3] + member[4], 100 * row->to_second, "%s", row->what);
	for (uint32_t i = 0; i < MEMBERS; i++)
		cr_assert_eq(member[i] > 0, row->to_first > 0, "%s", row->what);
	rig_end(rig);
}

// Back to where it came from, over another member of the same LAG: not forwarded.
Test(lag, nothing_goes_back_into_the_lag_it_came_from)
{
	struct rig *rig = rig_new(two_lags(1));
	struct frame f = rig_frame(FIRST, FIRST + 1, 3, LEN);

	rig_send(rig, FIRST + 2, &f);
	cr_assert_eq(rig_drops(rig, FIRST + 2, DROP_SAME_PORT), 1);
	rig_end(rig);
}

// The member that sends a frame, with the tag of VLAN 10.
static uint32_t tagged_member(struct rig *rig)
{
	uint32_t member = MEMBERS;
	struct frame got;

	for (uint32_t k = 0; k < MEMBERS; k++) {
		if (!rig_take_frame(rig, FIRST + k, &got))
			continue;
		cr_assert_eq(member, MEMBERS, "one copy");
		cr_assert_eq(got.tag_count, 1);
		cr_assert_eq(got.tag[0].tci & 0xfff, 10);
		member = k;
	}
	cr_assert_lt(member, MEMBERS);
	return member;
}

// A VLAN row names the LAG; frames leave tagged or not by every member alike.
Test(lag, a_vlan_has_the_lag_as_a_member)
{
	struct sw_config *c = two_lags(1);
	struct frame f = flow(VARY_DEST_QP, 0);
	uint32_t count[MEMBERS] = { 0 };
	struct rig *rig;

	setup_vlan(c, 10, "Ethernet0", "PortChannel1");
	setup_vlan(c, 20, "PortChannel1", "");
	rig = rig_new_blank(c);
	f.dst = BROADCAST;
	f.dscp = 0;
	for (f.qp = 0; f.qp < 100; f.qp++) {
		rig_send(rig, 0, &f);
		count[tagged_member(rig)]++;
	}
	for (uint32_t k = 0; k < MEMBERS; k++) {
		cr_assert_gt(count[k], 0);
		cr_assert_eq(rig->pf->port[FIRST + k].pvid, 20);
	}
	cr_assert_eq(rig_release(rig, 1, 9) + rig_release(rig, SECOND, 9), 0);
	rig_end(rig);
}

// PFC stays with the physical port: a pause of one member's peer holds that member's flows alone,
// and the group that fills is that of the port of arrival.
TABLE_TEST(lag, a_pause_holds_one_member_alone, row, lcore_rows)
{
	struct rig *rig = rig_new(two_lags(row->lcores));
	uint64_t left[MEMBERS];

	rig_send_pfc(rig, FIRST + 1, 1 << 3, 0xffff);
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow(VARY_DEST_QP, i);

		rig_send(rig, 0, &f);
	}
	for (uint32_t i = 0; i < MEMBERS; i++)
		left[i] = rig_release(rig, FIRST + i, UINT64_MAX);
	cr_assert_eq(left[1], 0);
	cr_assert_gt(left[0], 0);
	cr_assert_gt(left[2], 0);
	cr_assert_gt(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	rig_send_pfc(rig, FIRST + 1, 1 << 3, 0);
	left[1] = rig_release(rig, FIRST + 1, UINT64_MAX);
	cr_assert_eq(left[0] + left[1] + left[2], FLOWS);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- a LAG behind a group of next hops ----------------------------------------------------------

static const struct {
	const char *what;
	bool own_hash; // the LAG's as configured by default; else that of groups
} tier_rows[] = {
	{ "a hash of its own", true },
	{ "control: the hash of groups", false },
};

// Two next hops, one behind each LAG: with one hash for both tiers, all flows that reach a LAG lie
// in one half of its buckets.
TABLE_TEST(lag, behind_a_group_does_not_polarise, row, tier_rows)
{
	struct sw_config *c = two_lags(1);
	struct frame f = rig_frame(0, 1, 3, LEN);
	uint32_t count[MEMBERS + SECOND_MEMBERS] = { 0 };
	uint32_t to_first;
	struct rig *rig;
	bool balanced;

	c->sw.router_mac = 0x02aa00000001;
	setup_vlan(c, 1, "all", "");
	setup_interface(c, 1, 0x0a000001, 8);
	setup_name(setup_next_hop(c, "far", 0, 0x02bb00000001)->port, "PortChannel1");
	setup_name(setup_next_hop(c, "far", 0, 0x02bb00000002)->port, "PortChannel2");
	setup_route(c, 0x0b000000, 8, "far");
	if (!row->own_hash) {
		c->sw.ecmp_hash_seed = 77;
		c->sw.lag_hash_seed = 77;
		c->sw.lag_hash_offset = 0;
		setup_text(c->sw.lag_hash, "SRC_IP DST_IP RDMA_BTH_DEST_QP");
		setup_text(c->sw.ecmp_hash, "SRC_IP DST_IP RDMA_BTH_DEST_QP");
	}
	rig = rig_new(c);
	f.dst = c->sw.router_mac;
	f.dst_ip = 0x0b000001;
	for (uint32_t i = 0; i < 2 * FLOWS; i++) {
		f.qp = i;
		rig_send(rig, 0, &f);
	}
	for (uint32_t i = 0; i < MEMBERS + SECOND_MEMBERS; i++)
		count[i] = (uint32_t)rig_release(rig, FIRST + i, UINT64_MAX);
	to_first = count[0] + count[1] + count[2];
	cr_assert_gt(to_first, FLOWS * 3 / 4, "%s", row->what);
	cr_assert_lt(to_first, FLOWS * 5 / 4, "%s", row->what);
	balanced = flows_are_balanced(count, MEMBERS) &&
		   flows_are_balanced(count + MEMBERS, SECOND_MEMBERS);
	cr_assert_eq(balanced, row->own_hash, "%s: %u %u %u, %u %u", row->what, count[0], count[1],
		     count[2], count[3], count[4]);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A LAG that is down leaves its groups as a port does, whichever member stands for it.
TABLE_TEST(lag, a_lag_that_is_down_leaves_its_groups, row, lcore_rows)
{
	struct sw_config *c = two_lags(row->lcores);
	struct frame f = rig_frame(0, 1, 3, LEN);
	struct rig *rig;
	uint64_t sent = 0;

	c->sw.router_mac = 0x02aa00000001;
	setup_interface(c, 1, 0x0a000001, 8);
	setup_name(setup_next_hop(c, "far", 0, 0x02bb00000001)->port, "PortChannel1");
	setup_name(setup_next_hop(c, "far", 0, 0x02bb00000002)->port, "PortChannel2");
	setup_route(c, 0x0b000000, 8, "far");
	rig = rig_new(c);
	f.dst = c->sw.router_mac;
	f.dst_ip = 0x0b000001;
	rig_link(rig, FIRST, false); // two members are left
	rig_link(rig, SECOND, false);
	rig_link(rig, SECOND + 1, false); // none is
	for (f.qp = 0; f.qp < 100; f.qp++)
		rig_send(rig, 0, &f);
	for (uint32_t i = 1; i < MEMBERS; i++)
		sent += rig_release(rig, FIRST + i, UINT64_MAX);
	cr_assert_eq(sent, 100);
	rig_end(rig);
}

static const struct {
	uint32_t in;
	bool allowed;
} turn_rows[] = { { 0, true }, { 1, false } };

// A turn row names the LAG: it holds for each member.
TABLE_TEST(lag, turns_are_those_of_the_lag, row, turn_rows)
{
	struct sw_config *c = two_lags(1);
	struct frame f = rig_frame(row->in, FIRST, 3, LEN);
	struct turn_config *turn;
	struct rig *rig;
	uint64_t sent = 0;

	setup_turn(c, 0, 0, 0, 0);
	turn = &c->turn[0];
	setup_name(turn->out, "PortChannel1");
	rig = rig_new(c);
	for (f.qp = 0; f.qp < 50; f.qp++)
		rig_send(rig, row->in, &f);
	for (uint32_t i = 0; i < MEMBERS; i++)
		sent += rig_release(rig, FIRST + i, UINT64_MAX);
	cr_assert_eq(sent, row->allowed ? 50 : 0);
	cr_assert_eq(rig_drops(rig, row->in, DROP_TURN_DENIED), row->allowed ? 0 : 50);
	rig_end(rig);
}
