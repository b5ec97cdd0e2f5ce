// SPDX-License-Identifier: BSD-3-Clause
//
// Tables as a manager sends them, into the store: whole, as a change of what runs, or not at all
// when what runs stays. Anything may come: what is not what it says it is never gets a name there.
#pragma once

#include <stdio.h>

#include "dataplane/fabric_tables.h"

struct rpc_fetch_reply; // schema/fabric.rpc

// Keeps the tables of a generation, on top of those that run (NULL: none), and says which set they
// are. 0, or after a line on `errors`
//	-ESTALE           a change of something that does not run here, or a table that stays and is
//	                  not here: they must come whole
//	-EBADMSG          the bytes are not what their hash says, or no routes
//	-EPROTONOSUPPORT  a kind or version of table that this program does not know
//	-errno            of the store
int fabric_receive(const struct fabric_store *store, const struct fabric_tables *running,
		   const struct follower_generation *generation,
		   const struct rpc_fetch_reply *reply, struct fabric_set *set, FILE *errors);
