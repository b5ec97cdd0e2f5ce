// SPDX-License-Identifier: BSD-3-Clause
//
// weft trace: every path between two hosts or switches, with its lanes and its share of the flows,
// through the tables that a plan gives or that were dumped.

#include "cli/plan.h"

#include "cli/plan_show.h"
#include "cli/plan_work.h"
#include "cli/run.h"
#include "fabricmgr/find.h"
#include "fabricmgr/trace_json.h"
#include "routing/trace.h"

enum { PATHS_MAX = 1000 };

static void show_text(const struct plan_options *options, const struct plan_work *work,
		      const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->path_count; i++) {
		const struct trace_path *path = &trace->path[i];

		printf("%6.2f%%  ", path->share * 100);
		if (path->end != TRACE_ARRIVES)
			printf("%s: ", trace_end_text(path->end));
		printf("%s", options->from);
		if (path->hop_count > 0)
			fputs(" > ", stdout);
		plan_show_hops(work, path->hop, path->hop_count, stdout);
		printf(" > %s\n", path->end == TRACE_ARRIVES ? options->to : "?");
	}
	if (trace->cut)
		puts("There are more.");
}

static void show_json(const struct plan_work *work, const struct trace *trace)
{
	json_t *object = trace_json(&work->source.fabric, &work->source.graph, trace);

	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(object);
}

// False after a line on stderr.
static bool find(const struct plan_work *work, const char *name, struct find_end *end)
{
	char why[FIND_WHY_BYTES];

	if (find_end(&work->source.fabric, &work->source.graph, name, end, why))
		return true;
	fprintf(stderr, "weft: %s\n", why);
	return false;
}

static int run(const struct plan_options *options, struct plan_work *work)
{
	const struct fabric_graph *graph = &work->source.graph;
	struct find_end from, to;
	struct trace trace;
	int status = plan_work_plan(options, work);

	if (status == EXIT_REFUSED)
		plan_show_refusals(work, stderr);
	if (status != EXIT_DONE)
		return status;
	if (!find(work, options->from, &from) || !find(work, options->to, &to))
		return EXIT_USAGE;
	if (to.edge == TOPO_NONE) {
		fprintf(stderr, "weft: %s has no hosts\n", options->to);
		return EXIT_USAGE;
	}
	if (trace_paths(&graph->topo, &work->planner.state, &work->planner.plan, work->with_turns,
			from.at, to.edge, to.host, PATHS_MAX, &work->source.keep,
			&work->source.scratch, &trace) < 0) {
		fputs("weft: memory is short\n", stderr);
		return EXIT_USAGE;
	}
	if (options->json)
		show_json(work, &trace);
	else
		show_text(options, work, &trace);
	return trace_arrives(&trace) ? EXIT_DONE : EXIT_REFUSED;
}

int trace_run(int argc, char **argv)
{
	struct plan_options options;
	struct plan_work work;
	int status;

	if (plan_options_parse(argc, argv, true, &options) < 0)
		return EXIT_USAGE;
	if (options.help) {
		plan_options_help(true, stdout);
		return EXIT_DONE;
	}
	status = plan_work_open(&options, &work);
	if (status == EXIT_DONE)
		status = run(&options, &work);
	plan_work_close(&work);
	return status;
}
