// SPDX-License-Identifier: BSD-3-Clause
//
// Where one end of an RPC is: a unix socket, an IP address with a port, or a host's name with one,
// which a client resolves when it connects.
#pragma once

#include <sys/socket.h>

#include "base/types.h"

enum { RPC_HOST_BYTES = 254, RPC_PLACE_BYTES = 112 };

enum rpc_address_kind {
	RPC_ADDRESS_UNIX, // "unix:PATH"
	RPC_ADDRESS_IP,   // "10.0.0.1:7400", "[2001:db8::1]:7400"
	RPC_ADDRESS_NAME, // "manager.example:7400"
};

struct rpc_address {
	enum rpc_address_kind kind;
	struct sockaddr_storage at; // not of a name
	socklen_t length;
	char host[RPC_HOST_BYTES]; // of a name
	uint16_t port;
};

// False: it is none of these, or a path that is too long for a socket.
bool rpc_address_parse(const char *text, struct rpc_address *address);

// Of an IP address.
uint16_t rpc_address_port(const struct sockaddr_storage *at);

// "10.0.0.1:7400", which may have come as IPv4 in IPv6, or "unix socket".
void rpc_address_print(const struct sockaddr *at, char place[RPC_PLACE_BYTES]);
