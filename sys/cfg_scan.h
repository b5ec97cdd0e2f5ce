// SPDX-License-Identifier: BSD-3-Clause
//
// What libconfig 1.5 does not tell: it cuts integers that do not fit to their low bits, so that
// 400000000000 becomes 568041472, and ends the process when a file to include turns out to be a
// directory. The scan reads the same text first, finds such numbers and checks every file.
#pragma once

#include <stdio.h>

#include "base/types.h"

enum {
	CFG_SCAN_WIDE_MAX = 20,  // as many as errors are shown
	CFG_SCAN_DEPTH_MAX = 10, // of includes, as in libconfig
	CFG_SCAN_PATH_BYTES = 512,
	CFG_SCAN_FILE_BYTES = 16 << 20,
};

// An integer that libconfig will misread.
struct cfg_wide {
	char file[CFG_SCAN_PATH_BYTES]; // as libconfig names it
	char text[32];                  // as written, cut
	uint32_t line;                  // of the name it belongs to
	int64_t seen;                   // what libconfig makes of it
};

struct cfg_scan {
	struct cfg_wide wide[CFG_SCAN_WIDE_MAX];
	uint32_t wide_count;
	uint64_t hash; // of the bytes of all files, in the order in which they are read
};

// Scans `path` and the files it includes from directory `dir`. Returns 0, or -errno after one line
// to `errors` about a file that cannot be read.
int cfg_scan(const char *path, const char *dir, struct cfg_scan *scan, FILE *errors);

// The misread integer behind a setting, NULL when `seen` is what the file says.
const struct cfg_wide *cfg_scan_find(const struct cfg_scan *scan, const char *file, uint32_t line,
				     int64_t seen);
