// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/core/parse.c: every kind of frame and what is found in it, every length that lies, and
// that nothing behind head_len is read. Frames are hexadecimal text put together from the headers'
// fields; each is parsed from memory that ends where it may be read no further.
//
// Layouts: IEEE 802.3, 802.1Q, RFC 791, 826, 4443, 4861, 8200, IBTA annexes A16 and A17.

#include <sys/mman.h>
#include <unistd.h>

#include "dataplane/core/stage.h"

#include "tests/frame_text.h"
#include "tests/parse_invariant.h"
#include "tests/table.h"

enum { FRAME_MAX = FRAME_TEXT_MAX, MAX_FRAME_BYTES = 9114 };

// --- memory that ends at head_len ---------------------------------------------------------------

// One readable page, then one that faults: what ends at `limit` cannot be read past.
static uint8_t *guard_limit(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	cr_assert_eq(mprotect(memory + page, page, PROT_NONE), 0);
	return memory + page;
}

// Parses the first `head_len` bytes of a frame that claims `len`. The packet starts out dirty.
static enum drop_reason parse_copy(uint8_t *limit, const uint8_t *frame, uint32_t len,
				   uint32_t head_len, struct pkt *p)
{
	memset(p, 0xa5, sizeof(*p));
	p->data = limit - head_len;
	p->len = len;
	p->head_len = (uint16_t)head_len;
	memcpy(p->data, frame, head_len);
	return parse(p, MAX_FRAME_BYTES);
}

// --- frames that pass ---------------------------------------------------------------------------

enum { TOS = 0x6a, OPCODE = 0x04, OPCODE_CNP = 0x81, DST_QP = 0x0a0b0c };

// Every IP header and GRH above has TOS, every BTH DST_QP and OPCODE, or OPCODE_CNP with PKT_CNP.
struct pass_row {
	const char *what;
	const char *frame;
	uint32_t head; // bytes that must be readable
	enum pkt_l3 l3;
	enum pkt_l4 l4;
	uint32_t l3_offset, l4_offset;
	uint32_t flags;
	uint32_t tci;
};

#define IP4 PKT_L3_IPV4
#define IP6 PKT_L3_IPV6
#define PLAIN PKT_L4_OTHER
#define LATER PKT_L4_FRAGMENT
#define RDMA PKT_L4_BTH

