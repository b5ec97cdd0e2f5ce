// SPDX-License-Identifier: BSD-3-Clause
//
// The names behind cli/keys.h: the key of a counter is the name of its field in the schema, for
// the switch that writes it and for the command that reads it.

#include "cli/keys.h"

#define PORT_STAT(kind, name, field, doc) #field,
const struct port_keys port_key = {
#include "schema/stats.def"
};

#define PRIO_STAT(kind, name, field, doc) #field,
const struct prio_keys prio_key = {
#include "schema/stats.def"
};

#define PG_STAT(kind, name, field, doc) #field,
const struct pg_keys pg_key = {
#include "schema/stats.def"
};

#define QUEUE_STAT(kind, name, field, doc) #field,
const struct queue_keys queue_key = {
#include "schema/stats.def"
};

#define POOL_STAT(kind, name, field, doc) #field,
const struct pool_keys pool_key = {
#include "schema/stats.def"
};

#define FLOW_STAT(kind, name, field, doc) #field,
const struct flow_keys flow_key = {
#include "schema/stats.def"
};

#define SWITCH_STAT(kind, name, field, doc) #field,
const struct switch_keys switch_key = {
#include "schema/stats.def"
};
