// SPDX-License-Identifier: BSD-3-Clause
//
// What the fabric manager says of a live fabric, of views made by hand over a real plan of the
// example leaf-spine.cfg: four leaves of four hosts, two spines, an uplink at the fourth leaf.
// Numbers expected are arithmetic on that file.

#include "fabricmgr/net/view_json.h"

#include <string.h>

#include "fabricmgr/net/view.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum {
	SWITCHES = 6,
	LINKS = 16,
	LEAF1 = 0,
	LEAF2 = 1,
	LEAF3 = 2,
	LEAF4 = 3,
	SPINE2 = 5,
	SECOND = 1000000000
};

static const ns_t now = { 100ull * SECOND };

struct scene {
	struct source source;
	struct planner planner;
	struct distributor distributor;
	struct distribute_switch told[SWITCHES];
	struct manager_link links[LINKS];
	struct manager_switch switches[SWITCHES];
	struct journal journal;
	struct manager_view view;
	struct view_memory memory;
};

// All is well: every switch runs generation 7 of epoch 3, which came into force 40 s ago.
static struct scene *open_scene(void)
{
	static struct scene scene;
	const struct generation generation = { 3, 7, 99 };
	const struct planner_options options = { .engine_count = 0 };
	struct source *source = &scene.source;

	cr_assert_eq(source_open(source, LEAF_SPINE, stderr), 0);
	cr_assert(planner_plan(&source->fabric, &source->graph, &options, &source->keep,
			       &source->scratch, &scene.planner));
	cr_assert_eq(source->graph.topo.switch_count, SWITCHES);
	cr_assert_eq(source->graph.topo.link_count, LINKS);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		scene.told[i] = (struct distribute_switch){ .life = DISTRIBUTE_THERE,
							    .running = generation,
							    .target = generation };
		scene.switches[i].since = (ns_t){ 30ull * SECOND };
	}
	for (uint32_t i = 0; i < LINKS; i++)
		scene.links[i] = (struct manager_link){ .known = true, .up = true };
	scene.distributor = (struct distributor){
		.epoch = 3, .number = 7, .switch_count = SWITCHES, .at = scene.told
	};
	scene.view = (struct manager_view){
		.source = source,
		.planner = &scene.planner,
		.distributor = &scene.distributor,
		.links = scene.links,
		.switches = scene.switches,
		.state = &scene.planner.state,
		.journal = &scene.journal,
		.plan = { .number = 7,
			  .asked = { 59900000000 },
			  .planned = { 59950000000 },
			  .in_force = { 60ull * SECOND },
			  .switches_changed = 2,
			  .rows_changed = 5,
			  .lanes = 1,
			  .pairs = 272,
			  .max_over_avg = 1.5 },
		.hold_why = "",
	};
	scene.memory = (struct view_memory){ graph_arena(), graph_arena() };
	return &scene;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	cr_assert_not_null(text, "%s", key);
	return text;
}

static json_int_t number_at(const json_t *object, const char *key)
{
	cr_assert(json_is_integer(json_object_get(object, key)), "%s", key);
	return json_integer_value(json_object_get(object, key));
}

// The object of a list whose `key` is `name`.
static json_t *find(const json_t *list, const char *key, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *object = json_array_get(list, i);

		if (strcmp(text_at(object, key), name) == 0)
			return object;
	}
	cr_assert_fail("no %s", name);
	return NULL;
}

// --- links ------------------------------------------------------------------------------------

enum end { NEAR, FAR };

