// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/profile*.c: what a configuration as a whole may not be, and what its profile is
// when it may. Every row edits the platform configuration of SONiC's virtual switch, two ports with
// classes 3 and 4 lossless, or a RoCE configuration made from it.

#include <stdlib.h>

#include "dataplane/core/profile.h"

#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PORTS = 2, CNP_TC = 6, TAGS = 8, HEADER = 14 };

#define M 1000000ull
#define G 1000000000ull

static struct sw_profile *build(const struct sw_config *c, struct profile_fault *fault)
{
	struct sw_profile *pf = calloc(1, profile_bytes(c));

	cr_assert_not_null(pf);
	profile_build(c, pf, fault);
	return pf;
}

// Takes a configuration that must be right; its profile lives as long as the test's process.
static const struct port_profile *built_port(struct sw_config *c, uint32_t port)
{
	static struct sw_profile *pf;
	struct profile_fault fault;

	pf = build(c, &fault);
	free(c);
	cr_assert_eq(fault.id, FAULT_NONE, "%s %s", profile_fault_texts[fault.id], fault.detail);
	return &pf->port[port];
}

static void map_all(struct sw_config *c, enum config_map_type type, const char *text)
{
	setup_map(c, type, "own", text);
	for (uint32_t i = 0; i < c->port_count; i++) {
		struct port_config *port = &c->port[i];

		setup_name(type == CONFIG_MAP_TC_TO_QUEUE  ? port->tc_to_queue_map :
			   type == CONFIG_MAP_TC_TO_PG     ? port->tc_to_pg_map :
			   type == CONFIG_MAP_PFC_TO_QUEUE ? port->pfc_to_queue_map :
							     port->pfc_to_pg_map,
			   "own");
	}
}

// --- refusals -----------------------------------------------------------------------------------

static void nothing(struct sw_config *c)
{
	(void)c;
}

static void same_device(struct sw_config *c)
{
	memcpy(c->port[1].devargs, "net_x0,iface=b", sizeof("net_x0,iface=b"));
	memcpy(c->port[0].devargs, "net_x0,iface=a", sizeof("net_x0,iface=a"));
}

static void both_ends(struct sw_config *c)
{
	memcpy(c->port[1].devargs, "link:loop", sizeof("link:loop"));
	memcpy(c->port[0].devargs, "link:loop", sizeof("link:loop"));
}

static void longer_device_name(struct sw_config *c)
{
	memcpy(c->port[1].devargs, "net_x01", sizeof("net_x01"));
	memcpy(c->port[0].devargs, "net_x0", sizeof("net_x0"));
}

static void crossed_queues(struct sw_config *c)
{
	map_all(c, CONFIG_MAP_TC_TO_QUEUE, "0:0 1:1 2:2 3:4 4:3 5:5 6:6 7:7");
}

static void crossed_both(struct sw_config *c)
{
	crossed_queues(c);
	map_all(c, CONFIG_MAP_PFC_TO_QUEUE, "3:4 4:3");
}

// Class 3 arrives lossless at port 0 and leaves through port 1, which has no lossless group.
static void lossy_port(struct sw_config *c)
{
	setup_unbind_pgs(c);
	setup_pg(c, "Ethernet0", 0x18, KVM_PG_LOSSLESS);
	setup_pg(c, "Ethernet0", 0xe7, KVM_PG_LOSSY);
	setup_pg(c, "Ethernet4", 0xff, KVM_PG_LOSSY);
	c->port[1].pfc_enable = 0;
}

static void lossy_port_obeys(struct sw_config *c)
{
	lossy_port(c);
	c->port[1].pfc_asymmetric = true;
}

static void lossy_port_obeys_crossed(struct sw_config *c)
{
	lossy_port_obeys(c);
	crossed_queues(c);
}

static void lossy_port_holds(struct sw_config *c)
{
	lossy_port(c);
	c->port[1].pause = CONFIG_PAUSE_HOLD;
}

// The lossless port holds its peer, and its priorities are still those of the class.
static void lossy_port_beside_hold(struct sw_config *c)
{
	lossy_port(c);
	c->port[0].pause = CONFIG_PAUSE_HOLD;
}

static void lossy_port_obeys_beside_hold(struct sw_config *c)
{
	lossy_port_obeys_crossed(c);
	c->port[0].pause = CONFIG_PAUSE_HOLD;
}

