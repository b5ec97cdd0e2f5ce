// SPDX-License-Identifier: BSD-3-Clause
//
// Completion from the tables that the commands themselves are run from, so that a new row
// completes by itself. Only candidates that begin as the last word does are printed, and of the
// switch's names only those that a shell takes as they are.

#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/lab_options.h"
#include "cli/options.h"
#include "sys/client.h"

// The command line before the word to complete.
struct before {
	struct options options;
	const char *words[COMMAND_WORDS_MAX];
	uint32_t count;
	const char *option; // whose value comes next, NULL: none
};

static void offer(const char *begun, const char *candidate)
{
	if (strncmp(candidate, begun, strlen(begun)) == 0 && candidate[0] != '\0')
		puts(candidate);
}

static void offer_all(const char *begun, const char *const *candidates, size_t count)
{
	for (size_t i = 0; i < count; i++)
		offer(begun, candidates[i]);
}

static void offer_switches(const char *begun, const char *run_dir)
{
	struct client_names names;

	client_list(run_dir, &names);
	for (uint32_t i = 0; i < names.count; i++)
		offer(begun, names.name[i]);
	offer(begun, "all");
}

// A name that no shell reads as anything else.
static bool is_plain(const char *name)
{
	return name[0] != '\0' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.:/-")] == '\0';
}

static void offer_ports(const char *begun, const struct options *options)
{
	json_t *reply = client_call(&(struct client_request){
		.run_dir = options->run_dir,
		.name = options->name,
		.method = "GET",
		.target = "/v1/stats",
		.quiet = true,
	});
	const json_t *ports = json_object_get(reply, "ports");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const char *name = json_string_value(json_object_get(port, "name"));
		const char *alias = json_string_value(json_object_get(port, "alias"));

		if (name != NULL && is_plain(name))
			offer(begun, name);
		if (alias != NULL && is_plain(alias))
			offer(begun, alias);
	}
	json_decref(reply);
}

static json_t *ask_fabric(const struct options *options, const char *target)
{
	return client_call(&(struct client_request){
		.run_dir = options->run_dir,
		.fabric = true,
		.method = "GET",
		.target = target,
		.quiet = true,
	});
}

// Members of a list of the fabric manager's that are names.
static void offer_names(const char *begun, const json_t *list, const char *key)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *thing = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(thing, key));

		if (name != NULL && is_plain(name))
			offer(begun, name);
	}
}

static void offer_fabric_switches(const char *begun, const struct options *options, bool links)
{
	json_t *topology = ask_fabric(options, "/v1/fabric/topology");

	offer_names(begun, json_object_get(topology, "switches"), "name");
	if (links) {
		offer_names(begun, json_object_get(topology, "links"), "name");
		offer_names(begun, json_object_get(topology, "links"), "peer");
	}
	json_decref(topology);
}

static void offer_ends(const char *begun, const struct options *options)
{
	json_t *hosts = ask_fabric(options, "/v1/fabric/hosts");

	offer_names(begun, json_object_get(hosts, "hosts"), "name");
	json_decref(hosts);
	offer_fabric_switches(begun, options, false);
}

static void offer_option_value(const char *begun, const struct before *before)
{
	static const char *const kinds[] = { "user", "persistent", "periodic" };

	if (strcmp(before->option, "--switch") == 0)
		offer_switches(begun, before->options.run_dir);
	if (strcmp(before->option, "--canary") == 0)
		offer_fabric_switches(begun, &before->options, false);
	if (strcmp(before->option, "--kind") == 0)
		offer_all(begun, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

// The key of the value at place `at` behind the command's own words, "" for none; in `out` of
// NEAREST_WORD_BYTES.
static void key_of(const struct command *command, uint32_t at, char *out)
{
	const char *keys = command_value_keys(command);

	for (; at > 0 && *keys != '\0'; at--) {
		keys += strcspn(keys, " ");
		keys += *keys == ' ';
	}
	snprintf(out, NEAREST_WORD_BYTES, "%.*s", (int)strcspn(keys, " "), keys);
}

static void offer_value(const char *begun, const struct before *before,
			const struct command *command, uint32_t at)
{
	static const char *const queues[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	static const char *const states[] = { "on", "off" };
	const enum command_takes takes = command->takes;
	char key[NEAREST_WORD_BYTES];

	key_of(command, at, key);
	if (strcmp(key, "port") == 0 || (at == 0 && (takes & TAKES_PORT)))
		offer_ports(begun, &before->options);
	if (strcmp(key, "queue") == 0 || (at == 1 && (takes & TAKES_QUEUE)))
		offer_all(begun, queues, sizeof(queues) / sizeof(queues[0]));
	if (strcmp(key, "switch") == 0)
		offer_fabric_switches(begun, &before->options, false);
	if (strcmp(key, "object") == 0)
		offer_fabric_switches(begun, &before->options, true);
	if (strcmp(key, "from") == 0 || strcmp(key, "to") == 0)
		offer_ends(begun, &before->options);
	if (strcmp(key, "on") == 0)
		offer_all(begun, states, sizeof(states) / sizeof(states[0]));
}

// Words that are no rows of the command table, beside config.
static const char *const others[] = { "lab", "plan", "trace" };

static void offer_words(const char *begun, struct before *before)
{
	char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES];
	const struct command *command;
	uint32_t values;
	uint32_t count;

	command_expand(before->words, &before->count);
	count = command_look(before->words, before->count, next, &command, &values);
	for (uint32_t i = 0; i < count; i++)
		offer(begun, next[i]);
	if (before->count == 0)
		offer_all(begun, others, sizeof(others) / sizeof(others[0]));
	if (command != NULL)
		offer_value(begun, before, command, values);
}

static void add_word(struct before *before, const char *word)
{
	if (before->count < COMMAND_WORDS_MAX)
		before->words[before->count++] = word;
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] != '\0';
}

static void read_before(int argc, char **argv, struct before *before)
{
	*before = (struct before){ .options = { .run_dir = OPTIONS_RUN_DIR } };
	for (int i = 0; i < argc; i++) {
		const char *option = is_option(argv[i]) ? options_valued(argv[i]) : NULL;

		if (!is_option(argv[i]))
			add_word(before, argv[i]);
		if (option == NULL)
			continue;
		if (++i == argc) {
			before->option = option;
			return;
		}
		if (strcmp(option, "--switch") == 0)
			before->options.name = argv[i];
		if (strcmp(option, "--run-dir") == 0)
			before->options.run_dir = argv[i];
	}
}

void complete_print(int argc, char **argv)
{
	const char *begun = argc > 0 ? argv[argc - 1] : "";
	struct before before;

	if (argc > 1 && strcmp(argv[0], "lab") == 0) {
		lab_options_offer(begun, (uint32_t)argc - 2, stdout);
		return;
	}
	read_before(argc > 0 ? argc - 1 : 0, argv, &before);
	if (before.option != NULL)
		offer_option_value(begun, &before);
	else if (begun[0] == '-')
		options_offer(begun, stdout);
	else
		offer_words(begun, &before);
}
