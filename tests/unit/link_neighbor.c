// SPDX-License-Identifier: BSD-3-Clause
//
// ARP and neighbour discovery as bytes. Wanted frames are written out from the field layouts of RFC
// 826, 5227, 4861 and 2464; the checksum is verified over the pseudo-header of RFC 8200 8.1 by a
// sum of its own, so its place in the wanted text is zero.

#include "link/neighbor.h"

#include <string.h>

#include "tests/frame_text.h"
#include "tests/host/frame.h"
#include "tests/table.h"

enum {
	L3_AT = 14,
	CHECKSUM_AT = L3_AT + 40 + 2,
};

#define OWN 0x02aa00000001u
#define HOST 0x020000000002u

#define PAD "000000000000000000000000000000000000"
#define PREFIX "fd000001000000000000000000000"

static struct ip_prefix v4(uint32_t address)
{
	struct ip_prefix out = { .family = IP_V4, .len = 32 };

	store_be32(out.address, address);
	return out;
}

// fd00:1::TAIL
static struct ip_prefix v6(uint32_t tail)
{
	struct ip_prefix out = { .family = IP_V6, .len = 128, .address = { 0xfd, 0, 0, 1 } };

	store_be32(out.address + 12, tail);
	return out;
}

static struct ip_prefix address(uint8_t family, uint32_t tail)
{
	if (family == IP_NONE || tail == 0)
		return (struct ip_prefix){ 0 };
	return family == IP_V6 ? v6(tail) : v4(tail);
}

// Of pseudo-header and message; all ones when the checksum is right.
static uint16_t icmpv6_sum(const uint8_t *ip)
{
	const uint32_t bytes = load_be16(ip + 4);

	return frame_sum(ip + 8, 32 + bytes, bytes + ip[6]);
}

static void set_checksum(uint8_t *frame)
{
	store_be16(frame + CHECKSUM_AT, 0);
	store_be16(frame + CHECKSUM_AT, (uint16_t)~icmpv6_sum(frame + L3_AT));
}

static void check_frame(const char *what, const uint8_t *have, uint32_t have_len, const char *text)
{
	uint8_t want[FRAME_TEXT_MAX];
	uint8_t copy[NEIGHBOR_FRAME_MAX];
	const uint32_t len = frame_decode(text, want);

	cr_assert_eq(have_len, len, "%s: %u bytes", what, have_len);
	cr_assert_leq(len, sizeof(copy));
	memcpy(copy, have, len);
	if (load_be16(copy + 12) == 0x86dd) {
		cr_assert_eq(icmpv6_sum(copy + L3_AT), 0xffff, "%s", what);
		store_be16(copy + CHECKSUM_AT, 0);
	}
	for (uint32_t i = 0; i < len; i++)
		cr_assert_eq(copy[i], want[i], "%s: byte %u is %02x", what, i, copy[i]);
}

static const struct {
	const char *what;
	uint8_t family;
	uint32_t sender; // 0: a probe
	uint32_t target;
	uint64_t to; // 0: all
	const char *want;
} question_rows[] = {
	{ "an ARP request", IP_V4, 0x0a010001, 0x0a010002, 0,
	  "ffffffffffff 02aa00000001 0806 0001 0800 06 04 0001 02aa00000001 0a010001 "
	  "000000000000 0a010002 " PAD },
	{ "an ARP probe has no sender", IP_V4, 0, 0x0a010002, 0,
	  "ffffffffffff 02aa00000001 0806 0001 0800 06 04 0001 02aa00000001 00000000 "
	  "000000000000 0a010002 " PAD },
	{ "a solicitation says its link-layer address", IP_V6, 1, 0x0012abcd, 0,
	  "3333ff12abcd 02aa00000001 86dd 60000000 0020 3a ff " PREFIX "001 "
	  "ff02000000000000000000 01ff12abcd 87 00 0000 00000000 fd000001000000000000000 00012abcd "
	  "0101 02aa00000001" },
	{ "one from the unspecified address does not", IP_V6, 0, 2, 0,
	  "3333ff000002 02aa00000001 86dd 60000000 0018 3a ff 00000000000000000000000000000000 "
	  "ff02000000000000000000 01ff000002 87 00 0000 00000000 " PREFIX "002" },
	{ "a unicast ARP request", IP_V4, 0x0a010001, 0x0a010002, HOST,
	  "020000000002 02aa00000001 0806 0001 0800 06 04 0001 02aa00000001 0a010001 "
	  "000000000000 0a010002 " PAD },
	{ "a unicast solicitation goes to the address itself", IP_V6, 1, 2, HOST,
	  "020000000002 02aa00000001 86dd 60000000 0020 3a ff " PREFIX "001 " PREFIX "002 "
	  "87 00 0000 00000000 " PREFIX "002 0101 02aa00000001" },
	{ "from the unspecified address even then to all: RFC 4861 7.1.1", IP_V6, 0, 2, HOST,
	  "3333ff000002 02aa00000001 86dd 60000000 0018 3a ff 00000000000000000000000000000000 "
	  "ff02000000000000000000 01ff000002 87 00 0000 00000000 " PREFIX "002" },
};