static void hold_at_the_edge(struct sw_config *c)
{
	c->port[1].pause = CONFIG_PAUSE_HOLD;
	c->port[1].role = CONFIG_ROLE_EDGE;
}

static void hold_on_a_fabric_link(struct sw_config *c)
{
	hold_at_the_edge(c);
	c->port[1].role = CONFIG_ROLE_FABRIC;
}

// Two priorities stand for one group of two classes; each pauses the queue of one.
static void two_priorities_one_group(struct sw_config *c)
{
	map_all(c, CONFIG_MAP_TC_TO_PG, "3:3 4:3 *:0");
	map_all(c, CONFIG_MAP_PFC_TO_PG, "3:3 4:3");
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0x08, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xf7, KVM_PG_LOSSY);
}

static void set_headroom(struct sw_config *c, uint64_t bytes)
{
	struct buffer_profile_config *row = setup_find_profile(c, KVM_PG_LOSSLESS);

	row->xoff = bytes;
	row->size = bytes;
}

static void one_frame(struct sw_config *c)
{
	set_headroom(c, 9100 + HEADER + TAGS);
}

static void less_than_one_frame(struct sw_config *c)
{
	set_headroom(c, 9100 + HEADER + TAGS - 1);
}

// 9122 bytes are 44 cells of 208 (9152).
static void one_frame_in_cells(struct sw_config *c)
{
	c->sw.cell = 208;
	set_headroom(c, 44 * 208);
}

static void less_in_cells(struct sw_config *c)
{
	c->sw.cell = 208;
	set_headroom(c, 44 * 208 - 1);
}

static void lossless_cnp(struct sw_config *c)
{
	c->sw.cnp_tc = 3;
}

static void scheduler_twice(struct sw_config *c)
{
	setup_scheduler(c, "s", CONFIG_SCHEDULER_DWRR, 2);
	setup_queue(c, "all", 0xff, "s", "");
	setup_queue(c, "Ethernet4", 1 << 3, "s", "");
}

static void wred_twice(struct sw_config *c)
{
	setup_wred(c, "w", 0, 1, 1);
	setup_queue(c, "Ethernet4", 0x0f, "", "w");
	setup_queue(c, "Ethernet4", 1 << 3, "", "w");
}

static void scheduler_and_wred_apart(struct sw_config *c)
{
	setup_scheduler(c, "s", CONFIG_SCHEDULER_DWRR, 2);
	setup_wred(c, "w", 0, 1, 1);
	setup_queue(c, "all", 0xff, "s", "");
	setup_queue(c, "all", 1 << 3, "", "w");
}

// 240 GiB / 60 is 2^32: four groups of that many descriptors made 0.
static void descriptors_wrap(struct sw_config *c)
{
	set_headroom(c, 240ull << 30);
}

static void no_ingress(struct sw_config *c)
{
	c->pool[0].type = CONFIG_POOL_EGRESS;
}

static void no_egress(struct sw_config *c)
{
	c->pool[1].type = CONFIG_POOL_INGRESS;
	c->pool[2].type = CONFIG_POOL_INGRESS;
}

static void no_pools(struct sw_config *c)
{
	c->pool_count = 0;
}

static void switch_with_slash(struct sw_config *c)
{
	setup_name(c->sw.name, "../leaf");
}

static void switch_without_name(struct sw_config *c)
{
	setup_name(c->sw.name, "");
}

static void switch_named_dots(struct sw_config *c)
{
	setup_name(c->sw.name, "..");
}

static void port_with_space(struct sw_config *c)
{
	setup_name(c->port[1].name, "Ethernet 4");
}

static void port_without_ascii(struct sw_config *c)
{
	setup_name(c->port[1].name, "Ethern\xc3\xa9t");
}

static void port_named_all(struct sw_config *c)
{
	setup_name(c->port[1].name, "all");
}

static void port_without_name(struct sw_config *c)
{
	setup_name(c->port[1].name, "");
}

static void names_of_every_kind(struct sw_config *c)
{
	setup_name(c->sw.name, "leaf-1.row_2");
	setup_name(c->port[1].name, "1-eth_0.100");
}

static void vlan_all_untagged_twice(struct sw_config *c)
{
	setup_vlan(c, 10, "all", "");
	setup_vlan(c, 20, "Ethernet4", "");
}

static void vlan_no_such_port(struct sw_config *c)
{
	setup_vlan(c, 10, "Ethernet4 al", "");
}

