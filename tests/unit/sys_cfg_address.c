// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses as values of a configuration: MAC, network, and a host's address with the length of its
// network; what is taken, what it is printed as, what is refused. Texts of IPv6 follow RFC 5952.

#include "sys/cfg_value.h"

#include <string.h>

#include "tests/table.h"

enum { MANY = 200 };

static const struct {
	const char *what;
	enum config_kind kind;
	const char *text;
	const char *printed; // NULL: refused
} address_rows[] = {
	{ "a MAC", CONFIG_MAC, "02:00:00:00:00:01", "02:00:00:00:00:01" },
	{ "a MAC in capitals", CONFIG_MAC, "0A:BC:DE:F0:12:34", "0a:bc:de:f0:12:34" },
	{ "a short MAC", CONFIG_MAC, "02:00:00:00:00", NULL },
	{ "a long MAC", CONFIG_MAC, "02:00:00:00:00:01:02", NULL },
	{ "a MAC with dashes", CONFIG_MAC, "02-00-00-00-00-01", NULL },
	{ "a MAC with letters", CONFIG_MAC, "0g:00:00:00:00:01", NULL },
	{ "no MAC", CONFIG_MAC, "", NULL },
	{ "a network", CONFIG_PREFIX, "10.1.0.0/16", "10.1.0.0/16" },
	{ "a network of one", CONFIG_PREFIX, "10.1.0.1", "10.1.0.1/32" },
	{ "all of IPv4", CONFIG_PREFIX, "0.0.0.0/0", "0.0.0.0/0" },
	{ "a network of IPv6", CONFIG_PREFIX, "fd00:0:1::/48", "fd00:0:1::/48" },
	{ "all of IPv6", CONFIG_PREFIX, "::/0", "::/0" },
	{ "a network with host bits", CONFIG_PREFIX, "10.1.0.1/16", NULL },
	{ "a network of IPv6 with host bits", CONFIG_PREFIX, "fd00::1/64", NULL },
	{ "too long a network", CONFIG_PREFIX, "10.1.0.0/33", NULL },
	{ "too long a network of IPv6", CONFIG_PREFIX, "fd00::/129", NULL },
	{ "no length behind the slash", CONFIG_PREFIX, "10.1.0.0/", NULL },
	{ "three bytes", CONFIG_PREFIX, "10.1.0/24", NULL },
	{ "text", CONFIG_PREFIX, "spine", NULL },
	{ "unset", CONFIG_PREFIX, "", "" },
	{ "an address", CONFIG_ADDRESS, "10.1.0.1", "10.1.0.1" },
	{ "an address in its network", CONFIG_ADDRESS, "10.1.0.1/16", "10.1.0.1/16" },
	{ "an address of IPv6", CONFIG_ADDRESS, "fd00:0:0::1/64", "fd00::1/64" },
	{ "an address and more", CONFIG_ADDRESS, "10.1.0.1 ", NULL },
};

TABLE_TEST(cfg, addresses, row, address_rows)
{
	const struct config_knob knob = {
		.key = "a", .def = "-", .words = "", .max = 0xffffffffffff, .kind = row->kind
	};
	uint8_t field[sizeof(struct ip_prefix)] = { 0 };
	uint8_t again[sizeof(struct ip_prefix)] = { 0 };
	char out[CFG_VALUE_TEXT_BYTES];

	if (row->printed == NULL) {
		cr_assert_eq(cfg_value_parse(&knob, row->text, field), CFG_VALUE_MALFORMED, "%s",
			     row->what);
		return;
	}
	cr_assert_eq(cfg_value_parse(&knob, row->text, field), CFG_VALUE_OK, "%s", row->what);
	cfg_value_format(&knob, field, out);
	cr_assert_str_eq(out, row->printed, "%s: %s", row->what, out);
	cr_assert_eq(cfg_value_parse(&knob, out, again), CFG_VALUE_OK);
	cr_assert_eq(memcmp(field, again, sizeof(field)), 0, "%s", row->what);
}

Test(cfg, an_address_too_long_for_any_is_refused)
{
	const struct config_knob knob = {
		.key = "a", .def = "-", .words = "", .kind = CONFIG_PREFIX
	};
	struct ip_prefix field;
	char text[MANY];

	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_assert_eq(cfg_value_parse(&knob, text, &field), CFG_VALUE_MALFORMED);
}

Test(cfg, a_prefix_that_is_not_given_is_unset)
{
	const struct config_knob knob = {
		.key = "a", .def = "-", .words = "", .kind = CONFIG_PREFIX
	};
	struct ip_prefix field;

	cfg_value_default(&knob, &field);
	cr_assert(cfg_value_unset(&knob, &field));
	cr_assert_eq(cfg_value_parse(&knob, "::/0", &field), CFG_VALUE_OK);
	cr_assert_not(cfg_value_unset(&knob, &field));
}
