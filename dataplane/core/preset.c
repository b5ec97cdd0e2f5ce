// SPDX-License-Identifier: BSD-3-Clause
//
// The presets of the knob `roce`. In all of them a lossless class, its priority, priority group and
// queue have the same number.
//
// lossless, lossy  what NVIDIA's switches make of `nv set qos roce` (docs.nvidia.com, Cumulus,
//                  RoCE): DSCP 26 in class 3 with half of the bandwidth, CNPs strict in class 6,
//                  ECN from 150 kB on to 1.5 MB, everything else in class 0
// sonic            what SONiC ships (sonic-buildimage, qos_config.j2 and the buffers of its virtual
//                  switch): maps AZURE, classes 3 and 4, AZURE_LOSSLESS
//
// Scaled to a port: headroom by its class, ECN below 10G (thresholds stand for the time that a
// queue takes to drain), the buffer that it adds to the pools, and the watchdog, which must not
// take the time in which a slow port drains that buffer for a storm.

#include "dataplane/core/preset.h"

#include <errno.h>

#include "base/units.h"
#include "dataplane/core/preset_rows.h"
#include "dataplane/core/profile_build.h"

enum {
	FULL_ECN_BPS_G = 10,     // thresholds are the field's from this rate on
	ECN_MIN_FRAMES = 5,      // a threshold below this marks every burst
	SHARE_MARKS = 2,         // buffer of a port in units of its highest ECN threshold
	XON_FRAMES = 2,          // reserve of a lossless group
	RESUME_US = 50,          // time at line rate that XON is below XOFF
	WATCHDOG_DRAINS = 10,    // a storm is longer than this many times draining the port's share
	DESCRIPTOR_BYTES = 1024, // mean frame for which descriptors last as long as bytes
	DESCRIPTORS_MAX = 4194304, // of the knob
};

#define GIGA 1000000000ull
#define MILLISECOND 1000000ull

static const uint64_t watchdog_step = 100 * MILLISECOND;
static const uint64_t watchdog_max = 5000 * MILLISECOND;

struct preset {
	const char *maps;      // built-in maps
	uint8_t lossless;      // classes
	uint8_t marked;        // queues with ECN
	uint8_t lossy_pgs;     // groups that the other classes use
	uint8_t weighted;      // queues beside `marked` that get other_weight
	uint8_t marked_weight; // shares of DWRR
	uint8_t other_weight;  //
	int8_t dynamic_th;     // of lossless groups
	bool scaled;           // thresholds below FULL_ECN_BPS_G follow the rate
	bool wred;             // what is not ECN-capable is dropped by the same law
	const char *wred_name; // begins the names of its wred profiles
	uint64_t ecn_min_bytes;
	uint64_t ecn_max_bytes;
	uint64_t ecn_ppm;
	uint64_t pool_bytes; // least size of the pools
	uint64_t detection_ns;
	uint64_t restoration_ns;
};

static const struct preset presets[] = {
	[CONFIG_ROCE_OFF] = { .maps = "AZURE" },
	[CONFIG_ROCE_LOSSLESS] = {
		.maps = "roce", .lossless = 1 << 3, .marked = 1 << 3, .lossy_pgs = 0x41,
		.weighted = 0x01, .marked_weight = 50, .other_weight = 50, .scaled = true,
		.wred_name = "roce_ecn_", .ecn_min_bytes = 150000, .ecn_max_bytes = 1500000,
		.ecn_ppm = 1000000, .detection_ns = 200 * MILLISECOND,
		.restoration_ns = 400 * MILLISECOND,
	},
	[CONFIG_ROCE_LOSSY] = {
		.maps = "roce", .marked = 1 << 3, .lossy_pgs = 0x49, .weighted = 0x01,
		.marked_weight = 50, .other_weight = 50, .scaled = true, .wred_name = "roce_ecn_",
		.ecn_min_bytes = 150000, .ecn_max_bytes = 1500000, .ecn_ppm = 1000000,
	},
	[CONFIG_ROCE_SONIC] = {
		.maps = "AZURE", .lossless = 0x18, .marked = 0x18, .lossy_pgs = 0x81,
		.weighted = 0x67, .marked_weight = 15, .other_weight = 14, .dynamic_th = -3,
		.wred = true, .wred_name = "AZURE_LOSSLESS", .ecn_min_bytes = 1 << 20,
		.ecn_max_bytes = 2 << 20, .ecn_ppm = 50000, .pool_bytes = 12766208,
		.detection_ns = 200 * MILLISECOND, .restoration_ns = 200 * MILLISECOND,
	},
};

