// SPDX-License-Identifier: BSD-3-Clause
//
// Four placeholders, one pass; the result is cut rather than grown. Names come from configuration
// files, which were checked for control characters when they were read, so the sentence stays one
// line.

#include "sys/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t fault_render(char *out, size_t out_bytes, const char *text, const char *object,
		    const char *detail, uint64_t have, uint64_t want)
{
	size_t len = 0;

	out[0] = '\0';
	for (const char *c = text; *c != '\0' && len < out_bytes; c++) {
		char *at = out + len;
		const size_t room = out_bytes - len;
		int wrote;

		if (c[0] == '%' && c[1] == 'o')
			wrote = snprintf(at, room, "%s", object);
		else if (c[0] == '%' && c[1] == 'd')
			wrote = snprintf(at, room, "%s", detail);
		else if (c[0] == '%' && c[1] == 'h')
			wrote = snprintf(at, room, "%" PRIu64, have);
		else if (c[0] == '%' && c[1] == 'w')
			wrote = snprintf(at, room, "%" PRIu64, want);
		else
			wrote = snprintf(at, room, "%c", *c);
		if (c[0] == '%' && c[1] != '\0' && strchr("odhw%", c[1]))
			c++;
		len += (size_t)wrote;
	}
	return len < out_bytes ? len : out_bytes - 1;
}
