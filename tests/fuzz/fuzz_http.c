// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the reply parser: the first byte says whether the connection ended and where a
// first piece was cut, the rest is what a peer sent. Checked: the body lies in the buffer, a
// refused buffer is untouched, and a reply that is whole in a prefix is the same in all of it.

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sys/http.h"
#include "tests/fuzz/fuzz.h"

struct parsed {
	enum http_verdict verdict;
	struct http_reply reply;
	char *copy; // exactly as long as the input
};

static struct parsed parse(const uint8_t *data, size_t size, bool eof)
{
	struct parsed out = { .copy = malloc(size > 0 ? size : 1) };

	memcpy(out.copy, data, size);
	out.verdict = http_parse(out.copy, size, eof, &out.reply);
	if (out.verdict == HTTP_DONE) {
		WEFT_CHECK(out.reply.body >= out.copy);
		WEFT_CHECK(out.reply.body + out.reply.body_bytes <= out.copy + size);
		WEFT_CHECK(out.reply.status >= 200 && out.reply.status <= 599);
	} else {
		WEFT_CHECK(memcmp(out.copy, data, size) == 0);
		WEFT_CHECK(!eof || out.verdict == HTTP_BAD);
	}
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parsed whole, part;
	size_t cut;

	if (size < 1)
		return 0;
	cut = (size - 1) * (data[0] >> 1) / 128;
	whole = parse(data + 1, size - 1, data[0] & 1);
	part = parse(data + 1, cut, false);
	if (part.verdict == HTTP_BAD)
		WEFT_CHECK(whole.verdict == HTTP_BAD);
	if (part.verdict == HTTP_DONE) {
		WEFT_CHECK(whole.verdict == HTTP_DONE);
		WEFT_CHECK(whole.reply.status == part.reply.status);
		WEFT_CHECK(whole.reply.body_bytes == part.reply.body_bytes);
		WEFT_CHECK(memcmp(whole.reply.body, part.reply.body, part.reply.body_bytes) == 0);
	}
	free(whole.copy);
	free(part.copy);
	return 0;
}
