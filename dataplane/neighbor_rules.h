// SPDX-License-Identifier: BSD-3-Clause
//
// Who is asked, who is answered, and what is learned from it: the judgement of the control thread
// on ARP and ND, as functions of configuration, tables and message.
//
// The switch answers for its own addresses. In managed mode, where nothing is flooded, it answers
// for the hosts of the fabric too, with their real addresses; never a probe, since a host that
// looks for a duplicate of its own address must not find itself, and never for a target behind the
// port that asks.
#pragma once

#include "dataplane/core/tables.h"
#include "dataplane/neighbor_table.h"
#include "link/neighbor.h"

// A switch as the rules see it.
struct neighbor_view {
	const struct sw_config *config;
	const struct sw_profile *pf;
	const struct sw_tables *tables; // NULL: a plain bridge
};

struct neighbor_verdict {
	bool answer;
	bool router;  // in the name of the switch itself
	uint64_t mac; // that the target is said to be at
};

// What to say to a message that arrived on a port in a VLAN.
struct neighbor_verdict neighbor_judge(const struct neighbor_view *view,
				       const struct neighbor_message *message, port_t port,
				       uint16_t vid);

// The interface of a VLAN whose network an address lies in; NULL: none, or it is the interface's
// own address.
const struct interface_config *neighbor_interface(const struct sw_config *config, uint16_t vid,
						  const struct ip_prefix *address);

// The address of the switch in a VLAN that answers the source of this IP header, preferably one of
// its own network; NULL: the switch has none there.
const struct ip_prefix *neighbor_gateway(const struct neighbor_view *view, uint16_t vid,
					 const uint8_t *ip, bool ipv6);

// True when an IPv4 address is the broadcast address of an interface's network, or the network's
// own (RFC 1812 4.2.3.1): no host has it.
bool neighbor_is_broadcast(const struct sw_config *config, const uint8_t *address);

// True when next hop `at` waits for, or follows, an address that is found like this.
bool neighbor_is_next_hop(const struct neighbor_view *view, uint32_t at,
			  const struct ip_prefix *address, uint16_t vid, port_t port);

// The neighbour that next hop `at` follows; family IP_NONE: it needs no answer. Next hops that
// agree in address, VLAN and port follow the same one.
struct neighbor_key neighbor_next_hop_key(const struct neighbor_view *view, uint32_t at);
bool neighbor_is_followed(const struct neighbor_view *view, uint32_t at,
			  const struct neighbor_key *key);

// The neighbours that next hops follow and that an address is which is found like this: the VLAN
// and port may be given, the VLAN alone, or neither. Returns their count.
enum { NEIGHBOR_HOP_KEYS = 3 };
uint32_t neighbor_next_hop_keys(const struct neighbor_view *view, const struct ip_prefix *address,
				uint16_t vid, port_t port,
				struct neighbor_key out[NEIGHBOR_HOP_KEYS]);

// The member of its group that next hop `at` is.
const struct group_member *neighbor_member_of(const struct sw_tables *t, uint32_t at);

// The MAC address that packets to next hop `at` get when its address is found at `mac`.
uint64_t neighbor_next_hop_mac(const struct sw_config *config, uint32_t at, uint64_t mac);

// How a next hop is asked for.
struct neighbor_question {
	port_t port;                    // PORT_NONE: all ports of the VLAN
	uint16_t vid;                   // 0: there is nobody to ask
	const struct ip_prefix *sender; // NULL: a probe
};
struct neighbor_question neighbor_next_hop_question(const struct neighbor_view *view, uint32_t at);

// False for a next hop that ARP or ND must find: it has no port or address yet, or it may be behind
// any port and the one it was behind is not in `up`.
bool neighbor_is_resolved(const struct neighbor_view *view, uint32_t at, const struct port_set *up);
