// SPDX-License-Identifier: BSD-3-Clause
//
// Options of planning by one table, which the help walks as well. A mistyped one gets a suggestion
// among those that the command has. What fabrics and failures are called is not judged here: that
// takes the fabric.

#include "cli/plan_options.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "sys/nearest.h"

enum option_id {
	OPTION_ENGINE,
	OPTION_FAIL,
	OPTION_TABLES,
	OPTION_DUMP,
	OPTION_CONFIGS,
	OPTION_DRAW,
	OPTION_EXPORT,
	OPTION_PERMUTATIONS,
	OPTION_SEED,
	OPTION_ALL_FAILURES,
	OPTION_QOS,
	OPTION_CHECK,
	OPTION_JSON,
	OPTION_HELP,
};

struct option_row {
	const char *brief;
	const char *name;
	const char *value; // NULL: takes none
	const char *help;
	bool trace; // weft trace has it, too
};

static const struct option_row rows[] = {
	[OPTION_ENGINE] = { "-e", "--engine", "A,B",
			    "engines to try in this order, instead of those of the fabric", true },
	[OPTION_FAIL] = { "-f", "--fail", "WHAT",
			  "lose link:SWITCH:PORT or switch:SWITCH; may be given again", true },
	[OPTION_TABLES] = { "", "--tables", "DIR",
			    "prove these tables instead of planning; also opensm:FILE", true },
	[OPTION_DUMP] = { "", "--dump-tables", "DIR", "write the table of each switch", false },
	[OPTION_CONFIGS] = { "", "--configs", "DIR",
			     "write the configuration of each switch, routes included", false },
	[OPTION_DRAW] = { "", "--draw", "FILE", "draw the fabric with its loads, as SVG", false },
	[OPTION_EXPORT] = { "", "--export", "FILE",
			    "write the fabric to dot:, ibnetdiscover:, json: or containerlab:FILE",
			    false },
	[OPTION_PERMUTATIONS] = { "", "--permutations", "N",
				  "sample as many shifts, and any permutations", false },
	[OPTION_SEED] = { "", "--seed", "N", "of the samples (1)", false },
	[OPTION_ALL_FAILURES] = { "", "--all-failures", NULL,
				  "lose each link and each switch, one at a time", false },
	[OPTION_QOS] = { "", "--qos", NULL, "show priorities, headroom and ECN of ports", false },
	[OPTION_CHECK] = { "", "--check", NULL, "read and check the fabric, plan nothing", false },
	[OPTION_JSON] = { "-j", "--json", NULL, "print JSON", true },
	[OPTION_HELP] = { "-h", "--help", NULL, "print help", true },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static bool allowed(int id, bool trace)
{
	return !trace || rows[id].trace;
}

static int find_row(const char *arg, bool trace)
{
	const size_t len = strcspn(arg, "=");

	for (int i = 0; i < ROW_COUNT; i++) {
		const bool is_name = strlen(rows[i].name) == len &&
				     strncmp(arg, rows[i].name, len) == 0;

		if (allowed(i, trace) && (strcmp(arg, rows[i].brief) == 0 || is_name))
			return i;
	}
	return -1;
}

static int unknown(const char *arg, bool trace)
{
	struct nearest near = nearest_to(arg);

	for (int i = 0; i < ROW_COUNT; i++)
		nearest_offer(&near, allowed(i, trace) ? rows[i].name : "");
	if (near.best != NULL)
		fprintf(stderr, "weft: unknown option %s; did you mean %s?\n", arg, near.best);
	else
		fprintf(stderr, "weft: unknown option %s; see weft %s --help\n", arg,
			trace ? "trace" : "plan");
	return -EINVAL;
}

static int number(const char *option, const char *text, uint64_t least, uint64_t *value)
{
	if (unit_parse(UNIT_COUNT, text, strlen(text), value) && *value >= least)
		return 0;
	fprintf(stderr, "weft: %s %s: not a number\n", option, text);
	return -EINVAL;
}

static int add_fail(struct plan_options *options, const char *what)
{
	if (options->fail_count == PLAN_FAILS_MAX) {
		fprintf(stderr, "weft: --fail: more than %d\n", PLAN_FAILS_MAX);
		return -EINVAL;
	}
	options->fail[options->fail_count++] = what;
	return 0;
}

static int set(struct plan_options *options, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_ENGINE: options->engine = value; break;
	case OPTION_FAIL: return add_fail(options, value);
	case OPTION_TABLES: options->tables = value; break;
	case OPTION_DUMP: options->dump = value; break;
	case OPTION_CONFIGS: options->configs = value; break;
	case OPTION_DRAW: options->draw = value; break;
	case OPTION_EXPORT: options->export = value; break;
	case OPTION_PERMUTATIONS: return number(rows[id].name, value, 1, &options->permutations);
	case OPTION_SEED: return number(rows[id].name, value, 0, &options->seed);
	case OPTION_ALL_FAILURES: options->all_failures = true; break;
	case OPTION_QOS: options->qos = true; break;
	case OPTION_CHECK: options->check = true; break;
	case OPTION_JSON: options->json = true; break;
	case OPTION_HELP: options->help = true; break;
	}
	return 0;
}

