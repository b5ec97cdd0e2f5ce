// SPDX-License-Identifier: BSD-3-Clause
//
// One edit on the command line is up to three of the control socket: what is set, what goes into
// sets and what comes out of them, in this order. A word is a setting when it begins with what a
// knob may be called and an operator; any other word before the first setting belongs to the key.

#include "cli/config_edits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operator{
	OPERATOR_SET,
	OPERATOR_INCLUDE,
	OPERATOR_EXCLUDE,
	OPERATOR_COUNT,
};

static const char *const verbs[] = { "set", "add", "put", "unset", "remove", "clear" };

struct parts {
	const char *op;
	const char *table;
	json_t *key;
	json_t *before; // NULL: not given
	json_t *knobs[OPERATOR_COUNT];
};

bool config_is_edit(const char *word)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(word, verbs[i]) == 0)
			return true;
	}
	return false;
}

// Bytes of the knob's name in a setting, 0 when the word is none.
static size_t setting_name(const char *word, enum operator* operator, const char ** value)
{
	const size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const bool is_member = word[len] == '+' || word[len] == '-';

	if (len == 0 || word[len + is_member] != '=')
		return 0;
	*operator= OPERATOR_SET;
	if (is_member)
		*operator= word[len] == '+' ? OPERATOR_INCLUDE : OPERATOR_EXCLUDE;
	*value = word + len + is_member + 1;
	return len;
}

static bool is_setting(const char *word)
{
	enum operator operator;
	const char *value;

	return setting_name(word, &operator, & value) > 0;
}

static int complain(const char *what, const char *word)
{
	fprintf(stderr, "weft: config: %s%s%s\n", what, word[0] != '\0' ? ": " : "", word);
	return -EINVAL;
}

// Text that is no UTF-8 has no place in JSON, nor has it in a configuration.
static int append_text(json_t *list, const char *text)
{
	if (json_array_append_new(list, json_string(text)) == 0)
		return 0;
	return complain("not UTF-8", text);
}

static int put_setting(struct parts *parts, const char *word)
{
	enum operator operator= OPERATOR_SET;
	const char *value = NULL;
	const size_t len = setting_name(word, &operator, & value);
	char name[64];

	if (len == 0)
		return complain("not of the form KNOB=VALUE", word);
	if (len >= sizeof(name))
		return complain("no knob has such a name", word);
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	if (json_object_get(parts->knobs[operator], name) != NULL)
		return complain("the knob is given twice", name);
	if (json_object_set_new(parts->knobs[operator], name, json_string(value)) != 0)
		return complain("not UTF-8", word);
	return 0;
}

// Knobs that go back to their defaults: "mtu,alias".
static int put_unset(struct parts *parts, const char *word)
{
	char *copy = strdup(word);
	char *rest = copy;
	int rc = 0;

	for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
		if (json_object_set_new(parts->knobs[OPERATOR_SET], name, json_null()) != 0)
			rc = complain("not UTF-8", word);
	}
	free(copy);
	return rc;
}

// The words behind the table: the key, then settings, then perhaps where the row goes.
static int take_words(struct parts *parts, const char *const *words, uint32_t count)
{
	const bool is_unset = strcmp(parts->op, "unset") == 0;
	const uint32_t end = is_unset && count > 0 ? count - 1 : count;
	uint32_t i = 0;
	int rc = 0;

	for (; rc == 0 && i < end && !is_setting(words[i]); i++)
		rc = append_text(parts->key, words[i]);
	if (rc == 0 && is_unset && i + 1 == count)
		return put_unset(parts, words[i]);
	if (rc == 0 && is_unset)
		return complain("unset: which knob?", "");
	for (; rc == 0 && i < count && strcmp(words[i], "before") != 0; i++)
		rc = put_setting(parts, words[i]);
	if (rc == 0 && i + 1 < count)
		parts->before = json_array();
	else if (rc == 0 && i < count)
		rc = complain("before which row?", "");
	for (i++; rc == 0 && i < count; i++)
		rc = append_text(parts->before, words[i]);
	return rc;
}

static void append_edit(const struct parts *parts, const char *op, json_t *knobs, json_t *edits)
{
	json_t *edit = json_pack("{s:s, s:s, s:O}", "op", op, "table", parts->table, "key",
				 parts->key);

	if (parts->before != NULL)
		json_object_set(edit, "before", parts->before);
	if (json_object_size(knobs) > 0)
		json_object_set(edit, "knobs", knobs);
	json_array_append_new(edits, edit);
}

static void append_edits(const struct parts *parts, json_t *edits)
{
	const json_t *include = parts->knobs[OPERATOR_INCLUDE];
	const json_t *exclude = parts->knobs[OPERATOR_EXCLUDE];
	const bool members = json_object_size(include) + json_object_size(exclude) > 0;
	const bool is_set = strcmp(parts->op, "set") == 0 || strcmp(parts->op, "unset") == 0;

	if (!members || !is_set || json_object_size(parts->knobs[OPERATOR_SET]) > 0)
		append_edit(parts, is_set ? "set" : parts->op, parts->knobs[OPERATOR_SET], edits);
	if (json_object_size(include) > 0)
		append_edit(parts, "include", parts->knobs[OPERATOR_INCLUDE], edits);
	if (json_object_size(exclude) > 0)
		append_edit(parts, "exclude", parts->knobs[OPERATOR_EXCLUDE], edits);
}

int config_edit_words(const char *const *words, uint32_t count, json_t *edits)
{
	struct parts parts = { .op = words[0], .key = json_array() };
	uint32_t at = 1;
	int rc = 0;

	for (uint32_t i = 0; i < OPERATOR_COUNT; i++)
		parts.knobs[i] = json_object();
	if (count == 1) {
		rc = complain(parts.op, "which table?");
	} else if (is_setting(words[1]) || (count == 2 && strcmp(parts.op, "unset") == 0)) {
		parts.table = "switch";
	} else {
		parts.table = words[at++];
	}
	if (rc == 0)
		rc = take_words(&parts, words + at, count - at);
	if (rc == 0)
		append_edits(&parts, edits);
	for (uint32_t i = 0; i < OPERATOR_COUNT; i++)
		json_decref(parts.knobs[i]);
	json_decref(parts.before);
	json_decref(parts.key);
	return rc;
}
