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

enum { QPS = 2 };

// As perftest printed them; the host is the last byte of its address.
struct session_row {
	const char *what;
	const char *path;
	struct perftest_shape shape;
	bool reports[2]; // client, server: what it says is of its work
	struct {
		struct {
			uint32_t qp, psn;
			uint64_t va;
		} at[QPS];
		uint32_t rkey;
		uint16_t reads;
		uint8_t host;
	} side[2];
};

static const struct session_row sessions[] = {
	{ "write",
	  CAPTURES "/perftest-write.pcap",
	  { RC_WRITE, false, 1, 65536, 20 },
	  { true, false },
	  { { { { 0x11, 0x405101, 0x40588000 } }, 0x28d, 1, 1 },
	    { { { 0x11, 0x405101, 0x40588000 } }, 0x25b, 1, 2 } } },
	{ "read",
	  CAPTURES "/perftest-read.pcap",
	  { RC_READ, false, 1, 65536, 20 },
	  { true, false },
	  { { { { 0x13, 0x8230ab, 0x40588000 } }, 0x461, 0x80, 1 },
	    { { { 0x13, 0x688314, 0x40588000 } }, 0x44a, 0x80, 2 } } },
	{ "send",
	  CAPTURES "/perftest-send.pcap",
	  { RC_SEND, false, 1, 65536, 20 },
	  { false, false },
	  { { { { 0x12, 0xc09972, 0x40597000 } }, 0x33a, 1, 1 },
	    { { { 0x12, 0x01a00a, 0x40597000 } }, 0x3e2, 1, 2 } } },
	{ "write on two queue pairs",
	  CAPTURES "/perftest-write-q2.pcap",
	  { RC_WRITE, false, 2, 4096, 40 },
	  { true, false },
	  { { { { 0x12, 0xc4293c, 0x5500047000 }, { 0x13, 0xa8e076, 0x5500048000 } }, 0x35e, 1, 2 },
	    { { { 0x12, 0x74515f, 0x5500047000 }, { 0x13, 0x73dc94, 0x5500048000 } },
	      0x33c,
	      1,
	      1 } } },
	{ "send on two queue pairs",
	  CAPTURES "/perftest-send-q2.pcap",
	  { RC_SEND, false, 2, 4096, 40 },
	  { false, false },
	  { { { { 0x15, 0x886d26, 0x5500049000 }, { 0x16, 0xf60718, 0x550004a000 } }, 0x571, 1, 2 },
	    { { { 0x15, 0xc55c16, 0x5500049000 }, { 0x16, 0xd36348, 0x550004a000 } },
	      0x52d,
	      1,
	      1 } } },
	{ "read both ways",
	  CAPTURES "/perftest-read-b.pcap",
	  { RC_READ, true, 1, 4096, 20 },
	  { true, true },
	  { { { { 0x17, 0x09abc6, 0x5500046000 } }, 0x6a3, 0x80, 2 },
	    { { { 0x17, 0x0fd4e6, 0x5500046000 } }, 0x681, 0x80, 1 } } },
	{ "write both ways on two queue pairs",
	  CAPTURES "/perftest-write-bq2.pcap",
	  { RC_WRITE, true, 2, 4096, 40 },
	  { true, true },
	  { { { { 0x1a, 0x588f52, 0x5500047000 }, { 0x1b, 0xd81bd4, 0x5500048000 } }, 0x8f2, 1, 2 },
	    { { { 0x1a, 0x6908f0, 0x5500047000 }, { 0x1b, 0xc7d81a, 0x5500048000 } },
	      0x837,
	      1,
	      1 } } },
	{ "send both ways on two queue pairs",
	  CAPTURES "/perftest-send-bq2.pcap",
	  { RC_SEND, true, 2, 4096, 40 },
	  { true, true },
	  { { { { 0x1c, 0xf89c16, 0x5500049000 }, { 0x1d, 0x25a348, 0x550004a000 } }, 0x96c, 1, 2 },
	    { { { 0x1c, 0x6e8417, 0x5500049000 }, { 0x1d, 0xb651b5, 0x550004a000 } },
	      0x918,
	      1,
	      1 } } },
};

// Reads one side to its end, or to what is not as `shape` has it, and returns the verdict there.
static enum perftest_verdict read_side(const struct perftest_shape *shape,
				       const struct session *session, int side,
				       struct perftest_side *out)
{
	struct perftest_turn turn;
	uint32_t at = 0, i = 0;

	for (; turn = perftest_turn(shape, i), turn.step != PERFTEST_END; i++) {
		const uint32_t bytes = perftest_bytes(turn.step);
		uint8_t *copy, again[PERFTEST_BYTES_MAX];
		enum perftest_verdict verdict;

		if (bytes == 0)
			continue;
		cr_assert_leq(at + bytes, session->len[side], "turn %u", i);
		copy = malloc(bytes); // of its own length, for a sanitiser
		memcpy(copy, session->data[side] + at, bytes);
		verdict = perftest_read(shape, turn, copy, out);
		perftest_write(turn, out, again);
		if (verdict == PERFTEST_OK)
			cr_assert_arr_eq(again, copy, bytes, "turn %u", i);
		free(copy);
		if (verdict != PERFTEST_OK)
			return verdict;
		at += bytes;
	}
	cr_assert_eq(at, session->len[side], "all was read");
	cr_assert_leq(i, PERFTEST_TURNS_MAX);
	return PERFTEST_OK;
}

