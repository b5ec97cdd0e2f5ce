// SPDX-License-Identifier: BSD-3-Clause
//
// Bounds first: every length is checked against what the buffer holds before it is used, sizes are
// parsed digit by digit with a limit, and a reply that says two lengths is refused.

#include "sys/http.h"

#include <string.h>
#include <strings.h>

struct text {
	const char *at;
	size_t len;
};

// The line at *pos without its CRLF; *pos moves behind it. False when it has no end yet.
static bool next_line(const char *buf, size_t len, size_t *pos, struct text *line)
{
	const char *start = buf + *pos;
	const char *end = memchr(start, '\n', len - *pos);

	if (end == NULL)
		return false;
	*pos = (size_t)(end - buf) + 1;
	line->at = start;
	line->len = (size_t)(end - start);
	if (line->len > 0 && start[line->len - 1] == '\r')
		line->len--;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return 16;
}

// A number at the start of `text` followed by nothing or one of `ends`.
static bool parse_size(struct text text, uint32_t base, const char *ends, size_t *value)
{
	size_t sum = 0;
	size_t i = 0;

	for (; i < text.len && digit_of(text.at[i]) < (int)base; i++) {
		sum = sum * base + (size_t)digit_of(text.at[i]);
		if (sum > HTTP_BODY_BYTES_MAX)
			return false;
	}
	if (i == 0 || (i < text.len && (text.at[i] == '\0' || strchr(ends, text.at[i]) == NULL)))
		return false;
	*value = sum;
	return true;
}

// "HTTP/1.x" at the start of `text`; 1.0 means that the connection ends behind the body.
static bool parse_version(struct text text, struct http_head *head)
{
	const char *prefix = "HTTP/1.";

	if (text.len < strlen(prefix) + 1 || memcmp(text.at, prefix, strlen(prefix)) != 0)
		return false;
	head->close = text.at[strlen(prefix)] == '0';
	return true;
}

static bool parse_status_line(struct text line, struct http_head *head)
{
	const struct text code = { line.at + 9, 3 };
	size_t value;

	if (line.len < 12 || !parse_version(line, head) || line.at[8] != ' ' ||
	    (line.len > 12 && line.at[12] != ' ') || !parse_size(code, 10, "", &value) ||
	    value < 200 || value > 599)
		return false;
	head->status = (uint32_t)value;
	return true;
}

// The word at the start of *rest, which goes behind it and the space after it.
static struct text take_word(struct text *rest)
{
	const char *end = memchr(rest->at, ' ', rest->len);
	const struct text word = { rest->at, end != NULL ? (size_t)(end - rest->at) : rest->len };
	const size_t taken = word.len + (end != NULL);

	*rest = (struct text){ rest->at + taken, rest->len - taken };
	return word;
}

static bool parse_request_line(struct text line, struct http_head *head)
{
	const struct text method = take_word(&line);
	const struct text target = take_word(&line);

	head->method = method.at;
	head->method_bytes = method.len;
	head->target = target.at;
	head->target_bytes = target.len;
	return method.len > 0 && target.len > 0 && line.len == strlen("HTTP/1.x") &&
	       parse_version(line, head);
}

static bool header_is(struct text line, const char *name, struct text *value)
{
	const size_t len = strlen(name);

	if (line.len <= len || line.at[len] != ':' || strncasecmp(line.at, name, len) != 0)
		return false;
	value->at = line.at + len + 1;
	value->len = line.len - len - 1;
	while (value->len > 0 && (*value->at == ' ' || *value->at == '\t')) {
		value->at++;
		value->len--;
	}
	return true;
}

static bool text_is(struct text text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

static bool parse_header(struct text line, struct http_head *head)
{
	struct text value;

	if (header_is(line, "Content-Length", &value)) {
		if (head->has_length)
			return false;
		head->has_length = true;
		return parse_size(value, 10, " \t", &head->length);
	}
	if (header_is(line, "Transfer-Encoding", &value)) {
		head->chunked = true;
		return text_is(value, "chunked");
	}
	if (header_is(line, "Connection", &value))
		head->close = text_is(value, "close") ||
			      (head->close && !text_is(value, "keep-alive"));
	return true;
}

// `parse_first` reads the first line.
static enum http_verdict parse_head(const char *buf, size_t len,
				    bool (*parse_first)(struct text line, struct http_head *head),
				    struct http_head *head)
{
	struct text line;
	size_t pos = 0;

	*head = (struct http_head){ 0 };
	if (!next_line(buf, len, &pos, &line))
		return HTTP_MORE;
	if (!parse_first(line, head))
		return HTTP_BAD;
	while (next_line(buf, len, &pos, &line)) {
		if (line.len == 0) {
			head->bytes = pos;
			return head->chunked && head->has_length ? HTTP_BAD : HTTP_DONE;
		}
		if (!parse_header(line, head))
			return HTTP_BAD;
	}
	return HTTP_MORE;
}

enum http_verdict http_parse_request(const char *buf, size_t len, struct http_head *head)
{
	return parse_head(buf, len, parse_request_line, head);
}

enum http_verdict http_parse_status(const char *buf, size_t len, struct http_head *head)
{
	return parse_head(buf, len, parse_status_line, head);
}

// Walks the chunks from `pos`; joins them at `out` unless that is NULL. *bytes is their sum.
static enum http_verdict walk_chunks(const char *buf, size_t len, size_t pos, char *out,
				     size_t *bytes)
{
	struct text line;
	size_t sum = 0;
	size_t size;

	while (next_line(buf, len, &pos, &line)) {
		if (!parse_size(line, 16, "; \t", &size) || sum + size > HTTP_BODY_BYTES_MAX)
			return HTTP_BAD;
		if (size == 0) {
			*bytes = sum;
			return HTTP_DONE;
		}
		if (len - pos < size)
			return HTTP_MORE;
		if (out != NULL)
			memmove(out + sum, buf + pos, size);
		sum += size;
		pos += size;
		if (!next_line(buf, len, &pos, &line))
			return HTTP_MORE;
		if (line.len != 0)
			return HTTP_BAD;
	}
	return HTTP_MORE;
}

static enum http_verdict parse_body(char *buf, size_t len, bool eof, const struct http_head *head,
				    size_t *bytes)
{
	enum http_verdict verdict;

	if (head->chunked) {
		verdict = walk_chunks(buf, len, head->bytes, NULL, bytes);
		if (verdict == HTTP_DONE)
			walk_chunks(buf, len, head->bytes, buf + head->bytes, bytes);
		return verdict;
	}
	*bytes = head->has_length ? head->length : len - head->bytes;
	if (head->has_length)
		return len - head->bytes >= head->length ? HTTP_DONE : HTTP_MORE;
	return eof ? HTTP_DONE : HTTP_MORE;
}

enum http_verdict http_parse(char *buf, size_t len, bool eof, struct http_reply *reply)
{
	struct http_head head;
	size_t bytes = 0;
	enum http_verdict verdict = http_parse_status(buf, len, &head);

	if (verdict == HTTP_DONE)
		verdict = parse_body(buf, len, eof, &head, &bytes);
	if (verdict == HTTP_DONE)
		*reply = (struct http_reply){ head.status, buf + head.bytes, bytes };
	return verdict == HTTP_MORE && eof ? HTTP_BAD : verdict;
}
