// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts by a short word: "memif:/run/lab/{0-7}.sock" is eight, each on a memif link to the switch
// that listens there; "net_af_packet{0-3},iface=veth{0-3}" four; "pair" two that are linked in
// memory; any other word is a DPDK device with its arguments.
//
// Braces hold a range of numbers (0-7) or words with commas between them. All braces of a spec have
// as many words, and host i takes the i-th of each.
#pragma once

#include "base/types.h"

enum { SPEC_BYTES = 320 };

// Hosts that a spec stands for; 0 when it is malformed.
uint32_t spec_count(const char *spec);

// Writes the spec of host i (below spec_count()) to `out`, cut to SPEC_BYTES.
void spec_expand(const char *spec, uint32_t i, char out[SPEC_BYTES]);

// True for the two hosts that are linked in memory.
bool spec_is_pair(const char *spec);

// Writes the arguments of the DPDK device behind an expanded spec, cut to SPEC_BYTES. `number`
// keeps memif devices apart, `ring` is their size, a power of two.
void spec_device(const char *spec, uint32_t number, uint32_t ring, char out[SPEC_BYTES]);

// True for the address of a PCI device.
bool spec_is_pci(const char *device);
