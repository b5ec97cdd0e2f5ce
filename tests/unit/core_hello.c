// SPDX-License-Identifier: BSD-3-Clause
//
// Hello frames on the wire and the state machine of one peer. The bytes of the frame are written
// here by the layout in dataplane/core/hello.h, field by field, not by the encoder.

#include "dataplane/core/hello_peer.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/table.h"

enum { MASK_AT = 130, MS = 1000000 };

static const uint8_t source[6] = { 2, 0, 0, 0, 0, 9 };

// A frame of switch "leaf1", port "Ethernet8", with edges 9 and 70 in its mask.
static uint32_t write_frame(uint8_t out[HELLO_FRAME_MAX])
{
	memset(out, 0, HELLO_FRAME_MAX);
	store_be48(out, 0x0180c200000e);
	memcpy(out + 6, source, 6);
	store_be16(out + 12, 0x88b5);
	store_be32(out + 14, 0x77656674);
	out[18] = 1;
	out[19] = 3;
	store_be16(out + 20, 2);
	store_be16(out + 22, 17);
	store_be32(out + 24, 0xb0071d);
	store_be32(out + 28, 1234);
	store_be32(out + 32, 100000);
	store_be32(out + 36, 0x01234567);
	store_be32(out + 40, 0x89abcdef);
	store_be32(out + 44, 0xcafe);
	store_be16(out + 48, 5);
	out[50] = 2;
	out[51] = 0x18;
	out[52] = 0xff;
	out[54] = 3;
	out[55] = 4;
	store_be16(out + 62, 1);
	store_be16(out + 64, 8);
	memcpy(out + 66, "leaf1", 5);
	memcpy(out + 98, "Ethernet8", 9);
	out[MASK_AT] = 1 << 1;     // edge 9: byte 1, bit 1
	out[MASK_AT + 7] = 1 << 6; // edge 70: byte 8, bit 6
	return MASK_AT + 8;
}

Test(core_hello, a_frame_reads_as_its_layout_says_and_writes_back)
{
	uint8_t wire[HELLO_FRAME_MAX];
	uint8_t again[HELLO_FRAME_MAX];
	const uint32_t len = write_frame(wire);
	struct hello h;
	struct hello_mask mask;

	cr_assert(hello_decode(wire, len, &h, &mask));
	cr_assert_str_eq(h.name, "leaf1");
	cr_assert_str_eq(h.port_name, "Ethernet8");
	cr_assert_eq(h.from.id, hello_id("leaf1"));
	cr_assert_eq(h.from.port, 2);
	cr_assert_eq(h.from.boot, 0xb0071d);
	cr_assert_eq(h.edge, 17);
	cr_assert_eq(h.seq, 1234);
	cr_assert_eq(h.interval_us, 100000);
	cr_assert(h.hears);
	cr_assert_eq(h.heard.id, 0x0123456789abcdef);
	cr_assert_eq(h.heard.boot, 0xcafe);
	cr_assert_eq(h.heard.port, 5);
	cr_assert_eq(h.lanes.count, 2);
	cr_assert(h.lanes.tag);
	cr_assert_eq(h.lanes.pfc_sent, 0x18);
	cr_assert_eq(h.lanes.pfc_obeyed, 0xff);
	cr_assert_eq(h.lanes.priority[0], 3);
	cr_assert_eq(h.lanes.priority[1], 4);
	for (uint32_t i = 0; i < HELLO_MASK_WORDS; i++)
		cr_assert_eq(mask.word[i], i == 0 ? 1u << 9 : i == 1 ? 1u << 6 : 0);
	cr_assert_eq(hello_encode(&h, &mask, source, again), len);
	cr_assert_arr_eq(again, wire, len);
}

static const struct {
	const char *what;
	uint16_t at;
	uint8_t value;
	bool good;
} byte_rows[] = {
	{ "magic", 14, 0x76, false },
	{ "version 0", 18, 0, false },
	{ "version 2", 18, 2, false },
	{ "unknown flags", 19, 0xf3, true },
	{ "five lanes", 50, 5, false },
	{ "priority 8", 55, 8, false },
	{ "priority of a lane not in use", 56, 8, true },
	{ "reserved", 53, 0xff, true },
	{ "the mask ends behind edge 4095", 62, 2, false },
	{ "the mask is longer than the frame", 65, 9, false },
	{ "control character in the name", 68, '\n', false },
	{ "byte 128 in the name", 68, 0x80, false },
	{ "bytes behind the name's end", 75, 'x', false },
	{ "name of 32 bytes without an end", 97, 'x', false },
	{ "the port's name ends early", 98, 0, false },
};

