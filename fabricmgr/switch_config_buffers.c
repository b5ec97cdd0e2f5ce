// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers of classes, cut as the preset of a switch cuts them: pools grow with the ECN thresholds
// of the ports, headroom comes on top, and a storm lasts longer than a port takes to drain its
// share. Ports of nobody are lossy, and obey whoever is plugged in.

#include "fabricmgr/switch_config_parts.h"

#include "schema/config_limits.h"

enum {
	FRAME_EXTRA = 14 + 8 + 4, // Ethernet header, two tags of hosts and that of lanes
	FRAME_MIN_BYTES = 60,
	XON_FRAMES = 2,  // reserve of a lossless group
	RESUME_US = 50,  // time at line rate that XON is below XOFF
	SHARE_MARKS = 2, // buffer of a port in units of its highest ECN threshold
	CNP_BYTES = 4096,
	WATCHDOG_DRAINS = 10, // a storm is longer than so many times draining a port's share
	WATCHDOG_STEP_MS = 100,
	WATCHDOG_MIN_MS = 200,
	WATCHDOG_MAX_MS = 5000,
	DESCRIPTOR_BYTES = 1024, // mean frame for which descriptors last as long as bytes
	SEGMENT_BYTES = 2048,    // of a frame in one descriptor
	DESCRIPTORS_MIN = 65536,
	DESCRIPTORS_MAX = 4194304,
	LATE_NS = 1100000,
	ROW_NAME_BYTES = 64, // more than names take
};

#define RESUME_BPS_MAX 10000000000ull
#define MILLISECOND 1000000ull

// --- numbers of a port ------------------------------------------------------------------------

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

static uint64_t frame_bytes(const struct config_text *text)
{
	return text->options.mtu + (uint64_t)FRAME_EXTRA;
}

static struct qos_headroom headroom_of(const struct config_text *text,
				       const struct config_port *port, const struct qos_ports *kind)
{
	const uint64_t late = text->lab != NULL && text->lab->late_ns != 0 ? text->lab->late_ns :
									     LATE_NS;
	struct qos_headroom headroom = kind->headroom;
	struct qos_headroom software;

	if (text->lab == NULL)
		return headroom;
	software = qos_software_headroom(&text->options, port->speed_bps, late);
	headroom.bytes = u64_max(headroom.bytes, software.bytes);
	headroom.frames = u64_max(headroom.frames, software.frames);
	return headroom;
}

// Of a port that somebody is at.
struct config_needs config_needs_of(struct config_text *text, const struct config_port *port)
{
	const uint64_t rate = u64_min(port->speed_bps, RESUME_BPS_MAX);
	const struct qos_ports *kind = qos_find_ports(text->qos, port->speed_bps, port->length_mm,
						      !config_is_fabric(port));
	const uint64_t smallest = round_up(FRAME_MIN_BYTES, text->options.cell_bytes);
	struct qos_headroom headroom;
	struct config_needs needs = { 0 };
	uint64_t drain_ms;

	if (kind == NULL) {
		config_fail(text, -EOVERFLOW, "ports of more than %d speeds and lengths of cable",
			    QOS_PORTS_MAX);
		return needs;
	}
	headroom = headroom_of(text, port, kind);
	needs.xoff = round_up(headroom.bytes, 1024);
	// Frames take whole cells, and each a descriptor more per full segment.
	needs.descriptors = u64_min(headroom.frames, needs.xoff / smallest + 1) +
			    needs.xoff / SEGMENT_BYTES;
	needs.resume = u64_max(rate / 8 * RESUME_US / 1000000, XON_FRAMES * frame_bytes(text));
	needs.ecn_min = kind->ecn_min_bytes;
	needs.ecn_max = kind->ecn_max_bytes;
	drain_ms = SHARE_MARKS * needs.ecn_max * 8 * 1000 / port->speed_bps;
	needs.detection_ms = round_up(WATCHDOG_DRAINS * drain_ms, WATCHDOG_STEP_MS);
	needs.detection_ms = u64_min(u64_max(needs.detection_ms, WATCHDOG_MIN_MS), WATCHDOG_MAX_MS);
	if (config_has_watchdog(text))
		needs.detection_ms = text->source->intent->fabric.watchdog / MILLISECOND;
	return needs;
}

