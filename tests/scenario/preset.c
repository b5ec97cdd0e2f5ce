// SPDX-License-Identifier: BSD-3-Clause
//
// Presets: what one word makes of ports of any speed, that rows of the file hold, and that a switch
// which was told nothing else is lossless under an incast, or not, as the word says.
//
// Thresholds are those of the field at 10G and above (150 kB and 1.5 MB of NVIDIA's RoCE setup, 1
// and 2 MiB of SONiC); below, they stand for the same time: bytes = 150 kB x rate / 10G.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dataplane/core/preset.h"
#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	SENDERS = 3,
	SINK = SENDERS,
	LEN = 1226, // 1250 bytes of wire: 10 us at 1 Gb/s
	MTU = 1500,
	FRAME = MTU + 14 + 8,
	DELAY_NS = 250,
};

#define MS 1000000ull

// What a switch on wires of `delay_ns` each way needs behind XOFF, its peers obeying at once: the
// frame that raises it and one that leaves the peer, twice the delay and the PFC frame.
static struct preset_port need_of(uint64_t bps, uint64_t delay_ns)
{
	const struct headroom_path path = { .class = HEADROOM_WIRE,
					    .bps = bps,
					    .delay_ns = delay_ns,
					    .ahead_frames = 1,
					    .frame_bytes = FRAME,
					    .cell_bytes = 1 };

	return (struct preset_port){ headroom_class_bytes(&path), headroom_class_frames(&path) };
}

static struct sw_config *expand(const struct sw_config *written, const struct preset_port *ports)
{
	struct sw_config *out = malloc(sizeof(*out));
	struct profile_fault fault;

	cr_assert_eq(preset_expand(written, ports, out, &fault), 0, "fault %d", fault.id);
	return out;
}

static struct sw_config *written_of(enum config_roce roce, uint32_t ports, uint64_t bps)
{
	struct sw_config *c = setup_blank();

	c->sw.roce = roce;
	for (uint32_t i = 0; i < ports; i++) {
		char name[CONFIG_NAME_BYTES];
		struct port_config *port;

		setup_port_name(i, name);
		port = setup_port(c, name);
		port->mtu = MTU;
		port->speed = bps;
	}
	return c;
}

// A configuration of `roce` alone, expanded.
static struct sw_config *alone(enum config_roce roce, uint32_t ports, uint64_t bps)
{
	struct preset_port need[CONFIG_PORT_MAX];
	struct sw_config *written = written_of(roce, ports, bps);
	struct sw_config *c;

	for (uint32_t i = 0; i < ports; i++)
		need[i] = need_of(bps == 0 ? 10000000000 : bps, DELAY_NS);
	c = expand(written, need);
	free(written);
	return c;
}

static const struct {
	const char *what;
	enum config_roce roce;
	uint64_t bps;
	uint64_t kmin;
	uint64_t kmax;
	uint32_t pmax_ppm;
	uint8_t pfc; // priorities
	uint8_t queue;
	uint64_t detection_ms; // 0: no watchdog
	uint64_t restoration_ms;
} speed_rows[] = {
	{ "full speed", CONFIG_ROCE_LOSSLESS, 10000000000, 150000, 1500000, 1000000, 0x08, 3, 200,
	  400 },
	{ "above it", CONFIG_ROCE_LOSSLESS, 400000000000, 150000, 1500000, 1000000, 0x08, 3, 200,
	  400 },
	{ "as fast as it can", CONFIG_ROCE_LOSSLESS, 0, 150000, 1500000, 1000000, 0x08, 3, 200,
	  400 },
	{ "a tenth", CONFIG_ROCE_LOSSLESS, 1000000000, 15000, 150000, 1000000, 0x08, 3, 200, 400 },
	{ "five frames at least", CONFIG_ROCE_LOSSLESS, 100000000, 5 * FRAME, 50 * FRAME, 1000000,
	  0x08, 3, 200, 400 },
	// Two marks of 76100 bytes are 121.76 ms at 10 Mb/s; ten times that, in whole steps.
	{ "a slow port is no storm", CONFIG_ROCE_LOSSLESS, 10000000, 5 * FRAME, 50 * FRAME, 1000000,
	  0x08, 3, 1300, 2600 },
	{ "no longer than may be", CONFIG_ROCE_LOSSLESS, 1000000, 5 * FRAME, 50 * FRAME, 1000000,
	  0x08, 3, 5000, 10000 },
	{ "lossy", CONFIG_ROCE_LOSSY, 10000000000, 150000, 1500000, 1000000, 0, 3, 0, 0 },
	{ "stock", CONFIG_ROCE_SONIC, 10000000000, 1 << 20, 2 << 20, 50000, 0x18, 4, 200, 200 },
	// Two marks of 2 MiB are 33.6 ms at 1 Gb/s.
	{ "stock is not scaled", CONFIG_ROCE_SONIC, 1000000000, 1 << 20, 2 << 20, 50000, 0x18, 3,
	  400, 400 },
};

