// SPDX-License-Identifier: BSD-3-Clause
//
// LLDP names are at most HEALTH_TEXT_BYTES - 1 bytes here, as are those of the fabric, so two long
// names that were cut at the same place cannot be told apart; names of switches are shorter.

#include "fabricmgr/core/health_cables.h"

#include "fabricmgr/core/label.h"

struct health_expected health_expected(const struct health *health, uint32_t at, uint32_t port)
{
	const struct fabric *fabric = health->fabric;
	const uint32_t plug = fabric_plug(&health->plugs, at, port);
	struct health_expected expected = { .name = "" };

	if (plug == FABRIC_NONE)
		return expected;
	if (plug >= 2 * fabric->cable_count) {
		const uint32_t host = fabric->host_ports[plug - 2 * fabric->cable_count].host;

		expected.name = fabric->hosts[host].name;
	} else {
		const struct fabric_cable *cable = &fabric->cables[plug / 2];
		const uint32_t far = !(plug & 1);
		const struct fabric_switch *sw = &fabric->switches[cable->end_switch[far]];
		char memory[FABRIC_NAME_BYTES];
		struct label label = { .len = 0 };

		expected.name = sw->name;
		label_add(&label, fabric_port_name(sw, cable->end_port[far], memory));
		memcpy(expected.port, label.text, sizeof(expected.port));
	}
	return expected;
}

// A host may say its domain, too.
static bool is_host(const char *heard, const char *name)
{
	const uint32_t len = label_length(name);

	return label_length(heard) >= len && memcmp(heard, name, len) == 0 &&
	       (heard[len] == '\0' || heard[len] == '.');
}

static enum health_cable judge_host(const struct fabric *fabric, const char *heard,
				    const char *name)
{
	if (is_host(heard, name))
		return HEALTH_CABLE_RIGHT;
	return fabric_find_switch(fabric, heard) != FABRIC_NONE ||
			       fabric_find_host(fabric, heard) != FABRIC_NONE ?
		       HEALTH_CABLE_WRONG :
		       HEALTH_CABLE_UNKNOWN;
}

enum health_cable health_cable_judge(const struct health *health, uint32_t at, uint32_t port)
{
	const struct health_neighbor *heard =
		&health->ports[health_port_of(health, at, port)].neighbor;
	struct health_expected expected;

	if (heard->name[0] == '\0')
		return HEALTH_CABLE_QUIET;
	expected = health_expected(health, at, port);
	if (expected.name[0] == '\0')
		return fabric_find_switch(health->fabric, heard->name) == FABRIC_NONE ?
			       HEALTH_CABLE_UNKNOWN :
			       HEALTH_CABLE_WRONG;
	if (expected.port[0] == '\0')
		return judge_host(health->fabric, heard->name, expected.name);
	return label_equal(heard->name, expected.name) && label_equal(heard->port, expected.port) ?
		       HEALTH_CABLE_RIGHT :
		       HEALTH_CABLE_WRONG;
}
