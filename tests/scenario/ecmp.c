// SPDX-License-Identifier: BSD-3-Clause
//
// The field's ECMP suite through a whole switch, frame in and frame out: balance by each field that
// flows may differ in, tunnels by what is inside them, groups that grow and shrink, weights, banks,
// and that what the configuration says is hashed is what decides.
//
// A path's share of FLOWS_PER_PATH flows each is within 25 % (tests/flows.h has the statistics).

#include "base/bytes.h"
#include "tests/flows.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

#include <stdio.h>
#include <string.h>

enum {
	PATHS = 4,
	SRC = 0,
	FIRST_PATH = 1,
	PORTS = FIRST_PATH + PATHS,
	FLOWS = PATHS * FLOWS_PER_PATH,
	LEN = 200,
	ETH = 14,
	IPV4 = 20,
	UDP = 8,
	TUNNEL = 8,  // VXLAN, or GRE with a key
	INNER = 100, // bytes of the inner frame
	PROTO_IPIP = 4,
	PROTO_GRE = 47,
};

static const uint64_t router = 0x02aa00000001;
static const uint32_t far = 0x0b000000;

static struct sw_config *paths_config(uint32_t paths)
{
	struct sw_config *c = setup_kvm(PORTS);

	c->sw.router_mac = router;
	setup_interface(c, 1, 0x0a0a0001, 24);
	for (uint32_t i = 0; i < paths; i++)
		setup_next_hop(c, "far", FIRST_PATH + i, 0x02bb00000000 + i);
	setup_route(c, far, 8, "far");
	((struct route_config *)setup_add_row(c, "route"))->prefix.family = IP_V6;
	setup_name(c->route[c->route_count - 1].via, "far");
	return c;
}

static struct frame flow(void)
{
	return (struct frame){
		.kind = FRAME_ROCE,
		.src = frame_host_mac(SRC),
		.dst = router,
		.src_ip = 0x0a0a0005,
		.dst_ip = far + 1,
		.src_port = 49152,
		.dst_port = 4791,
		.qp = 0x11,
		.len = LEN,
	};
}

// Sends the bytes and returns the path that they left on.
static uint32_t path_of_bytes(struct rig *rig, const uint8_t *bytes, uint32_t len)
{
	struct pkt *p = rig_alloc(rig, len);

	memcpy(p->data, bytes, len);
	rig_rx(rig, SRC, &p, 1);
	for (uint32_t i = 0; i < PATHS; i++) {
		p = rig_take(rig, FIRST_PATH + i);
		if (p == NULL)
			continue;
		rig_free(rig, p);
		return i;
	}
	cr_assert_fail("the frame was not routed");
	return PATHS;
}

static uint32_t path_of(struct rig *rig, const struct frame *f)
{
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };

	return path_of_bytes(rig, bytes, frame_write(f, bytes));
}

// --- ecmp_balance -----------------------------------------------------------------------------

static const struct {
	const char *what;
	enum frame_kind kind;
	bool ipv6;
	uint32_t src_ip, dst_ip, src_port, dst_port, qp; // 1: counts up
} balance_rows[] = {
	{ "source port", FRAME_ROCE, false, 0, 0, 1, 0, 0 },
	{ "destination port", FRAME_UDP, false, 0, 0, 0, 1, 0 },
	{ "source address", FRAME_ROCE, false, 1, 0, 0, 0, 0 },
	{ "destination address", FRAME_ROCE, false, 0, 1, 0, 0, 0 },
	{ "queue pair", FRAME_ROCE, false, 0, 0, 0, 0, 1 },
	{ "source port, TCP", FRAME_TCP, false, 0, 0, 1, 0, 0 },
	{ "source port, IPv6", FRAME_ROCE, true, 0, 0, 1, 0, 0 },
	{ "destination port, IPv6", FRAME_UDP, true, 0, 0, 0, 1, 0 },
	{ "source address, IPv6", FRAME_ROCE, true, 1, 0, 0, 0, 0 },
	{ "destination address, IPv6", FRAME_ROCE, true, 0, 1, 0, 0, 0 },
	{ "queue pair, IPv6", FRAME_ROCE, true, 0, 0, 0, 0, 1 },
};

