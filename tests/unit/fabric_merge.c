// SPDX-License-Identifier: BSD-3-Clause
//
// Whose word counts on a managed switch, knob by knob; where ports of the fabric are when the file
// has them in another order, and what is refused as not meant for this switch.

#include "dataplane/fabric_merge.h"

#include <errno.h>
#include <string.h>

#include "tests/keep.h"
#include "tests/rig/graph.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { SAID_BYTES = 512 };

struct scene {
	struct arena keep;
	struct packed_table routes;
	struct fabric_side fabric;
	struct sw_config *own;  // Ethernet8, Ethernet0, Ethernet4
	struct sw_config *text; // Ethernet0, Ethernet4 with a link
	struct sw_config *merged;
	char said[SAID_BYTES];
};

static void start(struct scene *s)
{
	const struct topo one = { .switch_count = 1, .edge_count = 2, .link_count = 1 };

	*s = (struct scene){ .keep = graph_arena() };
	cr_assert_eq(plan_init(&one, &s->keep, &s->routes.plan), 0);
	s->routes.link_count = 1;
	s->routes.port = arena_take(&s->keep, 1, sizeof(*s->routes.port));
	s->routes.port[0] = 1;
	cr_assert_eq(plan_group_plain(&s->routes.plan, (const uint16_t[]){ 0 }, 1,
				      &s->routes.plan.row[1]),
		     0);
	s->own = keep(setup_blank());
	setup_port(s->own, "Ethernet8");
	setup_port(s->own, "Ethernet0");
	setup_port(s->own, "Ethernet4");
	s->text = keep(setup_kvm(2));
	s->merged = keep(setup_blank());
	s->fabric = (struct fabric_side){ s->text, &s->routes };
}

static int merge(struct scene *s)
{
	FILE *errors = fmemopen(s->said, sizeof(s->said), "w");
	const int rc = fabric_merge(s->own, &s->fabric, s->merged, errors);

	fclose(errors);
	return rc;
}

Test(fabric_merge, top_level)
{
	struct scene s;

	start(&s);
	setup_text(s.own->sw.metrics, "127.0.0.1:9478");
	s.own->sw.descriptors = 4096;
	s.own->sw.edge_number = 9;
	s.text->sw.descriptors = 8192;
	s.text->sw.edge_number = 3;
	s.text->sw.lanes = 8;
	cr_assert_eq(merge(&s), 0, "%s", s.said);
	cr_assert_str_eq(s.merged->sw.metrics, "127.0.0.1:9478");
	cr_assert_eq(s.merged->sw.descriptors, 4096);
	cr_assert_eq(s.merged->sw.edge_number, 3);
	cr_assert_eq(s.merged->sw.lanes, 8);
}

Test(fabric_merge, ports)
{
	struct scene s;

	start(&s);
	setup_text(s.own->port[1].devargs, "net_memif0");
	s.own->port[1].admin = false;
	s.own->port[1].mtu = 1500;
	s.own->port[1].line = 7;
	s.own->port[0].mtu = 2000;
	setup_text(s.text->port[0].devargs, "managed");
	s.text->port[0].mtu = 4200;
	s.text->port[0].line = 70;
	cr_assert_eq(merge(&s), 0, "%s", s.said);
	cr_assert_eq(s.merged->port_count, 3);
	cr_assert_str_eq(s.merged->port[1].name, "Ethernet0");
	cr_assert_str_eq(s.merged->port[1].devargs, "net_memif0");
	cr_assert_eq(s.merged->port[1].admin, false);
	cr_assert_eq(s.merged->port[1].mtu, 4200);
	cr_assert_eq(s.merged->port[1].line, 7);
	// The fabric does not know this one.
	cr_assert_str_eq(s.merged->port[0].name, "Ethernet8");
	cr_assert_eq(s.merged->port[0].mtu, 2000);
	// Port 1 of the fabric is the third of the file.
	cr_assert_str_eq(s.merged->next_hop[0].port, "Ethernet4");
}

