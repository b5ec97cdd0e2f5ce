// SPDX-License-Identifier: BSD-3-Clause
//
// The hello frame on the wire; its layout is in hello.h. Pure: bytes in, values out, and back. The
// decoder reads nothing beyond the length it is given and refuses what it does not understand, so
// nothing behind it need check a value again.

#include "dataplane/core/hello.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum {
	MAGIC_AT = 14,
	VERSION_AT = 18,
	FLAGS_AT = 19,
	PORT_AT = 20,
	EDGE_AT = 22,
	BOOT_AT = 24,
	SEQ_AT = 28,
	INTERVAL_AT = 32,
	HEARD_ID_AT = 36,
	HEARD_BOOT_AT = 44,
	HEARD_PORT_AT = 48,
	LANES_AT = 50,
	PFC_SENT_AT = 51,
	PFC_OBEYED_AT = 52,
	PRIORITY_AT = 54,
	MASK_FIRST_AT = 62,
	MASK_BYTES_AT = 64,
	NAME_AT = 66,
	PORT_NAME_AT = NAME_AT + HELLO_NAME_BYTES,
	MASK_AT = PORT_NAME_AT + HELLO_NAME_BYTES,
	FLAG_HEARS = 1,
	FLAG_TAG = 2,
	MASK_BYTES = HELLO_EDGE_MAX / 8,
};
static_assert((int)MASK_AT == (int)HELLO_FRAME_MIN, "the mask comes last");

#define MAGIC 0x77656674u

static void put_name(uint8_t out[HELLO_NAME_BYTES], const char *name)
{
	for (uint32_t i = 0; i < HELLO_NAME_BYTES - 1 && name[i] != '\0'; i++)
		out[i] = (uint8_t)name[i];
}

uint64_t hello_id(const char *name)
{
	uint8_t sent[HELLO_NAME_BYTES] = { 0 };

	put_name(sent, name);
	return hash_text((const char *)sent);
}

static uint8_t mask_byte(const struct hello_mask *mask, uint32_t at)
{
	return (uint8_t)(mask->word[at / 8] >> at % 8 * 8);
}

// Only what lies between the first and the last byte that is not 0.
static uint32_t put_mask(const struct hello_mask *mask, uint8_t *out)
{
	uint32_t first = 0;
	uint32_t end = MASK_BYTES;

	while (first < end && mask_byte(mask, first) == 0)
		first++;
	while (end > first && mask_byte(mask, end - 1) == 0)
		end--;
	if (first == end)
		return 0;
	store_be16(out + MASK_FIRST_AT, (uint16_t)first);
	store_be16(out + MASK_BYTES_AT, (uint16_t)(end - first));
	for (uint32_t i = first; i < end; i++)
		out[MASK_AT + i - first] = mask_byte(mask, i);
	return end - first;
}

uint32_t hello_encode(const struct hello *hello, const struct hello_mask *mask,
		      const uint8_t src[6], uint8_t out[HELLO_FRAME_MAX])
{
	memset(out, 0, HELLO_FRAME_MIN);
	store_be48(out, HELLO_ADDRESS);
	memcpy(out + 6, src, 6);
	store_be16(out + 12, HELLO_ETHERTYPE);
	store_be32(out + MAGIC_AT, MAGIC);
	out[VERSION_AT] = HELLO_VERSION;
	out[FLAGS_AT] = (uint8_t)((hello->hears ? FLAG_HEARS : 0) |
				  (hello->lanes.tag ? FLAG_TAG : 0));
	store_be16(out + PORT_AT, hello->from.port);
	store_be16(out + EDGE_AT, hello->edge);
	store_be32(out + BOOT_AT, hello->from.boot);
	store_be32(out + SEQ_AT, hello->seq);
	store_be32(out + INTERVAL_AT, hello->interval_us);
	if (hello->hears) {
		store_be32(out + HEARD_ID_AT, (uint32_t)(hello->heard.id >> 32));
		store_be32(out + HEARD_ID_AT + 4, (uint32_t)hello->heard.id);
		store_be32(out + HEARD_BOOT_AT, hello->heard.boot);
		store_be16(out + HEARD_PORT_AT, hello->heard.port);
	}
	out[LANES_AT] = hello->lanes.count;
	out[PFC_SENT_AT] = hello->lanes.pfc_sent;
	out[PFC_OBEYED_AT] = hello->lanes.pfc_obeyed;
	memcpy(out + PRIORITY_AT, hello->lanes.priority, hello->lanes.count);
	put_name(out + NAME_AT, hello->name);
	put_name(out + PORT_NAME_AT, hello->port_name);
	return HELLO_FRAME_MIN + put_mask(mask, out);
}

