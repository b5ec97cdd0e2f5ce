// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration of a managed switch: what it is made of says its file, all else the fabric
// manager, in a text and in packed routes (schema/local_knobs.def says which knobs are whose).
//
// A pure function of both, so whoever wants to change a switch merges anew and sees by what comes
// out whether the wish was about what is the file's.
#pragma once

#include <stdio.h>

#include "dataplane/core/config.h"
#include "routing/packed.h"

// What the fabric decides about one switch. Ports of `config` are those of the fabric, in the order
// of its numbers.
struct fabric_side {
	const struct sw_config *config;
	const struct packed_table *routes;
};

// Makes `out`, which is neither of them, of a switch's own side and that of the fabric. Ports keep
// their places; one that the fabric does not know stays as it is, and no turn leads there. 0, or
// with lines on `errors` -EINVAL (it is the side of another switch, or names a port that there is
// not) or what fabric_rows_write() says; -ENOMEM.
int fabric_merge(const struct sw_config *own, const struct fabric_side *fabric,
		 struct sw_config *out, FILE *errors);

// What a managed switch is before it has met its fabric: it forwards nothing, and has the buffers
// of a lossless fabric unless its file has others, so that their memory is there later.
void fabric_merge_none(struct sw_config *config);
