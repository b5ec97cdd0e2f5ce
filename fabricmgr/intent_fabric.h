// SPDX-License-Identifier: BSD-3-Clause
//
// From an intent to a fabric: its shape is generated, rows of switches, links and hosts come on
// top, names are resolved and hosts without an address get one.
#pragma once

#include "fabricmgr/core/fabric.h"
#include "fabricmgr/intent.h"

// Makes the fabric of an intent that was read from `path`, in `keep`. 0, -EINVAL after lines
// "FILE:LINE: TABLE.KNOB: what" on `errors`, or -ENOMEM after one.
int intent_fabric(const struct intent *intent, const char *path, struct arena *keep,
		  struct arena *scratch, struct fabric *fabric, FILE *errors);

// Writes faults as lines "FILE:LINE: what"; where a fault has no line of its own `line` is taken, 0
// for none.
void intent_faults(const struct fabric_faults *faults, const char *path, uint32_t line,
		   FILE *errors);
