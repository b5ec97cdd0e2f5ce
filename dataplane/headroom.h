// SPDX-License-Identifier: BSD-3-Clause
//
// What a port may still receive after XOFF, by its class, against what its lossless priority
// groups have: published per port, and said in words when it does not fit. The classes and their
// proofs are in pfc/headroom_class.c.
#pragma once

#include "dataplane/dpdk/headroom_path.h"
#include "dataplane/dpdk/instance.h"

// Bytes that a pause cannot recall any more on our side: the driver's transmit ring and a refused
// burst. The peer's headroom must cover them.
uint64_t headroom_tx_ring_bytes(const struct port *port);

const char *headroom_class_name(enum headroom_class class);

// Bytes of headroom (xoff) that a lossless priority group of port `i` needs, taking the peer to be
// built like this side where its configuration says nothing else. 0 when the port is not open.
uint64_t headroom_need_bytes(const struct instance *in, uint32_t i);

// Whether a lossless priority group of port `i` has enough of it, in words.
void headroom_verdict(const struct instance *in, uint32_t i, uint32_t pg, char *out,
		      size_t out_bytes);

// Warns when port `i` has a lossless priority group with less, and when one has an xon above all
// that it may ever hold under its limit.
void headroom_check(const struct instance *in, uint32_t i);

// Warns about ports whose PFC repeats cannot keep up with a poll gap as long as this.
void headroom_check_gap(const struct instance *in, uint64_t max_gap_ns);
