// SPDX-License-Identifier: BSD-3-Clause
//
// Formats a line in two fixed buffers and gives it to the kernel in one write(2), so lines of
// several threads do not mix and a full heap cannot silence an error. A line that is too long is
// cut, never split. JSON is written by hand for the same reason: no allocation.

#include "sys/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

bool log_site_pass(struct log_site *site, uint64_t second, uint32_t *swallowed)
{
	if (site->second != second) {
		site->second = second;
		site->count = 0;
	}
	if (site->count == LOG_PER_SECOND) {
		site->swallowed++;
		return false;
	}
	site->count++;
	*swallowed = site->swallowed;
	site->swallowed = 0;
	return true;
}

// Appends at `len`; cuts at the room, which leaves space for a newline.
__attribute__((format(printf, 3, 4))) static size_t append(char *out, size_t len,
							   const char *format, ...)
{
	const size_t room = LOG_LINE_BYTES - 1 - len;
	va_list args;
	int wanted;

	va_start(args, format);
	wanted = vsnprintf(out + len, room, format, args);
	va_end(args);
	if (wanted < 0)
		return len;
	return len + ((size_t)wanted < room ? (size_t)wanted : room - 1);
}

size_t log_line(int priority, const char *text, uint32_t swallowed, char *out)
{
	size_t len = 0;

	if (priority >= 0)
		len = append(out, len, "<%d>", priority);
	len = append(out, len, "%s", text);
	if (swallowed > 0)
		len = append(out, len, " (%u such lines left out)", swallowed);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			out[i] = ' ';
	}
	out[len++] = '\n';
	return len;
}

// The bytes of the UTF-8 character at `text` (RFC 3629), 0 when it is none.
static size_t utf8_bytes(const unsigned char *text)
{
	const unsigned char first = text[0];
	const size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	// Of the second byte; shorter forms, surrogates and beyond U+10FFFF are left out by it.
	const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
		return 0;
	if (bytes > 1 && (text[1] < low || text[1] > high))
		return 0;
	for (size_t i = 2; i < bytes; i++) {
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	}
	return bytes;
}

// Appends `len` bytes of text as the inside of a JSON string, with room left for what ends the
// object.
static size_t append_json(char *out, size_t at, const char *text, size_t len)
{
	enum { END_ROOM = 64 };

	for (size_t i = 0; i < len && at + 6 < LOG_JSON_BYTES - END_ROOM;) {
		const size_t bytes = utf8_bytes((const unsigned char *)text + i);

		if (text[i] == '"' || text[i] == '\\')
			out[at++] = '\\';
		if (bytes == 0 || i + bytes > len) {
			out[at++] = '?';
			i++;
		} else if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
			out[at++] = ' ';
			i++;
		} else {
			memcpy(out + at, text + i, bytes);
			at += bytes;
			i += bytes;
		}
	}
	return at;
}

static size_t append_member(char *out, size_t at, const char *key, const char *text, size_t len)
{
	at += (size_t)snprintf(out + at, LOG_JSON_BYTES - at, "\"%s\":\"", key);
	at = append_json(out, at, text, len);
	out[at++] = '"';
	out[at++] = ',';
	return at;
}

// What a line is about.
struct subject {
	size_t sw;      // bytes of the switch's name, which it begins with; 0: of no switch
	size_t port;    // bytes of the port's name behind it and a space; 0: none
	size_t message; // where the rest begins
};

static struct subject find_subject(const char *text, const char (*switches)[CONFIG_NAME_BYTES],
				   uint32_t count)
{
	const size_t colon = strcspn(text, ":");
	size_t sw = strcspn(text, " :");

	if (text[colon] != ':' || text[colon + 1] != ' ')
		return (struct subject){ 0 };
	for (uint32_t i = 0; i < count; i++) {
		if (strlen(switches[i]) != sw || memcmp(switches[i], text, sw) != 0)
			continue;
		if (sw == colon)
			return (struct subject){ sw, 0, colon + 2 };
		// More words are no port.
		if (memchr(text + sw + 1, ' ', colon - sw - 1) == NULL)
			return (struct subject){ sw, colon - sw - 1, colon + 2 };
	}
	return (struct subject){ 0 };
}

