// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses that metrics are served at: in numbers, with a port, IPv6 in brackets (RFC 3986).
// Loopback is 127/8 (RFC 1122 section 3.2.1.3) and ::1 (RFC 4291 section 2.5.3), and no other
// spelling of them: a mapped address is one of another family.

#include "dataplane/metrics_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/table.h"

static const struct {
	const char *text;
	bool valid;
	bool loopback;
	uint16_t port;
	const char *host;
} rows[] = {
	{ "127.0.0.1:9478", true, true, 9478, "127.0.0.1" },
	{ "127.255.0.9:1", true, true, 1, "127.255.0.9" }, // RFC 1122: all of 127/8
	{ "0.0.0.0:9478", true, false, 9478, "0.0.0.0" },
	{ "10.0.0.1:65535", true, false, 65535, "10.0.0.1" },
	{ "[::1]:9478", true, true, 9478, "::1" },
	{ "[::]:9478", true, false, 9478, "::" },
	{ "[fd00::1]:9478", true, false, 9478, "fd00::1" },
	{ "[::ffff:127.0.0.1]:9478", true, false, 9478, "::ffff:127.0.0.1" },
	{ "127.0.0.1", false, false, 0, "" },
	{ "127.0.0.1:", false, false, 0, "" },
	{ "127.0.0.1:0", false, false, 0, "" },
	{ "127.0.0.1:65536", false, false, 0, "" },
	{ "127.0.0.1:99999999999999999999", false, false, 0, "" },
	{ "127.0.0.1:80x", false, false, 0, "" },
	{ "127.0.0.1: 80", false, false, 0, "" },
	{ ":9478", false, false, 0, "" },
	{ "9478", false, false, 0, "" },
	{ "localhost:9478", false, false, 0, "" },
	{ "::1:9478", false, false, 0, "" },
	{ "[::1:9478", false, false, 0, "" },
	{ "[]:9478", false, false, 0, "" },
	{ "[127.0.0.1]:9478", false, false, 0, "" },
	{ "[::1]9478", false, false, 0, "" },
	{ "", false, false, 0, "" },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1", false, false, 0, "" },
};

TABLE_TEST(metrics, addresses, row, rows)
{
	struct metrics_address got;
	char host[INET6_ADDRSTRLEN];
	const struct sockaddr_in *four = (const struct sockaddr_in *)&got.to;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&got.to;

	cr_assert_eq(metrics_address_parse(row->text, &got), row->valid, "%s", row->text);
	if (!row->valid)
		return;
	cr_assert_eq(got.loopback, row->loopback, "%s", row->text);
	if (got.to.ss_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
	cr_assert_str_eq(host, row->host);
	cr_assert_eq(ntohs(got.to.ss_family == AF_INET ? four->sin_port : six->sin6_port),
		     row->port);
}
