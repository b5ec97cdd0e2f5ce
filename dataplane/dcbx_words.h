// SPDX-License-Identifier: BSD-3-Clause
//
// How the two ends of a link differ in what DCBX says, in words: for the log, which has them once
// per change, and for weft show dcbx. What a peer does not say cannot differ. Plain code of the
// shell, tested alone.
#pragma once

#include "link/dcbx.h"

enum { DCBX_WORDS_BYTES = 512 };

// "peer NAME enables PFC on 3, this port on 3-4".
void dcbx_words(const struct dcbx *ours, const struct dcbx *theirs, const char *name,
		enum dcbx_topic topic, char out[DCBX_WORDS_BYTES]);

// One side of a topic alone: "3-4", "3", "0:0 1:0 2:2", "0:strict 3:50%"; "-" when it is not said.
void dcbx_side(const struct dcbx *side, enum dcbx_topic topic, char out[DCBX_WORDS_BYTES]);
