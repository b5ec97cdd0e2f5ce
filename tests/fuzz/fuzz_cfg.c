// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the configuration loader: any bytes as a file. Checked: a refused file is said to
// be wrong on at least one line and changes nothing; an accepted one dumps to a text that loads to
// the same rows.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dataplane/core/config.h"
#include "tests/cfg_again.h"
#include "tests/fuzz/fuzz.h"

enum { ERRORS_BYTES = 1 << 16 };

static void check_refused(const struct sw_config *config, const char *errors)
{
	static struct sw_config untouched;

	memset(&untouched, 0xaa, sizeof(untouched));
	WEFT_CHECK(strchr(errors, '\n') != NULL);
	WEFT_CHECK(memcmp(config, &untouched, sizeof(untouched)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_config *config = malloc(sizeof(*config));
	char *text = calloc(1, ERRORS_BYTES);
	FILE *errors = fmemopen(text, ERRORS_BYTES - 1, "w");
	FILE *file = tmpfile();
	char path[32];
	int rc;

	memset(config, 0xaa, sizeof(*config));
	fwrite(data, 1, size, file);
	fflush(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, config, errors);
	fflush(errors);
	if (rc == 0)
		WEFT_CHECK(cfg_again(config, config_tables, CONFIG_TABLE_COUNT, errors));
	else
		check_refused(config, text);
	fclose(file);
	fclose(errors);
	free(text);
	free(config);
	return 0;
}
