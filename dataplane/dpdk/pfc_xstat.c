// SPDX-License-Identifier: BSD-3-Clause
//
// Reads names of statistics: a direction, a priority by number, and a word that stands for PFC; and
// none that stands for times or bytes.

#include "dataplane/dpdk/pfc_xstat.h"

#include <string.h>

static bool has_any(const char *name, const char *const *words)
{
	for (; *words != NULL; words++) {
		if (strstr(name, *words) != NULL)
			return true;
	}
	return false;
}

// The digit behind the first of these words, and no second digit behind it.
static bool parse_prio(const char *name, prio_t *out)
{
	static const char *const words[] = { "priority", "prio", "pri" };

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(name, words[i]);

		if (at == NULL)
			continue;
		at += strlen(words[i]);
		at += *at == '_';
		if (*at < '0' || *at >= '0' + PRIO_COUNT || (at[1] >= '0' && at[1] <= '9'))
			return false;
		*out = (prio_t){ (uint8_t)(*at - '0') };
		return true;
	}
	return false;
}

bool pfc_xstat_parse(const char *name, struct pfc_xstat *out)
{
	static const char *const pfc[] = { "pfc", "xoff", "xon", "pause", NULL };
	static const char *const other[] = { "byte",        "octet", "duration", "transition",
					     "xon_to_xoff", "_us",   "storm",    "discard",
					     "drop",        NULL };
	const bool rx = strstr(name, "rx") != NULL;
	const bool tx = strstr(name, "tx") != NULL;

	if (rx == tx || !has_any(name, pfc) || has_any(name, other))
		return false;
	out->received = rx;
	return parse_prio(name, &out->prio);
}
