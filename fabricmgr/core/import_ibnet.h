// SPDX-License-Identifier: BSD-3-Clause
//
// Reads what ibnetdiscover prints (infiniband-diags): sections of switches, channel adapters and
// routers, each with its ports and who is at the other end. Port numbers stay as they are, from 1.
//
// A node description names the node. "node7 HCA-2", as Linux sets it, is the second adapter of host
// node7; adapters with other descriptions are hosts of their own. Blanks become _, and a name that
// is taken gets the GUID behind it. Routers are hosts that lead elsewhere.
//
// Every cable stands in the text twice; both ends have to agree.
#pragma once

#include "fabricmgr/core/fabric.h"

// Adds to an empty fabric, which is then to be finished. `scratch` is left as it was. 0, -EINVAL
// with faults, or -ENOMEM with one.
int import_ibnet(const char *text, size_t bytes, struct fabric *fabric, struct arena *scratch,
		 struct fabric_faults *faults);