static const char ingress_pool[] = "ingress_lossless_pool";
static const char egress_pool[] = "egress_lossless_pool";
static const char lossy_pool[] = "egress_lossy_pool";
static const char pg_lossy[] = "ingress_lossy_profile";
static const char queue_lossless[] = "egress_lossless_profile";
static const char queue_lossy[] = "egress_lossy_profile";
static const char marked_scheduler[] = "scheduler.1";
static const char other_scheduler[] = "scheduler.0";

// --- what a port's speed makes of the numbers -------------------------------------------------

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

static uint64_t frame_bytes(const struct port_config *port)
{
	return port->mtu + ETHERNET_BYTES + TAG_BYTES;
}

// A port without a rate of its own is taken for one of full speed.
static uint64_t rate_gbps_limit(const struct port_config *port)
{
	const uint64_t full = FULL_ECN_BPS_G * GIGA;

	return port->speed == 0 ? full : u64_min(port->speed, full);
}

static uint64_t ecn_min_bytes(const struct preset *preset, const struct port_config *port)
{
	// At most 1.5 MB x 10^10: no overflow.
	const uint64_t scaled = preset->ecn_min_bytes * rate_gbps_limit(port) /
				(FULL_ECN_BPS_G * GIGA);

	if (!preset->scaled)
		return preset->ecn_min_bytes;
	return u64_max(scaled, ECN_MIN_FRAMES * frame_bytes(port));
}

static uint64_t ecn_max_bytes(const struct preset *preset, const struct port_config *port)
{
	return ecn_min_bytes(preset, port) * (preset->ecn_max_bytes / preset->ecn_min_bytes);
}

// What a port adds to the shared part of a pool.
static uint64_t share_bytes(const struct preset *preset, const struct port_config *port)
{
	return SHARE_MARKS * ecn_max_bytes(preset, port);
}

static uint64_t detection_ns(const struct preset *preset, const struct port_config *port)
{
	const uint64_t drain = bytes_ns(share_bytes(preset, port), port->speed);
	const uint64_t slow = round_up(WATCHDOG_DRAINS * drain, watchdog_step);

	return u64_min(u64_max(preset->detection_ns, slow), watchdog_max);
}

static uint64_t resume_bytes(const struct port_config *port)
{
	return u64_max(rate_gbps_limit(port) / 8 * RESUME_US / 1000000,
		       XON_FRAMES * frame_bytes(port));
}

// --- the parts of a preset --------------------------------------------------------------------

static void fill_name(char name[CONFIG_NAME_BYTES], const char *with)
{
	if (name[0] == '\0')
		name_copy(name, with);
}

static void fill_maps(const struct preset *preset, struct port_config *port)
{
	fill_name(port->dscp_to_tc_map, preset->maps);
	fill_name(port->dot1p_to_tc_map, preset->maps);
	fill_name(port->ethertype_to_tc_map, preset->maps);
	fill_name(port->tc_to_queue_map, preset->maps);
	fill_name(port->tc_to_pg_map, preset->maps);
	fill_name(port->pfc_to_queue_map, preset->maps);
	fill_name(port->pfc_to_pg_map, preset->maps);
}

static bool same_needs(const struct buffer_profile_config *a, const struct buffer_profile_config *b)
{
	return a->size == b->size && a->xon == b->xon && a->xon_offset == b->xon_offset &&
	       a->xoff == b->xoff && a->xoff_descriptors == b->xoff_descriptors;
}

// Gives a lossless profile its name: that of an equal row, or the next that is free, such as
// "pg_lossless_368K" and "pg_lossless_368K_1".
static void name_lossless(const struct preset_expansion *x, struct buffer_profile_config *row)
{
	char begin[CONFIG_NAME_BYTES];

	preset_name_by_bytes(begin, "pg_lossless_", row->xoff);
	name_copy(row->name, begin);
	for (uint32_t n = 1; n <= CONFIG_PROFILE_MAX; n++) {
		const struct buffer_profile_config *other = preset_find_profile(x->out, row->name);
		char number[UNIT_TEXT_BYTES];

		if (other == NULL || (other->line == x->out->sw.line && same_needs(other, row)))
			return;
		unit_format(UNIT_COUNT, n, number);
		name_copy(row->name, begin);
		preset_append(row->name, "_");
		preset_append(row->name, number);
	}
}

static int add_lossless_pgs(struct preset_expansion *x, uint32_t i, uint8_t pgs)
{
	const struct port_config *port = &x->out->port[i];
	const uint64_t reserve = XON_FRAMES * frame_bytes(port);
	const uint64_t xoff = round_up(x->ports[i].headroom_bytes, 1024);
	struct buffer_profile_config row = {
		.size = xoff + reserve,
		.xon = reserve,
		.xon_offset = resume_bytes(port),
		.xoff = xoff,
		.xoff_descriptors = x->ports[i].headroom_descriptors,
		.dynamic_th = x->preset->dynamic_th,
		.static_th = CONFIG_UNSET,
	};
	int rc;

	if (pgs == 0)
		return 0;
	name_lossless(x, &row);
	rc = preset_add_profile(x, &row, ingress_pool);
	return rc != 0 ? rc : preset_bind_pgs(x, port, pgs, row.name);
}

