// SPDX-License-Identifier: BSD-3-Clause
//
// Intent files: what text becomes which fabric, and what a wrong one is told, with its line, knob
// and the nearest valid name. Numbers expected are those of the text or of arithmetic on it.

#include "fabricmgr/intent_fabric.h"

#include <stdlib.h>
#include <string.h>

#include "tests/rig/graph.h"
#include "tests/table.h"

enum { TEXT_BYTES = 8192 };

static struct arena keep;
static struct arena scratch;

// Loads a text; errors without the file's name. The fabric is good when 0 is returned.
static int load(const char *text, struct fabric *fabric, char errors[TEXT_BYTES])
{
	FILE *out = fmemopen(errors, TEXT_BYTES, "w");
	FILE *file = tmpfile();
	struct intent *intent = NULL;
	char path[32];
	int rc;

	keep = graph_arena();
	scratch = graph_arena();
	memset(errors, 0, TEXT_BYTES);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	fputs(text, file);
	fflush(file);
	rc = intent_load(path, &intent, out);
	if (rc == 0)
		rc = intent_fabric(intent, path, &keep, &scratch, fabric, out);
	free(intent);
	fclose(out);
	fclose(file);
	for (char *at = strstr(errors, path); at != NULL; at = strstr(at, path))
		memmove(at, at + strlen(path), strlen(at + strlen(path)) + 1);
	return rc;
}

static void load_good(const char *text, struct fabric *fabric)
{
	char errors[TEXT_BYTES];

	cr_assert_eq(load(text, fabric, errors), 0, "%s", errors);
	cr_assert_str_empty(errors);
}

#define LEAVES "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 4; };\n"

// --- what is made -----------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *text;
	enum fabric_kind kind;
	uint32_t switches;
	uint32_t cables;
	uint32_t hosts;
	uint32_t host_ports;
} shape_rows[] = {
	{ "fat tree", "fat_tree = { k = 8; };", FABRIC_TREE, 80, 256, 128, 128 },
	{ "leaf-spine of the design",
	  "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 4; oversubscription = 2.0; };",
	  FABRIC_TREE, 6, 8, 16, 16 },
	{ "slower hosts need fewer uplinks",
	  "host_speed = \"25G\"; speed = \"100G\";\n"
	  "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 16; oversubscription = 2; };",
	  FABRIC_TREE, 6, 8, 64, 64 },
	{ "clos of two tiers",
	  "clos = ( { radix = 36; oversubscription = 2.0; parallel = 2; }, { radix = 36; } );",
	  FABRIC_TREE, 18 + 6, 18 * 12, 18 * 24, 18 * 24 },
	{ "clos by ports", "clos = ( { down = 4; up = 2; }, { down = 8; } );", FABRIC_TREE, 10, 16,
	  32, 32 },
	{ "torus", "torus = { dims = [4, 4, 4]; hosts_per_switch = 4; };", FABRIC_TORUS, 64, 192,
	  256, 256 },
	{ "torus, dimensions as text", "torus = { dims = \"3, 3\"; };", FABRIC_TORUS, 9, 18, 9, 9 },
	{ "hybrid",
	  "hybrid = { pods = 2; dims = [4, 4]; hosts_per_switch = 2; spines = 2; gateways = 4; };",
	  FABRIC_HYBRID, 34, 80, 64, 64 },
	{ "links alone", "links = ( { a = \"a\"; b = \"b\"; }, { a = \"b\"; b = \"c\"; } );",
	  FABRIC_LINKS, 3, 2, 0, 0 },
	{ "dual-homed",
	  "attach = \"dual\"; leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 4; };",
	  FABRIC_TREE, 6, 8, 8, 16 },
	{ "rails",
	  "attach = \"rails\"; rails = 4;\n"
	  "leaf_spine = { leaves = 8; spines = 4; hosts_per_leaf = 16; };",
	  FABRIC_TREE, 12, 32, 32, 128 },
	{ "a shape and more",
	  "leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 1; };\n"
	  "switches = ( { name = \"border1\"; } );\n"
	  "links = ( { a = \"border1\"; b = \"spine1\"; } );\n"
	  "uplinks = ( { name = \"wan\"; at = \"border1\"; } );",
	  FABRIC_TREE, 4, 3, 3, 3 },
};

