// SPDX-License-Identifier: BSD-3-Clause
//
// weft plan --configs: a file for each switch to start weft-switch with, routes included, so that a
// fabric runs without a manager.
#pragma once

#include "cli/plan_work.h"

// Writes NAME.cfg for every switch into the directory, which is made. Cables are links in memory,
// hosts' ports the listening ends of memif. An exit status, after lines on stderr.
int plan_configs_write(const char *directory, const struct plan_work *work);
