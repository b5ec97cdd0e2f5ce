// SPDX-License-Identifier: BSD-3-Clause
//
// One switch on a test bench, all its lcores in one thread: a manual clock, packet memory that is
// counted, and a shell that drains actions as the real one does. Host i is attached to port i
// (frame_host_mac(i), frame_host_ip(i)).
//
// Every frame lives in an allocation of its own with exactly SW_TAG_ROOM bytes in front, so that
// the sanitizer sees any access outside. Broken expectations of the rig itself abort
// (base/check.h).
#pragma once

#include "dataplane/core/losses.h"
#include "dataplane/core/sw.h"
#include "dataplane/core/tables.h"
#include "tests/host/frame.h"
#include "tests/rig/setup.h"

enum { RIG_PFC_LOG = 256 };

// What a port was told to send: the newest frames, and counts of all.
struct rig_pfc {
	uint64_t count;
	struct {
		ns_t at;
		struct pfc_frame frame;
	} log[RIG_PFC_LOG];        // frame k is at k % RIG_PFC_LOG
	uint64_t xoff[PRIO_COUNT]; // frames with a timer above 0
	uint64_t xon[PRIO_COUNT];  // frames with a timer of 0
};

struct rig {
	struct sw_config *config;
	struct sw_profile *pf;
	struct sw_profile *judged; // of the last rig_losses()
	void *memory;
	struct sw *sw;
	struct sw_tables *tables; // NULL: the configuration has no row of one
	ns_t now;
	// How actions are answered. Off: counted, and `last` keeps the newest; punted packets are
	// freed.
	bool answer_learn;   // sw_mac_set()
	bool answer_punt;    // learn the sender of ARP, then sw_inject()
	bool answer_solicit; // flood an ARP request into the VLAN
	uint64_t mac;        // of solicitations; net_add_switch() makes it unique
	uint64_t learns;
	uint64_t punts;
	uint64_t solicits;
	uint64_t tells;                      // errors to senders
	uint64_t storms;                     // reported as detected
	uint64_t restores;                   // reported as restored
	uint64_t peers;                      // reported as changed
	bool hello_due[CONFIG_PORT_MAX];     // a port is to send a hello; net.c does
	uint64_t lacp_sent[CONFIG_PORT_MAX]; // LACPDUs a port was told to send
	bool lacp_due[CONFIG_PORT_MAX];      // one of them is yet to be carried out
	struct sw_action last;
	uint8_t descriptors;                 // per packet, 1 at first
	int64_t live;                        // packets that exist
	uint64_t dropped[DROP_REASON_COUNT]; // given back with this reason
	struct rig_pfc pfc[CONFIG_PORT_MAX];
};

// A switch of this configuration, which becomes the rig's. Aborts with the fault when it is wrong.
// All links are up and, unless `blank`, the address of each port's host is known in the port's
// VLAN.
struct rig *rig_new(struct sw_config *config);
struct rig *rig_new_blank(struct sw_config *config);

// Ends a test: conservation, then links down, held packets expired, everything free, no packet
// leaked and no buffer charged.
void rig_end(struct rig *rig);

// Builds the rig's changed configuration again and makes it live. 0 or -EINVAL of sw_set_profile().
int rig_reload(struct rig *rig);

// Builds it as well, and says what making it live would lose: as sw_losses(). What is written is
// valid until the next call.
uint32_t rig_losses(struct rig *rig, struct sw_loss *out, uint32_t max);

// Advances the clock and runs timers.
void rig_advance(struct rig *rig, uint64_t ns);

void rig_link(struct rig *rig, uint32_t port, bool up);

// Tells every lcore of an address.
void rig_mac_set(struct rig *rig, uint64_t mac, uint16_t vid, port_t port);

// --- packets in -------------------------------------------------------------------------------

struct pkt *rig_alloc(struct rig *rig, uint32_t len);
void rig_free(struct rig *rig, struct pkt *p);
struct pkt *rig_build(struct rig *rig, const struct frame *f);

// Receives on `port`, as one burst, and drains.
void rig_rx(struct rig *rig, uint32_t port, struct pkt **pkts, uint32_t count);
void rig_send(struct rig *rig, uint32_t port, const struct frame *f);

// Sends `count` frames one by one with rising sequence numbers; f->seq moves on.
void rig_send_many(struct rig *rig, uint32_t port, struct frame *f, uint64_t count);

// Sends frames, as above, until group `pg` of the port is in XOFF, which must come: then the last
// frame is the first one in its headroom.
void rig_fill(struct rig *rig, uint32_t port, uint32_t pg, struct frame *f);

// PFC from the peer: `enable` and one timer for all of its priorities.
void rig_send_pfc(struct rig *rig, uint32_t port, uint8_t enable, uint16_t quanta);
void rig_send_bytes(struct rig *rig, uint32_t port, const uint8_t *bytes, uint32_t len);

// A data frame from host `from` to host `to` in a lossless (DSCP 3 or 4) or lossy class.
struct frame rig_frame(uint32_t from, uint32_t to, uint8_t dscp, uint32_t len);

// --- packets out ------------------------------------------------------------------------------

// The next packet that leaves `port` now, NULL when none may. The caller frees it.
struct pkt *rig_take(struct rig *rig, uint32_t port);

// As above, read and freed. False when none may leave.
bool rig_take_frame(struct rig *rig, uint32_t port, struct frame *out);

// Lets at most `count` packets leave; returns how many did.
uint64_t rig_release(struct rig *rig, uint32_t port, uint64_t count);

// Carries out what every lcore, or one of them, asks for.
void rig_drain(struct rig *rig);

// Ends what holds packets back (links down, pauses, addresses that are asked for) and lets all of
// them leave, in steps of `step_ns`. False when some are left after a million steps.
bool rig_run_dry(struct rig *rig, uint64_t step_ns);

// No priority group is in XOFF, and none holds anything.
bool rig_is_open(const struct rig *rig);
void rig_drain_lcore(struct rig *rig, lcore_t lcore);

// --- statistics, as of now and of the user's watermarks ---------------------------------------

struct switch_stats rig_switch(const struct rig *rig);
struct pool_stats rig_pool(const struct rig *rig, const char *name);
struct port_stats rig_port(const struct rig *rig, uint32_t port);
struct prio_stats rig_prio(const struct rig *rig, uint32_t port, uint32_t prio);
struct pg_stats rig_pg(const struct rig *rig, uint32_t port, uint32_t pg);
struct queue_stats rig_queue(const struct rig *rig, uint32_t port, uint32_t queue);
uint64_t rig_drops(const struct rig *rig, uint32_t port, enum drop_reason reason);

// Over all ports and reasons.
uint64_t rig_all_drops(const struct rig *rig);
const struct pool_profile *rig_pool_profile(const struct rig *rig, const char *name);
