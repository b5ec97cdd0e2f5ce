// SPDX-License-Identifier: BSD-3-Clause
//
// The access list on the core: what each action does with a packet, in which order rows decide,
// what they count, where remarked packets go and that they are still right, how exact a policer
// is, and tenants that cannot reach each other.
//
// Classes are AZURE's: DSCP 3 and 4 are lossless, DSCP 8 is class 0, DSCP 46 class 5, others 1.

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	LEN = 300,
	DSCP_LOSSY = 8,
	DSCP_LOSSLESS = 3,
	ETH = 14,
};

#define SECOND_NS 1000000000ull

static struct acl_stats row_stats(const struct rig *rig, uint32_t row)
{
	struct acl_stats st;

	sw_stats_acl(rig->sw, row, &st);
	return st;
}

// --- actions and order --------------------------------------------------------------------------

static void permit_then_deny(struct sw_config *c)
{
	setup_name(setup_acl(c, "first", ACL_PERMIT)->l4_dst_port, "4791");
	setup_acl(c, "second", ACL_DENY);
}

static void deny_then_permit(struct sw_config *c)
{
	setup_acl(c, "first", ACL_DENY);
	setup_acl(c, "second", ACL_PERMIT);
}

static void count_then_deny(struct sw_config *c)
{
	setup_acl(c, "first", ACL_COUNT);
	setup_acl(c, "second", ACL_DENY);
}

static void count_alone(struct sw_config *c)
{
	setup_acl(c, "first", ACL_COUNT);
}

static void deny_another_port(struct sw_config *c)
{
	setup_text(setup_acl(c, "first", ACL_DENY)->in_ports, "Ethernet4 Ethernet8");
}

static void deny_this_port(struct sw_config *c)
{
	setup_text(setup_acl(c, "first", ACL_DENY)->in_ports, "Ethernet8 Ethernet0");
}

static void deny_lossless(struct sw_config *c)
{
	setup_acl(c, "first", ACL_DENY)->tc = 1 << 3 | 1 << 4;
}

static void deny_queue_pair(struct sw_config *c)
{
	setup_acl(c, "first", ACL_DENY)->bth_dst_qp = 17;
}

static const struct {
	const char *what;
	void (*rows)(struct sw_config *c);
	uint8_t dscp;
	bool passes;
	uint32_t seen[2]; // by the rows
	uint32_t dropped[2];
} action_rows[] = {
	{ "the first row that meets it decides: permit",
	  permit_then_deny,
	  DSCP_LOSSY,
	  true,
	  { 1, 0 },
	  { 0, 0 } },
	{ "the first row that meets it decides: deny",
	  deny_then_permit,
	  DSCP_LOSSY,
	  false,
	  { 1, 0 },
	  { 1, 0 } },
	{ "count goes on", count_then_deny, DSCP_LOSSY, false, { 1, 1 }, { 0, 1 } },
	{ "what no row decides is permitted", count_alone, DSCP_LOSSY, true, { 1, 0 }, { 0, 0 } },
	{ "a row of other ports", deny_another_port, DSCP_LOSSY, true, { 0, 0 }, { 0, 0 } },
	{ "a row of this port among others",
	  deny_this_port,
	  DSCP_LOSSY,
	  false,
	  { 1, 0 },
	  { 1, 0 } },
	{ "a lossless packet is denied too",
	  deny_lossless,
	  DSCP_LOSSLESS,
	  false,
	  { 1, 0 },
	  { 1, 0 } },
	{ "its class is that of the port's map",
	  deny_lossless,
	  DSCP_LOSSY,
	  true,
	  { 0, 0 },
	  { 0, 0 } },
	{ "by queue pair", deny_queue_pair, DSCP_LOSSLESS, false, { 1, 0 }, { 1, 0 } },
};

