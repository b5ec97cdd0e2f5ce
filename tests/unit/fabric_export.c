// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics written for others and read again: the same switches, cables, hosts and ports, whatever
// the form can say. What cannot be read back here is looked at by a parser of its own in
// tests/golden.

#include "fabricmgr/export.h"

#include <errno.h>
#include <string.h>

#include "fabricmgr/core/import_dot.h"
#include "fabricmgr/core/import_ibnet.h"
#include "fabricmgr/fabric_json.h"
#include "sys/cfg_address.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

static struct arena keep;
static struct arena scratch;

static void finish(struct fabric *fabric)
{
	struct fabric_faults faults = { .count = 0 };

	cr_assert_eq(fabric_finish(fabric, &scratch, &faults), 0);
	cr_assert_eq(faults.count, 0);
}

static void empty(struct fabric *fabric)
{
	cr_assert_eq(fabric_init(fabric, &keep), 0);
}

// Two leaves and a spine; a host at both leaves, one at the first, an uplink at the second.
static void small(struct fabric *fabric)
{
	static const char *const names[] = { "swp1", "swp2", "swp\"3\"", "swp4", "swp5" };
	struct fabric_host_port *port;
	struct fabric_cable *cable;

	keep = graph_arena();
	scratch = graph_arena();
	empty(fabric);
	fabric->name = "lab";
	fabric->kind = FABRIC_TREE;
	for (uint32_t i = 0; i < 2; i++) {
		struct fabric_switch *leaf = fabric_add_switch(fabric, i == 0 ? "leaf1" : "leaf2");

		leaf->level = 0;
		leaf->port_count = 5;
		leaf->port_names = names;
	}
	fabric_add_switch(fabric, "spine\\1")->level = 1;
	fabric->switches[2].root = true;
	cable = fabric_add_cable(fabric, 0, 4, 2, 0);
	cable->speed_bps = 100000000000;
	cable->length_mm = 3000;
	cable->weight = 2;
	fabric_add_cable(fabric, 2, 1, 1, 4)->speed_bps = 100000000000;
	fabric_add_host(fabric, "both");
	fabric_add_host(fabric, "one")->tenant = fabric_tenant(fabric, "blue");
	fabric_add_host(fabric, "uplink")->external = true;
	fabric_add_host_port(fabric, 0, 0, 0);
	port = fabric_add_host_port(fabric, 0, 1, 0);
	port->rail = 1;
	port->mac = 0x020000000001;
	cr_assert(ip_prefix_parse("10.0.0.1/24", &port->ip));
	cr_assert(ip_prefix_parse("fd00::1/64", &port->ip6));
	fabric_add_host_port(fabric, 1, 0, 2)->length_mm = 1500;
	fabric_add_host_port(fabric, 2, 1, 3)->speed_bps = 100000000000;
	finish(fabric);
}

static char text[1 << 20];

static size_t written(int (*write)(const struct fabric *fabric, FILE *out),
		      const struct fabric *fabric)
{
	FILE *out = fmemopen(text, sizeof(text), "w");
	size_t bytes;

	cr_assert_eq(write(fabric, out), 0);
	bytes = (size_t)ftell(out);
	fclose(out);
	return bytes;
}

// Cables and host ports of two fabrics, by names, whatever their numbers. Port numbers of a form
// that has no names are `shift` higher.
static void check_same(const struct fabric *a, const struct fabric *b, uint16_t shift)
{
	cr_assert_eq(a->switch_count, b->switch_count);
	cr_assert_eq(a->cable_count, b->cable_count);
	cr_assert_eq(a->host_count, b->host_count);
	cr_assert_eq(a->host_port_count, b->host_port_count);
	for (uint32_t i = 0; i < a->switch_count; i++)
		cr_assert_str_eq(a->switches[i].name, b->switches[i].name);
	for (uint32_t i = 0; i < a->cable_count; i++) {
		cr_assert_eq(a->cables[i].end_switch[0], b->cables[i].end_switch[0]);
		cr_assert_eq(a->cables[i].end_switch[1], b->cables[i].end_switch[1]);
		cr_assert_eq(a->cables[i].speed_bps, b->cables[i].speed_bps);
	}
	for (uint32_t i = 0; i < a->host_port_count; i++) {
		const struct fabric_host *host = &a->hosts[a->host_ports[i].host];
		const uint32_t other = fabric_find_host(b, host->name);

		cr_assert_neq(other, FABRIC_NONE, "%s", host->name);
		cr_assert_eq(b->hosts[other].external, host->external);
		cr_assert_eq(b->hosts[other].port_count, host->port_count);
		cr_assert_eq(b->host_ports[b->hosts[other].first_port + i - host->first_port].at,
			     a->host_ports[i].at);
		if (shift != UINT16_MAX)
			cr_assert_eq(
				b->host_ports[b->hosts[other].first_port + i - host->first_port]
					.port,
				a->host_ports[i].port + shift);
	}
}

