// SPDX-License-Identifier: BSD-3-Clause
//
// HTTP/1.1 in a buffer (RFC 9112): a reply with its body, by Content-Length, chunked or until the
// end of the connection; and heads alone, of requests and replies, whose bodies are read elsewhere.
// Pure text work; client.c, rpc_client.c and rpc_server.c do the sockets.
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

// What stands before a body.
struct http_head {
	uint32_t status;    // of a reply: 200..599
	const char *method; // of a request, in the buffer, not NUL-terminated
	size_t method_bytes;
	const char *target;
	size_t target_bytes;
	size_t bytes;  // of the head, the empty line at its end included
	size_t length; // of Content-Length
	bool has_length;
	bool chunked;
	bool close; // the connection ends behind it: HTTP/1.0, or "Connection: close"
};

// Parses the head of a request or of a reply. Only HTTP_DONE fills `head` as a whole.
enum http_verdict http_parse_request(const char *buf, size_t len, struct http_head *head);
enum http_verdict http_parse_status(const char *buf, size_t len, struct http_head *head);