TABLE_TEST(preset, speed, row, speed_rows)
{
	struct sw_config *c = alone(row->roce, 2, row->bps);
	struct rig *rig = rig_new(c);
	const struct port_profile *port = &rig->pf->port[1];
	const struct queue_profile *queue = &port->queue[row->queue];

	cr_assert(queue->has_wred);
	cr_assert(queue->wred.ecn);
	cr_assert_eq(queue->wred.wred, row->roce == CONFIG_ROCE_SONIC);
	cr_assert_eq(queue->wred.mark.min_bytes, row->kmin);
	cr_assert_eq(queue->wred.mark.max_bytes, row->kmax);
	cr_assert_eq(queue->wred.mark.prob_ppm, row->pmax_ppm);
	cr_assert_eq(port->gen.enable, row->pfc);
	cr_assert_eq(port->rx.obey, row->pfc);
	cr_assert_eq(port->pg[row->queue].lossless, row->pfc != 0);
	cr_assert_eq(port->watched, row->detection_ms != 0 ? row->pfc : 0);
	cr_assert_eq(port->watchdog[row->queue].pfc.detection_ns, row->detection_ms * MS, "%llu",
		     (unsigned long long)port->watchdog[row->queue].pfc.detection_ns);
	cr_assert_eq(port->watchdog[row->queue].pfc.restoration_ns, row->restoration_ms * MS);
	rig_end(rig);
}

// DSCP 26 is RoCE and 48 is CNP in the one world; the other knows 3 and 4.
static const struct {
	const char *what;
	enum config_roce roce;
	uint8_t dscp;
	uint8_t tc;
	bool lossless;
	bool strict;
	uint32_t weight;
	uint32_t rest; // weight of class 0
} class_rows[] = {
	{ "RoCE", CONFIG_ROCE_LOSSLESS, 26, 3, true, false, 50, 50 },
	{ "CNP", CONFIG_ROCE_LOSSLESS, 48, 6, false, true, 0, 0 },
	{ "the rest", CONFIG_ROCE_LOSSLESS, 0, 0, false, false, 50, 50 },
	{ "RoCE without PFC", CONFIG_ROCE_LOSSY, 26, 3, false, false, 50, 50 },
	{ "stock 3", CONFIG_ROCE_SONIC, 3, 3, true, false, 15, 14 },
	{ "stock 4", CONFIG_ROCE_SONIC, 4, 4, true, false, 15, 14 },
	{ "stock 48", CONFIG_ROCE_SONIC, 48, 6, false, false, 14, 14 },
	{ "stock 26", CONFIG_ROCE_SONIC, 26, 1, false, false, 14, 14 },
};

TABLE_TEST(preset, classes, row, class_rows)
{
	struct rig *rig = rig_new(alone(row->roce, 2, 10000000000));
	const struct port_profile *port = &rig->pf->port[0];

	cr_assert_eq(port->dscp_to_tc[row->dscp], row->tc);
	cr_assert_eq(port->pg[port->tc_to_pg[row->tc]].lossless, row->lossless);
	cr_assert_eq(port->queue[port->tc_to_queue[row->tc]].strict, row->strict);
	// Bytes a round of DWRR are in proportion to weights.
	cr_assert_eq(port->queue[port->tc_to_queue[row->tc]].quantum_bytes * row->rest,
		     port->queue[port->tc_to_queue[0]].quantum_bytes * row->weight);
	rig_end(rig);
}

// --- what the file says holds -------------------------------------------------------------------

static void name_knob(char out[CONFIG_NAME_BYTES], const char *name)
{
	snprintf(out, CONFIG_NAME_BYTES, "%s", name);
}

