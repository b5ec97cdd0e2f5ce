// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers are in the byte order of the machine, which the section header's magic tells a reader.
// Every field and option is padded with zeros to four bytes; an option's length is without them.

#include "dataplane/pcapng.h"

#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	LINKTYPE_ETHERNET = 1,
	TSRESOL_NS = 9, // 10^-9 s
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum option {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_SPEED = 8,
	INTERFACE_TSRESOL = 9,
	PACKET_FLAGS = 2,
	PACKET_DROPCOUNT = 4,
	STATISTICS_START = 2,
	STATISTICS_END = 3,
	STATISTICS_RECEIVED = 4,
	STATISTICS_DROPPED = 5,
};

struct block {
	uint8_t *at;
	size_t len;
};

static void put(struct block *b, const void *bytes, size_t count)
{
	const size_t padding = -count & 3;

	memcpy(b->at + b->len, bytes, count);
	memset(b->at + b->len + count, 0, padding);
	b->len += count + padding;
}

static void put_u16(struct block *b, uint16_t value)
{
	memcpy(b->at + b->len, &value, sizeof(value));
	b->len += sizeof(value);
}

static void put_u32(struct block *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

// A time is its upper and then its lower half, whatever the byte order.
static void put_time(struct block *b, uint64_t ns)
{
	put_u32(b, (uint32_t)(ns >> 32));
	put_u32(b, (uint32_t)ns);
}

static void put_option(struct block *b, enum option code, const void *value, size_t bytes)
{
	put_u16(b, (uint16_t)code);
	put_u16(b, (uint16_t)bytes);
	put(b, value, bytes);
}

static void put_text(struct block *b, enum option code, const char *text)
{
	const size_t bytes = strnlen(text, PCAPNG_TEXT_MAX);

	if (bytes > 0)
		put_option(b, code, text, bytes);
}

static void put_option_time(struct block *b, enum option code, uint64_t ns)
{
	const uint32_t halves[] = { (uint32_t)(ns >> 32), (uint32_t)ns };

	put_option(b, code, halves, sizeof(halves));
}

// The length is written when it is known.
static struct block begin(uint8_t *out, uint32_t type)
{
	struct block b = { .at = out };

	put_u32(&b, type);
	put_u32(&b, 0);
	return b;
}

static size_t end(struct block *b)
{
	uint32_t len;

	put_option(b, OPTION_END, "", 0);
	len = (uint32_t)b->len + 4;
	put_u32(b, len);
	memcpy(b->at + 4, &len, sizeof(len));
	return len;
}

size_t pcapng_section(uint8_t *out, const char *application, const char *comment)
{
	static const uint64_t unknown_length = UINT64_MAX;
	struct block b = begin(out, BLOCK_SECTION);

	put_u32(&b, BYTE_ORDER_MAGIC);
	put_u16(&b, 1); // version 1.0
	put_u16(&b, 0);
	put(&b, &unknown_length, sizeof(unknown_length));
	put_text(&b, SECTION_APPLICATION, application);
	put_text(&b, OPTION_COMMENT, comment);
	return end(&b);
}

size_t pcapng_interface(uint8_t *out, const struct pcapng_interface *interface)
{
	static const uint8_t resolution = TSRESOL_NS;
	struct block b = begin(out, BLOCK_INTERFACE);

	put_u16(&b, LINKTYPE_ETHERNET);
	put_u16(&b, 0);
	put_u32(&b, interface->snaplen);
	put_text(&b, INTERFACE_NAME, interface->name);
	put_text(&b, INTERFACE_DESCRIPTION, interface->description);
	if (interface->speed_bps != 0)
		put_option(&b, INTERFACE_SPEED, &interface->speed_bps, sizeof(uint64_t));
	put_option(&b, INTERFACE_TSRESOL, &resolution, sizeof(resolution));
	return end(&b);
}

size_t pcapng_packet(uint8_t *out, const struct pcapng_packet *packet)
{
	const uint32_t flags = packet->direction; // the lowest two bits
	struct block b = begin(out, BLOCK_PACKET);

	put_u32(&b, packet->interface);
	put_time(&b, packet->ns);
	put_u32(&b, packet->caught);
	put_u32(&b, packet->len);
	put(&b, packet->data, packet->caught);
	put_text(&b, OPTION_COMMENT, packet->comment);
	if (flags != 0)
		put_option(&b, PACKET_FLAGS, &flags, sizeof(flags));
	if (packet->lost != 0)
		put_option(&b, PACKET_DROPCOUNT, &packet->lost, sizeof(packet->lost));
	return end(&b);
}

size_t pcapng_statistics(uint8_t *out, const struct pcapng_statistics *statistics)
{
	struct block b = begin(out, BLOCK_STATISTICS);

	put_u32(&b, statistics->interface);
	put_time(&b, statistics->end_ns);
	put_option_time(&b, STATISTICS_START, statistics->start_ns);
	put_option_time(&b, STATISTICS_END, statistics->end_ns);
	put_option(&b, STATISTICS_RECEIVED, &statistics->selected, sizeof(uint64_t));
	put_option(&b, STATISTICS_DROPPED, &statistics->lost, sizeof(uint64_t));
	return end(&b);
}
