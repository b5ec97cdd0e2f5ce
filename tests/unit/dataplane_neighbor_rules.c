// SPDX-License-Identifier: BSD-3-Clause
//
// Whom the switch answers, and what it believes. A switch with gateways in VLANs 10 and 20, hosts
// of a fabric behind itself and behind another edge, a route, and next hops of every kind.

#include "dataplane/neighbor_rules.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/keep.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum {
	PORTS = 6,
	SELF = 3,
	OTHER = 4,
	LOST = 5, // an edge without a group
	VLAN_A = 10,
	VLAN_B = 20,
};

#define ROUTER 0x02aa00000001u
#define HOST_A1 0x020000000001u // 10.1.0.11, own port 1
#define HOST_A2 0x020000000002u // 10.1.0.12, edge OTHER
#define HOST_A3 0x020000000003u // 10.1.0.13, edge LOST
#define HOST_B 0x020000000004u  // 10.2.0.11, own port 3
#define BROADCAST 0xffffffffffffu

enum {
	GATEWAY_A = 0x0a010001,
	GATEWAY_B = 0x0a020001,
	IP_A1 = 0x0a01000b,
	IP_A2 = 0x0a01000c,
	IP_A3 = 0x0a01000d,
	IP_NEW = 0x0a010063, // in the network, no host
	IP_B = 0x0a02000b,
	IP_FAR = 0x0b000001, // behind the route
	IP_HOLE = 0x0c000001,
	IP_ASKER = IP_A1,
};

static void add_host(struct sw_config *c, uint64_t mac, uint16_t vlan, uint32_t ip, uint16_t edge,
		     uint32_t port)
{
	setup_fabric_host(c, mac, ip, edge, port);
	c->host[c->host_count - 1].vlan = vlan;
}

static struct sw_config *fabric(bool managed)
{
	struct sw_config *c = keep(setup_kvm(PORTS));

	c->sw.router_mac = ROUTER;
	c->sw.forwarding = managed ? CONFIG_FORWARDING_MANAGED : CONFIG_FORWARDING_STANDALONE;
	c->sw.edge_number = SELF;
	setup_vlan(c, VLAN_A, "Ethernet0 Ethernet4", "Ethernet20");
	setup_vlan(c, VLAN_B, "Ethernet8 Ethernet12", "Ethernet20");
	setup_interface(c, VLAN_A, GATEWAY_A, 24);
	setup_interface(c, VLAN_B, GATEWAY_B, 24);
	setup_next_hop(c, "up", 4, 0);
	setup_edge(c, OTHER, "up");
	setup_route(c, 0x0b000000, 8, "up");
	setup_route(c, 0x0c000000, 8, "drop");
	add_host(c, HOST_A1, VLAN_A, IP_A1, SELF, 1);
	add_host(c, HOST_A2, VLAN_A, IP_A2, OTHER, 0);
	add_host(c, HOST_A3, VLAN_A, IP_A3, LOST, 0);
	add_host(c, HOST_B, VLAN_B, IP_B, SELF, 3);
	return c;
}

static struct neighbor_view build(const struct sw_config *c)
{
	struct sw_profile *pf = keep(calloc(1, profile_bytes(c)));
	void *memory = keep(aligned_alloc(64, tables_bytes(c, 16)));
	struct sw_tables *tables;
	struct profile_fault fault;

	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(tables_build(c, pf, 16, memory, &tables, &fault), 0, "fault %d %s", fault.id,
		     fault.object);
	return (struct neighbor_view){ c, pf, tables };
}

enum { STANDALONE, MANAGED };

