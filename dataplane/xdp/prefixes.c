// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the text of steer_prefixes.
//
// Prefixes whose bits reach beyond their length are refused: 10.1.2.3/8 is more likely a slip than
// the wish for 10.0.0.0/8 (RFC 4632 3.1).

#include "dataplane/xdp/steer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/cfg_address.h"

enum { WORD_BYTES = 64 };

static int add_prefix(struct steer_prefixes *out, const char *word)
{
	struct ip_prefix prefix;

	if (!ip_prefix_parse(word, &prefix) || !ip_prefix_canonical(&prefix))
		return -EINVAL;
	if (prefix.family == IP_V6) {
		if (out->count6 == STEER_PREFIX_MAX)
			return -E2BIG;
		out->v6[out->count6].bits = prefix.len;
		memcpy(&out->v6[out->count6].address, prefix.address, sizeof(out->v6[0].address));
		out->count6++;
		return 0;
	}
	if (out->count4 == STEER_PREFIX_MAX)
		return -E2BIG;
	out->v4[out->count4].bits = prefix.len;
	memcpy(&out->v4[out->count4].address, prefix.address, sizeof(out->v4[0].address));
	out->count4++;
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