// False unless printable ASCII and then zeros, at least one.
static bool get_name(const uint8_t *in, char out[HELLO_NAME_BYTES])
{
	bool ended = false;

	for (uint32_t i = 0; i < HELLO_NAME_BYTES; i++) {
		ended |= in[i] == 0;
		if (ended ? in[i] != 0 : (in[i] < 0x20 || in[i] > 0x7e))
			return false;
		out[i] = (char)in[i];
	}
	return ended;
}

static bool get_lanes(const uint8_t *frame, struct hello_lanes *out)
{
	out->count = frame[LANES_AT];
	out->tag = frame[FLAGS_AT] & FLAG_TAG;
	out->pfc_sent = frame[PFC_SENT_AT];
	out->pfc_obeyed = frame[PFC_OBEYED_AT];
	if (out->count > LANE_MAX)
		return false;
	for (uint32_t i = 0; i < out->count; i++) {
		out->priority[i] = frame[PRIORITY_AT + i];
		if (out->priority[i] >= PRIO_COUNT)
			return false;
	}
	return true;
}

static bool get_mask(const uint8_t *frame, uint32_t len, struct hello_mask *out)
{
	const uint32_t first = load_be16(frame + MASK_FIRST_AT);
	const uint32_t count = load_be16(frame + MASK_BYTES_AT);

	memset(out, 0, sizeof(*out));
	if (first + count > MASK_BYTES || !frame_has(len, MASK_AT, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		out->word[(first + i) / 8] |= (uint64_t)frame[MASK_AT + i] << (first + i) % 8 * 8;
	return true;
}

static struct hello_end get_heard(const uint8_t *frame)
{
	return (struct hello_end){
		.id = (uint64_t)load_be32(frame + HEARD_ID_AT) << 32 |
		      load_be32(frame + HEARD_ID_AT + 4),
		.boot = load_be32(frame + HEARD_BOOT_AT),
		.port = load_be16(frame + HEARD_PORT_AT),
	};
}

bool hello_decode(const uint8_t *frame, uint32_t len, struct hello *out, struct hello_mask *mask)
{
	memset(out, 0, sizeof(*out));
	if (len < HELLO_FRAME_MIN || load_be32(frame + MAGIC_AT) != MAGIC ||
	    frame[VERSION_AT] != HELLO_VERSION)
		return false;
	out->from.boot = load_be32(frame + BOOT_AT);
	out->from.port = load_be16(frame + PORT_AT);
	out->edge = load_be16(frame + EDGE_AT);
	out->seq = load_be32(frame + SEQ_AT);
	out->interval_us = load_be32(frame + INTERVAL_AT);
	out->hears = frame[FLAGS_AT] & FLAG_HEARS;
	if (out->hears)
		out->heard = get_heard(frame);
	if (out->interval_us == 0 || !get_lanes(frame, &out->lanes) ||
	    !get_name(frame + NAME_AT, out->name) ||
	    !get_name(frame + PORT_NAME_AT, out->port_name) || !get_mask(frame, len, mask))
		return false;
	out->from.id = hello_id(out->name);
	return true;
}
