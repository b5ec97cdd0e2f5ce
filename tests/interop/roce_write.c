// SPDX-License-Identifier: BSD-3-Clause
//
// Writes frames of every opcode, over every carrier and with payloads of several sizes, to a pcap
// file, and prints what is in them: a line of column names, then one line per frame, fields
// separated by tabs, "-" where the frame has no such field.
//
// usage: roce_write FILE

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "traffic/core/roce.h"

enum { CARRIERS = 4, SEED = 4791 };

static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 63, 256, 1000, 1024, 4093, 4096 };

struct writer {
	pcap_dumper_t *dumper;
	struct rng rng;
	uint8_t payload[ROCE_PAYLOAD_MAX];
	uint8_t frame[ROCE_FRAME_MAX];
};

static void fill(struct rng *rng, uint8_t *out, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = (uint8_t)rng_next32(rng);
}

// Unicast addresses, so that no analyser has a reason to complain.
static struct roce_path random_path(struct rng *rng, bool ipv6, bool tagged)
{
	struct roce_path path = {
		.dst_mac = 0x020000000000 | rng_next32(rng),
		.src_mac = 0x020000000000 | rng_next32(rng),
		.ipv6 = ipv6,
		.dst_ip = { 10, 1 },
		.src_ip = { 10, 2 },
		.flow_label = ipv6 ? rng_below(rng, 1 << 20) : 0,
		.ipv4_id = ipv6 ? 0 : (uint16_t)rng_next32(rng),
		.src_port = (uint16_t)(0xc000 | rng_next32(rng)),
		.dscp = (uint8_t)rng_below(rng, 64),
		.ecn = (uint8_t)rng_below(rng, 4),
		.hop_limit = (uint8_t)(64 + rng_below(rng, 192)),
		.tci = tagged ? (uint16_t)(rng_below(rng, 8) << 13 | (1 + rng_below(rng, 4094))) :
				0,
		.tagged = tagged,
	};

	fill(rng, path.dst_ip + 2, 2);
	fill(rng, path.src_ip + 2, 2);
	if (ipv6) {
		path.dst_ip[0] = path.src_ip[0] = 0xfd;
		fill(rng, path.dst_ip + 4, 12);
		fill(rng, path.src_ip + 4, 12);
	}
	return path;
}

static struct roce_packet random_packet(struct writer *w, uint8_t opcode, uint32_t payload_bytes)
{
	struct rng *rng = &w->rng;

	fill(rng, w->payload, payload_bytes);
	return (struct roce_packet){
		.opcode = opcode,
		.solicited = rng_below(rng, 2) == 0,
		.migrated = rng_below(rng, 2) == 0,
		.ack_req = rng_below(rng, 2) == 0,
		.becn = opcode == ROCE_CNP,
		.pkey = (uint16_t)(0x8000 | rng_next32(rng)),
		.dest_qp = 2 + rng_below(rng, (1 << 24) - 2),
		.psn = rng_below(rng, 1 << 24),
		.va = rng_next64(rng),
		.rkey = rng_next32(rng),
		.dma_bytes = payload_bytes,
		.syndrome = (uint8_t)rng_below(rng, 32),
		.msn = rng_below(rng, 1 << 24),
		.imm = rng_next32(rng),
		.payload = w->payload,
		.payload_bytes = payload_bytes,
	};
}

static void print_field(bool present, uint64_t value)
{
	if (present)
		printf("\t%" PRIu64, value);
	else
		printf("\t-");
}

static void print_path(const struct roce_path *path)
{
	printf("%" PRIu64 "\t%" PRIu64, path->dst_mac, path->src_mac);
	print_field(path->tagged, path->tci & 0xfff);
	print_field(path->tagged, path->tci >> 13);
	print_field(true, path->dscp);
	print_field(true, path->ecn);
	print_field(true, path->hop_limit);
	print_field(!path->ipv6, path->ipv4_id);
	print_field(path->ipv6, path->flow_label);
	printf("\t");
	for (uint32_t i = 0; i < (path->ipv6 ? 16 : 4); i++)
		printf("%02x", path->src_ip[i]);
	printf("\t");
	for (uint32_t i = 0; i < (path->ipv6 ? 16 : 4); i++)
		printf("%02x", path->dst_ip[i]);
	print_field(true, path->src_port);
}

static void print_packet(const struct roce_packet *packet)
{
	const uint8_t has = roce_headers(packet->opcode);

	print_field(true, packet->opcode);
	print_field(true, packet->solicited);
	print_field(true, packet->migrated);
	print_field(true, packet->ack_req);
	print_field(true, packet->pkey);
	print_field(true, packet->dest_qp);
	print_field(true, packet->psn);
	print_field(has & ROCE_HAS_RETH, packet->va);
	print_field(has & ROCE_HAS_RETH, packet->rkey);
	print_field(has & ROCE_HAS_RETH, packet->dma_bytes);
	print_field(has & ROCE_HAS_AETH, packet->syndrome);
	print_field(has & ROCE_HAS_AETH, packet->msn);
	print_field(has & ROCE_HAS_IMM, packet->imm);
	print_field(true, -packet->payload_bytes & 3);
	print_field(true, packet->payload_bytes);
	printf("\n");
}

// Both ways to make an ICRC take turns.
static void write_frame(struct writer *w, const struct roce_path *path,
			const struct roce_packet *packet)
{
	const enum roce_crc method = packet->psn & 1 ? ROCE_CRC_TABLE : ROCE_CRC_CLMUL;
	const uint32_t len = roce_frame_write(path, packet, method, w->frame);
	const struct pcap_pkthdr header = { .caplen = len, .len = len };

	pcap_dump((u_char *)w->dumper, &header, w->frame);
	print_path(path);
	print_packet(packet);
}

static void write_opcode(struct writer *w, uint8_t opcode)
{
	const bool payload = (roce_headers(opcode) & ROCE_HAS_PAYLOAD) != 0;

	for (uint32_t c = 0; c < CARRIERS; c++) {
		for (uint32_t i = 0; i < (payload ? sizeof(sizes) / sizeof(sizes[0]) : 1); i++) {
			const struct roce_path path = random_path(&w->rng, c & 1, c & 2);
			const struct roce_packet packet = random_packet(w, opcode, sizes[i]);

			write_frame(w, &path, &packet);
		}
	}
}

int main(int argc, char **argv)
{
	static struct writer w;
	pcap_t *capture;

	if (argc != 2) {
		fprintf(stderr, "usage: roce_write FILE\n");
		return EXIT_FAILURE;
	}
	capture = pcap_open_dead(DLT_EN10MB, ROCE_FRAME_MAX);
	w.dumper = pcap_dump_open(capture, argv[1]);
	if (w.dumper == NULL) {
		pcap_perror(capture, "roce_write");
		return EXIT_FAILURE;
	}
	rng_seed(&w.rng, SEED);
	printf("dst_mac\tsrc_mac\tvid\tpcp\tdscp\tecn\thops\tid\tlabel\tsrc_ip\tdst_ip\tsport\t"
	       "opcode\tsolicited\tmigrated\tack_req\tpkey\tdest_qp\tpsn\tva\trkey\tdma_bytes\t"
	       "syndrome\tmsn\timm\tpadding\tpayload\n");
	for (uint32_t opcode = 0; opcode <= UINT8_MAX; opcode++) {
		if (roce_opcode_known((uint8_t)opcode))
			write_opcode(&w, (uint8_t)opcode);
	}
	pcap_dump_close(w.dumper);
	pcap_close(capture);
	return EXIT_SUCCESS;
}
