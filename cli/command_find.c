// SPDX-License-Identifier: BSD-3-Clause
//
// How words find their row of the command table: alias first, then word by word, where the
// beginning of a word is enough if only one word begins so. The longest row whose words are all
// given wins; a word that fits nowhere gets the nearest one that would.

#include "cli/command.h"

#include <string.h>

#include "sys/nearest.h"

// Words as the table spells them: `count` of `given` fit a row, the rest are values.
struct spelled {
	char word[COMMAND_WORDS_MAX][NEAREST_WORD_BYTES];
	uint32_t count;
};

// The word at position `at` of a row, empty beyond the last; in `out` of NEAREST_WORD_BYTES.
static void word_at(const char *words, uint32_t at, char out[NEAREST_WORD_BYTES])
{
	size_t len;

	for (; at > 0 && *words != '\0'; at--) {
		words += strcspn(words, " ");
		words += *words == ' ';
	}
	len = strcspn(words, " ");
	if (len >= NEAREST_WORD_BYTES)
		len = NEAREST_WORD_BYTES - 1;
	memcpy(out, words, len);
	out[len] = '\0';
}

static bool ends_at(const struct command *command, uint32_t at)
{
	char word[NEAREST_WORD_BYTES];

	word_at(command->words, at, word);
	return word[0] == '\0';
}

// Whether a row begins with all the spelled words.
static bool begins(const struct command *command, const struct spelled *spelled)
{
	char word[NEAREST_WORD_BYTES];

	for (uint32_t i = 0; i < spelled->count; i++) {
		word_at(command->words, i, word);
		if (strcmp(word, spelled->word[i]) != 0)
			return false;
	}
	return true;
}

// --- aliases ------------------------------------------------------------------------------------

static uint32_t alias_words(const struct command_alias *alias, const char *const *words,
			    uint32_t count)
{
	char word[NEAREST_WORD_BYTES];

	for (uint32_t i = 0;; i++) {
		word_at(alias->words, i, word);
		if (word[0] == '\0')
			return i;
		if (i == count || strcmp(word, words[i]) != 0)
			return 0;
	}
}

void command_expand(const char **words, uint32_t *count)
{
	for (uint32_t i = 0; i < command_alias_count; i++) {
		const struct command_alias *alias = &command_aliases[i];
		const uint32_t old = alias_words(alias, words, *count);
		uint32_t new = 0;

		if (old == 0)
			continue;
		while (new < COMMAND_ALIAS_WORDS && alias->to[new] != NULL)
			new ++;
		if (*count - old + new > COMMAND_WORDS_MAX)
			return;
		memmove(words + new, words + old, (*count - old) * sizeof(words[0]));
		memcpy(words, alias->to, new * sizeof(words[0]));
		*count = *count - old + new;
		return;
	}
}

// --- words --------------------------------------------------------------------------------------

uint32_t command_next_words(const char *const *words, uint32_t count,
			    char out[][NEAREST_WORD_BYTES], uint32_t max)
{
	struct spelled spelled = { .count = 0 };
	uint32_t found = 0;

	if (count > COMMAND_WORDS_MAX)
		return 0;
	for (; spelled.count < count; spelled.count++)
		snprintf(spelled.word[spelled.count], NEAREST_WORD_BYTES, "%s",
			 words[spelled.count]);
	for (uint32_t i = 0; i < command_count && found < max; i++) {
		uint32_t known = 0;

		if (!begins(&commands[i], &spelled))
			continue;
		word_at(commands[i].words, count, out[found]);
		while (known < found && strcmp(out[known], out[found]) != 0)
			known++;
		found += known == found && out[found][0] != '\0';
	}
	return found;
}

// Spells `given` out as the one next word that it is or begins. The number of words that it may
// be: 1 when it is one.
static uint32_t spell_word(struct spelled *spelled, const char *given)
{
	const char *words[COMMAND_WORDS_MAX] = { NULL };
	char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES];
	uint32_t count, fitting = 0, fit = 0;

	for (uint32_t i = 0; i < spelled->count; i++)
		words[i] = spelled->word[i];
	count = command_next_words(words, spelled->count, next, COMMAND_NEXT_MAX);
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(next[i], given) == 0) {
			fit = i;
			fitting = 1;
			break;
		}
		if (strncmp(next[i], given, strlen(given)) == 0) {
			fit = i;
			fitting++;
		}
	}
	if (fitting == 1)
		memcpy(spelled->word[spelled->count++], next[fit], NEAREST_WORD_BYTES);
	return fitting;
}

