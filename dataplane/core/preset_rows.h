// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a preset: adding them, and seeing what rows of the file have taken already. Private to
// preset*.c. Adders return 0, or -EINVAL with the fault filled when a table is full; a row of the
// same name is left as it is.
#pragma once

#include "dataplane/core/preset.h"

struct preset;

struct preset_expansion {
	const struct preset *preset;
	const struct preset_port *ports;
	struct sw_config *out;
	struct profile_fault *fault;
};

// -EINVAL: the preset finds no place in a table of `max` rows.
int preset_fail_full(struct preset_expansion *x, const char *table, uint32_t max);

// Appends to a name; cuts it at its length.
void preset_append(char out[CONFIG_NAME_BYTES], const char *text);

// "pg_lossless_368K"
void preset_name_by_bytes(char out[CONFIG_NAME_BYTES], const char *begin, uint64_t bytes);

int preset_add_pool(struct preset_expansion *x, const char *name, enum config_pool_type type,
		    uint64_t size, bool is_static);

const struct buffer_profile_config *preset_find_profile(const struct sw_config *c,
							const char *name);

// `row` has everything but its line and pool.
int preset_add_profile(struct preset_expansion *x, const struct buffer_profile_config *row,
		       const char *pool);
int preset_add_scheduler(struct preset_expansion *x, const char *name, uint8_t weight);

// Bindings of one port; nothing for an empty mask.
int preset_bind_pgs(struct preset_expansion *x, const struct port_config *port, uint8_t pgs,
		    const char *profile);
int preset_bind_queues(struct preset_expansion *x, const struct port_config *port, uint8_t queues,
		       const char *profile);
int preset_serve_queues(struct preset_expansion *x, const struct port_config *port, uint8_t queues,
			const char *scheduler, const char *wred);

// Groups of a port that rows of the file bind, and which of them to a profile with headroom.
uint8_t preset_own_pgs(const struct sw_config *c, const struct port_config *port,
		       uint8_t *lossless);
uint8_t preset_own_buffer_queues(const struct sw_config *c, const struct port_config *port);

// Queues that rows of the file give a scheduler, and a wred_profile.
uint8_t preset_own_queues(const struct sw_config *c, const struct port_config *port,
			  uint8_t *marked);
bool preset_has_watchdog(const struct sw_config *c, const struct port_config *port);
