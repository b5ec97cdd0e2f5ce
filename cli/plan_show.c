// SPDX-License-Identifier: BSD-3-Clause
//
// A plan for people: what it is, how evenly it loads the links of each tier, what failures do, and
// sentences about all that is wrong, each with the path hop by hop.

#include "cli/plan_show.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/report.h"
#include "sys/cfg_address.h"
#include "sys/fault.h"

static const struct column summary_columns[] = {
	{ "Fabric", "fabric", CELL_TEXT },
	{ "Hosts", "hosts", CELL_COUNT },
	{ "Ports of hosts", "host_ports", CELL_COUNT },
	{ "Switches", "switches", CELL_COUNT },
	{ "Links", "links", CELL_COUNT },
	{ "Engine", "engine", CELL_TEXT },
	{ "Lanes", "lanes", CELL_COUNT },
	{ "Deadlock", "deadlock", CELL_TEXT },
	{ "Pairs reached", "reachable_pairs", CELL_TEXT },
	{ "Pairs allowed", "allowed_pairs", CELL_TEXT },
	{ "Tenant violations", "tenant_violations", CELL_COUNT },
	{ "Loops", "loops", CELL_COUNT },
	{ "Hops", "hops", CELL_TEXT },
	{ "Rows", "rows", CELL_COUNT },
	{ "Groups", "groups", CELL_COUNT },
	{ "Injection", "injection", CELL_TEXT },
	{ "Shifts", "shifts", CELL_TEXT },
	{ "Permutations", "random", CELL_TEXT },
	{ "Paths used", "paths_used", CELL_TEXT },
	{ "Changed", "changed", CELL_TEXT },
};

static const struct column tier_columns[] = {
	{ "Tier", "tier", CELL_TEXT },
	{ "Links", "links", CELL_COUNT },
	{ "Max load", "max", CELL_TEXT },
	{ "Avg load", "avg", CELL_TEXT },
	{ "Max/avg", "max_over_avg", CELL_TEXT },
	{ "Most loaded", "at", CELL_TEXT },
};

static const struct column failure_columns[] = {
	{ "Lost", "lost", CELL_TEXT },           { "Cases", "cases", CELL_COUNT },
	{ "Refused", "refused", CELL_COUNT },    { "Unsafe", "unsafe", CELL_COUNT },
	{ "Unrouted", "unrouted", CELL_COUNT },  { "Cut off", "cutting", CELL_COUNT },
	{ "Max load", "load_worst", CELL_TEXT }, { "Lanes", "lanes_worst", CELL_COUNT },
	{ "Worst", "worst", CELL_TEXT },
};

__attribute__((format(printf, 2, 3))) static void row_format(json_t *row, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	row_text(row, text);
}

static void row_nothing(json_t *row)
{
	json_array_append_new(row, json_null());
}

static const char *name_of(const struct plan_work *work)
{
	return work->from_tables ? "none, tables as they are" :
				   planner_engine_names[work->planner.engine];
}

static const char *deadlock(const struct plan_work *work)
{
	if (!work->verify.rows_acyclic)
		return "possible";
	if (!work->with_turns)
		return "free by rows; there are no rules of turns";
	return work->verify.turns_acyclic ? "free, whatever rows say" : "free by rows alone";
}

static void add_sample(json_t *row, bool has, const struct plan_sample *sample)
{
	if (has)
		row_format(row, "%.2f flows on the most loaded link, %.0f at worst",
			   sample->max_avg, sample->max_worst);
	else
		row_nothing(row);
}

static void add_tenants(json_t *row, const struct plan_work *work)
{
	const uint32_t count = work->source.fabric.tenant_count;

	if (count < 2) {
		row_nothing(row);
		row_nothing(row);
		return;
	}
	row_format(row, "%llu, by %u rules of %u tenants",
		   (unsigned long long)work->tenants.allowed_pairs, work->tenants.rule_count,
		   count - 1);
	row_number(row, work->tenant_proof.violations);
}

