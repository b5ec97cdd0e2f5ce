// SPDX-License-Identifier: BSD-3-Clause
//
// weft trace: every path between two hosts or switches, with its lanes and its share of the flows,
// through the tables that a plan gives or that were dumped.

#include "cli/plan.h"

#include <string.h>

#include "cli/plan_show.h"
#include "cli/plan_work.h"
#include "cli/run.h"
#include "routing/trace.h"
#include "sys/nearest.h"

enum { PATHS_MAX = 1000 };

// One end of a trace.
struct end {
	uint32_t at;   // switch
	uint32_t host; // of the graph, TOPO_NONE: a switch was named
};

static int unknown(const struct fabric *fabric, const char *name)
{
	struct nearest near = nearest_to(name);

	for (uint32_t i = 0; i < fabric->host_count; i++)
		nearest_offer(&near, fabric->hosts[i].name);
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		nearest_offer(&near, fabric->switches[i].name);
	fprintf(stderr, "weft: there is no host or switch %s", name);
	if (near.best != NULL)
		fprintf(stderr, "; did you mean %s?", near.best);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

// A host, "HOST:N" its n-th port counted from 0, or a switch.
static int find_end(const struct plan_work *work, const char *name, struct end *end)
{
	const struct fabric *fabric = &work->source.fabric;
	const char *colon = strrchr(name, ':');
	char stem[FABRIC_NAME_BYTES];
	uint32_t host = fabric_find_host(fabric, name);
	uint32_t nth = 0;

	if (host == FABRIC_NONE && colon != NULL && colon[1] >= '0' && colon[1] <= '9') {
		snprintf(stem, sizeof(stem), "%.*s", (int)(colon - name), name);
		host = fabric_find_host(fabric, stem);
		nth = (uint32_t)(colon[1] - '0');
	}
	end->at = fabric_find_switch(fabric, name);
	end->host = TOPO_NONE;
	if (host != FABRIC_NONE && nth < fabric->hosts[host].port_count) {
		const uint32_t port = fabric->hosts[host].first_port + nth;

		end->at = fabric->host_ports[port].at;
		end->host = work->source.graph.host_number[port];
	}
	return end->at != FABRIC_NONE ? (int)EXIT_DONE : unknown(fabric, name);
}

static const char *end_text(enum trace_end end)
{
	switch (end) {
	case TRACE_ARRIVES: return "arrives";
	case TRACE_NO_ROUTE: return "no row";
	case TRACE_LOST_LINK: return "lost link";
	case TRACE_TURN_DENIED: return "turn denied";
	case TRACE_LOOPS: return "loops";
	case TRACE_BAD_ROW: return "bad row";
	}
	return "";
}

static void show_text(const struct plan_options *options, const struct plan_work *work,
		      const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->path_count; i++) {
		const struct trace_path *path = &trace->path[i];

		printf("%6.2f%%  ", path->share * 100);
		if (path->end != TRACE_ARRIVES)
			printf("%s: ", end_text(path->end));
		printf("%s", options->from);
		if (path->hop_count > 0)
			fputs(" > ", stdout);
		plan_show_hops(work, path->hop, path->hop_count, stdout);
		printf(" > %s\n", path->end == TRACE_ARRIVES ? options->to : "?");
	}
	if (trace->cut)
		puts("There are more.");
}

static json_t *path_json(const struct plan_work *work, const struct trace_path *path)
{
	json_t *hops = json_array();

	for (uint32_t i = 0; i < path->hop_count; i++) {
		const struct label name = planner_link_name(&work->source.fabric,
							    &work->source.graph, path->hop[i].link);

		json_array_append_new(hops, json_pack("{s:s, s:i}", "link", name.text, "lane",
						      (int)path->hop[i].lane));
	}
	return json_pack("{s:s, s:f, s:o}", "end", end_text(path->end), "share", path->share,
			 "hops", hops);
}

static void show_json(const struct plan_work *work, const struct trace *trace)
{
	json_t *paths = json_array();
	json_t *object;

	for (uint32_t i = 0; i < trace->path_count; i++)
		json_array_append_new(paths, path_json(work, &trace->path[i]));
	object = json_pack("{s:o, s:b}", "paths", paths, "cut", (int)trace->cut);
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(object);
}

static bool all_arrive(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->path_count; i++) {
		if (trace->path[i].end != TRACE_ARRIVES)
			return false;
	}
	return trace->path_count > 0;
}

static int run(const struct plan_options *options, struct plan_work *work)
{
	const struct fabric_graph *graph = &work->source.graph;
	struct end from, to;
	struct trace trace;
	uint32_t edge;
	int status = plan_work_plan(options, work);

	if (status == EXIT_REFUSED)
		plan_show_refusals(work, stderr);
	if (status == EXIT_DONE)
		status = find_end(work, options->from, &from);
	if (status == EXIT_DONE)
		status = find_end(work, options->to, &to);
	if (status != EXIT_DONE)
		return status;
	if (graph->switch_edge[to.at] == TOPO_NONE) {
		fprintf(stderr, "weft: %s has no hosts\n", options->to);
		return EXIT_USAGE;
	}
	// Tables by LID have an edge for each host of a switch, one behind the other.
	edge = graph->switch_edge[to.at];
	while (to.host != TOPO_NONE && to.host >= graph->topo.edge_first_host[edge + 1])
		edge++;
	if (trace_paths(&graph->topo, &work->planner.state, &work->planner.plan, work->with_turns,
			from.at, edge, to.host, PATHS_MAX, &work->source.keep,
			&work->source.scratch, &trace) < 0) {
		fputs("weft: memory is short\n", stderr);
		return EXIT_USAGE;
	}
	if (options->json)
		show_json(work, &trace);
	else
		show_text(options, work, &trace);
	return all_arrive(&trace) ? EXIT_DONE : EXIT_REFUSED;
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