// Of all ports together.
struct totals {
	uint64_t share;
	uint64_t reserve;
	uint64_t headroom;
	uint64_t descriptors; // of headroom
};

static struct totals totals_of(struct config_text *text)
{
	struct totals all = { 0 };

	for (uint32_t i = 0; text->rc == 0 && i < text->port_count; i++) {
		const struct config_port *port = &text->port[i];
		const uint32_t groups = (uint32_t)__builtin_popcount(config_lossless(text, port));
		struct config_needs needs;

		all.reserve += frame_bytes(text) * PG_COUNT * XON_FRAMES + CNP_BYTES;
		if (config_is_free(port))
			continue;
		needs = config_needs_of(text, port);
		all.share += SHARE_MARKS * needs.ecn_max;
		all.headroom += groups * needs.xoff;
		all.descriptors += groups * needs.descriptors;
	}
	all.share = round_up(all.share, 2048);
	all.reserve = round_up(all.reserve, 1024);
	return all;
}

// A switch sets at most half of its descriptors aside for headroom. Where frames as short as they
// can be would take more, headroom is for longer ones, all groups alike.
static uint64_t descriptors_of(const struct totals *all, const struct config_needs *needs)
{
	if (all->descriptors <= DESCRIPTORS_MAX / 2)
		return needs->descriptors;
	return needs->descriptors * (DESCRIPTORS_MAX / 2) / all->descriptors;
}

// For headroom and as much again, as the preset has it.
void config_descriptors(struct config_text *text)
{
	const struct totals all = totals_of(text);
	const uint64_t headroom = u64_min(all.descriptors, DESCRIPTORS_MAX / 2);
	const uint64_t rest = u64_max(headroom, all.share / DESCRIPTOR_BYTES);

	if (all.headroom / DESCRIPTOR_BYTES > headroom)
		config_fail(text, -EOVERFLOW,
			    "%llu bytes of headroom are more than %d packet descriptors are for: "
			    "shorter rings, fewer lanes or a smaller MTU need less",
			    (unsigned long long)all.headroom, DESCRIPTORS_MAX / 2);
	config_number(text, "descriptors",
		      u64_min(u64_max(headroom + rest, DESCRIPTORS_MIN), DESCRIPTORS_MAX));
}

// Whether an earlier port is of the same speed and, unless `any_length`, cable.
bool config_is_repeated(const struct config_text *text, uint32_t at, bool any_length)
{
	for (uint32_t i = 0; i < at; i++) {
		const struct config_port *port = &text->port[i];

		if (!config_is_free(port) && port->speed_bps == text->port[at].speed_bps &&
		    (any_length || port->length_mm == text->port[at].length_mm))
			return true;
	}
	return false;
}

// --- buffers ----------------------------------------------------------------------------------

static void put_pool(struct config_text *text, const char *name, const char *type, const char *mode,
		     uint64_t size)
{
	if (!config_row(text, "buffer_pool", CONFIG_POOL_MAX))
		return;
	config_text(text, "name", "%s", name);
	config_text(text, "type", "%s", type);
	config_text(text, "mode", "%s", mode);
	config_unit(text, "size", UNIT_BYTES, size);
	config_row_end(text);
}

static bool profile_begin(struct config_text *text, const char *name, const char *pool)
{
	if (!config_row(text, "buffer_profile", CONFIG_PROFILE_MAX))
		return false;
	config_text(text, "name", "%s", name);
	config_text(text, "pool", "%s", pool);
	return true;
}

static void put_lossy_profiles(struct config_text *text)
{
	if (profile_begin(text, "ingress_lossy_profile", "ingress_lossless_pool")) {
		config_number(text, "dynamic_th", 3);
		config_row_end(text);
	}
	if (profile_begin(text, "egress_lossless_profile", "egress_lossless_pool")) {
		config_number(text, "static_th", 0);
		config_row_end(text);
	}
	if (profile_begin(text, "egress_lossy_profile", "egress_lossy_pool")) {
		config_number(text, "size", frame_bytes(text));
		config_number(text, "dynamic_th", 1);
		config_row_end(text);
	}
}

