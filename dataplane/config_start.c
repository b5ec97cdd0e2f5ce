// SPDX-License-Identifier: BSD-3-Clause
//
// The file comes first: it says which switch this is, and it is what a switch starts with when
// nothing is saved or what is saved is of no use. So a wrong file is an error whatever is saved.

#include "dataplane/config_start.h"

#include <errno.h>
#include <string.h>

#include "dataplane/config_store.h"
#include "dataplane/managed.h"
#include "dataplane/metrics.h"
#include "dataplane/steering.h"
#include "sys/cfg_load.h"
#include "sys/cfg_row.h"
#include "sys/lines.h"
#include "sys/log.h"

static int load(struct instance *in, const char *path)
{
	FILE *errors = log_faults();
	int rc = instance_read(in, path, errors);

	if (rc != 0)
		return rc;
	if (managed_is(in->written))
		fabric_merge_none(in->written);
	rc = instance_make(in, errors);
	if (rc == 0) {
		log_know_switch(in->config->sw.name);
		rc = metrics_check(in->config, path, errors);
	}
	for (uint32_t i = 0; i < in->port_count; i++) {
		if (steering_check(&in->port[i], path, errors) != 0)
			rc = -EINVAL;
	}
	return rc;
}

// Puts what is saved in the place of what the file says.
static void use_saved(struct instance *in, const char *saved_path)
{
	const char *name = in->config->sw.name;
	struct instance saved;
	int rc = load(&saved, saved_path);

	if (rc == 0 && strcmp(saved.config->sw.name, name) != 0) {
		log_err("%s: it is the configuration of switch %s", saved_path,
			saved.config->sw.name);
		rc = -EINVAL;
	}
	if (rc != 0) {
		log_err("%s: %s cannot be used: %s is", name, saved_path, in->path);
		instance_unload(&saved);
		return;
	}
	log_info("%s: started with %s, saved in place of %s", name, saved_path, in->path);
	saved.path = in->path;
	saved.file_hash = in->file_hash;
	// The lines are of another file than errors name from now on.
	cfg_clear_lines(saved.written, config_tables, CONFIG_TABLE_COUNT);
	cfg_clear_lines(saved.config, config_tables, CONFIG_TABLE_COUNT);
	instance_unload(in);
	*in = saved;
}

static void put_aside(const struct instance *in, const char *saved_path)
{
	const char *name = in->config->sw.name;
	const int rc = config_store_put_aside(saved_path);

	if (rc == 0)
		log_warn("%s: %s was edited after weft config save: it is used, and what was saved "
			 "is in %s.old",
			 name, in->path, saved_path);
	else
		log_err("%s: %s was edited after weft config save and is used, but %s cannot be "
			"put aside: %s",
			name, in->path, saved_path, strerror(-rc));
}

static void look_at_saved(struct instance *in, const char *saved_path)
{
	const char *name = in->config->sw.name;
	struct lines lines;

	if (!lines_open(&lines))
		return;
	switch (config_store_look(saved_path, in->file_hash, lines.out)) {
	case CONFIG_SAVED_NONE: break;
	case CONFIG_SAVED_FITS: use_saved(in, saved_path); break;
	case CONFIG_SAVED_STALE: put_aside(in, saved_path); break;
	case CONFIG_SAVED_UNUSABLE:
		lines_log(&lines);
		log_err("%s: what was saved cannot be used: %s is", name, in->path);
		break;
	}
	lines_close(&lines);
}

int config_start(struct instance *in, const char *path, const char *state_dir)
{
	char saved_path[CONFIG_STORE_PATH_BYTES];
	int rc = load(in, path);

	if (rc == 0)
		rc = cfg_hash(path, &in->file_hash, log_faults());
	if (rc != 0 || state_dir == NULL)
		return rc;
	if (config_store_path(state_dir, in->config->sw.name, saved_path) == 0)
		look_at_saved(in, saved_path);
	managed_start(in, state_dir);
	return 0;
}
