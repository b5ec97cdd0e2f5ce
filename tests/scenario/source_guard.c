// SPDX-License-Identifier: BSD-3-Clause
//
// Source guard on the core: what a host behind an edge port may claim to be, by the modes of the
// port. Port 0 is guarded, host 0 is bound to it by MAC, IPv4 and IPv6 address; port 1 is not
// guarded.

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

#include <string.h>

enum {
	PORTS = 3,
	LEN = 200,
	OTHER = 1, // host whose addresses are claimed
	ND_FRAME = 14 + 40 + 32,
};

static struct rig *guarded(enum config_source_guard mode)
{
	struct sw_config *c = setup_kvm(PORTS);

	setup_vlan(c, 1, "all", "");
	setup_vlan(c, 7, "", "Ethernet0");
	c->port[0].source_guard = mode;
	setup_binding(c, "Ethernet0", frame_host_mac(0), "10.1.0.1");
	setup_binding(c, "Ethernet0", frame_host_mac(0), "fd00::a01:1");
	setup_binding(c, "Ethernet4", frame_host_mac(OTHER), "10.1.0.2");
	return rig_new(c);
}

// What a frame changes of what host 0 would send.
struct claim {
	enum frame_kind kind;
	bool mac, ip; // host 1's instead of its own
	bool ipv6, tagged;
};

static const struct {
	const char *what;
	struct claim claim;
	bool passes[3]; // off, mac, ip
} claim_rows[] = {
	{ "its own addresses", { .kind = FRAME_ROCE }, { true, true, true } },
	{ "its own IPv6 address", { .kind = FRAME_ROCE, .ipv6 = true }, { true, true, true } },
	{ "another's MAC address", { .kind = FRAME_ROCE, .mac = true }, { true, false, false } },
	{ "another's IP address", { .kind = FRAME_ROCE, .ip = true }, { true, true, false } },
	{ "another's IPv6 address",
	  { .kind = FRAME_UDP, .ip = true, .ipv6 = true },
	  { true, true, false } },
	{ "both of another",
	  { .kind = FRAME_TCP, .mac = true, .ip = true },
	  { true, false, false } },
	{ "not IP", { .kind = FRAME_PLAIN }, { true, true, true } },
	{ "not IP, another's MAC address",
	  { .kind = FRAME_PLAIN, .mac = true },
	  { true, false, false } },
	{ "RoCEv1 by its GID", { .kind = FRAME_ROCE_V1 }, { true, true, true } },
	{ "RoCEv1, another's GID", { .kind = FRAME_ROCE_V1, .ip = true }, { true, true, false } },
	{ "ARP", { .kind = FRAME_ARP_REQUEST }, { true, true, true } },
	{ "ARP reply for another's IP address",
	  { .kind = FRAME_ARP_REPLY, .ip = true },
	  { true, true, false } },
	{ "a VLAN it is not bound in",
	  { .kind = FRAME_ROCE, .tagged = true },
	  { true, false, false } },
};

TABLE_TEST(source_guard, claims, row, claim_rows)
{
	for (uint32_t mode = 0; mode < 3; mode++) {
		struct rig *rig = guarded((enum config_source_guard)mode);
		struct frame f = rig_frame(0, 2, 8, LEN);

		f.kind = row->claim.kind;
		f.ethertype = 0x88b5;
		f.ipv6 = row->claim.ipv6;
		f.src = frame_host_mac(row->claim.mac ? OTHER : 0);
		f.src_ip = frame_host_ip(row->claim.ip ? OTHER : 0);
		f.tag_count = row->claim.tagged;
		f.tag[0].tci = 7;
		rig_send(rig, 0, &f);
		cr_assert_eq(rig_drops(rig, 0, DROP_SOURCE_GUARD), !row->passes[mode], "mode %u",
			     mode);
		cr_assert_eq(rig_pg(rig, 0, 0).packets, row->passes[mode]);
		rig_end(rig);
	}
}