static const struct {
	const char *what;
	int mode;
	uint32_t sender; // 0: a probe
	uint32_t target;
	uint64_t to;
	uint16_t port;
	uint16_t vid;
	uint64_t mac; // 0: no answer
} judge_rows[] = {
	{ "the gateway", STANDALONE, IP_NEW, GATEWAY_A, BROADCAST, 0, VLAN_A, ROUTER },
	{ "the gateway, managed", MANAGED, IP_ASKER, GATEWAY_A, BROADCAST, 1, VLAN_A, ROUTER },
	{ "a duplicate of the gateway", STANDALONE, 0, GATEWAY_A, BROADCAST, 0, VLAN_A, ROUTER },
	{ "the same, managed", MANAGED, 0, GATEWAY_A, BROADCAST, 0, VLAN_A, ROUTER },
	{ "who claims to be the gateway", STANDALONE, GATEWAY_A, GATEWAY_A, BROADCAST, 0, VLAN_A,
	  ROUTER },
	{ "another network's gateway", STANDALONE, IP_NEW, GATEWAY_B, BROADCAST, 0, VLAN_A, 0 },
	{ "a host, which answers itself", STANDALONE, IP_NEW, IP_A2, BROADCAST, 0, VLAN_A, 0 },
	{ "another network, standalone", STANDALONE, IP_NEW, IP_B, ROUTER, 0, VLAN_A, 0 },
	{ "a host behind another edge", MANAGED, IP_ASKER, IP_A2, BROADCAST, 1, VLAN_A, HOST_A2 },
	{ "a host behind another port", MANAGED, IP_NEW, IP_A1, BROADCAST, 0, VLAN_A, HOST_A1 },
	{ "a host behind the same port", MANAGED, IP_NEW, IP_A1, BROADCAST, 1, VLAN_A, 0 },
	{ "a host that nothing leads to", MANAGED, IP_ASKER, IP_A3, BROADCAST, 1, VLAN_A, 0 },
	{ "a probe for a host", MANAGED, 0, IP_A2, BROADCAST, 1, VLAN_A, 0 },
	{ "a host's announcement", MANAGED, IP_A2, IP_A2, BROADCAST, 1, VLAN_A, 0 },
	{ "nobody", MANAGED, IP_ASKER, IP_NEW, BROADCAST, 1, VLAN_A, 0 },
	{ "a host of another network", MANAGED, IP_ASKER, IP_B, BROADCAST, 1, VLAN_A, 0 },
	{ "the same, asked of the router", MANAGED, IP_ASKER, IP_B, ROUTER, 1, VLAN_A, ROUTER },
	{ "a route, asked of the router", MANAGED, IP_ASKER, IP_FAR, ROUTER, 1, VLAN_A, ROUTER },
	{ "a route, asked of all", MANAGED, IP_ASKER, IP_FAR, BROADCAST, 1, VLAN_A, 0 },
	{ "a black hole", MANAGED, IP_ASKER, IP_HOLE, ROUTER, 1, VLAN_A, 0 },
	{ "what no route holds", MANAGED, IP_ASKER, 0x0d000001, ROUTER, 1, VLAN_A, 0 },
};

TABLE_TEST(neighbor_rules, answers, row, judge_rows)
{
	const struct neighbor_view view = build(fabric(row->mode == MANAGED));
	struct neighbor_message message = {
		.request = true,
		.target = setup_ipv4(row->target, 32),
		.mac = HOST_A1,
		.destination_mac = row->to,
	};
	struct neighbor_verdict verdict;

	if (row->sender != 0)
		message.sender = setup_ipv4(row->sender, 32);
	verdict = neighbor_judge(&view, &message, (port_t){ row->port }, row->vid);
	cr_assert_eq(verdict.answer, row->mac != 0, "%s", row->what);
	if (!verdict.answer)
		return;
	cr_assert_eq(verdict.mac, row->mac, "%s", row->what);
	cr_assert_eq(verdict.router, row->mac == ROUTER, "%s", row->what);
	message.request = false;
	cr_assert_not(neighbor_judge(&view, &message, (port_t){ row->port }, row->vid).answer);
}

static const struct {
	const char *what;
	uint32_t address;
	uint16_t vid;
	bool found;
} interface_rows[] = {
	{ "a host of the network", IP_NEW, VLAN_A, true },
	{ "the gateway itself", GATEWAY_A, VLAN_A, false },
	{ "a host of another VLAN's network", IP_B, VLAN_A, false },
	{ "the same in its VLAN", IP_B, VLAN_B, true },
	{ "a VLAN without interface", IP_NEW, 1, false },
	{ "an address of no network", IP_FAR, VLAN_A, false },
};

TABLE_TEST(neighbor_rules, networks, row, interface_rows)
{
	const struct sw_config *c = fabric(false);
	const struct ip_prefix address = setup_ipv4(row->address, 32);
	const struct interface_config *got = neighbor_interface(c, row->vid, &address);

	cr_assert_eq(got != NULL, row->found, "%s", row->what);
	if (got != NULL)
		cr_assert_eq(got->vlan, row->vid, "%s", row->what);
}

static const struct {
	const char *what;
	uint32_t address;
	bool broadcast;
} broadcast_rows[] = {
	{ "a host", IP_NEW, false },
	{ "all hosts of a network", 0x0a0100ff, true },
	{ "the network itself", 0x0a020000, true },
	{ "an address elsewhere that ends alike", 0x0b0000ff, false },
	{ "the last address of a link of two", 0x0a030001, false },
	{ "the first of a link of two", 0x0a030000, false },
};

// RFC 3021: a network of two addresses has no broadcast address.
TABLE_TEST(neighbor_rules, broadcasts, row, broadcast_rows)
{
	struct sw_config *c = fabric(false);
	uint8_t address[4];

	setup_interface(c, VLAN_B, 0x0a030000, 31);
	store_be32(address, row->address);
	cr_assert_eq(neighbor_is_broadcast(c, address), row->broadcast, "%s", row->what);
}