TABLE_TEST(ecmp, balance, row, balance_rows)
{
	struct rig *rig = rig_new(paths_config(PATHS));
	uint32_t counts[PATHS] = { 0 };

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct frame f = flow();

		f.kind = row->kind;
		f.ipv6 = row->ipv6;
		f.dst_port = row->kind == FRAME_ROCE ? f.dst_port : 20000;
		f.src_ip += row->src_ip * i;
		f.dst_ip += row->dst_ip * i;
		f.src_port = (uint16_t)(f.src_port + row->src_port * i);
		f.dst_port = (uint16_t)(f.dst_port + row->dst_port * i);
		f.qp += row->qp * i;
		counts[path_of(rig, &f)]++;
	}
	cr_assert(flows_are_balanced(counts, PATHS), "%s", row->what);
	rig_end(rig);
}

// --- inner_hashing: one outer flow, many inner ones -------------------------------------------

enum tunnel { VXLAN, NVGRE, IP_IN_IP, IP_IN_GRE };

// An inner frame whose addresses and port are of flow `i`, in a tunnel that is always the same.
static uint32_t tunnel_write(enum tunnel tunnel, uint32_t i, uint8_t *out)
{
	struct frame outer = flow();
	struct frame inner = flow();
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };
	uint8_t *ip = out + ETH;
	uint8_t *at = ip + IPV4;
	uint32_t len;

	inner.kind = FRAME_UDP;
	inner.dst_ip = 0xc0a80001;
	inner.dst_port = 20000;
	inner.src_port = (uint16_t)(inner.src_port + i);
	inner.len = INNER;
	outer.kind = FRAME_UDP;
	outer.dst_port = 4789;
	outer.len = LEN;
	len = frame_write(&outer, out);
	frame_write(&inner, bytes);
	switch (tunnel) {
	case VXLAN: memcpy(at + UDP + TUNNEL, bytes, INNER); return len;
	case NVGRE:
		ip[9] = PROTO_GRE;
		store_be16(at, 0x2000);     // a key follows
		store_be16(at + 2, 0x6558); // Ethernet
		memcpy(at + TUNNEL, bytes, INNER);
		return len;
	case IP_IN_IP:
		ip[9] = PROTO_IPIP;
		memcpy(at, bytes + ETH, INNER - ETH);
		return len;
	case IP_IN_GRE:
		ip[9] = PROTO_GRE;
		store_be16(at, 0);
		store_be16(at + 2, 0x0800);
		memcpy(at + 4, bytes + ETH, INNER - ETH);
		return len;
	}
	return 0;
}

static const struct {
	const char *what;
	enum tunnel tunnel;
} tunnel_rows[] = {
	{ "VXLAN", VXLAN },
	{ "NVGRE", NVGRE },
	{ "IP in IP", IP_IN_IP },
	{ "IP in GRE", IP_IN_GRE },
};

TABLE_TEST(ecmp, inner_hashing, row, tunnel_rows)
{
	struct rig *rig = rig_new(paths_config(PATHS));
	uint32_t counts[PATHS] = { 0 };
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };

	for (uint32_t i = 0; i < FLOWS; i++)
		counts[path_of_bytes(rig, bytes, tunnel_write(row->tunnel, i, bytes))]++;
	cr_assert(flows_are_balanced(counts, PATHS), "%s", row->what);
	rig_end(rig);
}

TABLE_TEST(ecmp, outer_fields_alone_keep_a_tunnel_on_one_path, row, tunnel_rows)
{
	struct sw_config *c = paths_config(PATHS);
	struct rig *rig;
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };
	uint32_t first;

	snprintf(c->sw.ecmp_hash, sizeof(c->sw.ecmp_hash),
		 "SRC_IP DST_IP IP_PROTOCOL L4_SRC_PORT L4_DST_PORT");
	rig = rig_new(c);
	first = path_of_bytes(rig, bytes, tunnel_write(row->tunnel, 0, bytes));
	for (uint32_t i = 1; i < 100; i++)
		cr_assert_eq(path_of_bytes(rig, bytes, tunnel_write(row->tunnel, i, bytes)), first);
	rig_end(rig);
}

// --- generic_hash: a field that is chosen decides, and no other does ----------------------------

enum varied { V_SRC_MAC, V_DST_IP, V_SRC_IP, V_DST_PORT, V_SRC_PORT, V_QP };

