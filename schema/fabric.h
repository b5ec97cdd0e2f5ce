// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in the messages of schema/fabric.rpc. Like tags they are never used again for anything
// else: programs of different age talk to each other.
#pragma once

// Versions of the protocol that this program speaks: all from the oldest to the newest.
enum { FABRIC_VERSION_OLDEST = 1, FABRIC_VERSION = 1 };

// rpc_table.kind.
enum fabric_table {
	FABRIC_TABLE_ROUTES = 1, // routing/packed.h: edges, groups of next hops, turns
	FABRIC_TABLE_CONFIG = 2, // text of a switch configuration (schema/config.def): all that the
				 // fabric decides but routes; see fabricmgr/switch_config.h
};

// rpc_fetch_reply.step and rpc_ack.step.
enum fabric_step {
	FABRIC_STEP_NONE = 0,
	FABRIC_STEP_PREPARE = 1, // keep the tables durably, do not use them
	FABRIC_STEP_COMMIT = 2,  // use what is prepared
	FABRIC_STEP_FORGET = 3,  // what is prepared
};

// rpc_event.kind.
enum fabric_event {
	FABRIC_EVENT_LINK_UP = 1,
	FABRIC_EVENT_LINK_DOWN = 2,
};

// Of a long poll, and of how long a switch without one counts as there.
enum { FABRIC_WAIT_MS_MAX = 10000 };
