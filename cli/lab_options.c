// SPDX-License-Identifier: BSD-3-Clause
//
// Actions and options of labs by one table each, which help and completion walk as well. What is
// handed on to another program (a workload, a command) is not looked at.

#include "cli/lab_options.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "sys/nearest.h"

enum { SPEED_DEFAULT = 100000000, SPEED_MIN = 1000000 };

struct action_row {
	const char *word;
	const char *takes; // in the help
	int least;         // words behind it
	int most;          // 0: no end, they are handed on
	const char *help;
};

static const struct action_row actions[LAB_ACTIONS] = {
	[LAB_UP] = { "up", "FABRIC", 1, 1, "start the switches of a fabric, joined as it says" },
	[LAB_DOWN] = { "down", "", 0, -1, "end all of it, whatever has become of it" },
	[LAB_STATUS] = { "status", "", 0, -1, "what runs, which ports are up, what was lost" },
	[LAB_TRAFFIC] = { "traffic", "WORKLOAD [OPTION]...", 1, 0,
			  "RoCE between its hosts; see weft-traffic --help" },
	[LAB_EXEC] = { "exec", "HOST COMMAND...", 2, 0, "run a command as a host (--hosts netns)" },
	[LAB_CUT] = { "cut", "SWITCH:PORT", 1, 1, "pull a cable" },
	[LAB_HEAL] = { "heal", "SWITCH:PORT", 1, 1, "plug it again" },
	[LAB_KILL] = { "kill", "SWITCH|manager", 1, 1, "end a process, without a word" },
	[LAB_START] = { "start", "SWITCH|manager", 1, 1, "start one again that has ended" },
};

enum option_id {
	OPTION_NAME,
	OPTION_DIR,
	OPTION_SPEED,
	OPTION_HOSTS,
	OPTION_NO_MANAGER,
	OPTION_PROCESSES,
	OPTION_JSON,
	OPTION_HELP,
	OPTIONS,
};

struct option_row {
	const char *brief;
	const char *name;
	const char *value; // NULL: takes none
	const char *help;
	bool of_up; // it says how to make a lab
};

static const struct option_row rows[OPTIONS] = {
	[OPTION_NAME] = { "-n", "--name", "NAME", "of the lab, where there are several (lab)",
			  false },
	[OPTION_DIR] = { "-d", "--dir", "DIR",
			 "of all that it keeps (/run/weft-lab/NAME, or in /tmp)", false },
	[OPTION_SPEED] = { "", "--speed", "RATE",
			   "of its fastest port, others in proportion (100M)", true },
	[OPTION_HOSTS] = { "", "--hosts", "HOW",
			   "memif: hosts are weft-traffic (default); netns: network namespaces",
			   true },
	[OPTION_NO_MANAGER] = { "", "--no-manager", NULL,
				"switches get all routes once, from files", true },
	[OPTION_PROCESSES] = { "", "--processes", NULL, "a process for each switch", true },
	[OPTION_JSON] = { "-j", "--json", NULL, "print JSON (status)", false },
	[OPTION_HELP] = { "-h", "--help", NULL, "print help", false },
};

// --- options ----------------------------------------------------------------------------------

static int find_row(const char *arg)
{
	const size_t len = strcspn(arg, "=");

	for (int i = 0; i < OPTIONS; i++) {
		const bool is_name = strlen(rows[i].name) == len &&
				     strncmp(arg, rows[i].name, len) == 0;

		if (strcmp(arg, rows[i].brief) == 0 || is_name)
			return i;
	}
	return -1;
}

static int unknown(const char *arg)
{
	struct nearest near = nearest_to(arg);

	for (int i = 0; i < OPTIONS; i++)
		nearest_offer(&near, rows[i].name);
	if (near.best != NULL)
		fprintf(stderr, "weft: unknown option %s; did you mean %s?\n", arg, near.best);
	else
		fprintf(stderr, "weft: unknown option %s; see weft lab --help\n", arg);
	return -EINVAL;
}

