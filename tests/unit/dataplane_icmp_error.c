// SPDX-License-Identifier: BSD-3-Clause
//
// ICMP errors as bytes, and about what there are none. Wanted headers are written out from the
// layouts of RFC 792, 1191, 4443 and 8200; checksums are verified by sums over all that they cover,
// so their places in the wanted text are zero.

#include "dataplane/icmp_error.h"

#include <string.h>

#include "tests/frame_text.h"
#include "tests/host/frame.h"
#include "tests/table.h"

enum { L3_AT = 14, MTU = 1400, FRAME_BYTES = 9000 };

#define OWN_MAC 0x02aa00000001u
#define ETH(type) "02aa00000001 020000000002 " type " "
#define OUT(type) "020000000002 02aa00000001 " type " "
// From 10.1.0.2 to 10.2.0.2; protocol, and what is behind the header.
#define V4_OF(head, bytes, fragment, proto, from, to)                                              \
	ETH("0800") head " 03 " bytes " 0001 " fragment " 01 " proto " 0000 " from " " to " "
#define V4(bytes, fragment, proto) V4_OF("45", bytes, fragment, proto, "0a010002", "0a020002")
#define NET1 "fd000001 00000000 00000000 0000000"
#define NET2 "fd000002 00000000 00000000 0000000"
#define V6_OF(bytes, next, from, to) ETH("86dd") "60300000 " bytes " " next " 01 " from " " to " "
#define V6(bytes, next) V6_OF(bytes, next, NET1 "2", NET2 "2")
#define UDP_HEAD "c000 12b7 0008 0000 "
#define DF "4000"
#define ECHO "08 00 f7fe 0000 0001 "
#define ECHO6 "80 00 0000 0000 0001 "

static const uint8_t gateway4[4] = { 10, 1, 0, 1 };
static const uint8_t gateway6[16] = { 0xfd, 0, 0, 1, [15] = 1 };

static bool is_ipv6(const uint8_t *frame)
{
	return load_be16(frame + 12) == 0x86dd;
}

static bool make(const uint8_t *frame, uint32_t len, enum icmp_cause cause, struct icmp_error *out)
{
	const bool ipv6 = is_ipv6(frame);
	const struct icmp_subject subject = { frame, len, L3_AT, ipv6, cause, MTU };

	return icmp_error_make(&subject, OWN_MAC, ipv6 ? gateway6 : gateway4, out);
}

// All ones over everything that each checksum covers.
static void check_sums(const char *what, const struct icmp_error *e, const uint8_t *quote)
{
	const uint8_t *ip = e->head + L3_AT;
	const bool ipv6 = is_ipv6(e->head);
	const uint32_t at = ipv6 ? 40 : 20;
	const uint32_t bytes = 8 + e->quote_bytes;
	uint32_t sum = ipv6 ? frame_sum(ip + 8, 32, bytes + 58) : 0;

	if (!ipv6)
		cr_assert_eq(frame_sum(ip, 20, 0), 0xffff, "%s", what);
	sum = frame_sum(ip + at, 8, sum);
	cr_assert_eq(frame_sum(quote, e->quote_bytes, sum), 0xffff, "%s", what);
	cr_assert_eq(load_be16(ip + (ipv6 ? 4 : 2)), ipv6 ? bytes : 20 + bytes, "%s", what);
}

