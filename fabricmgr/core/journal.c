// SPDX-License-Identifier: BSD-3-Clause
//
// A ring of events that are numbered from 1 on, however many there have been. Names, texts and
// severities of kinds are columns of one table (schema/fabric_events.def). An entry carries its
// number, so that one that was never written, or was written over, is not mistaken for another.

#include "fabricmgr/core/journal.h"

#include <string.h>

const char *const journal_kind_names[JOURNAL_KIND_COUNT] = {
#define JOURNAL(name, severity, text) [JOURNAL_##name] = #name,
#include "schema/fabric_events.def"
};

const char *const journal_kind_texts[JOURNAL_KIND_COUNT] = {
#define JOURNAL(name, severity, text) [JOURNAL_##name] = text,
#include "schema/fabric_events.def"
};

const enum journal_severity journal_kind_severity[JOURNAL_KIND_COUNT] = {
#define JOURNAL(name, severity, text) [JOURNAL_##name] = JOURNAL_##severity,
#include "schema/fabric_events.def"
};

// As much as fits of a text, ended by 0.
static void copy_text(char *to, size_t bytes, const char *text)
{
	size_t length = 0;

	while (length + 1 < bytes && text[length] != '\0')
		length++;
	memcpy(to, text, length);
	to[length] = '\0';
}

void journal_add(struct journal *journal, enum journal_kind kind, uint64_t wall_ms,
		 const char *object, const char *detail)
{
	struct journal_event *event = &journal->event[journal->count % JOURNAL_MAX];

	journal->count++;
	event->number = journal->count;
	event->wall_ms = wall_ms;
	event->kind = kind;
	copy_text(event->object, sizeof(event->object), object);
	copy_text(event->detail, sizeof(event->detail), detail);
}

void journal_restore(struct journal *journal, const struct journal_event *event)
{
	journal->event[(event->number - 1) % JOURNAL_MAX] = *event;
	journal->count = event->number;
}

const struct journal_event *journal_at(const struct journal *journal, uint64_t number)
{
	const struct journal_event *event = &journal->event[(number - 1) % JOURNAL_MAX];

	return number >= 1 && number <= journal->count && event->number == number ? event : NULL;
}

bool journal_budget_take(struct journal_budget *budget, ns_t now)
{
	const uint64_t seconds = ns_since(now, budget->at) / 1000000000;

	if (seconds > 0) {
		budget->used -= (uint32_t)u64_min(budget->used, seconds);
		budget->at = now;
	}
	if (budget->used == JOURNAL_BURST)
		return false;
	budget->used++;
	return true;
}
