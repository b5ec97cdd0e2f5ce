// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the reply parser: the first byte says whether the connection ended and where a
// first piece was cut, the rest is what a peer sent. Checked: the body lies in the buffer, a
// refused buffer is untouched, and a reply that is whole in a prefix is the same in all of it. The
// same bytes as the head of a request: its words lie in the buffer.

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

static void parse_request(const uint8_t *data, size_t size)
{
	char *copy = malloc(size > 0 ? size : 1);
	struct http_head head;
	struct http_head again;

	memcpy(copy, data, size);
	if (http_parse_request(copy, size, &head) == HTTP_DONE) {
		WEFT_CHECK(head.bytes <= size);
		WEFT_CHECK(head.method == copy && head.method_bytes > 0);
		WEFT_CHECK(head.target == copy + head.method_bytes + 1 && head.target_bytes > 0);
		WEFT_CHECK(head.target + head.target_bytes < copy + head.bytes);
		WEFT_CHECK(http_parse_request(copy, head.bytes, &again) == HTTP_DONE);
		WEFT_CHECK(http_parse_request(copy, head.bytes - 1, &again) == HTTP_MORE);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parsed whole, part;
	size_t cut;

	if (size < 1)
		return 0;
	parse_request(data + 1, size - 1);
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