static const struct {
	const char *what;
	enum icmp_cause cause;
	const char *frame;
	const char *want; // head, checksums zero
} rows[] = {
	{ "time exceeded", ICMP_NO_HOPS, V4("001c", "0000", "11") UDP_HEAD,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 0b 00 0000 00000000" },
	{ "network unreachable", ICMP_NO_ROUTE, V4("001c", "0000", "11") UDP_HEAD,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 03 00 0000 00000000" },
	{ "host unreachable", ICMP_NO_NEIGHBOR, V4("001c", "0000", "11") UDP_HEAD,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 03 01 0000 00000000" },
	{ "fragmentation needed", ICMP_TOO_BIG, V4("001c", DF, "11") UDP_HEAD,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 03 04 0000 0000 0578" },
	{ "about an echo", ICMP_NO_HOPS, V4("001c", "0000", "01") ECHO,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 0b 00 0000 00000000" },
	{ "about a first fragment", ICMP_NO_HOPS, V4("001c", "2000", "11") UDP_HEAD,
	  OUT("0800") "45 c0 0038 0000 4000 40 01 0000 0a010001 0a010002 0b 00 0000 00000000" },
	{ "an odd byte, padding left out", ICMP_NO_HOPS,
	  V4("001d", "0000", "11") "c000 12b7 0009 0000 61 000000000000",
	  OUT("0800") "45 c0 0039 0000 4000 40 01 0000 0a010001 0a010002 0b 00 0000 00000000" },
	{ "hop limit exceeded", ICMP_NO_HOPS, V6("0008", "11") UDP_HEAD,
	  OUT("86dd") "6c000000 0038 3a 40 " NET1 "1 " NET1 "2 03 00 0000 00000000" },
	{ "no route", ICMP_NO_ROUTE, V6("0008", "11") UDP_HEAD,
	  OUT("86dd") "6c000000 0038 3a 40 " NET1 "1 " NET1 "2 01 00 0000 00000000" },
	{ "address unreachable", ICMP_NO_NEIGHBOR, V6("0008", "11") UDP_HEAD,
	  OUT("86dd") "6c000000 0038 3a 40 " NET1 "1 " NET1 "2 01 03 0000 00000000" },
	{ "packet too big", ICMP_TOO_BIG, V6("0008", "11") UDP_HEAD,
	  OUT("86dd") "6c000000 0038 3a 40 " NET1 "1 " NET1 "2 02 00 0000 00000578" },
	{ "about an IPv6 echo behind an extension", ICMP_NO_HOPS,
	  V6("0010", "00") "3a00 010400000000 " ECHO6,
	  OUT("86dd") "6c000000 0040 3a 40 " NET1 "1 " NET1 "2 03 00 0000 00000000" },
	{ "about a first IPv6 fragment", ICMP_NO_HOPS,
	  V6("0010", "2c") "1100 0001 00000001 " UDP_HEAD,
	  OUT("86dd") "6c000000 0040 3a 40 " NET1 "1 " NET1 "2 03 00 0000 00000000" },
};

TABLE_TEST(icmp_error, makes, row, rows)
{
	uint8_t frame[FRAME_TEXT_MAX] = { 0 };
	uint8_t want[FRAME_TEXT_MAX] = { 0 };
	const uint32_t len = frame_decode(row->frame, frame);
	const uint32_t want_len = frame_decode(row->want, want);
	struct icmp_error e;

	cr_assert(make(frame, len, row->cause, &e), "%s", row->what);
	check_sums(row->what, &e, frame + L3_AT);
	cr_assert_eq(e.head_bytes, want_len, "%s", row->what);
	store_be16(e.head + e.head_bytes - 6, 0); // checksums
	if (!is_ipv6(frame))
		store_be16(e.head + L3_AT + 10, 0);
	for (uint32_t i = 0; i < want_len; i++)
		cr_assert_eq(e.head[i], want[i], "%s: byte %u is %02x", row->what, i, e.head[i]);
}

static const struct {
	const char *what;
	enum icmp_cause cause;
	const char *frame;
} silent_rows[] = {
	{ "may be fragmented", ICMP_TOO_BIG, V4("001c", "0000", "11") UDP_HEAD },
	{ "unreachable", ICMP_NO_HOPS, V4("001c", "0000", "01") "03 00 0000 00000000" },
	{ "time exceeded", ICMP_NO_HOPS, V4("001c", "0000", "01") "0b 00 0000 00000000" },
	{ "redirect", ICMP_NO_HOPS, V4("001c", "0000", "01") "05 00 0000 00000000" },
	{ "an unknown type", ICMP_NO_HOPS, V4("001c", "0000", "01") "2a 00 0000 00000000" },
	{ "ICMP without a type", ICMP_NO_HOPS, V4("0014", "0000", "01") },
	{ "not the first fragment", ICMP_NO_HOPS, V4("001c", "0001", "11") UDP_HEAD },
	{ "the last fragment", ICMP_NO_HOPS, V4("001c", "0040", "11") UDP_HEAD },
	{ "from nobody", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "00000000", "0a020002") UDP_HEAD },
	{ "from this host", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "7f000001", "0a020002") UDP_HEAD },
	{ "from a group", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "e0000001", "0a020002") UDP_HEAD },
	{ "from all", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "ffffffff", "0a020002") UDP_HEAD },
	{ "to a group", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "0a010002", "e0000001") UDP_HEAD },
	{ "to all", ICMP_NO_HOPS,
	  V4_OF("45", "001c", "0000", "11", "0a010002", "ffffffff") UDP_HEAD },
	{ "to a group of stations", ICMP_NO_HOPS,
	  "01005e000001 020000000002 0800 45 03 001c 0001 0000 01 11 0000 0a010002 "
	  "0a020002 " UDP_HEAD },
	{ "a header that is too short", ICMP_NO_HOPS,
	  V4_OF("44", "001c", "0000", "11", "0a010002", "0a020002") UDP_HEAD },
	{ "a header that is cut", ICMP_NO_HOPS,
	  V4_OF("4f", "003c", "0000", "11", "0a010002", "0a020002") },
	{ "a length that is too short", ICMP_NO_HOPS, V4("0013", "0000", "11") UDP_HEAD },
	{ "IPv6 unreachable", ICMP_NO_HOPS, V6("0008", "3a") "01 00 0000 00000000" },
	{ "IPv6 too big", ICMP_TOO_BIG, V6("0008", "3a") "02 00 0000 00000000" },
	{ "IPv6 redirect", ICMP_NO_HOPS, V6("0008", "3a") "89 00 0000 00000000" },
	{ "an error behind an extension", ICMP_NO_HOPS,
	  V6("0010", "3c") "3a00 010400000000 03 00 0000 00000000" },
	{ "ICMPv6 without a type", ICMP_NO_HOPS, V6("0000", "3a") },
	{ "not the first IPv6 fragment", ICMP_NO_HOPS,
	  V6("0010", "2c") "1100 0008 00000001 " UDP_HEAD },
	{ "IPv6 from nobody", ICMP_NO_HOPS,
	  V6_OF("0008", "11", "00000000 00000000 00000000 00000000", NET2 "2") UDP_HEAD },
	{ "IPv6 from this host", ICMP_NO_HOPS,
	  V6_OF("0008", "11", "00000000 00000000 00000000 00000001", NET2 "2") UDP_HEAD },
	{ "IPv6 from a group", ICMP_NO_HOPS,
	  V6_OF("0008", "11", "ff020000 00000000 00000000 00000001", NET2 "2") UDP_HEAD },
	{ "IPv6 to a group", ICMP_TOO_BIG,
	  V6_OF("0008", "11", NET1 "2", "ff0e0000 00000000 00000000 00000001") UDP_HEAD },
	{ "an IPv6 header that is cut", ICMP_NO_HOPS, ETH("86dd") "60300000 0008 11 01 " NET1 "2" },
};

