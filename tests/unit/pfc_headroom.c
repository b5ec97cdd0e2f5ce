// SPDX-License-Identifier: BSD-3-Clause
//
// pfc/headroom.c against figures that switches ship with: the static table of the MSN2700 (SONiC
// pg_profile_lookup.ini), the formula worked out by hand for SONiC's virtual switch, and the xon of
// the eight-lane ports of the MSN4700.

#include "pfc/pfc.h"

#include <signal.h>

#include "tests/table.h"

#define G 1000000000ull

// Spectrum-1: cells of 96 bytes, pipeline 19 KiB, MAC and PHY 0.8 KiB, peer 3.8 KiB at any speed.
static const struct headroom_asic msn2700 = {
	.cell_bytes = 96,
	.pipeline_latency_deci_kib = 190,
	.mac_phy_delay_deci_kib = 8,
	.peer_response_deci_kib = 38,
	.fixed_peer_response = true,
};

static const struct {
	const char *what;
	uint64_t bps;
	uint32_t cable_m;
	struct headroom want;
} msn2700_rows[] = {
	{ "10G 5m", 10 * G, 5, { .size = 49152, .xon = 19456, .xoff = 29696 } },
	{ "100G 5m", 100 * G, 5, { .size = 50176, .xon = 19456, .xoff = 30720 } },
	{ "100G 40m", 100 * G, 40, { .size = 58368, .xon = 19456, .xoff = 38912 } },
	{ "100G 300m", 100 * G, 300, { .size = 123904, .xon = 19456, .xoff = 104448 } },
};

TABLE_TEST(headroom, msn2700_table, row, msn2700_rows)
{
	const struct headroom_link link = {
		.bps = row->bps,
		.cable_m = row->cable_m,
		.port_mtu = 9100,
		.lossless_mtu = 1024,
		.small_percent = 100,
	};
	const struct headroom got = headroom_wire(&msn2700, &link);

	cr_assert_eq(got.xon, row->want.xon, "%s: xon %lu", row->what, got.xon);
	cr_assert_eq(got.xoff, row->want.xoff, "%s: xoff %lu", row->what, got.xoff);
	cr_assert_eq(got.size, row->want.size, "%s: size %lu", row->what, got.size);
}

static const uint32_t virtual_cables[] = { 5, 40, 300 };

static const struct {
	const char *what;
	uint64_t bps;
	uint64_t xoff[TABLE_COUNT(virtual_cables)];
} virtual_rows[] = {
	{ "1G", 1 * G, { 14336, 15360, 15360 } },
	{ "10G", 10 * G, { 19456, 20480, 23552 } },
	{ "25G", 25 * G, { 20480, 21504, 30720 } },
	{ "40G", 40 * G, { 23552, 25600, 39936 } },
	{ "50G", 50 * G, { 25600, 27648, 46080 } },
	{ "100G", 100 * G, { 44032, 48128, 84992 } },
	{ "200G", 200 * G, { 48128, 58368, 132096 } },
	{ "400G", 400 * G, { 81920, 102400, 248832 } },
};

static struct headroom_link virtual_link(uint64_t bps, uint32_t cable_m)
{
	return (struct headroom_link){
		.bps = bps,
		.cable_m = cable_m,
		.port_mtu = 9100,
		.lossless_mtu = 1024,
		.small_percent = 50,
	};
}

TABLE_TEST(headroom, virtual_switch_formula, row, virtual_rows)
{
	for (size_t i = 0; i < TABLE_COUNT(virtual_cables); i++) {
		const struct headroom_link link = virtual_link(row->bps, virtual_cables[i]);
		const struct headroom got = headroom_wire(&headroom_asic_virtual, &link);

		cr_assert_eq(got.xon, 18432, "%s %um: xon %lu", row->what, link.cable_m, got.xon);
		cr_assert_eq(got.xoff, row->xoff[i], "%s %um: xoff %lu, want %lu", row->what,
			     link.cable_m, got.xoff, row->xoff[i]);
		cr_assert_eq(got.size, got.xon + got.xoff, "%s %um", row->what, link.cable_m);
	}
}

