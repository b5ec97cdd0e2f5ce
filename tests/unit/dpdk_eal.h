// SPDX-License-Identifier: BSD-3-Clause
//
// A DPDK environment for one unit test. Criterion runs each test in a process of its own, and an
// environment is made once per process: what one test leaves behind, no other one sees.
#pragma once

#include <stdbool.h>

bool unit_start_eal(void);
void unit_stop_eal(void);