TABLE_TEST(acl, actions, row, action_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct rig *rig;
	struct frame f = rig_frame(0, 1, row->dscp, LEN);

	row->rows(c);
	f.qp = 17;
	rig = rig_new(c);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), row->passes);
	cr_assert_eq(rig_drops(rig, 0, DROP_ACL_DENY), !row->passes);
	cr_assert_eq(rig_port(rig, 0).in_dropped_pkts, !row->passes);
	cr_assert_eq(rig_port(rig, 0).if_in_ucast_pkts, 1);
	// Nothing was ever charged for a denied packet.
	cr_assert_eq(rig_pg(rig, 0, row->dscp == DSCP_LOSSLESS ? 3 : 0).packets, row->passes);
	for (uint32_t i = 0; i < rig->pf->acl_count; i++) {
		cr_assert_eq(row_stats(rig, i).packets, row->seen[i], "row %u", i);
		cr_assert_eq(row_stats(rig, i).bytes, row->seen[i] * LEN, "row %u", i);
		cr_assert_eq(row_stats(rig, i).dropped_packets, row->dropped[i], "row %u", i);
	}
	rig_end(rig);
}

// What ends in the switch itself is no row's business.
Test(acl, pfc_is_obeyed_behind_a_row_that_denies_all)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSLESS, LEN);
	struct rig *rig;

	setup_text(setup_acl(c, "deny", ACL_DENY)->in_ports, "Ethernet4");
	rig = rig_new(c);
	rig_send_pfc(rig, 1, 1 << 3, UINT16_MAX);
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), 0);
	cr_assert_eq(rig_prio(rig, 1, 3).pfc_rx_pkts, 1);
	rig_send_pfc(rig, 1, 1 << 3, 0);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), 1);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t dst;
	bool denied;
} lldp_rows[] = {
	{ "LLDP ends in the switch", 0x0180c200000e, false },
	{ "its EtherType to a host", 0x020000000002, true },
	{ "its EtherType to a group", 0x0180c2000010, true },
};

TABLE_TEST(acl, an_ethertype_is_no_way_past_a_row, row, lldp_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = { .kind = FRAME_PLAIN,
			   .dst = row->dst,
			   .src = frame_host_mac(0),
			   .ethertype = 0x88cc,
			   .len = LEN };
	struct rig *rig;

	setup_acl(c, "deny", ACL_DENY);
	rig = rig_new(c);
	rig_send(rig, 0, &f);
	cr_expect_eq(rig_drops(rig, 0, DROP_ACL_DENY), row->denied, "%s", row->what);
	cr_expect_eq(rig->punts, !row->denied, "%s", row->what);
	for (uint32_t i = 1; i < PORTS; i++)
		cr_expect_eq(rig_release(rig, i, UINT64_MAX), 0, "%s", row->what);
	rig_end(rig);
}

// --- remark -------------------------------------------------------------------------------------

static uint32_t crc32_bits(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (uint32_t i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	return crc;
}

// ICRC of an untagged RoCEv2 frame without its last four bytes: the CRC of Ethernet over eight
// bytes of ones and the packet from IP on, with ones for what routers change: traffic class, hop
// limit, flow label, both checksums and the BTH's resv8a (IBTA A17.3.3).
static uint32_t icrc(const uint8_t *frame, uint32_t len)
{
	static const uint8_t ones_v4[] = { 1, 8, 10, 11, 26, 27, 32 };
	static const uint8_t ones_v6[] = { 1, 2, 3, 7, 46, 47, 52 };
	const bool ipv6 = frame[ETH] >> 4 == 6;
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < 8; i++)
		crc = crc32_bits(crc, 0xff);
	for (uint32_t i = 0; ETH + i < len - 4; i++) {
		uint8_t byte = frame[ETH + i];

		if (ipv6 && i == 0)
			byte |= 0x0f;
		for (uint32_t k = 0; k < sizeof(ones_v4); k++)
			byte |= (uint8_t)(i == (ipv6 ? ones_v6 : ones_v4)[k] ? 0xff : 0);
		crc = crc32_bits(crc, byte);
	}
	return ~crc;
}

