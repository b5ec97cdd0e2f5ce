// SPDX-License-Identifier: BSD-3-Clause
//
// pipeline: cycles per packet of the whole switch on one core, from rte_eth_rx_burst to
// rte_eth_tx_burst, beside testpmd with the same source in the same run.
//
// All measurements take turns, round after round, and each counts with its best round: other work
// on the machine (its caches, its clock, the hypervisor) only ever adds cycles, so the least is the
// closest to what the code costs, and taking turns gives everybody the same chances at a quiet
// time.

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/lane.h"
#include "tests/bench/memory.h"
#include "tests/bench/ports.h"
#include "tests/bench/report.h"

// Of this process and every testpmd.
#define MEMORY_BYTES ((uint64_t)(1 + YARDSTICK_COUNT) * PORTS_MEMORY_MB << 20)

struct options {
	uint32_t rounds;
	uint32_t ms; // per measurement and round
	bool huge;
	const char *only; // one variant and no testpmd, for a profiler; NULL: everything
	bool json;
	bool gate;
};

// In the order of yardsticks in struct report.
static const enum stream_id yardsticks[YARDSTICK_COUNT] = { STREAM_UDP_64, STREAM_UDP_1024,
							    STREAM_ROCE_WRITE };

static bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },         { "gate", no_argument, NULL, 'g' },
		{ "rounds", required_argument, NULL, 'r' }, { "ms", required_argument, NULL, 'm' },
		{ "only", required_argument, NULL, 'o' },   { 0 }
	};
	int name;

	*options = (struct options){ .rounds = 24, .ms = 25 };
	while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (name) {
		case 'j': options->json = true; break;
		case 'g': options->gate = true; break;
		case 'r': options->rounds = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'm': options->ms = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'o': options->only = optarg; break;
		default:
			fprintf(stderr, "usage: pipeline [--json] [--gate] [--rounds N] [--ms N] "
					"[--only VARIANT]\n");
			return false;
		}
	}
	return options->rounds > 0 && options->ms > 0;
}

// Sessions share the processors evenly whatever their nice values, unless the group's is changed.
static void raise_priority(void)
{
	FILE *file = fopen("/proc/self/autogroup", "we");

	if (file == NULL)
		return;
	fprintf(file, "-19");
	fclose(file);
}

// The last allowed processor measures, the first one does everything else.
static bool pick_cpus(int *first, int *last)
{
	cpu_set_t set;

	*first = -1;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		*first = *first < 0 ? cpu : *first;
		*last = cpu;
	}
	return *first >= 0;
}

static void keep_least(double *best, uint64_t ns, uint64_t packets, double mhz)
{
	double cycles = packets == 0 ? 0 : (double)ns * mhz / 1000 / (double)packets;

	if (packets != 0 && (*best == 0 || cycles < *best))
		*best = cycles;
}

static bool measure_testpmd(struct testpmd *pmd, uint32_t ms, uint32_t yardstick,
			    struct report *report)
{
	for (uint32_t mode = 0; mode < 2; mode++) {
		uint64_t packets = 0;
		uint64_t ns = testpmd_run(pmd, (enum testpmd_mode)mode, ms, &packets);

		if (ns == 0) {
			fprintf(stderr, "pipeline: testpmd does not answer\n");
			return false;
		}
		keep_least(&report->testpmd[mode][yardstick], ns, packets, report->mhz);
	}
	return true;
}

static bool measure_round(struct lane *lanes, struct testpmd *pmds, uint32_t ms,
			  struct report *report)
{
	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		uint64_t packets;
		uint64_t ns = lane_run(&lanes[i], ms, &packets);

		keep_least(&report->weft[i], ns, packets, report->mhz);
	}
	for (uint32_t i = 0; i < YARDSTICK_COUNT; i++) {
		if (!measure_testpmd(&pmds[i], ms, i, report))
			return false;
	}
	return true;
}

static bool measure(struct lane *lanes, struct testpmd *pmds, const struct options *options,
		    struct report *report)
{
	struct report warm_up = *report;
	bool right = measure_round(lanes, pmds, options->ms, &warm_up);

	for (uint32_t i = 0; right && i < options->rounds; i++)
		right = measure_round(lanes, pmds, options->ms, report);
	for (uint32_t i = 0; right && i < VARIANT_COUNT; i++) {
		right = lane_check(&lanes[i]);
		if (lanes[i].max_gap_ns > report->max_gap_ns)
			report->max_gap_ns = lanes[i].max_gap_ns;
	}
	return right;
}

static bool open_lane(struct lane *lane, enum variant_id id, const struct ports *ports)
{
	return lane_open(lane, &variants[id], ports->pool, ports->source[variants[id].stream],
			 ports->sink, ports->source[STREAM_ROCE_WRITE]);
}

// One variant alone: cycles per packet on stdout.
static bool run_only(const struct options *options, struct ports *ports)
{
	static struct lane lane;
	double best = 0;
	int first, last;

	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		if (strcmp(variants[i].name, options->only) != 0)
			continue;
		if (!pick_cpus(&first, &last) || !ports_open(ports, last, options->huge) ||
		    !open_lane(&lane, (enum variant_id)i, ports))
			return false;
		for (uint32_t round = 0; round < options->rounds; round++) {
			uint64_t packets;
			uint64_t ns = lane_run(&lane, options->ms, &packets);

			keep_least(&best, ns, packets, (double)rte_get_tsc_hz() / 1e6);
		}
		printf("%.1f\n", best);
		return lane_check(&lane);
	}
	fprintf(stderr, "pipeline: no variant %s\n", options->only);
	return false;
}

static bool run(const struct options *options, struct ports *ports, struct testpmd *pmds,
		struct report *report)
{
	static struct lane lanes[VARIANT_COUNT];
	int first, last;

	if (!pick_cpus(&first, &last) || !ports_open(ports, last, options->huge))
		return false;
	for (uint32_t i = 0; i < YARDSTICK_COUNT; i++) {
		if (!testpmd_open(&pmds[i], ports->pcap[yardsticks[i]], last, first, options->huge))
			return false;
	}
	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		if (!open_lane(&lanes[i], (enum variant_id)i, ports))
			return false;
	}
	*report = (struct report){ .mhz = (double)rte_get_tsc_hz() / 1e6,
				   .rounds = options->rounds,
				   .huge = options->huge };
	return measure(lanes, pmds, options, report);
}

int main(int argc, char **argv)
{
	struct testpmd pmds[YARDSTICK_COUNT] = { 0 };
	struct options options;
	struct ports ports = { 0 };
	struct report report;
	bool right;

	if (!parse_options(argc, argv, &options))
		return 2;
	signal(SIGPIPE, SIG_IGN); // a testpmd that ends early is an error, not the end
	raise_priority();
	options.huge = memory_borrow(MEMORY_BYTES);
	if (options.only != NULL)
		right = run_only(&options, &ports);
	else
		right = run(&options, &ports, pmds, &report);
	for (uint32_t i = 0; i < YARDSTICK_COUNT; i++)
		testpmd_close(&pmds[i]);
	ports_close(&ports);
	memory_return();
	if (!right || options.only != NULL)
		return right ? 0 : 1;
	if (options.json)
		report_json(&report);
	else
		report_table(&report);
	return options.gate && !report_gate(&report) ? 1 : 0;
}
