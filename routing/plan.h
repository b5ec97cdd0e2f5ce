// SPDX-License-Identifier: BSD-3-Clause
//
// A plan: for each edge and switch the group of next hops, for the whole fabric the rules of turns.
// Engines make it, the verifier, reports and the fabric manager read it.
//
// A group is a list of (local link, weight), a local link being link - link_first[switch]; so
// switches of one kind share groups and a fabric of any size has few. Group numbers mean nothing:
// plans are compared by what they lead to, and the tables that a switch gets are numbered anew
// (plan_table). A plan is a function of topology, state and options alone.
#pragma once

#include "base/types.h"
#include "routing/topo.h"
#include "routing/turn_map.h"

enum {
	PLAN_NONE = 0xffff,  // no way
	PLAN_LOCAL = 0xfffe, // the edge is at this switch
	PLAN_GROUP_MAX = 0xfffe,
	PLAN_HOP_MAX = 1024, // of a group
};

struct plan_hop {
	uint16_t link; // local: + link_first[switch]
	uint16_t weight;
};

struct plan_group {
	uint32_t first; // index into hop
	uint16_t hop_count;
	// 0: a flow is hashed over the hops by weight. Otherwise hop (host / pin) mod hop_count,
	// host being the number of the destination host: D-mod-K as arithmetic, without rows of
	// hosts.
	uint32_t pin;
};

// Rules of turns. Each link has a class, as the port of its switch for both directions; hosts'
// ports are of class TURN_CLASS_HOST. A packet that arrives at a port of class `in` on lane l may
// leave by a port of class `out` on lane[in][out][l], or not at all (TURN_DENY). An exception
// stands for one pair of ports. A U-turn is never allowed.
enum {
	TURN_CLASS_HOST = 0,
	TURN_CLASS_MAX = 250,
};

struct turn_exception {
	uint32_t in;  // link of the arrival port, TOPO_NONE: hosts
	uint32_t out; // link of the departure port
	uint8_t lane; // of arrival
	uint8_t to;   // of departure, or TURN_DENY
};

struct turn_rules {
	uint32_t lane_count; // lossless lanes that are used, 1..LANE_MAX
	uint32_t class_count;
	uint8_t *link_class;              // [link_count]
	uint8_t *lane;                    // [class_count][class_count][LANE_MAX]
	struct turn_exception *exception; // sorted by in, out, lane; each once
	uint32_t exception_count;
};

struct plan {
	uint32_t switch_count;
	uint32_t edge_count;
	uint16_t *row; // [edge][switch]: number of a group, PLAN_LOCAL or PLAN_NONE
	struct plan_group *group;
	struct plan_hop *hop;
	struct turn_rules turns;
	// For reports: links of a tier carry alike (a level of a tree, a dimension of a Torus).
	uint32_t tier_count;
	uint8_t *link_tier; // [link_count]
	// How groups are found and where they grow; private to plan.c.
	uint32_t group_count;
	uint32_t group_room;
	uint32_t hop_count;
	uint32_t hop_room;
	uint16_t *bucket;
	uint32_t bucket_count;
	struct arena *keep;
};

// What an engine could not do, and where. The text is made by whoever knows the names.
enum plan_fault_kind {
	PLAN_FAULT_NONE,
	PLAN_FAULT_MEMORY,
	PLAN_FAULT_NOT_A_TREE,  // `at` has links that fit no level
	PLAN_FAULT_NOT_A_TORUS, // `at` does not fit the dimensions
	PLAN_FAULT_COORDINATES, // two switches (`at`, `other`) at one place
	PLAN_FAULT_DATELINE,    // ends of `link` disagree
	PLAN_FAULT_UNREACHABLE, // `at` is connected to edge `edge`, but no rule leads there
	// From `at` to edge `edge` takes more lanes than there are. In a part of a hybrid the end
	// is switch `other`, and `edge` is TOPO_NONE when that has none.
	PLAN_FAULT_LANES,
	PLAN_FAULT_ROOT,   // root `at` is lost, or there is none
	PLAN_FAULT_GROUPS, // too many different groups
	PLAN_FAULT_WIDE,   // `at` has more hops towards edge `edge` than a group has members
};

struct plan_fault {
	enum plan_fault_kind kind;
	uint32_t at;
	uint32_t other;
	uint32_t link;
	uint32_t edge;
};

