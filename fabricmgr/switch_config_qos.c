// SPDX-License-Identifier: BSD-3-Clause
//
// Classes of the intent as rows, where the preset does not make them. Class, priority, priority
// group and queue have one number (qos_plan()). Links between switches have all lanes; hosts know
// lane 0 alone, and at their ports the other lanes' classes share its group and its queue.
//
// Shares are weights of DWRR; congestion notification goes first, as switches have it by default.

#include "fabricmgr/switch_config_parts.h"

#include "schema/config_limits.h"

enum {
	CNP_DSCP = 48,
	PERCENT_PPM = 10000,
	ROCE_V1 = 0x8915,
	ROW_NAME_BYTES = 64, // more than names take
};

// --- priorities -------------------------------------------------------------------------------

uint8_t config_used_by(const struct config_text *text, enum qos_use use)
{
	uint8_t mask = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		mask |= (uint8_t)((text->qos->prio[i].use == use) << i);
	return mask;
}

// Those of lane 0: what hosts know.
static uint8_t first_lanes(const struct config_text *text)
{
	uint8_t mask = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		mask |= (uint8_t)((text->qos->prio[i].use == QOS_LOSSLESS &&
				   text->qos->prio[i].lane == 0)
				  << i);
	return mask;
}

// The priority of a class on lane 0, or of a lossy class.
static uint32_t prio_of(const struct config_text *text, uint32_t class)
{
	uint32_t i = 0;

	while (i < PRIO_COUNT &&
	       (text->qos->prio[i].use == QOS_FREE || text->qos->prio[i].use == QOS_CNP ||
		text->qos->prio[i].class != class || text->qos->prio[i].lane != 0))
		i++;
	return i;
}

uint8_t config_lossless(const struct config_text *text, const struct config_port *port)
{
	if (config_is_free(port))
		return 0;
	return config_is_fabric(port) ? config_used_by(text, QOS_LOSSLESS) : first_lanes(text);
}

uint8_t config_lanes(const struct config_text *text)
{
	return text->lanes > 1 ? config_used_by(text, QOS_LOSSLESS) : 0;
}

// --- maps -------------------------------------------------------------------------------------

static bool map_begin(struct config_text *text, const char *type, const char *name)
{
	if (!config_row(text, "map", CONFIG_MAP_MAX))
		return false;
	config_text(text, "type", "%s", type);
	config_text(text, "name", "%s", name);
	fputs(" map = \"", text->out);
	return true;
}

static void map_end(struct config_text *text, const char *rest)
{
	fprintf(text->out, "%s\";", rest);
	config_row_end(text);
}

static void put_dscp_map(struct config_text *text)
{
	uint64_t taken = 0;

	if (!map_begin(text, "dscp_to_tc", "fabric"))
		return;
	for (uint32_t class = 0; class < text->options.class_count; class ++) {
		const uint64_t dscp = text->options.class[class].dscp & ~taken;

		for (uint64_t left = dscp; left != 0; left &= left - 1)
			fprintf(text->out, "%d:%u ", __builtin_ctzll(left), prio_of(text, class));
		taken |= dscp;
	}
	if ((taken >> CNP_DSCP & 1) == 0)
		fprintf(text->out, "%d:%d ", CNP_DSCP, QOS_CNP_PRIO);
	map_end(text, "*:0");
}

// Each priority that is used is itself, those of `others` are `other`, the rest 0.
static void put_own_map(struct config_text *text, const char *type, const char *name, uint8_t used,
			uint8_t others, uint32_t other)
{
	if (!map_begin(text, type, name))
		return;
	for (uint32_t i = 1; i < PRIO_COUNT; i++) {
		if (used >> i & 1)
			fprintf(text->out, "%u:%u ", i, others >> i & 1 ? other : i);
	}
	map_end(text, "*:0");
}

