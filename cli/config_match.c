// SPDX-License-Identifier: BSD-3-Clause
//
// Matches words with the rows of config_shapes.c and puts the values into their edits. The first
// row that all words fit wins; when none does, the rows that share most of their leading words are
// shown.

#include "cli/config_shapes.h"

#include <errno.h>
#include <string.h>

#include "cli/config_edits.h"
#include "sys/nearest.h"

enum { VALUES_MAX = 16, SETTINGS_MAX = 24, WORDS_MAX = 64, TEXT_BYTES = 512 };

struct text {
	const char *at;
	size_t len;
};

struct value {
	struct text name;
	const char *text;
};

// One row with the words that were given.
struct match {
	const struct config_shape *shape;
	struct value value[VALUES_MAX];
	uint32_t value_count;
	char setting[SETTINGS_MAX][TEXT_BYTES];
	uint32_t setting_count;
	uint32_t literals;   // leading words that fitted
	const char *unknown; // an option that the row does not have
	bool whole;
};

// The next part of `text` up to one of `ends`, or nothing at its end; *text moves behind it.
static struct text next_part(const char **text, const char *ends)
{
	struct text part = { *text, strcspn(*text, ends) };

	*text += part.len;
	*text += **text != '\0';
	return part;
}

static bool text_is(struct text text, const char *word)
{
	return strlen(word) == text.len && memcmp(word, text.at, text.len) == 0;
}

// True when the word is one of "a|b".
static bool is_one_of(struct text alternatives, const char *word)
{
	const char *end = alternatives.at + alternatives.len;

	for (const char *at = alternatives.at; at < end;) {
		const struct text one = { at, strcspn(at, "| ") };

		if (text_is(one, word))
			return true;
		at += one.len + 1;
	}
	return false;
}

static bool is_value_name(struct text word)
{
	return word.len > 0 && word.at[0] >= 'A' && word.at[0] <= 'Z';
}

