// SPDX-License-Identifier: BSD-3-Clause
//
// weft: the one command people type. Words choose a row of the command table, the row says what to
// ask the switch, the answer becomes tables.
//
// Exit status: 0 done, 1 the switch refused or is not running, or --check-storm found a storm,
// 2 the command line is wrong.

#include <stdio.h>
#include <string.h>

#include "cli/baseline.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/ports.h"

enum { EXIT_DONE, EXIT_REFUSED, EXIT_USAGE };

static int help(const struct options *options)
{
	const bool named = options->word_count > 0 && strcmp(options->words[0], "help") == 0;

	fputs("usage: weft [OPTION]... WORD...\n\n", stdout);
	command_help(options->words + named, options->word_count - named, stdout);
	fputc('\n', stdout);
	options_help(stdout);
	return EXIT_DONE;
}

static int show(const struct report *report, bool cleared)
{
	if (cleared)
		puts("Counters since you cleared them (--total shows all)\n");
	return out_table(report, stdout);
}

// Makes the last words values of the query: ?port=Ethernet4&queue=3&on=off. False after a line on
// stderr when one has a character that names and numbers do not have.
static bool add_values(const struct command *command, const struct options *options, char *target,
		       size_t size)
{
	const uint32_t count = command_value_count(command);
	const char *key = command_value_keys(command);

	for (uint32_t i = 0; i < count; i++) {
		const char *word = options->words[options->word_count - count + i];
		const size_t key_len = strcspn(key, " ");
		const size_t len = strlen(target);

		if (strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "_.-") != strlen(word) ||
		    len + key_len + strlen(word) + 2 >= size) {
			fprintf(stderr, "weft: %s: %s is no value\n", command->words, word);
			return false;
		}
		snprintf(target + len, size - len, "%c%.*s=%s", i == 0 ? '?' : '&', (int)key_len,
			 key, word);
		key += key_len + 1;
	}
	return true;
}

// The request of a command; false when the word behind it would change its meaning: what no port's
// name and no address may hold.
static bool make_target(const struct command *command, const struct options *options,
			const char *word, char *out, size_t bytes)
{
	const char *kind = command->takes & TAKES_KIND ? options->kind : NULL;
	const char *key = NULL;

	if (word != NULL && command->takes & TAKES_ONE_PORT)
		key = "&port=";
	if (word != NULL && command->takes & TAKES_PREFIX)
		key = "?prefix=";
	if (key != NULL && word[strcspn(word, " \r\n&?#%+")] != '\0')
		return false;
	snprintf(out, bytes, "%s%s%s%s%s", command->target, kind != NULL ? "?watermark=" : "",
		 kind != NULL ? kind : "", key != NULL ? key : "", key != NULL ? word : "");
	return true;
}

static int run(const struct command *command, const struct options *options, const char *word)
{
	const bool is_sent = command->takes & (TAKES_ONE_PORT | TAKES_PREFIX);
	struct query query = {
		.port = is_sent ? NULL : word,
		.kind = options->kind,
		.nonzero = options->nonzero,
		.check_storm = options->check_storm,
		.history = options->history,
	};
	struct report report = { 0 };
	char target[256];
	json_t *reply;
	bool cleared;
	int rc;

	if (!make_target(command, options, word, target, sizeof(target))) {
		fprintf(stderr, "weft: no %s %s; see weft show %s\n",
			command->takes & TAKES_PREFIX ? "prefix" : "port", word,
			command->takes & TAKES_PREFIX ? "route" : "interface");
		return EXIT_REFUSED;
	}
	if (command_value_count(command) > 0 &&
	    !add_values(command, options, target, sizeof(target)))
		return EXIT_USAGE;
	reply = client_call(&(struct client_request){ options->run_dir, options->name,
						      command->method, target });
	if (reply == NULL)
		return EXIT_REFUSED;
	cleared = (command->takes & COUNTS) && !options->total && baseline_apply(reply);
	query.reply = reply;
	rc = port_check(&query);
	if (rc == 0)
		rc = command->run(&query, &report);
	if (rc == 0 && options->json)
		rc = out_json(&report, stdout);
	else if (rc == 0)
		rc = show(&report, cleared);
	report_release(&report);
	json_decref(reply);
	return rc == 0 && !report.alarm ? EXIT_DONE : EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct options options;
	const char *word;
	bool listed;

	if (options_parse(argc, argv, &options) < 0)
		return EXIT_USAGE;
	if (options.version) {
		puts("weft " WEFT_VERSION);
		return EXIT_DONE;
	}
	if (options.help || (options.word_count > 0 && strcmp(options.words[0], "help") == 0))
		return help(&options);
	if (options.word_count == 0) {
		help(&options);
		return EXIT_USAGE;
	}
	command = command_find(options.words, options.word_count, &word, &listed);
	if (command == NULL)
		return listed ? EXIT_DONE : EXIT_USAGE;
	return run(command, &options, word);
}
