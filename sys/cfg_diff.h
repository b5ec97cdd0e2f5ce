// SPDX-License-Identifier: BSD-3-Clause
//
// What differs between two configurations, in words for people: a line for each knob of a row that
// changed, each row that came or went, and each row that moved in a table whose order counts.
#pragma once

#include <stdio.h>

#include "schema/config.h"

// Writes lines that lead from one configuration to the other:
//
//	switch: mac_age 300s -> 60s
//	port Ethernet0: mtu 9100 -> 1500
//	+ vlan 20: untagged = "Ethernet0"
//	- route 10.0.0.0/8
//	acl b: now behind a
//
// Rows are matched by the knobs that tell them apart, rows with one key in their order; a new row
// shows what is not its default. Where a row stands in its file does not count. Returns the number
// of lines, 0 for configurations that mean the same, or -ENOMEM.
int64_t cfg_diff(const void *from, const void *to, const struct config_table *tables,
		 uint32_t count, FILE *out);
