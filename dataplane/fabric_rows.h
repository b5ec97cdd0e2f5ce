// SPDX-License-Identifier: BSD-3-Clause
//
// The packed routes of a fabric manager (routing/packed.h) as rows of a configuration: groups are
// next_hop rows, edges lead to them, rules of turns are written out port by port. Pure but for the
// memory that it works in.
//
// Ports of the fabric are numbers; the caller says which port of the switch each is. What the rules
// do not allow stays denied, ports that the fabric does not know included.
#pragma once

#include <stdio.h>

#include "dataplane/core/config.h"
#include "routing/packed.h"

// How ports are numbered: port n of the fabric is port at[n] of the configuration.
struct fabric_ports {
	uint32_t count;
	uint16_t at[CONFIG_PORT_MAX];
	bool closed[CONFIG_PORT_MAX]; // port n: nothing belongs into it, so no turn leads there
};

// Replaces the edge, next_hop and turn rows of `config`, whose ports are there already. 0, or with
// a line on `errors` -EINVAL: a port that there is not; -EOVERFLOW: more edges, next hops, members
// of a group or turns than a switch has; -ENOTSUP: a pinned group. Then the rows are undefined.
int fabric_rows_write(const struct packed_table *routes, const struct fabric_ports *ports,
		      struct sw_config *config, FILE *errors);
