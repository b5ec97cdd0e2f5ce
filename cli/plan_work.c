// SPDX-License-Identifier: BSD-3-Clause
//
// The steps of planning, each on the processor's clock: other programs on the machine do not count.
// Copies that only the report needs (the plan before a failure, tables counted) are outside of the
// times.

#include "cli/plan_work.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/rng.h"
#include "cli/run.h"
#include "fabricmgr/find.h"
#include "fabricmgr/tables.h"

enum {
	SPREAD_PAIRS = 64, // of hosts, at most
	SPREAD_FLOWS = 4096,
};

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1000000;
}

static int short_of_memory(void)
{
	fputs("weft: memory is short\n", stderr);
	return EXIT_USAGE;
}

int plan_work_open(const struct plan_options *options, struct plan_work *work)
{
	const double start = cpu_ms();
	int rc;

	memset(work, 0, sizeof(*work));
	rc = source_open(&work->source, options->fabric, stderr);
	work->times.parse_ms = cpu_ms() - start;
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

void plan_work_close(struct plan_work *work)
{
	source_close(&work->source);
}

// --- failures ---------------------------------------------------------------------------------

// "link:SWITCH:PORT" or "switch:SWITCH".
static int lose(const struct plan_work *work, const char *what, struct topo_state *state)
{
	const struct fabric *fabric = &work->source.fabric;
	const struct topo *topo = &work->source.graph.topo;
	const char *name = strchr(what, ':');
	const bool is_switch = strncmp(what, "switch:", 7) == 0;
	char why[FIND_WHY_BYTES];
	uint32_t number;

	if (!is_switch && (strncmp(what, "link:", 5) != 0 || strchr(what + 5, ':') == NULL)) {
		fprintf(stderr, "weft: --fail %s: allowed: link:SWITCH:PORT, switch:SWITCH\n",
			what);
		return EXIT_USAGE;
	}
	if (is_switch ? !find_switch(fabric, name + 1, &number, why) :
			!find_link(fabric, topo, name + 1, &number, why)) {
		fprintf(stderr, "weft: --fail %s: %s\n", what, why);
		return EXIT_USAGE;
	}
	if (is_switch)
		state->switch_lost[number] = 1;
	else
		state->link_lost[number] = state->link_lost[topo->link_peer[number]] = 1;
	return EXIT_DONE;
}

// What is lost of options, on top of what the fabric ignores.
static int lose_all(const struct plan_options *options, struct plan_work *work,
		    struct topo_state *state)
{
	const struct topo *topo = &work->source.graph.topo;
	int status = EXIT_DONE;

	if (topo_state_init(topo, &work->source.keep, state) < 0)
		return short_of_memory();
	topo_state_copy(topo, &work->source.graph.state, state);
	for (uint32_t i = 0; status == EXIT_DONE && i < options->fail_count; i++)
		status = lose(work, options->fail[i], state);
	return status;
}

// --- plans ------------------------------------------------------------------------------------

static int rules(const struct plan_options *options, struct plan_work *work,
		 struct planner_options *out)
{
	*out = (struct planner_options){ .engine_count = 0 };
	if (!source_rules(&work->source, options->fabric, out, stderr))
		return EXIT_USAGE;
	if (options->engine != NULL &&
	    !source_engines(options->engine, "weft: --engine", out, stderr))
		return EXIT_USAGE;
	return EXIT_DONE;
}

static int replan(struct plan_work *work, const struct topo_state *after)
{
	const struct topo *topo = &work->source.graph.topo;
	struct plan before;
	double start;
	bool good;

	if (plan_copy(topo, &work->planner.plan, &work->source.keep, &before) < 0)
		return short_of_memory();
	start = cpu_ms();
	good = planner_replan(&work->planner, after, &work->replan_fault);
	work->times.replan_ms = cpu_ms() - start;
	work->replan_refused = !good;
	if (!good)
		return EXIT_REFUSED;
	work->has_change = true;
	return plan_diff(&before, &work->planner.plan, &work->source.scratch, &work->change) < 0 ?
		       short_of_memory() :
		       EXIT_DONE;
}

// "opensm:FILE", or the directory that --dump-tables wrote.
static int read_tables(const char *name, struct plan_work *work)
{
	static const char opensm[] = "opensm:";
	struct planner *planner = &work->planner;

	if (strncmp(name, opensm, strlen(opensm)) != 0)
		return tables_load(name, planner, &work->with_turns, stderr);
	return source_lfts(&work->source, name + strlen(opensm), &planner->plan, stderr);
}

static int load_tables(const struct plan_options *options, struct plan_work *work)
{
	struct planner *planner = &work->planner;

	work->from_tables = true;
	*planner = (struct planner){ .fabric = &work->source.fabric,
				     .graph = &work->source.graph,
				     .keep = &work->source.keep,
				     .scratch = &work->source.scratch };
	if (topo_state_init(&work->source.graph.topo, planner->keep, &planner->state) < 0)
		return short_of_memory();
	return lose_all(options, work, &planner->state) == EXIT_DONE &&
			       read_tables(options->tables, work) == 0 ?
		       EXIT_DONE :
		       EXIT_USAGE;
}

int plan_work_plan(const struct plan_options *options, struct plan_work *work)
{
	struct planner_options planner_options;
	struct topo_state after;
	int status;
	double start;
	bool good;

	if (options->tables != NULL)
		return load_tables(options, work);
	status = rules(options, work, &planner_options);
	if (status == EXIT_DONE)
		status = lose_all(options, work, &after);
	if (status != EXIT_DONE)
		return status;
	work->with_turns = true;
	start = cpu_ms();
	good = planner_plan(&work->source.fabric, &work->source.graph, &planner_options,
			    &work->source.keep, &work->source.scratch, &work->planner);
	work->times.plan_ms = cpu_ms() - start;
	if (!good)
		return EXIT_REFUSED;
	return options->fail_count > 0 ? replan(work, &after) : EXIT_DONE;
}

// Rows other than none, and groups that switches have; groups are counted in a bit per switch and
// group, since going through the rows switch by switch would wait for memory.
static int count_tables(struct plan_work *work)
{
	const struct plan *plan = &work->planner.plan;
	struct arena *scratch = &work->source.scratch;
	const size_t mark = arena_mark(scratch);
	const size_t words = plan->group_count / 64 + 1;
	uint64_t *has = arena_take(scratch, plan->switch_count * words, sizeof(*has));

	if (has == NULL)
		return -ENOMEM;
	work->rows = work->groups = 0;
	for (uint32_t e = 0; e < plan->edge_count; e++) {
		const uint16_t *rows = plan_rows(plan, e);

		for (uint32_t s = 0; s < plan->switch_count; s++) {
			const bool counts = plan_is_group(rows[s]) && rows[s] < plan->group_count;
			const uint32_t group = counts ? rows[s] : 0;

			work->rows += rows[s] != PLAN_NONE;
			has[s * words + group / 64] |= (uint64_t)counts << group % 64;
		}
	}
	for (size_t i = 0; i < plan->switch_count * words; i++)
		work->groups += (uint64_t)__builtin_popcountll(has[i]);
	arena_release(scratch, mark);
	return 0;
}

// What goes with the routes.
static int plan_rules(struct plan_work *work)
{
	bool memory_short;

	work->qos_options = source_qos(&work->source, work->verify.lanes);
	work->qos_fits = qos_plan(&work->source.fabric, &work->qos_options, &work->source.scratch,
				  &work->qos, &memory_short);
	if (memory_short)
		return -ENOMEM;
	if (tenants_plan(&work->source.fabric, &work->source.keep, &work->source.scratch,
			 &work->tenants) < 0)
		return -ENOMEM;
	return tenants_check(&work->source.fabric, &work->tenants, &work->source.scratch,
			     &work->tenant_proof);
}

int plan_work_prove(struct plan_work *work)
{
	const struct planner *planner = &work->planner;
	const double start = cpu_ms();
	const int rc = verify_plan(&work->source.graph.topo, &planner->state, &planner->plan,
				   work->with_turns, &work->source.keep, &work->source.scratch,
				   &work->verify);

	work->times.verify_ms = cpu_ms() - start;
	if (rc == -EINVAL) {
		fputs("weft: the rules of turns are not of this fabric\n", stderr);
		return EXIT_USAGE;
	}
	if (rc < 0 || count_tables(work) < 0 || plan_rules(work) < 0)
		return short_of_memory();
	work->good = verify_good(&work->verify) && work->qos_fits &&
		     work->tenant_proof.violations == 0;
	return work->good ? EXIT_DONE : EXIT_REFUSED;
}

bool plan_work_arrives(const struct plan_work *work)
{
	return work->verify.unreachable_pairs == work->verify.parted_pairs;
}

// --- loads ------------------------------------------------------------------------------------

// The hash of each switch as it makes it from its name when nothing else is configured.
static struct hash_profile *hash_profiles(struct plan_work *work)
{
	const struct fabric *fabric = &work->source.fabric;
	struct hash_profile *hash = arena_take(&work->source.keep, fabric->switch_count,
					       sizeof(*hash));

	for (uint32_t i = 0; hash != NULL && i < fabric->switch_count; i++)
		hash[i] = (struct hash_profile){
			.fields = HASH_FIELDS_DEFAULT,
			.seed = (uint32_t)hash_text(fabric->switches[i].name),
			.algorithm = HASH_MIX,
		};
	return hash;
}

static int sample(struct plan_work *work, const struct hash_profile *hash, const uint32_t *to_host,
		  uint32_t qp, uint64_t count, struct plan_sample *result)
{
	struct balance_flows flows;
	const int rc = balance_permutation(&work->source.graph.topo, &work->planner.state,
					   &work->planner.plan, hash, to_host, qp,
					   &work->source.scratch, &flows);

	if (rc < 0)
		return rc;
	result->max_avg += flows.max / (double)count;
	if (flows.max > result->max_worst)
		result->max_worst = flows.max;
	return 0;
}

// What the hashes make of the paths between hosts drawn at random. Pinned groups leave no choice,
// and nothing is sampled.
static int sample_spread(struct plan_work *work, const struct hash_profile *hash, struct rng *rng,
			 uint64_t count)
{
	const struct plan *plan = &work->planner.plan;
	const uint32_t hosts = work->source.graph.topo.host_count;
	struct plan_spread *spread = &work->spread;
	struct balance_spread pair;

	for (uint32_t g = 0; g < plan->group_count; g++) {
		if (plan->group[g].pin != 0)
			return 0;
	}
	*spread = (struct plan_spread){ .worst = 1 };
	for (uint64_t i = 0; i < count && i < SPREAD_PAIRS; i++) {
		const uint32_t from = rng_below(rng, hosts);
		const uint32_t to = (from + 1 + rng_below(rng, hosts - 1)) % hosts;
		const int rc = balance_polarisation(&work->source.graph.topo, &work->planner.state,
						    plan, hash, from, to, SPREAD_FLOWS,
						    &work->source.scratch, &pair);
		double part;

		if (rc < 0)
			return rc;
		if (pair.ideal < 1.5) // one path
			continue;
		part = fmin(1, pair.used / pair.ideal);
		spread->pairs++;
		spread->avg += (part - spread->avg) / spread->pairs;
		spread->worst = fmin(spread->worst, part);
	}
	return 0;
}

static int sample_all(const struct plan_options *options, struct plan_work *work)
{
	const uint32_t hosts = work->source.graph.topo.host_count;
	const struct hash_profile *hash = hash_profiles(work);
	uint32_t *to_host = arena_take_raw(&work->source.keep, hosts, sizeof(*to_host));
	struct rng rng;
	int rc = 0;

	if (hash == NULL || to_host == NULL)
		return short_of_memory();
	if (hosts < 2)
		return EXIT_DONE;
	rng_seed(&rng, options->seed);
	for (uint64_t i = 0; rc == 0 && i < options->permutations; i++) {
		balance_shift(hosts, 1 + (uint32_t)rng_below(&rng, hosts - 1), to_host);
		rc = sample(work, hash, to_host, (uint32_t)i + 1, options->permutations,
			    &work->shift);
		balance_shuffle(&rng, hosts, to_host);
		if (rc == 0)
			rc = sample(work, hash, to_host, (uint32_t)i + 1, options->permutations,
				    &work->random);
	}
	if (rc == 0)
		rc = sample_spread(work, hash, &rng, options->permutations);
	if (rc == -E2BIG)
		fputs("weft: --permutations: a group has more members than a switch takes\n",
		      stderr);
	work->has_samples = rc == 0;
	return rc == -E2BIG ? EXIT_REFUSED : rc < 0 ? short_of_memory() : EXIT_DONE;
}

// One failure of the sweep, planned on a copy: groups that plans before it needed would add up.
static int sweep_one(struct plan_work *work)
{
	const struct topo *topo = &work->source.graph.topo;
	struct arena *keep = &work->source.keep;
	const size_t mark = arena_mark(keep);
	struct planner planner = work->planner;
	struct plan_fault fault;
	bool planned;
	int rc = plan_copy(topo, &work->planner.plan, keep, &planner.plan);

	if (rc == 0)
		rc = topo_state_init(topo, keep, &planner.state);
	if (rc < 0)
		return rc;
	topo_state_copy(topo, &work->planner.state, &planner.state);
	planned = planner_replan(&planner, &work->sweep.state, &fault);
	rc = sweep_judge(&work->sweep, planned ? &planner.plan : NULL, &work->source.scratch);
	arena_release(keep, mark);
	return rc;
}

static int sweep_all(struct plan_work *work)
{
	int rc = sweep_begin(&work->source.graph.topo, &work->planner.state, &work->source.keep,
			     &work->sweep);

	while (rc == 0 && sweep_next(&work->sweep))
		rc = sweep_one(work);
	work->has_sweep = rc == 0;
	return rc < 0 ? short_of_memory() : EXIT_DONE;
}

int plan_work_measure(const struct plan_options *options, struct plan_work *work)
{
	const struct topo *topo = &work->source.graph.topo;
	int status = EXIT_DONE;

	work->load = arena_take(&work->source.keep, topo->link_count, sizeof(*work->load));
	if (work->load == NULL ||
	    balance_all_pairs(topo, &work->planner.state, &work->planner.plan,
			      &work->source.scratch, work->load, &work->balance) < 0)
		return short_of_memory();
	work->has_balance = true;
	if (options->permutations > 0)
		status = sample_all(options, work);
	if (status == EXIT_DONE && options->all_failures && !work->from_tables)
		status = sweep_all(work);
	return status;
}
