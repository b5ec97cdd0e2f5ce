// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses between text and value. IP addresses are read as inet_pton() reads them: no short forms
// of IPv4, no zones of IPv6.

#include "sys/cfg_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

bool ip_prefix_parse(const char *text, struct ip_prefix *out)
{
	const size_t address_len = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];
	struct ip_prefix prefix = { .family = strchr(text, ':') ? IP_V6 : IP_V4 };
	uint64_t len = ip_family_bits(prefix.family);

	if (address_len >= sizeof(address))
		return false;
	memcpy(address, text, address_len);
	address[address_len] = '\0';
	if (inet_pton(prefix.family == IP_V6 ? AF_INET6 : AF_INET, address, prefix.address) != 1)
		return false;
	if (text[address_len] == '/' &&
	    !unit_parse(UNIT_COUNT, text + address_len + 1, strlen(text + address_len + 1), &len))
		return false;
	if (len > ip_family_bits(prefix.family))
		return false;
	prefix.len = (uint8_t)len;
	*out = prefix;
	return true;
}

void ip_prefix_format(const struct ip_prefix *prefix, char out[IP_PREFIX_TEXT_BYTES])
{
	char address[INET6_ADDRSTRLEN] = "";

	out[0] = '\0';
	if (prefix->family == IP_NONE)
		return;
	inet_ntop(prefix->family == IP_V6 ? AF_INET6 : AF_INET, prefix->address, address,
		  sizeof(address));
	snprintf(out, IP_PREFIX_TEXT_BYTES, "%s/%u", address, prefix->len);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool mac_parse(const char *text, uint64_t *mac)
{
	uint64_t value = 0;

	if (strlen(text) != MAC_TEXT_BYTES - 1)
		return false;
	for (uint32_t i = 0; i < MAC_TEXT_BYTES - 1; i++) {
		const int digit = hex_digit(text[i]);

		if (i % 3 == 2 ? text[i] != ':' : digit < 0)
			return false;
		if (digit >= 0)
			value = value << 4 | (uint64_t)digit;
	}
	*mac = value;
	return true;
}