static int expand_buffers(struct preset_expansion *x, uint32_t i)
{
	const struct preset *preset = x->preset;
	struct port_config *port = &x->out->port[i];
	uint8_t own_lossless;
	const uint8_t own = preset_own_pgs(x->out, port, &own_lossless);
	const uint8_t own_egress = preset_own_buffer_queues(x->out, port);
	uint8_t lossless;
	int rc;

	if (port->pfc_enable == 0)
		port->pfc_enable = preset->lossless & (uint8_t)(~own | own_lossless);
	lossless = preset->lossless & (uint8_t)port->pfc_enable;
	rc = add_lossless_pgs(x, i, lossless & (uint8_t)~own);
	if (rc == 0)
		rc = preset_bind_pgs(x, port,
				     (preset->lossy_pgs | (preset->lossless & (uint8_t)~lossless)) &
					     (uint8_t)~own,
				     pg_lossy);
	if (rc == 0)
		rc = preset_bind_queues(x, port, preset->lossless & (uint8_t)~own_egress,
					queue_lossless);
	if (rc == 0)
		rc = preset_bind_queues(x, port, (uint8_t) ~(preset->lossless | own_egress),
					queue_lossy);
	return rc;
}

static int add_wred(struct preset_expansion *x, const struct port_config *port,
		    char name[CONFIG_NAME_BYTES])
{
	const struct preset *preset = x->preset;
	struct sw_config *c = x->out;

	if (preset->scaled)
		preset_name_by_bytes(name, preset->wred_name, ecn_min_bytes(preset, port));
	else
		name_copy(name, preset->wred_name);
	for (uint32_t i = 0; i < c->wred_count; i++) {
		if (name_equal(c->wred[i].name, name))
			return 0;
	}
	if (c->wred_count == CONFIG_WRED_MAX)
		return preset_fail_full(x, "wred_profile", CONFIG_WRED_MAX);
	c->wred[c->wred_count] = (struct wred_config){
		.line = c->sw.line,
		.ecn = CONFIG_ECN_ALL,
		.wred_green_enable = preset->wred,
		.green_min_threshold = ecn_min_bytes(preset, port),
		.green_max_threshold = ecn_max_bytes(preset, port),
		.green_drop_probability = preset->ecn_ppm,
		.green_ect_min_threshold = CONFIG_UNSET,
		.green_ect_max_threshold = CONFIG_UNSET,
		.green_ect_mark_probability = CONFIG_UNSET,
	};
	name_copy(c->wred[c->wred_count++].name, name);
	return 0;
}

static int expand_queues(struct preset_expansion *x, const struct port_config *port)
{
	const struct preset *preset = x->preset;
	char wred[CONFIG_NAME_BYTES];
	uint8_t marked;
	const uint8_t scheduled = preset_own_queues(x->out, port, &marked);
	int rc = add_wred(x, port, wred);

	if (rc == 0)
		rc = preset_serve_queues(x, port, preset->marked & (uint8_t)~scheduled,
					 marked_scheduler, "");
	if (rc == 0)
		rc = preset_serve_queues(x, port, preset->weighted & (uint8_t)~scheduled,
					 other_scheduler, "");
	if (rc == 0)
		rc = preset_serve_queues(x, port, preset->marked & (uint8_t)~marked, "", wred);
	return rc;
}

static int expand_watchdog(struct preset_expansion *x, const struct port_config *port)
{
	const uint64_t detection = detection_ns(x->preset, port);
	struct sw_config *c = x->out;

	if (x->preset->detection_ns == 0 || port->pfc_enable == 0 || preset_has_watchdog(c, port))
		return 0;
	if (c->pfc_wd_count == CONFIG_PFC_WD_MAX)
		return preset_fail_full(x, "pfc_wd", CONFIG_PFC_WD_MAX);
	c->pfc_wd[c->pfc_wd_count] = (struct pfc_wd_config){
		.line = port->line,
		.action = WATCHDOG_DROP,
		.detection_time = detection,
		.restoration_time = detection *
				    (x->preset->restoration_ns / x->preset->detection_ns),
	};
	name_copy(c->pfc_wd[c->pfc_wd_count++].port, port->name);
	return 0;
}

