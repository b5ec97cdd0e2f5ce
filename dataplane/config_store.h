// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration that `weft config save` keeps over a restart: canonical text in the state
// directory, STATE_DIR/NAME/saved.cfg, with the hash of the configuration file that it stands in
// for. It is used while that file, with all it includes, is as it was; a file that was edited since
// wins, and what was saved is kept aside as saved.cfg.old.
#pragma once

#include <stdio.h>

#include "dataplane/core/config.h"

enum { CONFIG_STORE_PATH_BYTES = 256 };

enum config_saved {
	CONFIG_SAVED_NONE,
	CONFIG_SAVED_FITS,    // stands in for the file as it is
	CONFIG_SAVED_STALE,   // the file was edited since
	CONFIG_SAVED_UNUSABLE // cannot be read or does not say what it stands in for
};

// Writes the path of what is saved for switch `name`. 0 or -ENAMETOOLONG.
int config_store_path(const char *state_dir, const char *name, char out[CONFIG_STORE_PATH_BYTES]);

// What is saved at `path`, for a file whose hash (cfg_hash()) is `file_hash`. A line that says why
// on `errors` for CONFIG_SAVED_UNUSABLE.
enum config_saved config_store_look(const char *path, uint64_t file_hash, FILE *errors);

// Moves what is saved to PATH.old. 0 or -errno.
int config_store_put_aside(const char *path);

// Saves `config`, which stands in for `file`. 0, or -errno and what was saved is as it was, which
// is not certain after -EIO (sys/file_replace.h).
int config_store_save(const char *path, const struct sw_config *config, const char *file,
		      uint64_t file_hash);