static const struct pass_row pass_rows[] = {
	// IPv4
	{ "RoCEv2", ADDRESSES IPV4("002c", "4000", "11") ROCE("04"), 54, IP4, RDMA, 14, 42, 0, 0 },
	{ "CNP", ADDRESSES IPV4("002c", "4000", "11") ROCE("81"), 54, IP4, RDMA, 14, 42, PKT_CNP,
	  0 },
	{ "padding", ADDRESSES IPV4("002c", "4000", "11") ROCE("04") "0000", 54, IP4, RDMA, 14, 42,
	  0, 0 },
	{ "one option", ADDRESSES IPV4_HEAD("46", "0030", "4000", "11") "01010100" ROCE("04"), 58,
	  IP4, RDMA, 14, 46, 0, 0 },
	{ "ten options", ADDRESSES IPV4_HEAD("4f", "0054", "4000", "11") TEN_OPTIONS ROCE("04"), 94,
	  IP4, RDMA, 14, 82, 0, 0 },
	{ "UDP", ADDRESSES IPV4("001c", "0000", "11") UDP("0035", "0008"), 42, IP4, PKT_L4_UDP, 14,
	  34, 0, 0 },
	{ "UDP shorter than its packet",
	  ADDRESSES IPV4("0020", "0000", "11") UDP("0035", "0008") ICRC, 42, IP4, PKT_L4_UDP, 14,
	  34, 0, 0 },
	{ "a BTH without ICRC", ADDRESSES IPV4("0028", "0000", "11") UDP("12b7", "0014") BTH("04"),
	  54, IP4, RDMA, 14, 42, 0, 0 },
	{ "no room for a BTH in the datagram",
	  ADDRESSES IPV4("0028", "0000", "11") UDP("12b7", "0013") BTH("04"), 42, IP4, PKT_L4_UDP,
	  14, 34, 0, 0 },
	{ "TCP", ADDRESSES IPV4("0028", "4000", "06") TCP, 54, IP4, PKT_L4_TCP, 14, 34, 0, 0 },
	{ "ICMP", ADDRESSES IPV4("001c", "0000", "01") "0800 0000 0001 0001", 34, IP4, PLAIN, 14,
	  34, 0, 0 },
	{ "no payload", ADDRESSES IPV4("0014", "0000", "fd"), 34, IP4, PLAIN, 14, 34, 0, 0 },
	{ "first fragment, whose datagram is longer",
	  ADDRESSES IPV4("0024", "2000", "11") UDP("12b7", "1000") "0400000000000000", 42, IP4,
	  PKT_L4_UDP, 14, 34, 0, 0 },
	{ "middle fragment", ADDRESSES IPV4("001c", "2001", "11") UDP("12b7", "0000"), 34, IP4,
	  LATER, 14, 34, 0, 0 },
	{ "last fragment", ADDRESSES IPV4("001c", "1000", "06") UDP("12b7", "0000"), 34, IP4, LATER,
	  14, 34, 0, 0 },
	// IPv6
	{ "RoCEv2 over IPv6", ADDRESSES IPV6("0018", "11") ROCE("04"), 74, IP6, RDMA, 14, 62, 0,
	  0 },
	{ "CNP over IPv6", ADDRESSES IPV6("0018", "11") ROCE("81"), 74, IP6, RDMA, 14, 62, PKT_CNP,
	  0 },
	{ "padding behind IPv6", ADDRESSES IPV6("0000", "3b") SIX, 54, IP6, PLAIN, 14, 54, 0, 0 },
	{ "TCP over IPv6", ADDRESSES IPV6("0014", "06") TCP, 74, IP6, PKT_L4_TCP, 14, 54, 0, 0 },
	{ "hop-by-hop", ADDRESSES IPV6("0020", "00") EXT("11") ROCE("04"), 82, IP6, RDMA, 14, 70, 0,
	  0 },
	{ "destination options", ADDRESSES IPV6("0028", "3c") EXT16("11") ROCE("81"), 90, IP6, RDMA,
	  14, 78, PKT_CNP, 0 },
	{ "routing", ADDRESSES IPV6("0020", "2b") EXT("11") ROCE("04"), 82, IP6, RDMA, 14, 70, 0,
	  0 },
	{ "authentication", ADDRESSES IPV6("0030", "33") AH("11") ROCE("04"), 98, IP6, RDMA, 14, 86,
	  0, 0 },
	{ "atomic fragment", ADDRESSES IPV6("0020", "2c") FRAG("11", "0000") ROCE("04"), 82, IP6,
	  RDMA, 14, 70, 0, 0 },
	{ "first fragment over IPv6",
	  ADDRESSES IPV6("0018", "2c") FRAG("11", "0001") UDP("12b7", "1000") "0400000000000000",
	  70, IP6, PKT_L4_UDP, 14, 62, 0, 0 },
	{ "last fragment over IPv6",
	  ADDRESSES IPV6("0010", "2c") FRAG("11", "0008") UDP("12b7", "0000"), 62, IP6, LATER, 14,
	  62, 0, 0 },
	{ "later fragment of what looks like an extension",
	  ADDRESSES IPV6("0018", "3c") EXT("2c") FRAG("3c", "fff9") "00ff000000000000", 70, IP6,
	  LATER, 14, 70, 0, 0 },
	{ "eight extensions",
	  ADDRESSES IPV6("0058", "00") EXT("3c") EXT("3c") EXT("2b") EXT("3c") EXT("3c") EXT("3c")
		  EXT("3c") EXT("11") ROCE("04"),
	  138, IP6, RDMA, 14, 126, 0, 0 },
	{ "no next header", ADDRESSES IPV6("0000", "3b"), 54, IP6, PLAIN, 14, 54, 0, 0 },
	{ "an unknown protocol of no bytes", ADDRESSES IPV6("0000", "59"), 54, IP6, PLAIN, 14, 54,
	  0, 0 },
	{ "encrypted behind an extension",
	  ADDRESSES IPV6("0010", "3c") EXT("32") UDP("12b7", "0000"), 62, IP6, PLAIN, 14, 62, 0,
	  0 },
	// ND
	{ "neighbour solicitation", ADDRESSES "86dd " IPV6_HEAD("0018", "3a", "ff") ND("87"), 78,
	  IP6, PKT_L4_ND, 14, 54, 0, 0 },
	{ "neighbour advertisement", ADDRESSES "86dd " IPV6_HEAD("0018", "3a", "ff") ND("88"), 78,
	  IP6, PKT_L4_ND, 14, 54, 0, 0 },
	{ "ND that a router forwarded", ADDRESSES "86dd " IPV6_HEAD("0018", "3a", "fe") ND("87"),
	  58, IP6, PLAIN, 14, 54, 0, 0 },
	{ "ND with a code", ADDRESSES "86dd " IPV6_HEAD("0004", "3a", "ff") "87 01 0000", 58, IP6,
	  PLAIN, 14, 54, 0, 0 },
	{ "ND behind an extension",
	  ADDRESSES "86dd " IPV6_HEAD("0020", "3c", "ff") EXT("3a") ND("88"), 66, IP6, PLAIN, 14,
	  62, 0, 0 },
	{ "fragmented ND",
	  ADDRESSES "86dd " IPV6_HEAD("0020", "2c", "ff") FRAG("3a", "0000") ND("88"), 66, IP6,
	  PLAIN, 14, 62, 0, 0 },
	{ "router solicitation",
	  ADDRESSES "86dd " IPV6_HEAD("0008", "3a", "ff") "85000000 00000000", 58, IP6, PLAIN, 14,
	  54, 0, 0 },
	// RoCEv1
	{ "RoCEv1", ADDRESSES GRH("0010", "1b") BTH("04") ICRC, 66, PKT_L3_ROCE_V1, RDMA, 14, 54, 0,
	  0 },
	{ "RoCEv1 CNP", ADDRESSES GRH("0010", "1b") BTH("81") ICRC, 66, PKT_L3_ROCE_V1, RDMA, 14,
	  54, PKT_CNP, 0 },
	{ "GRH without BTH", ADDRESSES GRH("0004", "3b") ICRC, 54, PKT_L3_ROCE_V1, PLAIN, 14, 54, 0,
	  0 },
	// tags
	{ "priority tag", ADDRESSES CTAG("6000") IPV4("002c", "4000", "11") ROCE("04"), 58, IP4,
	  RDMA, 18, 46, PKT_TAGGED, 0x6000 },
	{ "VLAN 0, priority 0", ADDRESSES CTAG("0000") IPV4("002c", "4000", "11") ROCE("04"), 58,
	  IP4, RDMA, 18, 46, PKT_TAGGED, 0 },
	{ "service tag", ADDRESSES STAG("b064") IPV6("0018", "11") ROCE("81"), 78, IP6, RDMA, 18,
	  66, PKT_TAGGED | PKT_CNP, 0xb064 },
	{ "QinQ", ADDRESSES STAG("a064") CTAG("6065") IPV4("002c", "4000", "11") ROCE("04"), 62,
	  IP4, RDMA, 22, 50, PKT_TAGGED, 0xa064 },
	{ "two customer tags", ADDRESSES CTAG("2fff") CTAG("4001") GRH("0010", "1b") BTH("04") ICRC,
	  74, PKT_L3_ROCE_V1, RDMA, 22, 62, PKT_TAGGED, 0x2fff },
	{ "a tag of another kind is an EtherType", ADDRESSES "9100 0001 0800", 14, PKT_L3_OTHER,
	  PLAIN, 14, 14, 0, 0 },
	// everything else
	{ "ARP", ADDRESSES ARP, 42, PKT_L3_ARP, PLAIN, 14, 14, 0, 0 },
	{ "broadcast ARP", "ffffffffffff 020000000002 " CTAG("0001") ARP, 46, PKT_L3_ARP, PLAIN, 18,
	  18, PKT_TAGGED | PKT_GROUP, 1 },
	{ "ARP of another medium", ADDRESSES "0806 0006 0800 06 04 " ARP_BODY, 42, PKT_L3_OTHER,
	  PLAIN, 14, 14, 0, 0 },
	{ "ARP of another protocol", ADDRESSES "0806 0001 8137 06 04 " ARP_BODY, 42, PKT_L3_OTHER,
	  PLAIN, 14, 14, 0, 0 },
	{ "ARP of another length", ADDRESSES "0806 0001 0800 08 04 " ARP_BODY, 42, PKT_L3_OTHER,
	  PLAIN, 14, 14, 0, 0 },
	{ "LLDP", "0180c200000e 020000000002 88cc 0000", 14, PKT_L3_LLDP, PLAIN, 14, 14, PKT_GROUP,
	  0 },
	{ "LLDP, tagged", "0180c200000e 020000000002 " CTAG("0001") "88cc 0000", 18, PKT_L3_LLDP,
	  PLAIN, 18, 18, PKT_TAGGED | PKT_GROUP, 1 },
	{ "the EtherType of LLDP to a host", ADDRESSES "88cc 0000", 14, PKT_L3_OTHER, PLAIN, 14, 14,
	  0, 0 },
	{ "the EtherType of LLDP to everybody", "ffffffffffff 020000000002 88cc 0000", 14,
	  PKT_L3_OTHER, PLAIN, 14, 14, PKT_GROUP, 0 },
	{ "LLDP that goes beyond the nearest bridge", "0180c2000000 020000000002 88cc 0000", 14,
	  PKT_L3_OTHER, PLAIN, 14, 14, PKT_GROUP, 0 },
	{ "PFC", "0180c2000001 020000000002 " PFC, 14, PKT_L3_MAC_CONTROL, PLAIN, 14, 14, PKT_GROUP,
	  0 },
	{ "PFC from zero", "0180c2000001 " SIX PFC, 14, PKT_L3_MAC_CONTROL, PLAIN, 14, 14,
	  PKT_GROUP, 0 },
	{ "PFC from a group", "0180c2000001 030000000002 " PFC, 14, PKT_L3_MAC_CONTROL, PLAIN, 14,
	  14, PKT_GROUP, 0 },
	{ "tagged PFC", "0180c2000001 " SIX CTAG("e000") PFC, 18, PKT_L3_MAC_CONTROL, PLAIN, 18, 18,
	  PKT_TAGGED | PKT_GROUP, 0xe000 },
	{ "spanning tree", "0180c2000000 020000000002 0026 42 42 03", 14, PKT_L3_OTHER, PLAIN, 14,
	  14, PKT_GROUP, 0 },
	{ "an EtherType and nothing else", ADDRESSES "88b5", 14, PKT_L3_OTHER, PLAIN, 14, 14, 0,
	  0 },
	{ "to the zero address", SIX "020000000002 88b5", 14, PKT_L3_OTHER, PLAIN, 14, 14, 0, 0 },
};

