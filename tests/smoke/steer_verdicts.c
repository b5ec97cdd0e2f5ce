// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/xdp/steer.bpf.c in the kernel, without an interface: BPF_PROG_TEST_RUN hands it frames
// and tells the verdict. Expected classes are rows of schema/steering.def, and what is RoCE, ND and
// ARP is compared with the switch's own parser over captures and broken copies of them.
//
// Needs root. Counters are read as weft-switch reads them, so each verdict is checked twice.

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "dataplane/core/stage.h"
#include "dataplane/xdp/steer.h"

#include "tests/frame_text.h"
#include "tests/table.h"

// --- the program and its rules ------------------------------------------------------------------

struct bench {
	struct bpf_object *object;
	struct steer *steer;
	int program;
	int socket;
};

// A frame on queue 0 finds a socket unless `deaf`.
static void bench_open(struct bench *bench, bool deaf)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "steer");
	const uint32_t queue = 0;
	size_t bytes;
	const void *memory = steer_object(&bytes);
	int map;

	bench->object = bpf_object__open_mem(memory, bytes, &options);
	cr_assert_not_null(bench->object);
	cr_assert_eq(bpf_object__load(bench->object), 0, "the kernel refuses the program");
	bench->program = bpf_program__fd(bpf_object__next_program(bench->object, NULL));
	map = bpf_object__find_map_fd_by_name(bench->object, "xsks_map");
	cr_assert_geq(map, 0, "the driver looks for xsks_map");
	bench->socket = socket(AF_XDP, SOCK_RAW, 0);
	cr_assert_geq(bench->socket, 0);
	if (!deaf)
		cr_assert_eq(bpf_map_update_elem(map, &queue, &bench->socket, BPF_ANY), 0);
	bench->steer = steer_open();
	cr_assert_not_null(bench->steer);
}

static void bench_close(struct bench *bench)
{
	steer_close(bench->steer);
	close(bench->socket);
	bpf_object__close(bench->object);
}

static void read_prefixes(const char *text, struct steer_prefixes *out)
{
	char wrong[64] = "";

	cr_assert_eq(steer_prefixes_parse(text, out, wrong, sizeof(wrong)), 0, "%s", wrong);
}

static struct own_addresses own_of(const char *text)
{
	struct own_addresses own = { 0 };
	struct steer_prefixes hosts;

	read_prefixes(text, &hosts);
	for (; own.count4 < hosts.count4; own.count4++)
		own.v4[own.count4] = hosts.v4[own.count4].address;
	for (; own.count6 < hosts.count6; own.count6++)
		own.v6[own.count6] = hosts.v6[own.count6].address;
	return own;
}

static void bench_rules(struct bench *bench, const uint8_t mac[6], const char *own_text,
			const char *prefixes_text)
{
	const struct own_addresses own = own_of(own_text);
	struct steer_prefixes prefixes;

	read_prefixes(prefixes_text, &prefixes);
	cr_assert_eq(steer_attach_program(bench->steer, bench->program, mac, &prefixes, &own), 0);
}

static struct steer_counters bench_counters(const struct bench *bench)
{
	struct steer_counters counters;

	cr_assert_eq(steer_read(bench->steer, &counters), 0);
	return counters;
}

struct outcome {
	uint32_t action;
	uint32_t class; // STEER_CLASS_COUNT: not counted
	uint32_t verdict;
};

static struct outcome run(const struct bench *bench, const uint8_t *frame, uint32_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = len, .repeat = 1);
	const struct steer_counters before = bench_counters(bench);
	struct outcome out = { .class = STEER_CLASS_COUNT };
	struct steer_counters after;
	uint64_t total = 0;

	cr_assert_eq(bpf_prog_test_run_opts(bench->program, &options), 0, "%u bytes", len);
	after = bench_counters(bench);
	out.action = options.retval;
	for (uint32_t i = 0; i < STEER_CLASS_COUNT * STEER_VERDICT_COUNT; i++) {
		const uint32_t class = i / STEER_VERDICT_COUNT, verdict = i % STEER_VERDICT_COUNT;
		const uint64_t more = after.frames[class][verdict] - before.frames[class][verdict];

		total += more;
		if (more == 0)
			continue;
		out.class = class;
		out.verdict = verdict;
	}
	cr_assert_leq(total, 1, "a frame is counted once");
	return out;
}