static void check_keys(const struct session_row *row, int side, const struct perftest_side *got)
{
	for (uint32_t i = 0; i < row->shape.qps; i++) {
		const struct perftest_keys *keys = &got->keys[i];
		uint8_t ipv4[4];

		cr_assert_eq(keys->qp, row->side[side].at[i].qp);
		cr_assert_eq(keys->psn, row->side[side].at[i].psn, "%s", row->what);
		cr_assert_eq(keys->va, row->side[side].at[i].va);
		cr_assert_eq(keys->rkey, row->side[side].rkey);
		cr_assert_eq(keys->reads, row->side[side].reads);
		cr_assert(perftest_gid_ipv4(keys->gid, ipv4));
		cr_assert_arr_eq(ipv4, ((uint8_t[]){ 10, 0, 0, row->side[side].host }), 4);
	}
}

TABLE_TEST(traffic_perftest, captured_sessions, row, sessions)
{
	struct session session;

	load_session(row->path, &session);
	for (int side = CLIENT; side <= SERVER; side++) {
		struct perftest_side got = { 0 };

		cr_assert_eq(read_side(&row->shape, &session, side, &got), PERFTEST_OK, "%s",
			     row->what);
		cr_assert_str_eq(got.version, PERFTEST_VERSION_TEXT);
		cr_assert_eq(got.mtu, 1024);
		cr_assert_eq(got.buffer_bytes, 4096);
		cr_assert_eq(got.line_bytes, 64);
		check_keys(row, side, &got);
		if (row->reports[side]) {
			cr_assert_eq(got.report.size, row->shape.size, "%s", row->what);
			cr_assert_eq(got.report.count, row->shape.count, "%s", row->what);
		}
	}
}

// --- what two sides were told ------------------------------------------------------------------

struct differing_row {
	const char *what;
	const char *path;
	int side;                    // that is read
	struct perftest_shape shape; // as the reader was told
	enum perftest_verdict verdict;
};

static const struct differing_row differing[] = {
	{ "a peer with two queue pairs",
	  CAPTURES "/perftest-write-q2.pcap",
	  SERVER,
	  { RC_WRITE, false, 1, 4096, 20 },
	  PERFTEST_MORE_QPS },
	{ "a peer with two queue pairs, of SENDs",
	  CAPTURES "/perftest-send-bq2.pcap",
	  CLIENT,
	  { RC_SEND, true, 1, 4096, 20 },
	  PERFTEST_MORE_QPS },
	{ "a peer with two of three",
	  CAPTURES "/perftest-write-q2.pcap",
	  CLIENT,
	  { RC_WRITE, false, 3, 4096, 60 },
	  PERFTEST_FEWER_QPS },
	{ "a peer with one of two",
	  CAPTURES "/perftest-send.pcap",
	  SERVER,
	  { RC_SEND, false, 2, 65536, 40 },
	  PERFTEST_FEWER_QPS },
	{ "a server that goes one way",
	  CAPTURES "/perftest-write-q2.pcap",
	  SERVER,
	  { RC_WRITE, true, 2, 4096, 40 },
	  PERFTEST_OTHER_SIZE },
	{ "other messages",
	  CAPTURES "/perftest-write-bq2.pcap",
	  CLIENT,
	  { RC_WRITE, true, 2, 4097, 40 },
	  PERFTEST_OTHER_SIZE },
	{ "another number of them",
	  CAPTURES "/perftest-read-b.pcap",
	  SERVER,
	  { RC_READ, true, 1, 4096, 21 },
	  PERFTEST_OTHER_COUNT },
	{ "figures where there should be none",
	  CAPTURES "/perftest-send-bq2.pcap",
	  SERVER,
	  { RC_SEND, false, 2, 4096, 40 },
	  PERFTEST_MALFORMED },
};

TABLE_TEST(traffic_perftest, differing_shapes, row, differing)
{
	struct perftest_side got = { 0 };
	struct session session;

	load_session(row->path, &session);
	cr_assert_eq(read_side(&row->shape, &session, row->side, &got), row->verdict, "%s",
		     row->what);
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
	       side->mtu == 0 && side->keys[0].qp == 0 && side->keys[0].rkey == 0;
}

static const struct perftest_shape one_write = { RC_WRITE, false, 1, 4096, 20 };

static enum perftest_verdict read_word(enum perftest_step step, const void *bytes,
				       struct perftest_side *side)
{
	return perftest_read(&one_write, (struct perftest_turn){ step, 0 }, bytes, side);
}

TABLE_TEST(traffic_perftest, words, row, words)
{
	struct perftest_side side = { 0 };

	cr_assert_eq(read_word(row->step, row->bytes, &side), row->verdict, "%s", row->what);
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
		cr_assert_eq(read_word(PERFTEST_KEYS, keys, &side), PERFTEST_MALFORMED, "byte %u",
			     i);
		keys[i] = right;
	}
	cr_assert_eq(read_word(PERFTEST_KEYS, keys, &side), PERFTEST_OK);
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

	perftest_write((struct perftest_turn){ PERFTEST_MTU, 0 }, &side, out);
	cr_assert_eq(out[0], row->code, "%s", row->what);
	cr_assert_eq(out[1], 0);
}

// 1.5 is 0x3ff8000000000000 in IEEE 754.
Test(traffic_perftest, fractions_are_big_endian_doubles)
{
	const struct perftest_side side = { .report.average = 1.5 };
	const uint8_t want[8] = { 0x3f, 0xf8 };
	uint8_t out[8];

	perftest_write((struct perftest_turn){ PERFTEST_REPORT_AVERAGE, 0 }, &side, out);
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
