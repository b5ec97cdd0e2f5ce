// SPDX-License-Identifier: BSD-3-Clause
//
// Splits at the last colon; IPv6 addresses stand in brackets, as in a URL (RFC 3986 section 3.2.2).
// Whatever is not written in numbers is refused: a name would be asked of a server first, and its
// answer could change what is loopback.

#include "dataplane/metrics_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, in_port_t *out)
{
	char *end;
	unsigned long port;

	if (text[0] < '1' || text[0] > '9')
		return false;
	port = strtoul(text, &end, 10);
	*out = htons((uint16_t)port);
	return *end == '\0' && port <= UINT16_MAX;
}

static bool parse_host(const char *host, in_port_t port, struct metrics_address *out)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->to;
	struct sockaddr_in *four = (struct sockaddr_in *)&out->to;

	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = port;
		out->len = sizeof(*four);
		out->loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
		return true;
	}
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
		return false;
	six->sin6_family = AF_INET6;
	six->sin6_port = port;
	out->len = sizeof(*six);
	out->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return true;
}

bool metrics_address_parse(const char *text, struct metrics_address *out)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	const bool bracketed = text[0] == '[';
	size_t len;
	in_port_t port;

	*out = (struct metrics_address){ 0 };
	if (colon == NULL || !parse_port(colon + 1, &port))
		return false;
	len = (size_t)(colon - text);
	if (bracketed && (len < 3 || text[len - 1] != ']'))
		return false;
	len -= bracketed ? 2 : 0;
	if (len >= sizeof(host))
		return false;
	memcpy(host, text + bracketed, len);
	host[len] = '\0';
	return bracketed == (strchr(host, ':') != NULL) && parse_host(host, port, out);
}
