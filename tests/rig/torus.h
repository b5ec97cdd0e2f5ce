// SPDX-License-Identifier: BSD-3-Clause
//
// A Torus on a bench: the graph, its coordinates, the engine's plan, and what the verifier says of
// it. What fails in between is a fault of the test.
#pragma once

#include "routing/torus.h"
#include "routing/verify.h"
#include "tests/rig/graph.h"

struct torus_bench {
	struct graph g;
	struct torus_shape shape;
	struct torus torus;
	struct plan plan;
	struct verify_report report;
};

// graph_torus() with the coordinates that it was made by.
void torus_bench_make(struct torus_bench *b, uint32_t dim_count, const uint32_t *dims,
		      uint32_t (*shift)[GRAPH_DIMS_MAX], uint32_t hosts);

// Finds the coordinates of the graph, which must be a Torus.
void torus_bench_find(struct torus_bench *b);

// As given by its links alone: `from` shuffled.
void torus_bench_import(struct torus_bench *b, const struct graph *from, struct rng *rng);

// Plans for the state that the graph is in. False: *fault.
bool torus_bench_try(struct torus_bench *b, struct plan_fault *fault);

// Plans and verifies, which must both succeed; the turns on lanes are looked at as well.
void torus_bench_plan(struct torus_bench *b);

// The switch at a place.
uint32_t torus_bench_at(const struct torus_bench *b, uint32_t x, uint32_t y, uint32_t z);

// Nothing lost any more.
void torus_bench_mend(struct torus_bench *b);
