// SPDX-License-Identifier: BSD-3-Clause
//
// What the steering program and weft-switch share: the layout of the program's maps. Plain kernel
// types, since one side is compiled for BPF.
//
// Invariant: both sides are built from this header and the program is embedded in weft-switch, so
// the layout has no version. Addresses are in network byte order.
#pragma once

#include <linux/types.h>

enum steer_class {
#define STEER(name, key, doc) STEER_##name,
#include "schema/steering.def"
#undef STEER
	STEER_CLASS_COUNT
};

// A counter's index is STEER_VERDICT_COUNT * class + verdict.
enum steer_verdict { STEER_LEFT, STEER_TAKEN, STEER_VERDICT_COUNT };

enum {
	STEER_QUEUE_MAX = 64,
	STEER_PREFIX_MAX = 64,
	STEER_OWN_MAX = 64, // addresses of the kernel, of each family
};

// The only entry of map steer_port. Zero until weft-switch has filled the other maps: then the
// program leaves every frame to the kernel.
struct steer_port {
	__u8 mac[6]; // of the interface
	__u8 active;
	__u8 unused;
};

// Keys of the prefix maps, as BPF_MAP_TYPE_LPM_TRIE wants them.
struct steer_prefix4 {
	__u32 bits;
	__u32 address;
};

struct steer_address6 {
	__u8 byte[16];
};

struct steer_prefix6 {
	__u32 bits;
	struct steer_address6 address;
};
