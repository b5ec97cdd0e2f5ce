// SPDX-License-Identifier: BSD-3-Clause
//
// An array by ports, in which a port has one event at most; in the order of events it is only put
// where it is sent. Sequences begin at 1 and only rise, also when the ports become others, since
// the manager passes over what it has had.

#include "dataplane/fabric_events.h"

void fabric_events_init(struct fabric_events *events, uint32_t port_count)
{
	*events = (struct fabric_events){ .sequence = events->sequence, .port_count = port_count };
}

bool fabric_events_look(struct fabric_events *events, uint16_t port, bool usable)
{
	if (events->known[port] && events->usable[port] == usable)
		return false;
	events->known[port] = true;
	events->usable[port] = usable;
	events->due[port] = ++events->sequence;
	return true;
}

void fabric_events_tell_all(struct fabric_events *events)
{
	for (uint32_t i = 0; i < events->port_count; i++) {
		if (events->known[i])
			events->due[i] = ++events->sequence;
	}
}

// The port of the first event behind `after`; port_count: there is none.
static uint32_t find_next(const struct fabric_events *events, uint64_t after)
{
	uint32_t best = events->port_count;

	for (uint32_t i = 0; i < events->port_count; i++) {
		if (events->due[i] > after &&
		    (best == events->port_count || events->due[i] < events->due[best]))
			best = i;
	}
	return best;
}

uint32_t fabric_events_list(const struct fabric_events *events, struct fabric_link_event *out,
			    uint32_t max)
{
	uint64_t after = 0;
	uint32_t count = 0;

	for (; count < max; count++) {
		const uint32_t port = find_next(events, after);

		if (port == events->port_count)
			break;
		after = events->due[port];
		out[count] = (struct fabric_link_event){ after, (uint16_t)port,
							 events->usable[port] };
	}
	return count;
}

void fabric_events_taken(struct fabric_events *events, uint64_t sequence)
{
	for (uint32_t i = 0; i < events->port_count; i++) {
		if (events->due[i] <= sequence)
			events->due[i] = 0;
	}
}
