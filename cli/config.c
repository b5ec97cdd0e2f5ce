// SPDX-License-Identifier: BSD-3-Clause
//
// weft config: sorts the words into options of the change and an edit, or one of the requests that
// need none, and shows what the switch answers.

#include "cli/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config_edits.h"
#include "cli/config_shapes.h"
#include "cli/run.h"

enum { WORDS_MAX = OPTIONS_CONFIG_MAX };

// Requests without edits.
struct request {
	const char *word;
	const char *method;
	const char *target;
	const char *saved; // target with --saved, NULL: has none
	const char *takes; // key of the query that one more word is for, "" for none
	const char *help;
};

static const struct request requests[] = {
	{ "show", "GET", "/v1/config?", "/v1/config?saved=1&", "table",
	  "what runs, or one table of it, every knob" },
	{ "diff", "GET", "/v1/config?diff=file", "/v1/config?diff=saved", "",
	  "what leads from the configuration file to what runs" },
	{ "save", "POST", "/v1/config?save=1", NULL, "", "keep what runs over a restart" },
	{ "confirm", "POST", "/v1/config?confirm=1", NULL, "",
	  "keep a change made with --confirm" },
	{ "rollback", "POST", "/v1/config?rollback=1", NULL, "",
	  "take a change made with --confirm back" },
	{ "reload", "POST", "/v1/config?reload=1", NULL, "", "take the configuration file anew" },
};

static const char *const edit_help[][2] = {
	{ "set TABLE KEY... KNOB=VALUE...", "change a row; KNOB+=VALUE and -= change a set" },
	{ "set KNOB=VALUE...", "change the switch itself" },
	{ "unset TABLE KEY... KNOB[,KNOB]...", "back to the default" },
	{ "add TABLE KEY... KNOB=VALUE... [before KEY...]", "a new row" },
	{ "put TABLE KEY... KNOB=VALUE...", "a row, new or not" },
	{ "remove TABLE KEY...", "a row" },
	{ "clear TABLE [KEY...]", "every such row" },
};

// What the words ask for.
struct asked {
	const char *words[WORDS_MAX]; // without the options below
	uint32_t count;
	bool force;
	bool dry_run;
	bool saved;
	uint32_t confirm_s;
};

void config_help(const char *const *words, uint32_t count, FILE *out)
{
	for (size_t i = 0; count == 0 && i < sizeof(requests) / sizeof(requests[0]); i++)
		fprintf(out, "  weft config %-9s%-8s%-10s %s\n", requests[i].word,
			requests[i].takes[0] != '\0' ? "[TABLE]" : "",
			requests[i].saved != NULL ? "[--saved]" : "", requests[i].help);
	for (size_t i = 0; count == 0 && i < sizeof(edit_help) / sizeof(edit_help[0]); i++)
		fprintf(out, "  weft config %s\n        %s\n", edit_help[i][0], edit_help[i][1]);
	config_shape_help(words, count, out);
	if (count == 0)
		fputs("\nA change takes --dry-run (only say what it would do), --force (also when "
		      "packets would be\ndropped) and --confirm SECONDS (back unless weft config "
		      "confirm comes in time).\n",
		      out);
}

static int take_confirm(struct asked *asked, const char *text)
{
	char *end = NULL;
	const long seconds = text != NULL ? strtol(text, &end, 10) : 0;

	if (text == NULL || end == text || *end != '\0' || seconds < 1 || seconds > 3600) {
		fputs("weft: config: --confirm takes 1 to 3600 seconds\n", stderr);
		return -EINVAL;
	}
	asked->confirm_s = (uint32_t)seconds;
	return 0;
}

static int sort_words(const struct options *options, struct asked *asked)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < options->config_count; i++) {
		const char *word = options->config[i];

		if (strcmp(word, "--force") == 0)
			asked->force = true;
		else if (strcmp(word, "--dry-run") == 0)
			asked->dry_run = true;
		else if (strcmp(word, "--saved") == 0)
			asked->saved = true;
		else if (strncmp(word, "--confirm=", 10) == 0)
			rc = take_confirm(asked, word + 10);
		else if (strcmp(word, "--confirm") == 0)
			rc = take_confirm(asked,
					  ++i < options->config_count ? options->config[i] : NULL);
		else
			asked->words[asked->count++] = word;
	}
	return rc;
}

