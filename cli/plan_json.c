// SPDX-License-Identifier: BSD-3-Clause
//
// A plan as one JSON object. Loads count ordered pairs of hosts on each link in each direction,
// with the shares of groups as fractions; links are cables between switches; a row is one entry of
// a switch for a destination switch.

#include "cli/plan_show.h"

#include <stdlib.h>
#include <string.h>

#include "sys/fault.h"

static json_t *text_of(struct label label)
{
	return json_string(label.text);
}

static json_t *refusals(const struct plan_work *work)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < work->planner.refusal_count; i++) {
		const struct planner_refusal *refusal = &work->planner.refusal[i];
		struct label object, detail;
		char why[256];
		const char *text = planner_fault_text(&work->source.fabric, &work->source.graph,
						      &refusal->fault, &object, &detail);

		fault_render(why, sizeof(why), text, object.text, detail.text, 0, 0);
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "engine",
						planner_engine_names[refusal->engine], "why", why));
	}
	return list;
}

static json_t *tiers(const struct plan_work *work)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < work->planner.plan.tier_count; i++) {
		const struct balance_tier *tier = &work->balance.tier[i];

		if (tier->link_count > 0)
			json_array_append_new(
				list, json_pack("{s:o, s:f, s:f}", "name",
						text_of(planner_tier_name(&work->planner, i)),
						"max", tier->max, "avg", tier->avg));
	}
	return list;
}

static void add_balance(const struct plan_work *work, json_t *object)
{
	const struct balance_tier *all = &work->balance.all;

	json_object_set_new(object, "load_max", json_real(all->max));
	json_object_set_new(object, "load_avg", json_real(all->avg));
	json_object_set_new(object, "load_max_over_avg",
			    json_real(all->avg > 0 ? all->max / all->avg : 0));
	json_object_set_new(object, "load_tiers", tiers(work));
	json_object_set_new(object, "injection", json_real(work->balance.injection));
}

static void add_samples(const struct plan_work *work, json_t *object)
{
	json_object_set_new(object, "permutation_max_avg", json_real(work->shift.max_avg));
	json_object_set_new(object, "permutation_max_worst", json_real(work->shift.max_worst));
	json_object_set_new(object, "random_max_avg", json_real(work->random.max_avg));
	json_object_set_new(object, "random_max_worst", json_real(work->random.max_worst));
	if (work->spread.pairs == 0)
		return;
	json_object_set_new(object, "paths_used_avg", json_real(work->spread.avg));
	json_object_set_new(object, "paths_used_worst", json_real(work->spread.worst));
}

static void add_proof(const struct plan_work *work, json_t *object)
{
	const struct verify_report *verify = &work->verify;
	const bool acyclic = verify->rows_acyclic && (verify->turns_acyclic || !work->with_turns);

	json_object_set_new(object, "lanes", json_integer(verify->lanes));
	json_object_set_new(object, "deadlock_free", json_boolean(acyclic));
	json_object_set_new(object, "reachable_pairs",
			    json_integer((json_int_t)verify->reachable_pairs));
	json_object_set_new(object, "unreachable_pairs",
			    json_integer((json_int_t)verify->unreachable_pairs));
	json_object_set_new(object, "parted_pairs", json_integer((json_int_t)verify->parted_pairs));
	json_object_set_new(object, "loops", json_integer((json_int_t)verify->loops));
	json_object_set_new(object, "hops_avg", json_real(verify->hops_avg));
	json_object_set_new(object, "hops_max", json_integer(verify->hops_max));
	json_object_set_new(object, "rows", json_integer((json_int_t)work->rows));
	json_object_set_new(object, "groups", json_integer((json_int_t)work->groups));
}

static void add_tenants(const struct plan_work *work, json_t *object)
{
	json_object_set_new(object, "allowed_pairs",
			    json_integer((json_int_t)work->tenants.allowed_pairs));
	json_object_set_new(object, "tenant_rules", json_integer(work->tenants.rule_count));
	json_object_set_new(object, "tenant_violations",
			    json_integer((json_int_t)work->tenant_proof.violations));
}

static void add_change(const struct plan_work *work, json_t *object)
{
	json_object_set_new(object, "changed_switches", json_integer(work->change.switches));
	json_object_set_new(object, "changed_rows", json_integer((json_int_t)work->change.rows));
	json_object_set_new(object, "changed_groups",
			    json_integer((json_int_t)work->change.groups));
	json_object_set_new(object, "changed_bytes", json_integer((json_int_t)work->change.bytes));
	json_object_set_new(object, "replan_cpu_ms", json_real(work->times.replan_ms));
}

static json_t *sweep_kind(const struct sweep_result *result)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:I, s:f, s:i, s:i}", "count",
			 (int)result->count, "refused", (int)result->refused, "unsafe",
			 (int)result->unsafe, "unrouted", (int)result->unrouted, "cutting",
			 (int)result->cutting, "unreachable_worst",
			 (json_int_t)result->unreachable_worst, "load_worst", result->load_worst,
			 "lanes_worst", (int)result->lanes_worst, "hops_worst",
			 (int)result->hops_worst);
}

static json_t *qos(const struct plan_work *work)
{
	struct report report = { .table_count = 0 };
	json_t *tables;

	plan_show_qos(work, &report);
	tables = report_json(&report);
	report_release(&report);
	return tables;
}

// The most memory that this program had. What getrusage() tells begins with what its parent had.
static json_int_t most_memory_kb(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	json_int_t kb = 0;
	char line[256];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kb = strtoll(line + 6, NULL, 10);
	}
	if (file != NULL)
		fclose(file);
	return kb;
}

static const char *engine_name(const struct plan_work *work)
{
	return work->from_tables ? "tables" : planner_engine_names[work->planner.engine];
}

json_t *plan_json(const struct plan_options *options, const struct plan_work *work)
{
	const bool planned = work->planner.plan.row != NULL && !work->replan_refused;
	json_t *object = json_pack("{s:i, s:i, s:i}", "hosts",
				   (int)work->source.graph.topo.host_count, "switches",
				   (int)work->source.fabric.switch_count, "links",
				   (int)work->source.fabric.cable_count);

	json_object_set_new(object, "engine",
			    planned ? json_string(engine_name(work)) : json_null());
	if (work->planner.refusal_count > 0)
		json_object_set_new(object, "refused", refusals(work));
	if (planned)
		add_proof(work, object);
	if (work->has_balance)
		add_balance(work, object);
	if (work->has_samples)
		add_samples(work, object);
	if (work->has_sweep)
		json_object_set_new(object, "failures",
				    json_pack("{s:o, s:o}", "links",
					      sweep_kind(&work->sweep.result[SWEEP_CABLE]),
					      "switches",
					      sweep_kind(&work->sweep.result[SWEEP_SWITCH])));
	if (planned && work->source.fabric.tenant_count > 1)
		add_tenants(work, object);
	if (planned && options->qos)
		json_object_set_new(object, "qos", qos(work));
	json_object_set_new(object, "parse_cpu_ms", json_real(work->times.parse_ms));
	json_object_set_new(object, "plan_cpu_ms", json_real(work->times.plan_ms));
	json_object_set_new(object, "verify_cpu_ms", json_real(work->times.verify_ms));
	if (work->has_change)
		add_change(work, object);
	json_object_set_new(object, "rss_kb", json_integer(most_memory_kb()));
	return object;
}
