// SPDX-License-Identifier: BSD-3-Clause
//
// From a configuration to a profile: names become indices and human rules become integers, once.
// Everything that can be wrong with a configuration as a whole is found here, before a packet sees
// it; a profile that was built is right.

#include "dataplane/core/profile_build.h"

#include <errno.h>

const char *const profile_fault_texts[FAULT_COUNT] = {
	[FAULT_NONE] = "",
#define FAULT(name, text) [FAULT_##name] = text,
#include "schema/faults.def"
#undef FAULT
};

int build_fail(struct build *b, enum profile_fault_id id, uint32_t line, const char *object,
	       const char *detail, uint64_t have, uint64_t want)
{
	*b->fault = (struct profile_fault){ .id = id, .line = line, .have = have, .want = want };
	name_copy(b->fault->object, object);
	name_copy(b->fault->detail, detail);
	return -EINVAL;
}

size_t profile_bytes(const struct sw_config *config)
{
	return profile_ports_bytes(config) + profile_acl_bytes(config) +
	       profile_guard_bytes(config);
}

static int build_switch(struct build *b)
{
	const struct switch_config *sw = &b->config->sw;
	struct sw_profile *pf = b->pf;

	if (b->config->port_count == 0)
		return build_fail(b, FAULT_NO_PORTS, sw->line, sw->name, "", 0, 0);
	name_copy(pf->name, sw->name);
	pf->cell_bytes = (uint32_t)sw->cell;
	pf->port_count = b->config->port_count;
	pf->descriptor_count = sw->descriptors == CONFIG_UNSET ? PROFILE_DESCRIPTORS :
								 (uint32_t)sw->descriptors;
	pf->mac_count = (uint32_t)sw->mac_count;
	pf->mac_age_ns = sw->mac_age;
	pf->solicit_ns = sw->solicit_time;
	pf->cnp_tc = (uint8_t)sw->cnp_tc;
	pf->big_red_switch = sw->pfc_wd_big_red_switch != 0;
	return 0;
}

static int check_pool_name(struct build *b, uint32_t i)
{
	const struct pool_config *row = &b->config->pool[i];

	for (uint32_t k = 0; k < i; k++) {
		if (name_equal(b->config->pool[k].name, row->name))
			return build_fail(b, FAULT_DUPLICATE_NAME, row->line, row->name, "", 0, 0);
	}
	return 0;
}

// Every group charges an ingress pool and every queue an egress pool, so there is one of each.
static int check_directions(struct build *b)
{
	const uint32_t line = b->config->sw.line;

	if (first_pool(b->pf, true) == b->pf->pool_count)
		return build_fail(b, FAULT_NO_POOL, line, b->pf->name, "ingress", 0, 0);
	if (first_pool(b->pf, false) == b->pf->pool_count)
		return build_fail(b, FAULT_NO_POOL, line, b->pf->name, "egress", 0, 0);
	return 0;
}

static int build_pools(struct build *b)
{
	b->pf->pool_count = b->config->pool_count;
	for (uint32_t i = 0; i < b->config->pool_count; i++) {
		const struct pool_config *row = &b->config->pool[i];
		struct pool_profile *pool = &b->pf->pool[i];
		int rc = check_pool_name(b, i);

		if (rc != 0)
			return rc;
		name_copy(pool->name, row->name);
		pool->size_bytes = row->size;
		pool->headroom_bytes = row->xoff;
		pool->ingress = row->type == CONFIG_POOL_INGRESS;
	}
	return check_directions(b);
}

int profile_build(const struct sw_config *config, struct sw_profile *pf,
		  struct profile_fault *fault)
{
	struct build b = { config, pf, fault };
	int rc;

	memset(pf, 0, profile_bytes(config));
	*fault = (struct profile_fault){ 0 };
	rc = check_names(&b);
	pf->lcore_count = 1;
	if (rc == 0)
		rc = build_switch(&b);
	if (rc == 0)
		rc = build_pools(&b);
	if (rc == 0)
		rc = build_ports(&b);
	if (rc == 0)
		rc = build_impairments(&b);
	if (rc == 0)
		rc = build_lags(&b);
	if (rc == 0)
		rc = build_buffers(&b);
	if (rc == 0)
		rc = build_queues(&b);
	if (rc == 0)
		rc = build_vlans(&b);
	if (rc == 0)
		rc = build_fabric(&b);
	if (rc == 0)
		rc = check_lossless(&b);
	if (rc == 0)
		rc = build_watchdogs(&b);
	if (rc == 0)
		rc = check_lanes(&b);
	if (rc == 0)
		rc = build_acl(&b);
	if (rc == 0)
		rc = build_guard(&b);
	if (rc == 0)
		rc = check_lags(&b);
	return rc;
}

bool profile_lend_descriptors(struct sw_profile *pf, uint32_t count)
{
	if (count > pf->descriptor_shared / 2)
		return false;
	pf->descriptor_count -= count;
	pf->descriptor_shared -= count;
	return true;
}
