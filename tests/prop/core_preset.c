// SPDX-License-Identifier: BSD-3-Clause
//
// A preset makes a right configuration of any ports: whatever their speeds, MTUs, needs and rows of
// their own, it becomes a profile in which what was needed is there, and is text like any other.

#include <stdio.h>

#include "dataplane/core/preset.h"
#include "tests/cfg_again.h"
#include "tests/prop/random_config.h"
#include "tests/table.h"

enum { PORTS_MAX = 16 };

static const uint64_t speeds[] = { 0,           10000000,     100000000,   1000000000,
				   10000000000, 100000000000, 400000000000 };

static void add_port(struct sw_config *c, struct rng *rng, struct preset_port *need)
{
	char name[CONFIG_NAME_BYTES];
	struct port_config *port;

	setup_port_name(c->port_count, name);
	port = setup_port(c, name);
	snprintf(port->devargs, sizeof(port->devargs), "net_null%u", c->port_count);
	port->speed = speeds[rng_below(rng, sizeof(speeds) / sizeof(speeds[0]))];
	port->mtu = 68 + rng_below(rng, 9216 - 68 + 1);
	port->pause = random_one_in(rng, 4) ? CONFIG_PAUSE_HOLD : CONFIG_PAUSE_FRAMES;
	port->pfc_asymmetric = random_one_in(rng, 3);
	port->cnp_reserve = random_one_in(rng, 2) ? 0 : 4096;
	need->headroom_bytes = port->mtu + 22 + rng_below(rng, 1 << 20);
	need->headroom_descriptors = 1 + rng_below(rng, 20000);
}

static bool random_is_lossless(enum config_roce roce)
{
	return roce == CONFIG_ROCE_LOSSLESS || roce == CONFIG_ROCE_SONIC;
}

SEED_TEST(prop, core_preset_fits_any_ports, rng, 200)
{
	const enum config_roce roce = (enum config_roce)(1 + rng_below(rng, 3));
	const uint32_t ports = 1 + (uint32_t)rng_below(rng, PORTS_MAX);
	struct preset_port need[PORTS_MAX];
	struct sw_config *written = setup_blank();
	struct sw_config *c = malloc(sizeof(*c));
	struct profile_fault fault;
	struct sw_profile *pf;

	written->sw.roce = roce;
	written->sw.cell = random_one_in(rng, 2) ? 1 : 1 + rng_below(rng, 256);
	for (uint32_t i = 0; i < ports; i++) {
		add_port(written, rng, &need[i]);
		need[i].headroom_bytes += written->sw.cell;
	}
	cr_assert_eq(preset_expand(written, need, c, &fault), 0);
	pf = malloc(profile_bytes(c));
	cr_assert_eq(profile_build(c, pf, &fault), 0, "fault %d: %s %s", fault.id, fault.object,
		     fault.detail);
	for (uint32_t i = 0; random_is_lossless(roce) && i < ports; i++) {
		cr_assert_geq(pf->port[i].pg[3].headroom_bytes, need[i].headroom_bytes);
		cr_assert_eq(pf->port[i].pg[3].headroom_descriptors, need[i].headroom_descriptors);
		// XON lies below XOFF, where there is something to resume for.
		cr_assert_gt(pf->port[i].pg[3].xon_offset_bytes, 0);
	}
	// Nobody drops RoCE at egress before ECN has said anything.
	for (uint32_t i = 0; i < ports; i++)
		cr_assert_leq(pf->port[i].queue[3].wred.mark.max_bytes, pf->pool[0].shared_bytes);
	cr_assert(cfg_again(c, config_tables, CONFIG_TABLE_COUNT, stderr));
	// What is expanded has nothing left to expand: it says the same with no preset.
	c->sw.roce = CONFIG_ROCE_OFF;
	cr_assert_eq(preset_expand(c, need, written, &fault), 0);
	cr_assert_eq(memcmp(c, written, sizeof(*c)), 0);
	free(pf);
	free(c);
	free(written);
}
