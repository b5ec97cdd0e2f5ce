// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of changes over the control socket: any bytes as the body of a request, its edits
// applied to a configuration with a few rows. Checked: what is refused is said on at least one line
// and changes nothing; what is taken can be dumped and loaded, and there is a difference exactly
// when bytes differ.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dataplane/config_request.h"
#include "dataplane/core/config.h"
#include "sys/cfg_diff.h"
#include "tests/cfg_again.h"
#include "tests/fuzz/fuzz.h"

static const char base_text[] =
	"port = ({ name = \"Ethernet0\"; devargs = \"net_null0\"; pfc_enable = \"3\"; },\n"
	"	{ name = \"Ethernet4\"; devargs = \"net_null1\"; });\n"
	"vlan = ({ id = 20; untagged = \"Ethernet0 Ethernet4\"; });\n"
	"acl = ({ name = \"a\"; action = \"deny\"; }, { name = \"b\"; action = \"permit\"; });\n"
	"turn = ({ in = \"all\"; out = \"all\"; }, { in = \"all\"; out = \"all\"; lane = 1; });\n";

static void load_base(struct sw_config *config)
{
	FILE *file = tmpfile();
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	fputs(base_text, file);
	fflush(file);
	WEFT_CHECK(cfg_load(path, config_tables, CONFIG_TABLE_COUNT, config, stderr) == 0);
	fclose(file);
}

static int64_t differences(const struct sw_config *from, const struct sw_config *to)
{
	FILE *nowhere = fopen("/dev/null", "w");
	const int64_t lines = cfg_diff(from, to, config_tables, CONFIG_TABLE_COUNT, nowhere);

	fclose(nowhere);
	return lines;
}

// Rows that stand in another order in a table where that means nothing are no difference, so only
// one direction is sure: where bytes are alike nothing differs.
static void check_taken(const struct sw_config *before, struct sw_config *after)
{
	struct sw_config *copy = malloc(sizeof(*copy));

	*copy = *before;
	cfg_clear_lines(copy, config_tables, CONFIG_TABLE_COUNT);
	cfg_clear_lines(after, config_tables, CONFIG_TABLE_COUNT);
	WEFT_CHECK(cfg_again(after, config_tables, CONFIG_TABLE_COUNT, stderr));
	if (memcmp(copy, after, sizeof(*after)) == 0)
		WEFT_CHECK(differences(copy, after) == 0);
	WEFT_CHECK(differences(after, after) == 0);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sw_config *base;
	struct sw_config *config = malloc(sizeof(*config));
	struct config_request request;
	char *text = NULL;
	size_t bytes = 0;
	FILE *errors = open_memstream(&text, &bytes);
	int rc;

	if (base == NULL) {
		base = malloc(sizeof(*base));
		load_base(base);
	}
	*config = *base;
	rc = config_request_parse((const char *)data, size, &request, errors);
	if (rc == 0) {
		rc = cfg_edit_apply(config, config_tables, CONFIG_TABLE_COUNT, request.edits,
				    request.edit_count, errors);
		config_request_release(&request);
	}
	fclose(errors);
	if (rc == 0) {
		WEFT_CHECK(bytes == 0);
		check_taken(base, config);
	} else {
		WEFT_CHECK(bytes > 0 && text[bytes - 1] == '\n');
		WEFT_CHECK(memcmp(config, base, sizeof(*base)) == 0);
	}
	free(text);
	free(config);
	return 0;
}
