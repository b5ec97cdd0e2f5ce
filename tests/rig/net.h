// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts, endpoints and switches joined by links: a deterministic event loop in whole nanoseconds.
// One heap by (time, sequence); a frame occupies its link for its wire time, exact in the long run,
// and arrives whole after the propagation delay. Nothing is lost on a link that is up and not mute,
// unless a switch's port has an impairment.
//
// A switch port sends one frame at a time, PFC first, then hellos, so what a pause cannot recall is
// the frame on the wire. A port with pause = "hold" leaves frames in its receive ring while it is
// held.
#pragma once

#include "tests/host/host.h"
#include "tests/rig/rig.h"
#include "traffic/core/endpoint.h"

enum { NET_NODE_MAX = 256 };

struct net;

struct net *net_new(void);

// The rig becomes the net's, which drives its clock. Returns the node.
uint32_t net_add_switch(struct net *net, struct rig *rig);
uint32_t net_add_host(struct net *net, const struct host_config *config);

// A RoCE host. What is given to it outside net_run() it sees with the next run.
uint32_t net_add_endpoint(struct net *net, const struct endpoint_profile *pf,
			  const struct rc_region *region, uint32_t region_count);

// Joins two ports (a host has port 0), both ways at `bps`, `delay_ns` of propagation each way.
void net_join(struct net *net, uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port,
	      uint64_t bps, uint64_t delay_ns);

// Takes the link of a port down or up at the time of now: frames on it are lost, as are those sent
// while it is down; the ends of a switch and of an endpoint are told.
void net_link(struct net *net, uint32_t node, uint32_t port, bool up);

// Loses all that the end `node`, `port` of a link sends, or no longer does; the carrier stays.
void net_mute(struct net *net, uint32_t node, uint32_t port, bool mute);

// From now on a switch is away for up to `lag_ns` after each poll, by dice of this seed; what
// arrives meanwhile waits. 0: never.
void net_lag(struct net *net, uint32_t node, uint64_t lag_ns, uint64_t seed);

// Runs all events up to and including `until`. Time starts at 0, a rig's clock at its own start.
void net_run(struct net *net, uint64_t until_ns);

// Runs until nothing is left to happen before `limit`: true when all is quiet.
bool net_run_dry(struct net *net, uint64_t limit_ns);

struct host_stats net_host_stats(const struct net *net, uint32_t node);
struct host_state *net_host(struct net *net, uint32_t node);

// Changes take effect with the next event of the host.
struct host_config *net_host_config(struct net *net, uint32_t node);
struct rig *net_rig(struct net *net, uint32_t node);
struct endpoint_profile *net_endpoint_profile(struct net *net, uint32_t node);
struct endpoint_state *net_endpoint(struct net *net, uint32_t node);
ns_t net_now(const struct net *net);

// What an impairment of the port has done so far.
struct impair_stats net_impair_stats(const struct net *net, uint32_t node, uint32_t port);

// Most frames that ever waited in the receive ring of a held port.
uint64_t net_ring_watermark(const struct net *net, uint32_t node, uint32_t port);

// Frames lost because their link was down or their sender mute.
uint64_t net_lost(const struct net *net);

// From now on `visit` is called each time an endpoint has received or is asked for a frame, ahead
// of the latter: it takes completions and posts work.
void net_visit(struct net *net, void (*visit)(void *context, uint32_t node), void *context);

// Asks an endpoint for a frame at a time, at the latest.
void net_wake(struct net *net, uint32_t node, ns_t at);

// Checks conservation of every switch after every event from now on.
void net_watch(struct net *net);

// Ends the rigs (rig_end()) and frees everything.
void net_end(struct net *net);