// Says which words the one behind `spelled` may be.
static void complain_several(const char *const *words, const struct spelled *spelled)
{
	const uint32_t at = spelled->count;
	const char *before[COMMAND_WORDS_MAX] = { NULL };
	char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES];
	uint32_t shown = 0;
	uint32_t count;

	fputs("weft:", stderr);
	for (uint32_t i = 0; i < at; i++) {
		before[i] = spelled->word[i];
		fprintf(stderr, " %s", words[i]);
	}
	fprintf(stderr, " %s: may be ", words[at]);
	count = command_next_words(before, at, next, COMMAND_NEXT_MAX);
	for (uint32_t i = 0; i < count; i++) {
		if (strncmp(next[i], words[at], strlen(words[at])) == 0)
			fprintf(stderr, "%s%s", shown++ > 0 ? " or " : "", next[i]);
	}
	fputc('\n', stderr);
}

// Spells words out until one is none of the table's. False after a line on stderr when one may be
// several.
static bool spell(const char *const *words, uint32_t count, struct spelled *spelled)
{
	spelled->count = 0;
	while (spelled->count < count && spelled->count < COMMAND_WORDS_MAX) {
		const uint32_t fitting = spell_word(spelled, words[spelled->count]);

		if (fitting == 0)
			return true;
		if (fitting > 1) {
			complain_several(words, spelled);
			return false;
		}
	}
	return true;
}

// Says that words[at] fits nowhere, and what would.
static void complain_unknown(const char *const *words, const struct spelled *spelled)
{
	const uint32_t at = spelled->count;
	struct nearest near = nearest_to(words[at]);
	char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES];
	const char *before[COMMAND_WORDS_MAX] = { NULL };
	uint32_t count;

	for (uint32_t i = 0; i < at; i++)
		before[i] = spelled->word[i];
	count = command_next_words(before, at, next, COMMAND_NEXT_MAX);
	for (uint32_t i = 0; i < count; i++)
		nearest_offer(&near, next[i]);
	fputs("weft:", stderr);
	for (uint32_t i = 0; i < at; i++)
		fprintf(stderr, " %s", words[i]);
	if (near.best != NULL)
		fprintf(stderr, " %s: unknown; did you mean %s?\n", words[at], near.best);
	else
		fprintf(stderr, " %s: unknown; see weft help\n", words[at]);
}

// --- values -------------------------------------------------------------------------------------

// What a command takes as values of its query.
struct values {
	enum command_takes takes;
	uint32_t least;
	uint32_t most;
	const char *keys;
	const char *usage;
};

static const struct values *values_of(const struct command *command)
{
	static const struct values rows[] = {
		{ TAKES_QUEUE_ON, 3, 3, "port queue on", "PORT QUEUE on|off" },
		{ TAKES_PORT_ON, 2, 2, "port on", "PORT on|off" },
		{ TAKES_PORT_QUEUE, 2, 2, "port queue", "PORT QUEUE" },
		{ TAKES_ON, 1, 1, "on", "on|off" },
		{ TAKES_SEED, 1, 1, "seed", "N" },
		{ TAKES_OBJECT, 1, 1, "object", "SWITCH|SWITCH:PORT" },
		{ TAKES_ENDS, 2, 2, "from to", "FROM TO" },
		{ TAKES_ROUTE, 1, 2, "switch to", "SWITCH [TO]" },
		{ TAKES_INTENT, 1, 1, "file", "FILE" },
		{ TAKES_PLACE, 0, 2, "switch port", "[SWITCH [PORT]]" },
		{ TAKES_NOTHING, 0, 0, "", "" },
	};
	const struct values *row = rows;

	while (row->most > 0 && !(command->takes & row->takes))
		row++;
	return row;
}

const char *command_value_keys(const struct command *command)
{
	return values_of(command)->keys;
}

uint32_t command_value_count(const struct command *command)
{
	return values_of(command)->most;
}

static const char *value_usage(const struct command *command)
{
	return values_of(command)->usage;
}

// One more word than its own.
static bool takes_word(const struct command *command)
{
	return command->takes & (TAKES_PORT | TAKES_PREFIX);
}

// How many words may follow the command's own, beyond those that must.
static uint32_t optional_words(const struct command *command)
{
	return takes_word(command) + ((command->takes & (TAKES_QUEUE | TAKES_DIRECTION)) != 0);
}

