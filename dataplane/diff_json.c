// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the lines in memory, and gives them away as JSON. No difference is an empty array, no
// memory is NULL: whoever answers a request with it knows the two apart.

#include "dataplane/diff_json.h"

#include "sys/cfg_diff.h"
#include "sys/text_json.h"

json_t *diff_json(const struct sw_config *from, const struct sw_config *to)
{
	struct lines lines;
	json_t *array = NULL;

	if (!lines_open(&lines))
		return NULL;
	if (cfg_diff(from, to, config_tables, CONFIG_TABLE_COUNT, lines.out) >= 0)
		array = text_json_lines(&lines);
	lines_close(&lines);
	return array;
}
