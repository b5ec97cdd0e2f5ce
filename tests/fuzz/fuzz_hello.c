// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the hello decoder and of the peer behind it. The input is a sequence of records:
//
//   bytes 0-1: length of the frame   byte 2: milliseconds since the last record, times 8
//   byte 3: bit 0 the carrier goes and comes, bit 1 the frame says that we are heard
//   then the frame
//
// Checked: no byte beyond the frame is read; what decodes encodes to a frame that decodes to the
// same; the states in which a port may be used are those of hello_peer.c.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "dataplane/core/hello_peer.h"
#include "tests/fuzz/fuzz.h"

enum { RECORD_BYTES = 4 };

static const struct hello_end self = { .id = 3, .boot = 4, .port = 5 };

static void check_round_trip(const struct hello *hello, const struct hello_mask *mask)
{
	static const uint8_t src[6] = { 0x02 };
	uint8_t wire[HELLO_FRAME_MAX];
	struct hello back;
	struct hello_mask got;
	const uint32_t len = hello_encode(hello, mask, src, wire);

	WEFT_CHECK(len <= sizeof(wire));
	WEFT_CHECK(hello_decode(wire, len, &back, &got));
	WEFT_CHECK(memcmp(hello, &back, sizeof(back)) == 0);
	WEFT_CHECK(memcmp(mask, &got, sizeof(got)) == 0);
}

static void check_peer(const struct hello_profile *pf, const struct hello_peer *peer, ns_t now)
{
	switch (peer->status) {
	case HELLO_UP: WEFT_CHECK(peer->usable && peer->expected); break;
	case HELLO_SILENT:
	case HELLO_DEAF:
	case HELLO_LOOPED: WEFT_CHECK(!peer->usable); break;
	case HELLO_RETURNING: WEFT_CHECK(!peer->usable && peer->streak < HELLO_RETURN_COUNT); break;
	case HELLO_UNHEARD:
	case HELLO_HEARD: break;
	case HELLO_OFF: WEFT_CHECK(false);
	}
	WEFT_CHECK(ns_before(now, hello_peer_deadline(pf, peer)));
}

static void receive(const struct hello_profile *pf, struct hello_peer *peer, const uint8_t *data,
		    uint32_t len, bool answers, ns_t now)
{
	uint8_t *copy = malloc(len);
	struct hello hello;
	struct hello_mask mask;

	if (len > 0)
		memcpy(copy, data, len);
	if (hello_decode(copy, len, &hello, &mask)) {
		check_round_trip(&hello, &mask);
		if (answers) {
			hello.hears = true;
			hello.heard = self;
		}
		hello_peer_heard(pf, peer, &self, &hello, now);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hello_profile pf = { .on = true, .interval_ns = 100000000, .multiplier = 3 };
	struct hello_peer peer;
	ns_t now = { 1000000000 };

	hello_peer_init(&pf, &peer);
	hello_peer_link(&pf, &peer, true);
	while (size >= RECORD_BYTES) {
		const uint8_t flags = data[3];
		uint32_t len = load_be16(data);

		now = ns_add(now, data[2] * 8000000ull);
		data += RECORD_BYTES;
		size -= RECORD_BYTES;
		len = len < size ? len : (uint32_t)size;
		if (flags & 1) {
			hello_peer_link(&pf, &peer, false);
			hello_peer_link(&pf, &peer, true);
		}
		hello_peer_tick(&pf, &peer, 0, now);
		receive(&pf, &peer, data, len, flags & 2, now);
		check_peer(&pf, &peer, now);
		data += len;
		size -= len;
	}
	return 0;
}
