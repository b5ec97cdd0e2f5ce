// SPDX-License-Identifier: BSD-3-Clause
//
// Starting a lab and ending it. A start that fails, or is interrupted, ends what it has started
// so far; one that is killed leaves it to `weft lab down`.

#include "cli/lab.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"

enum { READY_SECONDS = 120, LOOK_NS = 50000000, END_SECONDS = 20 };

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static uint64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

// --- switches ---------------------------------------------------------------------------------

struct starter {
	struct lab *lab;
	const struct lab_fabric *fabric;
	char program[LAB_PATH_BYTES];
	char run_dir[LAB_PATH_BYTES];
	char state_dir[LAB_PATH_BYTES];
	char (*config)[LAB_PATH_BYTES]; // of each switch
};

static int start_switches(struct starter *starter, const char *name, uint32_t first, uint32_t count)
{
	struct lab_args args = { .count = 0 };

	lab_args_add(&args, starter->program);
	for (uint32_t i = first; i < first + count; i++) {
		lab_args_add(&args, "-c");
		lab_args_add(&args, starter->config[i]);
	}
	lab_args_add(&args, "--run-dir");
	lab_args_add(&args, starter->run_dir);
	lab_args_add(&args, "--state-dir");
	lab_args_add(&args, starter->state_dir);
	lab_args_add(&args, "--no-huge");
	return lab_process_start(starter->lab, name, &args) < 0 ? EXIT_REFUSED : EXIT_DONE;
}

static int start_all(struct starter *starter)
{
	const struct fabric *own = &starter->fabric->work.source.fabric;
	int status = EXIT_DONE;

	for (uint32_t i = 0; i < own->switch_count; i++) {
		char file[LAB_PATH_BYTES];

		snprintf(file, sizeof(file), "config/%.64s.cfg", own->switches[i].name);
		lab_path(starter->lab, file, starter->config[i]);
	}
	if (!lab_has(starter->lab, "processes"))
		return start_switches(starter, LAB_PROCESS_SWITCHES, 0, own->switch_count);
	for (uint32_t i = 0; status == EXIT_DONE && i < own->switch_count; i++)
		status = start_switches(starter, own->switches[i].name, i, 1);
	return status;
}

// --- the manager ------------------------------------------------------------------------------

static int start_manager(struct lab *lab, const struct lab_fabric *fabric)
{
	char program[LAB_PATH_BYTES], run_dir[LAB_PATH_BYTES], state_dir[LAB_PATH_BYTES];
	struct lab_args args = { .count = 0 };

	if (lab_program("weft-fabricd", program) == NULL)
		return EXIT_USAGE;
	lab_args_add(&args, program);
	lab_args_add(&args, "-i");
	lab_args_add(&args, fabric->path);
	lab_args_add(&args, "--run-dir");
	lab_args_add(&args, lab_path(lab, "run", run_dir));
	lab_args_add(&args, "--state-dir");
	lab_args_add(&args, lab_path(lab, "state/fabric", state_dir));
	return lab_process_start(lab, LAB_PROCESS_MANAGER, &args) < 0 ? EXIT_REFUSED : EXIT_DONE;
}

// Whether the manager's plan is in force on all switches.
static bool is_in_force(const struct lab *lab)
{
	json_t *reply = lab_ask_manager(lab, "/v1/fabric/status");
	const json_t *there = json_object_get(json_object_get(reply, "switches"), "there");
	const json_t *all = json_object_get(json_object_get(reply, "switches"), "all");
	const bool in_force = json_is_true(json_object_get(reply, "in_force")) &&
			      json_integer_value(there) == json_integer_value(all);

	json_decref(reply);
	return in_force;
}

static int wait_in_force(const struct lab *lab, uint64_t until)
{
	while (!interrupted && !is_in_force(lab)) {
		if (!lab_process_lives(lab_process_find(lab, LAB_PROCESS_MANAGER))) {
			fputs("weft: the manager has ended:\n", stderr);
			lab_process_show_log(lab, LAB_PROCESS_MANAGER);
			return EXIT_REFUSED;
		}
		if (now_s() > until) {
			fprintf(stderr,
				"weft: no plan is in force after %d s; weft --run-dir "
				"%s/run fabric errors said why\n",
				READY_SECONDS, lab->dir);
			lab_process_show_log(lab, LAB_PROCESS_MANAGER);
			return EXIT_REFUSED;
		}
		run_wait(LOOK_NS);
	}
	return interrupted ? EXIT_REFUSED : EXIT_DONE;
}

static int launch(struct lab *lab, const struct lab_fabric *fabric)
{
	struct starter starter = { .lab = lab, .fabric = fabric };
	int status = EXIT_USAGE;

	lab_path(lab, "run", starter.run_dir);
	lab_path(lab, "state", starter.state_dir);
	starter.config = calloc(fabric->work.source.fabric.switch_count, LAB_PATH_BYTES);
	if (starter.config != NULL && lab_program("weft-switch", starter.program) != NULL)
		status = lab_has(lab, "manager") ? start_manager(lab, fabric) : EXIT_DONE;
	if (status == EXIT_DONE)
		status = start_all(&starter);
	free(starter.config);
	return status;
}