// 195 quanta of 51.2 ns are 9984 ns at 10G, 196 are 10035.
static void impaired_no_such_port(struct sw_config *c)
{
	setup_impairment(c, "Ethernet9");
}

static void short_pause(struct sw_config *c)
{
	c->port[1].speed = 10 * G;
	c->port[1].pfc_quanta = 195;
}

static void long_enough(struct sw_config *c)
{
	c->port[1].speed = 10 * G;
	c->port[1].pfc_quanta = 196;
}

static void short_pause_held(struct sw_config *c)
{
	short_pause(c);
	c->port[1].pause = CONFIG_PAUSE_HOLD;
}

static const struct {
	const char *what;
	void (*edit)(struct sw_config *c);
	enum profile_fault_id want;
	uint64_t have, allowed; // numbers of the fault, where they are the point
} fault_rows[] = {
	{ "as shipped", nothing, FAULT_NONE, 0, 0 },
	{ "one device for two ports", same_device, FAULT_DUPLICATE_DEVICE, 0, 0 },
	{ "both ends of a link", both_ends, FAULT_NONE, 0, 0 },
	{ "a device whose name begins with another's", longer_device_name, FAULT_NONE, 0, 0 },
	{ "queues crossed, pauses not", crossed_queues, FAULT_LOSSLESS_NOT_OBEYED, 3, 4 },
	{ "queues and pauses crossed", crossed_both, FAULT_NONE, 0, 0 },
	{ "a port that does not obey", lossy_port, FAULT_LOSSLESS_NOT_OBEYED, 3, 3 },
	{ "a lossy port that obeys", lossy_port_obeys, FAULT_NONE, 0, 0 },
	{ "a lossy port that obeys for the wrong queue", lossy_port_obeys_crossed,
	  FAULT_LOSSLESS_NOT_OBEYED, 3, 4 },
	{ "a lossy port whose peer sends no pauses", lossy_port_holds, FAULT_NONE, 0, 0 },
	{ "a port that does not obey, the other holds", lossy_port_beside_hold,
	  FAULT_LOSSLESS_NOT_OBEYED, 3, 3 },
	{ "for the wrong queue, the other holds", lossy_port_obeys_beside_hold,
	  FAULT_LOSSLESS_NOT_OBEYED, 3, 4 },
	{ "two priorities for one group", two_priorities_one_group, FAULT_NONE, 0, 0 },
	{ "headroom for one frame", one_frame, FAULT_NONE, 0, 0 },
	{ "headroom a byte short", less_than_one_frame, FAULT_HEADROOM_SMALL, 9121, 9122 },
	{ "headroom for one frame in cells", one_frame_in_cells, FAULT_NONE, 0, 0 },
	{ "headroom a byte short of cells", less_in_cells, FAULT_HEADROOM_SMALL, 9151, 9152 },
	{ "CNPs in a lossless class", lossless_cnp, FAULT_CNP_LOSSLESS, 3, 0 },
	{ "two schedulers for a queue", scheduler_twice, FAULT_OVERLAP, 3, 0 },
	{ "two WRED profiles for a queue", wred_twice, FAULT_OVERLAP, 3, 0 },
	{ "scheduler and WRED in two rows", scheduler_and_wred_apart, FAULT_NONE, 0, 0 },
	{ "headroom of 2^32 descriptors", descriptors_wrap, FAULT_DESCRIPTORS,
	  4 * (uint64_t)UINT32_MAX, 1 << 21 },
	{ "no ingress pool", no_ingress, FAULT_NO_POOL, 0, 0 },
	{ "no egress pool", no_egress, FAULT_NO_POOL, 0, 0 },
	{ "no pool", no_pools, FAULT_NO_POOL, 0, 0 },
	{ "a path as the name of the switch", switch_with_slash, FAULT_BAD_NAME, 0, 0 },
	{ "a switch without a name", switch_without_name, FAULT_BAD_NAME, 0, 0 },
	{ "a directory as the name of the switch", switch_named_dots, FAULT_BAD_NAME, 0, 0 },
	{ "a port's name with a space", port_with_space, FAULT_BAD_NAME, 0, 0 },
	{ "a port's name beyond ASCII", port_without_ascii, FAULT_BAD_NAME, 0, 0 },
	{ "a port without a name", port_without_name, FAULT_BAD_NAME, 0, 0 },
	{ "a port called all", port_named_all, FAULT_BAD_NAME, 0, 0 },
	{ "every allowed character", names_of_every_kind, FAULT_NONE, 0, 0 },
	{ "all ports untagged, and one again", vlan_all_untagged_twice, FAULT_VLAN_PORT_TWICE, 0,
	  0 },
	{ "a VLAN with a port that is not", vlan_no_such_port, FAULT_UNKNOWN_PORT, 0, 0 },
	{ "an impairment of a port that is not", impaired_no_such_port, FAULT_UNKNOWN_PORT, 0, 0 },
	{ "a pause below 10 us", short_pause, FAULT_PAUSE_SHORT, 9984, 10000 },
	{ "a pause above 10 us", long_enough, FAULT_NONE, 0, 0 },
	{ "a short pause that nobody is told", short_pause_held, FAULT_NONE, 0, 0 },
	{ "hold at the edge", hold_at_the_edge, FAULT_NONE, 0, 0 },
	{ "hold on a fabric link", hold_on_a_fabric_link, FAULT_HOLD_FABRIC, 0, 0 },
};

