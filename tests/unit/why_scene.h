// SPDX-License-Identifier: BSD-3-Clause
//
// The bench of the rules of weft show why: a healthy switch, and rows that say what is different
// from it, as paths with values, and which finding must come of it, with words that a reader needs
// to act: the priority, the row of the access list, the other port. Wanted numbers follow from the
// row: a look is 500 ms after the one before.
#pragma once

#include "cli/why.h"

enum { WHY_LOOK_MS = 500 };

#define WHY_Q "ports.0.queues.3."
#define WHY_G "ports.0.priority_groups.3."
#define WHY_WD "ports.0.queues.3.pfc_wd.action=\"drop\" "

struct why_row {
	const char *what;
	const char *both;  // changes of both looks
	const char *after; // and of the second alone
	const char *rule;  // of the finding that must come; neither it nor `silent`: only notes may
	enum why_severity severity;
	const char *where;
	const char *words[4]; // that the finding has
	const char *advice;   // that its advice has; NULL: it gives none
	const char *silent;   // a rule that must find nothing
};

// An answer of /v1/stats of a switch that is up for so long.
json_t *why_healthy(uint64_t uptime_ms);

// Applies "PATH=VALUE PATH=VALUE ...", with values in JSON that have no spaces.
void why_apply(json_t *answer, const char *changes);

// The first finding of a rule, NULL: there is none; `where` NULL: anywhere.
const struct why_finding *why_find_rule(const struct why_findings *all, const char *rule,
					const char *where);

// Asserts what a row says of its finding, and of all that is found.
void why_check_words(const struct why_row *row, const struct why_finding *found);
void why_check(const struct why_row *row);