// By what it depends on, as SONiC names them.
static void name_lossless(const struct config_port *port, char out[ROW_NAME_BYTES])
{
	char speed[UNIT_TEXT_BYTES];

	unit_format(UNIT_BPS, port->speed_bps, speed);
	if (port->length_mm % 1000 == 0)
		snprintf(out, ROW_NAME_BYTES, "pg_lossless_%s_%um", speed, port->length_mm / 1000);
	else
		snprintf(out, ROW_NAME_BYTES, "pg_lossless_%s_%umm", speed, port->length_mm);
}

static void put_lossless_profile(struct config_text *text, const struct totals *all, uint32_t at)
{
	const struct config_port *port = &text->port[at];
	const uint64_t reserve = XON_FRAMES * frame_bytes(text);
	char name[ROW_NAME_BYTES];
	struct config_needs needs;

	if (config_is_free(port) || config_is_repeated(text, at, false))
		return;
	needs = config_needs_of(text, port);
	name_lossless(port, name);
	if (!profile_begin(text, name, "ingress_lossless_pool"))
		return;
	config_number(text, "size", needs.xoff + reserve);
	config_number(text, "xon", reserve);
	config_number(text, "xon_offset", needs.resume);
	config_number(text, "xoff", needs.xoff);
	config_number(text, "xoff_descriptors", descriptors_of(all, &needs));
	config_number(text, "dynamic_th", 0);
	config_row_end(text);
}

static void bind(struct config_text *text, const char *table, const char *what, uint32_t port,
		 uint8_t mask, const char *profile)
{
	if (mask == 0 || !config_row(text, table, CONFIG_BINDING_MAX))
		return;
	if (port == text->port_count)
		config_text(text, "port", "all");
	else
		config_port_name(text, "port", port);
	config_mask(text, what, mask);
	config_text(text, "profile", "%s", profile);
	config_row_end(text);
}

static void bind_groups(struct config_text *text, uint32_t i)
{
	const struct config_port *port = &text->port[i];
	const uint8_t lossless = config_lossless(text, port);
	char name[ROW_NAME_BYTES];

	name_lossless(port, name);
	bind(text, "buffer_pg", "pg", i, lossless, name);
	bind(text, "buffer_pg", "pg", i, (uint8_t)~lossless, "ingress_lossy_profile");
}

void config_buffers(struct config_text *text)
{
	const uint8_t lossless = config_used_by(text, QOS_LOSSLESS);
	const uint32_t all_ports = text->port_count;
	const struct totals all = totals_of(text);

	put_pool(text, "ingress_lossless_pool", "ingress", "dynamic", all.share + all.reserve);
	put_pool(text, "egress_lossless_pool", "egress", "static",
		 all.share + all.reserve + all.headroom);
	put_pool(text, "egress_lossy_pool", "egress", "dynamic", all.share / 2 + all.reserve);
	put_lossy_profiles(text);
	for (uint32_t i = 0; lossless != 0 && i < text->port_count; i++)
		put_lossless_profile(text, &all, i);
	for (uint32_t i = 0; i < text->port_count; i++)
		bind_groups(text, i);
	bind(text, "buffer_queue", "queue", all_ports, lossless, "egress_lossless_profile");
	bind(text, "buffer_queue", "queue", all_ports, (uint8_t)~lossless, "egress_lossy_profile");
}

// --- the watchdog -----------------------------------------------------------------------------

static void put_watchdog(struct config_text *text, uint32_t i)
{
	const struct config_port *port = &text->port[i];
	struct config_needs needs;

	if (config_lossless(text, port) == 0)
		return;
	needs = config_needs_of(text, port);
	if (!config_row(text, "pfc_wd", CONFIG_PFC_WD_MAX))
		return;
	config_port_name(text, "port", i);
	config_unit(text, "detection_time", UNIT_NS, needs.detection_ms * MILLISECOND);
	config_unit(text, "restoration_time", UNIT_NS, 2 * needs.detection_ms * MILLISECOND);
	config_row_end(text);
}

void config_watchdogs(struct config_text *text)
{
	for (uint32_t i = 0; i < text->port_count; i++)
		put_watchdog(text, i);
}

// Ports of nobody need no headroom, and so announce nothing.
void config_free_buffers(struct config_text *text)
{
	for (uint32_t i = 0; i < text->port_count; i++) {
		if (config_is_free(&text->port[i]))
			bind(text, "buffer_pg", "pg", i, config_used_by(text, QOS_LOSSLESS),
			     "ingress_lossy_profile");
	}
}
