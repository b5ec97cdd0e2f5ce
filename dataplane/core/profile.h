// SPDX-License-Identifier: BSD-3-Clause
//
// The profile of a switch: everything the packet path reads and never writes, in integers. Built
// once from a configuration (profile.c), const afterwards, swapped whole.
//
// Buffer vocabulary and arithmetic are SAI's (saibuffer.h): limit = reserve + 2^dynamic_th x free.
#pragma once

#include "base/pacer.h"
#include "base/set.h"
#include "dataplane/core/acl.h"
#include "dataplane/core/config.h"
#include "dataplane/core/guard.h"
#include "dataplane/core/hello_peer.h"
#include "dataplane/core/impair.h"
#include "ecn/ecn.h"
#include "pfc/pfc.h"
#include "routing/group.h"
#include "routing/hash.h"
#include "routing/turn_map.h"

enum { LCORE_MAX = 8 };

// Limit of the shared bytes one PG or queue may use.
struct threshold {
	uint64_t static_bytes; // UINT64_MAX: no limit; read when !dynamic
	int8_t alpha_log2;     // -8..7
	bool dynamic;
};

// A pool's shared part is what reserves leave of its size; headroom comes on top.
struct pool_profile {
	char name[CONFIG_NAME_BYTES];
	uint64_t size_bytes;
	uint64_t shared_bytes;
	uint64_t headroom_bytes; // shared headroom pool; 0: headroom is private to each PG
	bool ingress;
};

struct pg_profile {
	_Alignas(16) struct threshold limit;
	uint64_t reserved_bytes;
	uint64_t headroom_bytes; // xoff: private headroom, or the largest share of the common one
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes;     // 0: unset
	uint32_t headroom_descriptors; // by default for headroom_bytes in minimum frames
	uint8_t pool;
	bool lossless;
};

struct queue_profile {
	struct threshold limit;
	uint64_t reserved_bytes;
	struct wred_profile wred;
	struct pacer_profile shaper;
	uint32_t quantum_bytes; // DWRR: bytes per round; the lightest queue has one largest frame
	uint8_t pool;
	bool strict;
	bool has_wred;
};

enum watchdog_action { WATCHDOG_DROP, WATCHDOG_FORWARD, WATCHDOG_ALERT };

// The watchdog of one queue, and what of its port belongs to it.
struct watchdog_profile {
	struct pfc_watchdog_profile pfc;
	enum watchdog_action action;
	uint8_t priorities; // obeyed ones that pause the queue
	uint8_t groups;     // lossless priority groups that these stand for
	uint8_t announced;  // priorities that would announce XOFF of these groups
};

// Tests between classification and admission.
enum {
	FILTER_ACL = 1 << 0,
	FILTER_GUARD = 1 << 1,    // source MAC address
	FILTER_GUARD_IP = 1 << 2, // source IP address too
	FILTER_LACP = 1 << 3,     // not taken into its LAG
};