static const struct {
	const char *what;
	uint8_t dscp;
	uint64_t set_dscp, set_tc;
	bool ipv6;
	bool cnp;
	uint8_t want_dscp;
	uint32_t want_queue;
} remark_rows[] = {
	{ "class alone: the code point stays", DSCP_LOSSY, CONFIG_UNSET, 5, false, false,
	  DSCP_LOSSY, 5 },
	{ "code point alone: the class stays", DSCP_LOSSY, 46, CONFIG_UNSET, false, false, 46, 0 },
	{ "both", DSCP_LOSSY, 46, 5, false, false, 46, 5 },
	{ "both, IPv6", DSCP_LOSSY, 46, 5, true, false, 46, 5 },
	{ "to 63", DSCP_LOSSY, 63, 1, false, false, 63, 1 },
	{ "to 0, IPv6", 63, 0, CONFIG_UNSET, true, false, 0, 1 },
	{ "out of a lossless class", DSCP_LOSSLESS, 8, 0, false, false, 8, 0 },
	{ "into a lossless class", DSCP_LOSSY, 3, 3, false, false, 3, 3 },
	{ "a CNP keeps its class", 48, 3, 3, false, true, 3, 6 },
};

TABLE_TEST(acl, remark, row, remark_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct acl_config *acl = setup_acl(c, "remark", ACL_REMARK);
	struct frame f = rig_frame(0, 1, row->dscp, LEN);
	struct frame out;
	struct rig *rig;
	struct pkt *p;
	uint32_t before;

	acl->set_dscp = row->set_dscp;
	acl->set_tc = row->set_tc;
	f.ecn = 2;
	f.ipv6 = row->ipv6;
	f.opcode = row->cnp ? 0x81 : 0x07;
	rig = rig_new(c);
	p = rig_build(rig, &f);
	before = icrc(p->data, p->len);
	rig_rx(rig, 0, &p, 1);
	cr_assert_eq(rig_queue(rig, 1, row->want_queue).curr_occupancy_packets, 1);
	cr_assert_eq(rig_pg(rig, 0, rig->pf->port[0].tc_to_pg[row->want_queue]).packets, 1);
	p = rig_take(rig, 1);
	cr_assert_not_null(p);
	cr_assert(frame_read(p->data, p->len, &out));
	cr_assert_eq(out.dscp, row->want_dscp);
	cr_assert_eq(out.ecn, 2);
	cr_assert_eq(out.src_ip, f.src_ip);
	if (!row->ipv6)
		cr_assert_eq(frame_sum(p->data + ETH, 20, 0), 0xffff);
	cr_assert_eq(icrc(p->data, p->len), before);
	p->data[ETH + 19] ^= 1; // of an address, to see that the formula looks at it
	cr_assert_neq(icrc(p->data, p->len), before);
	rig_free(rig, p);
	cr_assert_eq(row_stats(rig, 0).packets, 1);
	cr_assert_eq(row_stats(rig, 0).dropped_packets, 0);
	rig_end(rig);
}

// A checksum that was wrong stays wrong: a corruption upstream is not hidden.
Test(acl, remark_keeps_a_wrong_checksum_wrong)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, LEN);
	struct rig *rig;
	struct pkt *p;

	setup_acl(c, "remark", ACL_REMARK)->set_dscp = 46;
	rig = rig_new(c);
	p = rig_build(rig, &f);
	p->data[ETH + 10] ^= 0x10;
	rig_rx(rig, 0, &p, 1);
	p = rig_take(rig, 1);
	cr_assert_not_null(p);
	cr_assert_neq(frame_sum(p->data + ETH, 20, 0), 0xffff);
	rig_free(rig, p);
	rig_end(rig);
}

// --- police -------------------------------------------------------------------------------------

static struct acl_config *police(struct sw_config *c, uint64_t rate, uint64_t burst)
{
	struct acl_config *row = setup_acl(c, "police", ACL_POLICE);

	row->rate = rate;
	row->burst = burst;
	row->tc = 1 << 0;
	return row;
}