// 1G, no cable: in flight 9100 + 819.2 + 2 * 64 = 10047.2 bytes. With small frames only and
// two-cell frames (cell 128) they cost twice that: 1024 + 20094.4 = 21118.4, 21 KiB. With large
// frames only, 1024 + 10047.2 * (1 + 6400 / 102400) = 11699.15, 12 KiB, and the allowance of 2 KiB
// since 21 KiB is more. At 99 % of small frames it is 1024 + 10047.2 * (1 + 6400 / 7360), 20 KiB,
// and 21 are within 2 KiB of that. A peer response of 3.8 KiB makes the first 28644.8: 28 KiB.
static const struct {
	const char *what;
	bool fixed_peer;
	struct headroom_link link;
	struct headroom want;
} hand_rows[] = {
	{ "small frames only",
	  false,
	  { .bps = 1 * G, .port_mtu = 9100, .lossless_mtu = 1024, .small_percent = 100 },
	  { 39936, 18432, 21504 } },
	{ "large frames only",
	  false,
	  { .bps = 1 * G, .port_mtu = 9100, .lossless_mtu = 1024, .small_percent = 0 },
	  { 32768, 18432, 14336 } },
	{ "the worst case is within the allowance: none",
	  false,
	  { .bps = 1 * G, .port_mtu = 9100, .lossless_mtu = 1024, .small_percent = 99 },
	  { 38912, 18432, 20480 } },
	{ "a shared pool: size is xon, and no allowance",
	  false,
	  { .bps = 1 * G, .port_mtu = 9100, .lossless_mtu = 1024, .shared_pool = true },
	  { 18432, 18432, 12288 } },
	{ "a fixed peer response",
	  true,
	  { .bps = 1 * G, .port_mtu = 9100, .lossless_mtu = 1024, .small_percent = 100 },
	  { 47104, 18432, 28672 } },
	{ "a speed that is not in the table takes it, too",
	  false,
	  { .bps = 2500000000, .port_mtu = 9100, .lossless_mtu = 1024, .small_percent = 100 },
	  { 47104, 18432, 28672 } },
	{ "1024 bytes of gearbox each way count twice, and double",
	  false,
	  { .bps = 1 * G,
	    .port_mtu = 9100,
	    .lossless_mtu = 1024,
	    .small_percent = 100,
	    .gearbox_bytes = 1024 },
	  { 44032, 18432, 25600 } },
	{ "eight lanes: two pipelines less 1 KiB, and an MTU",
	  false,
	  { .bps = 1 * G,
	    .port_mtu = 9100,
	    .lossless_mtu = 1024,
	    .small_percent = 100,
	    .eight_lanes = true },
	  { 66560, 35840, 21504 } },
};

TABLE_TEST(headroom, by_hand, row, hand_rows)
{
	struct headroom_asic asic = headroom_asic_virtual;
	struct headroom got;

	asic.fixed_peer_response = row->fixed_peer;
	got = headroom_wire(&asic, &row->link);
	cr_assert_eq(got.xoff, row->want.xoff, "%s: xoff %lu", row->what, got.xoff);
	cr_assert_eq(got.xon, row->want.xon, "%s: xon %lu", row->what, got.xon);
	cr_assert_eq(got.size, row->want.size, "%s: size %lu", row->what, got.size);
}

// MSN4700 400G rows, eight lanes, pipeline 19 KiB: xon 37888.
Test(headroom, msn4700_xon)
{
	struct headroom_asic asic = msn2700;
	struct headroom_link link = virtual_link(400 * G, 5);

	asic.cell_bytes = 144;
	link.eight_lanes = true;
	cr_assert_eq(headroom_wire(&asic, &link).xon, 37888);
}

// Cells of 1 to 128 bytes: a frame one byte longer than a cell takes two, except for byte cells.
// Above, a 64-byte frame takes a cell. All with small frames only and 10047.2 bytes in flight.
static const struct {
	const char *what;
	uint32_t cell;
	uint64_t want; // ceil to KiB of 1024 + 10047.2 * worst case
} cell_rows[] = {
	{ "bytes, x1", 1, 11264 },     { "80, x2", 80, 21504 },   { "128, x2", 128, 21504 },
	{ "144, x3", 144, 31744 },     { "192, x3", 192, 31744 }, { "256, x4", 256, 41984 },
	{ "1024, x16", 1024, 161792 },
};

