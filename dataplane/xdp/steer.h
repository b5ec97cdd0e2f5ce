// SPDX-License-Identifier: BSD-3-Clause
//
// The control side of XDP steering: one interface that the switch shares with the kernel. The
// AF_XDP driver loads and attaches the program itself, from a path, and detaches it when the device
// is closed; what is left to do here is to give it the path, to fill the maps of the program that
// is attached afterwards, and to read its counters.
//
// Order: steer_open(), the driver starts with steer_path(), steer_attach(), steer_refresh() now and
// then, the driver closes, steer_close(). Control thread only.
#pragma once

#include "dataplane/xdp/own.h"

struct steer_prefixes {
	uint32_t count4;
	uint32_t count6;
	struct steer_prefix4 v4[STEER_PREFIX_MAX];
	struct steer_prefix6 v6[STEER_PREFIX_MAX];
};

// Frames by class and verdict since the program was attached.
struct steer_counters {
	uint64_t frames[STEER_CLASS_COUNT][STEER_VERDICT_COUNT];
};

// Names of the classes in JSON.
extern const char *const steer_class_keys[STEER_CLASS_COUNT];

// Reads prefixes such as "10.77.0.0/16 fd00:77::/64", separated by spaces or commas; an address
// without a length is itself alone. Bits behind the length must be zero. 0, or -EINVAL and the word
// that is wrong in `wrong`, or -E2BIG.
int steer_prefixes_parse(const char *text, struct steer_prefixes *out, char *wrong,
			 size_t wrong_bytes);

// Takes away a program, ours or the driver's own, that a killed switch left on the interface: then
// no socket receives from it. 0 also when there is none; -EBUSY when a switch is at work, -EEXIST
// when the program is somebody else's, other -errno.
int steer_clear(uint32_t ifindex);

struct steer;

// The program as a file for the driver. NULL and errno when that fails.
struct steer *steer_open(void);

// Where the driver finds the program; valid until steer_close().
const char *steer_path(const struct steer *steer);

// The program itself, an ELF object for BPF.
const void *steer_object(size_t *bytes);

// Finds the program that the driver has attached and hands it the rules. 0 or -errno.
int steer_attach(struct steer *steer, uint32_t ifindex, const uint8_t mac[6],
		 const struct steer_prefixes *prefixes, const struct own_addresses *own);

// The same for a program that is loaded, but not attached by the driver.
int steer_attach_program(struct steer *steer, int program, const uint8_t mac[6],
			 const struct steer_prefixes *prefixes, const struct own_addresses *own);

// Tells the program which addresses are the kernel's now. 0 or -errno.
int steer_refresh(struct steer *steer, const struct own_addresses *own);

// Reads the counters; zeros before steer_attach(). 0 or -errno.
int steer_read(const struct steer *steer, struct steer_counters *out);

// Lets the program go; the driver has detached it. Accepts NULL.
void steer_close(struct steer *steer);
