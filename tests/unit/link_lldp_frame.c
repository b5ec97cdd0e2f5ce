// SPDX-License-Identifier: BSD-3-Clause
//
// LLDPDUs against the layouts of IEEE 802.1AB clause 8 and of IEEE 802.1Q annex D, written out by
// hand, and against what a real neighbour sends: tests/data/captures/lldpd.pcap has three frames of
// lldpd 1.0.16 (Debian 12) on a veth pair, taken with tcpdump: as it starts; after `configure lldp
// custom-tlv` has given it a PFC and an application TLV (it has none of its own, the bytes are
// those of D.2.9 and D.2.10); and as it ends.

#include "link/lldp_frame.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/frame_text.h"
#include "tests/table.h"

enum { AT = 14 };

static const uint8_t own_mac[6] = { 0x02, 0x00, 0x00, 0x00, 0x00, 0x02 };

#define L2 "0180c200000e 020000000002 88cc "
#define CHASSIS "0207 04 02aa00000001 "    // type 1, 7 bytes: a MAC address
#define PORT "040a 05 45746865726e657430 " // type 2, 10 bytes: interface name Ethernet0
#define TTL "0602 0079 "                   // type 3: 121 s
#define END "0000 "
#define FIRST CHASSIS PORT TTL
#define NAMES "0802 7570 0a05 6c65616631 0c04 77656674 " // up, leaf1, weft
#define CAPS "0e04 0014 0004 "                           // bridge, router; bridge is on
#define ADDRESS "100c 05 01 0a4d00fe 01 00000000 00 "    // 10.77.0.254
#define PVID "fe06 0080c2 01 0007 "
#define MFS "fe06 00120f 04 05f2 " // 1522
#define ETS_TABLES "01234567 0b0b0b220b0b000b 0202020202020002 "
#define ETS "fe19 0080c2 09 00 " ETS_TABLES
#define ETS_RECOMMENDED "fe19 0080c2 0a 00 " ETS_TABLES
#define PFC_TLV "fe06 0080c2 0b 08 18 "           // not willing, 8 classes, priorities 3 and 4
#define APPS "fe0b 0080c2 0c 00 63 12b7 65 001a " // UDP 4791 and DSCP 26, both on 3
#define WHOLE FIRST NAMES CAPS ADDRESS PVID MFS ETS ETS_RECOMMENDED PFC_TLV APPS END

static struct lldp_info whole(void)
{
	static const uint8_t mac[6] = { 0x02, 0xaa, 0, 0, 0, 1 };
	static const struct dcbx_ets ets = {
		.present = true,
		.class_count = 8,
		.prio_class = { 0, 1, 2, 3, 4, 5, 6, 7 },
		.percent = { 11, 11, 11, 34, 11, 11, 0, 11 },
		.algorithm = { 2, 2, 2, 2, 2, 2, 0, 2 },
	};
	struct lldp_info info = {
		.ttl_seconds = 121,
		.has_capabilities = true,
		.capabilities = LLDP_CAP_BRIDGE | LLDP_CAP_ROUTER,
		.enabled = LLDP_CAP_BRIDGE,
		.address_family = 1,
		.address_len = 4,
		.address = { 10, 77, 0, 254 },
		.pvid = 7,
		.max_frame_bytes = 1522,
		.dcbx = { .ets = ets,
			  .recommended = ets,
			  .pfc = { .present = true, .capability = 8, .enable = 0x18 },
			  .has_apps = true,
			  .app_count = 2,
			  .app = { { 3, DCBX_SELECT_UDP, 4791 }, { 3, DCBX_SELECT_DSCP, 26 } } },
	};

	info.dcbx.recommended.class_count = 0;
	lldp_set_id(&info.chassis, LLDP_CHASSIS_MAC, mac, sizeof(mac));
	lldp_set_id(&info.port, LLDP_PORT_IFNAME, "Ethernet0", 9);
	lldp_set_text(&info.port_description, "up");
	lldp_set_text(&info.system_name, "leaf1");
	lldp_set_text(&info.system_description, "weft");
	return info;
}