TABLE_TEST(headroom, cell_sizes, row, cell_rows)
{
	struct headroom_asic asic = headroom_asic_virtual;
	struct headroom_link link = virtual_link(1 * G, 0);

	asic.cell_bytes = row->cell;
	link.small_percent = 100;
	cr_assert_eq(headroom_wire(&asic, &link).xoff, row->want, "%s: %lu", row->what,
		     headroom_wire(&asic, &link).xoff);
}

// Exact KiB stay: 99 m at 800 Mbit/s hold exactly 100 bytes both ways, and with byte cells
// 1024 + 9116 + 100 is 10 KiB.
static const struct {
	const char *what;
	uint32_t port_mtu;
	uint64_t want;
} edge_rows[] = {
	{ "exactly 10 KiB", 9116, 10240 },
	{ "a byte more", 9117, 11264 },
};

TABLE_TEST(headroom, kib_rounding, row, edge_rows)
{
	const struct headroom_asic asic = { .cell_bytes = 1 };
	struct headroom_link link = virtual_link(800000000, 99);

	link.port_mtu = row->port_mtu;
	cr_assert_eq(headroom_wire(&asic, &link).xoff, row->want, "%s: %lu", row->what,
		     headroom_wire(&asic, &link).xoff);
}

// 1 m at 79 bit/s holds a ten-millionth of a byte; even that must find room.
Test(headroom, the_least_fraction_counts)
{
	const struct headroom_asic asic = { .cell_bytes = 1 };
	struct headroom_link link = virtual_link(79, 1);

	link.port_mtu = 9216;
	cr_assert_eq(headroom_wire(&asic, &link).xoff, 11264);
	link.cable_m = 0;
	cr_assert_eq(headroom_wire(&asic, &link).xoff, 10240);
}

static const struct {
	const char *what;
	uint32_t cell;
	struct headroom_link link;
} refuse_rows[] = {
	{ "no cell", 0, { .lossless_mtu = 1024 } },
	{ "no lossless mtu", 128, { .lossless_mtu = 0 } },
	{ "a lossless mtu above 64 KiB", 128, { .lossless_mtu = 65536 } },
	{ "101 percent", 128, { .lossless_mtu = 1024, .small_percent = 101 } },
	{ "a cable that overflows",
	  128,
	  { .lossless_mtu = 1024, .bps = 800 * G, .cable_m = 11529216 } },
};

TABLE_TEST(headroom, refuses, row, refuse_rows, .signal = SIGABRT)
{
	const struct headroom_asic asic = { .cell_bytes = row->cell };

	headroom_wire(&asic, &row->link);
	cr_assert_fail("%s was accepted", row->what);
}

// MAC and PHY 819.2 bytes and 67 quanta of 64 bytes: 5107.2 bytes; 0.8 + 3.8 KiB: 4710.4 bytes.
static const struct {
	const char *what;
	const struct headroom_asic *asic;
	uint64_t bps;
	uint64_t want_ns;
} response_rows[] = {
	{ "10G by the table: 4085.76", &headroom_asic_virtual, 10 * G, 4086 },
	{ "2.5G, not in the table: 15073.28", &headroom_asic_virtual, 2500000000, 15074 },
	{ "100G, fixed: 376.832", &msn2700, 100 * G, 377 },
};

TABLE_TEST(headroom, response, row, response_rows)
{
	cr_assert_eq(headroom_response_ns(row->asic, row->bps), row->want_ns, "%s: %lu", row->what,
		     headroom_response_ns(row->asic, row->bps));
}