size_t log_json(enum log_level level, const char *text, uint32_t swallowed, struct log_time at,
		const char (*switches)[CONFIG_NAME_BYTES], uint32_t count, char *out)
{
	const struct subject subject = find_subject(text, switches, count);
	const char *name = level == LOG_LEVEL_ERR  ? "error" :
			   level == LOG_LEVEL_WARN ? "warning" :
						     "info";
	const time_t seconds = (time_t)at.s;
	struct tm utc;
	char stamp[64];
	size_t len;

	gmtime_r(&seconds, &utc);
	len = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(stamp + len, sizeof(stamp) - len, ".%06uZ", at.us);
	out[0] = '{';
	len = append_member(out, 1, "time", stamp, strlen(stamp));
	len = append_member(out, len, "level", name, strlen(name));
	if (subject.sw > 0)
		len = append_member(out, len, "switch", text, subject.sw);
	if (subject.port > 0)
		len = append_member(out, len, "port", text + subject.sw + 1, subject.port);
	len = append_member(out, len, "message", text + subject.message,
			    strlen(text + subject.message));
	if (swallowed > 0)
		len += (size_t)snprintf(out + len, LOG_JSON_BYTES - len, "\"left_out\":%u,",
					swallowed);
	out[len - 1] = '}'; // in place of the last comma
	out[len++] = '\n';
	return len;
}

static struct {
	bool json;
	char sw[LOG_SWITCH_MAX][CONFIG_NAME_BYTES];
	uint32_t count;
} settings;

void log_set_json(void)
{
	settings.json = true;
}

bool log_is_json(void)
{
	return settings.json;
}

void log_know_switch(const char *name)
{
	for (uint32_t i = 0; i < settings.count; i++) {
		if (strcmp(settings.sw[i], name) == 0)
			return;
	}
	if (settings.count == LOG_SWITCH_MAX)
		return;
	snprintf(settings.sw[settings.count], CONFIG_NAME_BYTES, "%s", name);
	// Other threads may be logging.
	__atomic_store_n(&settings.count, settings.count + 1, __ATOMIC_RELEASE);
}

static size_t make_json(enum log_level level, const char *text, uint32_t swallowed, char *out)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return log_json(level, text, swallowed,
			(struct log_time){ now.tv_sec, (uint32_t)(now.tv_nsec / 1000) },
			(const char(*)[CONFIG_NAME_BYTES])settings.sw,
			__atomic_load_n(&settings.count, __ATOMIC_ACQUIRE), out);
}

void log_write(enum log_level level, struct log_site *site, const char *format, ...)
{
	const int priority = isatty(STDERR_FILENO) ? -1 : (int)level;
	char text[LOG_LINE_BYTES];
	char line[LOG_JSON_BYTES];
	struct timespec now;
	uint32_t swallowed = 0;
	va_list args;
	size_t len;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (site != NULL && !log_site_pass(site, (uint64_t)now.tv_sec, &swallowed))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	len = settings.json ? make_json(level, text, swallowed, line) :
			      log_line(priority, text, swallowed, line);
	// Nobody is left to tell when stderr is gone.
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

// One write of a line-buffered stream is one line, or what fits into its buffer.
static ssize_t write_stream(void *cookie, const char *text, size_t len)
{
	const size_t rest = len > 0 && text[len - 1] == '\n' ? 1 : 0;

	if (len > rest)
		log_warn("%.*s", (int)(len - rest), text);
	return (ssize_t)len;
}

FILE *log_stream(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_stream });

	if (stream != NULL)
		setvbuf(stream, NULL, _IOLBF, LOG_LINE_BYTES);
	return stream;
}

FILE *log_faults(void)
{
	static FILE *stream; // made once

	if (!settings.json)
		return stderr;
	if (stream == NULL)
		stream = log_stream();
	return stream != NULL ? stream : stderr;
}
