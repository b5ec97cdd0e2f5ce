// SPDX-License-Identifier: BSD-3-Clause
//
// Why a fabric port is not used, or carries no lossless traffic, in words: for the log, which has
// them once per change, and for weft show fabric links. The core only finds what is wrong
// (hello_peer.h); names of the peer are added by who prints.
#pragma once

#include "dataplane/core/hello_peer.h"

enum { HELLO_WORDS_BYTES = 128 };

// "" when the port carries everything.
void hello_words(const struct hello_peer *peer, char out[HELLO_WORDS_BYTES]);