// 1226 bytes are 1250 on the wire, 10000 bits; a PFC frame is 672 bits. In `bits` of wire, frames
// of length L and charge C take at most bits * C / (8 (L + 24)) and one largest frame more.
static const struct {
	const char *what;
	struct headroom_path path;
	uint64_t want;
} class_rows[] = {
	{ "hold: the burst",
	  { .class = HEADROOM_HOLD, .burst_frames = 32, .frame_bytes = 1518, .cell_bytes = 1 },
	  48576 },
	{ "hold: cells of 80, 19 each",
	  { .class = HEADROOM_HOLD, .burst_frames = 32, .frame_bytes = 1518, .cell_bytes = 80 },
	  48640 },
	{ "hold: exact cells; rings and rates do not count",
	  { .class = HEADROOM_HOLD,
	    .burst_frames = 32,
	    .frame_bytes = 1536,
	    .cell_bytes = 96,
	    .bps = 10 * G,
	    .gap_ns = 1000,
	    .ring_frames = 256,
	    .peer_frames = 7 },
	  49152 },
	{ "hold: beyond 32 bits",
	  { .class = HEADROOM_HOLD, .burst_frames = 1000000, .frame_bytes = 9216, .cell_bytes = 1 },
	  9216000000 },
	{ "ring without a rate: 32 + 256 + 16 + 100 frames",
	  { .class = HEADROOM_RING,
	    .burst_frames = 32,
	    .ring_frames = 256,
	    .peer_frames = 16,
	    .visit_frames = 100,
	    .frame_bytes = 1518,
	    .cell_bytes = 1 },
	  613272 },
	{ "ring, 10G for 10 us: 10 frames, one more, and the ring of 2",
	  { .class = HEADROOM_RING,
	    .bps = 10 * G,
	    .response_ns = 10000,
	    .ring_frames = 2,
	    .visit_frames = 100,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  13 * 1226 },
	{ "ring, 1.6T for 10 s does not overflow",
	  { .class = HEADROOM_RING,
	    .bps = 1600 * G,
	    .response_ns = 10 * G,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  1961600000000 + 1226 },
	{ "wire: a frame and a PFC frame, 10672 bits",
	  { .class = HEADROOM_WIRE, .bps = 10 * G, .frame_bytes = 1226, .cell_bytes = 1 },
	  1308 + 1226 },
	{ "wire: 500 ns each way, 10000 bits",
	  { .class = HEADROOM_WIRE,
	    .bps = 10 * G,
	    .delay_ns = 500,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  2534 + 1226 },
	{ "wire: the peer takes 1 us",
	  { .class = HEADROOM_WIRE,
	    .bps = 10 * G,
	    .response_ns = 1000,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  2534 + 1226 },
	{ "wire: two frames ahead, three in the peer's ring",
	  { .class = HEADROOM_WIRE,
	    .bps = 10 * G,
	    .ahead_frames = 2,
	    .peer_frames = 3,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  7438 + 1226 },
	{ "wire: a gap of 3 us",
	  { .class = HEADROOM_WIRE,
	    .bps = 10 * G,
	    .gap_ns = 3000,
	    .ring_frames = 5,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  4986 + 1226 },
	{ "wire: of a gap of 10 us our ring takes five frames",
	  { .class = HEADROOM_WIRE,
	    .bps = 10 * G,
	    .gap_ns = 10000,
	    .ring_frames = 5,
	    .frame_bytes = 1226,
	    .cell_bytes = 1 },
	  7438 + 1226 },
	{ "wire, cells of 80: frames of 81 bytes cost 160, 10672 * 160 / 840",
	  { .class = HEADROOM_WIRE, .bps = 10 * G, .frame_bytes = 1226, .cell_bytes = 80 },
	  2032 + 1280 },
	{ "wire, cells of 10: frames of 1221 bytes cost 1230, 10672 * 1230 / 9960",
	  { .class = HEADROOM_WIRE, .bps = 10 * G, .frame_bytes = 1226, .cell_bytes = 10 },
	  1317 + 1230 },
};

TABLE_TEST(headroom, class, row, class_rows)
{
	cr_assert_eq(headroom_class_bytes(&row->path), row->want, "%s: %lu", row->what,
		     headroom_class_bytes(&row->path));
}

static const struct {
	const char *what;
	struct headroom_path path;
} class_refuse_rows[] = {
	{ "no frame", { .class = HEADROOM_HOLD, .cell_bytes = 1 } },
	{ "a frame of 16 KiB", { .class = HEADROOM_HOLD, .frame_bytes = 16384, .cell_bytes = 1 } },
	{ "no cell", { .class = HEADROOM_HOLD, .frame_bytes = 1518 } },
	{ "a gap above 10 s",
	  { .class = HEADROOM_WIRE, .frame_bytes = 1518, .cell_bytes = 1, .gap_ns = 10 * G + 1 } },
	{ "a rate above 1.6T",
	  { .class = HEADROOM_WIRE, .frame_bytes = 1518, .cell_bytes = 1, .bps = 1601 * G } },
};

TABLE_TEST(headroom, class_refuses, row, class_refuse_rows, .signal = SIGABRT)
{
	headroom_class_bytes(&row->path);
	cr_assert_fail("%s was accepted", row->what);
}
