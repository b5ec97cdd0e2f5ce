// SPDX-License-Identifier: BSD-3-Clause
//
// Replies as a switch, a proxy or an enemy may write them: whole, in pieces, chunked, lying about
// their length. Every reply is also fed byte by byte, and no prefix of it may pass as whole. Heads
// of requests, likewise.

#include "sys/http.h"

#include <stdlib.h>
#include <string.h>

#include "tests/table.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

static const struct {
	const char *what;
	const char *text;
	uint32_t status;
	const char *body;
} whole_rows[] = {
	{ "a length", OK "Content-Length: 5\r\n\r\nhello", 200, "hello" },
	{ "a length without a space, other case", OK "content-LENGTH:5\r\n\r\nhello", 200,
	  "hello" },
	{ "lines ending in LF alone", "HTTP/1.0 404 Not Found\nContent-Length: 2\n\n{}", 404,
	  "{}" },
	{ "no reason phrase", "HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n", 503, "" },
	{ "what follows the body is not its", OK "Content-Length: 2\r\n\r\nabcd", 200, "ab" },
	{ "chunks", OK CHUNKED "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", 200,
	  "abc0123456789" },
	{ "no chunks but the last", OK CHUNKED "0\r\n\r\n", 200, "" },
};

static const struct {
	const char *what;
	const char *text;
	enum http_verdict want;
	bool eof; // the connection ended behind it
} other_rows[] = {
	{ "a body until the end", OK "Server: x\r\n\r\nhello", HTTP_DONE, true },
	{ "until an end that has not come", OK "\r\nhello", HTTP_MORE, false },
	{ "a chunk that goes on", OK CHUNKED "ff\r\nabc", HTTP_MORE, false },
	{ "a chunk cut short", OK CHUNKED "ff\r\nabc", HTTP_BAD, true },
	{ "a chunk longer than it says", OK CHUNKED "2\r\nabc\r\n0\r\n\r\n", HTTP_BAD, false },
	{ "a chunk without a size", OK CHUNKED "\r\nabc", HTTP_BAD, false },
	{ "a negative chunk", OK CHUNKED "-1\r\nabc", HTTP_BAD, false },
	{ "a chunk beyond the limit", OK CHUNKED "10000000\r\n", HTTP_BAD, false },
	{ "chunks that are together", OK CHUNKED "1\r\na\r\n4000000\r\n", HTTP_BAD, false },
	{ "a chunk size that overflows", OK CHUNKED "10000000000000001\r\na", HTTP_BAD, false },
	{ "another encoding", OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", HTTP_BAD,
	  false },
	{ "a length and chunks", OK "Content-Length: 0\r\n" CHUNKED "0\r\n\r\n", HTTP_BAD, false },
	{ "two lengths", OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", HTTP_BAD, false },
	{ "a body cut short", OK "Content-Length: 9\r\n\r\nhello", HTTP_BAD, true },
	{ "a body to come", OK "Content-Length: 9\r\n\r\nhello", HTTP_MORE, false },
	{ "a negative length", OK "Content-Length: -1\r\n\r\n", HTTP_BAD, false },
	{ "a length that is no number", OK "Content-Length: 0x5\r\n\r\nhello", HTTP_BAD, false },
	{ "a length beyond the limit", OK "Content-Length: 67108865\r\n\r\n", HTTP_BAD, false },
	{ "a length that overflows", OK "Content-Length: 18446744073709551617\r\n\r\na", HTTP_BAD,
	  false },
	{ "no length", OK "Content-Length:\r\n\r\n", HTTP_BAD, false },
	{ "another protocol", "SSH-2.0-OpenSSH_9.2\r\n", HTTP_BAD, false },
	{ "another version", "HTTP/2.0 200 OK\r\n\r\n", HTTP_BAD, false },
	{ "a status that is no number", "HTTP/1.1 2x0 OK\r\n\r\n", HTTP_BAD, false },
	{ "a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", HTTP_BAD, false },
	{ "a status below 200", "HTTP/1.1 100 Continue\r\n\r\n", HTTP_BAD, false },
	{ "a status line cut short", "HTTP/1.1\r\n\r\n", HTTP_BAD, false },
	{ "no end of the head", OK "Content-Length: 0\r\n", HTTP_MORE, false },
	{ "nothing", "", HTTP_MORE, false },
	{ "nothing, and the end", "", HTTP_BAD, true },
};

// A copy exactly as long as the text, so that the sanitiser sees a byte too many.
static enum http_verdict parse_copy(const char *text, size_t len, bool eof,
				    struct http_reply *reply, char **copy)
{
	*copy = malloc(len > 0 ? len : 1);
	memcpy(*copy, text, len);
	return http_parse(*copy, len, eof, reply);
}

// As the bytes come in, a reply is incomplete until it is whole, and then stays the same.
TABLE_TEST(http, whole, row, whole_rows)
{
	const size_t len = strlen(row->text);
	bool done = false;

	for (size_t i = 0; i <= len; i++) {
		struct http_reply reply;
		char *copy;
		const enum http_verdict have = parse_copy(row->text, i, false, &reply, &copy);

		done = done || have == HTTP_DONE;
		cr_assert_eq(have, done ? HTTP_DONE : HTTP_MORE, "%s: %zu", row->what, i);
		if (done) {
			cr_expect_eq(reply.status, row->status, "%s", row->what);
			cr_assert_eq(reply.body_bytes, strlen(row->body), "%s: %zu", row->what, i);
			cr_expect_arr_eq(reply.body, row->body, reply.body_bytes, "%s", row->what);
		}
		free(copy);
	}
	cr_assert(done, "%s", row->what);
}

TABLE_TEST(http, other, row, other_rows)
{
	struct http_reply reply = { 0 };
	char *copy;
	const enum http_verdict have = parse_copy(row->text, strlen(row->text), row->eof, &reply,
						  &copy);

	cr_assert_eq(have, row->want, "%s: %d", row->what, have);
	if (have == HTTP_DONE)
		cr_expect_arr_eq(reply.body, "hello", reply.body_bytes, "%s", row->what);
	else
		cr_expect_null(reply.body, "%s", row->what);
	free(copy);
}

#define POST "POST /.rpc.ack HTTP/1.1\r\n"

static const struct {
	const char *what;
	const char *text;
	enum http_verdict want;
	size_t length; // of the body
	bool close;
} requests[] = {
	{ "a request", POST "Content-Length: 5\r\n\r\nhello", HTTP_DONE, 5, false },
	{ "with other headers", POST "Host: x\r\nContent-Length: 5\r\nX: y\r\n\r\n", HTTP_DONE, 5,
	  false },
	{ "the last", POST "Connection: Close\r\nContent-Length: 0\r\n\r\n", HTTP_DONE, 0, true },
	{ "HTTP/1.0", "POST /.rpc.ack HTTP/1.0\r\nContent-Length: 1\r\n\r\na", HTTP_DONE, 1, true },
	{ "HTTP/1.0 that goes on",
	  "POST /.rpc.ack HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
	  HTTP_DONE, 1, false },
	{ "no end yet", POST "Content-Length: 5\r\n", HTTP_MORE, 0, false },
	{ "nothing", "", HTTP_MORE, 0, false },
	{ "no version", "POST /.rpc.ack\r\n\r\n", HTTP_BAD, 0, false },
	{ "another version", "POST /.rpc.ack HTTP/2.0\r\n\r\n", HTTP_BAD, 0, false },
	{ "more behind the version", "POST /.rpc.ack HTTP/1.1 x\r\n\r\n", HTTP_BAD, 0, false },
	{ "no target", "POST  HTTP/1.1\r\n\r\n", HTTP_BAD, 0, false },
	{ "no method", " /.rpc.ack HTTP/1.1\r\n\r\n", HTTP_BAD, 0, false },
	{ "a reply", OK "Content-Length: 0\r\n\r\n", HTTP_BAD, 0, false },
	{ "two lengths", POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", HTTP_BAD, 0,
	  false },
	{ "a length that overflows", POST "Content-Length: 18446744073709551617\r\n\r\n", HTTP_BAD,
	  0, false },
	{ "a length and chunks", POST "Content-Length: 0\r\n" CHUNKED, HTTP_BAD, 0, false },
};

TABLE_TEST(http, request, row, requests)
{
	const size_t len = strlen(row->text);
	char *copy = malloc(len + 1);
	struct http_head head;

	memcpy(copy, row->text, len);
	for (size_t i = 0; i < len; i++)
		cr_assert_neq(http_parse_request(copy, i, &head),
			      row->want == HTTP_BAD ? HTTP_DONE : HTTP_BAD, "%s: %zu", row->what,
			      i);
	cr_assert_eq(http_parse_request(copy, len, &head), row->want, "%s", row->what);
	if (row->want == HTTP_DONE) {
		cr_expect_eq(head.length, row->length, "%s", row->what);
		cr_expect_eq(head.close, row->close, "%s", row->what);
		cr_expect_eq(head.bytes, (size_t)(strstr(row->text, "\r\n\r\n") + 4 - row->text));
		cr_expect_eq(head.method_bytes, strlen("POST"));
		cr_expect_arr_eq(head.method, "POST", head.method_bytes);
		cr_expect_eq(head.target_bytes, strlen("/.rpc.ack"));
		cr_expect_arr_eq(head.target, "/.rpc.ack", head.target_bytes);
	}
	free(copy);
}
