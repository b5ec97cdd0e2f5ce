// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the file anew and hands it to live.h. Errors are collected in memory first, so that each of
// their lines becomes a line of the log with a level of its own; the running switch is not touched
// before the whole file is known to be right.

#include "dataplane/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/live.h"
#include "sys/cfg_diff.h"
#include "sys/cfg_load.h"
#include "sys/log.h"

// More would be swallowed by the log.
enum { DIFF_LINES_MAX = LOG_PER_SECOND - 2 };

static void log_errors(char *text)
{
	char *rest = text;

	for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
		if (line[0] != '\0')
			log_err("%s", line);
	}
}

// What the file changes, a line each.
static void log_diff(const struct instance *in, const struct sw_config *wanted)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int64_t left = 0;
	char *rest;

	if (out == NULL)
		return;
	left = cfg_diff(in->written, wanted, config_tables, CONFIG_TABLE_COUNT, out);
	fclose(out);
	rest = text;
	for (uint32_t i = 0; i < DIFF_LINES_MAX && left > 0; i++, left--)
		log_info("%s: %s", in->config->sw.name, strsep(&rest, "\n"));
	if (left > 0)
		log_info("%s: and %lld changes more", in->config->sw.name, (long long)left);
	free(text);
}

static int refuse(const struct instance *in, const struct live_plan *plan)
{
	for (uint32_t i = 0; i < live_drop_count(plan); i++)
		log_warn("%s: it would drop packets: %s", in->config->sw.name, live_drop(plan, i));
	log_err("%s: %s is not applied; reload it with force to do so all the same",
		in->config->sw.name, in->path);
	return -EBUSY;
}

static int apply(struct instance *in, const struct sw_config *wanted, struct live_plan *plan)
{
	int rc;

	log_diff(in, wanted);
	rc = live_drop_count(plan) > 0 ? -EBUSY : live_apply(plan, false);
	if (rc == 0) {
		log_info("%s: %s is applied; the lcores were stopped for %llu us",
			 in->config->sw.name, in->path, (unsigned long long)(in->parked_ns / 1000));
		return 0;
	}
	if (rc == -EBUSY)
		refuse(in, plan);
	live_discard(plan);
	return rc;
}

// Reads the file, and the hash by which an edited one is told.
static int read_and_plan(struct workers *workers, struct instance *in, struct sw_config *config,
			 uint64_t *hash, struct live_plan **plan)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *errors = open_memstream(&text, &bytes);
	int rc;

	if (errors == NULL)
		return -ENOMEM;
	rc = cfg_hash(in->path, hash, errors);
	if (rc == 0)
		rc = cfg_load(in->path, config_tables, CONFIG_TABLE_COUNT, config, errors);
	if (rc == 0)
		rc = live_prepare(workers, in, config, in->path, errors, plan);
	fclose(errors);
	if (rc != 0) {
		log_errors(text);
		log_err("%s: %s is not applied: %s", in->config->sw.name, in->path,
			rc == -EINVAL ? "see above" : strerror(-rc));
	}
	free(text);
	return rc;
}

int reload(struct workers *workers, struct instance *in)
{
	struct sw_config *config = calloc(1, sizeof(*config));
	struct live_plan *plan = NULL;
	uint64_t hash = 0;
	int rc = config != NULL ? read_and_plan(workers, in, config, &hash, &plan) : -ENOMEM;

	if (rc == 0)
		rc = apply(in, config, plan);
	if (rc == 0)
		in->file_hash = hash;
	in->refused += rc != 0;
	free(config);
	return rc;
}
