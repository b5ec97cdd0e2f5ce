// SPDX-License-Identifier: BSD-3-Clause
//
// What changes in the forwarding tables of a running switch: neighbours that are heard, next hops
// that are found or moved, and the grace that lcores get before a row is used again. Control thread
// only; what to believe and whom to answer is in neighbor_rules.h.
#pragma once

#include "dataplane/dpdk/worker.h"
#include "dataplane/icmp_send.h"
#include "dataplane/neighbor_keeper.h"

struct routes;

// For a switch that has tables. NULL when memory is short, logged.
struct routes *routes_open(struct workers *workers, struct instance *in);
void routes_close(struct routes *routes); // accepts NULL

// The switch has other tables: packets that wait are routed by them.
void routes_follow(struct routes *routes);

// What the tables in use have learned and another configuration of the switch still believes:
// neighbours in networks that it has, next hops that it asks for. To the tables of that one, which
// nobody uses yet.
void routes_carry(const struct instance *in, const struct neighbor_view *next,
		  struct sw_tables *tables);

struct neighbor_view routes_view(const struct instance *in);

// A neighbour has said where it is. `routes` may be NULL here and below: a plain bridge.
void routes_heard(struct routes *routes, const struct neighbor_message *message, port_t port,
		  uint16_t vid);

// Packets wait for an address in a network of the switch.
void routes_want(struct routes *routes, const struct ip_prefix *address, uint16_t vid);

// A MAC address is new or has moved.
void routes_learned(struct routes *routes, uint64_t mac, uint16_t vid, port_t port);

// After a batch of the two above: packets that wait are routed once more, and every lcore passes.
void routes_settle(struct routes *routes);

// Every second: asks for next hops that are not resolved.
void routes_second(struct routes *routes);

// Twenty times a second: neighbours grow old, are asked again, or are forgotten.
void routes_tick(struct routes *routes);

// What is known of neighbours; NULL: a plain bridge.
const struct neighbor_table *routes_neighbors(const struct routes *routes);

// True while an echo may be answered: at most ROUTES_ECHOES a second.
enum { ROUTES_ECHOES = 100 };
bool routes_may_echo(struct routes *routes);

// Adds what the control thread has counted to the statistics of the lcores.
void routes_count(const struct routes *routes, struct switch_stats *stats);

// What it tells senders of packets that it cannot route; NULL: a plain bridge.
struct icmp_sender *routes_icmp(struct routes *routes);

// Sends a frame of `len` bytes out of a port, or with PORT_NONE floods it into the VLAN.
void routes_send(struct workers *workers, struct instance *in, port_t port, uint16_t vid,
		 const uint8_t *frame, uint32_t len);

// --- for neighbor_keeper.c ----------------------------------------------------------------------

struct instance *routes_instance(const struct routes *routes);

// Sends a question, as routes_send().
void routes_ask(struct routes *routes, port_t port, uint16_t vid, const uint8_t *frame,
		uint32_t len);

// Puts a neighbour into the tables: 0, or -errno, logged once, and it is in them no more. Or takes
// it out of them.
int routes_neighbor_found(struct routes *routes, const struct ip_prefix *address, uint16_t vid,
			  uint64_t mac);
void routes_neighbor_gone(struct routes *routes, const struct ip_prefix *address);

// No neighbour may make room for this one: said once.
void routes_neighbor_refused(struct routes *routes, const struct ip_prefix *address);

// Next hops that follow this neighbour join their groups, or leave them.
void routes_next_hop_found(struct routes *routes, const struct neighbor_key *key, port_t port,
			   uint64_t mac);
void routes_next_hop_gone(struct routes *routes, const struct neighbor_key *key);
