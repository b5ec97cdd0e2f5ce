// SPDX-License-Identifier: BSD-3-Clause
//
// A lexer of libconfig's tokens, just deep enough to tell numbers from names, strings and comments.
// Includes are followed as libconfig does: a directive at the start of a line, its file relative to
// one directory, at most ten deep.

#include "sys/cfg_scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sys/file_read.h"

struct lexer {
	const char *name; // of the file, as libconfig has it
	const char *dir;  // of includes
	const char *at;
	const char *end;
	uint32_t line;
	uint32_t name_line; // of the last name
	uint32_t depth;
	struct cfg_scan *scan;
	FILE *errors;
};

static int scan_file(const char *path, const char *name, uint32_t depth,
		     const struct lexer *parent);

static bool lexer_sees(const struct lexer *lx, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(lx->end - lx->at) >= len && memcmp(lx->at, text, len) == 0;
}

static void lexer_step(struct lexer *lx)
{
	if (*lx->at++ == '\n')
		lx->line++;
}

// Moves behind the next `text`, or to the end.
static void skip_past(struct lexer *lx, const char *text)
{
	while (lx->at < lx->end && !lexer_sees(lx, text))
		lexer_step(lx);
	for (size_t i = strlen(text); i > 0 && lx->at < lx->end; i--)
		lexer_step(lx);
}

static void skip_string(struct lexer *lx)
{
	lx->at++;
	while (lx->at < lx->end && *lx->at != '"') {
		if (*lx->at == '\\' && lx->at + 1 < lx->end)
			lexer_step(lx);
		lexer_step(lx);
	}
	if (lx->at < lx->end)
		lx->at++;
}

// True when libconfig misreads the integer `text`; *seen is then what it gives.
static bool misread(const char *text, int64_t *seen)
{
	const char *digits = text + (text[0] == '-' || text[0] == '+');
	const bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x';
	uint64_t bits;
	bool wide;
	char *end;

	errno = 0;
	if (hex) {
		bits = strtoull(digits, &end, 16);
		wide = errno == ERANGE || bits > (*end == 'L' ? INT64_MAX : INT32_MAX);
	} else {
		const long long value = strtoll(text, &end, 10);

		bits = (uint64_t)value;
		wide = errno == ERANGE || (*end != 'L' && (value < INT32_MIN || value > INT32_MAX));
	}
	if (end == digits || (*end != '\0' && *end != 'L')) // a fraction, or not a number
		return false;
	*seen = *end == 'L' ? (int64_t)bits : (int32_t)bits;
	return wide;
}

static void lex_number(struct lexer *lx)
{
	struct cfg_scan *scan = lx->scan;
	struct cfg_wide *wide;
	char text[sizeof(wide->text)];
	int64_t seen;
	size_t len = 0;

	for (; lx->at < lx->end && (isalnum((unsigned char)*lx->at) || strchr("+-.", *lx->at));
	     lx->at++) {
		if (*lx->at == '\0')
			break;
		if (len < sizeof(text) - 1)
			text[len++] = *lx->at;
	}
	text[len] = '\0';
	if (len == 0 || !misread(text, &seen) || scan->wide_count == CFG_SCAN_WIDE_MAX)
		return;
	wide = &scan->wide[scan->wide_count++];
	snprintf(wide->file, sizeof(wide->file), "%s", lx->name);
	memcpy(wide->text, text, sizeof(text));
	wide->line = lx->name_line;
	wide->seen = seen;
}

static void lex_name(struct lexer *lx)
{
	lx->name_line = lx->line;
	while (lx->at < lx->end && (isalnum((unsigned char)*lx->at) || *lx->at == '-' ||
				    *lx->at == '_' || *lx->at == '*'))
		lx->at++;
}

// A directive at the start of a line; what is not one is left alone.
static int lex_include(struct lexer *lx)
{
	char path[4096];
	char name[CFG_SCAN_PATH_BYTES];
	const char *start;

	while (lx->at < lx->end && (*lx->at == ' ' || *lx->at == '\t'))
		lx->at++;
	if (!lexer_sees(lx, "@include"))
		return 0;
	lx->at += strlen("@include");
	while (lx->at < lx->end && (*lx->at == ' ' || *lx->at == '\t'))
		lx->at++;
	if (lx->at == lx->end || *lx->at != '"' || lx->depth == CFG_SCAN_DEPTH_MAX)
		return 0; // libconfig reports both
	start = lx->at + 1;
	skip_string(lx);
	snprintf(name, sizeof(name), "%.*s", (int)(lx->at - start) - 1, start);
	snprintf(path, sizeof(path), "%s/%s", lx->dir, name);
	return scan_file(path, name, lx->depth + 1, lx);
}

static int lex(struct lexer *lx)
{
	bool line_start = true;
	int rc = 0;

	while (rc == 0 && lx->at < lx->end) {
		const char c = *lx->at;

		if (line_start) {
			line_start = false;
			rc = lex_include(lx);
		} else if (c == '#' || lexer_sees(lx, "//")) {
			skip_past(lx, "\n");
			line_start = true;
		} else if (lexer_sees(lx, "/*")) {
			skip_past(lx, "*/");
		} else if (c == '"') {
			skip_string(lx);
		} else if (isalpha((unsigned char)c) || c == '*') {
			lex_name(lx);
		} else if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') {
			lex_number(lx);
		} else {
			lexer_step(lx);
			line_start = c == '\n';
		}
	}
	return rc;
}

// An error in words: where the file is asked for, and why it cannot be read.
static void report(const struct lexer *parent, const char *path, int rc)
{
	const char *why = rc == -ENOTSUP ? "not a regular file" : strerror(-rc);

	if (parent->depth > 1)
		fprintf(parent->errors, "%s/", parent->dir);
	if (parent->depth > 0)
		fprintf(parent->errors, "%s:%u: @include: ", parent->name, parent->line);
	fprintf(parent->errors, "%s: %s\n", path, why);
}

static int scan_file(const char *path, const char *name, uint32_t depth, const struct lexer *parent)
{
	struct lexer lx = *parent;
	size_t len = 0;
	char *text;
	int rc = file_read(path, CFG_SCAN_FILE_BYTES, &text, &len);

	if (rc < 0) {
		report(parent, path, rc);
		return rc;
	}
	for (size_t i = 0; i < len; i++)
		parent->scan->hash = hash_add(parent->scan->hash, (uint8_t)text[i]);
	lx.name = name;
	lx.at = text;
	lx.end = text + len;
	lx.line = lx.name_line = 1;
	lx.depth = depth;
	rc = lex(&lx);
	free(text);
	return rc;
}

int cfg_scan(const char *path, const char *dir, struct cfg_scan *scan, FILE *errors)
{
	const struct lexer top = { .dir = dir, .scan = scan, .errors = errors };

	scan->wide_count = 0;
	scan->hash = HASH_EMPTY;
	return scan_file(path, path, 1, &top);
}

const struct cfg_wide *cfg_scan_find(const struct cfg_scan *scan, const char *file, uint32_t line,
				     int64_t seen)
{
	for (uint32_t i = 0; i < scan->wide_count; i++) {
		const struct cfg_wide *wide = &scan->wide[i];

		if (wide->line == line && wide->seen == seen && strcmp(wide->file, file) == 0)
			return wide;
	}
	return NULL;
}
