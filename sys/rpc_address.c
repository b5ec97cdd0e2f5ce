// SPDX-License-Identifier: BSD-3-Clause
//
// What stands before the last colon is a number of one family or the other, or a name. Nothing is
// resolved here: that can take seconds, and a control loop must not wait for it.
//
// IPv6 is in brackets, as in a URI (RFC 3986 section 3.2.2).

#include "sys/rpc_address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static bool parse_unix(const char *path, struct rpc_address *address)
{
	struct sockaddr_un *at = (struct sockaddr_un *)&address->at;
	const int length = snprintf(at->sun_path, sizeof(at->sun_path), "%s", path);

	address->kind = RPC_ADDRESS_UNIX;
	address->length = sizeof(*at);
	at->sun_family = AF_UNIX;
	return length > 0 && (size_t)length < sizeof(at->sun_path);
}

// The port behind `colon`.
static bool parse_port(const char *colon, uint16_t *port)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)colon[1]))
		return false;
	value = strtoul(colon + 1, &end, 10);
	*port = (uint16_t)value;
	return *end == '\0' && value <= UINT16_MAX;
}

static bool parse_ip4(struct rpc_address *address)
{
	struct sockaddr_in *at = (struct sockaddr_in *)&address->at;

	address->length = sizeof(*at);
	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(address->port) };
	return inet_pton(AF_INET, address->host, &at->sin_addr) == 1;
}

// "[2001:db8::1]" is in `host`.
static bool parse_ip6(struct rpc_address *address)
{
	struct sockaddr_in6 *at = (struct sockaddr_in6 *)&address->at;
	const size_t bytes = strlen(address->host);

	if (bytes < 2 || address->host[0] != '[' || address->host[bytes - 1] != ']')
		return false;
	address->host[bytes - 1] = '\0';
	address->length = sizeof(*at);
	*at = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(address->port) };
	return inet_pton(AF_INET6, address->host + 1, &at->sin6_addr) == 1;
}

// What is made of numbers alone is an address that is wrong, and no name.
static bool is_name(const char *text)
{
	bool letter = false;

	for (; *text != '\0'; text++) {
		const unsigned char c = (unsigned char)*text;

		if (!isalnum(c) && c != '-' && c != '.' && c != '_')
			return false;
		letter = letter || isalpha(c);
	}
	return letter;
}

bool rpc_address_parse(const char *text, struct rpc_address *address)
{
	const char *prefix = "unix:";
	const char *colon = strrchr(text, ':');
	const size_t bytes = colon != NULL ? (size_t)(colon - text) : 0;

	*address = (struct rpc_address){ 0 };
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		return parse_unix(text + strlen(prefix), address);
	if (colon == NULL || bytes == 0 || bytes >= sizeof(address->host) ||
	    !parse_port(colon, &address->port))
		return false;
	memcpy(address->host, text, bytes);
	address->kind = is_name(address->host) ? RPC_ADDRESS_NAME : RPC_ADDRESS_IP;
	return address->kind == RPC_ADDRESS_NAME || parse_ip4(address) || parse_ip6(address);
}

uint16_t rpc_address_port(const struct sockaddr_storage *at)
{
	return ntohs(at->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)at)->sin6_port :
						 ((const struct sockaddr_in *)at)->sin_port);
}

void rpc_address_print(const struct sockaddr *at, char place[RPC_PLACE_BYTES])
{
	const struct sockaddr_in *ip4 = (const struct sockaddr_in *)at;
	const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)at;
	char text[INET6_ADDRSTRLEN] = "";

	if (at->sa_family == AF_INET) {
		inet_ntop(AF_INET, &ip4->sin_addr, text, sizeof(text));
		snprintf(place, RPC_PLACE_BYTES, "%s:%u", text, ntohs(ip4->sin_port));
	} else if (at->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ip6->sin6_addr)) {
		inet_ntop(AF_INET, &ip6->sin6_addr.s6_addr[12], text, sizeof(text));
		snprintf(place, RPC_PLACE_BYTES, "%s:%u", text, ntohs(ip6->sin6_port));
	} else if (at->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &ip6->sin6_addr, text, sizeof(text));
		snprintf(place, RPC_PLACE_BYTES, "[%s]:%u", text, ntohs(ip6->sin6_port));
	} else {
		snprintf(place, RPC_PLACE_BYTES, "unix socket");
	}
}
