// SPDX-License-Identifier: BSD-3-Clause
//
// Labs from the command line: one function for each action. What breaks things on purpose (cut,
// heal, kill) is here, too.

#include "cli/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/target.h"

enum {
	TARGET_BYTES = 192,
	BODY_BYTES = 256,
	LOOK_NS = 10000000,
	SEEN_LOOKS = 1000,
	START_LOOKS = 6000
};

int lab_run(int argc, char **argv)
{
	struct lab_options options;

	if (lab_options_parse(argc, argv, &options) < 0)
		return EXIT_USAGE;
	if (options.help) {
		lab_options_help(stdout);
		return EXIT_DONE;
	}
	switch (options.action) {
	case LAB_UP: return lab_up(&options);
	case LAB_DOWN: return lab_down(&options);
	case LAB_STATUS: return lab_status(&options);
	case LAB_TRAFFIC: return lab_traffic(&options);
	case LAB_EXEC: return lab_exec(&options);
	case LAB_CUT:
	case LAB_HEAL: return lab_link(&options);
	case LAB_KILL:
	case LAB_START: return lab_kill(&options);
	case LAB_ACTIONS: break;
	}
	return EXIT_USAGE;
}

json_t *lab_ask(const struct lab *lab, const char *name, const char *method, const char *target)
{
	char run_dir[LAB_PATH_BYTES];

	return client_call(&(struct client_request){ .run_dir = lab_path(lab, "run", run_dir),
						     .name = name,
						     .method = method,
						     .target = target,
						     .quiet = true });
}

json_t *lab_process_of(const struct lab *lab, const char *name)
{
	return lab_process_find(lab, lab_has(lab, "processes") ? name : LAB_PROCESS_SWITCHES);
}

// --- cables -----------------------------------------------------------------------------------

// A link in memory is cut as a whole.
static int cut_link(const struct lab *lab, const struct lab_cable *cable, bool cut)
{
	char run_dir[LAB_PATH_BYTES];
	char target[TARGET_BYTES] = "/v1/link";
	const struct client_request request = {
		.run_dir = lab_path(lab, "run", run_dir),
		.name = cable->name[0],
		.method = "POST",
		.target = target,
	};
	json_t *reply = NULL;

	if (target_add(target, sizeof(target), cut ? "cut" : "heal", "1") &&
	    target_add(target, sizeof(target), "port", cable->port[0]))
		reply = client_call(&request);
	json_decref(reply);
	return reply != NULL ? EXIT_DONE : EXIT_REFUSED;
}

// Where a device is in between, each end is told that its port is down.
static int set_admin(const struct lab *lab, const char *name, const char *port, bool up)
{
	char run_dir[LAB_PATH_BYTES], body[BODY_BYTES];
	const struct client_request request = {
		.run_dir = lab_path(lab, "run", run_dir),
		.name = name,
		.method = "POST",
		.target = "/v1/config",
		.body = body,
	};
	json_t *reply;

	snprintf(body, sizeof(body),
		 "{\"edits\":[{\"op\":\"set\",\"table\":\"port\",\"key\":[\"%.63s\"],"
		 "\"knobs\":{\"admin\":\"%s\"}}],\"force\":true}",
		 port, up ? "true" : "false");
	reply = client_call(&request);
	json_decref(reply);
	return reply != NULL ? EXIT_DONE : EXIT_REFUSED;
}

// Whether the port has a link now; false also when its switch does not answer.
static bool has_link(const struct lab *lab, const char *name, const char *port, bool link)
{
	json_t *reply = lab_ask(lab, name, "GET", "/v1/stats");
	bool found = false;
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(reply, "ports"), i, one) {
		const char *own = json_string_value(json_object_get(one, "name"));

		if (own != NULL && strcmp(own, port) == 0)
			found = json_is_true(json_object_get(one, "link")) == link;
	}
	json_decref(reply);
	return found;
}

