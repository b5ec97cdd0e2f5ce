// SPDX-License-Identifier: BSD-3-Clause
//
// Which of the switches that do not call are dead. That somebody does not call says little: a
// switch forwards without a manager. Only its neighbours can tell, and a neighbour that does not
// call itself may be as well as ever. So a switch is dead when there is nothing that speaks for it:
// no neighbour that calls says that a link to it is up, and none of the others may be alive.
#pragma once

#include "routing/topo.h"

enum deaths_word { DEATHS_NOTHING, DEATHS_UP, DEATHS_DOWN };

// `there` [switch_count]: it calls. `word` [link_count], enum deaths_word: what the transmitting
// switch said of the link last. `dead` [switch_count] is that of before, and is changed: one that
// was dead stays so until something speaks for it, any other needs a word against it as well.
void deaths_find(const struct topo *topo, const uint8_t *there, const uint8_t *word, uint8_t *dead);
