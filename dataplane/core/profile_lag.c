// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: link aggregation groups (IEEE 802.1AX). The member port of the lowest index stands
// for its LAG wherever one port is meant: in VLANs, the address table, next hops and turns. Groups,
// queues and PFC stay with the physical ports, as in SAI; members are alike in all of that, so that
// a flow may move from one to another.

#include "dataplane/core/profile_build.h"

static const struct lag_config *find_lag(const struct sw_config *config, const char *name)
{
	for (uint32_t i = 0; i < config->lag_count; i++) {
		if (name_equal(config->lag[i].name, name))
			return &config->lag[i];
	}
	return NULL;
}

uint32_t find_link(const struct sw_config *config, const char *name)
{
	const struct lag_config *lag = find_lag(config, name);
	const char *names = lag == NULL ? name : lag->members;
	char word[CONFIG_NAME_BYTES];
	uint32_t first = config->port_count;

	while (next_word(&names, word))
		first = (uint32_t)u64_min(first, find_port(config, word));
	return first;
}

static bool is_in(const struct lag_config *lag, const char *port)
{
	const char *names = lag->members;
	char word[CONFIG_NAME_BYTES];

	while (next_word(&names, word)) {
		if (name_equal(word, port))
			return true;
	}
	return false;
}

int find_links(struct build *b, const char *name, uint32_t line, const char *object,
	       uint32_t *first, uint32_t *end)
{
	if (find_lag(b->config, name) != NULL) {
		*first = find_link(b->config, name);
		*end = *first + 1;
		return 0;
	}
	for (uint32_t i = 0; i < b->config->lag_count; i++) {
		if (is_in(&b->config->lag[i], name))
			return build_fail(b, FAULT_LAG_MEMBER_NAMED, line, object, name, 0, 0);
	}
	return find_ports(b, name, line, object, first, end);
}

static int add_member(struct build *b, const struct lag_config *row, struct lag_profile *lag,
		      const char *name)
{
	const uint32_t n = find_port(b->config, name);
	struct port_profile *port = &b->pf->port[n];

	if (n == b->config->port_count)
		return build_fail(b, FAULT_UNKNOWN_PORT, row->line, row->name, name, 0, 0);
	if (port->lag != 0)
		return build_fail(b, FAULT_LAG_MEMBER_TWICE, row->line, row->name, name, 0, 0);
	if (lag->member_count == LAG_MEMBER_MAX)
		return build_fail(b, FAULT_TOO_MANY, row->line, row->name, "members", 0,
				  LAG_MEMBER_MAX);
	if (lag->lacp)
		port->filters |= FILTER_LACP;
	port->lag = (uint8_t)(lag - b->pf->lag + 1);
	port_set_add(&lag->members, (port_t){ (uint16_t)n });
	lag->member_count++;
	return 0;
}

static int add_members(struct build *b, const struct lag_config *row, struct lag_profile *lag)
{
	const char *names = row->members;
	char word[CONFIG_NAME_BYTES];
	int rc = 0;

	while (rc == 0 && next_word(&names, word))
		rc = add_member(b, row, lag, word);
	if (rc == 0 && lag->member_count == 0)
		return build_fail(b, FAULT_LAG_EMPTY, row->line, row->name, "", 0, 0);
	if (rc == 0 && row->min_links > lag->member_count)
		return build_fail(b, FAULT_LAG_MIN_LINKS, row->line, row->name, "", row->min_links,
				  lag->member_count);
	return rc;
}

// The buckets that flows fall into; members are equals.
static void build_group(struct build *b, struct lag_profile *lag)
{
	struct group_member members[LAG_MEMBER_MAX];
	uint32_t count = 0;

	lag->logical = port_set_next(&lag->members, 0);
	PORT_SET_FOR_EACH(port, &lag->members) {
		b->pf->port[port.v].logical = lag->logical;
		members[count++] = (struct group_member){ .port = port, .weight = 1 };
	}
	// Fits: LAG_BUCKET_MAX is what group_build() picks for the largest number of members.
	(void)group_build((struct group *)(void *)lag->group, members, count, 0, NULL);
}

static int check_lag_name(struct build *b, const struct lag_config *row)
{
	if (!is_name(row->name) || name_equal(row->name, "all"))
		return build_fail(b, FAULT_BAD_NAME, row->line, "lag", row->name, 0, 0);
	if (find_lag(b->config, row->name) != row ||
	    find_port(b->config, row->name) != b->config->port_count)
		return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
	return 0;
}

