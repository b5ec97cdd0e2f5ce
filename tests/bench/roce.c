// SPDX-License-Identifier: BSD-3-Clause
//
// roce [--gate]: what the wire of RoCEv2 costs a host, in cycles and cycles per byte: CRC-32 by
// both ways beside DPDK's in the same run, the ICRC of a frame, and frames written and read whole.
//
// Each figure is the best of several rounds, since other work on the machine only ever adds to it;
// a round takes many frames, one after the other, that are in the first cache. The gate is twice
// the bound, for the same reason.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_net_crc.h>
#include <rte_vect.h>

#include "base/rng.h"
#include "traffic/core/roce.h"
#include "traffic/crc.h"

enum { ROUNDS = 400, FRAMES = 64 };

struct stand {
	uint8_t payload[ROCE_PAYLOAD_MAX];
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_path path;
	struct roce_packet packet;
	enum roce_crc method;
	uint32_t bytes; // of payload
	uint32_t len;   // of the frame
};

static volatile uint32_t sink; // so that nothing measured is left out

static uint32_t run_copy(struct stand *s)
{
	memcpy(s->frame, s->payload, s->bytes);
	return s->frame[0];
}

static uint32_t run_crc(struct stand *s)
{
	return roce_crc32(s->method, 0xffffffff, s->payload, s->bytes);
}

static uint32_t run_dpdk(struct stand *s)
{
	return rte_net_crc_calc(s->payload, s->bytes, RTE_NET_CRC32_ETH);
}

static uint32_t run_icrc(struct stand *s)
{
	return roce_icrc(s->method, s->frame, 14, s->len - ROCE_ICRC_BYTES);
}

static uint32_t run_write(struct stand *s)
{
	s->packet.psn++;
	return roce_frame_write(&s->path, &s->packet, s->method, s->frame);
}

static uint32_t run_read(struct stand *s)
{
	struct roce_packet packet;
	struct roce_path path;

	if (roce_frame_read(s->frame, s->len, s->method, &path, &packet) != ROCE_FRAME_OK)
		abort();
	return packet.psn;
}

// Cycles of one.
static double cycles(struct stand *s, uint32_t (*run)(struct stand *))
{
	uint64_t best = UINT64_MAX;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t start = rte_rdtsc_precise();
		uint64_t end;

		for (uint32_t frame = 0; frame < FRAMES; frame++)
			sink += run(s);
		end = rte_rdtsc_precise();
		best = end - start < best ? end - start : best;
	}
	return (double)best / FRAMES;
}

static double show(const char *what, struct stand *s, uint32_t (*run)(struct stand *))
{
	const double value = cycles(s, run);

	printf("  %-34s %6u B %8.1f cycles %7.3f per byte\n", what, s->bytes, value,
	       value / s->bytes);
	return value;
}

static void show_dpdk(struct stand *s)
{
	static const struct {
		const char *name;
		enum rte_net_crc_alg alg;
	} algs[] = {
		{ "DPDK's CRC-32, scalar", RTE_NET_CRC_SCALAR },
		{ "DPDK's CRC-32, PCLMULQDQ", RTE_NET_CRC_SSE42 },
		{ "DPDK's CRC-32, AVX512", RTE_NET_CRC_AVX512 },
	};
	const uint32_t want = ~roce_crc32(ROCE_CRC_TABLE, 0xffffffff, s->payload, s->bytes);

	for (uint32_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++) {
		rte_net_crc_set_alg(algs[i].alg);
		if (run_dpdk(s) != want)
			abort();
		show(algs[i].name, s, run_dpdk);
	}
}

static void set_up(struct stand *s, uint32_t bytes)
{
	struct rng rng;

	rng_seed(&rng, bytes);
	for (uint32_t i = 0; i < ROCE_PAYLOAD_MAX; i++)
		s->payload[i] = (uint8_t)rng_next32(&rng);
	s->bytes = bytes;
	s->path = (struct roce_path){ .dst_ip = { 10, 0, 0, 2 }, .src_ip = { 10, 0, 0, 1 } };
	s->packet = (struct roce_packet){ .opcode = ROCE_WRITE_MIDDLE,
					  .payload = s->payload,
					  .payload_bytes = bytes };
	s->len = roce_frame_write(&s->path, &s->packet, ROCE_CRC_TABLE, s->frame);
}

// Cycles of an ICRC by PCLMULQDQ.
static double show_all(struct stand *s, uint32_t bytes)
{
	double icrc;

	set_up(s, bytes);
	s->method = ROCE_CRC_TABLE;
	show("CRC-32, table", s, run_crc);
	show("ICRC, table", s, run_icrc);
	s->method = ROCE_CRC_CLMUL;
	show("CRC-32, clmul", s, run_crc);
	icrc = show("ICRC, clmul", s, run_icrc);
	s->method = crc_method();
	if (s->method == ROCE_CRC_WIDE)
		show("ICRC, clmul by 512 bits", s, run_icrc);
	show_dpdk(s);
	show("copy", s, run_copy);
	set_up(s, bytes);
	show("write a frame, best", s, run_write);
	show("read a frame, best", s, run_read);
	return icrc;
}

int main(int argc, char **argv)
{
	static const double icrc_bound = 120;
	static struct stand s;
	double icrc;

	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	icrc = show_all(&s, 1024);
	show_all(&s, 4096);
	show_all(&s, 1000);
	show_all(&s, 64);
	if (argc > 1 && strcmp(argv[1], "--gate") == 0 && icrc > 2 * icrc_bound) {
		printf("FAIL: the ICRC of 1 KiB in %.0f cycles\n", 2 * icrc_bound);
		return 1;
	}
	return 0;
}
