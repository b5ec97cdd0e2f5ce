// SPDX-License-Identifier: BSD-3-Clause
//
// The test host itself, since the other scenarios trust it: it paces to the nanosecond, stops a
// paused priority within one frame and no other, responds as late as it is told to, sees loss,
// reordering and CE, pauses its peer when it is slow, and storms without a gap.

#include <string.h>

#include "base/bytes.h"
#include "tests/host/host.h"
#include "tests/table.h"

enum {
	LEN = 1226, // 1250 bytes of wire: 1 us at 10 Gb/s
	MAX_STEPS = 100000,
};

static struct host_config config;
static struct host_state st;
static uint8_t frame[FRAME_MAX_BYTES];

static ns_t at(uint64_t ns)
{
	return (ns_t){ ns };
}

static uint32_t tx(uint64_t ns)
{
	return host_tx(&config, &st, at(ns), frame);
}

static void rx_pfc(uint8_t enable, uint16_t quanta, uint64_t ns)
{
	static const uint8_t src[6] = { 2 };
	struct pfc_frame pfc = { .enable = enable };
	uint8_t bytes[PFC_FRAME_BYTES];

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		pfc.quanta[i] = quanta;
	pfc_frame_encode(&pfc, src, bytes);
	host_rx(&config, &st, bytes, sizeof(bytes), at(ns));
}

static struct host_prio_stats stats(uint32_t prio, uint64_t ns)
{
	struct host_stats all;

	host_stats_read(&st, at(ns), &all);
	return all.prio[prio];
}

// Frames of both priorities take turns and leave at line rate, asked when the host says so.
Test(host, paces_at_line_rate)
{
	uint64_t now = 0;

	host_config_init(&config, 0);
	config.bps = 7777777777;
	host_add_flow(&config, 1, 3, 1001);
	host_add_flow(&config, 1, 4, 1001);
	host_init(&config, &st);
	for (uint64_t k = 0; k < 1000; k++) {
		cr_assert_eq(now, k * (1001 + 24) * 8000000000u / config.bps);
		cr_assert_eq(tx(now), 1001);
		cr_assert_eq(tx(now), 0);
		now = host_deadline(&config, &st, at(now)).v;
	}
	cr_assert_eq(stats(3, now).tx_packets, 500);
	cr_assert_eq(stats(4, now).tx_packets, 500);
	cr_assert_eq(stats(4, now).tx_bytes, 500 * 1001);
}

// A flow of 1 Gb/s over 10 sends every tenth frame, its limit of frames and its stop are kept.
Test(host, paces_flows)
{
	host_config_init(&config, 0);
	*host_add_flow(&config, 1, 3, LEN) = (struct host_flow_config){
		.kind = FRAME_UDP, .frame_bytes = LEN, .bps = 1000000000, .frames = 50, .prio = 3
	};
	host_init(&config, &st);
	for (uint64_t us = 0; us < 1000; us++)
		cr_assert_eq(tx(us * 1000) != 0, us % 10 == 0 && us < 500, "at %lu us", us);
	cr_assert_eq(host_deadline(&config, &st, at(1000000)).v, UINT64_MAX);

	config.flow[0].frames = 0;
	config.flow[0].stop = at(2000000);
	cr_assert_neq(tx(1999999), 0);
	cr_assert_eq(tx(2000000), 0);
}

// After PFC no frame of the priority starts; others have the line; the timer and XON end it.
Test(host, obeys_within_one_frame)
{
	struct frame f;

	host_config_init(&config, 0);
	host_add_flow(&config, 1, 3, LEN);
	host_add_flow(&config, 1, 4, LEN);
	host_init(&config, &st);
	tx(0);
	rx_pfc(1 << 3, 1000, 500); // 51200 ns, until 51700
	for (uint64_t us = 1; us <= 51; us++) {
		cr_assert_eq(tx(us * 1000), LEN);
		frame_read(frame, LEN, &f);
		cr_assert_eq(f.dscp, 4, "at %lu us", us);
	}
	cr_assert_neq(tx(52000), 0);
	frame_read(frame, LEN, &f);
	cr_assert_eq(f.dscp, 3);
	cr_assert_eq(stats(3, 60000).paused_ns, 51200);
	cr_assert_eq(stats(4, 60000).paused_ns, 0);

	rx_pfc(1 << 3 | 1 << 4, 65535, 60000);
	cr_assert_eq(tx(61000), 0);
	cr_assert_eq(host_deadline(&config, &st, at(61000)).v, 60000 + 3355392);
	rx_pfc(1 << 3, 0, 62000);
	cr_assert_eq(host_deadline(&config, &st, at(62000)).v, 62000);
	cr_assert_eq(tx(62000), LEN);
	cr_assert_eq(stats(3, 62000).pfc_rx, 3);
}