static const struct {
	const char *what;
	uint64_t rate, burst;
	uint32_t len;
	uint64_t gap_ns; // between frames
	uint64_t seconds;
} police_rows[] = {
	{ "eight times the rate", 100000000, 10000, 1000, 10000, 2 },
	{ "a rate that does not divide", 33333333, 1500, 1000, 7000, 3 },
	{ "small frames", 10000000, 64000, 60, 5000, 2 },
	{ "no burst at all", 100000000, 0, 1000, 10000, 1 },
};

// What passes in T seconds is rate x T and the burst, give or take a frame: the one that the last
// bytes did not pay for.
TABLE_TEST(acl, police_is_exact, row, police_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, row->len);
	const uint64_t count = row->seconds * SECOND_NS / row->gap_ns;
	const uint64_t earned = row->rate / 8 * row->seconds;
	struct rig *rig;
	uint64_t passed = 0;

	police(c, row->rate, row->burst);
	rig = rig_new(c);
	for (uint64_t i = 0; i < count; i++) {
		rig_send(rig, 0, &f);
		passed += rig_release(rig, 1, UINT64_MAX) * row->len;
		rig_advance(rig, row->gap_ns);
	}
	cr_assert_leq(passed, earned + row->burst + row->len);
	cr_assert_geq(passed, earned + row->burst - row->len);
	cr_assert_eq(rig_drops(rig, 0, DROP_ACL_POLICED), count - passed / row->len);
	cr_assert_eq(row_stats(rig, 0).dropped_packets, count - passed / row->len);
	cr_assert_eq(row_stats(rig, 0).packets, count);
	rig_end(rig);
}

// After silence the burst passes at once: every frame that begins within it.
Test(acl, police_lets_a_burst_pass)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, 1000);
	struct rig *rig;

	police(c, 100000000, 10000);
	rig = rig_new(c);
	rig_advance(rig, SECOND_NS);
	rig_send_many(rig, 0, &f, 40);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), 11);
	cr_assert_eq(rig_drops(rig, 0, DROP_ACL_POLICED), 29);
	rig_end(rig);
}

Test(acl, police_remarks_the_excess)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct acl_config *row = police(c, 100000000, 2000);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, 1000);
	struct rig *rig;

	row->exceed = ACL_EXCEED_REMARK;
	row->set_tc = 1;
	rig = rig_new(c);
	rig_advance(rig, SECOND_NS);
	rig_send_many(rig, 0, &f, 10);
	cr_assert_eq(rig_queue(rig, 1, 0).curr_occupancy_packets, 3);
	cr_assert_eq(rig_queue(rig, 1, 1).curr_occupancy_packets, 7);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- tenants ------------------------------------------------------------------------------------

enum { TENANT_HOSTS = 6, NO_TENANT = 2 };

static uint32_t tenant_of(uint32_t host)
{
	return host / 2; // 0 and 1, then none
}

static struct sw_config *tenant_config(void)
{
	struct sw_config *c = setup_kvm(TENANT_HOSTS);
	setup_acl_group(c, "blue", "10.1.0.1");
	setup_acl_group(c, "green", "10.1.0.3");
	setup_acl_group(c, "blue", "10.1.0.2/32");
	setup_acl_group(c, "blue", "fd00::a01:1");
	setup_acl_group(c, "blue", "fd00::a01:2");
	setup_acl_group(c, "green", "10.1.0.4");
	setup_acl_group(c, "green", "fd00::a01:3");
	setup_acl_group(c, "green", "fd00::a01:4/128");
	return c;
}

static const struct {
	const char *what;
	enum frame_kind kind;
	bool ipv6;
} tenant_rows[] = {
	{ "RoCEv2", FRAME_ROCE, false },
	{ "RoCEv2 over IPv6", FRAME_ROCE, true },
	{ "TCP", FRAME_TCP, false },
	{ "ARP", FRAME_ARP_REQUEST, false },
	{ "RoCEv1 by its GIDs", FRAME_ROCE_V1, false },
};

