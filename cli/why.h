// SPDX-License-Identifier: BSD-3-Clause
//
// Why a queue does not move or a packet is lost: from two looks at a switch, a moment apart, to
// findings in words. Pure: answers go in, findings come out; cmd_why.c asks and prints. Each rule
// is a row of the table in why.c and knows one cause.
#pragma once

#include <jansson.h>

#include "base/types.h"

enum why_severity {
	WHY_NOTE,    // worth knowing, holds nothing
	WHY_WARNING, // near a limit, or slows traffic
	WHY_WRONG,   // holds traffic or loses it now
};

enum { WHY_ANY_QUEUE = -1, WHY_FINDINGS_MAX = 96, WHY_TEXT_BYTES = 400 };

struct why_scene {
	const json_t *before; // answers of /v1/stats
	const json_t *after;
	const json_t *acl_before; // of /v1/acl, NULL: unknown
	const json_t *acl_after;
	const json_t *lldp; // of /v1/lldp, NULL: unknown
	const char *port;   // its name as in the answer
	int queue;          // 0..7, or WHY_ANY_QUEUE
};

struct why_finding {
	enum why_severity severity;
	const char *rule;
	char where[32]; // "port", "queue 3", "priority group 3"
	char text[WHY_TEXT_BYTES];
	char advice[WHY_TEXT_BYTES]; // what to change, "" for nothing
	json_t *evidence;            // the numbers that it rests on
};

struct why_findings {
	struct why_finding finding[WHY_FINDINGS_MAX];
	uint32_t count;
	struct why_finding unsaid; // the last one that there was no room for
};

// Applies every rule. The worst come first, then in the order of the rules; when there are more
// than fit, the least severe are left out. With a queue in the scene, only what concerns it is
// found: not what the port receives, nor groups that share no priority with it.
void why_find(const struct why_scene *scene, struct why_findings *out);

void why_release(struct why_findings *findings);

// The severity as it is shown.
const char *why_severity_name(enum why_severity severity);