static const struct {
	const char *what;
	uint64_t dst;
	uint16_t ethertype;
	bool exempt; // it ends in the switch
} exempt_rows[] = {
	{ "LLDP", 0x0180c200000e, 0x88cc, true },
	{ "its EtherType to a host", 0x020000000003, 0x88cc, false },
	{ "its EtherType to everybody", 0xffffffffffff, 0x88cc, false },
	{ "LLDP that goes further", 0x0180c2000000, 0x88cc, false },
	{ "hellos' EtherType to a host", 0x020000000003, 0x88b5, false },
	{ "LACP's EtherType to a host", 0x020000000003, 0x8809, false },
};

// An EtherType alone exempts nothing: another's MAC address is not let through behind it.
TABLE_TEST(source_guard, only_what_ends_in_the_switch_is_exempt, row, exempt_rows)
{
	struct rig *rig = guarded(CONFIG_GUARD_MAC);
	struct frame f = { .kind = FRAME_PLAIN,
			   .dst = row->dst,
			   .src = frame_host_mac(OTHER),
			   .ethertype = row->ethertype,
			   .len = LEN };

	rig_send(rig, 0, &f);
	cr_expect_eq(rig->punts, row->exempt, "%s", row->what);
	cr_expect_eq(rig_drops(rig, 0, DROP_SOURCE_GUARD), !row->exempt, "%s", row->what);
	cr_expect_eq(rig_release(rig, 2, UINT64_MAX), 0, "%s", row->what);
	cr_expect_eq(rig->learns, 0, "%s", row->what);
	rig_end(rig);
}

