// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of the counters in a switch's answer, taken from schema/stats.def: a renamed row is a
// compile error here, not a column that stays empty. Use as port_key.if_in_octets.
#pragma once

#define PORT_STAT(kind, name, field, doc) const char *field;
struct port_keys {
#include "schema/stats.def"
};

#define PRIO_STAT(kind, name, field, doc) const char *field;
struct prio_keys {
#include "schema/stats.def"
};

#define PG_STAT(kind, name, field, doc) const char *field;
struct pg_keys {
#include "schema/stats.def"
};

#define QUEUE_STAT(kind, name, field, doc) const char *field;
struct queue_keys {
#include "schema/stats.def"
};

#define POOL_STAT(kind, name, field, doc) const char *field;
struct pool_keys {
#include "schema/stats.def"
};

#define FLOW_STAT(kind, name, field, doc) const char *field;
struct flow_keys {
#include "schema/stats.def"
};

#define SWITCH_STAT(kind, name, field, doc) const char *field;
struct switch_keys {
#include "schema/stats.def"
};

extern const struct port_keys port_key;
extern const struct prio_keys prio_key;
extern const struct pg_keys pg_key;
extern const struct queue_keys queue_key;
extern const struct pool_keys pool_key;
extern const struct flow_keys flow_key;
extern const struct switch_keys switch_key;