static void add_summary(const struct plan_work *work, struct report *report)
{
	const struct fabric *fabric = &work->source.fabric;
	const struct verify_report *verify = &work->verify;
	json_t *row = table_row(report_table(report, "plan", COLUMNS(summary_columns)));

	row_text(row, fabric->name);
	row_number(row, fabric->host_count);
	if (fabric->host_port_count != fabric->host_count)
		row_number(row, fabric->host_port_count);
	else
		row_nothing(row);
	row_number(row, fabric->switch_count);
	row_number(row, fabric->cable_count);
	row_text(row, name_of(work));
	row_number(row, verify->lanes);
	row_text(row, deadlock(work));
	row_format(row, "%" PRIu64 " of %" PRIu64, verify->reachable_pairs,
		   verify->reachable_pairs + verify->unreachable_pairs);
	add_tenants(row, work);
	row_number(row, verify->loops);
	row_format(row, "%.2f on average, %u at most", verify->hops_avg, verify->hops_max);
	row_number(row, work->rows);
	row_number(row, work->groups);
	if (work->has_balance)
		row_format(row, "%.4f of a link", work->balance.injection);
	else
		row_nothing(row);
	add_sample(row, work->has_samples, &work->shift);
	add_sample(row, work->has_samples, &work->random);
	if (work->has_samples && work->spread.pairs > 0)
		row_format(row, "%.1f %% on average, %.1f %% at worst", 100 * work->spread.avg,
			   100 * work->spread.worst);
	else
		row_nothing(row);
	if (work->has_change)
		row_format(row, "%llu rows and %llu groups of %u switches, %llu bytes",
			   (unsigned long long)work->change.rows,
			   (unsigned long long)work->change.groups, work->change.switches,
			   (unsigned long long)work->change.bytes);
	else
		row_nothing(row);
}

static void add_tiers(const struct plan_work *work, struct report *report)
{
	struct table *table = report_table(report, "tiers", COLUMNS(tier_columns));

	for (uint32_t i = 0; i < work->planner.plan.tier_count; i++) {
		const struct balance_tier *tier = &work->balance.tier[i];
		json_t *row;

		if (tier->link_count == 0)
			continue;
		row = table_row(table);
		row_text(row, planner_tier_name(&work->planner, i).text);
		row_number(row, tier->link_count);
		row_format(row, "%.2f", tier->max);
		row_format(row, "%.2f", tier->avg);
		row_format(row, "%.2f", tier->avg > 0 ? tier->max / tier->avg : 0);
		row_text(row, planner_link_name(&work->source.fabric, &work->source.graph,
						tier->max_link)
				      .text);
	}
}

static struct label case_name(const struct plan_work *work, const struct sweep_case *which)
{
	struct label label = { .len = 0 };

	if (which->kind == SWEEP_CABLE)
		return planner_link_name(&work->source.fabric, &work->source.graph, which->number);
	label_add(&label, work->source.fabric.switches[which->number].name);
	return label;
}

static const struct sweep_case *worst_case(const struct sweep_result *result)
{
	if (result->unsafe > 0)
		return &result->first_unsafe;
	return result->refused > 0 ? &result->first_refused : &result->worst_load;
}

static void add_failures(const struct plan_work *work, struct report *report)
{
	struct table *table = report_table(report, "failures", COLUMNS(failure_columns));

	for (uint32_t kind = SWEEP_CABLE; kind <= SWEEP_SWITCH; kind++) {
		const struct sweep_result *result = &work->sweep.result[kind];
		json_t *row;

		if (result->count == 0)
			continue;
		row = table_row(table);
		row_text(row, kind == SWEEP_CABLE ? "a link" : "a switch");
		row_number(row, result->count);
		row_number(row, result->refused);
		row_number(row, result->unsafe);
		row_number(row, result->unrouted);
		row_number(row, result->cutting);
		row_format(row, "%.2f", result->load_worst);
		row_number(row, result->lanes_worst);
		row_text(row, case_name(work, worst_case(result)).text);
	}
}

// --- sentences --------------------------------------------------------------------------------

static void show_fault(const struct plan_work *work, const char *engine,
		       const struct plan_fault *fault, FILE *out)
{
	struct label object, detail;
	char why[256];
	const char *text = planner_fault_text(&work->source.fabric, &work->source.graph, fault,
					      &object, &detail);

	fault_render(why, sizeof(why), text, object.text, detail.text, 0, 0);
	fprintf(out, "Engine %s refuses: %s.\n", engine, why);
}

void plan_show_refusals(const struct plan_work *work, FILE *out)
{
	for (uint32_t i = 0; i < work->planner.refusal_count; i++)
		show_fault(work, planner_engine_names[work->planner.refusal[i].engine],
			   &work->planner.refusal[i].fault, out);
	if (work->replan_refused)
		show_fault(work, planner_engine_names[work->planner.engine], &work->replan_fault,
			   out);
}

void plan_show_hops(const struct plan_work *work, const struct violation_hop *hops, uint32_t count,
		    FILE *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct label name = planner_link_name(&work->source.fabric,
							    &work->source.graph, hops[i].link);

		fprintf(out, "%s%s lane %u", i > 0 ? " > " : "", name.text, hops[i].lane);
	}
}

