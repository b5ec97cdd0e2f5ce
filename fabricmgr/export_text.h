// SPDX-License-Identifier: BSD-3-Clause
//
// What exporters share: which cables are written, and texts in quotes. Names have no blanks and no
// control characters, so only quotes, and in some forms backslashes, need care.
#pragma once

#include <stdio.h>
#include <string.h>

#include "fabricmgr/core/fabric.h"

// Whether a cable or one of its switches is as if it were not there.
static inline bool export_ignores(const struct fabric *fabric, const struct fabric_cable *cable)
{
	return cable->ignored || fabric->switches[cable->end_switch[0]].ignored ||
	       fabric->switches[cable->end_switch[1]].ignored;
}

// A text with a backslash before each character of `escaped`.
static inline void export_text(FILE *out, const char *text, const char *escaped)
{
	for (; *text != '\0'; text++) {
		if (strchr(escaped, *text) != NULL)
			fputc('\\', out);
		fputc(*text, out);
	}
}

static inline void export_quoted(FILE *out, const char *text, const char *escaped)
{
	fputc('"', out);
	export_text(out, text, escaped);
	fputc('"', out);
}