// Checks that `count` words behind those of the command are what it takes; false after a line on
// stderr.
static bool check_values(const struct command *command, const char *const *values, uint32_t count)
{
	const struct values *wanted = values_of(command);

	if (count == 0 && (command->takes & (TAKES_ONE_PORT | NEEDS_PORT))) {
		fprintf(stderr, "weft: %s: which port?\n", command->words);
		return false;
	}
	if (wanted->most > 0 && (count < wanted->least || count > wanted->most)) {
		fprintf(stderr, "weft: %s: needs %s\n", command->words, value_usage(command));
		return false;
	}
	if (wanted->most == 0 && count > optional_words(command)) {
		fprintf(stderr, "weft: %s: one word too many: %s\n", command->words,
			values[optional_words(command)]);
		return false;
	}
	return true;
}

uint32_t command_look(const char *const *words, uint32_t count,
		      char next[COMMAND_NEXT_MAX][NEAREST_WORD_BYTES],
		      const struct command **command, uint32_t *values)
{
	const char *known[COMMAND_WORDS_MAX] = { NULL };
	struct spelled spelled = { .count = 0 };

	*command = NULL;
	while (spelled.count < count && spelled.count < COMMAND_WORDS_MAX) {
		const uint32_t fitting = spell_word(&spelled, words[spelled.count]);

		if (fitting > 1)
			return 0;
		if (fitting == 0)
			break;
	}
	*values = count - spelled.count;
	for (uint32_t i = 0; i < command_count && *command == NULL; i++) {
		if (begins(&commands[i], &spelled) && ends_at(&commands[i], spelled.count))
			*command = &commands[i];
	}
	if (*values > 0)
		return 0;
	for (uint32_t i = 0; i < spelled.count; i++)
		known[i] = spelled.word[i];
	return command_next_words(known, spelled.count, next, COMMAND_NEXT_MAX);
}

const struct command *command_find(const char *const *words, uint32_t count,
				   const char *const **values, bool *listed)
{
	const struct command *found = NULL;
	struct spelled spelled;
	bool fits = false;

	*listed = false;
	if (!spell(words, count, &spelled))
		return NULL;
	for (uint32_t i = 0; i < command_count && found == NULL; i++) {
		if (!begins(&commands[i], &spelled))
			continue;
		fits = true;
		if (ends_at(&commands[i], spelled.count))
			found = &commands[i];
	}
	*values = words + spelled.count;
	if (found != NULL)
		return check_values(found, *values, count - spelled.count) ? found : NULL;
	if (fits && spelled.count == count) {
		command_help(words, count, stdout);
		*listed = true;
	} else {
		complain_unknown(words, &spelled);
	}
	return NULL;
}

static const char *word_name(const struct command *command)
{
	if (command->takes & TAKES_PREFIX)
		return "[PREFIX]";
	if (command->takes & TAKES_QUEUE)
		return command->takes & NEEDS_PORT ? "PORT [QUEUE]" : "[PORT [QUEUE]]";
	if (command->takes & TAKES_DIRECTION)
		return "PORT [in|out]";
	if (command->takes & TAKES_ONE_PORT)
		return "PORT";
	return command->takes & TAKES_PORT ? "[PORT]" : "";
}

// Whether help about `count` words is about this row: it begins with them, or is the whole of them
// but for values.
static bool is_about(const struct command *command, const struct spelled *spelled, uint32_t count)
{
	if (!begins(command, spelled))
		return false;
	return spelled->count == count ||
	       (ends_at(command, spelled->count) &&
		(takes_word(command) || command_value_count(command) > 0));
}

bool command_known(const char *const *words, uint32_t count)
{
	struct spelled spelled;

	if (!spell(words, count, &spelled))
		return false;
	for (uint32_t i = 0; i < command_count; i++) {
		if (is_about(&commands[i], &spelled, count))
			return true;
	}
	complain_unknown(words, &spelled);
	return false;
}

void command_help(const char *const *words, uint32_t count, FILE *out)
{
	struct spelled spelled;

	if (!spell(words, count, &spelled))
		return;
	for (uint32_t i = 0; i < command_count; i++) {
		const struct command *command = &commands[i];
		const char *usage = value_usage(command);
		const char *word = word_name(command);
		char line[96];

		if (!is_about(command, &spelled, count))
			continue;
		snprintf(line, sizeof(line), "%s%s%s%s%s", command->words,
			 usage[0] != '\0' ? " " : "", usage, word[0] != '\0' ? " " : "", word);
		fprintf(out, "  weft %-56s %s\n", line, command->help);
	}
}