TABLE_TEST(neighbor, asks, row, question_rows)
{
	const struct ip_prefix sender = address(row->family, row->sender);
	const struct ip_prefix target = address(row->family, row->target);
	uint8_t frame[NEIGHBOR_FRAME_MAX];
	const uint32_t len = neighbor_ask(OWN, row->sender == 0 ? NULL : &sender, &target, row->to,
					  frame);

	check_frame(row->what, frame, len, row->want);
}

static const struct {
	const char *what;
	uint8_t family;
	uint32_t asker; // 0: a probe
	uint32_t target;
	bool router;
	const char *want;
} answer_rows[] = {
	{ "an ARP reply goes to who asked", IP_V4, 0x0a010002, 0x0a010001, true,
	  "020000000002 02aa00000001 0806 0001 0800 06 04 0002 02aa00000001 0a010001 "
	  "020000000002 0a010002 " PAD },
	{ "also after a probe, which has no address", IP_V4, 0, 0x0a010001, true,
	  "020000000002 02aa00000001 0806 0001 0800 06 04 0002 02aa00000001 0a010001 "
	  "020000000002 00000000 " PAD },
	{ "an advertisement of a router: R, S, O", IP_V6, 2, 1, true,
	  "020000000002 02aa00000001 86dd 60000000 0020 3a ff " PREFIX "001 " PREFIX "002 "
	  "88 00 0000 e0000000 " PREFIX "001 0201 02aa00000001" },
	{ "of a host: S, O", IP_V6, 2, 3, false,
	  "020000000002 02aa00000001 86dd 60000000 0020 3a ff " PREFIX "003 " PREFIX "002 "
	  "88 00 0000 60000000 " PREFIX "003 0201 02aa00000001" },
	{ "after a probe to all nodes, unsolicited", IP_V6, 0, 1, true,
	  "333300000001 02aa00000001 86dd 60000000 0020 3a ff " PREFIX "001 "
	  "ff020000000000000000000000000001 88 00 0000 a0000000 " PREFIX "001 0201 02aa00000001" },
};

TABLE_TEST(neighbor, answers, row, answer_rows)
{
	const struct neighbor_message request = {
		.request = true,
		.sender = address(row->family, row->asker),
		.target = address(row->family, row->target),
		.mac = HOST,
	};
	uint8_t frame[NEIGHBOR_FRAME_MAX];
	const uint32_t len = neighbor_answer(OWN, &request, row->router, frame);

	check_frame(row->what, frame, len, row->want);
}

#define TO_OWN "02aa00000001 020000000002 "
#define IPV6_ND(bytes, hops) "86dd 60000000 " bytes " 3a " hops " "
#define US PREFIX "001 "
#define THEM PREFIX "002 "
#define NOBODY "00000000000000000000000000000000 "