static const struct {
	const char *what;
	bool unknown, down, damped, drained; // of one end
	enum end end;
	bool switch_drained, ignored;
	const char *want;
	bool error; // it is among what is wrong
} link_rows[] = {
	{ .what = "both ends say up", .want = "up" },
	{ .what = "an end says down", .down = true, .want = "down", .error = true },
	{ .what = "the other one does", .down = true, .end = FAR, .want = "down", .error = true },
	{ .what = "an end has not spoken", .unknown = true, .want = "unseen", .error = true },
	{ .what = "it flaps", .damped = true, .end = FAR, .want = "damped", .error = true },
	{ .what = "down says more than damped",
	  .damped = true,
	  .down = true,
	  .want = "down",
	  .error = true },
	{ .what = "an operator took it out", .drained = true, .end = FAR, .want = "drained" },
	{ .what = "and unplugged it", .drained = true, .down = true, .want = "drained" },
	{ .what = "its switch is drained", .switch_drained = true, .want = "drained" },
	{ .what = "the intent ignores it", .ignored = true, .down = true, .want = "ignored" },
};

TABLE_TEST(fabric_view, links, row, link_rows)
{
	struct scene *scene = open_scene();
	const uint32_t near = scene->source.graph.cable_link[0];
	const uint32_t link = row->end == FAR ? scene->source.graph.topo.link_peer[near] : near;
	json_t *links, *errors;

	scene->links[link].known = !row->unknown;
	scene->links[link].up = !row->down;
	scene->links[link].damping.suppressed = row->damped;
	scene->links[link].drained = row->drained;
	scene->switches[LEAF1].drained = row->switch_drained;
	scene->source.graph.state.link_lost[near] = row->ignored;
	links = view_links_json(&scene->view);
	errors = view_errors_json(&scene->view);
	cr_assert_eq(json_array_size(json_object_get(links, "links")), LINKS / 2);
	cr_assert_str_eq(text_at(find(json_object_get(links, "links"), "name", "leaf1:Ethernet4"),
				 "state"),
			 row->want, "%s", row->what);
	cr_assert_eq(json_array_size(json_object_get(errors, "errors")), row->error, "%s",
		     row->what);
	json_decref(links);
	json_decref(errors);
}

Test(fabric_view, planned_is_what_the_plan_uses)
{
	struct scene *scene = open_scene();
	const uint32_t link = scene->source.graph.cable_link[0];
	struct topo_state state;

	cr_assert_eq(topo_state_init(&scene->source.graph.topo, &scene->source.keep, &state), 0);
	state.link_lost[scene->source.graph.topo.link_peer[link]] = 1;
	scene->view.state = &state;
	cr_assert_not(view_link_planned(&scene->view, link));
	cr_assert(view_link_planned(&scene->view, scene->source.graph.cable_link[1]));
	scene->view.plan.number = 0;
	cr_assert_not(view_link_planned(&scene->view, scene->source.graph.cable_link[1]));
}

// --- status and errors ------------------------------------------------------------------------

Test(fabric_view, status)
{
	struct scene *scene = open_scene();
	json_t *status = view_status_json(&scene->view, now, 1700000000123);
	const json_t *repair = json_object_get(status, "last_repair");

	cr_assert_str_eq(text_at(status, "fabric"), "lab");
	cr_assert_eq(number_at(status, "wall_ms"), 1700000000123);
	cr_assert_eq(number_at(status, "epoch"), 3);
	cr_assert_eq(number_at(status, "generation"), 7);
	cr_assert(json_is_true(json_object_get(status, "in_force")));
	cr_assert_eq(number_at(status, "in_force_for_ns"), 40ll * SECOND);
	cr_assert_eq(number_at(status, "hosts"), 17);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "all"), SWITCHES);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "there"), SWITCHES);
	cr_assert_eq(number_at(json_object_get(status, "links"), "all"), LINKS / 2);
	cr_assert_eq(number_at(json_object_get(status, "links"), "up"), LINKS / 2);
	cr_assert_eq(number_at(repair, "asked_to_planned_ns"), 50000000);
	cr_assert_eq(number_at(repair, "planned_to_in_force_ns"), 50000000);
	cr_assert_eq(number_at(repair, "rows_changed"), 5);
	cr_assert_eq(number_at(json_object_get(status, "plan"), "pairs"), 272);
	cr_assert_str_eq(text_at(json_object_get(status, "hold"), "kind"), "none");
	json_decref(status);
}

