// SPDX-License-Identifier: BSD-3-Clause
//
// A change like those of the control socket (config_change.h), but nobody waits for its answer, so
// all of that is logged: each line with a level of its own.

#include "dataplane/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataplane/managed.h"
#include "sys/cfg_load.h"
#include "sys/lines.h"
#include "sys/log.h"

// 0 or -errno; says why with the drops, and in lines.
static int read_and_change(struct config_changer *changer, struct sw_config *config,
			   json_t **changes, json_t **drops, FILE *errors)
{
	static const struct config_request as_it_is;
	const char *path = changer->in->path;
	struct config_change change = { .request = &as_it_is, .config = config, .who = "SIGHUP" };
	int rc = cfg_hash(path, &change.file_hash, errors);

	if (rc == 0)
		rc = cfg_load(path, config_tables, CONFIG_TABLE_COUNT, config, errors);
	if (rc == 0)
		rc = managed_merge(changer->in, config, errors);
	return rc == 0 ? config_change(changer, &change, changes, drops, errors) : rc;
}

static void say_applied(const struct instance *in, const json_t *changes)
{
	if (json_array_size(changes) == 0)
		log_info("%s: %s is applied already", in->config->sw.name, in->path);
	else
		log_info("%s: %s is applied; the swap took %llu us", in->config->sw.name, in->path,
			 (unsigned long long)(in->swap_ns / 1000));
}

static void say_refused(const struct config_changer *changer, int rc, const json_t *drops)
{
	const char *name = changer->in->config->sw.name;
	const char *path = changer->in->path;
	const json_t *drop;
	size_t i;

	json_array_foreach(drops, i, drop)
		log_whole(LOG_LEVEL_WARN, "%s: it would drop packets: %s", name,
			  json_string_value(drop));
	if (rc == -EBUSY)
		log_err("%s: %s is not applied; reload it with force to do so all the same", name,
			path);
	else if (rc == -EAGAIN)
		log_err("%s: %s is not applied: a change waits %u s more to be confirmed; confirm "
			"it or roll it back first",
			name, path, config_changer_waits(changer));
	else
		log_err("%s: %s is not applied: %s", name, path,
			rc == -EINVAL ? "see above" : strerror(-rc));
}

int reload(struct config_changer *changer)
{
	struct sw_config *config = malloc(sizeof(*config));
	json_t *changes = NULL;
	json_t *drops = NULL;
	struct lines lines = { 0 };
	int rc = -ENOMEM;

	if (config != NULL && lines_open(&lines)) {
		rc = read_and_change(changer, config, &changes, &drops, lines.out);
		lines_log(&lines);
		lines_close(&lines);
	}
	if (rc == 0)
		say_applied(changer->in, changes);
	else
		say_refused(changer, rc, drops);
	changer->in->refused += rc != 0;
	json_decref(changes);
	json_decref(drops);
	free(config);
	return rc;
}