TABLE_TEST(core_hello, fields_out_of_range, row, byte_rows)
{
	uint8_t wire[HELLO_FRAME_MAX];
	const uint32_t len = write_frame(wire);
	struct hello h;
	struct hello_mask mask;

	wire[row->at] = row->value;
	cr_assert_eq(hello_decode(wire, len, &h, &mask), row->good, "%s", row->what);
}

Test(core_hello, an_interval_of_zero_is_refused)
{
	uint8_t wire[HELLO_FRAME_MAX];
	const uint32_t len = write_frame(wire);
	struct hello h;
	struct hello_mask mask;

	store_be32(wire + 32, 0);
	cr_assert_not(hello_decode(wire, len, &h, &mask));
}

Test(core_hello, a_frame_cut_short_anywhere_is_refused)
{
	uint8_t wire[HELLO_FRAME_MAX];
	const uint32_t len = write_frame(wire);
	struct hello h;
	struct hello_mask mask;

	for (uint32_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut); // the sanitizer sees any byte read beyond

		if (cut > 0)
			memcpy(copy, wire, cut);
		cr_assert_not(hello_decode(copy, cut, &h, &mask), "%u bytes", cut);
		free(copy);
	}
}

Test(core_hello, all_edges_fit)
{
	uint8_t wire[HELLO_FRAME_MAX];
	struct hello h = { .interval_us = 1 };
	struct hello back;
	struct hello_mask mask;
	struct hello_mask got;

	memset(&mask, 0xff, sizeof(mask));
	cr_assert_eq(hello_encode(&h, &mask, source, wire), MASK_AT + 512);
	cr_assert(hello_decode(wire, MASK_AT + 512, &back, &got));
	cr_assert_arr_eq(&got, &mask, sizeof(mask));
}

// --- the peer ---------------------------------------------------------------------------------

static const struct hello_end self = { .id = 11, .boot = 1, .port = 4 };

static const struct hello_profile profile = {
	.on = true,
	.interval_ns = 100 * MS,
	.multiplier = 10,
	.lanes = { .count = 2,
		   .tag = true,
		   .pfc_sent = 0x18,
		   .pfc_obeyed = 0x18,
		   .priority = { 3, 4 } },
};

// What happens to a port: one letter per event. The numbers are those of `profile`.
//	u link up   d link down   h hello that hears us   o hello that does not
//	r the peer restarted   g one hello lost   l our own hello
//	t an interval passes, and the port looks   T eleven intervals pass like that
struct run {
	struct hello_peer peer;
	struct hello next;
	ns_t now;
};

static void say(struct run *run, bool hears)
{
	run->next.seq++;
	run->next.hears = hears;
	run->next.heard = hears ? self : (struct hello_end){ 0 };
	cr_assert(hello_peer_heard(&profile, &run->peer, &self, &run->next, run->now));
}

static void pass(struct run *run, uint32_t intervals)
{
	for (; intervals > 0; intervals--) {
		run->now = ns_add(run->now, profile.interval_ns);
		hello_peer_tick(&profile, &run->peer, 0, run->now);
	}
}

static void event(struct run *run, char letter)
{
	struct hello own = { .from = self, .interval_us = 1, .seq = 1 };

	switch (letter) {
	case 'u': hello_peer_link(&profile, &run->peer, true); break;
	case 'd': hello_peer_link(&profile, &run->peer, false); break;
	case 'h': say(run, true); break;
	case 'o': say(run, false); break;
	case 'r':
		run->next.from.boot++;
		run->next.seq = 0;
		break;
	case 'g': run->next.seq++; break;
	case 'l': hello_peer_heard(&profile, &run->peer, &self, &own, run->now); break;
	case 't': pass(run, 1); break;
	case 'T': pass(run, 11); break;
	default: cr_assert_fail("unknown event");
	}
}

static const struct {
	const char *what;
	const char *events;
	enum hello_status status;
	bool usable;
} life_rows[] = {
	{ "a peer that never sends one", "uTT", HELLO_UNHEARD, true },
	{ "first meeting", "uo", HELLO_HEARD, true },
	{ "both ways", "uoh", HELLO_UP, true },
	{ "both ways at once", "uh", HELLO_UP, true },
	{ "silence of ten intervals", "uhtttttttttt", HELLO_UP, true },
	{ "and of eleven", "uhT", HELLO_SILENT, false },
	{ "hellos keep it", "uhttttthtttttthttttth", HELLO_UP, true },
	{ "it never hears us", "uotototototototototototot", HELLO_DEAF, false },
	{ "it hears us no longer", "uho", HELLO_DEAF, false },
	{ "it restarts", "uhro", HELLO_HEARD, true },
	{ "it restarts and hears us", "uhroh", HELLO_UP, true },
	{ "it restarts and does not hear us", "uhrototototototototototot", HELLO_DEAF, false },
	{ "one hello after silence", "uhTh", HELLO_RETURNING, false },
	{ "three after silence", "uhTthththt", HELLO_UP, true },
	{ "two and one, with one lost between", "uhThhgh", HELLO_RETURNING, false },
	{ "two and three, with one lost between", "uhThhghhh", HELLO_UP, true },
	{ "three, one of them deaf", "uhThohh", HELLO_RETURNING, false },
	{ "silence while it returns", "uhThT", HELLO_SILENT, false },
	{ "after the carrier was gone it must be heard", "uhdu", HELLO_UNHEARD, false },
	{ "and then is used at once", "uhduoh", HELLO_UP, true },
	{ "a loop", "ul", HELLO_LOOPED, false },
	{ "a loop that was undone", "ulhhh", HELLO_UP, true },
};