static int take_option(int argc, char **argv, int *at, bool trace, struct plan_options *options)
{
	const char *arg = argv[*at];
	const char *value = strchr(arg, '=');
	const int id = find_row(arg, trace);

	if (id < 0)
		return unknown(arg, trace);
	if (rows[id].value == NULL && value != NULL) {
		fprintf(stderr, "weft: option %s takes no value\n", rows[id].name);
		return -EINVAL;
	}
	if (rows[id].value != NULL && value == NULL && *at + 1 == argc) {
		fprintf(stderr, "weft: option %s needs a value: %s\n", arg, rows[id].value);
		return -EINVAL;
	}
	if (rows[id].value != NULL)
		value = value != NULL ? value + 1 : argv[++*at];
	return set(options, (enum option_id)id, value);
}

static int take_word(struct plan_options *options, const char *word, bool trace)
{
	const char **place[] = { &options->fabric, &options->from, &options->to };
	const uint32_t count = trace ? 3 : 1;

	for (uint32_t i = 0; i < count; i++) {
		if (*place[i] == NULL) {
			*place[i] = word;
			return 0;
		}
	}
	fprintf(stderr, "weft: too many words from %s on\n", word);
	return -EINVAL;
}

int plan_options_parse(int argc, char **argv, bool trace, struct plan_options *options)
{
	*options = (struct plan_options){ .seed = 1 };
	for (int i = 0; i < argc; i++) {
		const bool dashed = argv[i][0] == '-' && argv[i][1] != '\0';
		const int rc = dashed ? take_option(argc, argv, &i, trace, options) :
					take_word(options, argv[i], trace);

		if (rc < 0)
			return rc;
	}
	if (options->help)
		return 0;
	if (options->fabric == NULL || (trace && options->to == NULL)) {
		fprintf(stderr, "weft: %s: what is missing is %s; see weft %s --help\n",
			trace ? "trace" : "plan",
			options->fabric == NULL ? "the fabric" : "two hosts or switches",
			trace ? "trace" : "plan");
		return -EINVAL;
	}
	return 0;
}

void plan_options_help(bool trace, FILE *out)
{
	fprintf(out,
		"usage: weft %s\n\n"
		"FABRIC is an intent file, or ibnetdiscover:FILE, dot:FILE or json:FILE.\n\n",
		trace ? "trace FABRIC FROM TO [OPTION]..." : "plan FABRIC [OPTION]...");
	for (int i = 0; i < ROW_COUNT; i++) {
		const char *value = rows[i].value != NULL ? rows[i].value : "";

		if (allowed(i, trace))
			fprintf(out, "  %-3s %-15s %-5s %s\n", rows[i].brief, rows[i].name, value,
				rows[i].help);
	}
	fputs("\nExit status: 0 good; 1 the plan is not: a loop, a cycle of waiting, hosts that "
	      "are connected and\ndo not reach each other, or no engine that can; 2 the command "
	      "line or a file is wrong.\n",
	      out);
}
