// SPDX-License-Identifier: BSD-3-Clause
//
// Formats a line in two fixed buffers and gives it to the kernel in one write(2), so lines of
// several threads do not mix and a full heap cannot silence an error. A line that is too long is
// cut, never split.

#include "sys/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

void log_write(enum log_level level, struct log_site *site, const char *format, ...)
{
	const int priority = isatty(STDERR_FILENO) ? -1 : (int)level;
	char text[LOG_LINE_BYTES];
	char line[LOG_LINE_BYTES];
	struct timespec now;
	uint32_t swallowed;
	va_list args;
	size_t len;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (!log_site_pass(site, (uint64_t)now.tv_sec, &swallowed))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	len = log_line(priority, text, swallowed, line);
	// Nobody is left to tell when stderr is gone.
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