TABLE_TEST(core_hello, life_of_a_peer, row, life_rows)
{
	struct run run = {
		.next = { .from = { .id = 22, .boot = 7, .port = 1 },
			  .interval_us = 100000,
			  .lanes = profile.lanes },
		.now = { 5000000000 },
	};

	hello_peer_init(&profile, &run.peer);
	for (const char *e = row->events; *e != '\0'; e++)
		event(&run, *e);
	cr_assert_eq(run.peer.status, row->status, "%s: %s", row->what,
		     hello_status_words[run.peer.status]);
	cr_assert_eq(run.peer.usable, row->usable, "%s", row->what);
	cr_assert_eq(run.peer.mismatch, HELLO_AGREE);
}

Test(core_hello, a_required_hello_is_waited_for)
{
	struct hello_profile required = profile;
	struct hello_peer peer;

	required.required = true;
	hello_peer_init(&required, &peer);
	hello_peer_link(&required, &peer, true);
	cr_assert_not(peer.usable);
}

Test(core_hello, an_old_hello_counts_for_nothing)
{
	struct hello_peer peer;
	struct hello h = { .from = { .id = 22, .boot = 7 }, .interval_us = 1000, .seq = 9 };

	hello_peer_init(&profile, &peer);
	hello_peer_link(&profile, &peer, true);
	cr_assert(hello_peer_heard(&profile, &peer, &self, &h, (ns_t){ 1000 }));
	cr_assert_not(hello_peer_heard(&profile, &peer, &self, &h, (ns_t){ 2000 }));
	h.seq = 8;
	cr_assert_not(hello_peer_heard(&profile, &peer, &self, &h, (ns_t){ 3000 }));
	cr_assert_eq(peer.heard_at.v, 1000);
}

// The slower end sets the pace, up to what the knob allows.
static const struct {
	const char *what;
	uint32_t interval_us;
	uint64_t hold_ns;
} hold_rows[] = {
	{ "faster", 10000, 1000 * (uint64_t)MS },
	{ "slower", 250000, 2500 * (uint64_t)MS },
	{ "absurd", UINT32_MAX, 100000 * (uint64_t)MS },
};

TABLE_TEST(core_hello, patience, row, hold_rows)
{
	const struct hello_peer peer = { .hello = { .interval_us = row->interval_us } };

	cr_assert_eq(hello_peer_hold_ns(&profile, &peer), row->hold_ns, "%s", row->what);
}

static const struct {
	const char *what;
	struct hello_lanes peer;
	enum hello_mismatch mismatch;
	uint8_t at, have, want;
} lane_rows[] = {
	{ "the same", { 2, true, 0x18, 0x18, { 3, 4 } }, HELLO_AGREE, 0, 0, 0 },
	{ "it obeys more", { 2, true, 0x18, 0xff, { 3, 4 } }, HELLO_AGREE, 0, 0, 0 },
	{ "fewer lanes", { 1, true, 0x18, 0x18, { 3 } }, HELLO_LANE_COUNT, 0, 2, 1 },
	{ "no tags", { 2, false, 0x18, 0x18, { 3, 4 } }, HELLO_LANE_TAG, 0, 1, 0 },
	{ "another priority", { 2, true, 0x18, 0x18, { 3, 5 } }, HELLO_LANE_PRIORITY, 1, 4, 5 },
	{ "PFC on one", { 2, true, 0x08, 0x08, { 3, 4 } }, HELLO_PFC_SENT, 0, 0x18, 0x08 },
	{ "obeys one", { 2, true, 0x18, 0x08, { 3, 4 } }, HELLO_PFC_OBEYED, 0, 0, 0x10 },
};

TABLE_TEST(core_hello, agreement, row, lane_rows)
{
	struct hello_peer peer = { .hello = { .interval_us = 1, .lanes = row->peer } };

	hello_peer_agree(&profile, &peer);
	cr_assert_eq(peer.mismatch, row->mismatch, "%s", row->what);
	cr_assert_eq(peer.at, row->at);
	cr_assert_eq(peer.have, row->have);
	cr_assert_eq(peer.want, row->want);
}
