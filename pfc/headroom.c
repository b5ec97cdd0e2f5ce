// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom: the bytes that still arrive after XOFF was sent. The wire formula is the field's own
// (sonic-swss buffer_headroom_mellanox.lua), so its published tables are the oracle:
//
//   in flight = port mtu + cable both ways at 198,000 km/s + gearboxes + MAC and PHY
//               + peer response
//   xoff      = lossless mtu + in flight x occupancy, rounded up to KiB
//
// Occupancy is what cells cost: small frames waste most of a cell. Everything is a quotient of
// integers that is rounded once, at the end; a KiB too little is a lost frame, and floating point
// would decide that by the order of its operations.

#include "pfc/pfc.h"

#include "base/check.h"

enum {
	KIB = 1024,
	SMALL_FRAME_BYTES = 64,
	// Cable bytes are 2 * metres * bps / 198e6 / 8, so in tenths of a byte the divisor is:
	CABLE_DIVISOR = 198000000 / 10 * 8 / 2,
	// One more allowance of the formula, for mixes of small and large frames.
	MIX_ALLOWANCE_BYTES = 2 * KIB,
};

// Time a peer may take to obey, IEEE 802.3 clause 31B.3.7, as used by the field.
static const struct {
	uint64_t bps;
	uint32_t quanta;
} peer_response[] = {
	{ 100000000, 1 },      { 1000000000, 2 },     { 10000000000, 67 },   { 25000000000, 80 },
	{ 40000000000, 118 },  { 50000000000, 147 },  { 100000000000, 394 }, { 200000000000, 453 },
	{ 400000000000, 905 }, { 800000000000, 905 },
};

// A number of tenths of a byte: whole + rest / CABLE_DIVISOR.
struct in_flight {
	uint64_t whole;
	uint64_t rest;
};

const struct headroom_asic headroom_asic_virtual = {
	.cell_bytes = 128,
	.pipeline_latency_deci_kib = 180,
	.mac_phy_delay_deci_kib = 8,
	.peer_response_deci_kib = 38,
};

static uint64_t ceil_div(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor != 0);
}

static uint64_t ceil_kib(uint64_t bytes)
{
	return ceil_div(bytes, KIB) * KIB;
}

// Tenths of a byte: a tenth of a KiB is 1024 of them, a quantum of 512 bits is 640.
static uint64_t peer_response_deci_bytes(const struct headroom_asic *asic, uint64_t bps)
{
	if (asic->fixed_peer_response)
		return (uint64_t)asic->peer_response_deci_kib * KIB;
	for (size_t i = 0; i < sizeof(peer_response) / sizeof(peer_response[0]); i++) {
		if (peer_response[i].bps == bps)
			return peer_response[i].quanta * (PFC_QUANTUM_BITS / 8 * 10ull);
	}
	return (uint64_t)asic->peer_response_deci_kib * KIB;
}

static struct in_flight in_flight(const struct headroom_asic *asic,
				  const struct headroom_link *link)
{
	const uint64_t cable = link->bps * link->cable_m;

	return (struct in_flight){
		.whole = 10 * (link->port_mtu + 2ull * link->gearbox_bytes) +
			 (uint64_t)asic->mac_phy_delay_deci_kib * KIB +
			 peer_response_deci_bytes(asic, link->bps) + cable / CABLE_DIVISOR,
		.rest = cable % CABLE_DIVISOR,
	};
}

// mtu + in flight * dividend / divisor in whole KiB, rounded up once.
//
// Limits: whole is below 2^38 (2^63 / CABLE_DIVISOR is below 2^37), dividend and divisor are below
// 2^23, so every product is below 2^61.
static uint64_t xoff_bytes(uint32_t mtu, struct in_flight sum, uint64_t dividend, uint64_t divisor)
{
	const uint64_t deci_divisor = 10 * divisor;
	const uint64_t product = sum.whole * dividend;
	const uint64_t fraction = product % deci_divisor * CABLE_DIVISOR + sum.rest * dividend;

	return ceil_kib(mtu + product / deci_divisor +
			ceil_div(fraction, CABLE_DIVISOR * deci_divisor));
}

struct headroom headroom_wire(const struct headroom_asic *asic, const struct headroom_link *link)
{
	const uint32_t cell = asic->cell_bytes;
	// Cells per small frame, or the waste of a frame one byte longer than a cell.
	const uint64_t worst = cell > 2 * SMALL_FRAME_BYTES ? ceil_div(cell, SMALL_FRAME_BYTES) :
							      ceil_div(2ull * cell, 1ull + cell);
	// The small frames' share of the bytes is 64 * 100 / mix; it costs `worst` times as much.
	const uint64_t mix = (uint64_t)link->small_percent * SMALL_FRAME_BYTES +
			     (100ull - link->small_percent) * link->lossless_mtu;
	const uint64_t cost = mix + (worst - 1) * SMALL_FRAME_BYTES * 100;
	uint64_t latency = asic->pipeline_latency_deci_kib;
	struct in_flight sum;
	struct headroom room;

	WEFT_CHECK(cell >= 1 && cell <= 1024);
	WEFT_CHECK(asic->mac_phy_delay_deci_kib < 1u << 20);
	WEFT_CHECK(asic->peer_response_deci_kib < 1u << 20);
	WEFT_CHECK(link->small_percent <= 100);
	WEFT_CHECK(link->lossless_mtu >= 1 && link->lossless_mtu <= UINT16_MAX);
	WEFT_CHECK(link->cable_m == 0 || link->bps <= INT64_MAX / link->cable_m);

	sum = in_flight(asic, link);
	room.xoff = xoff_bytes(link->lossless_mtu, sum, cost, mix);
	if (!link->shared_pool &&
	    room.xoff + MIX_ALLOWANCE_BYTES < xoff_bytes(link->lossless_mtu, sum, worst, 1))
		room.xoff += MIX_ALLOWANCE_BYTES;

	// Ports of eight lanes: the formula takes two pipelines less 1 KiB.
	if (link->eight_lanes)
		latency = u64_max(2 * latency, 10) - 10;
	room.xon = ceil_div(latency, 10) * KIB;
	room.size = room.xon;
	if (!link->shared_pool)
		room.size =
			ceil_kib(room.xon + room.xoff + (link->eight_lanes ? link->port_mtu : 0));
	return room;
}

uint64_t headroom_response_ns(const struct headroom_asic *asic, uint64_t bps)
{
	const uint64_t deci_bytes = (uint64_t)asic->mac_phy_delay_deci_kib * KIB +
				    peer_response_deci_bytes(asic, bps);

	// Below 2^32 tenths of a byte, so the product is below 2^62.
	return ceil_div(deci_bytes * (8 * 100000000ull), bps);
}