// An empty plan in `keep`, which it holds on to: every row PLAN_NONE, one lane and one tier, every
// turn denied, every link of TURN_CLASS_HOST. 0, or -ENOMEM.
int plan_init(const struct topo *topo, struct arena *keep, struct plan *plan);

// A copy that can be changed: what a replan starts from. 0, or -ENOMEM.
int plan_copy(const struct topo *topo, const struct plan *from, struct arena *keep,
	      struct plan *plan);

// The number of the group with these hops, a new one if need be. Hops are sorted by link, each
// once, weights 1.. and free of a common divisor. PLAN_NONE for no hops. -ENOMEM, or -EOVERFLOW:
// more different groups than a plan may have.
int plan_group(struct plan *plan, const struct plan_hop *hops, uint32_t count, uint32_t pin,
	       uint16_t *group);

// The number of the group with just these, PLAN_NONE when the plan has none.
uint16_t plan_find_group(const struct plan *plan, const struct plan_hop *hops, uint32_t count,
			 uint32_t pin);

// All hops of weight 1, none pinned: the group of plain ECMP.
int plan_group_plain(struct plan *plan, const uint16_t *links, uint32_t count, uint16_t *group);

// Groups begin at number 0 again; no row may be read before it is written.
void plan_forget_groups(struct plan *plan);

static inline uint16_t *plan_rows(const struct plan *plan, uint32_t edge)
{
	return plan->row + (size_t)edge * plan->switch_count;
}

static inline bool plan_is_group(uint16_t row)
{
	return row < PLAN_LOCAL;
}

// Whether rows of two plans lead to the same.
bool plan_same(const struct plan *a, uint16_t row_a, const struct plan *b, uint16_t row_b);

// Whether no row has more hops than a switch's groups have members. False: PLAN_FAULT_WIDE with the
// lowest edge and switch.
bool plan_fits_groups(const struct plan *plan, uint32_t member_most, struct plan_fault *fault);

// Lays out rules of turns: classes with everything denied, and room for exceptions. 0, or -ENOMEM.
int turn_rules_init(const struct topo *topo, uint32_t lane_count, uint32_t class_count,
		    uint32_t exception_room, struct arena *keep, struct turn_rules *rules);

// A copy with no room for more exceptions. 0, or -ENOMEM.
int turn_rules_copy(const struct topo *topo, const struct turn_rules *from, struct arena *keep,
		    struct turn_rules *rules);

// The place of the first exception that is not before this one.
uint32_t turn_rules_seek(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane);

// Puts an exception in its place; there is room for it. Quick for one that goes near the end.
void turn_rules_insert(struct turn_rules *rules, const struct turn_exception *exception);

static inline void turn_rules_allow(struct turn_rules *rules, uint32_t in_class, uint32_t out_class,
				    uint32_t lane, uint32_t to)
{
	const size_t turn = (size_t)in_class * rules->class_count + out_class;

	rules->lane[turn * LANE_MAX + lane] = (uint8_t)to;
}

// The lane that a packet leaves on by link `out`, or TURN_DENY. `in` is the link of the port that
// it arrived at, TOPO_NONE: from a host. To a host every packet may go: it is where lanes end.
uint8_t turn_rules_get(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane);

// What changed between two plans on one topology. Bytes are those of a delta in the wire's packed
// form: 4 for a row, 4 and 4 per hop for a group that the switch did not have.
struct plan_change {
	uint32_t switches;
	uint64_t rows;
	uint64_t groups;
	uint64_t bytes;
};

// 0, or -ENOMEM. `scratch` is left as it was.
int plan_diff(const struct plan *before, const struct plan *after, struct arena *scratch,
	      struct plan_change *change);

// The table of one switch with groups numbered by first use, edge by edge: the same plan gives the
// same table, however it came about.
struct plan_table {
	uint16_t *row;   // [edge_count]: number in `group`, PLAN_LOCAL or PLAN_NONE
	uint16_t *group; // [group_count] number of the group in the plan
	uint32_t group_count;
	uint32_t row_count; // other than PLAN_NONE
};

// 0, or -ENOMEM.
int plan_table(const struct plan *plan, uint32_t at, struct arena *keep, struct arena *scratch,
	       struct plan_table *table);