TABLE_TEST(intent, shapes, row, shape_rows)
{
	struct fabric fabric;

	load_good(row->text, &fabric);
	cr_assert_eq(fabric.kind, row->kind, "%s", row->what);
	cr_assert_eq(fabric.switch_count, row->switches, "%s", row->what);
	cr_assert_eq(fabric.cable_count, row->cables, "%s", row->what);
	cr_assert_eq(fabric.host_count, row->hosts, "%s", row->what);
	cr_assert_eq(fabric.host_port_count, row->host_ports, "%s", row->what);
}

Test(intent, twists)
{
	struct fabric fabric;

	load_good("torus = { dims = [4, 4, 8]; };\n"
		  "twists = ( { wrap = \"x\"; along = \"z\"; by = 4; },\n"
		  "           { wrap = \"y\"; along = \"z\"; by = 4; } );",
		  &fabric);
	cr_assert_eq(fabric.shift[0][2], 4);
	cr_assert_eq(fabric.shift[1][2], 4);
	cr_assert_eq(fabric.shift[2][0], 0);
}

static const struct fabric_host_port *port_of(const struct fabric *fabric, const char *host,
					      uint32_t nth)
{
	const uint32_t number = fabric_find_host(fabric, host);

	cr_assert_neq(number, FABRIC_NONE, "%s", host);
	return &fabric->host_ports[fabric->hosts[number].first_port + nth];
}

static const struct fabric_cable *cable_at(const struct fabric *fabric, const char *name,
					   uint16_t port)
{
	const uint32_t at = fabric_find_switch(fabric, name);

	for (uint32_t i = 0; i < 2 * fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i / 2];

		if (cable->end_switch[i % 2] == at && cable->end_port[i % 2] == port)
			return cable;
	}
	cr_assert_fail("no cable at %s:%u", name, port);
	return NULL;
}

// Explicit links: ports by name, by number and by themselves.
Test(intent, links_and_hosts)
{
	static const char text[] = "links = (\n"
				   "  { a = \"s1:swp5\"; b = \"s2:7\"; speed = \"25G\"; "
				   "length = \"30m\"; weight = 4; },\n"
				   "  { a = \"s1\"; b = \"s2\"; } );\n"
				   "hosts = (\n"
				   "  { name = \"h1\"; at = \"s1:swp1\"; ip = \"10.1.0.9/16\"; "
				   "mac = \"02:00:00:00:00:11\"; },\n"
				   "  { name = \"h2\"; at = \"s2\"; ip6 = \"fd00::2/64\"; },\n"
				   "  { name = \"h1\"; at = \"s2:1\"; rail = 1; "
				   "speed = \"10G\"; length = \"1m\"; } );\n";
	const struct fabric_cable *cable;
	struct fabric fabric;

	load_good(text, &fabric);
	cable = cable_at(&fabric, "s1", 5);
	cr_assert_eq(cable->end_port[1], 7);
	cr_assert_eq(cable->speed_bps, 25000000000);
	cr_assert_eq(cable->length_mm, 30000);
	cr_assert_eq(cable->weight, 4);
	cr_assert_eq(cable->line, 2);
	cr_assert_eq(cable_at(&fabric, "s1", 6)->end_port[1], 8, "the ones behind");
	cr_assert_str_eq(fabric.switches[0].port_prefix, "swp");
	cr_assert_str_eq(fabric.switches[1].port_prefix, "Ethernet");
	cr_assert_eq(port_of(&fabric, "h1", 0)->mac, 0x020000000011);
	cr_assert_arr_eq(port_of(&fabric, "h1", 0)->ip.address, "\x0a\x01\x00\x09", 4);
	cr_assert_eq(port_of(&fabric, "h1", 1)->rail, 1);
	cr_assert_eq(port_of(&fabric, "h1", 1)->speed_bps, 10000000000);
	cr_assert_eq(port_of(&fabric, "h2", 0)->port, 9);
	cr_assert_eq(port_of(&fabric, "h2", 0)->ip6.len, 64);
	// The second port of h1 and h2 get the first two of 10.0.0.0/8 behind the gateway's.
	cr_assert_arr_eq(port_of(&fabric, "h1", 1)->ip.address, "\x0a\x00\x00\x02", 4);
	cr_assert_arr_eq(port_of(&fabric, "h2", 0)->ip.address, "\x0a\x00\x00\x03", 4);
}