// Both ends see it before the command ends. Who plugs a cable in may have to wait for the other.
static int wait_seen(const struct lab *lab, const struct lab_cable *cable, bool link)
{
	uint32_t looks = 0;

	for (int i = 0; i < 2 && cable->name[i] != NULL; i++) {
		while (!has_link(lab, cable->name[i], cable->port[i], link) && looks++ < SEEN_LOOKS)
			run_wait(LOOK_NS);
		if (looks > SEEN_LOOKS) {
			fprintf(stderr, "weft: %s:%s does not notice\n", cable->name[i],
				cable->port[i]);
			return EXIT_REFUSED;
		}
	}
	return EXIT_DONE;
}

static int set_cable(const struct lab *lab, const struct lab_cable *cable, bool cut)
{
	const bool to_host = cable->name[1] == NULL;
	int status = EXIT_DONE;

	if (!to_host && !lab_has(lab, "processes")) {
		status = cut_link(lab, cable, cut);
	} else {
		for (int i = 0; i < 2 && cable->name[i] != NULL; i++) {
			const int one = set_admin(lab, cable->name[i], cable->port[i], !cut);

			status = one != EXIT_DONE ? one : status;
		}
	}
	// A host comes when it wants to.
	return status == EXIT_DONE && (cut || !to_host) ? wait_seen(lab, cable, !cut) : status;
}

int lab_link(const struct lab_options *options)
{
	struct lab_fabric fabric = { .open = false };
	struct lab_cable cable;
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	status = lab_fabric_open(&lab, &fabric);
	if (status == EXIT_DONE)
		status = lab_fabric_find_cable(&fabric, options->words[0], &cable);
	if (status == EXIT_DONE)
		status = set_cable(&lab, &cable, options->action == LAB_CUT);
	lab_fabric_close(&fabric);
	lab_close(&lab);
	return status;
}

// --- processes --------------------------------------------------------------------------------

static json_t *find_process(const struct lab *lab, const char *name)
{
	json_t *process = lab_process_find(lab, name);

	if (process == NULL)
		process = lab_process_find(lab, LAB_PROCESS_SWITCHES);
	if (process == NULL ||
	    (strcmp(name, LAB_PROCESS_MANAGER) == 0 && !lab_has(lab, "manager"))) {
		fprintf(stderr, "weft: %s: the lab has no process of that name\n", name);
		return NULL;
	}
	if (strcmp(json_string_value(json_object_get(process, "name")), name) == 0)
		return process;
	fprintf(stderr,
		"weft: %s: all switches are one process, called %s; --processes: one each\n", name,
		LAB_PROCESS_SWITCHES);
	return NULL;
}

json_t *lab_ask_manager(const struct lab *lab, const char *target)
{
	char run_dir[LAB_PATH_BYTES];

	return client_call(&(struct client_request){ .run_dir = lab_path(lab, "run", run_dir),
						     .fabric = true,
						     .method = "GET",
						     .target = target,
						     .quiet = true });
}

static bool answers(const struct lab *lab, const char *name)
{
	const bool manager = strcmp(name, LAB_PROCESS_MANAGER) == 0;
	json_t *reply = manager ? lab_ask_manager(lab, "/v1/fabric/status") :
				  lab_ask(lab, name, "GET", "/v1/lcore");
	const bool there = reply != NULL;

	json_decref(reply);
	return there;
}

// It ends when the process answers. That of all switches has no socket of its own.
static int start(struct lab *lab, json_t *process, const char *name)
{
	if (lab_process_restart(lab, process) < 0)
		return EXIT_REFUSED;
	if (strcmp(name, LAB_PROCESS_SWITCHES) == 0)
		return EXIT_DONE;
	for (uint32_t i = 0; i < START_LOOKS; i++) {
		if (answers(lab, name))
			return EXIT_DONE;
		if (!lab_process_lives(lab_process_find(lab, name)))
			break;
		run_wait(LOOK_NS);
	}
	fprintf(stderr, "weft: %s does not answer:\n", name);
	lab_process_show_log(lab, name);
	return EXIT_REFUSED;
}

