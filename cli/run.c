// SPDX-License-Identifier: BSD-3-Clause
//
// One command: its words become requests, the answers become tables, for one switch or, with
// -n all, for each that runs. Tables of several switches have a line with the name above them; in
// JSON they are members of one object.

#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/baseline.h"
#include "cli/fabric_watch.h"
#include "cli/ports.h"
#include "cli/target.h"
#include "cli/watch.h"
#include "sys/client.h"
#include "sys/file_read.h"

enum { TARGET_BYTES = 256, INTENT_BYTES = 16 << 20 };

// A command on its way: what it asks, and where.
struct running {
	const struct command *command;
	const struct options *options;
	const char *const *values; // words behind the command's own
	uint32_t value_count;
	const char *name; // of the switch, NULL: the only one
	char target[TARGET_BYTES];
	char *body; // of the request, NULL: none
	struct report report;
	bool cleared; // counters that are shown have been cleared by the user
};

// Makes the words behind those of the command values of the query: ?port=Ethernet4&on=on. False
// after a line on stderr when one cannot be a value.
static bool add_values(struct running *run)
{
	const uint32_t count = command_value_count(run->command);
	const char *key = command_value_keys(run->command);

	for (uint32_t i = 0; i < count && i < run->value_count; i++) {
		const size_t len = strcspn(key, " ");
		char name[16];

		snprintf(name, sizeof(name), "%.*s", (int)len, key);
		if (!target_add(run->target, TARGET_BYTES, name, run->values[i]))
			return false;
		key += len + 1;
	}
	return true;
}

static const char *first_value(const struct running *run)
{
	return run->value_count > 0 ? run->values[0] : NULL;
}

// The kind of watermark that the command is about, NULL: none.
static const char *kind_of(const struct running *run)
{
	if (run->command->takes & TAKES_PERSISTENT)
		return "persistent";
	return run->command->takes & TAKES_KIND ? run->options->kind : NULL;
}

// What a command for the fabric manager has beside values: what options say, and the intent, which
// goes as it is with the name of its file. False after a line on stderr.
static bool add_fabric(struct running *run)
{
	const struct options *options = run->options;
	const struct {
		const char *key;
		const char *value;
	} said[] = { { "since", options->since },
		     { "count", options->count },
		     { "canary", options->canary },
		     { "force", options->force ? "1" : NULL } };
	const char *path = first_value(run);
	const char *slash;
	size_t bytes;
	int rc;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (said[i].value != NULL &&
		    !target_add(run->target, TARGET_BYTES, said[i].key, said[i].value))
			return false;
	}
	if (!(run->command->takes & TAKES_INTENT))
		return true;
	slash = strrchr(path, '/');
	if (!target_add(run->target, TARGET_BYTES, "name", slash != NULL ? slash + 1 : path))
		return false;
	rc = file_read(path, INTENT_BYTES, &run->body, &bytes);
	if (rc == 0)
		return true;
	fprintf(stderr, "weft: %s: %s\n", path,
		rc == -ENOTSUP ? "not a regular file" : strerror(-rc));
	return false;
}

// The request of a command. False after a line on stderr when a word cannot be a value of it.
static bool make_target(struct running *run)
{
	const enum command_takes takes = run->command->takes;
	const char *kind = kind_of(run);
	const char *word = first_value(run);

	snprintf(run->target, TARGET_BYTES, "%s", run->command->target);
	if (kind != NULL && !target_add(run->target, TARGET_BYTES, "watermark", kind))
		return false;
	if (word != NULL && takes & (TAKES_ONE_PORT | TAKES_PREFIX) &&
	    !target_add(run->target, TARGET_BYTES, takes & TAKES_PREFIX ? "prefix" : "port", word))
		return false;
	if (!(takes & TAKES_INTENT) && !add_values(run))
		return false;
	return !(takes & ASKS_FABRIC) || add_fabric(run);
}

int run_status(enum client_fault fault)
{
	switch (fault) {
	case CLIENT_REFUSED: break;
	case CLIENT_ABSENT: return EXIT_ABSENT;
	case CLIENT_DENIED: return EXIT_DENIED;
	}
	return EXIT_REFUSED;
}

json_t *run_ask(const struct options *options, const char *name, const char *method,
		const char *target, int *status)
{
	return run_ask_with(options, name, method, target, NULL, status);
}

static json_t *call(struct client_request request, int *status)
{
	enum client_fault fault = CLIENT_REFUSED;
	json_t *reply;

	request.fault = &fault;
	reply = client_call(&request);
	if (reply == NULL)
		*status = run_status(fault);
	return reply;
}

json_t *run_ask_with(const struct options *options, const char *name, const char *method,
		     const char *target, const char *body, int *status)
{
	return call((struct client_request){ .run_dir = options->run_dir,
					     .name = name,
					     .method = method,
					     .target = target,
					     .body = body },
		    status);
}

void run_wait(uint64_t ns)
{
	struct timespec left = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&left, NULL);
}

// The second target of a command, NULL: it has none.
static const char *also_of(const struct command *command)
{
	if (command->takes & ALSO_QOS)
		return "/v1/qos";
	if (command->takes & ALSO_ROCE)
		return "/v1/roce";
	return command->takes & ALSO_ACL ? "/v1/acl" : NULL;
}

