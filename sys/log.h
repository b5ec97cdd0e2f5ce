// SPDX-License-Identifier: BSD-3-Clause
//
// Lines for people on stderr. Under systemd (stderr is not a terminal) each line starts with its
// priority as in sd-daemon(3), "<3>", and the journal adds the time.
//
// As JSON (log_set_json) a line is one object, with the switch and port that it is about: every
// line of a switch begins with its name, one of a port with both ("leaf1 Ethernet0: link up").
//
// A call site writes at most LOG_PER_SECOND lines a second; the next line it may write says how
// many it swallowed. Nothing logs per packet. What somebody has asked for, whose lines have a bound
// of their own, is logged as a whole.
#pragma once

#include <stdio.h>

#include "schema/config.h"

enum log_level { LOG_LEVEL_ERR = 3, LOG_LEVEL_WARN = 4, LOG_LEVEL_INFO = 6 };

// A process may have 128 switches, each with a line at its start and at its end.
enum { LOG_PER_SECOND = 128, LOG_LINE_BYTES = 512, LOG_JSON_BYTES = 2048, LOG_SWITCH_MAX = 128 };

// Of one call site. Threads may share it: a race can only let a line more or less through.
struct log_site {
	uint64_t second;
	uint32_t count;
	uint32_t swallowed;
};

#define LOG_AT(level, ...)                                                                         \
	do {                                                                                       \
		static struct log_site log_site_here;                                              \
		log_write((level), &log_site_here, __VA_ARGS__);                                   \
	} while (0)

// printf-like, without a newline: what happened, to which object, why.
#define log_err(...) LOG_AT(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...) LOG_AT(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) LOG_AT(LOG_LEVEL_INFO, __VA_ARGS__)

// Likewise, but every line is written: for lists that answer a person.
#define log_whole(level, ...) log_write((level), NULL, __VA_ARGS__)

// Use the macros above.
__attribute__((format(printf, 3, 4))) void log_write(enum log_level level, struct log_site *site,
						     const char *format, ...);

// From here on lines are JSON objects. Before the first thread starts.
void log_set_json(void);
bool log_is_json(void);

// The name of a switch whose lines shall say so in JSON. Control thread only.
void log_know_switch(const char *name);

// Where faults of a configuration go that is not in use yet: plain lines on stderr, or, when the
// log is JSON, lines of it.
FILE *log_faults(void);

// A stream whose lines are logged as warnings: for what libraries write. NULL when memory is short;
// it lives as long as the process.
FILE *log_stream(void);

// The rate limit alone: whether a line may pass at `second`, with what was swallowed before it in
// *swallowed.
bool log_site_pass(struct log_site *site, uint64_t second, uint32_t *swallowed);

// Makes one line of LOG_LINE_BYTES at most out of `text`: control characters become spaces.
// `priority` < 0 leaves the prefix out. Returns the length, newline included.
size_t log_line(int priority, const char *text, uint32_t swallowed, char *out);

// Likewise one JSON object of LOG_JSON_BYTES at most. `switches` are the `count` names known.
struct log_time {
	int64_t s; // since 1970, UTC
	uint32_t us;
};

size_t log_json(enum log_level level, const char *text, uint32_t swallowed, struct log_time time,
		const char (*switches)[CONFIG_NAME_BYTES], uint32_t count, char *out);
