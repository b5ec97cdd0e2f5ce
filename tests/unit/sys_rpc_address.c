// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses of RPC ends as people write them, right and wrong: what is an address is printed again,
// and what looks like a number and is none is not taken for a name, which would only fail later,
// when somebody looks it up.

#include "sys/rpc_address.h"

#include <string.h>

#include "tests/table.h"

static const struct {
	const char *what;
	const char *text;
	int kind; // of enum rpc_address_kind, -1: none
	const char *place;
	uint16_t port;
} addresses[] = {
	{ "a unix socket", "unix:/run/weft/fabricd.sock", RPC_ADDRESS_UNIX, "unix socket", 0 },
	{ "IPv4", "10.0.0.1:7400", RPC_ADDRESS_IP, "10.0.0.1:7400", 7400 },
	{ "IPv6", "[2001:db8::1]:7400", RPC_ADDRESS_IP, "[2001:db8::1]:7400", 7400 },
	{ "any port", "127.0.0.1:0", RPC_ADDRESS_IP, "127.0.0.1:0", 0 },
	{ "all addresses", "[::]:7400", RPC_ADDRESS_IP, "[::]:7400", 7400 },
	{ "a name", "manager.example:7400", RPC_ADDRESS_NAME, NULL, 7400 },
	{ "a name with a number", "rack-1:1", RPC_ADDRESS_NAME, NULL, 1 },
	{ "nothing", "", -1, NULL, 0 },
	{ "a path alone", "/run/weft/fabricd.sock", -1, NULL, 0 },
	{ "no path", "unix:", -1, NULL, 0 },
	{ "a path longer than a socket's",
	  "unix:/0123456789012345678901234567890123456789012345678901234567890123456789"
	  "0123456789012345678901234567890123456789",
	  -1, NULL, 0 },
	{ "no port", "10.0.0.1", -1, NULL, 0 },
	{ "no port of IPv6", "[2001:db8::1]", -1, NULL, 0 },
	{ "IPv6 without brackets", "2001:db8::1:7400", -1, NULL, 0 },
	{ "a name without a port", "manager.example", -1, NULL, 0 },
	{ "an empty port", "manager.example:", -1, NULL, 0 },
	{ "a port too large", "manager.example:65536", -1, NULL, 0 },
	{ "a port with more behind it", "manager.example:74x", -1, NULL, 0 },
	{ "an address with a number too large", "10.0.0.256:7400", -1, NULL, 0 },
	{ "a name with a space", "a b:7400", -1, NULL, 0 },
};

TABLE_TEST(rpc_address, parse, row, addresses)
{
	struct rpc_address address;
	char place[RPC_PLACE_BYTES];

	cr_assert_eq(rpc_address_parse(row->text, &address), row->kind >= 0, "%s", row->what);
	if (row->kind < 0)
		return;
	cr_expect_eq((int)address.kind, row->kind, "%s", row->what);
	cr_expect_eq(address.port, row->port, "%s", row->what);
	if (row->place == NULL) {
		cr_expect_eq(strncmp(row->text, address.host, strlen(address.host)), 0);
		cr_expect_eq(row->text[strlen(address.host)], ':');
		return;
	}
	rpc_address_print((const struct sockaddr *)&address.at, place);
	cr_expect_str_eq(place, row->place);
}