TABLE_TEST(icmp_error, is_silent, row, silent_rows)
{
	uint8_t frame[FRAME_TEXT_MAX] = { 0 };
	const uint32_t len = frame_decode(row->frame, frame);
	struct icmp_error e;

	cr_assert_not(make(frame, len, row->cause, &e), "%s", row->what);
}

// RFC 1812 4.3.2.3: 576 bytes in all. RFC 4443 2.4 c: 1280.
static const struct {
	const char *what;
	const char *head;
	uint16_t bytes; // of the packet
	uint32_t have;  // of them, readable
	uint32_t want;  // quoted
} quote_rows[] = {
	{ "the longest IPv4 quote", V4("0000", DF, "11") UDP_HEAD, 548, 548, 548 },
	{ "one byte less", V4("0000", DF, "11") UDP_HEAD, 547, 547, 547 },
	{ "a jumbo frame", V4("0000", DF, "11") UDP_HEAD, 8000, 8000, 548 },
	{ "of which only the head is there", V4("0000", DF, "11") UDP_HEAD, 8000, 300, 300 },
	{ "the longest IPv6 quote", V6("0000", "11") UDP_HEAD, 1232, 1232, 1232 },
	{ "an IPv6 jumbo frame", V6("0000", "11") UDP_HEAD, 8000, 8000, 1232 },
	{ "of which only an odd head is there", V6("0000", "11") UDP_HEAD, 8000, 301, 301 },
};

TABLE_TEST(icmp_error, quotes, row, quote_rows)
{
	static uint8_t frame[FRAME_BYTES];
	struct icmp_error e;
	uint8_t *ip = frame + L3_AT;

	frame_decode(row->head, frame);
	for (uint32_t i = 48; i < row->bytes; i++)
		ip[i] = (uint8_t)(i * 7);
	if (is_ipv6(frame))
		store_be16(ip + 4, (uint16_t)(row->bytes - 40));
	else
		store_be16(ip + 2, row->bytes);
	cr_assert(make(frame, L3_AT + row->have, ICMP_TOO_BIG, &e), "%s", row->what);
	cr_assert_eq(e.quote_bytes, row->want, "%s: %u", row->what, e.quote_bytes);
	check_sums(row->what, &e, ip);
}

// Nothing behind the readable bytes is read, whatever the packet says.
SEED_TEST(icmp_error, random_bytes, rng, 200)
{
	const uint32_t len = L3_AT + rng_below(rng, 80);
	uint8_t *frame = malloc(len);
	struct icmp_error e;

	cr_assert_not_null(frame);
	for (uint32_t i = 0; i < len; i++)
		frame[i] = (uint8_t)rng_next32(rng);
	frame[0] = frame[6] = 2;
	store_be16(frame + 12, rng_below(rng, 2) ? 0x86dd : 0x0800);
	if (len > L3_AT)
		frame[L3_AT] = is_ipv6(frame) ? 0x60 : 0x45;
	if (make(frame, len, (enum icmp_cause)rng_below(rng, 4), &e)) {
		cr_assert_leq(e.quote_bytes, len - L3_AT);
		check_sums("random", &e, frame + L3_AT);
	}
	free(frame);
}
