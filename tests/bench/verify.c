// SPDX-License-Identifier: BSD-3-Clause
//
// verify [--gate]: what proving a plan costs, in milliseconds of processor time, and the memory it
// touches: fat-trees of switches with k ports, Torus with datelines, and the same tree with a link
// lost that every edge's rows still use, which leaves every edge to the exact walk. Beside it, the
// loads of all pairs.
//
// Each figure is the best of several rounds, since other work on the machine only ever adds to it.
// The gate is twice the bound, for the same reason.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "routing/balance.h"
#include "routing/verify.h"
#include "tests/rig/routes.h"

enum { ROUNDS = 5, PAGE = 4096 };

struct row {
	const char *what;
	uint32_t k;       // of a fat-tree, 0: a Torus
	uint32_t dims[3]; // of a Torus
	bool stale;
	double bound_ms;
};

static const struct row rows[] = {
	{ "k = 16", 16, { 0 }, false, 1 },
	{ "k = 24", 24, { 0 }, false, 4 },
	{ "k = 32", 32, { 0 }, false, 15 },
	{ "k = 64", 64, { 0 }, false, 400 },
	{ "4x4x4", 0, { 4, 4, 4 }, false, 0.3 },
	{ "8x8x8", 0, { 8, 8, 8 }, false, 8 },
	{ "10x10x10", 0, { 10, 10, 10 }, false, 30 },
	{ "k = 32, stale", 32, { 0 }, true, 300 },
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(bool good)
{
	if (good)
		return;
	fprintf(stderr, "not verified\n");
	exit(1);
}

static void make(const struct row *row, struct graph *g, struct plan *plan)
{
	uint8_t *level = calloc(row->k * row->k * 5 / 4 + 1, 1);

	must(level != NULL);
	if (row->k != 0)
		graph_fat_tree(g, row->k);
	else
		graph_torus(g, 3, row->dims, NULL, 4);
	must(plan_init(&g->topo, &g->keep, plan) == 0);
	if (row->k != 0) {
		routes_fat_tree_levels(row->k, level);
		routes_shortest(g, plan);
		routes_valley_free(g, plan, level);
	} else {
		routes_torus(g, plan, 3, row->dims, ROUTES_TIE_ECMP, true);
	}
	if (row->stale)
		graph_cut(g, 0, topo_far(&g->topo, 0), 0);
	free(level);
}

// Pages of the range that were touched.
static size_t touched_kb(const struct arena *arena)
{
	const size_t pages = arena->size / PAGE;
	unsigned char *in = malloc(pages);
	size_t count = 0;

	must(in != NULL && mincore(arena->memory, arena->size, in) == 0);
	for (size_t i = 0; i < pages; i++)
		count += in[i] & 1;
	free(in);
	return count * PAGE / 1024;
}

static double verify_ms(struct graph *g, const struct plan *plan, bool good)
{
	const size_t mark = arena_mark(&g->keep);
	struct verify_report report;
	const double start = now_ms();
	double spent;

	must(verify_plan(&g->topo, &g->state, plan, true, &g->keep, &g->scratch, &report) == 0);
	spent = now_ms() - start;
	must(verify_good(&report) == good);
	arena_release(&g->keep, mark);
	return spent;
}

static double balance_ms(struct graph *g, const struct plan *plan)
{
	double *load = calloc(g->topo.link_count, sizeof(*load));
	struct balance_report report;
	const double start = now_ms();
	double spent;

	must(load != NULL);
	must(balance_all_pairs(&g->topo, &g->state, plan, &g->scratch, load, &report) == 0);
	spent = now_ms() - start;
	free(load);
	return spent;
}

static bool bench(const struct row *row)
{
	struct graph g;
	struct plan plan;
	double best = 1e9;
	size_t memory;

	make(row, &g, &plan);
	madvise(g.scratch.memory, g.scratch.size, MADV_DONTNEED);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const double spent = verify_ms(&g, &plan, !row->stale);

		best = spent < best ? spent : best;
	}
	memory = touched_kb(&g.scratch);
	printf("  %-14s  %5u  %5u  %6u  %9.3f  %9zu  %10.1f\n", row->what, g.topo.switch_count,
	       g.topo.host_count, g.topo.link_count, best, memory, balance_ms(&g, &plan));
	graph_free(&g);
	return best <= 2 * row->bound_ms;
}

int main(int argc, char **argv)
{
	bool good = true;

	printf("  %-14s  %5s  %5s  %6s  %9s  %9s  %10s\n", "fabric", "nodes", "hosts", "links",
	       "verify ms", "memory kB", "balance ms");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		good &= bench(&rows[i]);
	if (good || argc < 2 || strcmp(argv[1], "--gate") != 0)
		return 0;
	printf("FAIL: a plan takes more than twice its bound to verify\n");
	return 1;
}
