// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of what the control thread reads of other people's packets: ICMP errors about them,
// and ARP and neighbour discovery. The input:
//
//   byte 0: family, ARP or not, cause   byte 1: offset of the L3 header   then the frame
//
// Checked: no byte beyond the frame is read; a quote is part of the frame and of what an error may
// hold; an error is about nothing that it must not be about, itself included; what a question or an
// answer is built from is what reads back.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "dataplane/icmp_error.h"
#include "link/neighbor.h"
#include "tests/fuzz/fuzz.h"

enum { IPV6 = 1, ARP = 2, CAUSE_SHIFT = 2, CONTROL_BYTES = 2, L2_BYTES = 14 };

#define OWN_MAC 0x02aa00000001u

static const uint8_t own[16] = { 0xfd, [15] = 1 };

// The error as a frame of its own: nothing may be said about it.
static void check_error(const struct icmp_subject *subject, const struct icmp_error *e)
{
	const uint32_t most = subject->ipv6 ? 1280 : 576;
	const uint32_t len = e->head_bytes + e->quote_bytes;
	struct icmp_error again;
	struct icmp_subject about;
	uint8_t *frame = malloc(len);

	WEFT_CHECK(frame != NULL);
	WEFT_CHECK(e->quote_bytes <= subject->len - subject->l3_offset);
	WEFT_CHECK(len - L2_BYTES <= most);
	memcpy(frame, e->head, e->head_bytes);
	memcpy(frame + e->head_bytes, subject->frame + subject->l3_offset, e->quote_bytes);
	about = (struct icmp_subject){ frame, len, L2_BYTES, subject->ipv6, ICMP_NO_HOPS, 0 };
	WEFT_CHECK(!icmp_error_make(&about, OWN_MAC, own, &again));
	free(frame);
}

static void tell(const struct icmp_subject *subject)
{
	struct icmp_error e;

	if (icmp_error_make(subject, OWN_MAC, own, &e))
		check_error(subject, &e);
}

static void read_neighbor(const uint8_t *frame, uint32_t len, uint32_t l3_offset, bool arp)
{
	struct neighbor_message message;
	struct neighbor_message back;
	uint8_t out[NEIGHBOR_FRAME_MAX];
	uint32_t bytes;

	if (!neighbor_read(frame, len, l3_offset, arp, &message))
		return;
	WEFT_CHECK(message.mac != 0 && !(message.mac >> 40 & 1));
	WEFT_CHECK(!message.request || !message.solicited);
	if (message.sender.family == IP_NONE)
		return;
	bytes = neighbor_ask(OWN_MAC, &message.sender, &message.sender, message.mac, out);
	WEFT_CHECK(neighbor_read(out, bytes, L2_BYTES, message.sender.family == IP_V4, &back));
	WEFT_CHECK(back.request && back.mac == OWN_MAC && back.destination_mac == message.mac);
	WEFT_CHECK(memcmp(&back.target, &message.sender, sizeof(back.target)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct icmp_subject subject = { .mtu = 1500 };
	uint8_t *copy;

	if (size < CONTROL_BYTES + L2_BYTES || size > 4096)
		return 0;
	subject.len = (uint32_t)size - CONTROL_BYTES;
	subject.l3_offset = L2_BYTES + data[1] % 9;
	subject.ipv6 = data[0] & IPV6;
	subject.cause = (enum icmp_cause)(data[0] >> CAUSE_SHIFT & 3);
	copy = malloc(subject.len);
	WEFT_CHECK(copy != NULL);
	memcpy(copy, data + CONTROL_BYTES, subject.len);
	subject.frame = copy;
	tell(&subject);
	read_neighbor(copy, subject.len, subject.l3_offset, data[0] & ARP);
	free(copy);
	return 0;
}
