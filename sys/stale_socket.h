// SPDX-License-Identifier: BSD-3-Clause
//
// A process that was killed leaves the files of its unix sockets, and their names cannot be bound
// again until they are gone.
#pragma once

// Removes the file at `path` if it is a unix socket that nobody listens on; otherwise, and when
// there is none, does nothing.
void stale_socket_remove(const char *path);
