// SPDX-License-Identifier: BSD-3-Clause
//
// The table behind cli/reasons.h. An answer has names and not ids, since the switch and the command
// may be of different versions.

#include "cli/reasons.h"

#include <string.h>

const struct reason reasons[REASON_COUNT] = {
#define DROP(name, side, doc) { #name, #side, doc },
#include "schema/drops.def"
#undef DROP
};

enum reason_id reason_find(const char *name)
{
	for (int i = 0; i < REASON_COUNT; i++) {
		if (strcmp(reasons[i].name, name) == 0)
			return (enum reason_id)i;
	}
	return REASON_COUNT;
}