static bool is_plain_number(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static bool put_value(struct match *m, struct text name, const char *text)
{
	if (m->value_count == VALUES_MAX)
		return false;
	m->value[m->value_count++] = (struct value){ name, text };
	return true;
}

// --- options ----------------------------------------------------------------------------------

// An option of a row: "--action,-a:action:ms".
struct option {
	struct text names;
	struct text to; // "@PROFILE", "@U=1", "knob" or "knob=value"
	struct text unit;
};

static bool next_option(const char **options, struct option *out)
{
	struct text spec;
	const char *at;

	*options += strspn(*options, " ");
	spec = next_part(options, " ");
	if (spec.len == 0)
		return false;
	at = spec.at;
	out->names = next_part(&at, ": ");
	out->to = (struct text){ at, strcspn(at, ": ") };
	at += out->to.len;
	out->unit = (struct text){ at, 0 };
	if (*at == ':')
		out->unit = (struct text){ at + 1, strcspn(at + 1, " ") };
	return true;
}

static bool has_name(const struct option *option, struct text name)
{
	const char *end = option->names.at + option->names.len;

	for (const char *at = option->names.at; at < end;) {
		const size_t len = strcspn(at, ",: ");

		if (len == name.len && memcmp(at, name.at, len) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

static bool takes_value(const struct option *option)
{
	return memchr(option->to.at, '=', option->to.len) == NULL;
}

// Takes an option with its value, if it has one.
static bool put_option(struct match *m, const struct option *option, const char *value)
{
	const bool is_plain = value != NULL && is_plain_number(value);
	const struct text unit = { option->unit.at, is_plain ? option->unit.len : 0 };
	const char *text = value != NULL ? value : "";
	int len;

	if (option->to.at[0] == '@') {
		const char *name = option->to.at + 1;

		return put_value(m, (struct text){ name, strcspn(name, "=: ") }, text);
	}
	if (m->setting_count == SETTINGS_MAX)
		return false;
	len = snprintf(m->setting[m->setting_count++], TEXT_BYTES, "%.*s%s%s%.*s",
		       (int)option->to.len, option->to.at, value != NULL ? "=" : "", text,
		       (int)unit.len, unit.at);
	return len < TEXT_BYTES;
}

// Takes words[*at] as an option, and the word behind it when that is its value.
static bool take_option(struct match *m, const char *const *words, uint32_t count, uint32_t *at)
{
	const char *options = m->shape->options;
	const char *equals = strchr(words[*at], '=');
	const struct text name = { words[*at], strcspn(words[*at], "=") };
	struct option option;

	while (next_option(&options, &option)) {
		if (!has_name(&option, name))
			continue;
		if (!takes_value(&option))
			return equals == NULL && put_option(m, &option, NULL);
		if (equals != NULL)
			return put_option(m, &option, equals + 1);
		return ++*at < count && put_option(m, &option, words[*at]);
	}
	m->unknown = words[*at];
	return false;
}

static const char *find_value(const struct match *m, struct text name)
{
	for (uint32_t i = 0; i < m->value_count; i++) {
		if (m->value[i].name.len == name.len &&
		    memcmp(m->value[i].name.at, name.at, name.len) == 0)
			return m->value[i].text;
	}
	return NULL;
}

static bool has_required(const struct match *m)
{
	const char *options = m->shape->options;
	struct option option;

	while (next_option(&options, &option)) {
		const char *name = option.to.at + 1;

		if (option.to.at[0] == '@' &&
		    find_value(m, (struct text){ name, strcspn(name, "=: ") }) == NULL)
			return false;
	}
	return true;
}

// --- matching ---------------------------------------------------------------------------------

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9');
}

// Takes a word that is no option: a literal, or a value.
static bool take_word(struct match *m, struct text wanted, const char *word)
{
	if (is_value_name(wanted))
		return put_value(m, wanted, word);
	if (wanted.len == 0 || !is_one_of(wanted, word))
		return false;
	m->literals++;
	return true;
}

static void match_shape(struct match *m, const struct config_shape *shape, const char *const *words,
			uint32_t count)
{
	const char *pattern = shape->words;
	bool good = true;

	*m = (struct match){ .shape = shape };
	for (uint32_t i = 0; good && i < count; i++) {
		if (is_option(words[i]))
			good = take_option(m, words, count, &i);
		else
			good = take_word(m, next_part(&pattern, " "), words[i]);
	}
	m->whole = good && *pattern == '\0' && has_required(m);
}

// --- edits ------------------------------------------------------------------------------------

// Puts the values into a word of an edit; false when it gets too long.
static bool expand(const struct match *m, struct text word, char out[TEXT_BYTES])
{
	const char *at = word.at;
	const char *end = word.at + word.len;
	size_t len = 0;

	while (at < end && len < TEXT_BYTES) {
		const struct text name = { at + 1, strcspn(at + 1, ":}") };
		const char *unit = name.at + name.len + 1;
		const char *close = memchr(at, '}', (size_t)(end - at));
		const char *value;

		if (*at != '{' || close == NULL) {
			out[len++] = *at++;
			continue;
		}
		value = find_value(m, name);
		if (value == NULL)
			return false;
		len += (size_t)snprintf(
			out + len, TEXT_BYTES - len, "%s%.*s", value,
			is_plain_number(value) && unit < close ? (int)(close - unit) : 0, unit);
		at = close + 1;
	}
	if (len >= TEXT_BYTES)
		return false;
	out[len] = '\0';
	return true;
}

// One edit of the row; `first` gets the settings of options.
static int append_edit(const struct match *m, struct text edit, bool first, json_t *edits)
{
	static char text[WORDS_MAX][TEXT_BYTES];
	const char *words[WORDS_MAX];
	const char *at = edit.at;
	uint32_t count = 0;

	while (at < edit.at + edit.len && count < WORDS_MAX - SETTINGS_MAX) {
		if (!expand(m, next_part(&at, " "), text[count])) {
			fputs("weft: config: a value is too long\n", stderr);
			return -EINVAL;
		}
		words[count] = text[count];
		count++;
	}
	for (uint32_t i = 0; first && i < m->setting_count; i++)
		words[count++] = m->setting[i];
	return config_edit_words(words, count, edits);
}

static int append_edits(const struct match *m, json_t *edits)
{
	const char *at = m->shape->edits;
	bool first = true;
	int rc = 0;

	while (rc == 0 && *at != '\0') {
		const char *end = strstr(at, " ; ");
		const size_t len = end != NULL ? (size_t)(end - at) : strlen(at);

		rc = append_edit(m, (struct text){ at, len }, first, edits);
		first = false;
		at += len + (end != NULL ? 3 : 0);
	}
	return rc;
}

// --- words that fit no row --------------------------------------------------------------------

static void print_shape(const struct config_shape *shape, FILE *out)
{
	const char *options = shape->options;
	struct option option;

	fprintf(out, "  weft config %s", shape->words);
	while (next_option(&options, &option)) {
		const bool must = option.to.at[0] == '@';
		const size_t len = strcspn(option.names.at, ",: ");

		fprintf(out, " %s%.*s%s%s", must ? "" : "[", (int)len, option.names.at,
			takes_value(&option) ? " X" : "", must ? "" : "]");
	}
	fprintf(out, "\n        %s\n", shape->help);
}

// Leading words of a row that the given ones are.
static uint32_t leading(const struct config_shape *shape, const char *const *words, uint32_t count)
{
	const char *pattern = shape->words;
	uint32_t i = 0;

	for (; i < count; i++) {
		const struct text wanted = next_part(&pattern, " ");

		if (wanted.len == 0 || is_value_name(wanted) || !is_one_of(wanted, words[i]))
			break;
	}
	return i;
}

uint32_t config_shape_help(const char *const *words, uint32_t count, FILE *out)
{
	uint32_t printed = 0;

	for (uint32_t i = 0; i < config_shape_count; i++) {
		if (leading(&config_shapes[i], words, count) != count)
			continue;
		print_shape(&config_shapes[i], out);
		printed++;
	}
	return printed;
}

static int complain(const char *const *words, uint32_t count, uint32_t depth, const char *unknown)
{
	struct nearest near = nearest_to(words[0]);
	char best[NEAREST_WORD_BYTES] = "";

	for (uint32_t i = 0; depth == 0 && i < config_shape_count; i++) {
		const char *at = config_shapes[i].words;
		const struct text word = next_part(&at, " |");
		char text[NEAREST_WORD_BYTES];

		snprintf(text, sizeof(text), "%.*s", (int)word.len, word.at);
		nearest_offer(&near, text);
		if (near.best == text) {
			memcpy(best, text, sizeof(best));
			near.best = best;
		}
	}
	if (depth == 0 && near.best != NULL)
		fprintf(stderr, "weft: config %s: unknown; did you mean %s?\n", words[0], best);
	else if (depth == 0)
		fprintf(stderr, "weft: config %s: unknown; see weft config\n", words[0]);
	if (depth == 0)
		return -EINVAL;
	if (unknown != NULL)
		fprintf(stderr, "weft: config: option %s does not belong here; it is\n", unknown);
	else
		fputs("weft: config: the words do not fit; it is\n", stderr);
	config_shape_help(words, depth, stderr);
	return -EINVAL;
}

int config_shape_words(const char *const *words, uint32_t count, json_t *edits)
{
	const char *unknown = NULL;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < config_shape_count; i++) {
		static struct match m;
		const uint32_t lead = leading(&config_shapes[i], words, count);

		match_shape(&m, &config_shapes[i], words, count);
		if (m.whole)
			return append_edits(&m, edits);
		if (lead > depth || (lead == depth && unknown == NULL))
			unknown = m.unknown;
		if (lead > depth)
			depth = lead;
	}
	if (depth == count)
		return -ENOENT;
	return complain(words, count, depth, unknown);
}