Test(fabric_view, status_of_a_fabric_in_trouble)
{
	struct scene *scene = open_scene();
	json_t *status;

	scene->told[LEAF1].life = DISTRIBUTE_HEADLESS;
	scene->told[LEAF2].life = DISTRIBUTE_UNSEEN;
	scene->told[LEAF3].life = DISTRIBUTE_HEADLESS;
	scene->switches[LEAF3].dead = true;
	scene->told[LEAF4].running.number = 6;
	scene->told[SPINE2].failed = true;
	scene->links[scene->source.graph.cable_link[3]].up = false;
	scene->view.plan.in_force.v = 0;
	status = view_status_json(&scene->view, now, 1700000000123);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "headless"), 1);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "unseen"), 1);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "there"), SWITCHES - 3);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "dead"), 1);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "behind"), 1);
	cr_assert_eq(number_at(json_object_get(status, "switches"), "refused"), 1);
	cr_assert_eq(number_at(json_object_get(status, "links"), "down"), 1);
	cr_assert_eq(number_at(json_object_get(status, "links"), "up"), LINKS / 2 - 1);
	cr_assert(json_is_false(json_object_get(status, "in_force")));
	cr_assert(json_is_null(json_object_get(status, "in_force_for_ns")));
	cr_assert(json_is_null(
		json_object_get(json_object_get(status, "last_repair"), "planned_to_in_force_ns")));
	json_decref(status);
}

Test(fabric_view, status_before_the_first_plan)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES];
	json_t *status;

	scene->view.planner = NULL;
	scene->view.plan = (struct manager_plan){ .number = 0 };
	status = view_status_json(&scene->view, now, 1700000000123);
	cr_assert(json_is_null(json_object_get(status, "plan")));
	cr_assert(json_is_null(json_object_get(status, "last_repair")));
	cr_assert(json_is_false(json_object_get(status, "in_force")));
	json_decref(status);
	cr_assert_null(view_routes_json(&scene->view, "leaf1", NULL, why));
	cr_assert_str_eq(why, "there is no plan in force yet");
	cr_assert_null(view_balance_json(&scene->view, &scene->memory, why));
	cr_assert_null(view_trace_json(&scene->view, "host1", "host5", &scene->memory, why));
}

static const struct {
	const char *what;
	enum manager_hold hold;
	const char *severity;
	const char *advice; // its beginning
} hold_rows[] = {
	{ "many links lost", MANAGER_HOLD_MASS, "warning", "weft fabric confirm plans without" },
	{ "frozen", MANAGER_HOLD_FROZEN, "warning", "weft fabric thaw" },
	{ "on one switch", MANAGER_HOLD_CANARY, "warning", "weft fabric confirm takes" },
	{ "no engine can", MANAGER_HOLD_FAULT, "error", "switches keep the last good plan" },
};

TABLE_TEST(fabric_view, holds, row, hold_rows)
{
	struct scene *scene = open_scene();
	json_t *errors;
	const json_t *first;

	scene->view.hold = row->hold;
	scene->view.hold_why = row->what;
	errors = view_errors_json(&scene->view);
	first = json_array_get(json_object_get(errors, "errors"), 0);
	cr_assert_str_eq(text_at(first, "severity"), row->severity);
	cr_assert_str_eq(text_at(first, "what"), row->what);
	cr_assert_eq(strncmp(text_at(first, "advice"), row->advice, strlen(row->advice)), 0);
	json_decref(errors);
}

