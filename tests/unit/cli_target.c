// SPDX-License-Identifier: BSD-3-Clause
//
// Values in the target of a request. What may stand as it is in a query, and how the rest is
// written, is RFC 3986, sections 2.1 and 3.4.

#include "cli/target.h"

#include <stdio.h>

#include "tests/table.h"

enum { TARGET_BYTES = 32 };

static const struct row {
	const char *what;
	const char *before;
	const char *value;
	const char *target; // NULL: refused, and the target is as it was
} rows[] = {
	{ "the first value", "/v1", "Ethernet4", "/v1?port=Ethernet4" },
	{ "one more", "/v1?cut=1", "Ethernet4", "/v1?cut=1&port=Ethernet4" },
	{ "names that are common", "/v1", "fortyGigE0/0.1", "/v1?port=fortyGigE0/0.1" },
	{ "lists and addresses", "/v1", "0,3:a", "/v1?port=0,3:a" },
	{ "an alias of two words", "/v1", "gpu 1", "/v1?port=gpu%201" },
	{ "what would begin another", "/v1", "a&b=c", "/v1?port=a%26b%3Dc" },
	{ "what would be a space", "/v1", "a+b", "/v1?port=a%2Bb" },
	{ "what would end the line", "/v1", "a\r\n", "/v1?port=a%0D%0A" },
	{ "a percent sign", "/v1", "5%", "/v1?port=5%25" },
	{ "UTF-8", "/v1", "\xc3\xbc", "/v1?port=%C3%BC" },
	{ "as long as fits", "/v1", "abcdefghijklmnopqrs", "/v1?port=abcdefghijklmnopqrs" },
	{ "too long", "/v1", "abcdefghijklmnopqrstuvwxyz", NULL },
	{ "too long when encoded", "/v1", "        ", NULL },
	{ "no room for its name", "/v1?0123456789abcdefghijklmn", "a", NULL },
	{ "nothing", "/v1", "", NULL },
};

TABLE_TEST(target, add, row, rows)
{
	char target[TARGET_BYTES];

	snprintf(target, sizeof(target), "%s", row->before);
	cr_expect_eq(target_add(target, sizeof(target), "port", row->value), row->target != NULL,
		     "%s", row->what);
	cr_expect_str_eq(target, row->target != NULL ? row->target : row->before, "%s", row->what);
}