static const struct {
	const char *what;
	uint16_t vid;
	bool ipv6;
	uint32_t source;
	uint32_t gateway; // 0: none
} gateway_rows[] = {
	{ "of its network", VLAN_A, false, IP_NEW, GATEWAY_A },
	{ "of its second network", VLAN_A, false, 0x0a05000a, 0x0a050001 },
	{ "behind another router", VLAN_A, false, IP_FAR, GATEWAY_A },
	{ "of the VLAN, not of the network", VLAN_B, false, IP_NEW, GATEWAY_B },
	{ "no address in the VLAN", 1, false, IP_NEW, 0 },
	{ "no address of the family", VLAN_A, true, IP_NEW, 0 },
};

TABLE_TEST(neighbor_rules, gateways, row, gateway_rows)
{
	struct sw_config *c = fabric(false);
	uint8_t ip[40] = { 0 };
	const struct ip_prefix *got;
	struct neighbor_view view;

	setup_interface(c, VLAN_A, 0x0a050001, 24);
	view = build(c);
	store_be32(ip + 12, row->source);
	got = neighbor_gateway(&view, row->vid, ip, row->ipv6);
	cr_assert_eq(got != NULL, row->gateway != 0, "%s", row->what);
	if (got != NULL)
		cr_assert_eq(load_be32(got->address), row->gateway, "%s", row->what);
}

enum { AT_PORT, ANYWHERE, TAGGED, FIXED_MAC, FIXED, BRIDGE };

// Rows AT_PORT to BRIDGE behind the one of fabric().
static struct sw_config *with_next_hops(void)
{
	struct sw_config *c = fabric(false);
	struct next_hop_config *row;

	for (uint32_t i = AT_PORT; i <= BRIDGE; i++) {
		row = setup_next_hop(c, "hops", 0, i == FIXED || i == FIXED_MAC ? HOST_B : 0);
		if (i != BRIDGE)
			row->address = setup_ipv4(IP_NEW, 32);
		if (i == ANYWHERE || i == TAGGED || i == FIXED_MAC)
			row->port[0] = '\0';
		if (i == TAGGED)
			row->vlan = VLAN_A;
	}
	return c;
}

static const struct {
	const char *what;
	uint32_t hop;
	uint32_t address;
	uint16_t vid;
	uint16_t port;
	bool found;
} hop_rows[] = {
	{ "at its port", AT_PORT, IP_NEW, VLAN_A, 0, true },
	{ "at another port", AT_PORT, IP_NEW, VLAN_A, 1, false },
	{ "another address", AT_PORT, IP_A1, VLAN_A, 0, false },
	{ "at any port", ANYWHERE, IP_NEW, VLAN_A, 1, true },
	{ "at a port where the VLAN is tagged", ANYWHERE, IP_NEW, VLAN_A, 5, false },
	{ "the same with the VLAN given", TAGGED, IP_NEW, VLAN_A, 5, true },
	{ "in another VLAN", TAGGED, IP_NEW, VLAN_B, 5, false },
	{ "with a MAC address of its own", FIXED_MAC, IP_NEW, VLAN_A, 1, true },
	{ "one that is not asked for", FIXED, IP_NEW, VLAN_A, 0, false },
	{ "a bridge, which has no address", BRIDGE, IP_NEW, VLAN_A, 0, false },
};

TABLE_TEST(neighbor_rules, next_hops, row, hop_rows)
{
	const struct neighbor_view view = build(with_next_hops());
	const struct ip_prefix address = setup_ipv4(row->address, 32);
	const uint32_t at = view.config->next_hop_count - 1 - BRIDGE + row->hop;

	cr_assert_eq(neighbor_is_next_hop(&view, at, &address, row->vid, (port_t){ row->port }),
		     row->found, "%s", row->what);
}

static const struct {
	const char *what;
	uint32_t hop;
	uint16_t vid, port; // of its neighbour
	uint32_t others;    // next hops that follow the same one, as bits
} key_rows[] = {
	{ "at its port", AT_PORT, VLAN_A, 0, 0 },
	{ "anywhere", ANYWHERE, 0, UINT16_MAX, 1u << FIXED_MAC },
	{ "in its VLAN", TAGGED, VLAN_A, UINT16_MAX, 0 },
	{ "anywhere, for its port alone", FIXED_MAC, 0, UINT16_MAX, 1u << ANYWHERE },
};

