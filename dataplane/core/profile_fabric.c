// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: what makes a switch part of a fabric. Its address as a router, the hash that
// spreads flows, and lanes.
//
// A lane is a lossless class with a priority group and a queue of its own. What keeps lanes
// independent is that each can always take one more frame: a reserve and an XON of a largest frame,
// which no other lane can use up.

#include "dataplane/core/profile_build.h"
#include "dataplane/core/stage.h"

#include <errno.h>

#include "base/hash.h"

static uint64_t mac_of_name(const char *name)
{
	return (hash_text(name) & 0x00ffffffffff) | 0x020000000000; // locally administered
}

static int parse_fields(struct build *b, const char *text, uint32_t unset, uint32_t *fields)
{
	char word[CONFIG_NAME_BYTES];

	*fields = *text == '\0' ? unset : 0;
	while (next_word(&text, word)) {
		uint32_t i = 0;

		while (i < HASH_FIELD_COUNT && !name_equal(hash_field_names[i], word))
			i++;
		if (i == HASH_FIELD_COUNT)
			return build_fail(b, FAULT_UNKNOWN_HASH_FIELD, b->config->sw.line,
					  b->config->sw.name, word, 0, 0);
		*fields |= 1u << i;
	}
	return 0;
}

static int build_hash(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;
	struct hash_profile *hash = &b->pf->ecmp_hash;

	hash->seed = (uint32_t)(sw->ecmp_hash_seed == CONFIG_UNSET ? hash_text(sw->name) :
								     sw->ecmp_hash_seed);
	hash->rotation = (uint8_t)sw->ecmp_hash_offset;
	hash->algorithm = (uint8_t)sw->ecmp_hash_algorithm;
	hash->symmetric = sw->ecmp_hash_symmetric != 0;
	return parse_fields(b, sw->ecmp_hash, HASH_FIELDS_DEFAULT, &hash->fields);
}

// What is not IP spreads by its addresses.
#define LAG_FIELDS_DEFAULT                                                                         \
	(HASH_FIELDS_DEFAULT | 1u << HASH_DST_MAC | 1u << HASH_SRC_MAC | 1u << HASH_ETHERTYPE)

// A hash of its own: behind a group, all flows that reach a LAG have hashed alike there.
static int build_lag_hash(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;
	struct hash_profile *hash = &b->pf->lag_hash;

	hash->seed = (uint32_t)(sw->lag_hash_seed == CONFIG_UNSET ? hash_text(sw->name) >> 32 :
								    sw->lag_hash_seed);
	hash->rotation = (uint8_t)sw->lag_hash_offset;
	hash->algorithm = (uint8_t)sw->lag_hash_algorithm;
	hash->symmetric = sw->lag_hash_symmetric != 0;
	return parse_fields(b, sw->lag_hash, LAG_FIELDS_DEFAULT, &hash->fields);
}

// Queues of lossless priorities.
static uint8_t protected_queues(const struct port_profile *port)
{
	const uint8_t lossless = port->gen.enable | port->held.enable;
	uint8_t queues = 0;

	for (uint32_t left = lossless; left != 0; left &= left - 1)
		queues |= (uint8_t)(1u << port->prio_to_queue[__builtin_ctz(left)]);
	return queues;
}

// What the other end of each fabric port is told of it.
static void build_hellos(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;
	struct sw_profile *pf = b->pf;

	pf->hello_interval_ns = sw->hello_interval;
	pf->edge_number = sw->edge_number == CONFIG_UNSET ? EDGE_NONE : (uint16_t)sw->edge_number;
	for (uint32_t n = 0; n < pf->port_count; n++) {
		struct port_profile *port = &pf->port[n];
		struct hello_profile *hello = &port->hello;
		const uint64_t mode = b->config->port[n].hello;

		port->lossless_queues = protected_queues(port);
		hello->on = port->fabric && mode != CONFIG_HELLO_OFF;
		hello->required = mode == CONFIG_HELLO_REQUIRED;
		hello->interval_ns = sw->hello_interval;
		hello->multiplier = (uint32_t)sw->hello_multiplier;
		hello->lanes.count = pf->lane_count;
		hello->lanes.tag = port->lane_tag;
		hello->lanes.pfc_sent = port->gen.enable;
		hello->lanes.pfc_obeyed = port->rx.obey;
		for (uint32_t i = 0; i < pf->lane_count; i++)
			hello->lanes.priority[i] = (uint8_t)pcp_of(port, (tc_t){ pf->lane_tc[i] });
		pf->hellos |= hello->on;
		pf->has_fabric |= port->fabric;
	}
}

