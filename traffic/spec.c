// SPDX-License-Identifier: BSD-3-Clause
//
// Braces and the words for devices. A spec is read anew each time: it is short, and asked for
// seldom.
//
// What looks like a range but is none, such as {3-1}, {0-} or {0-1234567}, is malformed rather than
// a word, since it is always a mistake.

#include "traffic/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/core/roce.h"

enum {
	WORD_MAX = 1024,
	// Any frame of an endpoint in one slot of a memif ring: the driver loses its place in the
	// ring with frames that take several.
	MEMIF_BUFFER = (ROCE_FRAME_MAX + 63) / 64 * 64,
};

static const char memif_prefix[] = "memif:";

// What one pair of braces holds.
struct brace {
	const char *text; // behind the opening one
	size_t len;       // up to the closing one
	bool range;
	uint32_t first;
	uint32_t count; // 0: malformed
};

static uint32_t words_in(const char *text, size_t len)
{
	uint32_t count = 1;

	for (size_t i = 0; i < len; i++)
		count += text[i] == ',';
	return len == 0 || count > WORD_MAX ? 0 : count;
}

// Reads a number of at most six digits; NULL when there is none.
static const char *read_number(const char *at, uint32_t *value)
{
	char *end;

	if (*at < '0' || *at > '9')
		return NULL;
	*value = (uint32_t)strtoul(at, &end, 10);
	return end - at <= 6 ? end : NULL;
}

// Digits, a minus sign, and nothing else but digits.
static bool looks_like_range(const char *text, size_t len)
{
	const char digits[] = "0123456789";
	const size_t first = strspn(text, digits);

	return first > 0 && text[first] == '-' &&
	       first + 1 + strspn(text + first + 1, digits) == len;
}

// `at` is behind the opening brace.
static struct brace read_brace(const char *at)
{
	struct brace brace = { .text = at, .len = strcspn(at, "}") };
	uint32_t last = 0;
	const char *end;

	if (at[brace.len] == '\0')
		return brace;
	end = read_number(at, &brace.first);
	if (end != NULL && *end == '-') {
		end = read_number(end + 1, &last);
		brace.range = end == at + brace.len;
	}
	if (!brace.range)
		brace.count = looks_like_range(at, brace.len) ? 0 : words_in(at, brace.len);
	else if (last >= brace.first && last - brace.first < WORD_MAX)
		brace.count = last - brace.first + 1;
	return brace;
}

bool spec_is_pair(const char *spec)
{
	return strcmp(spec, "pair") == 0;
}

uint32_t spec_count(const char *spec)
{
	uint32_t count = 0;

	if (spec_is_pair(spec))
		return 2;
	for (const char *at = strchr(spec, '{'); at != NULL; at = strchr(at, '{')) {
		const struct brace brace = read_brace(at + 1);

		if (brace.count == 0 || (count != 0 && brace.count != count))
			return 0;
		count = brace.count;
		at = brace.text + brace.len;
	}
	if (count == 0 && (*spec == '\0' || strchr(spec, '}') != NULL))
		return 0;
	return count == 0 ? 1 : count;
}

// Appends the i-th word of a brace and returns the new length.
static size_t put_word(const struct brace *brace, uint32_t i, char *out, size_t len)
{
	const char *word = brace->text;
	int written;

	if (brace->range) {
		written = snprintf(out + len, SPEC_BYTES - len, "%u", brace->first + i);
	} else {
		for (; i > 0; i--)
			word += strcspn(word, ",") + 1;
		written = snprintf(out + len, SPEC_BYTES - len, "%.*s", (int)strcspn(word, ",}"),
				   word);
	}
	len += (size_t)written;
	return len < SPEC_BYTES ? len : SPEC_BYTES - 1;
}

void spec_expand(const char *spec, uint32_t i, char out[SPEC_BYTES])
{
	size_t len = 0;

	if (spec_is_pair(spec)) {
		snprintf(out, SPEC_BYTES, "%s", spec);
		return;
	}
	while (*spec != '\0' && len + 1 < SPEC_BYTES) {
		if (*spec == '{') {
			const struct brace brace = read_brace(spec + 1);

			len = put_word(&brace, i, out, len);
			spec = brace.text + brace.len + 1;
		} else {
			out[len++] = *spec++;
		}
	}
	out[len] = '\0';
}

void spec_device(const char *spec, uint32_t number, uint32_t ring, char out[SPEC_BYTES])
{
	const size_t prefix = sizeof(memif_prefix) - 1;

	if (strncmp(spec, memif_prefix, prefix) != 0) {
		snprintf(out, SPEC_BYTES, "%s", spec);
		return;
	}
	snprintf(out, SPEC_BYTES,
		 "net_memif%u,role=client,socket=%s,socket-abstract=no,rsize=%d,"
		 "bsize=%d",
		 number, spec + prefix, __builtin_ctz(ring), MEMIF_BUFFER);
}

// [domain:]bus:device.function
bool spec_is_pci(const char *device)
{
	const size_t len = strcspn(device, ",");
	size_t colons = 0;

	for (size_t i = 0; i < len; i++)
		colons += device[i] == ':';
	return strspn(device, "0123456789abcdefABCDEF:.") == len && (colons == 1 || colons == 2) &&
	       len >= 7 && device[len - 2] == '.';
}
