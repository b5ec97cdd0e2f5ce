// SPDX-License-Identifier: BSD-3-Clause
//
// Every configuration in deploy/examples loads, becomes a profile and tables, and reads back from
// its dump. Prints TAP; the files are the arguments.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/core/preset.h"
#include "dataplane/core/tables.h"
#include "sys/fault.h"
#include "tests/cfg_again.h"

enum {
	NEIGHBORS = 16,
	HEADROOM_BYTES = 400000, // of a port, where a preset asks
	HEADROOM_DESCRIPTORS = 2000,
};

static int build_tables(const struct sw_config *config, const struct sw_profile *pf,
			struct profile_fault *fault)
{
	const size_t bytes = tables_bytes(config, NEIGHBORS);
	void *memory = bytes == 0 ? NULL : aligned_alloc(64, bytes);
	struct sw_tables *tables;
	const int rc = bytes == 0 ? 0 : tables_build(config, pf, NEIGHBORS, memory, &tables, fault);

	free(memory);
	return rc;
}

static bool builds(const char *path, const struct sw_config *config)
{
	struct sw_profile *pf = calloc(1, profile_bytes(config));
	struct profile_fault fault;
	char why[256];
	int rc = profile_build(config, pf, &fault);

	if (rc == 0)
		rc = build_tables(config, pf, &fault);
	free(pf);
	if (rc == 0)
		return true;
	fault_render(why, sizeof(why), profile_fault_texts[fault.id], fault.object, fault.detail,
		     fault.have, fault.want);
	fprintf(stderr, "%s:%u: %s\n", path, fault.line, why);
	return false;
}

// As it is, and with the rows of its preset.
static bool check(const char *path)
{
	static struct preset_port needs[CONFIG_PORT_MAX];
	struct sw_config *written = calloc(1, sizeof(*written));
	struct sw_config *config = calloc(1, sizeof(*config));
	struct profile_fault fault;
	bool good;

	for (uint32_t i = 0; i < CONFIG_PORT_MAX; i++)
		needs[i] = (struct preset_port){ HEADROOM_BYTES, HEADROOM_DESCRIPTORS };
	good = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, written, stderr) == 0 &&
	       preset_expand(written, needs, config, &fault) == 0 && builds(path, config) &&
	       cfg_again(config, config_tables, CONFIG_TABLE_COUNT, stderr) &&
	       cfg_again(written, config_tables, CONFIG_TABLE_COUNT, stderr);
	free(config);
	free(written);
	return good;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');
		const bool good = check(argv[i]);

		failed += !good;
		printf("%s %d - %s\n", good ? "ok" : "not ok", i, slash ? slash + 1 : argv[i]);
	}
	return failed == 0 && argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
