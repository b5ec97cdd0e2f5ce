// SPDX-License-Identifier: BSD-3-Clause
//
// What happened in a fabric, in order: the last JOURNAL_MAX events in memory. Kinds and their texts
// are rows of schema/fabric_events.def.
#pragma once

#include "base/types.h"

enum { JOURNAL_MAX = 4096, JOURNAL_OBJECT_BYTES = 96, JOURNAL_DETAIL_BYTES = 160 };

enum journal_severity { JOURNAL_INFO, JOURNAL_WARNING, JOURNAL_ERROR };

enum journal_kind {
#define JOURNAL(name, severity, text) JOURNAL_##name,
#include "schema/fabric_events.def"
	JOURNAL_KIND_COUNT,
};

struct journal_event {
	uint64_t number;  // 1, 2, ...
	uint64_t wall_ms; // since 1970
	enum journal_kind kind;
	char object[JOURNAL_OBJECT_BYTES];
	char detail[JOURNAL_DETAIL_BYTES];
};

struct journal {
	uint64_t count;                          // number of the last event; JOURNAL_MAX are kept
	struct journal_event event[JOURNAL_MAX]; // number n at (n - 1) % JOURNAL_MAX
};

// How much somebody may have written about himself: a burst, and then an event a second. Zeroed at
// first.
enum { JOURNAL_BURST = 16 };

struct journal_budget {
	uint32_t used;
	ns_t at;
};

// Whether one more may be written now.
bool journal_budget_take(struct journal_budget *budget, ns_t now);

extern const char *const journal_kind_names[JOURNAL_KIND_COUNT];
extern const char *const journal_kind_texts[JOURNAL_KIND_COUNT];
extern const enum journal_severity journal_kind_severity[JOURNAL_KIND_COUNT];

// Texts are cut to fit.
void journal_add(struct journal *journal, enum journal_kind kind, uint64_t wall_ms,
		 const char *object, const char *detail);

// An event that was kept elsewhere, with its number: those of an earlier run, in rising order,
// before the first of this one.
void journal_restore(struct journal *journal, const struct journal_event *event);

// Event `number`, NULL: not yet, or no longer.
const struct journal_event *journal_at(const struct journal *journal, uint64_t number);