// What is wrong with a switch explains its links: of those nothing is said.
Test(fabric_view, errors_of_a_switch)
{
	struct scene *scene = open_scene();
	const uint32_t link = scene->source.graph.cable_link[0];
	json_t *errors;
	const json_t *list;

	scene->told[LEAF1].life = DISTRIBUTE_UNSEEN;
	scene->links[link].known = false;
	scene->told[SPINE2].failed = true;
	scene->view.plan.unreachable = 104;
	errors = view_errors_json(&scene->view);
	list = json_object_get(errors, "errors");
	cr_assert_eq(json_array_size(list), 3);
	cr_assert_str_eq(text_at(json_array_get(list, 0), "what"),
			 "104 of 272 pairs of ports of hosts have no way to each other");
	cr_assert_str_eq(text_at(json_array_get(list, 1), "object"), "leaf1");
	cr_assert_str_eq(text_at(json_array_get(list, 1), "severity"), "warning");
	cr_assert_str_eq(text_at(json_array_get(list, 2), "what"),
			 "it refuses the tables of generation 7");
	json_decref(errors);
}

// --- things -----------------------------------------------------------------------------------

Test(fabric_view, topology)
{
	struct scene *scene = open_scene();
	json_t *topology;
	const json_t *leaf, *spine, *link;

	scene->told[SPINE2].running.number = 6;
	// What a switch calls its software is its own business, and not UTF-8 here.
	memcpy(scene->switches[LEAF4].software, "weft \xff", sizeof("weft \xff"));
	topology = view_topology_json(&scene->view, now);
	leaf = find(json_object_get(topology, "switches"), "name", "leaf4");
	spine = find(json_object_get(topology, "switches"), "name", "spine2");
	link = find(json_object_get(topology, "links"), "name", "leaf1:Ethernet5");
	cr_assert_str_eq(text_at(leaf, "state"), "there");
	cr_assert_eq(number_at(leaf, "state_for_ns"), 70ll * SECOND);
	cr_assert_str_eq(text_at(leaf, "software"), "weft ?");
	cr_assert_eq(number_at(leaf, "host_ports"), 5);
	cr_assert_eq(number_at(leaf, "level"), 0);
	cr_assert(json_is_false(json_object_get(leaf, "behind")));
	cr_assert_eq(number_at(spine, "host_ports"), 0);
	cr_assert(json_is_true(json_object_get(spine, "behind")));
	cr_assert_eq(number_at(json_object_get(spine, "running"), "number"), 6);
	cr_assert_eq(number_at(json_object_get(spine, "target"), "number"), 7);
	cr_assert_str_eq(text_at(link, "peer"), "spine2:Ethernet0");
	cr_assert_eq(number_at(link, "speed_bps"), 100000000000);
	cr_assert_eq(number_at(link, "length_mm"), 10000);
	json_decref(topology);
}

Test(fabric_view, hosts)
{
	struct scene *scene = open_scene();
	json_t *hosts = view_hosts_json(&scene->view);
	const json_t *list = json_object_get(hosts, "hosts");
	const json_t *five = find(list, "name", "host5");
	const json_t *wan = find(list, "name", "wan");
	const json_t *port = json_array_get(json_object_get(five, "ports"), 0);

	cr_assert_eq(json_array_size(list), 17);
	cr_assert_str_eq(text_at(five, "tenant"), "red");
	cr_assert(json_is_null(json_object_get(find(list, "name", "host16"), "tenant")));
	cr_assert(json_is_true(json_object_get(wan, "external")));
	cr_assert_str_eq(text_at(port, "switch"), "leaf2");
	cr_assert_str_eq(text_at(port, "port"), "Ethernet0");
	// Five addresses of four hosts and a gateway take a subnet of eight, the second one here.
	cr_assert_str_eq(text_at(port, "ip"), "10.1.0.10/29");
	json_decref(hosts);
}

// --- routes -----------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *at, *to;
	size_t rows;     // 0: none, and `why` is why
	size_t hops;     // of the first
	const char *why; // of the first its kind, or the refusal
} route_rows[] = {
	{ "all edges of a leaf", "leaf2", NULL, 4, 2, "group" },
	{ "an edge of its own", "leaf1", "leaf1", 1, 0, "local" },
	{ "to a host", "leaf1", "host5", 1, 2, "group" },
	{ "down from a spine", "spine1", "host5", 1, 1, "group" },
	{ "all switches to a leaf", NULL, "leaf4", SWITCHES, 2, "group" },
	{ "nothing said", NULL, NULL, 0, 0, "which switch?" },
	{ "a name misspelt", "leef1", NULL, 0, 0, "there is no switch leef1; did you mean leaf1?" },
	{ "a host misspelt", "leaf1", "hots12", 0, 0,
	  "there is no host or switch hots12; did you mean host12?" },
	{ "a name unlike any", "x", NULL, 0, 0, "there is no switch x" },
	{ "to where no hosts are", "leaf1", "spine1", 0, 0, "spine1 has no hosts" },
};

