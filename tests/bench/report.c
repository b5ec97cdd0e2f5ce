// SPDX-License-Identifier: BSD-3-Clause
//
// The gate is coarse on purpose: a shared machine doubles such numbers without any fault of the
// code. What notices small changes is the count of instructions (check_instructions).

#include "tests/bench/report.h"

#include <stdio.h>

// Per packet at 64 bytes. The bound of the project is 150 cycles where testpmd io takes about 40.
static const double weft_bound = 150;
static const double io_quiet = 60; // above it the machine is too loaded to judge cycles
static const double ratio_bound = 150.0 / 40;

static const char *const yardstick_names[YARDSTICK_COUNT] = { "64", "1024", "roce" };
static const char *const mode_names[] = { "io", "macswap" };

static double ratio(const struct report *report)
{
	return report->weft[VARIANT_64] / report->testpmd[TESTPMD_IO][0];
}

void report_table(const struct report *report)
{
	printf("cycles per packet, source included, at %.0f MHz; best of %u; %s hugepages\n\n",
	       report->mhz, report->rounds, report->huge ? "with" : "WITHOUT");
	for (uint32_t i = 0; i < VARIANT_COUNT; i++)
		printf("  weft     %-10s %8.1f   %s\n", variants[i].name, report->weft[i],
		       variants[i].doc);
	for (uint32_t mode = 0; mode < 2; mode++) {
		for (uint32_t i = 0; i < YARDSTICK_COUNT; i++)
			printf("  %-8s %-10s %8.1f\n", mode_names[mode], yardstick_names[i],
			       report->testpmd[mode][i]);
	}
	printf("\n  weft / io at 64 bytes: %.2f; longest poll gap %.1f ms\n", ratio(report),
	       (double)report->max_gap_ns / 1e6);
}

void report_json(const struct report *report)
{
	printf("{\n");
	for (uint32_t i = 0; i < VARIANT_COUNT; i++)
		printf("  \"weft_cycles_%s\": %.1f,\n", variants[i].name, report->weft[i]);
	for (uint32_t mode = 0; mode < 2; mode++) {
		for (uint32_t i = 0; i < YARDSTICK_COUNT; i++)
			printf("  \"%s_cycles_%s\": %.1f,\n", mode_names[mode], yardstick_names[i],
			       report->testpmd[mode][i]);
	}
	for (uint32_t i = 0; i < YARDSTICK_COUNT; i++)
		printf("  \"weft_to_io_%s\": %.2f,\n", yardstick_names[i],
		       report->weft[i] / report->testpmd[TESTPMD_IO][i]);
	printf("  \"hugepages\": %s,\n", report->huge ? "true" : "false");
	printf("  \"tsc_mhz\": %.0f,\n  \"rounds\": %u,\n  \"max_poll_gap_ns\": %lu\n}\n",
	       report->mhz, report->rounds, (unsigned long)report->max_gap_ns);
}

bool report_gate(const struct report *report)
{
	bool quiet = report->testpmd[TESTPMD_IO][0] <= io_quiet;

	if (quiet && report->weft[VARIANT_64] > 2 * weft_bound) {
		printf("FAIL: more than %.0f cycles per packet at 64 bytes\n", 2 * weft_bound);
		return false;
	}
	if (ratio(report) > 2 * ratio_bound) {
		printf("FAIL: more than %.1f times testpmd io at 64 bytes\n", 2 * ratio_bound);
		return false;
	}
	return true;
}
