// SPDX-License-Identifier: BSD-3-Clause
//
// A binary heap with sift-up and sift-down by moving a hole. The order (time, seq) is total, since
// each event has a sequence number of its own; that makes the heap deterministic.

#include "tests/rig/events.h"

#include <stdlib.h>

#include "base/check.h"

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void events_push(struct events *events, struct event event)
{
	size_t i = events->count++;

	if (i == events->room) {
		events->room = events->room * 2 + 64;
		events->heap = realloc(events->heap, events->room * sizeof(*events->heap));
		WEFT_CHECK(events->heap != NULL);
	}
	event.seq = events->seq++;
	for (; i > 0 && before(&event, &events->heap[(i - 1) / 2]); i = (i - 1) / 2)
		events->heap[i] = events->heap[(i - 1) / 2];
	events->heap[i] = event;
}

struct event events_pop(struct events *events)
{
	struct event *heap = events->heap;
	struct event top = heap[0];
	struct event last = heap[--events->count];
	size_t i = 0;

	for (size_t child = 1; child < events->count; child = 2 * i + 1) {
		if (child + 1 < events->count && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return top;
}

void events_free(struct events *events)
{
	while (events->count > 0)
		free(events_pop(events).frame);
	free(events->heap);
}
