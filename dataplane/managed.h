// SPDX-License-Identifier: BSD-3-Clause
//
// A switch whose file names a fabric manager: what it starts with, what may be changed on it by
// whom, and how tables of the fabric become its configuration. The talking is fabric_agent.h's.
//
// Invariant: the configuration of a managed switch that has tables is what merging them with itself
// gives (dataplane/fabric_merge.h); so its own knobs are in there, and no other copy is kept.
// Control thread only.
#pragma once

#include <event2/event.h>
#include <jansson.h>

#include "dataplane/config_change.h"
#include "dataplane/fabric_tables.h"

struct managed;

static inline bool managed_is(const struct sw_config *config)
{
	return config->sw.manager[0] != '\0';
}

// Puts what a managed switch had of its fabric on top of what it was loaded with, as far as that
// can be used; what is used and why is logged.
void managed_start(struct instance *in, const char *state_dir);

// What managed_start() has kept for the instance. Once the switch has stopped.
void managed_unload(struct instance *in);

// Turns the file of a switch into what it means here and now, in place: as it is for a switch
// without a manager. 0, or -errno with lines on `errors`.
int managed_merge(const struct instance *in, struct sw_config *config, FILE *errors);

// Whether a wanted configuration changes the switch's own knobs alone. 0, or -EINVAL with a line on
// `errors` for each knob that is the fabric's; -ENOMEM.
int managed_judge(const struct instance *in, const struct sw_config *wanted, FILE *errors);

// Begins to talk to the manager, as soon as its address and certificates are usable; in->managed
// stays NULL for a switch without one. `state_dir` outlives it. 0, or -ENOMEM.
int managed_open(struct event_base *base, struct config_changer *changer, const char *state_dir);

// Reads the certificates anew and begins again. Accepts NULL.
void managed_redial(struct managed *managed);

// Accepts NULL.
void managed_close(struct managed *managed);

// Ports may have changed. Accepts NULL.
void managed_look(struct managed *managed);

// What is to be told about it; NULL: there is no manager.
json_t *managed_json(const struct managed *managed);
