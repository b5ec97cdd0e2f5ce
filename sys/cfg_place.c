// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the file once more: rows remember their line, the knobs of the top level have none of their
// own. Only errors come here, so its time does not count.

#include "sys/cfg_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libconfig.h>

void cfg_place(const char *path, const char *key, char *out, size_t bytes)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	const config_setting_t *setting;
	const char *file;
	config_t parsed;

	config_init(&parsed);
	config_set_include_dir(&parsed, dir != NULL ? dir : ".");
	snprintf(out, bytes, "%s", path);
	setting = config_read_file(&parsed, path) ? config_lookup(&parsed, key) : NULL;
	if (setting != NULL) {
		file = config_setting_source_file(setting);
		snprintf(out, bytes, "%s:%u", file != NULL ? file : path,
			 config_setting_source_line(setting));
	}
	config_destroy(&parsed);
	free(dir);
}