static void expect(const struct outcome *out, enum steer_class class, enum steer_verdict verdict,
		   const char *what, uint32_t len)
{
	cr_expect_eq(out->action, verdict == STEER_TAKEN ? XDP_REDIRECT : XDP_PASS,
		     "%s, %u bytes: action %u", what, len, out->action);
	cr_expect_eq(out->class, class, "%s, %u bytes: class %s", what, len,
		     out->class < STEER_CLASS_COUNT ? steer_class_keys[out->class] : "none");
	cr_expect_eq(out->verdict, verdict, "%s, %u bytes: verdict %u", what, len, out->verdict);
}

// --- the decision table -------------------------------------------------------------------------

// Frames are to ADDRESSES' first MAC, to 10.0.0.2 and 2001:db8::2; ARP asks for 10.0.0.2 and ND for
// 2001:db8::3. `nic` says that the first MAC is the interface's.
struct verdict_row {
	const char *what;
	const char *frame;
	uint32_t head; // bytes without which the frame is malformed: WHOLE, or 0 to cut nothing
	enum steer_class class;
	enum steer_verdict verdict;
	const char *own;
	const char *prefixes;
	bool nic;
};

#define WHOLE UINT32_MAX
#define TAKEN STEER_TAKEN
#define LEFT STEER_LEFT
#define NOBODY "192.0.2.1 2001:db8:ffff::1"
#define ELSEWHERE "192.0.2.0/24 2001:db8:ffff::/48"
#define EVERYWHERE "0.0.0.0/0 ::/0"
#define V4_ROCE IPV4("002c", "4000", "11") ROCE("04")
#define V6_ROCE IPV6("0018", "11") ROCE("04")
#define V4_TCP IPV4("0028", "4000", "06") TCP
#define V6_TCP IPV6("0014", "06") TCP
#define SOLICIT "86dd " IPV6_HEAD("0018", "3a", "ff") ND("87")
#define ADVERTISE "86dd " IPV6_HEAD("0018", "3a", "ff") ND("88")
#define SEVEN EXT("3c") EXT("3c") EXT("2b") EXT("3c") EXT("3c") EXT("3c") EXT("3c")