static void check_found(const struct pass_row *row, const struct pkt *p, uint32_t head_len)
{
	const char *broken = parse_broken_rule(p);
	const bool bth = row->l4 == PKT_L4_BTH;
	const bool classed = row->l3 == IP4 || row->l3 == IP6 || row->l3 == PKT_L3_ROCE_V1;
	const uint32_t opcode = row->flags & PKT_CNP ? OPCODE_CNP : OPCODE;

	cr_expect_null(broken, "%s, head %u: %s", row->what, head_len, broken);
	cr_expect_eq(p->l3, row->l3, "%s, head %u: l3 %u", row->what, head_len, p->l3);
	cr_expect_eq(p->l4, row->l4, "%s, head %u: l4 %u", row->what, head_len, p->l4);
	cr_expect_eq(p->l3_offset, row->l3_offset, "%s: l3_offset %u", row->what, p->l3_offset);
	cr_expect_eq(p->l4_offset, row->l4_offset, "%s: l4_offset %u", row->what, p->l4_offset);
	cr_expect_eq(p->tos, classed ? TOS : 0, "%s: tos %u", row->what, p->tos);
	cr_expect_eq(p->opcode, bth ? opcode : 0, "%s: opcode %u", row->what, p->opcode);
	cr_expect_eq(p->dst_qp, bth ? DST_QP : 0, "%s: dst_qp %x", row->what, p->dst_qp);
	cr_expect_eq(p->tci, row->tci, "%s: tci %x", row->what, p->tci);
	cr_expect_eq(p->flags, row->flags, "%s: flags %x", row->what, p->flags);
}

