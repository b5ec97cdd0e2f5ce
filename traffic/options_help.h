// SPDX-License-Identifier: BSD-3-Clause
//
// What the command line offers, in words: the help, and the names among which the one that was
// probably meant is looked for. Both come from the descriptors of the configuration, as parsing
// does.
#pragma once

#include <stdio.h>

#include "sys/nearest.h"

// Prints usage, examples and every option.
void options_help(FILE *out);

// Offers the names of all options, as knobs have them.
void options_offer(struct nearest *near);
