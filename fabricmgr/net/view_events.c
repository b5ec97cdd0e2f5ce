// SPDX-License-Identifier: BSD-3-Clause
//
// The journal as JSON. What switches said is among its texts, so no byte of them is believed to be
// UTF-8.

#include "fabricmgr/net/view_json.h"

#include <string.h>

#include "sys/fault.h"
#include "sys/text_json.h"

enum { SENTENCE_BYTES = 512 };

static const char *const severity_names[] = {
	[JOURNAL_INFO] = "info",
	[JOURNAL_WARNING] = "warning",
	[JOURNAL_ERROR] = "error",
};

static json_t *text(const char *text)
{
	return text_json(text, strlen(text));
}

json_t *view_event_json(const struct journal_event *event)
{
	char sentence[SENTENCE_BYTES];

	fault_render(sentence, sizeof(sentence), journal_kind_texts[event->kind], event->object,
		     event->detail, 0, 0);
	return json_pack("{s:I, s:I, s:s, s:s, s:o, s:o, s:o}", "number", (json_int_t)event->number,
			 "wall_ms", (json_int_t)event->wall_ms, "severity",
			 severity_names[journal_kind_severity[event->kind]], "kind",
			 journal_kind_names[event->kind], "object", text(event->object), "detail",
			 text(event->detail), "what", text(sentence));
}

json_t *view_events_json(const struct journal *journal, uint64_t since, uint64_t most)
{
	const uint64_t kept = u64_minus(journal->count, JOURNAL_MAX);
	const uint64_t newest = u64_minus(journal->count, u64_min(most, VIEW_EVENTS_MAX));
	const uint64_t first = u64_max(u64_max(since, kept), newest) + 1;
	json_t *list = json_array();

	for (uint64_t number = first; number <= journal->count && number != 0; number++) {
		const struct journal_event *event = journal_at(journal, number);

		if (event != NULL)
			json_array_append_new(list, view_event_json(event));
	}
	return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)journal->count, "first_kept",
			 (json_int_t)kept + 1, "events", list);
}