static const struct {
	const char *what;
	const char *frame;
	bool understood;
	bool request;
	uint8_t family; // of the sender
	uint32_t sender;
	uint64_t mac;
} read_rows[] = {
	{ "an ARP request",
	  TO_OWN "0806 0001 0800 06 04 0001 020000000002 0a010002 000000000000 0a010001", true,
	  true, IP_V4, 0x0a010002, HOST },
	{ "an ARP probe",
	  TO_OWN "0806 0001 0800 06 04 0001 020000000002 00000000 000000000000 0a010001", true,
	  true, IP_NONE, 0, HOST },
	{ "an ARP reply",
	  TO_OWN "0806 0001 0800 06 04 0002 020000000002 0a010002 02aa00000001 0a010001", true,
	  false, IP_V4, 0x0a010002, HOST },
	{ "a sender that is a group",
	  TO_OWN "0806 0001 0800 06 04 0002 030000000002 0a010002 02aa00000001 0a010001", false,
	  false, IP_NONE, 0, 0 },
	{ "a sender that is broadcast",
	  TO_OWN "0806 0001 0800 06 04 0002 020000000002 ffffffff 02aa00000001 0a010001", false,
	  false, IP_NONE, 0, 0 },
	{ "another operation",
	  TO_OWN "0806 0001 0800 06 04 0003 020000000002 0a010002 02aa00000001 0a010001", false,
	  false, IP_NONE, 0, 0 },
	{ "another hardware",
	  TO_OWN "0806 0006 0800 06 04 0001 020000000002 0a010002 02aa00000001 0a010001", false,
	  false, IP_NONE, 0, 0 },
	{ "an ARP frame that ends early",
	  TO_OWN "0806 0001 0800 06 04 0001 020000000002 0a010002 000000000000 0a0100", false,
	  false, IP_NONE, 0, 0 },
	{ "a solicitation with its source",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "87 00 0000 00000000 " US "0101 020000000009", true,
	  true, IP_V6, 2, 0x020000000009 },
	{ "one without: the frame's",
	  TO_OWN IPV6_ND("0018", "ff") THEM US "87 00 0000 00000000 " US, true, true, IP_V6, 2,
	  HOST },
	{ "a probe", TO_OWN IPV6_ND("0018", "ff") NOBODY US "87 00 0000 00000000 " US, true, true,
	  IP_NONE, 0, HOST },
	{ "an advertisement: of its target",
	  TO_OWN IPV6_ND("0020", "ff") "fe800000000000000000000000000002 " US
				       "88 00 0000 60000000 " THEM "0201 020000000009",
	  true, false, IP_V6, 2, 0x020000000009 },
	{ "an option of another kind first",
	  TO_OWN IPV6_ND("0028", "ff") THEM US "87 00 0000 00000000 " US
					       "0e01 111111111111 0101 020000000009",
	  true, true, IP_V6, 2, 0x020000000009 },
	{ "an option without a length",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "87 00 0000 00000000 " US "0100 020000000009", false,
	  false, IP_NONE, 0, 0 },
	{ "an option longer than the packet",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "87 00 0000 00000000 " US "0102 020000000009", false,
	  false, IP_NONE, 0, 0 },
	{ "a hop limit that was routed",
	  TO_OWN IPV6_ND("0018", "fe") THEM US "87 00 0000 00000000 " US, false, false, IP_NONE, 0,
	  0 },
	{ "a target that is a group",
	  TO_OWN IPV6_ND("0018", "ff") THEM US
	  "87 00 0000 00000000 ff020000000000000000000000000001",
	  false, false, IP_NONE, 0, 0 },
	{ "a payload longer than the frame",
	  TO_OWN IPV6_ND("0028", "ff") THEM US "87 00 0000 00000000 " US "0101 020000000009", false,
	  false, IP_NONE, 0, 0 },
	{ "another message", TO_OWN IPV6_ND("0018", "ff") THEM US "80 00 0000 00000000 " US, false,
	  false, IP_NONE, 0, 0 },
};

TABLE_TEST(neighbor, reads, row, read_rows)
{
	struct neighbor_message got;
	struct ip_prefix want = address(row->family, row->sender);
	uint8_t frame[FRAME_TEXT_MAX] = { 0 };
	const uint32_t len = frame_decode(row->frame, frame);
	const bool arp = load_be16(frame + 12) == 0x0806;

	if (!arp)
		set_checksum(frame);
	cr_assert_eq(neighbor_read(frame, len, L3_AT, arp, &got), row->understood, "%s", row->what);
	if (!row->understood)
		return;
	cr_assert_eq(got.request, row->request, "%s", row->what);
	cr_assert_eq(got.mac, row->mac, "%s", row->what);
	cr_assert_eq(got.destination_mac, OWN);
	cr_assert_eq(got.sender.family, want.family, "%s", row->what);
	cr_assert_arr_eq(got.sender.address, want.address, sizeof(want.address));
}

