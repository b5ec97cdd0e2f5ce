// SPDX-License-Identifier: BSD-3-Clause
//
// plan [--gate]: what planning costs, in milliseconds of processor time, for fat-trees of switches
// with k ports: a whole plan into memory that was not touched before, and a replan after the loss
// and after the return of one link, of a leaf and of a core switch.
//
// Each figure is the best of several rounds, since other work on the machine only ever adds to it.
// The gate is twice the bound, for the same reason; a replan of the largest may cost a twentieth of
// the plan.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "routing/tree.h"
#include "tests/rig/graph.h"

enum { ROUNDS = 7 };
#define PLAN_BYTES ((size_t)1 << 30)

struct row {
	uint32_t k;
	double bound_ms;
	double replan_bound; // part of the plan
};

// What a replan begins with weighs more on small fabrics, where it is of no account.
static const struct row rows[] = {
	{ 16, 0.5, 1 }, { 24, 3, 1 }, { 32, 12, 1 }, { 48, 200, 0.1 }, { 64, 600, 0.05 }
};

struct stand {
	struct graph g;
	struct topo_state after;
	struct tree tree;
	struct tree_options options;
	struct arena keep; // of the plan
	struct plan plan;
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
	fprintf(stderr, "no plan\n");
	exit(1);
}

// From a graph to rows, levels included.
static double plan_ms(struct stand *s)
{
	static const struct tree_hints hints = { 0 };
	struct plan_fault fault;
	double start;

	s->keep.used = 0;
	madvise(s->keep.memory, s->keep.size, MADV_DONTNEED);
	start = now_ms();
	must(tree_init(&s->g.topo, &hints, &s->keep, &s->g.scratch, &s->tree, &fault));
	must(plan_init(&s->g.topo, &s->keep, &s->plan) == 0);
	must(tree_plan(&s->tree, &s->g.state, &s->options, &s->g.scratch, &s->plan, &fault));
	return now_ms() - start;
}

// Of the loss and of the return, whichever costs more.
static double replan_ms(struct stand *s, uint32_t link)
{
	struct plan_fault fault;
	double start, middle, end;

	topo_state_copy(&s->g.topo, &s->g.state, &s->after);
	s->after.link_lost[link] = 1;
	start = now_ms();
	must(tree_replan(&s->tree, &s->g.state, &s->after, &s->options, &s->g.scratch, &s->plan,
			 &fault));
	middle = now_ms();
	must(tree_replan(&s->tree, &s->after, &s->g.state, &s->options, &s->g.scratch, &s->plan,
			 &fault));
	end = now_ms();
	return middle - start > end - middle ? middle - start : end - middle;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static bool bench(const struct row *row, enum valley_free_weights weights, const char *name)
{
	struct stand *s = calloc(1, sizeof(*s));
	double plan = 1e9;
	double leaf = 1e9;
	double core = 1e9;

	s->options = (struct tree_options){ .weights = weights,
					    .churn_rows = VALLEY_FREE_ANY_CHURN };
	graph_fat_tree(&s->g, row->k);
	s->keep = (struct arena){
		.memory = mmap(NULL, PLAN_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
		.size = PLAN_BYTES,
	};
	must(s->keep.memory != MAP_FAILED);
	must(topo_state_init(&s->g.topo, &s->g.keep, &s->after) == 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		plan = least(plan, plan_ms(s));
		leaf = least(leaf, replan_ms(s, s->g.topo.link_first[0]));
		core = least(core, replan_ms(s, s->g.topo.link_count - 1));
	}
	printf("  %2u  %5u  %-5s  %9.3f  %9.3f  %9.3f  %7.1f\n", row->k, s->g.topo.host_count, name,
	       plan, leaf, core, (double)s->keep.used / (1 << 20));
	munmap(s->keep.memory, s->keep.size);
	graph_free(&s->g);
	free(s);
	return plan <= 2 * row->bound_ms && leaf <= 2 * row->replan_bound * plan &&
	       core <= 2 * row->replan_bound * plan;
}

int main(int argc, char **argv)
{
	bool good = true;

	printf("   k  hosts  weights    plan ms    leaf ms    core ms      MiB\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		good &= bench(&rows[i], VALLEY_FREE_PLAIN, "plain");
		good &= bench(&rows[i], VALLEY_FREE_EXACT, "exact");
	}
	if (good || argc < 2 || strcmp(argv[1], "--gate") != 0)
		return 0;
	printf("FAIL: a plan or a replan takes more than twice its bound\n");
	return 1;
}