static void check_bytes(const uint8_t *got, uint32_t got_len, const char *text)
{
	uint8_t want[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(text, want);

	cr_assert_eq(got_len, len, "%u bytes, %u wanted", got_len, len);
	for (uint32_t i = 0; i < len; i++)
		cr_expect_eq(got[i], want[i], "byte %u: %02x, %02x wanted", i, got[i], want[i]);
}

Test(link_lldp_frame, a_frame_has_the_layout_of_the_standard)
{
	const struct lldp_info info = whole();
	uint8_t frame[LLDP_FRAME_MAX];

	memset(frame, 0xee, sizeof(frame));
	check_bytes(frame, lldp_encode(&info, own_mac, frame), L2 WHOLE);
}

Test(link_lldp_frame, it_reads_what_the_standard_says)
{
	const struct lldp_info want = whole();
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(L2 WHOLE, frame);
	struct lldp_info got;

	cr_assert(lldp_decode(frame, len, AT, &got));
	cr_assert_eq(memcmp(&got, &want, sizeof(got)), 0);
}

// 802.1AB 9.1.2.2: the last frame has the mandatory TLVs, a time to live of 0 and no others.
Test(link_lldp_frame, the_last_frame_says_nothing_else)
{
	struct lldp_info info = whole();
	uint8_t frame[LLDP_FRAME_MAX];
	uint32_t len;

	info.ttl_seconds = 0;
	memset(frame, 0xee, sizeof(frame));
	len = lldp_encode(&info, own_mac, frame);
	cr_assert_eq(len, 60);
	check_bytes(frame, 14 + 9 + 12 + 4 + 2, L2 CHASSIS PORT "0602 0000 " END);
	for (uint32_t i = 41; i < len; i++)
		cr_assert_eq(frame[i], 0);
	cr_assert(lldp_decode(frame, len, AT, &info));
	cr_assert_eq(info.ttl_seconds, 0);
	cr_assert_eq(info.system_name.len, 0);
}

// Names of the longest kind: the first three are whole, the frame ends as it must, and what had no
// room is not there at all.
Test(link_lldp_frame, what_has_no_room_is_left_out)
{
	char text[LLDP_TEXT_MAX + 1];
	struct lldp_info info = whole(), got;
	uint8_t frame[LLDP_FRAME_MAX];
	uint32_t len;

	memset(text, 'x', LLDP_TEXT_MAX);
	text[LLDP_TEXT_MAX] = '\0';
	lldp_set_id(&info.chassis, LLDP_CHASSIS_LOCAL, text, LLDP_TEXT_MAX);
	lldp_set_id(&info.port, LLDP_PORT_LOCAL, text, LLDP_TEXT_MAX);
	lldp_set_text(&info.system_description, text);
	len = lldp_encode(&info, own_mac, frame);
	cr_assert_leq(len, LLDP_FRAME_MAX);
	cr_assert(lldp_decode(frame, len, AT, &got));
	cr_assert(lldp_same_id(&got.chassis, &info.chassis));
	cr_assert(lldp_same_id(&got.port, &info.port));
	cr_assert_eq(got.system_description.len, 0);
	cr_assert_eq(got.system_name.len, 5);
	cr_assert_eq(got.discarded, 0);
}

static const struct {
	const char *what;
	const char *text;
	bool read;
	uint32_t discarded, unknown;
} verdict_rows[] = {
	{ "whole", WHOLE, true, 0, 0 },
	{ "the least", FIRST END, true, 0, 0 },
	{ "no end, as later editions allow", FIRST, true, 0, 0 },
	{ "padding behind the end", FIRST END "ffffffff", true, 0, 0 },
	{ "nothing at all", "", false, 0, 0 },
	{ "half a head", "02", false, 0, 0 },
	{ "no port", CHASSIS TTL END, false, 0, 0 },
	{ "no time to live", CHASSIS PORT NAMES END, false, 0, 0 },
	{ "port before chassis", PORT CHASSIS TTL END, false, 0, 0 },
	{ "chassis twice", FIRST CHASSIS END, false, 0, 0 },
	{ "time to live twice", FIRST TTL END, false, 0, 0 },
	{ "chassis without a name", "0201 04 " PORT TTL END, false, 0, 0 },
	{ "chassis without anything", "0200 " PORT TTL END, false, 0, 0 },
	{ "time to live of one byte", CHASSIS PORT "0601 79 " END, false, 0, 0 },
	{ "time to live of three bytes", CHASSIS PORT "0603 0079ff " END, true, 0, 0 },
	{ "chassis beyond the end", "020a 04 02aa00000001 ", false, 0, 0 },
	{ "the last TLV beyond the end", FIRST "0a20 6c65616631 ", false, 0, 0 },
	{ "an end with a length", FIRST "0001 00 ", false, 0, 0 },
	{ "a name twice", FIRST "0a01 61 0a01 62 " END, true, 1, 0 },
	{ "capabilities too short", FIRST "0e02 0014 " END, true, 1, 0 },
	{ "an address without interface", FIRST "1006 05 01 0a4d00fe " END, true, 1, 0 },
	{ "an address longer than its TLV", FIRST "100c 20 01 0a4d00fe 01 00000000 00 " END, true,
	  1, 0 },
	{ "an address of no length", FIRST "1009 01 01 01 00000000 000000 " END, true, 1, 0 },
	{ "two addresses", FIRST ADDRESS ADDRESS END, true, 0, 0 },
	{ "a reserved type", FIRST "1202 0000 " END, true, 0, 1 },
	{ "an organisation without subtype", FIRST "fe03 0080c2 " END, true, 1, 0 },
	{ "another organisation", FIRST "fe05 001b21 01 00 " END, true, 0, 1 },
	{ "a subtype that is not known", FIRST "fe05 0080c2 7f 00 " END, true, 0, 1 },
	{ "ETS one byte short",
	  FIRST "fe18 0080c2 09 00 01234567 0b0b0b220b0b000b 02020202020200 " END, true, 1, 0 },
	{ "PFC twice", FIRST PFC_TLV PFC_TLV END, true, 1, 0 },
	{ "PFC one byte long", FIRST "fe07 0080c2 0b 08 18 00 " END, true, 1, 0 },
	{ "applications and a rest", FIRST "fe09 0080c2 0c 00 63 12b7 65 " END, true, 1, 0 },
	{ "no applications", FIRST "fe05 0080c2 0c 00 " END, true, 0, 0 },
	{ "a last frame that says more", CHASSIS PORT "0602 0000 0a01 61 ", true, 0, 0 },
};

TABLE_TEST(link_lldp_frame, verdict, row, verdict_rows)
{
	char text[2 * FRAME_TEXT_MAX];
	uint8_t frame[FRAME_TEXT_MAX];
	struct lldp_info info;
	uint32_t len;

	snprintf(text, sizeof(text), "%s%s", L2, row->text);
	len = frame_decode(text, frame);
	cr_assert_eq(lldp_decode(frame, len, AT, &info), row->read, "%s", row->what);
	if (!row->read)
		return;
	cr_expect_eq(info.discarded, row->discarded, "%s: %u", row->what, info.discarded);
	cr_expect_eq(info.unknown, row->unknown, "%s: %u", row->what, info.unknown);
}

static const struct {
	const char *what;
	const char *text;
	struct dcbx_pfc pfc;
} pfc_rows[] = {
	{ "willing", "fe06 0080c2 0b 88 08 ", { true, true, false, 8, 0x08, false } },
	{ "MACsec bypass, no limit", "fe06 0080c2 0b 40 00 ", { true, false, true, 0, 0, false } },
	{ "reserved bits", "fe06 0080c2 0b 34 ff ", { true, false, false, 4, 0xff, false } },
	{ "not there", "", { false, false, false, 0, 0, false } },
};

TABLE_TEST(link_lldp_frame, pfc, row, pfc_rows)
{
	char text[FRAME_TEXT_MAX];
	uint8_t frame[FRAME_TEXT_MAX];
	struct lldp_info info;

	snprintf(text, sizeof(text), "%s%s%s", L2 FIRST, row->text, END);
	cr_assert(lldp_decode(frame, frame_decode(text, frame), AT, &info));
	cr_assert_eq(memcmp(&info.dcbx.pfc, &row->pfc, sizeof(row->pfc)), 0, "%s", row->what);
}

static const struct {
	const char *what;
	const char *head; // of ETS configuration
	bool willing, credit;
	uint8_t classes;
} ets_rows[] = {
	{ "eight classes are 0", "00 ", false, false, 8 },
	{ "willing, three classes", "83 ", true, false, 3 },
	{ "credit-based shaper", "47 ", false, true, 7 },
};

TABLE_TEST(link_lldp_frame, ets, row, ets_rows)
{
	char text[FRAME_TEXT_MAX];
	uint8_t frame[FRAME_TEXT_MAX];
	uint8_t again[LLDP_FRAME_MAX];
	struct lldp_info info;
	uint32_t len;

	snprintf(text, sizeof(text), "%s%s%s%s", L2 FIRST "fe19 0080c2 09 ", row->head, ETS_TABLES,
		 END);
	len = frame_decode(text, frame);
	cr_assert(lldp_decode(frame, len, AT, &info));
	cr_expect_eq(info.dcbx.ets.willing, row->willing, "%s", row->what);
	cr_expect_eq(info.dcbx.ets.credit, row->credit, "%s", row->what);
	cr_expect_eq(info.dcbx.ets.class_count, row->classes, "%s", row->what);
	check_bytes(again, lldp_encode(&info, own_mac, again), text);
}

// --- a real neighbour ---------------------------------------------------------------------------

enum { CAPTURED = 3, CAPTURED_BYTES = 256 };

static void read_capture(uint8_t frame[CAPTURED][CAPTURED_BYTES], uint32_t len[CAPTURED])
{
	uint32_t head[6], record[4];
	FILE *file = fopen(CAPTURES "/lldpd.pcap", "rb");

	cr_assert_not_null(file);
	cr_assert_eq(fread(head, sizeof(head), 1, file), 1);
	for (uint32_t i = 0; i < CAPTURED; i++) {
		cr_assert_eq(fread(record, sizeof(record), 1, file), 1);
		cr_assert_leq(record[2], CAPTURED_BYTES);
		len[i] = record[2];
		cr_assert_eq(fread(frame[i], record[2], 1, file), 1);
	}
	fclose(file);
}

static void check_words(const struct lldp_text *text, const char *want)
{
	char words[LLDP_WORDS_BYTES];

	lldp_text_words(text, words);
	cr_expect_str_eq(words, want);
}

// Wanted values are what tshark 4.0 reads in that file.
Test(link_lldp_frame, lldpd_is_understood)
{
	uint8_t frame[CAPTURED][CAPTURED_BYTES];
	uint32_t len[CAPTURED];
	char words[LLDP_WORDS_BYTES];
	struct lldp_info info;

	read_capture(frame, len);
	cr_assert(lldp_decode(frame[0], len[0], AT, &info));
	cr_expect_eq(info.ttl_seconds, 120);
	lldp_chassis_words(&info.chassis, words);
	cr_expect_str_eq(words, "02:00:00:00:77:0b");
	cr_expect_eq(info.port.subtype, LLDP_PORT_MAC);
	lldp_port_words(&info.port, words);
	cr_expect_str_eq(words, "02:00:00:00:77:0b");
	check_words(&info.system_description, "lldpd in a network namespace");
	check_words(&info.port_description, "eth0");
	cr_expect_eq(info.capabilities,
		     LLDP_CAP_BRIDGE | LLDP_CAP_ROUTER | LLDP_CAP_WLAN | LLDP_CAP_STATION);
	cr_expect_eq(info.enabled, LLDP_CAP_STATION);
	cr_expect_eq(info.address_len, 4);
	cr_expect_eq(load_be32(info.address), 0x0a4d000b);
	cr_expect_eq(info.unknown, 2); // IEEE 802.3 link aggregation and MAC/PHY
	cr_expect_eq(info.discarded, 0);
	cr_expect_eq(info.dcbx.pfc.present, false);

	cr_assert(lldp_decode(frame[1], len[1], AT, &info));
	check_words(&info.system_name, "lldp-host");
	cr_expect_eq(info.ttl_seconds, 8);
	cr_expect_eq(info.dcbx.pfc.enable, 1 << 3);
	cr_expect_eq(info.dcbx.pfc.capability, 8);
	cr_assert_eq(info.dcbx.app_count, 1);
	cr_expect_eq(info.dcbx.app[0].priority, 3);
	cr_expect_eq(info.dcbx.app[0].selector, DCBX_SELECT_UDP);
	cr_expect_eq(info.dcbx.app[0].protocol, 4791);

	cr_assert(lldp_decode(frame[2], len[2], AT, &info));
	cr_expect_eq(info.ttl_seconds, 0);
}

// What a peer names itself goes to terminals and logs.
Test(link_lldp_frame, names_are_printable)
{
	struct lldp_text text;
	char words[LLDP_WORDS_BYTES];

	lldp_set_text(&text, "a\x1b[2Jb\n\xff~");
	cr_assert_eq(lldp_text_words(&text, words), 9);
	cr_assert_str_eq(words, "a?[2Jb??~");
}