#define TO_ALL "ffffffffffff 020000000002 "
#define ALL_NODES "ff020000000000000000000000000001 "

// RFC 4861 4.4: S and O of an advertisement. ARP knows neither: a reply to us alone is an answer.
// 7.2.4: the answer to a question without a sender goes to all nodes, without S.
static const struct {
	const char *what;
	const char *frame;
	bool solicited;
	bool override;
	bool to_all;
} claim_rows[] = {
	{ "an ARP request asks",
	  TO_OWN "0806 0001 0800 06 04 0001 020000000002 0a010002 000000000000 0a010001", false,
	  true, false },
	{ "an ARP reply to us answers",
	  TO_OWN "0806 0001 0800 06 04 0002 020000000002 0a010002 02aa00000001 0a010001", true,
	  true, false },
	{ "a gratuitous ARP reply announces",
	  TO_ALL "0806 0001 0800 06 04 0002 020000000002 0a010002 ffffffffffff 0a010002", false,
	  true, false },
	{ "a solicitation asks",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "87 00 0000 00000000 " US "0101 020000000009", false,
	  true, false },
	{ "an advertisement answers and overrides",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "88 00 0000 60000000 " THEM "0201 020000000009",
	  true, true, false },
	{ "one of a proxy only answers",
	  TO_OWN IPV6_ND("0020", "ff") THEM US "88 00 0000 40000000 " THEM "0201 020000000009",
	  true, false, false },
	{ "one to all announces",
	  TO_ALL IPV6_ND("0020", "ff") THEM ALL_NODES "88 00 0000 20000000 " THEM
						      "0201 020000000009",
	  false, true, true },
	{ "one to all answers nobody",
	  TO_ALL IPV6_ND("0020", "ff") THEM ALL_NODES "88 00 0000 60000000 " THEM
						      "0201 020000000009",
	  false, true, true },
};

TABLE_TEST(neighbor, claims, row, claim_rows)
{
	struct neighbor_message got;
	uint8_t frame[FRAME_TEXT_MAX] = { 0 };
	const uint32_t len = frame_decode(row->frame, frame);
	const bool arp = load_be16(frame + 12) == 0x0806;

	if (!arp)
		set_checksum(frame);
	cr_assert(neighbor_read(frame, len, L3_AT, arp, &got), "%s", row->what);
	cr_assert_eq(got.solicited, row->solicited, "%s", row->what);
	cr_assert_eq(got.override, row->override, "%s", row->what);
	cr_assert_eq(got.to_all, row->to_all, "%s", row->what);
}

Test(neighbor, a_wrong_checksum_says_nothing)
{
	uint8_t frame[FRAME_TEXT_MAX];
	struct neighbor_message got;
	const uint32_t len =
		frame_decode(TO_OWN IPV6_ND("0018", "ff") THEM US "87 00 0000 00000000 " US, frame);

	set_checksum(frame);
	cr_assert(neighbor_read(frame, len, L3_AT, false, &got));
	frame[len - 1] ^= 4;
	cr_assert_not(neighbor_read(frame, len, L3_AT, false, &got));
}

// What one side builds the other understands.
Test(neighbor, questions_are_read_back)
{
	const struct ip_prefix senders[] = { v4(0x0a010001), v6(1) };
	const struct ip_prefix targets[] = { v4(0x0a010002), v6(2) };

	for (uint32_t i = 0; i < TABLE_COUNT(senders); i++) {
		uint8_t frame[NEIGHBOR_FRAME_MAX];
		const uint32_t len = neighbor_ask(OWN, &senders[i], &targets[i], 0, frame);
		struct neighbor_message got;

		cr_assert(neighbor_read(frame, len, L3_AT, i == 0, &got));
		cr_assert(got.request);
		cr_assert_eq(got.mac, OWN);
		cr_assert_arr_eq(&got.sender, &senders[i], sizeof(got.sender));
		cr_assert_arr_eq(&got.target, &targets[i], sizeof(got.target));
	}
}
