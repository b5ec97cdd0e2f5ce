// SPDX-License-Identifier: BSD-3-Clause
//
// base/ring.h between two threads: what is popped is what was pushed, in order and whole. Each item
// is plain memory that the pusher writes and the popper reads and hands back by a second ring, so
// that the sanitizer sees a race wherever an index is published before what it stands for.

#include "base/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/check.h"

// One ring is full now and then, the other holds all items.
enum { SLOTS = 4, ITEMS = 8, PASSES = 200000, BURST = 5, LIMIT_S = 120 };

struct item {
	uint64_t number;
	uint64_t square; // so that a half-written item shows
};

static struct ring there, back;
static void *slots[SLOTS], *back_slots[ITEMS];
static struct item items[ITEMS];

static void *pop_all(void *arg)
{
	uint64_t *popped = arg;

	while (*popped < PASSES) {
		void *out[BURST];
		uint32_t count = ring_pop(&there, out, BURST);

		if (count == 0)
			sched_yield();
		for (uint32_t i = 0; i < count; i++) {
			const struct item *item = out[i];

			WEFT_CHECK(item->number == *popped);
			WEFT_CHECK(item->square == item->number * item->number);
			(*popped)++;
			WEFT_CHECK(ring_push(&back, out[i]));
		}
	}
	return NULL;
}

static struct item *next_free(void)
{
	void *item;

	while (ring_pop(&back, &item, 1) == 0)
		sched_yield();
	return item;
}

int main(void)
{
	uint64_t popped = 0;
	pthread_t popper;

	alarm(LIMIT_S);
	ring_init(&there, slots, SLOTS);
	ring_init(&back, back_slots, ITEMS);
	for (uint32_t i = 0; i < ITEMS; i++)
		WEFT_CHECK(ring_push(&back, &items[i]));
	WEFT_CHECK(pthread_create(&popper, NULL, pop_all, &popped) == 0);
	for (uint64_t i = 0; i < PASSES; i++) {
		struct item *item = next_free();

		*item = (struct item){ i, i * i };
		while (!ring_push(&there, item))
			sched_yield();
	}
	pthread_join(popper, NULL);
	WEFT_CHECK(popped == PASSES && ring_count(&there) == 0 && ring_count(&back) == ITEMS);
	printf("%d items passed in order\n", PASSES);
	return 0;
}