TABLE_TEST(fabric_view, routes, row, route_rows)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES];
	json_t *routes = view_routes_json(&scene->view, row->at, row->to, why);
	const json_t *first = json_array_get(json_object_get(routes, "routes"), 0);

	cr_assert_eq(json_array_size(json_object_get(routes, "routes")), row->rows, "%s",
		     row->what);
	if (row->rows == 0) {
		cr_assert_null(routes);
		cr_assert_str_eq(why, row->why);
		return;
	}
	cr_assert_str_eq(text_at(first, "kind"), row->why, "%s", row->what);
	cr_assert_eq(json_array_size(json_object_get(first, "next_hops")), row->hops, "%s",
		     row->what);
	json_decref(routes);
}

Test(fabric_view, next_hops_have_names)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES];
	json_t *routes = view_routes_json(&scene->view, "leaf1", "leaf2", why);
	const json_t *row = json_array_get(json_object_get(routes, "routes"), 0);
	const json_t *hop = json_array_get(json_object_get(row, "next_hops"), 1);

	cr_assert_str_eq(text_at(row, "to"), "leaf2");
	cr_assert_str_eq(text_at(hop, "port"), "Ethernet5");
	cr_assert_str_eq(text_at(hop, "peer"), "spine2");
	cr_assert_eq(number_at(hop, "weight"), 1);
	json_decref(routes);
}

// Five hosts of leaf4 send to twelve others over two uplinks. Of 272 pairs 216 cross two of sixteen
// links each.
Test(fabric_view, balance)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES];
	json_t *balance = view_balance_json(&scene->view, &scene->memory, why);
	const json_t *most = json_array_get(json_object_get(balance, "most_loaded"), 0);

	cr_assert_float_eq(json_real_value(json_object_get(balance, "max")), 30, 1e-9);
	cr_assert_float_eq(json_real_value(json_object_get(balance, "avg")), 27, 1e-9);
	cr_assert_float_eq(json_real_value(json_object_get(most, "load")), 30, 1e-9);
	cr_assert_eq(json_array_size(json_object_get(balance, "most_loaded")), VIEW_LOADED);
	cr_assert_eq(json_array_size(json_object_get(balance, "tiers")), 1);
	cr_assert_eq(scene->memory.keep.used, 0);
	json_decref(balance);
}

Test(fabric_view, trace)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES];
	json_t *trace = view_trace_json(&scene->view, "host1", "host5", &scene->memory, why);
	const json_t *path = json_array_get(json_object_get(trace, "paths"), 1);
	const json_t *hops = json_object_get(path, "hops");

	cr_assert_eq(json_array_size(json_object_get(trace, "paths")), 2);
	cr_assert_str_eq(text_at(path, "end"), "arrives");
	cr_assert_float_eq(json_real_value(json_object_get(path, "share")), 0.5, 1e-9);
	cr_assert_str_eq(text_at(json_array_get(hops, 0), "link"), "leaf1:Ethernet5");
	cr_assert_str_eq(text_at(json_array_get(hops, 1), "link"), "spine2:Ethernet1");
	json_decref(trace);
	cr_assert_null(view_trace_json(&scene->view, "host1", NULL, &scene->memory, why));
	cr_assert_null(view_trace_json(&scene->view, "host99x", "host1", &scene->memory, why));
	cr_assert_str_eq(why, "there is no host or switch host99x; did you mean host9?");
}