// At most TELL_BURST packets in one call: actions have a ring of limited length.
static void build_tell(struct sw_profile *pf, uint64_t rate)
{
	enum { TELL_BURST = 16 };

	pf->tell = (struct pacer_profile){ .bps = 8 * rate };
	if (rate != 0)
		pf->tell.burst_ns = (TELL_BURST - 1) * 1000000000ull / rate;
}

int build_fabric(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;
	struct sw_profile *pf = b->pf;

	pf->managed = sw->forwarding == CONFIG_FORWARDING_MANAGED;
	pf->router_mac = sw->router_mac == CONFIG_UNSET ? mac_of_name(sw->name) : sw->router_mac;
	if (pf->router_mac >> 40 & 1)
		return build_fail(b, FAULT_GROUP_MAC, sw->line, sw->name, "router_mac", 0, 0);
	build_tell(pf, sw->icmp_rate);
	pf->lacp_system = mac_of_name(sw->name);
	for (uint32_t tc = 0; tc < TC_COUNT; tc++) {
		pf->tc_to_lane[tc] = LANE_NONE;
		if (!(sw->lanes >> tc & 1))
			continue;
		if (pf->lane_count == LANE_MAX)
			return build_fail(b, FAULT_TOO_MANY, sw->line, sw->name, "lanes", 0,
					  LANE_MAX);
		pf->tc_to_lane[tc] = pf->lane_count;
		pf->lane_tc[pf->lane_count++] = (uint8_t)tc;
	}
	for (uint32_t n = 0; n < pf->port_count; n++)
		pf->port[n].lanes = pf->lane_count > 0 || pf->port[n].lane_tag;
	build_hellos(b);
	for (uint32_t i = 0; i < b->config->interface_count; i++) {
		const uint16_t vlan = pf->vlan_index[b->config->interface[i].vlan];

		if (vlan != 0)
			pf->vlan[vlan - 1].routed = true;
	}
	return build_hash(b) != 0 ? -EINVAL : build_lag_hash(b);
}

// The class, among those of the lanes, whose group and queue nobody else shares.
static int check_lane(struct build *b, const struct port_profile *port, uint32_t line, uint8_t tc)
{
	const struct pg_profile *pg = &port->pg[port->tc_to_pg[tc]];
	const uint64_t frame = port->max_frame_bytes + TAG_BYTES;

	if (!pg->lossless || classes_in(port->tc_to_pg, port->tc_to_pg[tc]) > 1 ||
	    classes_in(port->tc_to_queue, port->tc_to_queue[tc]) > 1)
		return build_fail(b, FAULT_LANE_LOSSY, line, port->name, "", tc, 0);
	if (port->lane_tag && port->pcp_to_tc[pcp_of(port, (tc_t){ tc })] != tc)
		return build_fail(b, FAULT_LANE_PCP, line, port->name, "", tc, 0);
	if (pg->reserved_bytes < frame || u64_max(pg->xon_bytes, pg->xon_offset_bytes) < frame)
		return build_fail(b, FAULT_LANE_RESERVE, line, port->name, "", tc, frame);
	return 0;
}

static int check_port_lanes(struct build *b, const struct port_profile *port, uint32_t line)
{
	const struct sw_profile *pf = b->pf;
	int rc = 0;

	if (pf->lane_count > 1 && !port->lane_tag)
		return build_fail(b, FAULT_LANE_TAG, line, port->name, "", pf->lane_count, 0);
	for (uint32_t lane = 0; lane < pf->lane_count && rc == 0; lane++)
		rc = check_lane(b, port, line, pf->lane_tc[lane]);
	return rc;
}

int check_lanes(struct build *b)
{
	int rc = 0;

	for (uint32_t n = 0; n < b->pf->port_count && rc == 0; n++) {
		const struct port_profile *port = &b->pf->port[n];

		if (port->fabric)
			rc = check_port_lanes(b, port, b->config->port[n].line);
		else if (port->lane_tag)
			rc = build_fail(b, FAULT_LANE_EDGE, b->config->port[n].line, port->name, "",
					0, 0);
	}
	return rc;
}
