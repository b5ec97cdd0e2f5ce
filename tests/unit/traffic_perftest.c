// SPDX-License-Identifier: BSD-3-Clause
//
// perftest's handshake against its own: TCP sessions of ib_write_bw, ib_read_bw and ib_send_bw
// between two kernel soft-RoCE hosts, each read to its end, told as those programs printed it, and
// written again byte for byte.

#include "tests/capture_file.h"
#include "tests/table.h"
#include "traffic/core/perftest.h"

enum { CLIENT, SERVER, STREAM_MAX = 4096, IP_AT = 14, TCP_AT = IP_AT + 20, EPHEMERAL = 32768 };

// What each end said. Sent again is said once.
struct session {
	uint8_t data[2][STREAM_MAX];
	uint32_t len[2];
	uint32_t start[2]; // sequence number of the first byte
};

static void add_segment(struct session *session, const uint8_t *frame)
{
	const int side = load_be16(frame + TCP_AT) < EPHEMERAL ? SERVER : CLIENT;
	const uint32_t head = 20 + (uint32_t)(frame[TCP_AT + 12] >> 4) * 4;
	const uint32_t bytes = load_be16(frame + IP_AT + 2) - head;
	const uint32_t seq = load_be32(frame + TCP_AT + 4);

	if ((frame[TCP_AT + 13] & 2) != 0)
		session->start[side] = seq + 1;
	if (bytes == 0 || seq - session->start[side] != session->len[side])
		return;
	cr_assert(session->len[side] + bytes <= STREAM_MAX);
	memcpy(session->data[side] + session->len[side], frame + IP_AT + head, bytes);
	session->len[side] += bytes;
}

static void load_session(const char *path, struct session *session)
{
	struct capture_file capture;

	*session = (struct session){ 0 };
	capture_open(&capture, path);
	while (capture_next(&capture))
		add_segment(session, capture.frame);
}

// As perftest printed them; the host is the last byte of its address.
struct session_row {
	const char *what;
	const char *path;
	enum rc_op op;
	uint64_t count; // 0: no report
	struct {
		uint32_t qp, psn, rkey;
		uint64_t va;
		uint16_t reads;
		uint8_t host;
	} side[2];
};

static const struct session_row sessions[] = {
	{ "write",
	  CAPTURES "/perftest-write.pcap",
	  RC_WRITE,
	  20,
	  { { 0x11, 0x405101, 0x28d, 0x40588000, 1, 1 },
	    { 0x11, 0x405101, 0x25b, 0x40588000, 1, 2 } } },
	{ "read",
	  CAPTURES "/perftest-read.pcap",
	  RC_READ,
	  20,
	  { { 0x13, 0x8230ab, 0x461, 0x40588000, 0x80, 1 },
	    { 0x13, 0x688314, 0x44a, 0x40588000, 0x80, 2 } } },
	{ "send",
	  CAPTURES "/perftest-send.pcap",
	  RC_SEND,
	  0,
	  { { 0x12, 0xc09972, 0x33a, 0x40597000, 1, 1 },
	    { 0x12, 0x01a00a, 0x3e2, 0x40597000, 1, 2 } } },
};

// Reads one side from its first message to its last.
static void read_side(const struct session_row *row, const struct session *session, int side,
		      struct perftest_side *out)
{
	uint32_t at = 0, step = 0;

	for (; perftest_step(row->op, step) != PERFTEST_END; step++) {
		const enum perftest_step kind = perftest_step(row->op, step);
		const uint32_t bytes = perftest_bytes(kind);
		uint8_t *copy, again[PERFTEST_BYTES_MAX];

		if (bytes == 0)
			continue;
		cr_assert_leq(at + bytes, session->len[side], "%s: step %u", row->what, step);
		copy = malloc(bytes); // of its own length, for a sanitiser
		memcpy(copy, session->data[side] + at, bytes);
		cr_assert_eq(perftest_read(kind, copy, out), PERFTEST_OK, "%s: step %u", row->what,
			     step);
		perftest_write(kind, out, again);
		cr_assert_arr_eq(again, copy, bytes, "%s: step %u", row->what, step);
		free(copy);
		at += bytes;
	}
	cr_assert_eq(at, session->len[side], "%s: all was read", row->what);
	cr_assert_leq(step, PERFTEST_STEPS_MAX);
}

