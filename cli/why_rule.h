// SPDX-License-Identifier: BSD-3-Clause
//
// What rules of cli/why.c work with: the scene with its port found, and how a finding is made. A
// rule is a function that looks at one thing - the port, one of its queues or groups - and adds a
// finding when it sees its cause. A member that an answer does not have reads as 0 or false.
#pragma once

#include "cli/why.h"

struct why {
	const struct why_scene *scene;
	struct why_findings *out;
	const json_t *port; // of the later answer
	const json_t *port_before;
	uint64_t elapsed_ns; // 0: the answers cannot be compared
	// the rule that runs
	const char *rule;
	char where[32];
	uint32_t at; // queue or group
};

typedef void why_fn(struct why *why);

// Adds a finding of the rule that runs; the caller may add to what it gets.
__attribute__((format(printf, 3, 4))) struct why_finding *why_add(struct why *why,
								  enum why_severity severity,
								  const char *text, ...);

// Says what to change.
__attribute__((format(printf, 2, 3))) void why_advise(struct why_finding *finding, const char *text,
						      ...);

void why_evidence(struct why_finding *finding, const char *key, uint64_t value);

// --- looking ------------------------------------------------------------------------------------

uint64_t why_number(const json_t *object, const char *key);
bool why_true(const json_t *object, const char *key);
const char *why_text(const json_t *object, const char *key); // "" when there is none

// Elements of the port's lists in the later answer, and what a counter of them grew by.
const json_t *why_element(const json_t *port, const char *list, uint32_t at);
uint64_t why_grown(const struct why *why, const char *list, uint32_t at, const char *key);
uint64_t why_port_grown(const struct why *why, const char *key);

// Whether two of queues and groups have a priority in common.
bool why_same_priority(const json_t *one, const json_t *other);

// Per second, of what grew between the looks.
uint64_t why_rate(const struct why *why, uint64_t grown);

// Whether a use has come to a share of all there is; never when there is nothing.
bool why_reaches(uint64_t used, uint64_t all, uint64_t percent);

// A number with thousands separated, in one of a few buffers that are used in turn.
const char *why_count(uint64_t number);

// --- rules --------------------------------------------------------------------------------------

// why_port.c: the port as a whole
why_fn why_absent;
why_fn why_admin_down;
why_fn why_link_down;
why_fn why_hello_down;
why_fn why_hello_mismatch;
why_fn why_pfc_path;
why_fn why_held;
why_fn why_tx_disabled;
why_fn why_rx_lost;
why_fn why_refused;
why_fn why_global_pause;
why_fn why_pfc_ignored;
why_fn why_impaired;
why_fn why_unknown_mac;
why_fn why_descriptors;
why_fn why_pool_full;
why_fn why_acl;
why_fn why_dcbx;

// why_drops.c
why_fn why_drops;

// why_queue.c: one queue
why_fn why_paused;
why_fn why_blocked;
why_fn why_stormed;
why_fn why_stuck;
why_fn why_queue_near;
why_fn why_above_kmin;
why_fn why_ecn_differs;
why_fn why_strict_above;
why_fn why_shaped;
why_fn why_line_full;

// why_group.c: one priority group
why_fn why_group_xoff;
why_fn why_group_near;
why_fn why_headroom;
why_fn why_lapsed;
