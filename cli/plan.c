// SPDX-License-Identifier: BSD-3-Clause
//
// The order of weft plan: open, plan, prove, measure, write files, print. A plan that is not good
// is printed as far as it goes, and its files are written: they help to see why.

#include "cli/plan.h"

#include <errno.h>
#include <string.h>

#include "cli/plan_configs.h"
#include "cli/plan_show.h"
#include "cli/plan_work.h"
#include "cli/run.h"
#include "fabricmgr/draw.h"
#include "fabricmgr/export.h"
#include "fabricmgr/tables.h"

static int draw(const struct plan_options *options, const struct plan_work *work)
{
	struct fabric_graph graph = work->source.graph;
	FILE *out = fopen(options->draw, "we");
	int rc = -errno;

	// What is lost is drawn as such.
	graph.state = work->planner.state;
	if (out != NULL) {
		rc = draw_svg(&work->source.fabric, &graph, work->has_balance ? work->load : NULL,
			      out);
		if (fclose(out) != 0 && rc == 0)
			rc = -errno;
	}
	if (rc < 0)
		fprintf(stderr, "weft: %s: %s\n", options->draw, strerror(-rc));
	return rc < 0 ? EXIT_USAGE : EXIT_DONE;
}

static int write_files(const struct plan_options *options, const struct plan_work *work)
{
	int status = EXIT_DONE;

	if (options->draw != NULL)
		status = draw(options, work);
	if (options->dump != NULL &&
	    tables_dump(&work->planner, &work->tenants, options->dump, stderr) < 0)
		status = EXIT_USAGE;
	if (options->configs != NULL && plan_configs_write(options->configs, work) != EXIT_DONE)
		status = EXIT_USAGE;
	return status;
}

static int run(const struct plan_options *options, struct plan_work *work)
{
	int status = plan_work_plan(options, work);
	int written = EXIT_DONE;

	if (status == EXIT_DONE) {
		status = plan_work_prove(work);
		if (status == EXIT_DONE)
			status = plan_work_measure(options, work);
		else if (status == EXIT_REFUSED && plan_work_arrives(work) &&
			 plan_work_measure(options, work) == EXIT_USAGE)
			status = EXIT_USAGE;
		if (status == EXIT_DONE || status == EXIT_REFUSED)
			written = write_files(options, work);
	}
	if (status == EXIT_DONE || status == EXIT_REFUSED)
		status = plan_show(options, work) < 0 ? (int)EXIT_USAGE : status;
	return written != EXIT_DONE ? written : status;
}

int plan_run(int argc, char **argv)
{
	struct plan_options options;
	struct plan_work work;
	int status;

	if (plan_options_parse(argc, argv, false, &options) < 0)
		return EXIT_USAGE;
	if (options.help) {
		plan_options_help(false, stdout);
		return EXIT_DONE;
	}
	status = plan_work_open(&options, &work);
	if (status == EXIT_DONE && options.export != NULL &&
	    export_file(&work.source.fabric, options.export, stderr) < 0)
		status = EXIT_USAGE;
	if (status == EXIT_DONE && options.check)
		plan_show_check(&options, &work);
	else if (status == EXIT_DONE)
		status = run(&options, &work);
	plan_work_close(&work);
	return status;
}
