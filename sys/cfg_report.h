// SPDX-License-Identifier: BSD-3-Clause
//
// Errors of a configuration file: one line each, "FILE:LINE: TABLE.KEY: what". The first `max` are
// written, the rest counted: a file with a systematic mistake must not flood a terminal or a
// journal.
#pragma once

#include <libconfig.h>
#include <stdio.h>

#include "base/types.h"

struct cfg_report {
	const char *path; // of the main file
	const char *dir;  // of the files it includes
	FILE *out;
	uint32_t max;
	uint32_t count;
};

// Name of the file that a setting was read from: `path`, or the name in its @include.
const char *cfg_report_file(const struct cfg_report *report, const config_setting_t *at);

// Reports on `key` of `table` (either may be empty) at a setting.
__attribute__((format(printf, 5, 6))) void cfg_report_at(struct cfg_report *report,
							 const config_setting_t *at,
							 const char *table, const char *key,
							 const char *format, ...);

// Reports why `parsed` could not be parsed.
void cfg_report_syntax(struct cfg_report *report, const config_t *parsed);

// Says how many errors were not written, if any.
void cfg_report_end(const struct cfg_report *report);