// Whom a next hop follows: those of one address at different places are independent.
TABLE_TEST(neighbor_rules, next_hops_follow, row, key_rows)
{
	const struct neighbor_view view = build(with_next_hops());
	const uint32_t first = view.config->next_hop_count - 1 - BRIDGE;
	const struct neighbor_key key = neighbor_next_hop_key(&view, first + row->hop);

	cr_assert(key.next_hop);
	cr_assert_eq(key.vid, row->vid, "%s", row->what);
	cr_assert_eq(key.port.v, row->port, "%s", row->what);
	for (uint32_t i = AT_PORT; i <= BRIDGE; i++)
		cr_assert_eq(neighbor_is_followed(&view, first + i, &key),
			     i == row->hop || row->others >> i & 1, "%s: %u", row->what, i);
}

// Two routers that share an address behind two ports of a VLAN are two neighbours, and neither is
// the host of that address.
Test(neighbor_rules, routers_that_share_an_address)
{
	struct sw_config *c = fabric(false);
	struct neighbor_key found[2][NEIGHBOR_HOP_KEYS];
	struct neighbor_view view;
	struct ip_prefix address = setup_ipv4(0xa9fe0001, 32);
	struct neighbor_key host = neighbor_host_key(&address);

	for (uint32_t port = 0; port < 2; port++)
		setup_next_hop(c, "up2", port, 0)->address = address;
	view = build(c);
	for (uint16_t port = 0; port < 2; port++)
		cr_assert_eq(neighbor_next_hop_keys(&view, &address, VLAN_A, (port_t){ port },
						    found[port]),
			     1);
	cr_assert_eq(neighbor_next_hop_keys(&view, &address, VLAN_B, (port_t){ 2 }, found[0]), 0);
	cr_assert_not(neighbor_key_equal(&found[0][0], &found[1][0]));
	cr_assert_not(neighbor_key_equal(&found[0][0], &host));
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t port = 0; port < 2; port++)
			cr_assert_eq(neighbor_is_followed(&view, c->next_hop_count - 2 + i,
							  &found[port][0]),
				     i == port);
	}
}

static const struct {
	const char *what;
	uint32_t hop;
	bool resolved;
	uint16_t port;
	uint16_t vid;
	bool sender;
} question_rows[] = {
	{ "at its port, as the gateway", AT_PORT, false, 0, VLAN_A, true },
	{ "everywhere in the network's VLAN", ANYWHERE, false, UINT16_MAX, VLAN_A, true },
	{ "in its VLAN", TAGGED, false, UINT16_MAX, VLAN_A, true },
	{ "for its port alone", FIXED_MAC, false, UINT16_MAX, VLAN_A, true },
	{ "not at all", FIXED, true, 0, VLAN_A, true },
};

TABLE_TEST(neighbor_rules, questions, row, question_rows)
{
	const struct neighbor_view view = build(with_next_hops());
	const uint32_t at = view.config->next_hop_count - 1 - BRIDGE + row->hop;
	const struct neighbor_question question = neighbor_next_hop_question(&view, at);
	const uint64_t mac = row->hop == FIXED_MAC ? HOST_B : HOST_A1;
	const struct port_set none = { 0 };
	const struct port_set up = { .word = { 1 << 1 } };

	cr_assert_eq(neighbor_is_resolved(&view, at, &up), row->resolved, "%s", row->what);
	cr_assert_eq(question.port.v, row->port, "%s", row->what);
	cr_assert_eq(question.vid, row->vid, "%s", row->what);
	cr_assert_not_null(question.sender);
	cr_assert_arr_eq(question.sender->address, setup_ipv4(GATEWAY_A, 24).address, 4);
	if (row->resolved)
		return;
	cr_assert_eq(tables_next_hop_set((struct sw_tables *)view.tables, at, (port_t){ 1 },
					 neighbor_next_hop_mac(view.config, at, HOST_A1)),
		     0);
	cr_assert(neighbor_is_resolved(&view, at, &up), "%s", row->what);
	// A port of its own is waited for; else it may have gone behind another.
	cr_assert_eq(neighbor_is_resolved(&view, at, &none), row->hop == AT_PORT, "%s", row->what);
	cr_assert_eq(view.tables->next_hop[at].mac, mac, "%s", row->what);
}

// An address of no network of the switch is asked for by a probe.
Test(neighbor_rules, a_next_hop_outside_of_all_networks)
{
	struct sw_config *c = fabric(false);
	struct next_hop_config *row = setup_next_hop(c, "out", 2, 0);
	struct neighbor_question question;
	struct neighbor_view view;

	row->address = setup_ipv4(0x63000001, 32);
	view = build(c);
	question = neighbor_next_hop_question(&view, c->next_hop_count - 1);
	cr_assert_eq(question.port.v, 2);
	cr_assert_eq(question.vid, VLAN_B);
	cr_assert_null(question.sender);
}