static const struct {
	const char *field;
	enum varied varies;
} field_rows[] = {
	{ "SRC_MAC", V_SRC_MAC },      { "DST_IP", V_DST_IP },        { "SRC_IP", V_SRC_IP },
	{ "L4_DST_PORT", V_DST_PORT }, { "L4_SRC_PORT", V_SRC_PORT }, { "RDMA_BTH_DEST_QP", V_QP },
};

static struct frame varied_flow(enum varied varies, uint32_t i)
{
	struct frame f = flow();

	switch (varies) {
	case V_SRC_MAC: f.src += (uint64_t)i << 8; break;
	case V_DST_IP: f.dst_ip += i; break;
	case V_SRC_IP: f.src_ip += i; break;
	case V_DST_PORT:
		f.kind = FRAME_UDP;
		f.dst_port = (uint16_t)(20000 + i);
		break;
	case V_SRC_PORT: f.src_port = (uint16_t)(f.src_port + i); break;
	case V_QP: f.qp += i; break;
	}
	return f;
}

static bool spreads(struct rig *rig, enum varied varies)
{
	uint32_t counts[PATHS] = { 0 };

	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct frame f = varied_flow(varies, i);

		counts[path_of(rig, &f)]++;
	}
	if (flows_are_balanced(counts, PATHS))
		return true;
	for (uint32_t i = 0; i < PATHS; i++)
		cr_assert(counts[i] == 0 || counts[i] == FLOWS, "neither one path nor all");
	return false;
}

TABLE_TEST(ecmp, a_chosen_field_decides_alone, row, field_rows)
{
	for (uint32_t algorithm = 0; algorithm < HASH_ALGORITHM_COUNT; algorithm++) {
		struct sw_config *c = paths_config(PATHS);
		struct rig *rig;

		snprintf(c->sw.ecmp_hash, sizeof(c->sw.ecmp_hash), "%s", row->field);
		c->sw.ecmp_hash_algorithm = algorithm;
		rig = rig_new(c);
		rig->answer_learn = false; // source addresses vary more than the bridge should keep
		for (uint32_t i = 0; i < TABLE_COUNT(field_rows); i++) {
			const enum varied varies = field_rows[i].varies;

			cr_assert_eq(spreads(rig, varies), varies == row->varies, "%s: %s",
				     row->field, field_rows[i].field);
		}
		rig_end(rig);
	}
}

Test(ecmp, the_pieces_of_a_datagram_take_one_path)
{
	struct rig *rig = rig_new(paths_config(PATHS));
	struct frame f = flow();
	uint8_t bytes[FRAME_MAX_BYTES] = { 0 };
	uint32_t len;
	uint32_t first;

	f.kind = FRAME_UDP;
	f.dst_port = 20000;
	len = frame_write(&f, bytes);
	store_be16(bytes + ETH + 6, 0x2000); // more fragments
	first = path_of_bytes(rig, bytes, len);
	for (uint16_t offset = 1; offset < 64; offset++) {
		store_be16(bytes + ETH + 6, offset);
		store_be32(bytes + ETH + IPV4, offset * 0x01010101u); // payload, not ports
		cr_assert_eq(path_of_bytes(rig, bytes, len), first);
	}
	rig_end(rig);
}

// --- members come and go ----------------------------------------------------------------------

static void paths_of_all(struct rig *rig, uint8_t paths[FLOWS])
{
	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct frame f = varied_flow(V_QP, i);

		paths[i] = (uint8_t)path_of(rig, &f);
	}
}

// Three resolved next hops and a fourth that answers later: only what it takes may move.
Test(ecmp, a_group_that_grows_moves_only_what_the_new_member_takes)
{
	static uint8_t before[FLOWS];
	static uint8_t after[FLOWS];
	struct sw_config *c = paths_config(PATHS);
	struct rig *rig;
	uint32_t moved = 0;

	c->next_hop[PATHS - 1].port[0] = '\0';
	c->next_hop[PATHS - 1].mac = CONFIG_UNSET;
	c->next_hop[PATHS - 1].address = setup_ipv4(0x0a0a0063, 32);
	rig = rig_new(c);
	paths_of_all(rig, before);
	for (uint32_t i = 0; i < FLOWS; i++)
		cr_assert_neq(before[i], PATHS - 1);
	cr_assert_eq(tables_next_hop_set(rig->tables, PATHS - 1, (port_t){ PORTS - 1 },
					 0x02bb00000003),
		     0);
	tables_quiesce(rig->tables);
	paths_of_all(rig, after);
	for (uint32_t i = 0; i < FLOWS; i++) {
		cr_assert(after[i] == before[i] || after[i] == PATHS - 1);
		moved += after[i] != before[i];
	}
	cr_assert_geq(moved, FLOWS / PATHS * 3 / 4);
	cr_assert_leq(moved, FLOWS / PATHS * 5 / 4);
	// And it may go again: everybody is where he was.
	cr_assert_eq(tables_next_hop_set(rig->tables, PATHS - 1, PORT_NONE, 0), 0);
	tables_quiesce(rig->tables);
	paths_of_all(rig, after);
	cr_assert_eq(memcmp(before, after, sizeof(before)), 0);
	rig_end(rig);
}

