// SPDX-License-Identifier: BSD-3-Clause
//
// What a managed switch has to tell about its links: for each port whether it can be used, with the
// number of the event, until the manager has said that it took it. Pure.
//
// A port that changes again before it was told is told once, as it is: so there is never more to
// say than there are ports, however often links flap.
#pragma once

#include "dataplane/core/config.h"

struct fabric_events {
	uint64_t sequence; // of the last event
	uint32_t port_count;
	uint64_t due[CONFIG_PORT_MAX]; // sequence that it is to be told with, 0: it was
	bool usable[CONFIG_PORT_MAX];
	bool known[CONFIG_PORT_MAX]; // was looked at
};

struct fabric_link_event {
	uint64_t sequence;
	uint16_t port;
	bool usable;
};

// Nothing is known of so many ports.
void fabric_events_init(struct fabric_events *events, uint32_t port_count);

// A port was looked at. True: there is something new to tell.
bool fabric_events_look(struct fabric_events *events, uint16_t port, bool usable);

// Everything that is known is to be told: to a manager that may know nothing.
void fabric_events_tell_all(struct fabric_events *events);

// What is to be told, the oldest first, at most `max`. Returns how many.
uint32_t fabric_events_list(const struct fabric_events *events, struct fabric_link_event *out,
			    uint32_t max);

// Events up to this one were taken.
void fabric_events_taken(struct fabric_events *events, uint64_t sequence);