// One look: the answer and that of the second target. An exit status.
static int look(const struct running *run, json_t **reply, json_t **also)
{
	const struct command *command = run->command;
	int status = EXIT_DONE;

	*reply = call((struct client_request){ .run_dir = run->options->run_dir,
					       .name = run->name,
					       .fabric = command->takes & ASKS_FABRIC,
					       .method = command->method,
					       .target = run->target,
					       .body = run->body },
		      &status);
	if (*reply != NULL && also_of(command) != NULL)
		*also = run_ask(run->options, run->name, "GET", also_of(command), &status);
	return status;
}

// Fills the query with answers; an exit status.
static int ask(const struct running *run, struct query *query)
{
	const uint64_t interval = run->options->interval_ns;
	int status = EXIT_DONE;

	if (run->command->takes & TWICE) {
		status = look(run, &query->before, &query->also_before);
		if (status != EXIT_DONE)
			return status;
		run_wait(interval != 0 ? interval : 300000000);
	}
	if (run->command->takes & ALSO_LLDP)
		query->lldp = client_call(&(struct client_request){
			.run_dir = run->options->run_dir,
			.name = run->name,
			.method = "GET",
			.target = "/v1/lldp",
			.quiet = true,
		});
	return look(run, &query->reply, &query->also);
}

static int show(struct running *run, struct query *query)
{
	const uint32_t counts = (uint32_t)(run->command->takes & COUNTS) >> COUNTS_SHIFT;
	int rc = port_check(query);

	if (rc == 0 && counts != 0 && !run->options->total) {
		run->cleared = (baseline_apply(query->reply) & counts) != 0;
		baseline_apply(query->before);
	}
	if (rc == 0)
		rc = run->command->run(query, &run->report);
	if (rc == 0 && run->command->takes & ASKS_FABRIC)
		run->report.raw = json_incref(query->reply);
	if (rc < 0)
		report_release(&run->report);
	if (rc == -EINVAL)
		return EXIT_USAGE;
	return rc == 0 && !run->report.alarm ? EXIT_DONE : EXIT_REFUSED;
}

// Runs the command on one switch and leaves its tables in the report. An exit status.
static int run_on(struct running *run)
{
	const struct options *options = run->options;
	const enum command_takes takes = run->command->takes;
	const bool is_port = (takes & TAKES_PORT) && !(takes & TAKES_ONE_PORT);
	struct query query = {
		.port = is_port ? first_value(run) : NULL,
		.queue = is_port && run->value_count > 1 ? run->values[1] : NULL,
		.kind = kind_of(run),
		.nonzero = options->nonzero,
		.check_storm = options->check_storm,
		.history = options->history,
	};
	int status = ask(run, &query);

	if (status == EXIT_DONE)
		status = show(run, &query);
	json_decref(query.reply);
	json_decref(query.before);
	json_decref(query.also);
	json_decref(query.also_before);
	json_decref(query.lldp);
	return status;
}

static void print(const struct running *run)
{
	if (run->cleared)
		puts("Counters since you cleared them (--total shows all)\n");
	out_table(&run->report, stdout);
}

// Every switch that runs, or the one that was named; the worst exit status of them.
static int run_all(struct running *run, const struct client_names *names)
{
	json_t *whole = json_object();
	int worst = EXIT_DONE;

	for (uint32_t i = 0; i < names->count; i++) {
		int status;

		run->name = names->name[i];
		run->cleared = false;
		if (!run->options->json) {
			printf("%sSwitch %s\n\n", i > 0 ? "\n" : "", run->name);
			fflush(stdout);
		}
		status = run_on(run);
		if (status > worst)
			worst = status;
		json_object_set_new(whole, run->name, report_json(&run->report));
		if (!run->options->json)
			print(run);
		report_release(&run->report);
	}
	if (run->options->json && (json_dumpf(whole, stdout, JSON_INDENT(2)) < 0 || puts("") < 0))
		worst = EXIT_REFUSED;
	json_decref(whole);
	return worst;
}

static int run_single(struct running *run)
{
	int status;

	run->name = run->options->name;
	status = run_on(run);
	if (run->report.table_count > 0 && run->options->json)
		out_json(&run->report, stdout);
	else if (run->report.table_count > 0)
		print(run);
	report_release(&run->report);
	return ferror(stdout) ? EXIT_REFUSED : status;
}

int run_command(const struct command *command, const struct options *options,
		const char *const *values, uint32_t value_count)
{
	struct running run = {
		.command = command,
		.options = options,
		.values = values,
		.value_count = value_count,
	};
	struct client_names names;
	int status;

	if (command->takes & LOOPS && command->takes & ASKS_FABRIC)
		return fabric_watch_run(options);
	if (command->takes & LOOPS)
		return watch_run(command, options, first_value(&run));
	if (!make_target(&run))
		return EXIT_USAGE;
	if (command->takes & ASKS_FABRIC) {
		status = run_single(&run);
		free(run.body);
		return status;
	}
	if (options->name != NULL && strcmp(options->name, "all") == 0 &&
	    client_list(options->run_dir, &names) == 0 && names.count > 0)
		return run_all(&run, &names);
	return run_single(&run);
}
