// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of one run of the benchmark, in cycles of the time stamp counter per packet: a table
// for people, an object for programs, a verdict for the test suite.
#pragma once

#include "tests/bench/stand.h"
#include "tests/bench/testpmd.h"

enum { YARDSTICK_COUNT = 3 }; // streams that testpmd forwards: 64, 1024, roce

struct report {
	double mhz; // of the counter
	uint32_t rounds;
	bool huge; // pages
	double weft[VARIANT_COUNT];
	double testpmd[2][YARDSTICK_COUNT]; // by mode
	uint64_t max_gap_ns;
};

void report_table(const struct report *report);
void report_json(const struct report *report);

// False, with the reason on stdout, when a number is far beyond what is promised: twice the bound.
bool report_gate(const struct report *report);