// Everybody else pays and notices nothing.
Test(source_guard, other_ports_are_free)
{
	struct rig *rig = guarded(CONFIG_GUARD_IP);
	struct frame f = rig_frame(OTHER, 2, 8, LEN);

	f.src_ip = frame_host_ip(0);
	rig_send(rig, 1, &f);
	cr_assert_eq(rig_release(rig, 2, UINT64_MAX), 1);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- bodies of ARP, DHCP and neighbour discovery ------------------------------------------------

static uint64_t sent(enum config_source_guard mode, const uint8_t *bytes, uint32_t len)
{
	struct rig *rig = guarded(mode);
	uint64_t drops;

	rig_send_bytes(rig, 0, bytes, len);
	drops = rig_drops(rig, 0, DROP_SOURCE_GUARD);
	cr_assert_eq(rig_all_drops(rig), drops);
	rig_end(rig);
	return drops;
}

// ARP whose Ethernet source is right and whose sender is not.
Test(source_guard, arp_sender)
{
	struct frame f = rig_frame(0, 2, 0, 0);
	uint8_t bytes[FRAME_MIN_BYTES];

	f.kind = FRAME_ARP_REPLY;
	frame_write(&f, bytes);
	cr_assert_eq(sent(CONFIG_GUARD_MAC, bytes, sizeof(bytes)), 0);
	store_be48(bytes + 14 + 8, frame_host_mac(OTHER));
	cr_assert_eq(sent(CONFIG_GUARD_MAC, bytes, sizeof(bytes)), 1);
	store_be48(bytes + 14 + 8, frame_host_mac(0));
	store_be32(bytes + 14 + 14, 0); // a probe
	cr_assert_eq(sent(CONFIG_GUARD_IP, bytes, sizeof(bytes)), 0);
}

Test(source_guard, dhcp_from_no_address)
{
	struct frame f = rig_frame(0, 2, 0, 0);
	uint8_t bytes[LEN];

	f.kind = FRAME_UDP;
	f.len = LEN;
	f.src_ip = 0;
	f.src_port = 68;
	f.dst_port = 67;
	frame_write(&f, bytes);
	cr_assert_eq(sent(CONFIG_GUARD_IP, bytes, sizeof(bytes)), 0);
	f.dst_port = 53;
	frame_write(&f, bytes);
	cr_assert_eq(sent(CONFIG_GUARD_IP, bytes, sizeof(bytes)), 1);
}

// fd00::a01:1 is host 0's, fd00::a01:2 host 1's; fe80::ff:fe00:1 is the modified EUI-64 of
// 02:00:00:00:00:01 (RFC 4291 appendix A: invert the universal bit, put fffe in the middle).
#define OWN "\xfd\0\0\0\0\0\0\0\0\0\0\0\x0a\x01\0\x01"
#define ANOTHER "\xfd\0\0\0\0\0\0\0\0\0\0\0\x0a\x01\0\x02"
#define LINK_LOCAL "\xfe\x80\0\0\0\0\0\0\0\0\0\xff\xfe\0\0\x01"
#define OTHER_LINK_LOCAL "\xfe\x80\0\0\0\0\0\0\0\0\0\xff\xfe\0\0\x02"
#define NONE "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ALL_NODES "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"

static const struct {
	const char *what;
	uint8_t type;
	const char *src, *target;
	uint32_t option_host;
	bool passes[2]; // mac, ip
} nd_rows[] = {
	{ "an advertisement of its own", 136, OWN, OWN, 0, { true, true } },
	{ "from its link-local address", 136, LINK_LOCAL, LINK_LOCAL, 0, { true, true } },
	{ "for another's address", 136, OWN, ANOTHER, 0, { true, false } },
	{ "from another's link-local address", 136, OTHER_LINK_LOCAL, OWN, 0, { true, false } },
	{ "with another's MAC address", 136, OWN, OWN, OTHER, { false, false } },
	{ "a solicitation of another", 135, OWN, ANOTHER, 0, { true, true } },
	{ "a solicitation with another's MAC", 135, OWN, ANOTHER, OTHER, { false, false } },
	{ "a solicitation from another", 135, ANOTHER, OWN, 0, { true, false } },
	{ "a probe for its own address", 135, NONE, OWN, 0, { true, true } },
	{ "a probe for another's", 135, NONE, ANOTHER, 0, { true, false } },
};

// Neighbour discovery to a group, with one link-layer address option.
static void write_nd(uint8_t *out, uint8_t type, const char *src, const char *target, uint32_t host)
{
	memset(out, 0, ND_FRAME);
	store_be48(out, 0x333300000001);
	store_be48(out + 6, frame_host_mac(0));
	store_be16(out + 12, 0x86dd);
	out[14] = 0x60;
	store_be16(out + 18, 32);
	out[20] = 58;
	out[21] = 255;
	memcpy(out + 22, src, 16);
	memcpy(out + 38, ALL_NODES, 16);
	out[54] = type;
	memcpy(out + 62, target, 16);
	out[78] = type == 136 ? 2 : 1;
	out[79] = 1;
	store_be48(out + 80, frame_host_mac(host));
}

TABLE_TEST(source_guard, neighbour_discovery, row, nd_rows)
{
	uint8_t bytes[ND_FRAME];

	write_nd(bytes, row->type, row->src, row->target, row->option_host);
	cr_assert_eq(sent(CONFIG_GUARD_MAC, bytes, sizeof(bytes)), !row->passes[0]);
	cr_assert_eq(sent(CONFIG_GUARD_IP, bytes, sizeof(bytes)), !row->passes[1]);
	cr_assert_eq(sent(CONFIG_GUARD_OFF, bytes, sizeof(bytes)), 0);
}

// Behind a destination options header, where a careless guard does not look.
Test(source_guard, hidden_neighbour_discovery)
{
	uint8_t plain[ND_FRAME];
	uint8_t bytes[ND_FRAME + 8] = { 0 };

	write_nd(plain, 136, OWN, ANOTHER, OTHER);
	memcpy(bytes, plain, 54);
	memcpy(bytes + 62, plain + 54, ND_FRAME - 54);
	store_be16(bytes + 18, 40);
	bytes[20] = 60; // destination options, then ICMPv6
	bytes[54] = 58;
	bytes[56] = 1; // four bytes of padding
	bytes[57] = 4;
	cr_assert_eq(sent(CONFIG_GUARD_MAC, bytes, sizeof(bytes)), 1);
	cr_assert_eq(sent(CONFIG_GUARD_OFF, bytes, sizeof(bytes)), 0);
}
