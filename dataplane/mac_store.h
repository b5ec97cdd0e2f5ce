// SPDX-License-Identifier: BSD-3-Clause
//
// The bridge's addresses over a restart: a text file, one line "MAC VLAN PORT" each, in the state
// directory. Read at start, given to the switch as each port's link comes up; written when it
// changed, as a whole or not at all. Control thread only.
#pragma once

#include "dataplane/dpdk/worker.h"

struct mac_store {
	char path[256];
	struct mac_entry *pending; // read, whose port has not been up yet
	uint32_t pending_count;
	uint64_t saved_hash; // of what the file holds
};

// Makes the directory DIR/NAME and reads its file "macs". Lines that make no sense are skipped with
// a warning; a missing file is an empty one. 0 or -errno, logged.
int mac_store_open(struct mac_store *store, const char *state_dir, const struct instance *in);

// Gives the switch the addresses of these ports.
void mac_store_restore(struct mac_store *store, struct workers *workers, struct instance *in,
		       const struct port_set *ports);

// Writes the file if the switch's addresses are others than it holds. Must run before links go
// down, since a port that loses its link loses its addresses. 0 or -errno, logged.
int mac_store_save(struct mac_store *store, struct workers *workers, struct instance *in);

void mac_store_close(struct mac_store *store);
