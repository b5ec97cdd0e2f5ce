// SPDX-License-Identifier: BSD-3-Clause
//
// Names in place of numbers: links are called by the port that transmits on them. Shares are
// fractions of all flows, so those of paths that are left out when a trace is cut are missing from
// the sum.

#include "fabricmgr/trace_json.h"

#include "fabricmgr/core/planner.h"

const char *trace_end_text(enum trace_end end)
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

static json_t *path_json(const struct fabric *fabric, const struct fabric_graph *graph,
			 const struct trace_path *path)
{
	json_t *hops = json_array();

	for (uint32_t i = 0; i < path->hop_count; i++) {
		const struct label name = planner_link_name(fabric, graph, path->hop[i].link);

		json_array_append_new(hops, json_pack("{s:s, s:i}", "link", name.text, "lane",
						      (int)path->hop[i].lane));
	}
	return json_pack("{s:s, s:f, s:o}", "end", trace_end_text(path->end), "share", path->share,
			 "hops", hops);
}

json_t *trace_json(const struct fabric *fabric, const struct fabric_graph *graph,
		   const struct trace *trace)
{
	json_t *paths = json_array();

	for (uint32_t i = 0; i < trace->path_count; i++)
		json_array_append_new(paths, path_json(fabric, graph, &trace->path[i]));
	return json_pack("{s:o, s:b}", "paths", paths, "cut", (int)trace->cut);
}

bool trace_arrives(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->path_count; i++) {
		if (trace->path[i].end != TRACE_ARRIVES)
			return false;
	}
	return trace->path_count > 0;
}