TABLE_TEST(traffic_perftest, captured_sessions, row, sessions)
{
	struct session session;

	load_session(row->path, &session);
	for (int side = CLIENT; side <= SERVER; side++) {
		struct perftest_side got = { 0 };
		uint8_t ipv4[4];

		read_side(row, &session, side, &got);
		cr_assert_str_eq(got.version, PERFTEST_VERSION_TEXT);
		cr_assert_eq(got.mtu, 1024);
		cr_assert_eq(got.buffer_bytes, 4096);
		cr_assert_eq(got.line_bytes, 64);
		cr_assert_eq(got.keys.qp, row->side[side].qp);
		cr_assert_eq(got.keys.psn, row->side[side].psn, "%s", row->what);
		cr_assert_eq(got.keys.rkey, row->side[side].rkey);
		cr_assert_eq(got.keys.va, row->side[side].va);
		cr_assert_eq(got.keys.reads, row->side[side].reads);
		cr_assert(perftest_gid_ipv4(got.keys.gid, ipv4));
		cr_assert_arr_eq(ipv4, ((uint8_t[]){ 10, 0, 0, row->side[side].host }), 4);
		if (side == CLIENT && row->count != 0) {
			cr_assert_eq(got.report.size, 65536);
			cr_assert_eq(got.report.count, row->count);
		}
	}
}

// --- what is refused --------------------------------------------------------------------------

#define KEYS                                                                                       \
	"0000:0001:000011:405101:0000028d:0000000040588000:"                                       \
	"00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:"

struct word_row {
	const char *what;
	enum perftest_step step;
	enum perftest_verdict verdict;
	const char bytes[PERFTEST_BYTES_MAX + 1];
};

static const struct word_row words[] = {
	{ "this version", PERFTEST_VERSION, PERFTEST_OK, "6.06" },
	{ "a later one", PERFTEST_VERSION, PERFTEST_OK, "26.01" },
	{ "one that has another digit", PERFTEST_VERSION, PERFTEST_OK, "6.135" },
	{ "the first with these messages", PERFTEST_VERSION, PERFTEST_OK, "5.33" },
	{ "the last without", PERFTEST_VERSION, PERFTEST_OLD, "5.32" },
	{ "5.4 is 5.40", PERFTEST_VERSION, PERFTEST_OK, "5.4" },
	{ "5.3 is 5.30", PERFTEST_VERSION, PERFTEST_OLD, "5.3" },
	{ "no version", PERFTEST_VERSION, PERFTEST_MALFORMED, "" },
	{ "a word", PERFTEST_VERSION, PERFTEST_MALFORMED, "six" },
	{ "no end", PERFTEST_VERSION, PERFTEST_MALFORMED, "6.06060606060606" },
	{ "a tail", PERFTEST_VERSION, PERFTEST_MALFORMED, "6.06-rc" },
	{ "no point", PERFTEST_VERSION, PERFTEST_MALFORMED, "606" },
	{ "a buffer of nothing", PERFTEST_BUFFER, PERFTEST_MALFORMED, "\0\0\0\0" },
	{ "a page", PERFTEST_BUFFER, PERFTEST_OK, "\0\0\x10\0" },
	{ "a buffer of 1 GB", PERFTEST_BUFFER, PERFTEST_OK, "\x40\0\0\0" },
	{ "and a byte", PERFTEST_BUFFER, PERFTEST_MALFORMED, "\x40\0\0\1" },
	{ "lines longer than a page", PERFTEST_LINE, PERFTEST_MALFORMED, "\0\0\x10\1" },
	{ "no lines", PERFTEST_LINE, PERFTEST_MALFORMED, "\0\0\0\0" },
	{ "MTU 256", PERFTEST_MTU, PERFTEST_OK, "1" },
	{ "MTU 4096", PERFTEST_MTU, PERFTEST_OK, "5" },
	{ "MTU 128", PERFTEST_MTU, PERFTEST_MALFORMED, "0" },
	{ "MTU 8192", PERFTEST_MTU, PERFTEST_MALFORMED, "6" },
	{ "two digits", PERFTEST_MTU, PERFTEST_MALFORMED, "33" },
	{ "the end", PERFTEST_DONE, PERFTEST_OK, "done" },
	{ "another end", PERFTEST_DONE, PERFTEST_MALFORMED, "gone" },
	{ "keys", PERFTEST_KEYS, PERFTEST_OK, KEYS },
	{ "no keys", PERFTEST_KEYS, PERFTEST_MALFORMED, "" },
	{ "spaces for zeros", PERFTEST_KEYS, PERFTEST_MALFORMED, "   0" },
};

