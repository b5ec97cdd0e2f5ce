// SPDX-License-Identifier: BSD-3-Clause
//
// A host's receive buffer, and the PFC that protects it. Each priority has a buffer that empties at
// a stated rate. Above xoff_bytes the peer is paused, at or below xon_bytes it may go on; what does
// not fit is lost. The buffer is an account: nothing is kept here.
//
// Zeroed state is an empty buffer.
#pragma once

#include "base/pacer.h"
#include "pfc/pfc.h"

struct receiver_profile {
	uint64_t bps; // 0: takes everything at once, never pauses
	uint64_t buffer_bytes;
	uint64_t xoff_bytes;
	uint64_t xon_bytes; // <= xoff_bytes <= buffer_bytes
	struct pfc_gen_profile gen;
};

struct receiver_state {
	struct pfc_gen_state gen;
	uint8_t wanted;                       // priorities in XOFF
	struct pacer_state level[PRIO_COUNT]; // `ready`: when what it holds will be gone
};

// The usual generator: `quanta` on a line of `bps`, repeated twice a pause time.
struct pfc_gen_profile receiver_gen(uint8_t enable, uint16_t quanta, uint64_t bps);

// Bytes that a priority holds.
uint64_t receiver_held(const struct receiver_profile *pf, const struct receiver_state *st,
		       prio_t prio, ns_t now);

// Takes a frame of `bytes`; false when it does not fit.
bool receiver_take(const struct receiver_profile *pf, struct receiver_state *st, prio_t prio,
		   uint32_t bytes, ns_t now);

// Resumes priorities whose buffer has emptied. Ask pfc_gen_frame() of `gen` behind it.
void receiver_tick(const struct receiver_profile *pf, struct receiver_state *st, ns_t now);

// When receiver_tick() will resume one, NS_NEVER: none is paused.
ns_t receiver_deadline(const struct receiver_profile *pf, const struct receiver_state *st);