TABLE_TEST(core_profile, fault, row, fault_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;

	row->edit(c);
	free(build(c, &fault));
	free(c);
	cr_assert_eq(fault.id, row->want, "%s: %s (%s %lu %lu)", row->what,
		     profile_fault_texts[fault.id], fault.detail, fault.have, fault.want);
	if (row->have != 0) {
		cr_expect_eq(fault.have, row->have, "%s: %lu", row->what, fault.have);
		cr_expect_eq(fault.want, row->allowed, "%s: %lu", row->what, fault.want);
	}
}

// --- rates --------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint64_t speed, adopted; // 0: none is
	uint64_t cnp_rate;
	uint64_t want_bps, want_refresh_ns, want_cap;
} rate_rows[] = {
	// 65535 quanta of 512 bits, halved: 16776960 bits at the rate.
	{ "its speed", 5 * G, 0, 0, 5 * G, 3355392, 50 * M },
	{ "shaped on a faster wire", 5 * G, 25 * G, 0, 25 * G, 671078, 50 * M },
	{ "no speed: 10G until the driver tells", 0, 0, 0, 10 * G, 1677696, 100 * M },
	{ "no speed, 25G of wire", 0, 25 * G, 0, 25 * G, 671078, 250 * M },
	{ "no speed, 10M of wire: 1M for CNPs", 0, 10 * M, 0, 10 * M, 1677696000, 1 * M },
	{ "a cap in the configuration", 0, 25 * G, 7 * M, 25 * G, 671078, 7 * M },
};

TABLE_TEST(core_profile, rate, row, rate_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;
	struct sw_profile *pf;
	const struct port_profile *port;

	c->port[1].speed = row->speed;
	c->port[1].cnp_rate = row->cnp_rate;
	pf = build(c, &fault);
	cr_assert_eq(fault.id, FAULT_NONE);
	if (row->adopted != 0)
		profile_adopt_rate(pf, (port_t){ 1 }, row->adopted);
	port = &pf->port[1];
	cr_expect_eq(port->rx.bps, row->want_bps, "%s", row->what);
	cr_expect_eq(port->gen.refresh_ns, row->want_refresh_ns, "%s: %lu", row->what,
		     port->gen.refresh_ns);
	cr_expect_eq(port->queue[CNP_TC].shaper.bps, row->want_cap, "%s: %lu", row->what,
		     port->queue[CNP_TC].shaper.bps);
	cr_expect_eq(port->line.bps, row->speed, "%s", row->what);
	cr_expect_eq(pf->port[0].rx.bps, 10 * G, "%s: the other port", row->what);
	free(pf);
	free(c);
}

