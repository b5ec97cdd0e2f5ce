// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks of a pcapng file (draft-ietf-opsawg-pcapng) as bytes: section header, one description per
// interface, packets with nanoseconds, direction and a comment, and at the end what each interface
// has seen. Nothing here is a file: who calls writes the bytes where it likes.
//
// Every function writes one block to `out`, which has PCAPNG_BLOCK_MAX bytes and is 4-byte aligned,
// and returns its length, a multiple of four. Texts that are too long are cut.
#pragma once

#include "base/types.h"

enum {
	PCAPNG_TEXT_MAX = 255,
	PCAPNG_SNAPLEN_MAX = 65535,
	PCAPNG_BLOCK_MAX = PCAPNG_SNAPLEN_MAX + 1024,
};

enum pcapng_direction { PCAPNG_DIRECTION_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

// Interfaces are counted from 0 in the order of their blocks.
struct pcapng_interface {
	const char *name;
	const char *description; // "": none
	uint64_t speed_bps;      // 0: not known
	uint32_t snaplen;
};

struct pcapng_packet {
	uint32_t interface;
	enum pcapng_direction direction;
	uint64_t ns;   // since 1970
	uint64_t lost; // packets of the interface that were to be captured before it and are not
	const uint8_t *data; // `caught` bytes of the frame
	uint32_t caught;     // <= PCAPNG_SNAPLEN_MAX
	uint32_t len;        // of the frame
	const char *comment; // "": none
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t selected; // that were to be captured
	uint64_t lost;     // of them, not captured
};

size_t pcapng_section(uint8_t *out, const char *application, const char *comment);
size_t pcapng_interface(uint8_t *out, const struct pcapng_interface *interface);
size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *packet);
size_t pcapng_statistics(uint8_t *out, const struct pcapng_statistics *statistics);