// RoCEv1 has no DSCP: it is of the first class that is lossless.
static void put_ethertype_map(struct config_text *text)
{
	const uint8_t lossless = first_lanes(text);

	if (lossless == 0 || !map_begin(text, "ethertype_to_tc", "fabric"))
		return;
	fprintf(text->out, "0x%04x:%d", ROCE_V1, __builtin_ctz(lossless));
	map_end(text, "");
}

static void put_maps(struct config_text *text)
{
	const uint8_t first = first_lanes(text);
	const uint8_t lossless = config_used_by(text, QOS_LOSSLESS);
	const uint8_t used = lossless | config_used_by(text, QOS_LOSSY) | 1u << QOS_CNP_PRIO;
	const uint8_t later = lossless & (uint8_t)~first;
	const uint32_t lane0 = first != 0 ? (uint32_t)__builtin_ctz(first) : 0;

	put_dscp_map(text);
	put_own_map(text, "dot1p_to_tc", "fabric", used, 0, 0);
	put_ethertype_map(text);
	put_own_map(text, "tc_to_pg", "fabric", used, 0, 0);
	if (text->lanes == 1)
		return;
	put_own_map(text, "dot1p_to_tc", "edge", used & (uint8_t)~later, 0, 0);
	put_own_map(text, "tc_to_queue", "edge", used, later, lane0);
	put_own_map(text, "tc_to_pg", "edge", used, later, lane0);
}

void config_port_qos(struct config_text *text, const struct config_port *port)
{
	const bool lanes = text->lanes > 1;
	const char *side = lanes && !config_is_fabric(port) ? "edge" : "fabric";

	if (lanes && config_is_fabric(port)) {
		config_bool(text, "lane_tag", true);
		config_text(text, "trust", "pcp");
	}
	if (config_is_free(port))
		config_bool(text, "pfc_asymmetric", true);
	else
		config_mask(text, "pfc_enable", config_lossless(text, port));
	config_text(text, "dscp_to_tc_map", "fabric");
	config_text(text, "dot1p_to_tc_map", "%s", side);
	if (first_lanes(text) != 0)
		config_text(text, "ethertype_to_tc_map", "fabric");
	if (side[0] == 'e')
		config_text(text, "tc_to_queue_map", "edge");
	config_text(text, "tc_to_pg_map", "%s", side);
}

// --- queues -----------------------------------------------------------------------------------

static void put_scheduler(struct config_text *text, const char *name, uint64_t weight)
{
	if (!config_row(text, "scheduler", CONFIG_SCHEDULER_MAX))
		return;
	config_text(text, "name", "%s", name);
	config_text(text, "type", "DWRR");
	config_number(text, "weight", u64_min(u64_max(weight, 1), 100));
	config_row_end(text);
}

// Of a queue on links between switches; the lanes of a class share what is the class's.
static uint32_t percent_of(const struct config_text *text, uint32_t prio, bool to_host)
{
	const struct qos_prio *p = &text->qos->prio[prio];
	const uint32_t sharers = p->use == QOS_LOSSLESS && !to_host ? text->lanes : 1;

	return text->options.class[p->class].share_ppm / PERCENT_PPM / sharers;
}

static bool has_class(const struct config_text *text, uint32_t prio)
{
	const enum qos_use use = text->qos->prio[prio].use;

	return (use == QOS_LOSSLESS || use == QOS_LOSSY) &&
	       text->qos->prio[prio].class < text->options.class_count;
}

static void put_schedulers(struct config_text *text)
{
	const uint8_t first = first_lanes(text);
	uint64_t left = 100;

	for (uint32_t class = 0; class < text->options.class_count; class ++)
		left = u64_minus(left, text->options.class[class].share_ppm / PERCENT_PPM);
	put_scheduler(text, "scheduler.0", left);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		char name[ROW_NAME_BYTES];

		if (!has_class(text, i))
			continue;
		snprintf(name, sizeof(name), "scheduler.%u", i);
		put_scheduler(text, name, percent_of(text, i, false));
	}
	if (text->lanes > 1 && first != 0)
		put_scheduler(text, "scheduler.host",
			      percent_of(text, (uint32_t)__builtin_ctz(first), true));
}