struct port_profile {
	char name[CONFIG_NAME_BYTES];
	uint8_t dscp_to_tc[64];
	uint8_t pcp_to_tc[PRIO_COUNT];
	uint8_t tc_to_queue[TC_COUNT];
	uint8_t tc_to_pg[TC_COUNT];
	uint8_t prio_to_pg[PRIO_COUNT];
	uint8_t prio_to_queue[PRIO_COUNT];
	uint8_t strict_mask; // queues served strictly
	uint8_t shaped_mask; // queues with a shaper
	uint8_t cnp_mask;    // the CNP queue, when it is strict and capped: before all others
	uint8_t default_tc;
	lcore_t lcore;         // owner of both sides of the port
	uint8_t cnp_pg;        // priority group of CNPs: one of their own if one is free
	bool cnp_follows_rate; // the cap of the CNP queue is one percent of the rate
	bool trust_dscp;
	bool fabric;    // another switch: its lanes count
	bool lane_tag;  // every frame carries a priority tag that says its lane
	bool lanes;     // lanes are in use: lane_parse() takes the place of parse and classify
	bool hold;      // XOFF stops the polling of this port instead of sending frames
	port_t logical; // itself, or the port that stands for its LAG
	uint16_t pvid;  // VLAN of untagged frames, 0: none
	uint8_t lag;    // row of sw_profile.lag plus 1, 0: in none
	uint8_t map_ethertypes;   // rows of ethertype_to_tc in use
	uint8_t filters;          // FILTER_*
	uint32_t max_frame_bytes; // MTU + 14, without tags
	uint32_t mac_limit;
	struct pacer_profile line;  // emulated line rate over wire bytes
	struct pacer_profile flood; // policer of group and unknown frames
	struct pfc_gen_profile gen;
	struct pfc_gen_profile held; // what a `hold` port would announce: only its time is kept
	struct pfc_rx_profile rx;
	struct {
		uint16_t ethertype;
		uint8_t tc;
	} ethertype_to_tc[8];
	struct pg_profile pg[PG_COUNT];
	struct queue_profile queue[QUEUE_COUNT];
	uint8_t watched;       // queues with a watchdog
	bool watchdog_skipped; // a row of pfc_wd names the port, but it has no PFC
	bool pfc_history;
	struct watchdog_profile watchdog[QUEUE_COUNT];
	struct impair_profile impair; // for the shell: what happens before sw_rx()
	struct hello_profile hello;
	uint8_t lossless_queues; // that PFC of the port protects
};

enum {
	LAG_MEMBER_MAX = 16,
	LAG_BUCKET_MAX = 256,
};

// A link aggregation group. Its buckets lie in the profile, which has no pointers into itself.
struct lag_profile {
	char name[CONFIG_NAME_BYTES];
	struct port_set members;
	port_t logical; // the lowest of them
	uint16_t member_count;
	uint16_t min_links;
	bool lacp; // members are used as LACP says
	bool fast; // asks its partner for a frame every second
	_Alignas(struct group) uint8_t group[sizeof(struct group) + LAG_BUCKET_MAX];
};

static inline const struct group *lag_group(const struct lag_profile *lag)
{
	return (const struct group *)(const void *)lag->group;
}

struct vlan_profile {
	uint16_t vid;
	struct port_set members;  // logical ports
	struct port_set untagged; // all ports
	bool routed;              // the switch has an address in it
};

enum { LANE_NONE = 0xff, EDGE_NONE = UINT16_MAX };

struct sw_profile {
	char name[CONFIG_NAME_BYTES];
	uint32_t cell_bytes;
	uint32_t port_count;
	uint32_t pool_count;
	uint32_t vlan_count;
	uint32_t lcore_count;       // forwarding lcores, 1..LCORE_MAX
	uint32_t descriptor_count;  // all that may be charged
	uint32_t descriptor_shared; // without the headroom of lossless groups
	uint32_t mac_count;
	uint32_t acl_count;    // rows of the access list
	uint32_t acl_capacity; // rows to keep counters for, >= acl_count
	size_t acl_rows_at;    // their place, in bytes from here: profiles are copied whole
	size_t acl_index_at;
	size_t guard_at;      // bindings, in the same way
	uint32_t guard_slots; // a power of two
	uint8_t cnp_tc;
	bool big_red_switch;          // every watched queue has its action, storm or none
	bool managed;                 // forward to configured hosts only, flood nothing
	uint8_t lane_count;           // 0: lanes are not in use
	uint8_t lane_tc[LANE_MAX];    // class of each lane
	uint8_t tc_to_lane[TC_COUNT]; // LANE_NONE: not a lane's class
	bool hellos;                  // some port sends hellos
	uint64_t hello_interval_ns;
	bool has_fabric;      // some port is a fabric port
	uint16_t edge_number; // EDGE_NONE: not an edge switch
	uint64_t router_mac;
	uint64_t lacp_system; // of this switch alone
	bool lacp;            // some LAG uses it
	struct hash_profile ecmp_hash;
	struct hash_profile lag_hash;
	uint32_t lag_count;
	uint64_t mac_age_ns;
	uint64_t solicit_ns;
	struct pacer_profile tell; // errors to senders, as bytes; bps 0: none at all
	uint16_t vlan_index[4096]; // vid to row of `vlan` plus 1, 0: no such VLAN
	struct pool_profile pool[CONFIG_POOL_MAX];
	struct vlan_profile vlan[CONFIG_VLAN_MAX];
	struct lag_profile lag[CONFIG_LAG_MAX];
	struct port_profile port[]; // port_count; rows and index of the access list follow
};

