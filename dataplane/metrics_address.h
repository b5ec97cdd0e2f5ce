// SPDX-License-Identifier: BSD-3-Clause
//
// The address that metrics are served at: "127.0.0.1:9478" or "[::1]:9478", in numbers, so that no
// name server decides where a switch listens.
#pragma once

#include <sys/socket.h>

#include "base/types.h"

struct metrics_address {
	struct sockaddr_storage to;
	socklen_t len;
	bool loopback; // only this machine reaches it
};

// False when the text is no such address.
bool metrics_address_parse(const char *text, struct metrics_address *out);