// --- readiness --------------------------------------------------------------------------------

// Whether a port to another switch is used: it has carrier and, where it sends hellos, they agree.
static bool is_used(const json_t *port)
{
	const json_t *hello = json_object_get(port, "hello");

	if (json_is_object(hello))
		return json_is_true(json_object_get(hello, "used"));
	return json_is_true(json_object_get(port, "link"));
}

// Ports of a switch to others that are not used yet.
static uint32_t missing_ports(const struct fabric *own, uint32_t at, const json_t *ports)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < 2 * own->cable_count; i++) {
		const struct fabric_cable *cable = &own->cables[i / 2];

		if (cable->end_switch[i % 2] == at)
			missing += !is_used(json_array_get(ports, cable->end_port[i % 2]));
	}
	return missing;
}

// Whether a switch answers and uses all ports to other switches.
static bool is_ready(const struct lab *lab, const struct fabric *own, uint32_t at)
{
	json_t *reply = lab_ask(lab, own->switches[at].name, "GET", "/v1/stats");
	const json_t *ports = json_object_get(reply, "ports");
	const bool ready = json_array_size(ports) > 0 && missing_ports(own, at, ports) == 0;

	json_decref(reply);
	return ready;
}

// False after a line when the process has ended by itself.
static bool still_lives(const struct lab *lab, const char *name)
{
	const json_t *process = lab_process_of(lab, name);

	if (lab_process_lives(process))
		return true;
	fprintf(stderr, "weft: the process of switch %s has ended:\n", name);
	lab_process_show_log(lab, json_string_value(json_object_get(process, "name")));
	return false;
}

static int wait_switch(const struct lab *lab, const struct fabric *own, uint32_t at, uint64_t until)
{
	while (!interrupted && !is_ready(lab, own, at)) {
		if (!still_lives(lab, own->switches[at].name))
			return EXIT_REFUSED;
		if (now_s() > until) {
			fprintf(stderr, "weft: switch %s is not ready after %d s\n",
				own->switches[at].name, READY_SECONDS);
			return EXIT_REFUSED;
		}
		run_wait(LOOK_NS);
	}
	return interrupted ? EXIT_REFUSED : EXIT_DONE;
}

static int wait_ready(const struct lab *lab, const struct lab_fabric *fabric)
{
	const struct fabric *own = &fabric->work.source.fabric;
	const uint64_t until = now_s() + READY_SECONDS;
	int status = EXIT_DONE;

	for (uint32_t i = 0; status == EXIT_DONE && i < own->switch_count; i++)
		status = wait_switch(lab, own, i, until);
	return status == EXIT_DONE && lab_has(lab, "manager") ? wait_in_force(lab, until) : status;
}

// --- up and down ------------------------------------------------------------------------------

static int build(struct lab *lab, const struct lab_options *options, struct lab_fabric *fabric)
{
	int status = lab_fabric_write(lab, options->words[0], options->speed_bps);

	if (status == EXIT_DONE)
		status = lab_fabric_open(lab, fabric);
	if (status == EXIT_DONE)
		status = lab_fabric_check(lab, fabric);
	if (status == EXIT_DONE)
		status = lab_fabric_plan(fabric);
	if (status == EXIT_DONE)
		status = lab_fabric_configure(lab, fabric);
	if (status == EXIT_DONE && options->hosts == LAB_HOSTS_NETNS)
		status = lab_netns_make(lab, fabric);
	if (status == EXIT_DONE)
		status = launch(lab, fabric);
	return status == EXIT_DONE ? wait_ready(lab, fabric) : status;
}

static void say_up(const struct lab *lab, const struct lab_fabric *fabric)
{
	const struct fabric *own = &fabric->work.source.fabric;

	printf("Lab %s: %u switches, %u links, %u hosts, in %s\n", lab->name, own->switch_count,
	       own->cable_count, own->host_count, lab->dir);
}

int lab_up(const struct lab_options *options)
{
	struct lab_fabric fabric = { .open = false };
	struct lab lab;
	int status;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
	status = lab_create(options, &lab);
	if (status != EXIT_DONE)
		return status;
	status = build(&lab, options, &fabric);
	if (status == EXIT_DONE)
		say_up(&lab, &fabric);
	else
		lab_end(&lab);
	lab_fabric_close(&fabric);
	lab_close(&lab);
	return status;
}

// The manager and hosts first: what switches say at their end is nobody's business then.
static int end_processes(struct lab *lab)
{
	json_t *list = json_object_get(lab->state, "process");
	int rc = 0;

	for (size_t i = json_array_size(list); i-- > 0;) {
		if (lab_process_end(json_array_get(list, i), true, END_SECONDS) < 0)
			rc = -ETIMEDOUT;
		else
			json_array_remove(list, i);
	}
	return rc;
}

int lab_end(struct lab *lab)
{
	const int ended = end_processes(lab);
	const int removed = lab_netns_remove(lab);

	if (ended == 0 && removed == 0)
		return lab_remove(lab) < 0 ? EXIT_REFUSED : EXIT_DONE;
	lab_save(lab);
	return EXIT_REFUSED;
}

int lab_down(const struct lab_options *options)
{
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	status = lab_end(&lab);
	lab_close(&lab);
	return status;
}
