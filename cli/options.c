// SPDX-License-Identifier: BSD-3-Clause
//
// Options by a table of their own instead of getopt: "-nz" is one option here, as SONiC's users
// type it, and a mistyped option gets a suggestion like any other word.

#include "cli/options.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "sys/nearest.h"

enum option_id {
	OPTION_SWITCH,
	OPTION_RUN_DIR,
	OPTION_JSON,
	OPTION_NONZERO,
	OPTION_CHECK_STORM,
	OPTION_HISTORY,
	OPTION_KIND,
	OPTION_TOTAL,
	OPTION_INTERVAL,
	OPTION_COUNT,
	OPTION_WRITE,
	OPTION_SECONDS,
	OPTION_SNAPLEN,
	OPTION_REASON,
	OPTION_CANARY,
	OPTION_SINCE,
	OPTION_FORCE,
	OPTION_HELP,
	OPTION_VERSION,
};

struct option_row {
	const char *brief;
	const char *name;
	const char *value; // NULL: takes none
	const char *help;
};

static const struct option_row rows[] = {
	[OPTION_SWITCH] = { "-n", "--switch", "NAME", "the switch to ask, if several are running" },
	[OPTION_RUN_DIR] = { "", "--run-dir", "DIR", "where control sockets are (/run/weft)" },
	[OPTION_JSON] = { "-j", "--json", NULL, "print JSON" },
	[OPTION_NONZERO] = { "-nz", "--nonzero", NULL, "leave out rows of zeros" },
	[OPTION_CHECK_STORM] = { "", "--check-storm", NULL,
				 "show pfcwd stats: exit status 1 if a queue is stormed" },
	[OPTION_HISTORY] = { "", "--history", NULL,
			     "show pfc counters: pauses received so far and the newest" },
	[OPTION_KIND] = { "-k", "--kind", "KIND",
			  "watermarks: user, persistent or periodic (user)" },
	[OPTION_TOTAL] = { "", "--total", NULL, "counters with what you have cleared" },
	[OPTION_INTERVAL] = { "-i", "--interval", "TIME",
			      "between two looks, such as 500ms (watch: 1s, else 300ms)" },
	[OPTION_COUNT] = { "-c", "--count", "N",
			   "watch, capture: end after so many; fabric events: the newest" },
	[OPTION_WRITE] = { "-w", "--write", "FILE", "capture: where to, - for a pipe" },
	[OPTION_SECONDS] = { "", "--seconds", "S", "capture: end after so long" },
	[OPTION_SNAPLEN] = { "", "--snaplen", "N", "capture: bytes of each frame (65535)" },
	[OPTION_REASON] = { "", "--reason", "A,B",
			    "capture drops: only these, as in weft show drops" },
	[OPTION_CANARY] = { "", "--canary", "NAME",
			    "fabric apply: this switch first, the others when you confirm" },
	[OPTION_SINCE] = { "", "--since", "N", "fabric events, watch: those behind number N" },
	[OPTION_FORCE] = { "", "--force", NULL, "fabric drain: even if hosts are cut off" },
	[OPTION_HELP] = { "-h", "--help", NULL, "print help" },
	[OPTION_VERSION] = { "-V", "--version", NULL, "print the version" },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

// The row that `arg` names, up to a "=" of its value; -1 when there is none.
static int find_row(const char *arg)
{
	const size_t len = strcspn(arg, "=");

	for (int i = 0; i < ROW_COUNT; i++) {
		if (strcmp(arg, rows[i].brief) == 0 ||
		    (strlen(rows[i].name) == len && strncmp(arg, rows[i].name, len) == 0))
			return i;
	}
	return -1;
}

static int unknown(const char *arg)
{
	struct nearest near = nearest_to(arg);

	for (int i = 0; i < ROW_COUNT; i++)
		nearest_offer(&near, rows[i].name);
	if (near.best != NULL)
		fprintf(stderr, "weft: unknown option %s; did you mean %s?\n", arg, near.best);
	else
		fprintf(stderr, "weft: unknown option %s; see weft help\n", arg);
	return -EINVAL;
}

static void set(struct options *options, enum option_id id, const char *value)
{
	switch (id) {
	case OPTION_SWITCH: options->name = value; break;
	case OPTION_RUN_DIR: options->run_dir = value; break;
	case OPTION_JSON: options->json = true; break;
	case OPTION_NONZERO: options->nonzero = true; break;
	case OPTION_CHECK_STORM: options->check_storm = true; break;
	case OPTION_HISTORY: options->history = true; break;
	case OPTION_KIND: options->kind = value; break;
	case OPTION_TOTAL: options->total = true; break;
	case OPTION_INTERVAL: options->interval = value; break;
	case OPTION_COUNT: options->count = value; break;
	case OPTION_WRITE: options->write = value; break;
	case OPTION_SECONDS: options->seconds = value; break;
	case OPTION_SNAPLEN: options->snaplen = value; break;
	case OPTION_REASON: options->reason = value; break;
	case OPTION_CANARY: options->canary = value; break;
	case OPTION_SINCE: options->since = value; break;
	case OPTION_FORCE: options->force = true; break;
	case OPTION_HELP: options->help = true; break;
	case OPTION_VERSION: options->version = true; break;
	}
}

static bool kind_valid(const char *kind)
{
	return strcmp(kind, "user") == 0 || strcmp(kind, "persistent") == 0 ||
	       strcmp(kind, "periodic") == 0;
}

// Takes argv[*at] and what belongs to it.
static int take_option(int argc, char **argv, int *at, struct options *options)
{
	const char *arg = argv[*at];
	const char *value = strchr(arg, '=');
	const int id = find_row(arg);

	if (id < 0)
		return unknown(arg);
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
	set(options, (enum option_id)id, value);
	return 0;
}

// A plain number is seconds.
static bool parse_interval(const char *text, uint64_t *ns)
{
	uint64_t seconds;

	if (unit_parse(UNIT_NS, text, strlen(text), ns))
		return *ns >= 10000000 && *ns <= 3600000000000;
	if (!unit_parse(UNIT_COUNT, text, strlen(text), &seconds) || seconds < 1 || seconds > 3600)
		return false;
	*ns = seconds * 1000000000;
	return true;
}

// What options say, once all are known.
static int judge(struct options *options)
{
	const char *count = options->count;

	if (!kind_valid(options->kind)) {
		fprintf(stderr, "weft: --kind %s: allowed: user, persistent or periodic\n",
			options->kind);
		return -EINVAL;
	}
	if (options->interval != NULL &&
	    !parse_interval(options->interval, &options->interval_ns)) {
		fprintf(stderr, "weft: --interval %s: allowed: 10ms to 1 hour, as in 500ms\n",
			options->interval);
		return -EINVAL;
	}
	if (count != NULL && (!unit_parse(UNIT_COUNT, count, strlen(count), &options->looks) ||
			      options->looks == 0)) {
		fprintf(stderr, "weft: --count %s: allowed: 1 or more\n", count);
		return -EINVAL;
	}
	return 0;
}

// Whether words are for "config", which takes options of its own.
static bool is_config(const struct options *options)
{
	return options->word_count == 1 && strcmp(options->words[0], "config") == 0;
}

// Options that have their usual meaning behind "config", too.
static bool is_for_all(const char *arg)
{
	const int id = find_row(arg);

	return id == OPTION_SWITCH || id == OPTION_RUN_DIR || id == OPTION_JSON ||
	       id == OPTION_HELP;
}

static int add_word(struct options *options, const char *word)
{
	const bool config = is_config(options);
	const char **list = config ? options->config : options->words;
	uint32_t *count = config ? &options->config_count : &options->word_count;

	if (*count == (config ? (uint32_t)OPTIONS_CONFIG_MAX : (uint32_t)COMMAND_WORDS_MAX)) {
		fprintf(stderr, "weft: too many words from %s on\n", word);
		return -EINVAL;
	}
	list[(*count)++] = word;
	return 0;
}

int options_parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){ .run_dir = OPTIONS_RUN_DIR, .kind = "user" };
	for (int i = 1; i < argc; i++) {
		const bool dashed = argv[i][0] == '-' && argv[i][1] != '\0';
		int rc;

		if (dashed && (!is_config(options) || is_for_all(argv[i])))
			rc = take_option(argc, argv, &i, options);
		else
			rc = add_word(options, argv[i]);
		if (rc < 0)
			return rc;
	}
	return judge(options);
}

const char *options_valued(const char *arg)
{
	const int id = find_row(arg);

	return id >= 0 && rows[id].value != NULL && strchr(arg, '=') == NULL ? rows[id].name : NULL;
}

void options_offer(const char *begun, FILE *out)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		if (strncmp(rows[i].name, begun, strlen(begun)) == 0)
			fprintf(out, "%s\n", rows[i].name);
	}
}

void options_help(FILE *out)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		const struct option_row *row = &rows[i];
		const char *value = row->value != NULL ? row->value : "";

		fprintf(out, "  %-4s %-13s %-5s %s\n", row->brief, row->name, value, row->help);
	}
}