static void show_violation(const struct plan_work *work, const struct violation *violation,
			   FILE *out)
{
	const struct topo *topo = &work->source.graph.topo;
	const struct fabric_switch *switches = work->source.fabric.switches;

	fprintf(out, "From %s to %s: %s %s", switches[violation->from].name,
		switches[topo->edge_switch[violation->edge]].name, switches[violation->at].name,
		planner_violation_text(violation->kind));
	if (violation->hop_count > 0) {
		fputs(":\n    ", out);
		plan_show_hops(work, violation->hop, violation->hop_count, out);
	}
	fputc('\n', out);
}

static void show_tenant_violation(const struct plan_work *work,
				  const struct tenant_violation *violation, FILE *out)
{
	const struct fabric *fabric = &work->source.fabric;
	const struct fabric_host *from = &fabric->hosts[fabric->host_ports[violation->from].host];
	const struct fabric_host *to = &fabric->hosts[fabric->host_ports[violation->to].host];
	struct ip_prefix address = violation->ip;
	char text[IP_PREFIX_TEXT_BYTES];

	fprintf(out, "From %s to %s: ", from->name, to->name);
	if (violation->rule == FABRIC_NONE) {
		address.len = ip_family_bits(address.family);
		ip_prefix_format(&address, text);
		fprintf(out, "no rule permits %s %s\n", fabric->tenants[from->tenant], text);
		return;
	}
	ip_prefix_format(&work->tenants.rule[violation->rule].to, text);
	fprintf(out, "the rule permit %s %s lets through what is for %s\n",
		fabric->tenants[from->tenant], text, fabric->tenants[to->tenant]);
}

static void show_tenant_violations(const struct plan_work *work, FILE *out)
{
	const struct tenant_proof *proof = &work->tenant_proof;

	if (proof->violations > 0)
		fputs("\nRules of tenants that are wrong:\n", out);
	for (uint32_t i = 0; i < proof->kept; i++)
		show_tenant_violation(work, &proof->violation[i], out);
	if (proof->kept == TENANT_VIOLATIONS_KEPT)
		fprintf(out, "%llu pairs in all.\n", (unsigned long long)proof->violations);
}

static void show_wrong(const struct plan_work *work, FILE *out)
{
	const struct verify_report *verify = &work->verify;
	uint64_t all = 0;

	for (uint32_t i = 0; i < VIOLATION_KINDS; i++)
		all += verify->violation_count[i];
	if (!work->qos_fits)
		fprintf(out,
			"\n%u priorities are needed, there are %d: a lossless class takes one "
			"for each lane.\n",
			work->qos.prio_count, PRIO_COUNT);
	show_tenant_violations(work, out);
	if (verify->parted_pairs > 0)
		fprintf(out, "\n%llu pairs have no connection left.\n",
			(unsigned long long)verify->parted_pairs);
	if (all > 0)
		fputc('\n', out);
	for (uint32_t i = 0; i < verify->violation_kept; i++)
		show_violation(work, &verify->violation[i], out);
	if (all > verify->violation_kept)
		fprintf(out, "%llu more.\n", (unsigned long long)(all - verify->violation_kept));
	if (verify->cycle_count > 0) {
		fprintf(out, "\nA cycle, each waiting for the next: %s\n    ",
			verify->rows_acyclic ? "rules of turns allow it" : "rows lead round it");
		plan_show_hops(work, verify->cycle, verify->cycle_count, out);
		fputc('\n', out);
	}
}

static int show_text(const struct plan_options *options, const struct plan_work *work)
{
	struct report report = { .table_count = 0 };
	const bool planned = work->planner.plan.row != NULL && !work->replan_refused;
	int rc = 0;

	if (planned) {
		add_summary(work, &report);
		report.table[0].blocks = true;
	}
	if (work->has_balance)
		add_tiers(work, &report);
	if (work->has_sweep)
		add_failures(work, &report);
	if (planned && options->qos)
		plan_show_qos(work, &report);
	plan_show_refusals(work, planned ? stdout : stderr);
	if (planned && work->planner.refusal_count > 0)
		putchar('\n');
	rc = out_table(&report, stdout);
	report_release(&report);
	if (planned)
		show_wrong(work, stdout);
	return rc;
}

int plan_show(const struct plan_options *options, const struct plan_work *work)
{
	json_t *object;
	int rc = 0;

	if (!options->json)
		return show_text(options, work);
	object = plan_json(options, work);
	if (json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) < 0 ||
	    putchar('\n') == EOF)
		rc = -EIO;
	json_decref(object);
	return rc;
}

void plan_show_check(const struct plan_options *options, const struct plan_work *work)
{
	const struct fabric *fabric = &work->source.fabric;

	printf("%s: %u hosts, %u switches, %u links\n", options->fabric, fabric->host_count,
	       fabric->switch_count, fabric->cable_count);
}
