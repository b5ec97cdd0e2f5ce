// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses as values of a configuration: MAC, network, and a host's address with the length of its
// network; what is taken, what it is printed as, what is refused. Texts of IPv6 follow RFC 5952.

#include "sys/cfg_address.h"

#include <string.h>

#include "base/units.h"
#include "sys/cfg_value.h"
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

// --- without a knob -----------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *text;
	struct ip_prefix value; // family IP_NONE: refused
} prefix_rows[] = {
	{ "a host", "10.1.2.3", { IP_V4, 32, { 10, 1, 2, 3 } } },
	{ "host bits stay", "10.1.2.3/8", { IP_V4, 8, { 10, 1, 2, 3 } } },
	{ "no bits", "0.0.0.0/0", { IP_V4, 0, { 0 } } },
	{ "a host of IPv6", "fd00::1", { IP_V6, 128, { 0xfd, [15] = 1 } } },
	{ "host bits of IPv6", "fd00::1/64", { IP_V6, 64, { 0xfd, [15] = 1 } } },
	{ "IPv4 within IPv6",
	  "::ffff:10.0.0.1",
	  { IP_V6, 128, { [10] = 0xff, 0xff, 10, [15] = 1 } } },
	{ "the longest text",
	  "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128",
	  { IP_V6,
	    128,
	    { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } } },
	{ "nothing", "", { 0 } },
	{ "a length alone", "/8", { 0 } },
	{ "a negative length", "10.0.0.0/-1", { 0 } },
	{ "text behind the length", "10.0.0.0/8x", { 0 } },
	{ "two lengths", "10.0.0.0/8/8", { 0 } },
	{ "a length that wraps", "10.0.0.0/4294967304", { 0 } },
	{ "a length of IPv6 for IPv4", "10.0.0.0/64", { 0 } },
	{ "three bytes", "10.0.0/24", { 0 } },
	{ "a zone", "fe80::1%eth0", { 0 } },
	{ "a space in front", " 10.0.0.1", { 0 } },
};

TABLE_TEST(cfg_address, prefixes, row, prefix_rows)
{
	const struct ip_prefix untouched = { .family = IP_V4, .len = 7, .address = { 1 } };
	struct ip_prefix out = untouched;
	const bool valid = row->value.family != IP_NONE;

	cr_assert_eq(ip_prefix_parse(row->text, &out), valid, "%s", row->what);
	cr_assert_eq(memcmp(&out, valid ? &row->value : &untouched, sizeof(out)), 0, "%s",
		     row->what);
}

static const struct {
	const char *what;
	const char *text;
	const char *printed; // NULL: refused
	uint64_t value;
} mac_rows[] = {
	{ "digits", "02:13:24:35:46:57", "02:13:24:35:46:57", 0x021324354657 },
	{ "letters", "ab:cd:ef:AB:CD:EF", "ab:cd:ef:ab:cd:ef", 0xabcdefabcdef },
	{ "zeros", "00:00:00:00:00:00", "00:00:00:00:00:00", 0 },
	{ "all ones", "ff:ff:ff:ff:ff:ff", "ff:ff:ff:ff:ff:ff", 0xffffffffffff },
	{ "nothing", "", NULL, 0 },
	{ "one digit for two", "2:13:24:35:46:57:", NULL, 0 },
	{ "a sign", "+2:13:24:35:46:57", NULL, 0 },
	{ "a base", "0x:13:24:35:46:57", NULL, 0 },
	{ "colons elsewhere", "021:3:24:35:46:57", NULL, 0 },
	{ "a space behind", "02:13:24:35:46:57 ", NULL, 0 },
};

TABLE_TEST(cfg_address, macs, row, mac_rows)
{
	const uint64_t untouched = 7;
	const bool valid = row->printed != NULL;
	uint64_t out = untouched;
	char text[MAC_TEXT_BYTES];

	cr_assert_eq(mac_parse(row->text, &out), valid, "%s", row->what);
	cr_assert_eq(out, valid ? row->value : untouched, "%s", row->what);
	if (!valid)
		return;
	mac_format(out, text);
	cr_assert_str_eq(text, row->printed, "%s", row->what);
}
