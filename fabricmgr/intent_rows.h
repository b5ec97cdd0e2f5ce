// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of an intent that add to a fabric or change it, one function per table or two. Each
// complains about what is wrong and goes on, so that one run shows all of it.
#pragma once

#include "fabricmgr/intent_names.h"

// Before fabric_finish(): what is added. False: memory is short.
bool maker_nodes(struct maker *maker);
bool maker_links(struct maker *maker);
bool maker_members(struct maker *maker);
bool maker_uplinks(struct maker *maker);
bool maker_tenants(struct maker *maker);
void maker_roots(struct maker *maker);

// Afterwards: what is changed of links.
bool maker_cables(struct maker *maker);