Test(fabric_merge, rows)
{
	struct scene s;

	start(&s);
	setup_vlan(s.own, 20, "Ethernet8", "");
	setup_impairment(s.own, "Ethernet8")->delay = 5;
	setup_impairment(s.text, "Ethernet0");
	setup_impairment(s.text, "Ethernet4");
	setup_fabric_host(s.text, 0x020000000001, 0x0a000001, 0, 0);
	setup_fabric_host(s.text, 0x020000000002, 0x0a000002, 1, 0);
	s.text->sw.edge_number = 0;
	s.text->host[0].line = 4;
	cr_assert_eq(merge(&s), 0, "%s", s.said);
	cr_assert_eq(s.merged->vlan_count, 0);
	cr_assert_eq(s.merged->buffer_pg_count, s.text->buffer_pg_count);
	cr_assert_eq(s.merged->impairment_count, 1);
	cr_assert_eq(s.merged->impairment[0].delay, 5);
	// A host of this switch is at the place that its port has here, others are elsewhere.
	cr_assert_eq(s.merged->host[0].port, 1);
	cr_assert_eq(s.merged->host[1].port, 0);
	// It stands in another file than errors name.
	cr_assert_eq(s.merged->host[0].line, 0);
}

static void other_switch(struct scene *s)
{
	setup_name(s->text->sw.name, "leaf2");
}

static void no_such_port(struct scene *s)
{
	setup_name(s->text->port[1].name, "Ethernet64");
}

static void port_twice(struct scene *s)
{
	setup_name(s->text->port[1].name, "Ethernet0");
}

static void host_beyond(struct scene *s)
{
	s->text->sw.edge_number = 0;
	setup_fabric_host(s->text, 0x020000000001, 0x0a000001, 0, 2);
}

static void routes_beyond(struct scene *s)
{
	s->routes.port[0] = 2;
}

static const struct {
	const char *what;
	void (*spoil)(struct scene *s);
	const char *said;
} refusals[] = {
	{ "tables of another switch", other_switch, "switch leaf2" },
	{ "a port that the file does not have", no_such_port, "port Ethernet64" },
	{ "a port twice", port_twice, "two of port Ethernet0" },
	{ "a host at no port", host_beyond, "port 2 of 2" },
	{ "a route at no port", routes_beyond, "port 2 of 2" },
};

TABLE_TEST(fabric_merge, refused, row, refusals)
{
	struct scene s;

	start(&s);
	row->spoil(&s);
	cr_assert_eq(merge(&s), -EINVAL, "%s", row->what);
	cr_assert(strstr(s.said, row->said), "%s: %s", row->what, s.said);
}

// Merging what came out anew changes nothing: so one finds out whose knob an edit was about.
Test(fabric_merge, twice)
{
	struct scene s;
	struct sw_config *once = keep(setup_blank());

	start(&s);
	setup_impairment(s.own, "Ethernet8");
	s.own->port[2].speed = 1000000000;
	cr_assert_eq(merge(&s), 0, "%s", s.said);
	*once = *s.merged;
	s.own = once;
	s.merged = keep(setup_blank());
	cr_assert_eq(merge(&s), 0, "%s", s.said);
	cr_assert_eq(memcmp(once, s.merged, sizeof(*once)), 0);
}

Test(fabric_merge, before_the_fabric)
{
	struct sw_config *config = keep(setup_blank());

	cr_assert_eq(config->sw.forwarding, CONFIG_FORWARDING_STANDALONE);
	fabric_merge_none(config);
	cr_assert_eq(config->sw.forwarding, CONFIG_FORWARDING_MANAGED);
	cr_assert_eq(config->sw.roce, CONFIG_ROCE_LOSSLESS);
	config->sw.roce = CONFIG_ROCE_LOSSY;
	fabric_merge_none(config);
	cr_assert_eq(config->sw.roce, CONFIG_ROCE_LOSSY);
}