static void name_wred(const struct config_needs *needs, char out[ROW_NAME_BYTES])
{
	char bytes[UNIT_TEXT_BYTES];

	unit_format(UNIT_BYTES, needs->ecn_min, bytes);
	snprintf(out, ROW_NAME_BYTES, "ecn_%s", bytes);
}

static void put_wred(struct config_text *text, uint32_t at)
{
	char name[ROW_NAME_BYTES];
	struct config_needs needs;

	if (config_is_free(&text->port[at]) || config_is_repeated(text, at, true))
		return;
	needs = config_needs_of(text, &text->port[at]);
	name_wred(&needs, name);
	if (!config_row(text, "wred_profile", CONFIG_WRED_MAX))
		return;
	config_text(text, "name", "%s", name);
	config_text(text, "ecn", "ecn_all");
	config_unit(text, "green_min_threshold", UNIT_BYTES, needs.ecn_min);
	config_unit(text, "green_max_threshold", UNIT_BYTES, needs.ecn_max);
	config_text(text, "green_drop_probability", "100%%");
	config_row_end(text);
}

static uint8_t marked_queues(const struct config_text *text)
{
	uint8_t mask = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (has_class(text, i) && text->options.class[text->qos->prio[i].class].ecn)
			mask |= (uint8_t)(1u << i);
	}
	return mask;
}

static void put_queue(struct config_text *text, uint32_t port, uint8_t mask, const char *key,
		      const char *name)
{
	if (mask == 0 || !config_row(text, "queue", CONFIG_BINDING_MAX))
		return;
	if (port == text->port_count)
		config_text(text, "port", "all");
	else
		config_port_name(text, "port", port);
	config_mask(text, "queue", mask);
	config_text(text, key, "%s", name);
	config_row_end(text);
}

// Shares are alike on all ports, but for the class with lanes.
static void put_queue_shares(struct config_text *text)
{
	const uint8_t first = first_lanes(text);

	put_queue(text, text->port_count, 1, "scheduler", "scheduler.0");
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		const bool differs = text->lanes > 1 && first >> i & 1;
		char name[ROW_NAME_BYTES];

		snprintf(name, sizeof(name), "scheduler.%u", i);
		if (has_class(text, i) && !differs)
			put_queue(text, text->port_count, (uint8_t)(1u << i), "scheduler", name);
		for (uint32_t port = 0; differs && port < text->port_count; port++)
			put_queue(text, port, (uint8_t)(1u << i), "scheduler",
				  config_is_fabric(&text->port[port]) ? name : "scheduler.host");
	}
}

static void put_queues(struct config_text *text)
{
	const uint8_t marked = marked_queues(text);

	put_schedulers(text);
	for (uint32_t i = 0; marked != 0 && i < text->port_count; i++)
		put_wred(text, i);
	put_queue_shares(text);
	for (uint32_t i = 0; marked != 0 && i < text->port_count; i++) {
		char name[ROW_NAME_BYTES];
		struct config_needs needs;

		if (config_is_free(&text->port[i]))
			continue;
		needs = config_needs_of(text, &text->port[i]);
		name_wred(&needs, name);
		put_queue(text, i, marked, "wred_profile", name);
	}
}

void config_qos(struct config_text *text)
{
	if (config_is_preset(text)) {
		config_free_buffers(text);
		if (config_has_watchdog(text))
			config_watchdogs(text);
		return;
	}
	put_maps(text);
	config_buffers(text);
	put_queues(text);
	config_watchdogs(text);
}

void config_check_lanes(struct config_text *text)
{
	if (text->lanes > LANE_MAX)
		config_fail(text, -ENOTSUP, "%u lanes, and a switch keeps %d", text->lanes,
			    LANE_MAX);
	if (text->lanes > 1 && __builtin_popcount(first_lanes(text)) > 1)
		config_fail(text, -ENOTSUP,
			    "%d lossless classes on %u lanes each, and a switch keeps the lanes "
			    "of one class",
			    __builtin_popcount(first_lanes(text)), text->lanes);
}