static bool is_empty(const struct perftest_side *side)
{
	return side->version[0] == '\0' && side->buffer_bytes == 0 && side->line_bytes == 0 &&
	       side->mtu == 0 && side->keys.qp == 0 && side->keys.rkey == 0;
}

TABLE_TEST(traffic_perftest, words, row, words)
{
	struct perftest_side side = { 0 };

	cr_assert_eq(perftest_read(row->step, (const uint8_t *)row->bytes, &side), row->verdict,
		     "%s", row->what);
	if (row->verdict != PERFTEST_OK)
		cr_assert(is_empty(&side), "%s: changed", row->what);
}

// Every byte of the keys is a digit, a colon or the end, and each matters.
Test(traffic_perftest, keys_have_no_byte_to_spare)
{
	uint8_t keys[PERFTEST_BYTES_MAX] = KEYS;
	struct perftest_side side;

	static_assert(sizeof(KEYS) == PERFTEST_BYTES_MAX, "the length that is on the wire");
	for (uint32_t i = 0; i < sizeof(keys); i++) {
		const uint8_t right = keys[i];

		keys[i] = 'g';
		cr_assert_eq(perftest_read(PERFTEST_KEYS, keys, &side), PERFTEST_MALFORMED,
			     "byte %u", i);
		keys[i] = right;
	}
	cr_assert_eq(perftest_read(PERFTEST_KEYS, keys, &side), PERFTEST_OK);
}

// --- what is written --------------------------------------------------------------------------

struct mtu_row {
	const char *what;
	uint32_t mtu;
	char code;
};

// enum ibv_mtu of verbs; what lies between goes down.
static const struct mtu_row mtus[] = {
	{ "256", 256, '1' },   { "512", 512, '2' },   { "1024", 1024, '3' },
	{ "2048", 2048, '4' }, { "4095", 4095, '4' }, { "4096", 4096, '5' },
};

TABLE_TEST(traffic_perftest, mtu, row, mtus)
{
	const struct perftest_side side = { .mtu = row->mtu };
	uint8_t out[2];

	perftest_write(PERFTEST_MTU, &side, out);
	cr_assert_eq(out[0], row->code, "%s", row->what);
	cr_assert_eq(out[1], 0);
}

// 1.5 is 0x3ff8000000000000 in IEEE 754.
Test(traffic_perftest, fractions_are_big_endian_doubles)
{
	const struct perftest_side side = { .report.average = 1.5 };
	const uint8_t want[8] = { 0x3f, 0xf8 };
	uint8_t out[8];

	perftest_write(PERFTEST_REPORT_AVERAGE, &side, out);
	cr_assert_arr_eq(out, want, 8);
}

Test(traffic_perftest, addresses)
{
	const uint8_t ipv4[4] = { 192, 0, 2, 7 };
	uint8_t gid[16], back[4];

	perftest_gid_of_ipv4(ipv4, gid);
	cr_assert(perftest_gid_ipv4(gid, back));
	cr_assert_arr_eq(back, ipv4, 4);
	gid[9] = 1;
	cr_assert_not(perftest_gid_ipv4(gid, back), "an IPv6 address");
}