static inline const struct guard_slot *guard_slots_of(const struct sw_profile *pf)
{
	return (const struct guard_slot *)((const uint8_t *)pf + pf->guard_at);
}

static inline const struct acl_row *acl_rows_of(const struct sw_profile *pf)
{
	return (const struct acl_row *)((const uint8_t *)pf + pf->acl_rows_at);
}

// There is one when acl_count is not 0.
static inline const struct acl_index *acl_index_of(const struct sw_profile *pf)
{
	return (const struct acl_index *)((const uint8_t *)pf + pf->acl_index_at);
}

enum profile_fault_id {
	FAULT_NONE,
#define FAULT(name, text) FAULT_##name,
#include "schema/faults.def"
#undef FAULT
	FAULT_COUNT,
};

// What is wrong with a configuration, for the shell to print.
struct profile_fault {
	enum profile_fault_id id;
	uint32_t line; // in the file, 0: unknown
	char object[CONFIG_NAME_BYTES];
	char detail[CONFIG_NAME_BYTES];
	uint64_t have;
	uint64_t want;
};

// Texts with %o %d %h %w, see schema/faults.def.
extern const char *const profile_fault_texts[FAULT_COUNT];

// Shortest pause time that is accepted: half of it is the period of repeats, which must stay well
// above the time that a shell is away between two visits of a port.
enum { PROFILE_PAUSE_MIN_NS = 10000 };

// Packet descriptors where a configuration names none.
enum { PROFILE_DESCRIPTORS = 65536 };

// Bytes that profile_build() needs for this configuration, right or wrong.
size_t profile_bytes(const struct sw_config *config);

// Resolves names and units of `config` into `pf`, which has profile_bytes(config) bytes, aligned
// to 16. Returns 0, or -EINVAL with `fault` filled and `pf` undefined. Rules are in the comments
// of the steps in profile.c.
int profile_build(const struct sw_config *config, struct sw_profile *pf,
		  struct profile_fault *fault);

// Gives a port the rate of its wire, `bps` > 0, whatever its configured speed is: pause quanta have
// the length that the peer gives them, and the default cap of the CNP queue of an unpaced port
// follows.
void profile_adopt_rate(struct sw_profile *pf, port_t port, uint64_t bps);

// Takes `count` descriptors away from what packets may hold: their packet buffers serve something
// else. False, and nothing changed, when that is more than half of what groups share.
bool profile_lend_descriptors(struct sw_profile *pf, uint32_t count);

// The name by which a logical port is known: its LAG's, or its own.
static inline const char *profile_link_name(const struct sw_profile *pf, port_t port)
{
	const uint8_t lag = pf->port[port.v].lag;

	return lag != 0 ? pf->lag[lag - 1].name : pf->port[port.v].name;
}

// Shared bytes that a PG or queue may use when `free_bytes` of the pool's shared part are free.
static inline uint64_t threshold_bytes(const struct threshold *th, uint64_t free_bytes)
{
	if (!th->dynamic)
		return th->static_bytes;
	return th->alpha_log2 >= 0 ? free_bytes << th->alpha_log2 : free_bytes >> -th->alpha_log2;
}