// The frame is whole, but only `head_len` bytes of it are at hand, up to all of them.
TABLE_TEST(core_parse, needs_the_headers_and_no_more, row, pass_rows)
{
	uint8_t *limit = guard_limit();
	uint8_t frame[FRAME_MAX];
	const uint32_t len = frame_decode(row->frame, frame);
	struct pkt p;

	for (uint32_t head_len = 0; head_len <= len; head_len++) {
		const enum drop_reason reason = parse_copy(limit, frame, len, head_len, &p);

		if (head_len >= row->head) {
			cr_expect_eq(reason, DROP_NONE, "%s, head %u", row->what, head_len);
			check_found(row, &p, head_len);
		} else {
			cr_expect_eq(reason, DROP_PARSE_TRUNCATED, "%s, head %u: %s", row->what,
				     head_len, drop_infos[reason].name);
		}
	}
}

// The frame itself is cut.
TABLE_TEST(core_parse, survives_every_cut, row, pass_rows)
{
	uint8_t *limit = guard_limit();
	uint8_t frame[FRAME_MAX];
	const uint32_t len = frame_decode(row->frame, frame);
	struct pkt p;

	for (uint32_t cut = 0; cut <= len; cut++) {
		const enum drop_reason reason = parse_copy(limit, frame, cut, cut, &p);
		const char *broken = reason == DROP_NONE ? parse_broken_rule(&p) : NULL;

		cr_expect_null(broken, "%s, cut to %u: %s", row->what, cut, broken);
		cr_expect(cut >= row->head || reason == DROP_PARSE_TRUNCATED ||
				  reason == DROP_PARSE_LENGTH,
			  "%s, cut to %u: %s", row->what, cut, drop_infos[reason].name);
	}
}

