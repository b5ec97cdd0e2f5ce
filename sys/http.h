// SPDX-License-Identifier: BSD-3-Clause
//
// One HTTP/1.1 reply in a buffer: status and body, by Content-Length, chunked or until the end of
// the connection (RFC 9112). Pure text work; client.c does the socket.
#pragma once

#include "base/types.h"

enum { HTTP_BODY_BYTES_MAX = 64 << 20 };

enum http_verdict {
	HTTP_MORE, // not complete yet
	HTTP_DONE,
	HTTP_BAD, // not HTTP, or beyond a limit
};

struct http_reply {
	uint32_t status; // 200..599
	char *body;      // in the buffer, not NUL-terminated
	size_t body_bytes;
};

// Parses what arrived so far; `eof` says that nothing more will. HTTP_DONE fills `reply` and leaves
// a chunked body joined in place; the other verdicts leave both as they are.
enum http_verdict http_parse(char *buf, size_t len, bool eof, struct http_reply *reply);
