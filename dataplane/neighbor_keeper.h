// SPDX-License-Identifier: BSD-3-Clause
//
// Keeps the neighbours of one switch alive and forgets those that are gone: runs their state
// machines (neighbor_state.h) over the forwarding tables, asks, and gives up next hops that do not
// answer. Control thread only; routes.h owns it.
//
// A restart begins with none. An address that moved while the switch was away would be sent to
// nobody until it is probed; asking anew costs the first packet one round trip.
#pragma once

#include "base/pacer.h"
#include "base/rng.h"
#include "dataplane/neighbor_rules.h"
#include "dataplane/neighbor_table.h"

struct routes;

struct neighbor_keeper {
	struct routes *routes;
	struct neighbor_times times;
	struct neighbor_table table;
	struct rng dice;
	struct pacer_state asks; // its bytes are questions
	uint32_t probes_left;    // in this tick
	// counts, see schema/stats.def
	uint64_t probes;
	uint64_t dead;
	uint64_t doubted;
	uint64_t refused;
	uint64_t unasked;
};

// 0 or -ENOMEM.
int neighbor_keeper_open(struct neighbor_keeper *keeper, struct routes *routes,
			 const struct sw_config *config);
void neighbor_keeper_close(struct neighbor_keeper *keeper);

// The switch has another configuration and other tables, to which routes_carry() has carried what
// is still believed: the rest is forgotten.
void neighbor_keeper_follow(struct neighbor_keeper *keeper, const struct sw_config *config,
			    ns_t now);

// A neighbour has said where it is.
void neighbor_keeper_hear(struct neighbor_keeper *keeper, const struct neighbor_message *message,
			  port_t port, uint16_t vid, ns_t now);

// Packets wait for an address in a network of the switch.
void neighbor_keeper_want(struct neighbor_keeper *keeper, const struct ip_prefix *address,
			  uint16_t vid, ns_t now);

// Timers, twenty times a second: of all that are asked for and of a part of those that are known,
// so that each has its turn once a second.
void neighbor_keeper_tick(struct neighbor_keeper *keeper, ns_t now);
