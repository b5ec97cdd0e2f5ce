// SPDX-License-Identifier: BSD-3-Clause
//
// The unix socket that a program is asked and told things through: a file that its group may write
// to. A file that a killed process left is taken over, that of a living one is not.
#pragma once

#include <sys/un.h>

// That of the fabric manager. Switches have NAME.sock, whatever they are called: neither is taken
// for the other.
#define CONTROL_SOCKET_FABRIC "fabric.socket"

// A bound and listening socket at run_dir/name, both of which are made; its address is in
// `address`, for the caller to unlink. Or -errno, and address->sun_path is empty.
int control_socket_listen(const char *run_dir, const char *name, struct sockaddr_un *address);