// What it does not obey is counted; a slow response is late by exactly what is configured.
Test(host, response_time)
{
	host_config_init(&config, 0);
	config.response_ns = 5000;
	host_add_flow(&config, 1, 3, LEN);
	host_init(&config, &st);
	rx_pfc(0xff, 65535, 100);
	for (uint64_t us = 0; us <= 5; us++)
		cr_assert_eq(tx(us * 1000 + 100 + (us == 5 ? -1 : 0)), us == 5 ? 0 : LEN);
	cr_assert_eq(tx(5100), 0);
	cr_assert_eq(tx(9100), 0);
	cr_assert_eq(stats(0, 9100).pfc_rx, 1);
	cr_assert_eq(stats(0, 9100).paused_ns, 0);
	cr_assert_eq(stats(3, 9100).paused_ns, 4000);
	config.obey = 0;
	cr_assert_eq(stats(3, 9200).paused_ns, 4100);
}

// Frame `seq` of a stream as another host would send it.
static void rx_data(uint64_t seq, uint8_t ecn, uint64_t ns)
{
	struct frame f = {
		.kind = FRAME_ROCE,
		.dst = frame_host_mac(0),
		.src = frame_host_mac(1),
		.dscp = 3,
		.ecn = ecn,
		.stream = 1 << 8,
		.seq = seq,
		.len = LEN,
	};

	host_rx(&config, &st, frame, frame_write(&f, frame), at(ns));
}

static const struct {
	const char *what;
	uint64_t seq[8]; // ends with 99
	uint64_t lost, reordered;
} order_rows[] = {
	{ "in order", { 0, 1, 2, 3, 99 }, 0, 0 },
	{ "one lost", { 0, 1, 3, 4, 99 }, 1, 0 },
	{ "three lost", { 0, 4, 99 }, 3, 0 },
	{ "the first ones lost", { 2, 3, 99 }, 2, 0 },
	{ "late by one", { 0, 2, 1, 3, 99 }, 0, 1 },
	{ "late by two, and one lost", { 0, 3, 4, 1, 99 }, 1, 1 },
};

TABLE_TEST(host, sees_loss_and_order, row, order_rows)
{
	uint64_t count = 0;

	host_config_init(&config, 0);
	host_init(&config, &st);
	for (; row->seq[count] != 99; count++)
		rx_data(row->seq[count], count == 1 ? 3 : 2, count);
	cr_assert_eq(stats(3, 100).rx_packets, count, "%s", row->what);
	cr_assert_eq(stats(3, 100).rx_bytes, count * LEN);
	cr_assert_eq(stats(3, 100).rx_lost, row->lost, "%s", row->what);
	cr_assert_eq(stats(3, 100).rx_reordered, row->reordered, "%s", row->what);
	cr_assert_eq(stats(3, 100).rx_ce, 1);
}