static bool passes(struct rig *rig, const struct frame *f, uint32_t from, uint32_t to)
{
	const uint64_t before = rig_drops(rig, from, DROP_ACL_DENY);

	rig_send(rig, from, f);
	rig_advance(rig, 1000);
	if (rig_drops(rig, from, DROP_ACL_DENY) != before)
		return false;
	if (f->kind != FRAME_ARP_REQUEST)
		cr_assert_eq(rig_release(rig, to, UINT64_MAX), 1);
	for (uint32_t i = 0; i < TENANT_HOSTS; i++)
		rig_release(rig, i, UINT64_MAX);
	return true;
}

// Two rows each: a tenant's hosts reach those of their own tenant and nobody else.
TABLE_TEST(acl, tenants_reach_their_own_only, row, tenant_rows)
{
	static const char *const names[] = { "blue", "green" };
	struct sw_config *c = tenant_config();
	struct rig *rig;

	for (uint32_t t = 0; t < 2; t++) {
		struct acl_config *own = setup_acl(c, names[t], ACL_PERMIT);

		setup_name(own->src_group, names[t]);
		setup_name(own->dst_group, names[t]);
		setup_name(setup_acl(c, t == 0 ? "blue only" : "green only", ACL_DENY)->src_group,
			   names[t]);
	}
	rig = rig_new(c);
	for (uint32_t pair = 0; pair < TENANT_HOSTS * TENANT_HOSTS; pair++) {
		const uint32_t from = pair / TENANT_HOSTS, to = pair % TENANT_HOSTS;
		const bool want = tenant_of(from) == NO_TENANT || tenant_of(from) == tenant_of(to);
		struct frame f = rig_frame(from, to, DSCP_LOSSY, LEN);

		f.kind = row->kind;
		f.ipv6 = row->ipv6;
		if (from != to)
			cr_assert_eq(passes(rig, &f, from, to), want, "%u to %u", from, to);
	}
	rig_end(rig);
}

// --- changes ------------------------------------------------------------------------------------

// A row keeps its counters where it stays; one that has come to its place starts anew.
Test(acl, counters_over_a_new_profile)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, LEN);
	struct rig *rig;

	c->sw.acl_count = 3;
	setup_acl(c, "stays", ACL_COUNT);
	setup_acl(c, "goes", ACL_COUNT);
	rig = rig_new(c);
	rig_send_many(rig, 0, &f, 5);
	setup_name(c->acl[1].name, "new");
	setup_acl(c, "more", ACL_DENY);
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(row_stats(rig, 0).packets, 5);
	cr_assert_eq(row_stats(rig, 1).packets, 0);
	rig_send(rig, 0, &f);
	cr_assert_eq(row_stats(rig, 0).packets, 6);
	cr_assert_eq(row_stats(rig, 2).dropped_packets, 1);
	rig_release(rig, 1, UINT64_MAX);
	// One more than there was room for, and again: what was counted moves along.
	for (uint32_t count = 4; count <= 5; count++) {
		setup_acl(c, count == 4 ? "fourth" : "fifth", ACL_DENY);
		cr_assert_eq(rig_reload(rig), 0);
		cr_assert_eq(rig->pf->acl_count, count);
		cr_assert_eq(row_stats(rig, 0).packets, 6);
		cr_assert_eq(row_stats(rig, 2).dropped_packets, 1);
	}
	rig_end(rig);
}

// A later fragment has no ports: rows about ports let it through, rows about addresses do not.
Test(acl, later_fragments_have_no_ports)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(0, 1, DSCP_LOSSY, LEN);
	struct rig *rig;
	struct pkt *p;

	f.kind = FRAME_UDP;
	f.dst_port = 53;
	setup_name(setup_acl(c, "port", ACL_DENY)->l4_dst_port, "53");
	setup_acl(c, "protocol", ACL_DENY)->ip_protocol = 17;
	rig = rig_new(c);
	p = rig_build(rig, &f);
	store_be16(p->data + ETH + 6, 100); // fragment offset
	rig_rx(rig, 0, &p, 1);
	cr_assert_eq(row_stats(rig, 0).packets, 0);
	cr_assert_eq(row_stats(rig, 1).packets, 1);
	rig_send(rig, 0, &f);
	cr_assert_eq(row_stats(rig, 0).packets, 1);
	rig_end(rig);
}
