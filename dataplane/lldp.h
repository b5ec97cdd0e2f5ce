// SPDX-License-Identifier: BSD-3-Clause
//
// LLDP and DCBX of a switch: frames in from punts, frames out past all queues, timers, and what is
// worth a line in the log. Control thread only; when and who is lldp_peer.h, what is said is
// lldp_local.h, bytes are lldp_frame.h.
#pragma once

#include "dataplane/dpdk/snapshot.h"
#include "dataplane/dpdk/worker.h"
#include "link/lldp_peer.h"

struct lldp;

// NULL when memory is short, logged.
struct lldp *lldp_open(struct workers *workers, struct instance *in);

// Tells all neighbours that nothing more will come; links are still up. Accepts NULL.
void lldp_close(struct lldp *lldp);

// Follows links and knobs, and sends what is due. Some times a second.
void lldp_poll(struct lldp *lldp);

// Every second: notes what has changed in what is said, and forgets neighbours that are silent.
void lldp_second(struct lldp *lldp);

// An LLDP frame was punted, `at` bytes before its LLDPDU. The frame stays the caller's.
void lldp_heard(struct lldp *lldp, port_t port, const struct rte_mbuf *frame, uint32_t at);

// Adds what is counted here to the rows of the ports. Accepts NULL.
void lldp_count(const struct lldp *lldp, struct snapshot *snapshot);

// For who shows it.
const struct lldp_port *lldp_port_of(const struct lldp *lldp, port_t port);
struct lldp_profile lldp_profile_of(const struct lldp *lldp, port_t port);
void lldp_ours(const struct lldp *lldp, port_t port, struct lldp_info *out);
ns_t lldp_now(const struct lldp *lldp);

// The name by which a neighbour is known: its system name, or else its chassis.
void lldp_name(const struct lldp_info *info, char out[LLDP_WORDS_BYTES]);