Test(intent, tiers_and_single_links)
{
	static const char text[] =
		"fat_tree = { k = 4; }; speed = \"400G\"; host_speed = \"200G\";\n"
		"tiers = ( { tier = 2; length = \"100m\"; weight = 2; } );\n"
		"cables = ( { at = \"pod1-leaf1:Ethernet2\"; speed = \"100G\"; weight = 3; },\n"
		"           { at = \"pod1-leaf1:Ethernet0\"; length = \"7m\"; } );\n"
		"roots = [ \"core1\", \"core3\" ];\n"
		"ignore = [ \"core2\", \"pod2-leaf1:Ethernet3\" ];\n";
	struct fabric fabric;

	load_good(text, &fabric);
	cr_assert_eq(cable_at(&fabric, "pod1-leaf1", 2)->speed_bps, 100000000000);
	cr_assert_eq(cable_at(&fabric, "pod1-leaf1", 2)->weight, 3);
	cr_assert_eq(cable_at(&fabric, "pod1-leaf1", 3)->speed_bps, 400000000000);
	cr_assert_eq(cable_at(&fabric, "core1", 0)->length_mm, 100000);
	cr_assert_eq(cable_at(&fabric, "core1", 0)->weight, 2);
	cr_assert_eq(port_of(&fabric, "host1", 0)->length_mm, 7000);
	cr_assert_eq(port_of(&fabric, "host1", 0)->speed_bps, 200000000000);
	cr_assert(fabric.switches[fabric_find_switch(&fabric, "core3")].root);
	cr_assert_not(fabric.switches[fabric_find_switch(&fabric, "core2")].root);
	cr_assert(fabric.switches[fabric_find_switch(&fabric, "core2")].ignored);
	cr_assert(cable_at(&fabric, "pod2-leaf1", 3)->ignored);
	cr_assert_not(cable_at(&fabric, "pod2-leaf1", 2)->ignored);
}

Test(intent, tenants)
{
	static const char text[] =
		"leaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 4; };\n"
		"tenants = ( { name = \"red\"; hosts = \"host1..host3, host7\"; },\n"
		"            { name = \"blue\"; hosts = \"host4\"; } );\n"
		"hosts = ( { name = \"host5\"; at = \"leaf2:Ethernet0\"; tenant = \"blue\"; } );\n";
	static const uint32_t want[] = { 1, 1, 1, 2, 2, 0, 1, 0 };
	struct fabric fabric;
	uint32_t red;

	load_good(text, &fabric);
	cr_assert_eq(fabric.host_count, 8);
	red = fabric.hosts[0].tenant;
	for (uint32_t i = 0; i < 8; i++) {
		const char *name = fabric.tenants[fabric.hosts[i].tenant];

		cr_assert_str_eq(name, want[i] == 0 ? "" : want[i] == 1 ? "red" : "blue");
	}
	cr_assert(fabric_allows(&fabric, 0, 6), "both are red");
	cr_assert_not(fabric_allows(&fabric, 0, 3), "red and blue");
	cr_assert(fabric_allows(&fabric, 5, 3), "one is everybody's");
	cr_assert_neq(red, 0);
}

static const struct {
	const char *what;
	const char *text;
	const char *host;
	uint8_t want[4];
	uint8_t len;
	uint8_t want6[16];
	uint8_t len6;
} address_rows[] = {
	{ "the first behind the gateway", "", "host1", { 10, 0, 0, 2 }, 8, { 0 }, 0 },
	{ "counted on", "", "host8", { 10, 0, 0, 9 }, 8, { 0 }, 0 },
	{ "another network",
	  "subnet = \"172.16.4.0/24\";",
	  "host3",
	  { 172, 16, 4, 4 },
	  24,
	  { 0 },
	  0 },
	// 4 hosts, network, gateway and broadcast are 7: subnets of 8.
	{ "per leaf",
	  "addressing = \"per_leaf\"; subnet = \"10.1.0.0/16\";",
	  "host5",
	  { 10, 1, 0, 10 },
	  29,
	  { 0 },
	  0 },
	{ "IPv6",
	  "subnet6 = \"fd00:1::/48\";",
	  "host2",
	  { 10, 0, 0, 3 },
	  8,
	  { 0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3 },
	  48 },
	{ "IPv6 per leaf",
	  "addressing = \"per_leaf\"; subnet6 = \"fd00:1::/48\";",
	  "host6",
	  { 10, 0, 0, 11 },
	  29,
	  { 0xfd, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3 },
	  64 },
	{ "around one given by hand",
	  "hosts = ( { name = \"host4\"; at = \"leaf1:Ethernet3\"; ip = \"10.0.0.2/8\"; } );",
	  "host1",
	  { 10, 0, 0, 3 },
	  8,
	  { 0 },
	  0 },
	{ "given by hand",
	  "hosts = ( { name = \"host4\"; at = \"leaf1:Ethernet3\"; ip = \"10.0.0.2/8\"; } );",
	  "host4",
	  { 10, 0, 0, 2 },
	  8,
	  { 0 },
	  0 },
};