// Names of labs are names of directories, and part of those of namespaces.
static int set_name(struct lab_options *options, const char *name)
{
	const size_t len = strlen(name);

	if (len == 0 || len > 32 || name[0] == '.' ||
	    name[strspn(name,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")] !=
		    '\0') {
		fprintf(stderr, "weft: --name %s: allowed: up to 32 letters, digits, _, - and .\n",
			name);
		return -EINVAL;
	}
	options->name = name;
	return 0;
}

static int set_speed(struct lab_options *options, const char *text)
{
	if (unit_parse(UNIT_BPS, text, strlen(text), &options->speed_bps) &&
	    options->speed_bps >= SPEED_MIN)
		return 0;
	fprintf(stderr, "weft: --speed %s: not a rate of 1M or more, such as 100M\n", text);
	return -EINVAL;
}

static int set_hosts(struct lab_options *options, const char *text)
{
	options->hosts = strcmp(text, "netns") == 0 ? LAB_HOSTS_NETNS : LAB_HOSTS_MEMIF;
	if (options->hosts == LAB_HOSTS_NETNS || strcmp(text, "memif") == 0)
		return 0;
	fprintf(stderr, "weft: --hosts %s: allowed: memif, netns\n", text);
	return -EINVAL;
}

static int set(struct lab_options *options, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_NAME: return set_name(options, value);
	case OPTION_DIR: options->dir = value; break;
	case OPTION_SPEED: return set_speed(options, value);
	case OPTION_HOSTS: return set_hosts(options, value);
	case OPTION_NO_MANAGER: options->no_manager = true; break;
	case OPTION_PROCESSES: options->processes = true; break;
	case OPTION_JSON: options->json = true; break;
	case OPTION_HELP: options->help = true; break;
	case OPTIONS: break;
	}
	return 0;
}

static int take_option(int argc, char **argv, int *at, struct lab_options *options)
{
	const char *arg = argv[*at];
	const char *value = strchr(arg, '=');
	const int id = find_row(arg);

	if (id < 0)
		return unknown(arg);
	if (rows[id].of_up && options->action != LAB_UP) {
		fprintf(stderr, "weft: option %s is of weft lab up\n", rows[id].name);
		return -EINVAL;
	}
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

// --- the whole line ---------------------------------------------------------------------------

static int find_action(const char *word, enum lab_action *action)
{
	struct nearest near = nearest_to(word);

	for (int i = 0; i < LAB_ACTIONS; i++) {
		*action = (enum lab_action)i;
		if (strcmp(word, actions[i].word) == 0)
			return 0;
		nearest_offer(&near, actions[i].word);
	}
	if (near.best != NULL)
		fprintf(stderr, "weft: lab %s: unknown; did you mean %s?\n", word, near.best);
	else
		fprintf(stderr, "weft: lab %s: unknown; see weft lab --help\n", word);
	return -EINVAL;
}

static int check_words(const struct lab_options *options)
{
	const struct action_row *row = &actions[options->action];
	const int most = row->most < 0 ? 0 : row->most;

	if (options->word_count >= row->least && (row->most == 0 || options->word_count <= most))
		return 0;
	fprintf(stderr, "weft: lab %s: usage: weft lab %s [OPTION]...%s%s\n", row->word, row->word,
		row->takes[0] != '\0' ? " " : "", row->takes);
	return -EINVAL;
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] != '\0';
}

// Where words are handed on, options end at the first of them; elsewhere they may stand anywhere,
// and words are moved together.
static int take_rest(int argc, char **argv, int at, struct lab_options *options)
{
	const bool hands_on = actions[options->action].most == 0;

	options->words = &argv[at];
	for (; at < argc; at++) {
		const bool ends = hands_on && options->word_count > 0;
		const int rc = is_option(argv[at]) && !ends ?
				       take_option(argc, argv, &at, options) :
				       1;

		if (rc < 0)
			return rc;
		if (rc > 0)
			options->words[options->word_count++] = argv[at];
	}
	return 0;
}

int lab_options_parse(int argc, char **argv, struct lab_options *options)
{
	int at = 0;
	int rc = 0;

	*options = (struct lab_options){ .speed_bps = SPEED_DEFAULT };
	for (; at < argc && is_option(argv[at]) && rc == 0; at++)
		rc = take_option(argc, argv, &at, options);
	if (rc < 0 || options->help)
		return rc;
	if (at == argc) {
		fputs("weft: lab: what is missing is what to do; see weft lab --help\n", stderr);
		return -EINVAL;
	}
	rc = find_action(argv[at], &options->action);
	if (rc == 0)
		rc = take_rest(argc, argv, at + 1, options);
	if (rc < 0 || options->help)
		return rc;
	return check_words(options);
}

// --- help -------------------------------------------------------------------------------------

void lab_options_help(FILE *out)
{
	fputs("usage: weft lab ACTION [OPTION]... [WORD]...\n\n", out);
	for (int i = 0; i < LAB_ACTIONS; i++) {
		const struct action_row *row = &actions[i];

		fprintf(out, "  weft lab %-8s%-23s %s\n", row->word, row->takes, row->help);
	}
	fputs("\nFABRIC is an intent file.\n\n", out);
	for (int i = 0; i < OPTIONS; i++) {
		const char *value = rows[i].value != NULL ? rows[i].value : "";

		fprintf(out, "  %-3s %-12s %-5s %s%s\n", rows[i].brief, rows[i].name, value,
			rows[i].of_up ? "up: " : "", rows[i].help);
	}
	fputs("\nExit status: 0 done; 1 something did not start, or has ended by itself; 2 the "
	      "command line or a\nfile is wrong; 3 there is no such lab; traffic and exec end as "
	      "the program that they run.\n",
	      out);
}

void lab_options_offer(const char *begun, uint32_t at, FILE *out)
{
	for (int i = 0; at == 0 && i < LAB_ACTIONS; i++) {
		if (strncmp(actions[i].word, begun, strlen(begun)) == 0)
			fprintf(out, "%s\n", actions[i].word);
	}
	for (int i = 0; begun[0] == '-' && i < OPTIONS; i++) {
		if (strncmp(rows[i].name, begun, strlen(begun)) == 0)
			fprintf(out, "%s\n", rows[i].name);
	}
}