// Sizes cover the reserves of all ports and a share for each; egress also holds what ingress has in
// headroom.
static int expand_pools(struct preset_expansion *x)
{
	struct sw_config *c = x->out;
	const struct preset *preset = x->preset;
	uint64_t share = 0, reserve = 0, headroom = 0;
	int rc;

	for (uint32_t i = 0; i < c->port_count; i++) {
		const struct port_config *port = &c->port[i];
		const uint32_t groups = (uint32_t)__builtin_popcount(preset->lossless);

		share += share_bytes(preset, port);
		reserve += PG_COUNT * XON_FRAMES * frame_bytes(port) + port->cnp_reserve;
		headroom += groups * round_up(x->ports[i].headroom_bytes, 1024);
	}
	share = round_up(u64_max(share, preset->pool_bytes), 2048);
	reserve = round_up(reserve, 1024);
	rc = preset_add_pool(x, ingress_pool, CONFIG_POOL_INGRESS, share + reserve, false);
	if (rc == 0 && preset->lossless != 0)
		rc = preset_add_pool(x, egress_pool, CONFIG_POOL_EGRESS, share + reserve + headroom,
				     true);
	if (rc == 0)
		rc = preset_add_pool(x, lossy_pool, CONFIG_POOL_EGRESS, share / 2 + reserve, false);
	return rc;
}

static int expand_profiles(struct preset_expansion *x)
{
	struct buffer_profile_config row = { .dynamic_th = 3,
					     .static_th = CONFIG_UNSET,
					     .xoff_descriptors = CONFIG_UNSET };
	uint64_t frame = 0;
	int rc;

	for (uint32_t i = 0; i < x->out->port_count; i++)
		frame = u64_max(frame, frame_bytes(&x->out->port[i]));
	name_copy(row.name, pg_lossy);
	rc = preset_add_profile(x, &row, ingress_pool);
	row.size = frame;
	row.dynamic_th = 1;
	name_copy(row.name, queue_lossy);
	if (rc == 0)
		rc = preset_add_profile(x, &row, lossy_pool);
	row.size = 0;
	row.dynamic_th = CONFIG_UNSET_INT;
	row.static_th = 0;
	name_copy(row.name, queue_lossless);
	if (rc == 0 && x->preset->lossless != 0)
		rc = preset_add_profile(x, &row, egress_pool);
	return rc;
}

// Descriptors last as long as bytes do for frames of DESCRIPTOR_BYTES, and for all headroom twice.
static int expand_descriptors(struct preset_expansion *x)
{
	struct sw_config *c = x->out;
	const uint32_t groups = (uint32_t)__builtin_popcount(x->preset->lossless);
	uint64_t headroom = 0, share = 0;

	if (c->sw.descriptors != CONFIG_UNSET)
		return 0;
	for (uint32_t i = 0; i < c->port_count; i++) {
		headroom += groups * x->ports[i].headroom_descriptors;
		share += share_bytes(x->preset, &c->port[i]) / DESCRIPTOR_BYTES;
	}
	share = u64_min(share, DESCRIPTORS_MAX / 2);
	c->sw.descriptors = u64_max(headroom + u64_max(headroom, share), PROFILE_DESCRIPTORS);
	if (headroom <= DESCRIPTORS_MAX / 2)
		return 0;
	*x->fault = (struct profile_fault){ .id = FAULT_DESCRIPTORS,
					    .line = c->sw.line,
					    .have = headroom,
					    .want = DESCRIPTORS_MAX / 2 };
	name_copy(x->fault->object, "roce");
	return -EINVAL;
}

static int expand_port(struct preset_expansion *x, uint32_t i)
{
	const struct port_config *port = &x->out->port[i];
	int rc = expand_buffers(x, i);

	if (rc == 0)
		rc = expand_queues(x, port);
	return rc != 0 ? rc : expand_watchdog(x, port);
}

int preset_expand(const struct sw_config *written, const struct preset_port *ports,
		  struct sw_config *out, struct profile_fault *fault)
{
	const struct preset *preset = &presets[written->sw.roce];
	struct preset_expansion x = { preset, ports, out, fault };
	int rc;

	*fault = (struct profile_fault){ 0 };
	*out = *written;
	for (uint32_t i = 0; i < out->port_count; i++)
		fill_maps(preset, &out->port[i]);
	if (written->sw.roce == CONFIG_ROCE_OFF)
		return 0;
	rc = expand_pools(&x);
	if (rc == 0)
		rc = expand_profiles(&x);
	if (rc == 0)
		rc = preset_add_scheduler(&x, marked_scheduler, preset->marked_weight);
	if (rc == 0)
		rc = preset_add_scheduler(&x, other_scheduler, preset->other_weight);
	for (uint32_t i = 0; rc == 0 && i < out->port_count; i++)
		rc = expand_port(&x, i);
	return rc != 0 ? rc : expand_descriptors(&x);
}