static int kill_or_start(struct lab *lab, const char *name, bool starts)
{
	json_t *process = find_process(lab, name);

	if (process == NULL)
		return EXIT_USAGE;
	if (starts == lab_process_lives(process)) {
		fprintf(stderr, "weft: %s %s already\n", name, starts ? "runs" : "has ended");
		return EXIT_REFUSED;
	}
	if (starts && strcmp(name, LAB_PROCESS_TRAFFIC) == 0) {
		fputs("weft: traffic has ended; weft lab traffic starts some\n", stderr);
		return EXIT_REFUSED;
	}
	if (starts)
		return start(lab, process, name);
	return lab_process_end(process, false, 0) < 0 ? EXIT_REFUSED : EXIT_DONE;
}

int lab_kill(const struct lab_options *options)
{
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	status = kill_or_start(&lab, options->words[0], options->action == LAB_START);
	lab_close(&lab);
	return status;
}

// --- hosts ------------------------------------------------------------------------------------

// Becomes the program, once that stands in the state: it is ended with the lab.
static int become(struct lab *lab, const struct lab_args *args)
{
	if (args->count > LAB_ARGS_MAX) {
		fputs("weft: more words than a command line has\n", stderr);
		return EXIT_USAGE;
	}
	if (lab_process_note_self(lab, LAB_PROCESS_TRAFFIC) < 0)
		return EXIT_REFUSED;
	lab_unlock(lab);
	execvp(args->word[0], (char *const *)args->word);
	fprintf(stderr, "weft: %s: %s\n", args->word[0], strerror(errno));
	return EXIT_USAGE;
}

int lab_traffic(const struct lab_options *options)
{
	char program[LAB_PATH_BYTES], file[LAB_PATH_BYTES];
	struct lab_args args = { .count = 0 };
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	status = EXIT_USAGE;
	if (lab_has_netns(&lab)) {
		fputs("weft: hosts of this lab are namespaces; weft lab exec HOST runs commands "
		      "there\n",
		      stderr);
	} else if (lab_program("weft-traffic", program) != NULL) {
		lab_args_add(&args, program);
		lab_args_add(&args, "-c");
		lab_args_add(&args, lab_path(&lab, "hosts.cfg", file));
		for (int i = 0; i < options->word_count; i++)
			lab_args_add(&args, options->words[i]);
		status = become(&lab, &args);
	}
	lab_close(&lab);
	return status;
}

static int exec_in(struct lab *lab, const struct lab_fabric *fabric,
		   const struct lab_options *options)
{
	const uint32_t host = lab_fabric_find_host(fabric, options->words[0]);
	struct lab_args args = { .count = 0 };
	struct lab_netns netns;

	if (host == FABRIC_NONE)
		return EXIT_USAGE;
	lab_fabric_netns(lab, fabric, fabric->work.source.fabric.hosts[host].first_port, &netns);
	lab_args_add(&args, "ip");
	lab_args_add(&args, "netns");
	lab_args_add(&args, "exec");
	lab_args_add(&args, netns.name);
	for (int i = 1; i < options->word_count; i++)
		lab_args_add(&args, options->words[i]);
	return become(lab, &args);
}

int lab_exec(const struct lab_options *options)
{
	struct lab_fabric fabric = { .open = false };
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	if (!lab_has_netns(&lab)) {
		fputs("weft: hosts of this lab are weft-traffic; --hosts netns makes namespaces\n",
		      stderr);
		status = EXIT_USAGE;
	}
	if (status == EXIT_DONE)
		status = lab_fabric_open(&lab, &fabric);
	if (status == EXIT_DONE)
		status = exec_in(&lab, &fabric, options);
	lab_fabric_close(&fabric);
	lab_close(&lab);
	return status;
}