TABLE_TEST(intent, addresses, row, address_rows)
{
	char text[512];
	const struct fabric_host_port *port;
	struct fabric fabric;

	snprintf(text, sizeof(text), LEAVES "%s", row->text);
	load_good(text, &fabric);
	port = port_of(&fabric, row->host, 0);
	cr_assert_arr_eq(port->ip.address, row->want, 4, "%s: %u.%u.%u.%u", row->what,
			 port->ip.address[0], port->ip.address[1], port->ip.address[2],
			 port->ip.address[3]);
	cr_assert_eq(port->ip.len, row->len, "%s", row->what);
	cr_assert_arr_eq(port->ip6.address, row->want6, 16, "%s", row->what);
	cr_assert_eq(port->ip6.len, row->len6, "%s", row->what);
}

// --- what is refused --------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *text;
	const char *want;
} error_rows[] = {
	{ "nothing", "",
	  ": fabric: has no shape; allowed: fat_tree, leaf_spine, clos, torus, hybrid, or "
	  "links\n" },
	{ "an unknown knob", "\nfat_tree = { k = 4; kk = 5; };",
	  ":2: fat_tree.kk: unknown; did you mean k?\n" },
	{ "an unknown shape", "fat_tre = { k = 4; };",
	  ":1: fat_tre: unknown; did you mean fat_tree?\n" },
	{ "no unit", "fat_tree = { k = 4; }; speed = 100;",
	  ":1: speed: 100 has no unit; write it in quotes with one; allowed: 1M to 1.6T\n" },
	{ "k missing", "fat_tree = { };", ":1: fat_tree.k: missing; allowed: 2 to 1024\n" },
	{ "a list for a shape", "fat_tree = [ 4 ];",
	  ":1: fat_tree: is an array; allowed: a group, fat_tree = { ... };\n" },
	{ "a group for names", "roots = { };",
	  ":1: roots: is a group; allowed: an array, roots = [ \"...\", \"...\" ];\n" },
	{ "a number for a name", "fat_tree = { k = 4; };\nroots = [ 5 ];",
	  ":2: roots.name: is a number; allowed: text of at most 47 bytes\n" },
	{ "a dimension of none", "torus = { dims = [4, 0]; };",
	  ":1: torus.dims: 4,0 is too small; allowed: at most 8 numbers such as [4, 4, 8], each 1 "
	  "to 65535\n" },
	{ "seven dimensions", "torus = { dims = [2,2,2,2,2,2,2]; };",
	  ":1: torus.dims: 7 dimensions; allowed: 6\n" },
	{ "two shapes", "fat_tree = { k = 4; };\ntorus = { dims = [4]; };",
	  ":2: torus: the fabric has a shape already, fat_tree in line 1\n" },
	{ "odd k", "# odd\nfat_tree = { k = 5; };",
	  ":2: fat_tree: k is 5; a fat-tree needs an even number\n" },
	{ "too little bandwidth up",
	  "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 4; parallel = 1;\n"
	  "oversubscription = 1; };",
	  ":1: leaf_spine: hosts have 200 % of the bandwidth of uplinks, asked for are at most 100 "
	  "%\n" },
	{ "radix and ports", "clos = (\n{ radix = 8; down = 4; up = 4; }, { radix = 8; } );",
	  ":2: clos.radix: a tier has either radix, or down with up\n" },
	{ "a twisted tree",
	  "fat_tree = { k = 4; };\ntwists = ( { wrap = \"x\"; along = \"y\"; by = 1; } );",
	  ":2: twists: only a torus is twisted\n" },
	{ "a twist of a third dimension",
	  "torus = { dims = [4, 4]; };\ntwists = ( { wrap = \"x\"; along = \"z\"; by = 1; } );",
	  ":2: twists.wrap: there are 2 dimensions, beginning with x\n" },
	{ "a switch that is not there", LEAVES "hosts = ( { name = \"h\"; at = \"leaf3:1\"; } );",
	  ":2: hosts.at: there is no switch \"leaf3\"; did you mean leaf1?\n" },
	{ "a host that is not there",
	  LEAVES "tenants = ( { name = \"red\"; hosts = \"host9\"; } );",
	  ":2: tenants.hosts: there is no host \"host9\"; did you mean host1?\n" },
	{ "two tenants of a host",
	  LEAVES "tenants = ( { name = \"red\"; hosts = \"host1\"; },\n{ name = \"blue\"; hosts = "
		 "\"host1\"; } );",
	  ":3: tenants.hosts: host1 is of tenant red already\n" },
	{ "a range backwards",
	  LEAVES "tenants = ( { name = \"red\"; hosts = \"host3..host1\"; } );",
	  ":2: tenants.hosts: host3..host1 is not a range such as host1..host16\n" },
	{ "a port that is taken",
	  LEAVES "\nhosts = ( { name = \"h\"; at = \"leaf1:Ethernet0\"; } );",
	  ":3: leaf1 Ethernet0: the port has a cable already, of line 0\n" },
	{ "two cables in a port",
	  "links = ( { a = \"a:1\"; b = \"b:1\"; },\n{ a = \"a:1\"; b = \"c:1\"; } );",
	  ":2: a Ethernet1: the port has a cable already, of line 1\n" },
	{ "a cable that leads back", "links = ( { a = \"a:1\"; b = \"a:2\"; } );",
	  ":1: a Ethernet1: the cable leads back to the same switch\n" },
	{ "not a port", "links = ( { a = \"a:up\"; b = \"b\"; } );",
	  ":1: links.a: \"up\" is not a port, such as Ethernet4\n" },
	{ "ports of two kinds",
	  "links = ( { a = \"a:swp1\"; b = \"b:1\"; },\n{ a = \"a:eth2\"; b = \"b:2\"; } );",
	  ":2: links.a: ports of a are called swp0 and so on, not eth2\n" },
	{ "more ports than there are",
	  "switches = ( { name = \"a\"; ports = 2; },\n{ name = \"b\"; } );\n"
	  "links = ( { a = \"a:5\"; b = \"b\"; } );",
	  ":1: switches.ports: a has 6 ports in use, of 2\n" },
	{ "nothing there to ignore", LEAVES "ignore = [ \"leaf1:Ethernet9\" ];",
	  ":2: ignore: nothing is plugged in at leaf1:Ethernet9\n" },
	{ "a host to ignore", LEAVES "ignore = [ \"leaf1:Ethernet1\" ];",
	  ":2: ignore: leaf1:Ethernet1 leads to a host; links between switches can be ignored\n" },
	{ "a weight of a host", LEAVES "cables = ( { at = \"leaf1:Ethernet1\"; weight = 2; } );",
	  ":2: cables.weight: leaf1:Ethernet1 leads to a host; links between switches have "
	  "weights\n" },
	{ "an address twice",
	  "switches = ( { name = \"a\"; } );\nhosts = (\n"
	  "{ name = \"h1\"; at = \"a\"; ip = \"10.0.0.5/8\"; },\n"
	  "{ name = \"h2\"; at = \"a\"; ip = \"10.0.0.5/8\"; } );",
	  ":4: h2: has the address of h1\n" },
	{ "a small network", LEAVES "subnet = \"10.0.0.0/29\";",
	  ": subnet: 8 hosts need addresses, there is room for 5\n" },
	{ "too few subnets", LEAVES "addressing = \"per_leaf\"; subnet = \"10.0.0.0/29\";",
	  ": subnet: 2 switches need subnets of their own, there is room for 1\n" },
	{ "IPv6 for IPv4", LEAVES "subnet = \"fd00::/64\";",
	  ": subnet: is of IPv6; that is subnet6\n" },
	{ "rails that do not fit", "attach = \"rails\"; rails = 3;\n" LEAVES,
	  ":2: fabric: 2 switches with hosts are not divided by the 3 that a host is attached "
	  "to\n" },
	{ "several mistakes at once",
	  LEAVES "roots = [ \"spine2\",\n\"leaf1\" ];\nignore = [ \"lefa1\" ];",
	  ":2: roots: there is no switch \"spine2\"; did you mean spine1?\n" },
};

TABLE_TEST(intent, errors, row, error_rows)
{
	struct fabric fabric;
	char errors[TEXT_BYTES];

	cr_assert_eq(load(row->text, &fabric, errors), -22, "%s: %s", row->what, errors);
	cr_assert_str_eq(errors, row->want);
}
