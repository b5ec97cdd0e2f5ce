// SPDX-License-Identifier: BSD-3-Clause
//
// What a knob is: the kinds of values and the descriptor that the loader, the dump, the CLI and the
// documentation walk. Rows are in config.def; dataplane/core/config.c makes tables of them.
#pragma once

#include "base/ip.h"
#include "base/types.h"

enum {
	CONFIG_NAME_BYTES = 48,
	CONFIG_TEXT_BYTES = 256,
};

// Values of knobs that are unset ("-").
#define CONFIG_UNSET UINT64_MAX
#define CONFIG_UNSET_INT INT64_MIN

// Kinds, and the C types they are kept in, in base units.
enum config_kind {
	CONFIG_NAME,    // char[CONFIG_NAME_BYTES]
	CONFIG_TEXT,    // char[CONFIG_TEXT_BYTES]
	CONFIG_COUNT,   // uint64_t
	CONFIG_INT,     // int64_t
	CONFIG_BYTES,   // uint64_t
	CONFIG_BPS,     // uint64_t
	CONFIG_NS,      // uint64_t
	CONFIG_METRES,  // uint64_t
	CONFIG_PPM,     // uint64_t
	CONFIG_RATIO,   // uint64_t, in units of 2^-32
	CONFIG_BOOL,    // uint64_t, 0 or 1
	CONFIG_ENUM,    // uint64_t, index into the words
	CONFIG_MASK8,   // uint64_t, bits 0..7
	CONFIG_MAC,     // uint64_t, 48 bits
	CONFIG_PREFIX,  // struct ip_prefix: a network, no bits behind its length
	CONFIG_ADDRESS, // struct ip_prefix: a host's address, its network's length behind "/"
	CONFIG_NUMBERS, // struct config_numbers; min and max are of each number
};

// A few numbers in order; those behind `count` are 0.
enum { CONFIG_NUMBERS_MAX = 8 };

struct config_numbers {
	uint32_t count;
	uint32_t value[CONFIG_NUMBERS_MAX];
};

// Use as CONFIG_FIELD(kind, key): declares the member of a knob.
#define CONFIG_FIELD(kind, key) CONFIG_FIELD_##kind(key)
#define CONFIG_FIELD_NAME(key) char key[CONFIG_NAME_BYTES]
#define CONFIG_FIELD_TEXT(key) char key[CONFIG_TEXT_BYTES]
#define CONFIG_FIELD_COUNT(key) uint64_t key
#define CONFIG_FIELD_INT(key) int64_t key
#define CONFIG_FIELD_BYTES(key) uint64_t key
#define CONFIG_FIELD_BPS(key) uint64_t key
#define CONFIG_FIELD_NS(key) uint64_t key
#define CONFIG_FIELD_METRES(key) uint64_t key
#define CONFIG_FIELD_PPM(key) uint64_t key
#define CONFIG_FIELD_RATIO(key) uint64_t key
#define CONFIG_FIELD_BOOL(key) uint64_t key
#define CONFIG_FIELD_ENUM(key) uint64_t key
#define CONFIG_FIELD_MASK8(key) uint64_t key
#define CONFIG_FIELD_MAC(key) uint64_t key
#define CONFIG_FIELD_PREFIX(key) struct ip_prefix key
#define CONFIG_FIELD_ADDRESS(key) struct ip_prefix key
#define CONFIG_FIELD_NUMBERS(key) struct config_numbers key

struct config_knob {
	const char *key;
	const char *def; // "-": unset, "!": mandatory
	const char *words;
	const char *doc;
	int64_t min;
	int64_t max;
	uint32_t offset; // in its row
	enum config_kind kind;
};

// One table: the top level (row_count_offset is 0 and one row) or a list of groups.
struct config_table {
	const char *name; // "" for the top level
	const struct config_knob *knobs;
	uint32_t knob_count;
	uint32_t row_bytes;   // each row starts with uint32_t line, its place in the file
	uint32_t rows_offset; // of the first row in the whole configuration
	uint32_t row_max;
	uint32_t count_offset; // of the uint32_t row count; UINT32_MAX at the top level
	uint32_t key_count;    // its first knobs tell its rows apart; 0 at the top level
	bool ordered;          // another order of the rows is another configuration
};
