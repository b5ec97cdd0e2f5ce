// SPDX-License-Identifier: BSD-3-Clause
//
// What is told of links: each change once, the newest state of a port, and never more than there
// are ports.

#include "dataplane/fabric_events.h"

#include "tests/table.h"

enum { PORTS = 4 };

static uint32_t list(const struct fabric_events *events, struct fabric_link_event out[PORTS])
{
	return fabric_events_list(events, out, PORTS);
}

Test(fabric_events, in_order)
{
	struct fabric_link_event out[PORTS];
	struct fabric_events events = { 0 };

	fabric_events_init(&events, PORTS);
	cr_assert_eq(list(&events, out), 0);
	cr_assert(fabric_events_look(&events, 2, false)); // what it is at first is news
	cr_assert(fabric_events_look(&events, 0, true));
	cr_assert(!fabric_events_look(&events, 0, true));
	cr_assert_eq(list(&events, out), 2);
	cr_assert(out[0].sequence == 1 && out[0].port == 2 && !out[0].usable);
	cr_assert(out[1].sequence == 2 && out[1].port == 0 && out[1].usable);
	cr_assert_eq(fabric_events_list(&events, out, 1), 1);
	cr_assert_eq(out[0].port, 2);
}

// A link that flaps a thousand times is told of once, as it is.
Test(fabric_events, flaps)
{
	struct fabric_link_event out[PORTS];
	struct fabric_events events = { 0 };

	fabric_events_init(&events, PORTS);
	fabric_events_look(&events, 1, true);
	for (uint32_t i = 0; i < 1001; i++)
		fabric_events_look(&events, 3, i % 2 == 0);
	cr_assert_eq(list(&events, out), 2);
	cr_assert_eq(out[0].port, 1);
	cr_assert(out[1].sequence == 1002 && out[1].usable);
}

// What changed again after it was sent is still to be told.
Test(fabric_events, taken)
{
	struct fabric_link_event out[PORTS];
	struct fabric_events events = { 0 };

	fabric_events_init(&events, PORTS);
	fabric_events_look(&events, 0, true);
	fabric_events_look(&events, 1, true);
	fabric_events_look(&events, 0, false); // 3
	fabric_events_taken(&events, 2);
	cr_assert_eq(list(&events, out), 1);
	cr_assert(out[0].sequence == 3 && out[0].port == 0 && !out[0].usable);
	fabric_events_taken(&events, 3);
	cr_assert_eq(list(&events, out), 0);
}

// To a new manager all that is known, with new numbers; numbers go on when ports become others.
Test(fabric_events, all_again)
{
	struct fabric_link_event out[PORTS];
	struct fabric_events events = { 0 };

	fabric_events_init(&events, PORTS);
	fabric_events_look(&events, 0, true);
	fabric_events_look(&events, 3, false);
	fabric_events_taken(&events, 2);
	fabric_events_tell_all(&events);
	cr_assert_eq(list(&events, out), 2);
	cr_assert(out[0].sequence == 3 && out[1].sequence == 4);
	fabric_events_init(&events, 2);
	cr_assert_eq(list(&events, out), 0);
	fabric_events_look(&events, 0, true);
	cr_assert_eq(list(&events, out), 1);
	cr_assert_eq(out[0].sequence, 5);
}