Test(preset, rows_of_the_file_hold)
{
	struct sw_config *written = written_of(CONFIG_ROCE_LOSSLESS, 3, 10000000000);
	const struct preset_port need[3] = { { 90000, 100 }, { 90000, 100 }, { 200000, 100 } };
	struct buffer_profile_config *own;
	struct pfc_wd_config *wd;
	struct rig *rig;
	struct sw_config *c;

	setup_pool(written, "ingress_lossless_pool", CONFIG_POOL_INGRESS, 5000000);
	own = setup_profile(written, "mine", "ingress_lossless_pool");
	own->xoff = 50000;
	own->size = 60000;
	own->dynamic_th = -2;
	setup_pg(written, written->port[0].name, 1 << 3, "mine");
	setup_wred(written, "step", 30000, 30000, 1000000);
	setup_queue(written, written->port[1].name, 1 << 3, "", "step");
	setup_scheduler(written, "scheduler.1", CONFIG_SCHEDULER_DWRR, 80);
	wd = setup_add_row(written, "pfc_wd");
	name_knob(wd->port, written->port[1].name);
	wd->detection_time = 700 * MS;
	written->port[2].pfc_enable = 1 << 3;
	name_knob(written->port[2].dscp_to_tc_map, "AZURE");
	c = expand(written, need);
	rig = rig_new(c);
	cr_assert_eq(rig->pf->pool[0].size_bytes, 5000000);
	cr_assert_eq(rig->pf->port[0].pg[3].headroom_bytes, 50000);
	cr_assert_eq(rig->pf->port[0].pg[3].limit.alpha_log2, -2);
	cr_assert_eq(rig->pf->port[0].gen.enable, 1 << 3);
	// The others have what they need, in whole KiB.
	cr_assert_eq(rig->pf->port[1].pg[3].headroom_bytes, 88 * 1024);
	cr_assert_eq(rig->pf->port[2].pg[3].headroom_bytes, 196 * 1024);
	cr_assert_eq(rig->pf->port[1].queue[3].wred.mark.max_bytes, 30000);
	cr_assert_eq(rig->pf->port[2].queue[3].wred.mark.max_bytes, 1500000);
	cr_assert_eq(rig->pf->port[1].watchdog[3].pfc.detection_ns, 700 * MS);
	cr_assert_eq(rig->pf->port[2].watchdog[3].pfc.detection_ns, 200 * MS);
	cr_assert_eq(rig->pf->port[2].dscp_to_tc[26], 1);
	cr_assert_eq(rig->pf->port[2].dscp_to_tc[3], 3);
	cr_assert_eq(rig->pf->port[1].dscp_to_tc[26], 3);
	cr_assert_eq(rig->pf->port[1].queue[3].quantum_bytes * 50,
		     rig->pf->port[1].queue[0].quantum_bytes * 80);
	rig_end(rig);
	free(written);
}

// A port may stay out: its group is bound to a profile without headroom, and it obeys only.
Test(preset, a_port_without_headroom_sends_no_pfc)
{
	struct sw_config *written = written_of(CONFIG_ROCE_LOSSLESS, 2, 10000000000);
	const struct preset_port need[2] = { { 90000, 100 }, { 90000, 100 } };
	struct rig *rig;

	setup_pg(written, written->port[0].name, 1 << 3, "ingress_lossy_profile");
	written->port[0].pfc_asymmetric = 1;
	rig = rig_new(expand(written, need));
	cr_assert_eq(rig->pf->port[0].gen.enable, 0);
	cr_assert_eq(rig->pf->port[0].rx.obey, 0xff);
	cr_assert_not(rig->pf->port[0].pg[3].lossless);
	cr_assert(rig->pf->port[1].pg[3].lossless);
	rig_end(rig);
	free(written);
}

// Descriptors follow what the headroom takes, unless the file has a number.
Test(preset, descriptors_follow_headroom)
{
	struct sw_config *written = written_of(CONFIG_ROCE_LOSSLESS, 2, 10000000000);
	const struct preset_port need[2] = { { 90000, 50000 }, { 90000, 60000 } };
	struct sw_config *c = expand(written, need);
	struct profile_fault fault;
	struct sw_profile *pf = malloc(profile_bytes(c));

	cr_assert_eq(c->sw.descriptors, 2 * (50000 + 60000));
	cr_assert_eq(profile_build(c, pf, &fault), 0);
	cr_assert_eq(pf->port[1].pg[3].headroom_descriptors, 60000);
	free(c);
	written->sw.descriptors = 200000;
	c = expand(written, need);
	cr_assert_eq(c->sw.descriptors, 200000);
	cr_assert_eq(profile_build(c, pf, &fault), -EINVAL);
	cr_assert_eq(fault.id, FAULT_DESCRIPTORS);
	free(c);
	free(pf);
	free(written);
}

// Two groups of each of two ports ask for more than the knob may say.
Test(preset, too_many_descriptors_are_a_fault)
{
	struct preset_port need[2] = { { 90000, 524289 }, { 90000, 524288 } };
	struct sw_config *written = written_of(CONFIG_ROCE_SONIC, 2, 10000000000);
	struct sw_config *c = malloc(sizeof(*c));
	struct profile_fault fault;
	uint64_t most = 0;

	for (uint32_t i = 0; i < config_tables[0].knob_count; i++) {
		if (strcmp(config_tables[0].knobs[i].key, "descriptors") == 0)
			most = (uint64_t)config_tables[0].knobs[i].max;
	}
	cr_assert_eq(most, 4 * 2 * 524288);
	cr_assert_eq(preset_expand(written, need, c, &fault), -EINVAL);
	cr_assert_eq(fault.id, FAULT_DESCRIPTORS);
	need[0].headroom_descriptors--;
	cr_assert_eq(preset_expand(written, need, c, &fault), 0);
	cr_assert_eq(c->sw.descriptors, most);
	free(c);
	free(written);
}