// --- the CNP queue ------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *queues; // tc_to_queue
	bool scheduled;     // the queue has a scheduler
	enum config_scheduler_type type;
	uint64_t pir, cnp_rate;
	uint8_t queue; // of CNPs
	bool strict;
	uint64_t want_cap;
	uint64_t want_reserve; // the profile's 1518 or the 4096 of cnp_reserve
} cnp_rows[] = {
	{ "alone", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7", false, 0, 0, 0, 6, true, 100 * M, 4096 },
	{ "folded into queue 0", "3:3 4:4 *:0", false, 0, 0, 0, 0, false, 0, 1518 },
	{ "folded, with a rate", "3:3 4:4 *:0", false, 0, 0, 5 * M, 0, false, 0, 1518 },
	{ "folded, strict by its scheduler", "3:3 4:4 *:0", true, CONFIG_SCHEDULER_STRICT, 0, 0, 0,
	  true, 0, 1518 },
	{ "alone, DWRR by its scheduler", "3:3 4:4 6:6 *:0", true, CONFIG_SCHEDULER_DWRR, 0, 0, 6,
	  false, 0, 4096 },
	{ "alone, strict by its scheduler", "3:3 4:4 6:6 *:0", true, CONFIG_SCHEDULER_STRICT, 0, 0,
	  6, true, 100 * M, 4096 },
	{ "its scheduler's shaper", "3:3 4:4 6:6 *:0", true, CONFIG_SCHEDULER_STRICT, 1 * G, 0, 6,
	  true, 1 * G, 4096 },
	{ "a rate below the shaper", "3:3 4:4 6:6 *:0", true, CONFIG_SCHEDULER_STRICT, 1 * G, 3 * M,
	  6, true, 3 * M, 4096 },
	{ "a rate above the shaper", "3:3 4:4 6:6 *:0", true, CONFIG_SCHEDULER_STRICT, 1 * M, 3 * M,
	  6, true, 1 * M, 4096 },
};

TABLE_TEST(core_profile, cnp_queue, row, cnp_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	const struct port_profile *port;
	const struct queue_profile *queue;

	map_all(c, CONFIG_MAP_TC_TO_QUEUE, row->queues);
	c->port[1].cnp_rate = row->cnp_rate;
	c->port[1].cnp_reserve = 4096;
	if (row->scheduled) {
		setup_scheduler(c, "s", row->type, 1)->pir = row->pir;
		setup_queue(c, "all", (uint8_t)(1u << row->queue), "s", "");
	}
	port = built_port(c, 1);
	queue = &port->queue[row->queue];
	cr_expect_eq(queue->strict, row->strict, "%s", row->what);
	cr_expect_eq(port->strict_mask >> row->queue & 1, row->strict, "%s", row->what);
	cr_expect_eq(queue->shaper.bps, row->want_cap, "%s: %lu", row->what, queue->shaper.bps);
	cr_expect_eq(port->cnp_mask, row->want_cap != 0 ? 1 << row->queue : 0, "%s", row->what);
	cr_expect_eq(queue->reserved_bytes, row->want_reserve, "%s: %lu", row->what,
		     queue->reserved_bytes);
}

// --- the group of CNPs --------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *groups; // tc_to_pg
	uint64_t reserve;   // cnp_reserve
	uint8_t want;
	uint64_t want_reserve;
} cnp_pg_rows[] = {
	{ "AZURE: 0, 3, 4 and 7 are taken", "3:3 4:4 7:7 *:0", 4096, 6, 4096 },
	{ "the highest free one", "3:3 4:4 *:0", 4096, 7, 4096 },
	{ "no reserve: where the map says", "3:3 4:4 7:7 *:0", 0, 0, 0 },
	{ "alone already", "3:3 4:4 6:1 *:0", 4096, 1, 4096 },
	{ "a shared group that is not 0", "3:3 4:4 5:5 6:5 *:0", 4096, 7, 4096 },
	{ "the last free one", "0:7 1:6 2:5 3:3 4:4 5:2 6:7 7:1", 4096, 0, 4096 },
};

TABLE_TEST(core_profile, cnp_pg, row, cnp_pg_rows)
{
	struct sw_config *c = setup_kvm(PORTS);
	const struct port_profile *port;
	const struct pg_profile *pg;

	map_all(c, CONFIG_MAP_TC_TO_PG, row->groups);
	c->port[1].cnp_reserve = row->reserve;
	port = built_port(c, 1);
	pg = &port->pg[row->want];
	cr_assert_eq(port->cnp_pg, row->want, "%s: group %u", row->what, port->cnp_pg);
	cr_expect_eq(pg->reserved_bytes, row->want_reserve, "%s: %lu", row->what,
		     pg->reserved_bytes);
	cr_expect(!pg->lossless && pg->limit.dynamic && pg->limit.alpha_log2 == 3,
		  "%s: limited as lossy groups are", row->what);
}

// The one group that no class uses is lossless: CNPs stay where the map puts them.
Test(core_profile, no_group_free)
{
	struct sw_config *c = setup_kvm(PORTS);
	const struct port_profile *port;

	map_all(c, CONFIG_MAP_TC_TO_PG, "0:0 1:1 2:2 3:3 4:4 5:5 6:7 7:7");
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0x58, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xa7, KVM_PG_LOSSY);
	setup_find_profile(c, KVM_PG_LOSSY)->size = 100;
	c->port[0].pfc_enable = 0x58;
	c->port[1].pfc_enable = 0x58;
	c->port[1].cnp_reserve = 4096;
	port = built_port(c, 1);
	cr_assert_eq(port->cnp_pg, 7);
	cr_assert_eq(port->pg[7].reserved_bytes, 100);
}