Test(fabric_export, dot)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric, again;
	char name[FABRIC_NAME_BYTES];
	size_t bytes;

	small(&fabric);
	bytes = written(export_dot, &fabric);
	empty(&again);
	cr_assert_eq(import_dot(text, bytes, &again, &scratch, &faults), 0, "%s",
		     faults.fault[0].object);
	finish(&again);
	check_same(&fabric, &again, UINT16_MAX);
	cr_assert_eq(again.cables[0].weight, 2);
	cr_assert_eq(again.cables[0].length_mm, 3000);
	cr_assert_eq(again.host_ports[2].length_mm, 2000, "a part of a metre is one");
	cr_assert_eq(again.switches[2].level, 1);
	cr_assert_str_eq(fabric_port_name(&again.switches[0], again.host_ports[2].port, name),
			 "swp\"3\"");
}

Test(fabric_export, ibnet)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric, again;
	size_t bytes;

	small(&fabric);
	bytes = written(export_ibnet, &fabric);
	empty(&again);
	cr_assert_eq(import_ibnet(text, bytes, &again, &scratch, &faults), 0, "%s in line %u",
		     faults.fault[0].object, faults.fault[0].line);
	finish(&again);
	// The uplink is a router, whose description stays whole.
	cr_assert_eq(again.host_count, 3);
	cr_assert_eq(again.cable_count, 2);
	cr_assert_eq(again.hosts[0].port_count, 2, "two adapters of one host");
	cr_assert_eq(again.host_ports[1].rail, 1);
	cr_assert_eq(again.host_ports[1].port, 1, "port 0 is 1 there");
	cr_assert(again.hosts[2].external);
	cr_assert_eq(again.cables[0].speed_bps, 100000000000);
}

// A capture, written and read again, is the same text from then on.
static const struct {
	const char *what;
} file_rows[] = { { "ft3-k8.topo" }, { "torus-4x4x4-h4.topo" } };

TABLE_TEST(fabric_export, capture, row, file_rows)
{
	struct fabric_faults faults = { .count = 0 };
	static char first[sizeof(text)];
	struct fabric fabric, again;
	char path[256];
	size_t bytes;
	FILE *file;

	keep = graph_arena();
	scratch = graph_arena();
	snprintf(path, sizeof(path), "%s/%s", TOPOLOGIES, row->what);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	bytes = fread(text, 1, sizeof(text), file);
	fclose(file);
	empty(&fabric);
	cr_assert_eq(import_ibnet(text, bytes, &fabric, &scratch, &faults), 0);
	finish(&fabric);
	bytes = written(export_ibnet, &fabric);
	memcpy(first, text, bytes);
	empty(&again);
	cr_assert_eq(import_ibnet(first, bytes, &again, &scratch, &faults), 0);
	finish(&again);
	check_same(&fabric, &again, 0);
	cr_assert_eq(written(export_ibnet, &again), bytes);
	cr_assert_eq(memcmp(first, text, bytes), 0);
}

// A GUID that is given stays; nobody else has it, adapters included, since simulators number ports
// on from the adapter's.
Test(fabric_export, ibnet_guids)
{
	uint64_t seen[64], count = 0;
	struct fabric fabric;

	small(&fabric);
	fabric.host_ports[0].guid = 0x1001;
	text[written(export_ibnet, &fabric)] = '\0';
	cr_assert_not_null(strstr(text, "Ca\t1 \"H-0000000000001000\""));
	cr_assert_not_null(strstr(text, "\n[1](1001)\t"));
	for (const char *at = text; (at = strstr(at, "guid=0x")) != NULL; at++) {
		seen[count++] = strtoull(at + 7, NULL, 16);
		cr_assert_lt(count, TABLE_COUNT(seen));
	}
	for (const char *at = text; (at = strstr(at, "\n[1](")) != NULL; at++)
		seen[count++] = strtoull(at + 5, NULL, 16);
	cr_assert_eq(count, fabric.switch_count + 2 * fabric.host_port_count);
	for (uint64_t i = 0; i < count; i++) {
		for (uint64_t j = 0; j < i; j++)
			cr_assert_neq(seen[i], seen[j]);
	}
}