Test(ecmp, a_member_that_flaps_gets_its_own_flows_back)
{
	static uint8_t before[FLOWS];
	static uint8_t during[FLOWS];
	struct rig *rig = rig_new(paths_config(PATHS));

	paths_of_all(rig, before);
	for (uint32_t flap = 0; flap < 10; flap++) {
		const uint32_t path = flap % PATHS;

		rig_link(rig, FIRST_PATH + path, false);
		paths_of_all(rig, during);
		for (uint32_t i = 0; i < FLOWS; i++)
			cr_assert(before[i] == path ? during[i] != path : during[i] == before[i]);
		rig_link(rig, FIRST_PATH + path, true);
		paths_of_all(rig, during);
		cr_assert_eq(memcmp(before, during, sizeof(before)), 0);
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Fine-grained groups: two banks of two; a lost member's flows stay in its bank while that lives.
Test(ecmp, flows_of_a_lost_member_stay_in_its_bank)
{
	static uint8_t before[FLOWS];
	static uint8_t during[FLOWS];
	struct sw_config *c = paths_config(PATHS);
	struct rig *rig;

	for (uint32_t i = 0; i < PATHS; i++)
		c->next_hop[i].bank = i / 2;
	rig = rig_new(c);
	paths_of_all(rig, before);
	rig_link(rig, FIRST_PATH, false);
	paths_of_all(rig, during);
	for (uint32_t i = 0; i < FLOWS; i++)
		cr_assert_eq(during[i], before[i] == 0 ? 1 : before[i]);
	rig_link(rig, FIRST_PATH + 1, false); // the bank is gone
	paths_of_all(rig, during);
	for (uint32_t i = 0; i < FLOWS; i++)
		cr_assert(before[i] < 2 ? during[i] >= 2 : during[i] == before[i]);
	rig_end(rig);
}

// WCMP: 1:2:3:4 over ten shares.
Test(ecmp, shares_follow_weights)
{
	struct sw_config *c = paths_config(PATHS);
	struct rig *rig;
	uint32_t counts[PATHS] = { 0 };

	for (uint32_t i = 0; i < PATHS; i++)
		c->next_hop[i].weight = i + 1;
	rig = rig_new(c);
	for (uint32_t i = 0; i < 4 * FLOWS; i++) {
		const struct frame f = varied_flow(V_QP, i);

		counts[path_of(rig, &f)]++;
	}
	for (uint32_t i = 0; i < PATHS; i++) {
		const uint32_t share = 4 * FLOWS * (i + 1) / 10;

		cr_assert_geq(counts[i], share * 3 / 4, "weight %u: %u", i + 1, counts[i]);
		cr_assert_leq(counts[i], share * 5 / 4, "weight %u: %u", i + 1, counts[i]);
	}
	rig_end(rig);
}

Test(ecmp, both_directions_of_a_symmetric_hash_agree)
{
	struct sw_config *c = paths_config(PATHS);
	struct rig *rig;

	c->sw.ecmp_hash_symmetric = 1;
	rig = rig_new(c);
	for (uint32_t i = 0; i < 500; i++) {
		struct frame f = varied_flow(V_QP, i);
		struct frame back;
		uint32_t path;

		f.kind = FRAME_UDP;
		f.src_ip = far + 0x10000 + 3 * i;
		f.src_port = (uint16_t)(1000 + 7 * i);
		back = f;
		back.src_ip = f.dst_ip;
		back.dst_ip = f.src_ip;
		back.src_port = f.dst_port;
		back.dst_port = f.src_port;
		path = path_of(rig, &f);
		cr_assert_eq(path_of(rig, &back), path);
	}
	rig_end(rig);
}