// The body of a change; takes `edits`, which may be NULL.
static char *make_body(const struct asked *asked, json_t *edits)
{
	json_t *body = json_pack("{s:b, s:b}", "force", asked->force, "dry_run", asked->dry_run);
	char *text;

	if (asked->confirm_s > 0)
		json_object_set_new(body, "confirm_s", json_integer(asked->confirm_s));
	if (edits != NULL)
		json_object_set_new(body, "edits", edits);
	text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

static void print_lines(const char *before, const json_t *lines, const char *start)
{
	const size_t count = json_array_size(lines);

	if (count > 0 && before[0] != '\0')
		puts(before);
	for (size_t i = 0; i < count; i++)
		printf("%s%s\n", start, json_string_value(json_array_get(lines, i)));
}

static const char *member(const json_t *reply, const char *key)
{
	return json_string_value(json_object_get(reply, key));
}

static void print_change(const struct asked *asked, const json_t *reply)
{
	const json_t *changes = json_object_get(reply, "changes");
	const json_t *drops = json_object_get(reply, "drops");
	const json_t *confirm = json_object_get(reply, "confirm_s");

	if (json_is_array(changes) && json_array_size(changes) == 0)
		puts("nothing changes");
	print_lines(asked->dry_run ? "It would change:" : "", changes, asked->dry_run ? "  " : "");
	print_lines(asked->dry_run ? "It would drop:" : "In spite of:", drops, "  ");
	if (confirm != NULL)
		printf("Taken back in %lld s unless weft config confirm comes before.\n",
		       (long long)json_integer_value(confirm));
}

static void print_reply(const struct asked *asked, const json_t *reply)
{
	if (member(reply, "text") != NULL)
		fputs(member(reply, "text"), stdout);
	if (member(reply, "done") != NULL)
		puts(member(reply, "done"));
	if (member(reply, "saved") != NULL)
		printf("saved to %s\n", member(reply, "saved"));
	if (member(reply, "warning") != NULL)
		fprintf(stderr, "weft: %s\n", member(reply, "warning"));
	print_change(asked, reply);
}

// Asks the switch and prints its answer. Takes the body.
static int ask(const struct options *options, const struct asked *asked, const char *method,
	       const char *target, char *body)
{
	int status = EXIT_DONE;
	json_t *reply = run_ask_with(options, options->name, method, target, body, &status);

	free(body);
	if (reply == NULL)
		return status;
	if (options->json)
		json_dumpf(reply, stdout, JSON_INDENT(2)) == 0 ? puts("") : 0;
	else
		print_reply(asked, reply);
	json_decref(reply);
	return ferror(stdout) ? EXIT_REFUSED : EXIT_DONE;
}

static bool is_plain(const char *word)
{
	return strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(word);
}

static int run_request(const struct options *options, const struct asked *asked,
		       const struct request *request)
{
	const bool is_post = strcmp(request->method, "POST") == 0;
	const bool takes_word = request->takes[0] != '\0';
	const char *base = asked->saved ? request->saved : request->target;
	char target[128];

	if (asked->count > 1u + takes_word) {
		fprintf(stderr, "weft: config %s: one word too many: %s\n", request->word,
			asked->words[1 + takes_word]);
		return EXIT_USAGE;
	}
	if (base == NULL) {
		fprintf(stderr, "weft: config %s: takes no --saved\n", request->word);
		return EXIT_USAGE;
	}
	snprintf(target, sizeof(target), "%s", base);
	if (asked->count > 1 && (!is_plain(asked->words[1]) || strlen(asked->words[1]) > 40)) {
		fprintf(stderr, "weft: config %s: %s is no table\n", request->word,
			asked->words[1]);
		return EXIT_USAGE;
	}
	if (asked->count > 1)
		snprintf(target, sizeof(target), "%s%s=%s", base, request->takes, asked->words[1]);
	return ask(options, asked, request->method, target,
		   is_post ? make_body(asked, NULL) : NULL);
}

static int run_edits(const struct options *options, const struct asked *asked)
{
	json_t *edits = json_array();
	int rc;

	if (config_is_edit(asked->words[0]))
		rc = config_edit_words(asked->words, asked->count, edits);
	else
		rc = config_shape_words(asked->words, asked->count, edits);
	if (rc == 0)
		return ask(options, asked, "POST", "/v1/config", make_body(asked, edits));
	json_decref(edits);
	if (rc == -ENOENT)
		config_help(asked->words, asked->count, stdout);
	return rc == -ENOENT ? EXIT_DONE : EXIT_USAGE;
}

int config_run(const struct options *options)
{
	struct asked asked = { 0 };

	if (sort_words(options, &asked) != 0)
		return EXIT_USAGE;
	if (options->help || asked.count == 0) {
		config_help(asked.words, asked.count, stdout);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(asked.words[0], requests[i].word) == 0)
			return run_request(options, &asked, &requests[i]);
	}
	return run_edits(options, &asked);
}
