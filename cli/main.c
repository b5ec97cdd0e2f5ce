// SPDX-License-Identifier: BSD-3-Clause
//
// weft: the one command people type. Words choose a row of the command table, the row says what to
// ask the switch, the answer becomes tables.
//
// Exit statuses are in cli/run.h, and weft help prints them.

#include <stdio.h>
#include <string.h>

#include "cli/capture.h"
#include "cli/complete.h"
#include "cli/config.h"
#include "cli/lab.h"
#include "cli/pki.h"
#include "cli/plan.h"
#include "cli/run.h"

// Words with a command line of their own.
static const struct {
	const char *words;
	const char *help;
	int (*run)(int argc, char **argv); // what follows the first word; NULL: not from here
} apart[] = {
	{ "config ...", "change a running switch; see weft config", NULL },
	{ "plan FABRIC ...", "routes of a fabric, proven and measured; see weft plan --help",
	  plan_run },
	{ "trace FABRIC FROM TO ...", "every path between two hosts of a fabric", trace_run },
	{ "lab ...", "a whole fabric on this machine; see weft lab --help", lab_run },
	{ "pki WORD DIR ...", "certificates of a lab; see weft pki --help", pki_run },
};

enum { APART_COUNT = sizeof(apart) / sizeof(apart[0]) };

static int (*find_apart(const char *word))(int argc, char **argv)
{
	const size_t bytes = strlen(word);

	for (uint32_t i = 0; i < APART_COUNT; i++) {
		if (strncmp(apart[i].words, word, bytes) == 0 && apart[i].words[bytes] == ' ')
			return apart[i].run;
	}
	return NULL;
}

// Help about words, be they behind "help" or before --help.
static int help(struct options *options)
{
	const char **words = options->words;
	bool config;

	if (options->word_count > 0 && strcmp(words[0], "help") == 0)
		memmove(words, words + 1, --options->word_count * sizeof(words[0]));
	config = options->word_count > 0 && strcmp(words[0], "config") == 0;
	command_expand(words, &options->word_count);
	if (!config && !command_known(words, options->word_count))
		return EXIT_USAGE;
	fputs("usage: weft [OPTION]... WORD...\n\n", stdout);
	if (config)
		config_help(words + 1, options->word_count - 1, stdout);
	else
		command_help(words, options->word_count, stdout);
	for (uint32_t i = 0; i < APART_COUNT && options->word_count == 0; i++)
		fprintf(stdout, "  weft %-56s %s\n", apart[i].words, apart[i].help);
	fputc('\n', stdout);
	options_help(stdout);
	fputs("\nWords may be cut short while it is clear which one is meant.\n"
	      "Exit status: 0 done; 1 the switch or the fabric manager refused, show why or fabric "
	      "errors found something\nwrong, or --check-storm a storm; 2 the command line is "
	      "wrong; 3 no such switch, or no fabric manager, is\nrunning; 4 no permission.\n",
	      stdout);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct options options;
	const char *const *values;
	uint32_t value_count;
	bool listed;

	if (argc > 2 && strcmp(argv[1], "complete") == 0 && strcmp(argv[2], "--") == 0) {
		complete_print(argc - 3, argv + 3);
		return EXIT_DONE;
	}
	if (argc > 1 && find_apart(argv[1]) != NULL)
		return find_apart(argv[1])(argc - 2, argv + 2);
	if (options_parse(argc, argv, &options) < 0)
		return EXIT_USAGE;
	if (options.version) {
		puts("weft " WEFT_VERSION);
		return EXIT_DONE;
	}
	if (options.word_count == 1 && strcmp(options.words[0], "config") == 0)
		return config_run(&options);
	if (options.help || (options.word_count > 0 && strcmp(options.words[0], "help") == 0))
		return help(&options);
	if (options.word_count == 0) {
		help(&options);
		return EXIT_USAGE;
	}
	command_expand(options.words, &options.word_count);
	command = command_find(options.words, options.word_count, &values, &listed);
	if (command == NULL)
		return listed ? EXIT_DONE : EXIT_USAGE;
	value_count = (uint32_t)(options.words + options.word_count - values);
	if (command->takes & CAPTURES)
		return capture_run(command, &options, values, value_count);
	return run_command(command, &options, values, value_count);
}
