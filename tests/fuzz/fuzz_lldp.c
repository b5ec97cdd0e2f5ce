// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the LLDPDU decoder, of the neighbour table behind it, and of the comparison of
// DCBX. The input is a sequence of records:
//
//   bytes 0-1: length   byte 2: tenths of a second since the last record   byte 3: link up
//   then the LLDPDU
//
// Checked: no byte beyond the frame is read; what decodes and has room encodes to a frame that
// decodes to the same; words are printable and end; neighbours are never more than the table has,
// and none of them has outlived its time.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "dataplane/dcbx_words.h"
#include "link/lldp_peer.h"
#include "tests/fuzz/fuzz.h"

enum { RECORD_BYTES = 4, UP = 1, L2_BYTES = 14, OURS_PFC = 0x18 };

static const struct lldp_profile pf = { 30000000000ull, true, true };

static void check_words(const char *words, size_t len, size_t max)
{
	WEFT_CHECK(len < max && words[len] == '\0' && strlen(words) == len);
	for (size_t i = 0; i < len; i++)
		WEFT_CHECK(words[i] >= ' ' && words[i] <= '~');
}

// What was received may be longer than what is sent: then some of it is missing.
static void check_round_trip(const struct lldp_info *info)
{
	static const uint8_t src[6] = { 0x02 };
	uint8_t wire[LLDP_FRAME_MAX];
	struct lldp_info back, want = *info;
	const uint32_t len = lldp_encode(info, src, wire);

	WEFT_CHECK(len >= LLDP_FRAME_MIN && len <= LLDP_FRAME_MAX);
	WEFT_CHECK(lldp_decode(wire, len, L2_BYTES, &back));
	WEFT_CHECK(lldp_same_id(&back.chassis, &info->chassis));
	WEFT_CHECK(lldp_same_id(&back.port, &info->port) && back.ttl_seconds == info->ttl_seconds);
	WEFT_CHECK(back.discarded == 0 && back.unknown == 0);
	want.discarded = 0;
	want.unknown = 0;
	if (len < LLDP_FRAME_MAX / 2)
		WEFT_CHECK(memcmp(&back, &want, sizeof(back)) == 0);
}

static void check_differences(const struct lldp_info *info)
{
	struct dcbx ours = { .pfc = { .present = true, .enable = OURS_PFC } };
	char words[DCBX_WORDS_BYTES];
	const uint8_t found = dcbx_differences(&ours, &info->dcbx);

	WEFT_CHECK(dcbx_differences(&info->dcbx, &info->dcbx) == 0);
	WEFT_CHECK((found & 1) == (info->dcbx.pfc.present && info->dcbx.pfc.enable != OURS_PFC));
	for (uint32_t i = 0; i < DCBX_TOPIC_COUNT; i++) {
		dcbx_words(&ours, &info->dcbx, "peer", (enum dcbx_topic)i, words);
		check_words(words, strlen(words), DCBX_WORDS_BYTES);
	}
}

static void check_names(const struct lldp_info *info)
{
	char words[LLDP_WORDS_BYTES];
	size_t len = lldp_text_words(&info->system_name, words);

	check_words(words, len, sizeof(words));
	len = lldp_chassis_words(&info->chassis, words);
	check_words(words, len, sizeof(words));
	len = lldp_port_words(&info->port, words);
	check_words(words, len, sizeof(words));
}

static void hear(struct lldp_port *port, const uint8_t *bytes, uint32_t len, ns_t now)
{
	uint8_t *copy = malloc(L2_BYTES + len);
	struct lldp_info info;
	uint32_t at;

	WEFT_CHECK(copy != NULL);
	memset(copy, 0, L2_BYTES);
	if (len > 0)
		memcpy(copy + L2_BYTES, bytes, len);
	if (lldp_decode(copy, L2_BYTES + len, L2_BYTES, &info)) {
		check_round_trip(&info);
		check_differences(&info);
		check_names(&info);
		lldp_port_heard(&pf, port, &info, 1, now, &at);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lldp_port port;
	struct lldp_neighbor gone;
	ns_t now = { 1000000000 };

	memset(&port, 0, sizeof(port));
	while (size >= RECORD_BYTES) {
		uint32_t len = load_be16(data);

		now = ns_add(now, data[2] * 100000000ull);
		lldp_port_link(&port, data[3] & UP, now);
		while (lldp_port_expire(&port, now, &gone))
			WEFT_CHECK(gone.expires.v <= now.v);
		data += RECORD_BYTES;
		size -= RECORD_BYTES;
		len = len < size ? len : (uint32_t)size;
		hear(&port, data, len, now);
		lldp_port_due(&pf, &port, now);
		WEFT_CHECK(port.neighbor_count <= LLDP_NEIGHBOR_MAX);
		for (uint32_t i = 0; i < port.neighbor_count; i++)
			WEFT_CHECK(port.neighbor[i].expires.v > now.v);
		data += len;
		size -= len;
	}
	return 0;
}
