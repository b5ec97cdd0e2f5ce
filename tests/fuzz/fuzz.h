// SPDX-License-Identifier: BSD-3-Clause
//
// The entry point that every fuzz target defines. libFuzzer calls it with inputs it invents,
// replay.c with those of the corpus. A finding is an abort: a failed WEFT_CHECK or a sanitiser.
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
