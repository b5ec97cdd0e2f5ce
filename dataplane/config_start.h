// SPDX-License-Identifier: BSD-3-Clause
//
// Which configuration a switch starts with: that of its file, or what `weft config save` kept of a
// running switch (dataplane/config_store.h) while the file is as it was then; and on top of it what
// its fabric decided when it last ran (dataplane/managed.h).
#pragma once

#include "dataplane/dpdk/instance.h"

// Loads the file at `path`, with every error where log_faults() says ("FILE:LINE: ..."); then,
// unless `state_dir` is NULL, what was saved in its place, as far as that can be used; what is used
// and why is logged. 0, or -errno of the file; in both cases the caller unloads the instance,
// managed_unload() first.
int config_start(struct instance *in, const char *path, const char *state_dir);