Test(fabric_export, json)
{
	struct fabric fabric, again;
	json_t *first, *second;

	small(&fabric);
	fabric.dim_count = 2;
	fabric.dims[0] = 4;
	fabric.dims[1] = 8;
	fabric.shift[0][1] = 4;
	fabric.switches[1].has_place = true;
	fabric.switches[1].place[1] = 7;
	fabric.switches[1].guid = 0xffffffffffffffff;
	first = fabric_to_json(&fabric);
	cr_assert_not_null(first);
	empty(&again);
	cr_assert_eq(fabric_from_json(first, &again, stderr), 0);
	finish(&again);
	check_same(&fabric, &again, 0);
	second = fabric_to_json(&again);
	cr_assert(json_equal(first, second));
	json_decref(first);
	json_decref(second);
}

static const struct {
	const char *what;
	const char *json;
	const char *want;
} json_rows[] = {
	{ "not an object", "[]", "fabric: an object is wanted\n" },
	{ "no such key", "{\"hots\": []}", "hots: there is no such key\n" },
	{ "no such kind", "{\"kind\": \"ring\"}",
	  "kind: links, tree, torus or hybrid is wanted\n" },
	{ "a switch without a name", "{\"switches\": [{\"ports\": 4}]}",
	  "switches[0].name: a name is wanted\n" },
	{ "too many ports", "{\"switches\": [{\"name\": \"a\", \"ports\": 65535}]}",
	  "switches[0].ports: a number of ports is wanted\n" },
	{ "a level of 256", "{\"switches\": [{\"name\": \"a\", \"ports\": 1, \"level\": 256}]}",
	  "switches[0].level: a whole number in range is wanted\n" },
	{ "a place of no Torus",
	  "{\"switches\": [{\"name\": \"a\", \"ports\": 1, \"place\": [1]}]}",
	  "switches[0].place: a number for each of `dims` is wanted\n" },
	{ "names of too few ports",
	  "{\"switches\": [{\"name\": \"a\", \"ports\": 2, \"port_names\": [\"x\"]}]}",
	  "switches[0].port_names: a name for each port is wanted\n" },
	{ "a cable to nowhere",
	  "{\"switches\": [{\"name\": \"a\", \"ports\": 1}], \"cables\": [{\"a\": \"a\", "
	  "\"a_port\": \"Ethernet0\", \"b\": \"c\", \"b_port\": \"0\"}]}",
	  "cables[0].b: there is no such switch\n" },
	{ "a port that the switch has not",
	  "{\"switches\": [{\"name\": \"a\", \"ports\": 1}], \"hosts\": [{\"name\": \"h\", "
	  "\"ports\": [{\"switch\": \"a\", \"port\": \"Ethernet1\"}]}]}",
	  "hosts[0].port: the switch has no such port\n" },
	{ "an address that is none",
	  "{\"switches\": [{\"name\": \"a\", \"ports\": 1}], \"hosts\": [{\"name\": \"h\", "
	  "\"ports\": [{\"switch\": \"a\", \"port\": \"0\", \"ip\": \"10.0.0\"}]}]}",
	  "hosts[0].ip: not an address\n" },
};

TABLE_TEST(fabric_export, json_fault, row, json_rows)
{
	json_t *json = json_loads(row->json, 0, NULL);
	char said[256] = "";
	FILE *errors = fmemopen(said, sizeof(said), "w");
	struct fabric fabric;

	keep = graph_arena();
	cr_assert_not_null(json, "%s", row->what);
	empty(&fabric);
	cr_assert_eq(fabric_from_json(json, &fabric, errors), -EINVAL, "%s", row->what);
	fclose(errors);
	cr_assert_str_eq(said, row->want, "%s: %s", row->what, said);
	json_decref(json);
}
