// SPDX-License-Identifier: BSD-3-Clause
//
// Memory for what is planned: it is reserved, not taken. The kernel gives what is touched, so
// nobody has to know how large a fabric is before it is read.
#pragma once

#include "routing/arena.h"

// False when memory is short; the arena may be closed all the same.
bool memory_open(struct arena *arena);

void memory_close(struct arena *arena);