// A port that has PFC for one of the lossless classes has headroom for this one.
Test(preset, pfc_enable_of_the_file_holds)
{
	struct sw_config *written = written_of(CONFIG_ROCE_SONIC, 2, 10000000000);
	const struct preset_port need[2] = { { 90000, 100 }, { 90000, 100 } };
	struct rig *rig;

	written->port[0].pfc_enable = 1 << 3;
	written->port[0].pfc_asymmetric = 1;
	rig = rig_new(expand(written, need));
	cr_assert_eq(rig->pf->port[0].gen.enable, 1 << 3);
	cr_assert(rig->pf->port[0].pg[3].lossless);
	cr_assert_not(rig->pf->port[0].pg[4].lossless);
	cr_assert(rig->pf->port[1].pg[4].lossless);
	rig_end(rig);
	free(written);
}

// A table has only so many rows, and every need of its own takes a profile.
Test(preset, too_many_profiles_are_a_fault)
{
	struct preset_port need[CONFIG_PROFILE_MAX + 1];
	struct sw_config *written = written_of(CONFIG_ROCE_LOSSLESS, CONFIG_PROFILE_MAX + 1,
					       10000000000);
	struct sw_config *c = malloc(sizeof(*c));
	struct profile_fault fault;

	for (uint32_t i = 0; i <= CONFIG_PROFILE_MAX; i++)
		need[i] = (struct preset_port){ 100000 + i * 1024, 100 };
	cr_assert_eq(preset_expand(written, need, c, &fault), -EINVAL);
	cr_assert_eq(fault.id, FAULT_TOO_MANY);
	cr_assert_eq(fault.want, CONFIG_PROFILE_MAX);
	cr_assert_str_eq(fault.detail, "buffer_profile");
	free(c);
	free(written);
}

// --- under load --------------------------------------------------------------------------------

static const struct {
	const char *what;
	enum config_roce roce;
	uint32_t prio;
	uint8_t dscp;
	bool lossless;
} load_rows[] = {
	{ "RoCE is lossless", CONFIG_ROCE_LOSSLESS, 3, 26, true },
	{ "without PFC it is not", CONFIG_ROCE_LOSSY, 3, 26, false },
	{ "stock class 4 is lossless", CONFIG_ROCE_SONIC, 4, 4, true },
};

// Three senders at line rate into one port for 30 ms: far more than any buffer here.
TABLE_TEST(preset, incast, row, load_rows)
{
	const uint64_t bps = 1000000000;
	struct net *net = net_new();
	const uint32_t sw = net_add_switch(net, rig_new(alone(row->roce, SENDERS + 1, bps)));
	uint32_t host[SENDERS + 1];
	uint64_t sent = 0, marked;
	struct rig *rig;

	for (uint32_t i = 0; i <= SENDERS; i++) {
		struct host_config config;

		host_config_init(&config, i);
		config.bps = bps;
		if (i < SENDERS) {
			struct host_flow_config *flow = host_add_flow(&config, SINK,
								      (uint8_t)row->prio, LEN);

			flow->dscp = row->dscp;
			flow->ecn = 2;
			flow->stop = ns_add((ns_t){ 0 }, 30 * MS);
		}
		host[i] = net_add_host(net, &config);
		net_join(net, host[i], 0, sw, i, bps, DELAY_NS);
	}
	net_run(net, 100 * MS);
	rig = net_rig(net, sw);
	for (uint32_t i = 0; i < SENDERS; i++) {
		sent += net_host_stats(net, host[i]).prio[row->prio].tx_packets;
		cr_assert_eq(rig_pg(rig, i, row->prio).xoff_events > 0, row->lossless);
		cr_assert_eq(rig_pg(rig, i, row->prio).xoff_room_watermark_bytes > 0,
			     row->lossless);
	}
	marked = rig_queue(rig, SINK, row->prio).wred_ecn_marked_packets;
	cr_assert_gt(marked, 0);
	cr_assert_eq(rig_all_drops(rig) == 0, row->lossless);
	cr_assert_eq(net_host_stats(net, host[SINK]).prio[row->prio].rx_packets,
		     sent - rig_all_drops(rig));
	net_end(net);
}