// --- the rest -----------------------------------------------------------------------------------

// A row sets what it names: the second does not take away what the first gave.
Test(core_profile, queue_rows_add_up)
{
	struct sw_config *c = setup_kvm(PORTS);
	const struct port_profile *port;

	setup_scheduler(c, "s", CONFIG_SCHEDULER_DWRR, 5);
	setup_scheduler(c, "one", CONFIG_SCHEDULER_DWRR, 1);
	setup_wred(c, "w", 1000, 2000, 1000);
	setup_queue(c, "all", 1 << 3, "s", "");
	setup_queue(c, "all", 0xf7, "one", "");
	setup_queue(c, "all", 0x18, "", "w");
	setup_queue(c, "all", 0xff, "", "");
	port = built_port(c, 0);
	cr_assert_eq(port->queue[3].quantum_bytes, 5 * (9100 + HEADER + TAGS));
	cr_assert_eq(port->queue[4].quantum_bytes, 9100 + HEADER + TAGS);
	cr_assert(port->queue[3].has_wred && port->queue[4].has_wred);
	cr_assert(!port->queue[0].has_wred);
	cr_assert_eq(port->queue[3].wred.mark.max_bytes, 2000);
}

// The egress pool comes first in the file, and groups and queues that no class reaches have none.
Test(core_profile, default_pools)
{
	struct sw_config *c = setup_kvm(PORTS);
	const struct pool_config ingress = c->pool[0];
	const struct port_profile *port;

	c->pool[0] = c->pool[1];
	c->pool[1] = ingress;
	setup_unbind_pgs(c);
	setup_pg(c, "all", 0x18, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0x81, KVM_PG_LOSSY);
	map_all(c, CONFIG_MAP_TC_TO_QUEUE, "3:3 4:4 *:0");
	setup_unbind_queues(c);
	setup_buffer_queue(c, "all", 0x18, KVM_QUEUE_LOSSLESS);
	setup_buffer_queue(c, "all", 0x01, KVM_QUEUE_LOSSY);
	port = built_port(c, 1);
	for (uint32_t i = 0; i < PG_COUNT; i++)
		cr_expect_eq(port->pg[i].pool, 1, "group %u", i);
	for (uint32_t i = 1; i < QUEUE_COUNT; i++)
		cr_expect_eq(port->queue[i].pool, 0, "queue %u", i);
	cr_expect_eq(port->queue[0].pool, 2);
}

Test(core_profile, vlan_of_all)
{
	struct sw_config *c = setup_kvm(3);
	struct profile_fault fault;
	struct sw_profile *pf;

	setup_vlan(c, 10, "all", "");
	setup_vlan(c, 20, "", "all");
	pf = build(c, &fault);
	cr_assert_eq(fault.id, FAULT_NONE);
	for (uint16_t i = 0; i < 3; i++) {
		cr_expect_eq(pf->port[i].pvid, 10);
		for (uint32_t k = 0; k < 2; k++)
			cr_expect(port_set_has(&pf->vlan[k].members, (port_t){ i }));
		cr_expect(port_set_has(&pf->vlan[0].untagged, (port_t){ i }));
		cr_expect(!port_set_has(&pf->vlan[1].untagged, (port_t){ i }));
	}
	free(pf);
	free(c);
}

// What links hold is taken from what groups share, and leaves them half of it at least.
Test(profile, lends_at_most_half_of_the_shared_descriptors)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct profile_fault fault;
	struct sw_profile *pf = build(c, &fault);
	const uint32_t count = pf->descriptor_count;
	const uint32_t shared = pf->descriptor_shared;

	cr_assert_gt(shared, 2);
	cr_assert_not(profile_lend_descriptors(pf, shared / 2 + 1));
	cr_assert_eq(pf->descriptor_count, count);
	cr_assert_eq(pf->descriptor_shared, shared);
	cr_assert(profile_lend_descriptors(pf, shared / 2));
	cr_assert_eq(pf->descriptor_count, count - shared / 2);
	cr_assert_eq(pf->descriptor_shared, shared - shared / 2);
	free(pf);
	free(c);
}
