// SPDX-License-Identifier: BSD-3-Clause
//
// Where a storm of pauses comes from. A port that is paused holds what its switch has for it, so
// that switch pauses those who send to it, and so on up to the hosts: many ports are paused, and
// one is the reason. It is found by walking from any victim towards who pauses it, until there is
// somebody who pauses and is not paused itself:
//
//	a host     which does not take what comes to its port, or sends XOFF for no reason
//	a switch   none of whose ports is paused: more is sent to one of its ports than the link
//	           takes; that with the deepest queue is named
//
// Paused ports from which neither is reached wait for each other in a ring, which the turn map
// rules out (docs/routing.md): the fabric is not what was planned.
#pragma once

#include "fabricmgr/core/health.h"

enum health_root_kind { HEALTH_ROOT_HOST, HEALTH_ROOT_SWITCH, HEALTH_ROOT_RING };

struct health_root {
	enum health_root_kind kind;
	uint32_t at;
	uint32_t port;    // of `at`: towards the host, with the deepest queue, or one in the ring
	uint32_t victims; // paused ports between switches that wait for it, of `pauses` a part
	double share;     // of time that the host pauses the port; of a switch and a ring: of its
			  // worst victim
};

enum { HEALTH_ROOTS_MAX = 32 };

struct health_storm {
	struct health_root root[HEALTH_ROOTS_MAX]; // by falling number of victims
	uint32_t count;
	uint32_t more;   // roots that found no room
	uint32_t pauses; // ports that are paused at least for `share` of the time
};

// Paused is who was so for at least `share` of the last second (0..1]. `scratch` is left as it was.
// 0, or -ENOMEM.
int health_storm_find(const struct health *health, double share, ns_t now, struct arena *scratch,
		      struct health_storm *storm);
