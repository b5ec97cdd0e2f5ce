// SPDX-License-Identifier: BSD-3-Clause
//
// weft-traffic: RoCEv2 hosts in software that do a workload to each other and report on it. Starts
// in order, unwinds in reverse; the exit status says whether all was well.
//
// A signal ends the job, not the process: what was measured is printed.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/options.h"
#include "traffic/perftest_run.h"
#include "traffic/replay_run.h"
#include "traffic/run.h"
#include "traffic/verbs_run.h"

enum { EXIT_WRONG = 2 }; // command line, scenario or port

static void stop(int sig)
{
	run_stop = sig;
}

static void catch_signals(void)
{
	// A second one ends the process at once.
	const struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	// nohup has it ignored.
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int print(struct run *run)
{
	struct report report = { 0 };
	int status = EXIT_FAILURE;

	if (run_report(run, &report) == 0)
		status = report_print(run->config, &report);
	else
		fputs("weft-traffic: out of memory\n", stderr);
	report_free(&report);
	return status;
}

int main(int argc, char **argv)
{
	static struct traffic_config config;
	static struct run run;
	int status = EXIT_WRONG;

	// Who reads the output may go, as a peer may: that is an error like any other.
	signal(SIGPIPE, SIG_IGN);
	switch (options_parse(&config, argc, argv, stdout, stderr)) {
	case OPTIONS_DONE: return report_end(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	case OPTIONS_WRONG: return EXIT_WRONG;
	case OPTIONS_RUN: break;
	}
	catch_signals();
	if (config.run.workload == TRAFFIC_PERFTEST)
		return perftest_run(&config, &run_stop);
	if (config.run.workload == TRAFFIC_REPLAY)
		return replay_run(&config, &run_stop);
	if (config.run.verbs[0] != '\0')
		return verbs_run(&config, &run_stop);
	if (run_open(&run, &config) == 0) {
		const int rc = run_job(&run);

		if (rc == 0)
			status = print(&run);
		else if (rc == -EINTR)
			status = EXIT_FAILURE;
	}
	run_close(&run);
	return status;
}
