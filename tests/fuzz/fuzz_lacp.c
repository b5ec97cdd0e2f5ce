// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the LACPDU decoder and of the machines behind it. The input is a sequence of
// records:
//
//   byte 0: frame length   bytes 1-2: milliseconds since the last record   byte 3: link up, the LAG
//   takes the port in   then the frame from its EtherType's end on
//
// Checked: no byte beyond the frame is read; what decodes encodes to a frame that decodes to the
// same; a port runs only with a partner that it has heard and that is in sync; it never sends more
// than three frames in a second.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "dataplane/core/lacp.h"
#include "tests/fuzz/fuzz.h"

enum { RECORD_BYTES = 4, UP = 1, SELECTED = 2, L2_BYTES = 14 };

static bool same_info(const struct lacp_info *a, const struct lacp_info *b)
{
	return a->system == b->system && a->system_priority == b->system_priority &&
	       a->key == b->key && a->port_priority == b->port_priority && a->port == b->port &&
	       a->state == b->state;
}

static void check_round_trip(const struct lacp_pdu *pdu)
{
	static const uint8_t src[6] = { 0x02 };
	uint8_t wire[LACP_FRAME_BYTES];
	struct lacp_pdu back;

	lacp_pdu_encode(pdu, src, wire);
	WEFT_CHECK(lacp_pdu_decode(wire, sizeof(wire), L2_BYTES, &back) == LACP_FRAME_PDU);
	WEFT_CHECK(same_info(&pdu->actor, &back.actor) && same_info(&pdu->partner, &back.partner));
}

static void check_state(const struct lacp_state *st, ns_t now)
{
	const bool running = lacp_is_running(st);

	WEFT_CHECK(!running || (st->rx == LACP_RX_CURRENT && st->selected));
	WEFT_CHECK(!running || st->partner.state & LACP_SYNCHRONIZATION);
	WEFT_CHECK(running == ((st->state & LACP_DISTRIBUTING) != 0));
	WEFT_CHECK(st->tx_count <= LACP_TX_MAX);
	WEFT_CHECK(st->rx == LACP_RX_DISABLED || lacp_deadline(st).v > now.v || st->ntt);
}

// Decodes from a copy that ends where the frame ends.
static void hear(const struct lacp_profile *pf, struct lacp_state *st, const uint8_t *body,
		 uint32_t len, ns_t now)
{
	uint8_t *copy = malloc(L2_BYTES + len);
	struct lacp_pdu pdu;

	WEFT_CHECK(copy != NULL);
	memset(copy, 0, L2_BYTES);
	if (len > 0)
		memcpy(copy + L2_BYTES, body, len);
	if (lacp_pdu_decode(copy, L2_BYTES + len, L2_BYTES, &pdu) == LACP_FRAME_PDU) {
		check_round_trip(&pdu);
		lacp_receive(pf, st, &pdu, now);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lacp_profile pf = { { 0x020000000001, 0x8000, 1, 0x8000, 1,
					   LACP_ACTIVITY | LACP_AGGREGATION | LACP_TIMEOUT } };
	struct lacp_state st = { 0 };
	ns_t now = { 1000000000 };
	bool up = false;

	while (size >= RECORD_BYTES) {
		uint32_t len = data[0];

		now = ns_add(now, load_be16(data + 1) * 1000000ull);
		if (up != ((data[3] & UP) != 0)) {
			up = !up;
			lacp_link(&pf, &st, up, now);
		}
		lacp_tick(&st, now);
		data += RECORD_BYTES;
		size -= RECORD_BYTES;
		len = len < size ? len : (uint32_t)size;
		hear(&pf, &st, data, len, now);
		lacp_select(&st, data[-1] & SELECTED, now);
		lacp_send(&st, now);
		check_state(&st, now);
		data += len;
		size -= len;
	}
	return 0;
}
