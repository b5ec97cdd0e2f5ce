// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses as text: IP prefixes of either family and MAC addresses. The configuration, the control
// socket and the address file all read and write them here.
#pragma once

#include "base/ip.h"

// Reads an address with an optional "/length"; without one the length is that of a host. Bits
// behind the length are kept (ip_prefix_canonical()). False, and *out untouched, for anything else.
bool ip_prefix_parse(const char *text, struct ip_prefix *out);

// Writes an address with its length, "" for IP_NONE, as ip_prefix_parse() reads it.
enum { IP_PREFIX_TEXT_BYTES = 64 };
void ip_prefix_format(const struct ip_prefix *prefix, char out[IP_PREFIX_TEXT_BYTES]);

// Reads six pairs of hexadecimal digits with colons between them, as mac_format() writes them.
// False, and *mac untouched, for anything else.
bool mac_parse(const char *text, uint64_t *mac);
