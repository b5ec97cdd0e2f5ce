// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the parser and the classifier. The input is a frame from its destination address
// on, without FCS. It is parsed whole, then with less and less of it at hand, then cut short.
//
// Checked: no byte behind head_len is read (each copy has memory of its own length); the result
// depends on nothing that was in the packet before; what passes keeps the rules of
// parse_invariant.h; what lies in head_len is found as in the whole frame; classes are in range.

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/parse_invariant.h"

enum { MAX_FRAME_BYTES = 9114, CUT_MAX = 160 }; // headers of most frames end before CUT_MAX

static enum drop_reason parse_dirty(struct pkt *p, uint8_t dirt, uint8_t *data, uint32_t len,
				    uint16_t head_len)
{
	memset(p, dirt, sizeof(*p));
	p->data = data;
	p->len = len;
	p->head_len = head_len;
	return parse(p, MAX_FRAME_BYTES);
}

static bool same_result(const struct pkt *a, const struct pkt *b)
{
	return a->dst_qp == b->dst_qp && a->l4_offset == b->l4_offset && a->tci == b->tci &&
	       a->l3_offset == b->l3_offset && a->l3 == b->l3 && a->l4 == b->l4 &&
	       a->tos == b->tos && a->opcode == b->opcode && a->flags == b->flags;
}

static void check_class(struct pkt *p)
{
	struct port_profile pf = {
		.trust_dscp = true, .default_tc = 7, .map_ethertypes = 1, .cnp_pg = 6
	};

	pf.ethertype_to_tc[0].ethertype = 0x8915;
	pf.ethertype_to_tc[0].tc = 3;
	for (uint8_t tc = 0; tc < TC_COUNT; tc++) {
		pf.tc_to_pg[tc] = tc;
		pf.tc_to_queue[tc] = tc;
	}
	classify(&pf, 6, p);
	WEFT_CHECK(p->tc.v == p->pg.v && p->tc.v == p->queue.v && p->tc.v < TC_COUNT);
	WEFT_CHECK((p->flags & PKT_CNP) == 0 || p->tc.v == 6);
}

// Parses a frame of `len` bytes of which `head_len` are at hand, in memory of just that length.
static enum drop_reason check_frame(const uint8_t *frame, uint32_t len, uint16_t head_len,
				    struct pkt *out)
{
	uint8_t *copy = malloc(head_len);
	enum drop_reason reason;
	struct pkt again;

	if (head_len > 0)
		memcpy(copy, frame, head_len);
	reason = parse_dirty(out, 0xff, copy, len, head_len);
	WEFT_CHECK(parse_dirty(&again, 0x00, copy, len, head_len) == reason);
	if (reason == DROP_NONE) {
		WEFT_CHECK(same_result(out, &again));
		WEFT_CHECK(parse_broken_rule(out) == NULL);
		check_class(out);
	}
	free(copy);
	return reason;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint16_t len = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
	struct pkt whole, part;
	const enum drop_reason want = check_frame(data, len, len, &whole);

	for (uint16_t cut = 0; cut < len && cut <= CUT_MAX; cut++) {
		if (check_frame(data, len, cut, &part) == DROP_NONE)
			WEFT_CHECK(want == DROP_NONE && same_result(&whole, &part));
		check_frame(data, cut, cut, &part);
	}
	return 0;
}
