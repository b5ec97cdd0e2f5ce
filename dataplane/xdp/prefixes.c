// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the text of steer_prefixes.
//
// Prefixes whose bits reach beyond their length are refused: 10.1.2.3/8 is more likely a slip than
// the wish for 10.0.0.0/8 (RFC 4632 3.1).

#include "dataplane/xdp/steer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

static bool bits_end_at(const uint8_t *address, uint32_t bytes, uint32_t bits)
{
	for (uint32_t i = 0; i < bytes; i++) {
		const uint32_t kept = bits > 8 * i ? (uint32_t)u64_min(bits - 8 * i, 8) : 0;

		if ((address[i] & (0xffu >> kept)) != 0)
			return false;
	}
	return true;
}

// The number behind the slash, `most` when there is none; false when it is none or too large.
static bool read_bits(const char *text, uint32_t most, uint32_t *out)
{
	char *end;
	unsigned long bits;

	*out = most;
	if (text == NULL)
		return true;
	if (text[0] < '0' || text[0] > '9')
		return false;
	bits = strtoul(text, &end, 10);
	*out = (uint32_t)bits;
	return *end == '\0' && bits <= most;
}

static int add_prefix(struct steer_prefixes *out, char *word)
{
	struct steer_prefix4 v4;
	struct steer_prefix6 v6;
	char *slash = strchr(word, '/');

	if (slash != NULL)
		*slash++ = '\0';
	if (inet_pton(AF_INET, word, &v4.address) == 1) {
		if (!read_bits(slash, 32, &v4.bits) ||
		    !bits_end_at((const uint8_t *)&v4.address, sizeof(v4.address), v4.bits))
			return -EINVAL;
		if (out->count4 == STEER_PREFIX_MAX)
			return -E2BIG;
		out->v4[out->count4++] = v4;
		return 0;
	}
	if (inet_pton(AF_INET6, word, &v6.address) != 1 || !read_bits(slash, 128, &v6.bits) ||
	    !bits_end_at(v6.address.byte, sizeof(v6.address), v6.bits))
		return -EINVAL;
	if (out->count6 == STEER_PREFIX_MAX)
		return -E2BIG;
	out->v6[out->count6++] = v6;
	return 0;
}

int steer_prefixes_parse(const char *text, struct steer_prefixes *out, char *wrong,
			 size_t wrong_bytes)
{
	static const char separators[] = " \t,";

	memset(out, 0, sizeof(*out));
	for (;;) {
		char word[WORD_BYTES];
		size_t len;
		int rc = -EINVAL;

		text += strspn(text, separators);
		len = strcspn(text, separators);
		if (len == 0)
			return 0;
		if (len < sizeof(word)) {
			memcpy(word, text, len);
			word[len] = '\0';
			rc = add_prefix(out, word);
		}
		if (rc != 0) {
			snprintf(wrong, wrong_bytes, "%.*s", (int)len, text);
			return rc;
		}
		text += len;
	}
}
