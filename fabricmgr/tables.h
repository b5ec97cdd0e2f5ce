// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of a plan as text files in a directory, to be read, compared, edited and proven again;
// docs/planning.md has the lines that they are made of.
//
// NAME.table is that of a switch ("/", "%" and a "." at the start of a name as %2F and so on),
// `turns` has the rules of turns that all share, `tenants`, when there are any, who is at which
// port and where to a tenant may send.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/planner.h"
#include "fabricmgr/core/tenants.h"

// Writes all of them; the directory is made if need be. 0, or -errno after a line on `errors`.
int tables_dump(const struct planner *planner, const struct tenants *tenants, const char *directory,
		FILE *errors);

// Reads tables and turns into planner->plan, which is made in planner->keep. A switch without a
// file has no rows; without `turns` *with_turns is false, and every turn is allowed on lane 0. 0,
// -EINVAL after lines "FILE:LINE: what" on `errors`, or -errno after one.
int tables_load(const char *directory, struct planner *planner, bool *with_turns, FILE *errors);