// --- events -----------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint64_t written, since, most;
	uint64_t first; // number of the first that is given
	size_t count;
	uint64_t first_kept;
} event_rows[] = {
	{ "nothing has happened", 0, 0, 50, 0, 0, 1 },
	{ "all of few", 3, 0, 50, 1, 3, 1 },
	{ "those behind a number", 3, 2, 50, 3, 1, 1 },
	{ "behind the last", 3, 3, 50, 0, 0, 1 },
	{ "behind what is to come", 3, 900, 50, 0, 0, 1 },
	{ "behind what never comes", 3, UINT64_MAX, 50, 0, 0, 1 },
	{ "the newest", 100, 0, 20, 81, 20, 1 },
	{ "the newest of those behind a number", 100, 70, 20, 81, 20, 1 },
	{ "none at all", 100, 0, 0, 0, 0, 1 },
	{ "old ones are gone", JOURNAL_MAX + 10, 0, UINT64_MAX, 11, JOURNAL_MAX, 11 },
};

TABLE_TEST(fabric_view, events, row, event_rows)
{
	static struct journal journal;
	json_t *events;
	const json_t *list;

	for (uint64_t i = 0; i < row->written; i++)
		journal_add(&journal, JOURNAL_OTHER, 1000 + i, "leaf1", "it hums");
	events = view_events_json(&journal, row->since, row->most);
	list = json_object_get(events, "events");
	cr_assert_eq(number_at(events, "count"), (json_int_t)row->written);
	cr_assert_eq(number_at(events, "first_kept"), (json_int_t)row->first_kept, "%s", row->what);
	cr_assert_eq(json_array_size(list), row->count, "%s", row->what);
	if (row->count > 0)
		cr_assert_eq(number_at(json_array_get(list, 0), "number"), (json_int_t)row->first,
			     "%s", row->what);
	json_decref(events);
}

Test(fabric_view, events_in_words)
{
	static struct journal journal;
	json_t *event;

	journal_add(&journal, JOURNAL_OTHER, 1700000000123, "leaf1", "\xff hums");
	event = view_event_json(journal_at(&journal, 1));
	cr_assert_eq(number_at(event, "wall_ms"), 1700000000123);
	cr_assert_str_eq(text_at(event, "kind"), "OTHER");
	cr_assert_str_eq(text_at(event, "severity"), "info");
	cr_assert_str_eq(text_at(event, "object"), "leaf1");
	cr_assert_str_eq(text_at(event, "what"), "leaf1: ? hums");
	json_decref(event);
}

// --- names ------------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *name;
	const char *why; // NULL: it is one
} name_rows[] = {
	{ "a port up", "leaf1:Ethernet4", NULL },
	{ "a port by its number", "leaf1:5", NULL },
	{ "a port of a host", "leaf1:Ethernet0",
	  "leaf1 has no link to a switch at Ethernet0; did you mean Ethernet4?" },
	{ "a port beyond all", "leaf1:99", "leaf1 has no link to a switch at 99" },
	{ "a switch misspelt", "laef1:Ethernet4", "there is no switch laef1; did you mean leaf1?" },
	{ "no port", "leaf1", "leaf1 is no link: those are called SWITCH:PORT" },
	{ "no switch", ":Ethernet4", ":Ethernet4 is no link: those are called SWITCH:PORT" },
	{ "a name that is cut in the sentence",
	  "leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1:1",
	  "leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1leaf1lea is no link: those are "
	  "called SWITCH:PORT" },
};

TABLE_TEST(fabric_view, names_of_links, row, name_rows)
{
	struct scene *scene = open_scene();
	char why[FIND_WHY_BYTES] = "";
	uint32_t link = TOPO_NONE;
	const bool found = find_link(&scene->source.fabric, &scene->source.graph.topo, row->name,
				     &link, why);

	cr_assert_eq(found, row->why == NULL, "%s: %s", row->what, why);
	if (found)
		cr_assert_eq(scene->source.graph.topo.link_switch[link], LEAF1);
	else
		cr_assert_str_eq(why, row->why);
}
