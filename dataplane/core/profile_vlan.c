// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: VLANs. VLAN 1 exists with every port untagged until it is configured; a port that
// is untagged in a configured VLAN leaves VLAN 1's default membership.

#include "dataplane/core/profile_build.h"

enum { DEFAULT_VLAN = 1 };

// Frames leave by any member of a LAG in the same way.
static void add_untagged(struct sw_profile *pf, struct vlan_profile *vlan, port_t logical)
{
	for (uint16_t n = 0; n < pf->port_count; n++) {
		if (pf->port[n].logical.v != logical.v)
			continue;
		port_set_add(&vlan->untagged, (port_t){ n });
		pf->port[n].pvid = vlan->vid;
	}
}

// Of a LAG, the port that stands for it.
static int add_member(struct build *b, const struct vlan_config *row, struct vlan_profile *vlan,
		      port_t logical, bool untagged)
{
	if (b->pf->port[logical.v].logical.v != logical.v)
		return 0;
	port_set_add(&vlan->members, logical);
	if (!untagged)
		return 0;
	if (b->pf->port[logical.v].pvid != 0)
		return build_fail(b, FAULT_VLAN_PORT_TWICE, row->line, "vlan",
				  profile_link_name(b->pf, logical), 0, 0);
	add_untagged(b->pf, vlan, logical);
	return 0;
}

// A port that is named tagged and untagged is untagged.
static int add_members(struct build *b, const struct vlan_config *row, struct vlan_profile *vlan,
		       const char *names, bool untagged)
{
	char name[CONFIG_NAME_BYTES];
	int rc = 0;

	while (rc == 0 && next_word(&names, name)) {
		uint32_t first, end;

		rc = find_links(b, name, row->line, "vlan", &first, &end);
		for (uint32_t n = first; rc == 0 && n < end; n++)
			rc = add_member(b, row, vlan, (port_t){ (uint16_t)n }, untagged);
	}
	return rc;
}

static struct vlan_profile *add_vlan(struct sw_profile *pf, uint16_t vid)
{
	struct vlan_profile *vlan = &pf->vlan[pf->vlan_count++];

	vlan->vid = vid;
	pf->vlan_index[vid] = (uint16_t)pf->vlan_count;
	return vlan;
}

int build_vlans(struct build *b)
{
	struct sw_profile *pf = b->pf;
	struct vlan_profile *rest;

	for (uint32_t i = 0; i < b->config->vlan_count; i++) {
		const struct vlan_config *row = &b->config->vlan[i];
		struct vlan_profile *vlan;
		int rc;

		if (pf->vlan_index[row->id] != 0)
			return build_fail(b, FAULT_DUPLICATE_NAME, row->line, "vlan", "", 0, 0);
		vlan = add_vlan(pf, (uint16_t)row->id);
		rc = add_members(b, row, vlan, row->untagged, true);
		if (rc == 0)
			rc = add_members(b, row, vlan, row->tagged, false);
		if (rc != 0)
			return rc;
	}
	if (pf->vlan_index[DEFAULT_VLAN] != 0)
		return 0;
	if (pf->vlan_count == CONFIG_VLAN_MAX)
		return build_fail(b, FAULT_TOO_MANY, b->config->vlan[0].line, "vlan", "VLANs", 0,
				  CONFIG_VLAN_MAX - 1);
	rest = add_vlan(pf, DEFAULT_VLAN);
	for (uint32_t n = 0; n < pf->port_count; n++) {
		const port_t port = { (uint16_t)n };

		if (pf->port[n].pvid != 0 || pf->port[n].logical.v != n)
			continue;
		port_set_add(&rest->members, port);
		add_untagged(pf, rest, port);
	}
	return 0;
}
