// SPDX-License-Identifier: BSD-3-Clause
//
// Frames are made field by field. IPv4 checksums are right, UDP checksums are zero, and the ICRC is
// left zero: a switch looks at none of them.

#include "tests/bench/stream.h"

#include <string.h>

#include "base/bytes.h"

enum {
	ETH_BYTES = 14,
	IPV4_BYTES = 20,
	UDP_BYTES = 8,
	BTH_BYTES = 12,
	RETH_BYTES = 16,
	ICRC_BYTES = 4,
	L4_OFFSET = ETH_BYTES + IPV4_BYTES,
	BTH_OFFSET = L4_OFFSET + UDP_BYTES,

	ROCE_UDP_PORT = 4791,
	ROCE_PAYLOAD = 1024,
	ROCE_MESSAGE_FRAMES = 16,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,

	TOS_ROCE = 26 << 2 | 2, // ECT(0)
};

uint64_t stream_source_mac(uint32_t host)
{
	return 0x020000000000u + host;
}

uint64_t stream_sink_mac(uint32_t host)
{
	return 0x020000000100u + host;
}

static uint16_t ipv4_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < IPV4_BYTES; i += 2)
		sum += load_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

// Ethernet, IPv4 and UDP of a frame of `len` bytes.
static void put_headers(uint8_t *frame, uint32_t len, uint32_t flow, uint8_t tos, uint16_t udp_port)
{
	uint8_t *ip = frame + ETH_BYTES;
	uint8_t *udp = frame + L4_OFFSET;
	uint32_t host = flow % STREAM_HOSTS;

	memset(frame, 0, len);
	store_be48(frame, stream_sink_mac(host));
	store_be48(frame + 6, stream_source_mac(host));
	store_be16(frame + 12, 0x0800);
	ip[0] = 0x45;
	ip[1] = tos;
	store_be16(ip + 2, (uint16_t)(len - ETH_BYTES));
	ip[8] = 64;
	ip[9] = 17;
	store_be32(ip + 12, 0x0a000000u + host);
	store_be32(ip + 16, 0x0a000100u + host);
	store_be16(ip + 10, ipv4_checksum(ip));
	store_be16(udp, (uint16_t)(0xc000 + flow));
	store_be16(udp + 2, udp_port);
	store_be16(udp + 4, (uint16_t)(len - L4_OFFSET));
}

static uint32_t put_udp(uint8_t *frame, uint32_t len, uint32_t i, uint8_t tos)
{
	put_headers(frame, len, i, tos, 2000);
	return len;
}

// Frame i of four messages by four queue pairs, one after the other.
static uint32_t put_roce(uint8_t *frame, uint32_t i)
{
	uint32_t flow = i / ROCE_MESSAGE_FRAMES;
	uint32_t at = i % ROCE_MESSAGE_FRAMES;
	uint32_t len = BTH_OFFSET + BTH_BYTES + ROCE_PAYLOAD + ICRC_BYTES +
		       (at == 0 ? RETH_BYTES : 0);
	uint8_t *bth = frame + BTH_OFFSET;

	put_headers(frame, len, flow, TOS_ROCE, ROCE_UDP_PORT);
	bth[0] = at == 0 ? RC_WRITE_FIRST : RC_WRITE_MIDDLE;
	if (at == ROCE_MESSAGE_FRAMES - 1)
		bth[0] = RC_WRITE_LAST;
	store_be16(bth + 2, 0xffff); // default partition
	store_be32(bth + 4, 0x11 + flow);
	store_be32(bth + 8, i);
	return len;
}

void stream_make(enum stream_id id, struct stream *out)
{
	static const uint8_t class_dscp[] = { 0, 10, 18, 46 };

	for (uint32_t i = 0; i < STREAM_FRAMES; i++) {
		uint8_t *frame = out->frame[i];

		switch (id) {
		case STREAM_UDP_64: out->len[i] = put_udp(frame, 64, i, 0); break;
		case STREAM_UDP_1024: out->len[i] = put_udp(frame, 1024, i, 0); break;
		case STREAM_ROCE_WRITE: out->len[i] = put_roce(frame, i); break;
		case STREAM_CLASSES_64:
			out->len[i] = put_udp(frame, 64, i, (uint8_t)(class_dscp[i % 4] << 2));
			break;
		case STREAM_COUNT: break;
		}
	}
}