// --- frames that do not pass --------------------------------------------------------------------

static const struct {
	const char *what;
	const char *frame;
	enum drop_reason want;
} drop_rows[] = {
	{ "nothing", "", DROP_PARSE_TRUNCATED },
	{ "half an EtherType", ADDRESSES "08", DROP_PARSE_TRUNCATED },
	{ "half a tag", ADDRESSES "8100 0001", DROP_PARSE_TRUNCATED },
	{ "three tags", ADDRESSES STAG("0001") CTAG("0002") CTAG("0003") ARP, DROP_PARSE_TAGS },
	{ "a third tag's EtherType alone", ADDRESSES CTAG("0001") CTAG("0002") "88a8",
	  DROP_PARSE_TAGS },
	// sources
	{ "source zero", "020000000001 " SIX ARP, DROP_SRC_MAC_INVALID },
	{ "source group", "020000000001 010000000002 " ARP, DROP_SRC_MAC_INVALID },
	{ "source broadcast", "020000000001 ffffffffffff " IPV4("0014", "0000", "fd"),
	  DROP_SRC_MAC_INVALID },
	{ "tagged, source zero", "020000000001 " SIX CTAG("0001") ARP, DROP_SRC_MAC_INVALID },
	// versions and header lengths
	{ "version 6 in IPv4", ADDRESSES IPV4_HEAD("65", "002c", "4000", "11") ROCE("04"),
	  DROP_PARSE_HEADER },
	{ "version 0 in IPv4", ADDRESSES IPV4_HEAD("05", "002c", "4000", "11") ROCE("04"),
	  DROP_PARSE_HEADER },
	{ "four words of IPv4", ADDRESSES IPV4_HEAD("44", "002c", "4000", "11") ROCE("04"),
	  DROP_PARSE_HEADER },
	{ "version 4 in IPv6", ADDRESSES "86dd 45" SIX SIX SIX SIX SIX SIX "000000",
	  DROP_PARSE_HEADER },
	{ "version 5 in a GRH", ADDRESSES "8915 50" SIX SIX SIX SIX SIX SIX "000000",
	  DROP_PARSE_HEADER },
	// IPv4 lengths
	{ "total length 0", ADDRESSES IPV4("0000", "4000", "11") ROCE("04"), DROP_PARSE_LENGTH },
	{ "total length inside the header", ADDRESSES IPV4("0013", "4000", "11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "total length inside the header of an unknown protocol",
	  ADDRESSES IPV4("0013", "0000", "fd"), DROP_PARSE_LENGTH },
	{ "total length inside the options",
	  ADDRESSES IPV4_HEAD("46", "0017", "4000", "11") ICRC ROCE("04"), DROP_PARSE_LENGTH },
	{ "total length a byte beyond the frame", ADDRESSES IPV4("002d", "4000", "11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "total length beyond all frames", ADDRESSES IPV4("ffff", "4000", "11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "total length inside UDP", ADDRESSES IPV4("001b", "4000", "11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "total length inside TCP", ADDRESSES IPV4("0027", "4000", "06") TCP, DROP_PARSE_LENGTH },
	{ "a later fragment beyond the frame",
	  ADDRESSES IPV4("001d", "2001", "11") UDP("12b7", "0000"), DROP_PARSE_LENGTH },
	// UDP lengths
	{ "UDP length 0", ADDRESSES IPV4("002c", "4000", "11") UDP("12b7", "0000") BTH("04") ICRC,
	  DROP_PARSE_LENGTH },
	{ "UDP length inside its header",
	  ADDRESSES IPV4("002c", "4000", "11") UDP("12b7", "0007") BTH("04") ICRC,
	  DROP_PARSE_LENGTH },
	{ "UDP length a byte beyond the packet, in padding",
	  ADDRESSES IPV4("002c", "4000", "11") UDP("12b7", "0019") BTH("04") ICRC "0000",
	  DROP_PARSE_LENGTH },
	{ "UDP length beyond all", ADDRESSES IPV6("0018", "11") UDP("0035", "ffff") BTH("04") ICRC,
	  DROP_PARSE_LENGTH },
	{ "UDP length 7 in a first fragment",
	  ADDRESSES IPV4("001c", "2000", "11") UDP("12b7", "0007"), DROP_PARSE_LENGTH },
	// IPv6 lengths
	{ "payload a byte beyond the frame", ADDRESSES IPV6("0019", "11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "payload beyond all frames", ADDRESSES IPV6("ffff", "3b"), DROP_PARSE_LENGTH },
	{ "payload inside UDP", ADDRESSES IPV6("0007", "11") ROCE("04"), DROP_PARSE_LENGTH },
	{ "no payload for UDP", ADDRESSES IPV6("0000", "11") ROCE("04"), DROP_PARSE_LENGTH },
	{ "a jumbogram", ADDRESSES IPV6("0000", "00") "1100c20400010000 " ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "payload inside ICMPv6", ADDRESSES IPV6("0003", "3a") ND("87"), DROP_PARSE_LENGTH },
	{ "payload inside ND", ADDRESSES "86dd " IPV6_HEAD("0017", "3a", "ff") ND("87"),
	  DROP_PARSE_LENGTH },
	{ "payload inside TCP", ADDRESSES IPV6("0013", "06") TCP, DROP_PARSE_LENGTH },
	{ "GRH payload beyond the frame", ADDRESSES GRH("0011", "1b") BTH("04") ICRC,
	  DROP_PARSE_LENGTH },
	{ "GRH payload inside the BTH", ADDRESSES GRH("000b", "1b") BTH("04") ICRC,
	  DROP_PARSE_LENGTH },
	// extension chains
	{ "payload inside an extension", ADDRESSES IPV6("0007", "3c") EXT("11") ROCE("04"),
	  DROP_PARSE_LENGTH },
	{ "an extension longer than the payload",
	  ADDRESSES IPV6("0020", "3c") "11ff000000000000" ROCE("04"), DROP_PARSE_LENGTH },
	{ "authentication longer than the payload",
	  ADDRESSES IPV6("0020", "33") "11ff000000000000" ROCE("04"), DROP_PARSE_LENGTH },
	{ "an extension that ends in UDP's place",
	  ADDRESSES IPV6("0010", "3c") EXT16("11") ROCE("04"), DROP_PARSE_LENGTH },
	{ "hop-by-hop in second place", ADDRESSES IPV6("0028", "3c") EXT("00") EXT("11") ROCE("04"),
	  DROP_PARSE_HEADER },
	{ "nine extensions",
	  ADDRESSES IPV6("0060", "00") EXT("3c") EXT("3c") EXT("2b") EXT("3c") EXT("3c") EXT("3c")
		  EXT("3c") EXT("3c") EXT("11") ROCE("04"),
	  DROP_PARSE_HEADER },
	{ "half an ARP", ADDRESSES "0806 0001 0800 06 04 0001 020000000002 0a000001 " SIX "0a0000",
	  DROP_PARSE_TRUNCATED },
};

TABLE_TEST(core_parse, drops, row, drop_rows)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = frame_decode(row->frame, frame);
	enum drop_reason reason;
	struct pkt p;

	reason = parse_copy(guard_limit(), frame, len, len, &p);
	cr_expect_eq(reason, row->want, "%s: %s", row->what, drop_infos[reason].name);
	cr_expect_eq(p.flags & ~(PKT_TAGGED | PKT_GROUP | PKT_CNP), 0,
		     "%s: drop() must not uncharge what never was charged", row->what);
}

static const struct {
	const char *what;
	const char *frame;
	uint32_t len;
	enum drop_reason want;
} size_rows[] = {
	{ "the largest frame", ADDRESSES ARP, 9114, DROP_NONE },
	{ "a byte more", ADDRESSES ARP, 9115, DROP_FRAME_OVERSIZE },
	{ "the largest with a tag", ADDRESSES CTAG("0001") ARP, 9118, DROP_NONE },
	{ "a byte more with a tag", ADDRESSES CTAG("0001") ARP, 9119, DROP_FRAME_OVERSIZE },
	{ "the largest with two tags", ADDRESSES STAG("0001") CTAG("0002") ARP, 9122, DROP_NONE },
	{ "a byte more with two tags", ADDRESSES STAG("0001") CTAG("0002") ARP, 9123,
	  DROP_FRAME_OVERSIZE },
	{ "MAC control is no exception", "0180c2000001 " SIX PFC, 9115, DROP_FRAME_OVERSIZE },
	{ "far too much", ADDRESSES ARP, UINT32_MAX, DROP_FRAME_OVERSIZE },
};

TABLE_TEST(core_parse, limits_the_frame, row, size_rows)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t head_len = frame_decode(row->frame, frame);
	struct pkt p;

	cr_expect_eq(parse_copy(guard_limit(), frame, row->len, head_len, &p), row->want, "%s",
		     row->what);
}

// --- any bytes ----------------------------------------------------------------------------------

Test(core_parse, leaves_the_fields_of_others_alone)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = frame_decode(pass_rows[0].frame, frame);
	struct pkt want, p;

	cr_assert_eq(parse_copy(guard_limit(), frame, len, len, &p), DROP_NONE);
	memset(&want, 0xa5, sizeof(want));
	want.data = p.data;
	want.len = want.head_len = (uint16_t)len;
	want.dst_qp = p.dst_qp;
	want.tci = p.tci;
	want.l3_offset = p.l3_offset;
	want.l4_offset = p.l4_offset;
	want.l3 = p.l3;
	want.l4 = p.l4;
	want.tos = p.tos;
	want.opcode = p.opcode;
	want.flags = p.flags;
	want.lane = 0;
	cr_assert_eq(memcmp(&want, &p, sizeof(p)), 0);
}

// Valid frames with a few bytes changed and a random cut: what passes is still consistent.
SEED_TEST(core_parse, survives_changed_bytes, rng, 8)
{
	enum { ROUNDS = 5000, CHANGES = 3 };
	uint8_t *limit = guard_limit();
	uint8_t frame[FRAME_MAX];
	struct pkt p;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct pass_row *row = &pass_rows[rng_below(rng, TABLE_COUNT(pass_rows))];
		const uint32_t len = frame_decode(row->frame, frame);
		const uint32_t head_len = rng_below(rng, 2) ? len : rng_below(rng, len + 1);
		const char *broken = NULL;

		for (uint32_t i = 0; i < CHANGES; i++)
			frame[12 + rng_below(rng, len - 12)] = (uint8_t)rng_next32(rng);
		if (parse_copy(limit, frame, len, head_len, &p) == DROP_NONE)
			broken = parse_broken_rule(&p);
		cr_assert_null(broken, "%s, round %u: %s", row->what, round, broken);
	}
}