// A receiver of 4 Gb/s: 1226 bytes take 2452 ns to leave its buffer. PFC goes out when 10000 bytes
// are exceeded, XON when 5000 are reached, and a full buffer loses frames.
Test(host, slow_receiver)
{
	struct pfc_frame pfc;

	host_config_init(&config, 0);
	config.receiver = (struct host_receiver_config){ 4000000000, 12000,  10000,
							 5000,       1 << 3, 65535 };
	host_init(&config, &st);
	for (uint32_t i = 0; i < 8; i++)
		rx_data(i, 2, 0);
	cr_assert_eq(tx(0), 0); // 9808 bytes
	rx_data(8, 2, 0);
	cr_assert_eq(tx(0), PFC_FRAME_BYTES);
	cr_assert_eq(pfc_frame_decode(frame, PFC_FRAME_BYTES, 14, &pfc), PFC_FRAME_PFC);
	cr_assert_eq(pfc.enable, 1 << 3);
	cr_assert_eq(pfc.quanta[3], 65535);
	rx_data(9, 2, 0); // 12260 do not fit
	cr_assert_eq(stats(3, 0).rx_overflow, 1);
	// 11034 bytes at 0, 5000 after 6034 bytes x 2 ns.
	cr_assert_eq(host_deadline(&config, &st, at(100)).v, 6034 * 2);
	cr_assert_eq(tx(6034 * 2 - 1), 0);
	cr_assert_eq(tx(6034 * 2), PFC_FRAME_BYTES);
	pfc_frame_decode(frame, PFC_FRAME_BYTES, 14, &pfc);
	cr_assert_eq(pfc.quanta[3], 0);
	cr_assert_eq(stats(3, 20000).peer_paused_ns, 6034 * 2);
	cr_assert_eq(stats(3, 20000).pfc_tx, 2);
}

// Gapless: 84 bytes of wire each, 67.2 ns, nothing else fits in between.
Test(host, storm)
{
	uint64_t now = 0;
	uint64_t count = 0;

	host_config_init(&config, 0);
	config.storm =
		(struct host_storm_config){ .enable = 0x18, .quanta = 65535, .stop = { 100000 } };
	host_add_flow(&config, 1, 3, LEN);
	host_init(&config, &st);
	for (; now < 100000; count++) {
		cr_assert_eq(now, count * 672 / 10);
		cr_assert_eq(tx(now), PFC_FRAME_BYTES);
		now = host_deadline(&config, &st, at(now)).v;
	}
	cr_assert_eq(stats(4, now).pfc_tx, count);
	cr_assert_eq(stats(3, now).tx_packets, 0);
	cr_assert_eq(tx(now), LEN);
}

// ARP: announces itself once, answers for its own address only.
Test(host, arp)
{
	struct frame f, request = {
		.kind = FRAME_ARP_REQUEST,
		.dst = 0xffffffffffff,
		.src = frame_host_mac(7),
		.src_ip = frame_host_ip(7),
		.dst_ip = frame_host_ip(0),
	};

	host_config_init(&config, 0);
	config.announce = true;
	host_init(&config, &st);
	cr_assert_eq(tx(0), 60);
	frame_read(frame, 60, &f);
	cr_assert_eq(f.kind, FRAME_ARP_REQUEST);
	cr_assert_eq(f.dst_ip, f.src_ip);
	cr_assert_eq(tx(1000), 0);
	host_rx(&config, &st, frame, frame_write(&request, frame), at(1000));
	request.dst_ip = frame_host_ip(1);
	host_rx(&config, &st, frame, frame_write(&request, frame), at(1000));
	cr_assert_eq(tx(1000), 60);
	frame_read(frame, 60, &f);
	cr_assert_eq(f.kind, FRAME_ARP_REPLY);
	cr_assert_eq(f.dst, frame_host_mac(7));
	cr_assert_eq(f.src_ip, frame_host_ip(0));
	cr_assert_eq(tx(2000), 0);
}

// Frames for others, without a stamp, and 802.3x pause are told apart from data.
Test(host, odd_frames)
{
	struct frame f = { .kind = FRAME_UDP, .dst = frame_host_mac(5), .src = 2 };
	struct host_stats all;

	host_config_init(&config, 0);
	host_init(&config, &st);
	host_rx(&config, &st, frame, frame_write(&f, frame), at(0));
	f.dst = frame_host_mac(0);
	memset(frame, 0, 60);
	frame_write(&f, frame);
	memset(frame + 42, 0, 18);
	host_rx(&config, &st, frame, 60, at(0));
	memset(frame, 0, 60);
	store_be16(frame + 12, 0x8808);
	store_be16(frame + 14, 1);
	host_rx(&config, &st, frame, 60, at(0));
	host_rx(&config, &st, frame, 3, at(0));
	host_stats_read(&st, at(0), &all);
	cr_assert_eq(all.rx_stray, 1 + 1); // and the runt, which has no address
	cr_assert_eq(all.rx_unstamped, 1);
	cr_assert_eq(all.rx_global_pause, 1);
	cr_assert_eq(all.prio[0].rx_packets, 1);
}
