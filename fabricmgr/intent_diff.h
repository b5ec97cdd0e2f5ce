// SPDX-License-Identifier: BSD-3-Clause
//
// What a new intent would change in a fabric, object by object and by name, whatever numbers they
// have: "+ switch leaf5", "- cable leaf1:Ethernet4 spine1:Ethernet0", "~ host host3: ...". Lines
// are in the order of the fabrics: first what goes, then what comes or is changed.
#pragma once

#include <stdio.h>

#include "fabricmgr/source.h"

// Returns the number of lines.
uint32_t intent_diff(const struct source *before, const struct source *after, FILE *out);