int build_lags(struct build *b)
{
	struct sw_profile *pf = b->pf;

	for (uint16_t n = 0; n < pf->port_count; n++)
		pf->port[n].logical = (port_t){ n };
	for (uint32_t i = 0; i < b->config->lag_count; i++) {
		const struct lag_config *row = &b->config->lag[i];
		struct lag_profile *lag = &pf->lag[pf->lag_count++];
		int rc = check_lag_name(b, row);

		name_copy(lag->name, row->name);
		lag->min_links = (uint16_t)row->min_links;
		lag->lacp = row->mode == CONFIG_LAG_LACP;
		lag->fast = row->lacp_rate == CONFIG_LACP_FAST;
		pf->lacp |= lag->lacp;
		if (rc == 0)
			rc = add_members(b, row, lag);
		if (rc != 0)
			return rc;
		build_group(b, lag);
	}
	return 0;
}

// --- members are alike --------------------------------------------------------------------------

static bool same_limit(const struct threshold *a, const struct threshold *b)
{
	return a->dynamic == b->dynamic && a->alpha_log2 == b->alpha_log2 &&
	       a->static_bytes == b->static_bytes;
}

static bool same_groups(const struct port_profile *a, const struct port_profile *b)
{
	for (uint32_t i = 0; i < PG_COUNT; i++) {
		const struct pg_profile *x = &a->pg[i];
		const struct pg_profile *y = &b->pg[i];

		if (!same_limit(&x->limit, &y->limit) || x->pool != y->pool ||
		    x->reserved_bytes != y->reserved_bytes ||
		    x->headroom_bytes != y->headroom_bytes || x->xon_bytes != y->xon_bytes ||
		    x->xon_offset_bytes != y->xon_offset_bytes)
			return false;
	}
	return a->cnp_pg == b->cnp_pg;
}

static bool same_queues(const struct port_profile *a, const struct port_profile *b)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		const struct queue_profile *x = &a->queue[i];
		const struct queue_profile *y = &b->queue[i];

		if (!same_limit(&x->limit, &y->limit) || x->pool != y->pool ||
		    x->reserved_bytes != y->reserved_bytes || x->strict != y->strict ||
		    x->quantum_bytes != y->quantum_bytes || x->has_wred != y->has_wred ||
		    x->shaper.bps != y->shaper.bps)
			return false;
	}
	return true;
}

static bool same_pfc(const struct port_profile *a, const struct port_profile *b)
{
	return a->rx.obey == b->rx.obey && a->gen.enable == b->gen.enable && a->hold == b->hold;
}

static bool same_maps(const struct port_profile *a, const struct port_profile *b)
{
	bool same = a->trust_dscp == b->trust_dscp && a->default_tc == b->default_tc &&
		    a->map_ethertypes == b->map_ethertypes &&
		    memcmp(a->dscp_to_tc, b->dscp_to_tc, sizeof(a->dscp_to_tc)) == 0 &&
		    memcmp(a->pcp_to_tc, b->pcp_to_tc, sizeof(a->pcp_to_tc)) == 0 &&
		    memcmp(a->tc_to_queue, b->tc_to_queue, sizeof(a->tc_to_queue)) == 0 &&
		    memcmp(a->tc_to_pg, b->tc_to_pg, sizeof(a->tc_to_pg)) == 0 &&
		    memcmp(a->prio_to_pg, b->prio_to_pg, sizeof(a->prio_to_pg)) == 0 &&
		    memcmp(a->prio_to_queue, b->prio_to_queue, sizeof(a->prio_to_queue)) == 0;

	for (uint32_t i = 0; same && i < a->map_ethertypes; i++)
		same = a->ethertype_to_tc[i].ethertype == b->ethertype_to_tc[i].ethertype &&
		       a->ethertype_to_tc[i].tc == b->ethertype_to_tc[i].tc;
	return same;
}

static int check_member(struct build *b, uint32_t line, const struct port_profile *first,
			const struct port_profile *port)
{
	const struct {
		const char *what;
		bool same;
	} rules[] = {
		{ "speed", first->line.bps == port->line.bps },
		{ "mtu", first->max_frame_bytes == port->max_frame_bytes },
		{ "role", first->fabric == port->fabric && first->lane_tag == port->lane_tag },
		{ "PFC", same_pfc(first, port) },
		{ "maps", same_maps(first, port) },
		{ "buffer_pg", same_groups(first, port) },
		{ "queues", same_queues(first, port) },
		{ "source_guard or acl", first->filters == port->filters },
	};

	for (uint32_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!rules[i].same)
			return build_fail(b, FAULT_LAG_MEMBERS_DIFFER, line, port->name,
					  rules[i].what, 0, 0);
	}
	return 0;
}

int check_lags(struct build *b)
{
	int rc = 0;

	for (uint32_t n = 0; rc == 0 && n < b->pf->port_count; n++) {
		const struct port_profile *port = &b->pf->port[n];

		if (port->lag != 0)
			rc = check_member(b, b->config->lag[port->lag - 1].line,
					  &b->pf->port[port->logical.v], port);
	}
	return rc;
}
