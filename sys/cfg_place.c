// SPDX-License-Identifier: BSD-3-Clause
//
// Rows carry their line. The knobs of the top level have none of their own, so for one of those the
// file is read once more: only errors come here, and their time does not count. Files are named as
// libconfig found them, which may be an included one.

#include "sys/cfg_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libconfig.h>

char *cfg_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *cfg_place_line(const char *path, uint32_t line, char out[CFG_PLACE_BYTES])
{
	if (line != 0)
		snprintf(out, CFG_PLACE_BYTES, "%s:%u", path, line);
	else
		snprintf(out, CFG_PLACE_BYTES, "%s", path);
	return out;
}

void cfg_place(const char *path, const char *key, char *out, size_t bytes)
{
	char *dir = cfg_directory(path);
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
