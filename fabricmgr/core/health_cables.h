// SPDX-License-Identifier: BSD-3-Clause
//
// Cables as they are against cables as they are meant: what LLDP hears at each port beside who the
// intent has there. This only reports: roles of ports come from the intent, and what a neighbour
// says about itself changes none of them.
#pragma once

#include "fabricmgr/core/health.h"

enum health_cable {
	HEALTH_CABLE_QUIET, // nobody is heard: LLDP is off, the link is down, or nobody is there
	HEALTH_CABLE_RIGHT,
	HEALTH_CABLE_UNKNOWN, // at a host's port, a name that the fabric does not have
	HEALTH_CABLE_WRONG,
};

// The names that the intent has at the far end of a port; "" for the port of a host, which may
// call it as it likes, and for both when nobody is meant to be there.
struct health_expected {
	const char *name;
	char port[FABRIC_NAME_BYTES];
};

struct health_expected health_expected(const struct health *health, uint32_t at, uint32_t port);

// A switch must be heard by its name and that of its port; a host by its name, with or without a
// domain behind it. Another name than that of a host is wrong when the fabric has it elsewhere:
// many hosts call themselves otherwise. Where nobody is meant to be, a switch of the fabric is
// wrong.
enum health_cable health_cable_judge(const struct health *health, uint32_t at, uint32_t port);