static const struct verdict_row verdict_rows[] = {
	// what the EtherType decides
	{ "PFC", "0180c2000001 020000000002 " PFC, 0, STEER_MAC_CONTROL, TAKEN, NOBODY, "", 0 },
	{ "tagged PFC", "0180c2000001 " SIX CTAG("e000") PFC, 18, STEER_MAC_CONTROL, TAKEN, NOBODY,
	  "", 0 },
	{ "LLDP", "0180c200000e 020000000002 88cc 0000", 0, STEER_LLDP, TAKEN, NOBODY, "", 0 },
	{ "RoCEv1", ADDRESSES GRH("0010", "1b") BTH("04") ICRC, 0, STEER_ROCE_V1, TAKEN, NOBODY, "",
	  0 },
	{ "RoCEv1 to the interface's MAC", ADDRESSES GRH("0010", "1b") BTH("04") ICRC, 0,
	  STEER_ROCE_V1, TAKEN, NOBODY, "", 1 },
	{ "spanning tree", "0180c2000000 020000000002 0026 42 42 03", 0, STEER_OTHER, LEFT, NOBODY,
	  EVERYWHERE, 0 },
	{ "an unknown EtherType", ADDRESSES "88b5 0000", 0, STEER_OTHER, LEFT, NOBODY, EVERYWHERE,
	  0 },
	// tags
	{ "customer tag", ADDRESSES CTAG("6000") V4_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, NOBODY, "",
	  0 },
	{ "service tag", ADDRESSES STAG("b064") V6_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, NOBODY, "",
	  0 },
	{ "QinQ", ADDRESSES STAG("a064") CTAG("6065") V4_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, NOBODY,
	  "", 0 },
	{ "QinQ to an own address", ADDRESSES STAG("a064") CTAG("6065") V4_TCP, WHOLE, STEER_OWN,
	  LEFT, "10.0.0.2", EVERYWHERE, 0 },
	{ "three tags", ADDRESSES CTAG("0001") CTAG("0002") CTAG("0003") V4_ROCE, 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	// ARP
	{ "ARP for a host", ADDRESSES ARP, WHOLE, STEER_ARP, TAKEN, NOBODY, "", 0 },
	{ "tagged ARP for a host", ADDRESSES CTAG("0001") ARP, WHOLE, STEER_ARP, TAKEN, NOBODY, "",
	  0 },
	{ "ARP for an own address", "ffffffffffff 020000000002 " ARP, WHOLE, STEER_ARP, LEFT,
	  "10.0.0.2", EVERYWHERE, 0 },
	{ "ARP to the interface's MAC", ADDRESSES ARP, WHOLE, STEER_ARP, LEFT, NOBODY, "", 1 },
	{ "ARP of another medium", ADDRESSES "0806 0006 0800 06 04 " ARP_BODY, WHOLE, STEER_OTHER,
	  LEFT, NOBODY, EVERYWHERE, 0 },
	// ND
	{ "solicitation of a host", ADDRESSES SOLICIT, WHOLE, STEER_ND, TAKEN, NOBODY, "", 0 },
	{ "advertisement of a host", ADDRESSES ADVERTISE, WHOLE, STEER_ND, TAKEN, NOBODY, "", 0 },
	{ "solicitation of an own address", ADDRESSES SOLICIT, WHOLE, STEER_ND, LEFT, "2001:db8::3",
	  EVERYWHERE, 0 },
	{ "advertisement to an own address", ADDRESSES ADVERTISE, WHOLE, STEER_ND, LEFT,
	  "2001:db8::2", EVERYWHERE, 0 },
	{ "advertisement to the interface's MAC", ADDRESSES ADVERTISE, WHOLE, STEER_ND, LEFT,
	  NOBODY, "", 1 },
	{ "ND that a router forwarded", ADDRESSES "86dd " IPV6_HEAD("0018", "3a", "fe") ND("87"),
	  WHOLE, STEER_OTHER, LEFT, NOBODY, "", 0 },
	{ "router advertisement", ADDRESSES "86dd " IPV6_HEAD("0018", "3a", "ff") ND("86"), WHOLE,
	  STEER_OTHER, LEFT, NOBODY, "", 0 },
	// RoCEv2
	{ "RoCEv2", ADDRESSES V4_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "CNP", ADDRESSES IPV4("002c", "4000", "11") ROCE("81"), WHOLE, STEER_ROCE_V2, TAKEN,
	  NOBODY, "", 0 },
	{ "RoCEv2 to an own address", ADDRESSES V4_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, "10.0.0.2",
	  "", 1 },
	{ "RoCEv2 behind ten options",
	  ADDRESSES IPV4_HEAD("4f", "0054", "4000", "11") TEN_OPTIONS ROCE("04"), WHOLE,
	  STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "RoCEv2 over IPv6", ADDRESSES V6_ROCE, WHOLE, STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "eight extensions", ADDRESSES IPV6("0058", "00") SEVEN EXT("11") ROCE("04"), WHOLE,
	  STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "nine extensions", ADDRESSES IPV6("0060", "00") EXT("3c") SEVEN EXT("11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "authentication header", ADDRESSES IPV6("0030", "33") AH("11") ROCE("04"), WHOLE,
	  STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "atomic fragment", ADDRESSES IPV6("0020", "2c") FRAG("11", "0000") ROCE("04"), WHOLE,
	  STEER_ROCE_V2, TAKEN, NOBODY, "", 0 },
	{ "a datagram without room for a BTH",
	  ADDRESSES IPV4("0028", "0000", "11") UDP("12b7", "0013") BTH("04"), WHOLE, STEER_OTHER,
	  LEFT, NOBODY, "", 0 },
	{ "UDP to another port", ADDRESSES IPV4("001c", "0000", "11") UDP("0035", "0008"), WHOLE,
	  STEER_OTHER, LEFT, NOBODY, ELSEWHERE, 0 },
	// addresses
	{ "TCP", ADDRESSES V4_TCP, WHOLE, STEER_OTHER, LEFT, NOBODY, ELSEWHERE, 0 },
	{ "TCP over IPv6", ADDRESSES V6_TCP, WHOLE, STEER_OTHER, LEFT, NOBODY, ELSEWHERE, 0 },
	{ "TCP into the prefix", ADDRESSES V4_TCP, WHOLE, STEER_PREFIX, TAKEN, NOBODY,
	  "10.0.0.0/30 2001:db8::/64", 0 },
	{ "TCP beside the prefix", ADDRESSES V4_TCP, WHOLE, STEER_OTHER, LEFT, NOBODY,
	  "10.0.0.0/31", 0 },
	{ "TCP over IPv6 into the prefix", ADDRESSES V6_TCP, WHOLE, STEER_PREFIX, TAKEN, NOBODY,
	  "10.0.0.0/30 2001:db8::/127 2001:db8::2/128", 0 },
	{ "TCP over IPv6 beside the prefix", ADDRESSES V6_TCP, WHOLE, STEER_OTHER, LEFT, NOBODY,
	  "2001:db8::/127", 0 },
	{ "TCP to an own address in the prefix", ADDRESSES V4_TCP, WHOLE, STEER_OWN, LEFT,
	  "192.0.2.1 10.0.0.2", "10.0.0.0/8", 0 },
	{ "TCP over IPv6 to an own address in the prefix", ADDRESSES V6_TCP, WHOLE, STEER_OWN, LEFT,
	  "2001:db8::2", "2001:db8::/64", 0 },
	{ "UDP to another port into the prefix",
	  ADDRESSES IPV4("001c", "0000", "11") UDP("0035", "0008"), WHOLE, STEER_PREFIX, TAKEN,
	  NOBODY, EVERYWHERE, 0 },
	// fragments
	{ "first fragment to RoCE's port",
	  ADDRESSES IPV4("0024", "2000", "11") UDP("12b7", "1000") "0400000000000000", WHOLE,
	  STEER_OTHER, LEFT, NOBODY, ELSEWHERE, 0 },
	{ "first fragment into the prefix",
	  ADDRESSES IPV4("0024", "2000", "11") UDP("12b7", "1000") "0400000000000000", WHOLE,
	  STEER_PREFIX, TAKEN, NOBODY, EVERYWHERE, 0 },
	{ "last fragment", ADDRESSES IPV4("001c", "1000", "11") UDP("12b7", "0008"), WHOLE,
	  STEER_OTHER, LEFT, NOBODY, "", 0 },
	{ "last fragment into the prefix", ADDRESSES IPV4("001c", "1000", "11") UDP("12b7", "0008"),
	  WHOLE, STEER_PREFIX, TAKEN, NOBODY, EVERYWHERE, 0 },
	{ "first fragment over IPv6",
	  ADDRESSES IPV6("0018", "2c") FRAG("11", "0001") UDP("12b7", "1000") "0400000000000000",
	  WHOLE, STEER_OTHER, LEFT, NOBODY, "", 0 },
	{ "last fragment over IPv6 to an own address",
	  ADDRESSES IPV6("0010", "2c") FRAG("11", "0008") UDP("12b7", "0000"), WHOLE, STEER_OWN,
	  LEFT, "2001:db8::2", EVERYWHERE, 0 },
	{ "last fragment over IPv6 into the prefix",
	  ADDRESSES IPV6("0010", "2c") FRAG("11", "0008") UDP("12b7", "0000"), WHOLE, STEER_PREFIX,
	  TAKEN, NOBODY, EVERYWHERE, 0 },
	// lengths and versions that lie
	{ "a header of four words", ADDRESSES IPV4_HEAD("44", "002c", "4000", "11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "version 6 in IPv4", ADDRESSES IPV4_HEAD("65", "002c", "4000", "11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "a packet shorter than its header", ADDRESSES IPV4("0013", "4000", "11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "a packet longer than its frame", ADDRESSES IPV4("002d", "4000", "11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "a datagram longer than its packet",
	  ADDRESSES IPV4("002c", "4000", "11") UDP("12b7", "0019") BTH("04") ICRC, 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "a datagram shorter than its header",
	  ADDRESSES IPV4("002c", "4000", "11") UDP("12b7", "0007") BTH("04") ICRC, 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "version 4 in IPv6",
	  ADDRESSES "86dd 46a00000 0018 11 40 " SIX SIX SIX SIX SIX "0000 " ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "an IPv6 packet longer than its frame", ADDRESSES IPV6("0019", "11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "an extension beyond the packet", ADDRESSES IPV6("0008", "3c") EXT16("11") ROCE("04"), 0,
	  STEER_MALFORMED, LEFT, NOBODY, EVERYWHERE, 0 },
	{ "hop-by-hop options that are not first",
	  ADDRESSES IPV6("0028", "3c") EXT("00") EXT("11") ROCE("04"), 0, STEER_MALFORMED, LEFT,
	  NOBODY, EVERYWHERE, 0 },
};

static const uint8_t first_mac[6] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 9 };

TABLE_TEST(steer, verdict, row, verdict_rows)
{
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(row->frame, frame);
	struct bench bench;
	struct outcome out;

	bench_open(&bench, false);
	bench_rules(&bench, row->nic ? first_mac : other_mac, row->own, row->prefixes);
	out = run(&bench, frame, len);
	expect(&out, row->class, row->verdict, row->what, len);
	// The kernel tests no frame shorter than an Ethernet header.
	for (uint32_t cut = 14; cut < row->head && cut < len; cut++) {
		out = run(&bench, frame, cut);
		expect(&out, STEER_MALFORMED, STEER_LEFT, row->what, cut);
	}
	bench_close(&bench);
}

Test(steer, nothing_is_taken_before_the_rules_are_there)
{
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(ADDRESSES V4_ROCE, frame);
	struct bench bench;
	struct outcome out;

	bench_open(&bench, false);
	out = run(&bench, frame, len);
	cr_expect_eq(out.action, XDP_PASS);
	cr_expect_eq(out.class, STEER_CLASS_COUNT);
	bench_close(&bench);
}

Test(steer, what_no_socket_receives_is_left_to_the_kernel)
{
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(ADDRESSES V4_ROCE, frame);
	struct bench bench;
	struct outcome out;

	bench_open(&bench, true);
	bench_rules(&bench, other_mac, NOBODY, "");
	out = run(&bench, frame, len);
	expect(&out, STEER_ROCE_V2, STEER_LEFT, "no socket", len);
	bench_close(&bench);
}

Test(steer, own_addresses_come_and_go)
{
	static const char *const steps[] = {
		NOBODY, "10.0.0.2", "10.0.0.2 10.0.0.3", "10.0.0.3 10.0.0.4", "", "10.0.0.2"
	};
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(ADDRESSES V4_TCP, frame);
	struct bench bench;

	bench_open(&bench, false);
	bench_rules(&bench, other_mac, "", EVERYWHERE);
	for (size_t i = 0; i < TABLE_COUNT(steps); i++) {
		const struct own_addresses own = own_of(steps[i]);
		const bool mine = strstr(steps[i], "10.0.0.2") != NULL;
		struct outcome out;

		cr_assert_eq(steer_refresh(bench.steer, &own), 0);
		out = run(&bench, frame, len);
		expect(&out, mine ? STEER_OWN : STEER_PREFIX, mine ? STEER_LEFT : STEER_TAKEN,
		       steps[i], len);
	}
	bench_close(&bench);
}

// --- prefixes as text ---------------------------------------------------------------------------

struct prefix_row {
	const char *what;
	const char *text;
	const char *wrong; // NULL: right
	uint32_t count4, count6;
};

static const struct prefix_row prefix_rows[] = {
	{ "none", " , ", NULL, 0, 0 },
	{ "both families", "10.0.0.0/8, fd00::/8 192.0.2.1", NULL, 2, 1 },
	{ "lengths at their ends", "0.0.0.0/0 1.2.3.4/32 ::/0 ::1/128", NULL, 2, 2 },
	{ "bits behind the length", "10.0.0.0/8 10.0.0.1/31", "10.0.0.1/31", 0, 0 },
	{ "bits behind the length, IPv6", "2001:db8::1/127", "2001:db8::1/127", 0, 0 },
	{ "too long", "10.0.0.0/33", "10.0.0.0/33", 0, 0 },
	{ "too long, IPv6", "::/129", "::/129", 0, 0 },
	{ "no length", "10.0.0.0/", "10.0.0.0/", 0, 0 },
	{ "a negative length", "10.0.0.0/-1", "10.0.0.0/-1", 0, 0 },
	{ "text behind the length", "10.0.0.0/8x", "10.0.0.0/8x", 0, 0 },
	{ "a name", "localhost", "localhost", 0, 0 },
	{ "three bytes", "10.0.0/24", "10.0.0/24", 0, 0 },
};

TABLE_TEST(steer, prefix_text, row, prefix_rows)
{
	struct steer_prefixes out;
	char wrong[64] = "";
	const int rc = steer_prefixes_parse(row->text, &out, wrong, sizeof(wrong));

	if (row->wrong != NULL) {
		cr_expect_eq(rc, -EINVAL, "%s", row->what);
		cr_expect_str_eq(wrong, row->wrong, "%s", row->what);
		return;
	}
	cr_expect_eq(rc, 0, "%s: %s", row->what, wrong);
	cr_expect_eq(out.count4, row->count4, "%s", row->what);
	cr_expect_eq(out.count6, row->count6, "%s", row->what);
}

// --- agreement with the switch's parser ---------------------------------------------------------

enum { CAPTURED_MAX = 256, CAPTURED_BYTES = 2048, MUTANTS = 40 };

struct captured {
	uint32_t count;
	uint32_t len[CAPTURED_MAX];
	uint8_t frame[CAPTURED_MAX][CAPTURED_BYTES];
};

// libpcap's header and that of BPF define the same names, so the file is read here.
static void read_capture(const char *path, struct captured *out)
{
	uint32_t head[6], record[4];
	FILE *file = fopen(path, "rb");

	cr_assert_not_null(file, "%s", path);
	cr_assert_eq(fread(head, sizeof(head), 1, file), 1);
	cr_assert_eq(head[0], 0xa1b2c3d4u, "%s: a pcap file of this byte order", path);
	while (fread(record, sizeof(record), 1, file) == 1) {
		cr_assert_lt(out->count, CAPTURED_MAX);
		cr_assert_leq(record[2], CAPTURED_BYTES);
		out->len[out->count] = record[2];
		cr_assert_eq(fread(out->frame[out->count++], record[2], 1, file), 1);
	}
	fclose(file);
}

static bool by_ethertype(const uint8_t *frame, uint32_t len)
{
	uint32_t at = 12;

	for (uint32_t tags = 0; tags < 2 && at + 6 <= len; tags++) {
		const uint32_t type = load_be16(frame + at);

		if (type != 0x8100 && type != 0x88a8)
			break;
		at += 4;
	}
	switch (load_be16(frame + at)) {
	case 0x8808:
	case 0x88cc:
	case 0x8915: return true;
	}
	return false;
}

// What the switch would make of the frame; it alone minds the source address.
static bool parser_wants(const uint8_t *frame, uint32_t len)
{
	uint8_t copy[CAPTURED_BYTES];
	struct pkt p = { .data = copy, .len = len, .head_len = (uint16_t)len };

	memcpy(copy, frame, len);
	memcpy(copy + 6, other_mac, sizeof(other_mac));
	return parse(&p, CAPTURED_BYTES) == DROP_NONE &&
	       (p.l4 == PKT_L4_BTH || p.l4 == PKT_L4_ND || p.l3 == PKT_L3_ARP);
}

static bool agree(const struct bench *bench, const uint8_t *frame, uint32_t len)
{
	const bool wanted = by_ethertype(frame, len) || parser_wants(frame, len);
	const struct outcome out = run(bench, frame, len);

	cr_expect_eq(out.action == XDP_REDIRECT, wanted, "%u bytes, class %u", len, out.class);
	return wanted;
}

// Breaks up to three bytes, and cuts every other frame short.
static uint32_t mutate(struct rng *rng, const uint8_t *frame, uint32_t len, uint8_t *out)
{
	memcpy(out, frame, len);
	for (uint32_t n = rng_below(rng, 4); n > 0; n--)
		out[rng_below(rng, len < 100 ? len : 100)] = (uint8_t)rng_next32(rng);
	if (rng_below(rng, 2) == 0)
		return len;
	return 14 + rng_below(rng, len - 13);
}

Test(steer, takes_what_the_switch_understands)
{
	static struct captured captured;
	static uint8_t mutant[CAPTURED_BYTES];
	uint64_t taken = 0, left = 0;
	struct bench bench;
	struct rng rng;

	rng_seed(&rng, 1);
	read_capture(CAPTURES "/kinds.pcap", &captured);
	cr_assert_geq(captured.count, 30);
	read_capture(CAPTURES "/rxe-ce.pcap", &captured);
	bench_open(&bench, false);
	bench_rules(&bench, first_mac, "", "");
	for (uint32_t i = 0; i < captured.count * MUTANTS; i++) {
		const uint32_t at = i / MUTANTS;
		const uint32_t len = i % MUTANTS == 0 ? captured.len[at] :
							mutate(&rng, captured.frame[at],
							       captured.len[at], mutant);

		if (agree(&bench, i % MUTANTS == 0 ? captured.frame[at] : mutant, len))
			taken++;
		else
			left++;
	}
	cr_expect_gt(taken, 1000);
	cr_expect_gt(left, 1000);
	bench_close(&bench);
}
