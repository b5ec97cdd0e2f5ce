// SPDX-License-Identifier: BSD-3-Clause
//
// Member by member, each with its type; a member that nothing is called is an error, since a
// mistyped "dry_run" must not become a change. Numbers and truth values of knobs become text, which
// is what edits take.

#include "dataplane/config_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/nearest.h"

// Members of an object, by name; the reader of each says what is wrong with it.
struct member {
	const char *name;
	bool (*read)(const char *name, json_t *value, void *to, FILE *errors);
};

static bool refuse_type(const char *name, const char *wanted, FILE *errors)
{
	fprintf(errors, "%s: must be %s\n", name, wanted);
	return false;
}

static bool refuse_member(const struct member *members, uint32_t count, const char *name,
			  FILE *errors)
{
	struct nearest near = nearest_to(name);

	for (uint32_t i = 0; i < count; i++)
		nearest_offer(&near, members[i].name);
	if (near.best != NULL) {
		fprintf(errors, "%.60s: unknown; did you mean %s?\n", name, near.best);
		return false;
	}
	fprintf(errors, "%.60s: unknown; allowed:", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(errors, " %s", members[i].name);
	fputc('\n', errors);
	return false;
}

static bool read_members(const struct member *members, uint32_t count, json_t *object, void *to,
			 FILE *errors)
{
	const char *name;
	json_t *value;
	bool good = true;

	json_object_foreach(object, name, value) {
		uint32_t i = 0;

		while (i < count && strcmp(members[i].name, name) != 0)
			i++;
		if (i == count)
			good = refuse_member(members, count, name, errors);
		else
			good = members[i].read(name, value, to, errors) && good;
	}
	return good;
}

// --- one edit ---------------------------------------------------------------------------------

static bool read_op(const char *name, json_t *value, void *to, FILE *errors)
{
	struct cfg_edit *edit = to;
	const char *word = json_is_string(value) ? json_string_value(value) : "";
	struct nearest near = nearest_to(word);

	for (uint32_t i = 0; i < CFG_EDIT_OP_COUNT; i++) {
		nearest_offer(&near, cfg_edit_op_names[i]);
		if (strcmp(word, cfg_edit_op_names[i]) != 0)
			continue;
		edit->op = (enum cfg_edit_op)i;
		return true;
	}
	fprintf(errors, "%s: \"%.60s\" is no operation; ", name, word);
	if (near.best != NULL) {
		fprintf(errors, "did you mean %s?\n", near.best);
		return false;
	}
	fputs("allowed:", errors);
	for (uint32_t i = 0; i < CFG_EDIT_OP_COUNT; i++)
		fprintf(errors, " %s", cfg_edit_op_names[i]);
	fputc('\n', errors);
	return false;
}

static bool read_table(const char *name, json_t *value, void *to, FILE *errors)
{
	struct cfg_edit *edit = to;

	edit->table = json_string_value(value);
	return edit->table != NULL || refuse_type(name, "text", errors);
}

static bool read_words(const char *name, json_t *list, const char **words, uint32_t *count,
		       FILE *errors)
{
	const size_t size = json_array_size(list);

	if (!json_is_array(list) || size > CFG_EDIT_KEY_MAX)
		return refuse_type(name, "a list of at most 8 texts", errors);
	for (size_t i = 0; i < size; i++) {
		words[i] = json_string_value(json_array_get(list, i));
		if (words[i] == NULL)
			return refuse_type(name, "a list of at most 8 texts", errors);
	}
	*count = (uint32_t)size;
	return true;
}

static bool read_key(const char *name, json_t *value, void *to, FILE *errors)
{
	struct cfg_edit *edit = to;

	return read_words(name, value, edit->key, &edit->key_count, errors);
}

static bool read_before(const char *name, json_t *value, void *to, FILE *errors)
{
	struct cfg_edit *edit = to;

	return read_words(name, value, edit->before, &edit->before_count, errors);
}

// Makes a number or truth value text, in its place.
static json_t *as_text(json_t *knobs, void *at)
{
	json_t *value = json_object_iter_value(at);
	char text[32];

	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
	else
		return value;
	if (json_object_iter_set_new(knobs, at, json_string(text)) != 0)
		return NULL;
	return json_object_iter_value(at);
}

static bool read_knobs(const char *name, json_t *knobs, void *to, FILE *errors)
{
	struct cfg_edit *edit = to;

	if (!json_is_object(knobs) || json_object_size(knobs) > CFG_EDIT_KNOB_MAX)
		return refuse_type(name, "an object of at most 64 members", errors);
	for (void *at = json_object_iter(knobs); at != NULL;
	     at = json_object_iter_next(knobs, at)) {
		const json_t *value = as_text(knobs, at);
		struct cfg_setting *setting = &edit->setting[edit->setting_count++];

		setting->knob = json_object_iter_key(at);
		setting->value = json_string_value(value);
		if (setting->value == NULL && !json_is_null(value))
			return refuse_type(setting->knob,
					   "text, a whole number, a truth value or null", errors);
	}
	return true;
}

static const struct member edit_members[] = {
	{ "op", read_op },         { "table", read_table }, { "key", read_key },
	{ "before", read_before }, { "knobs", read_knobs },
};

static bool read_edit(json_t *object, struct cfg_edit *edit, FILE *errors)
{
	const uint32_t count = sizeof(edit_members) / sizeof(edit_members[0]);

	if (!json_is_object(object))
		return refuse_type("edits", "a list of objects", errors);
	edit->op = CFG_EDIT_OP_COUNT;
	if (!read_members(edit_members, count, object, edit, errors))
		return false;
	if (edit->op == CFG_EDIT_OP_COUNT)
		return refuse_type("op", "given", errors);
	return edit->table != NULL || refuse_type("table", "given", errors);
}

// --- the request ------------------------------------------------------------------------------

static bool read_edits(const char *name, json_t *list, void *to, FILE *errors)
{
	struct config_request *request = to;
	const size_t count = json_array_size(list);
	bool good = true;

	if (!json_is_array(list) || count > CONFIG_REQUEST_EDITS_MAX)
		return refuse_type(name, "a list of at most 4096 edits", errors);
	request->edits = calloc(count + 1, sizeof(*request->edits));
	if (request->edits == NULL)
		return refuse_type(name, "shorter: there is no memory for it", errors);
	request->edit_count = (uint32_t)count;
	for (size_t i = 0; i < count && good; i++)
		good = read_edit(json_array_get(list, i), &request->edits[i], errors);
	return good;
}

static bool read_truth(const char *name, json_t *value, bool *to, FILE *errors)
{
	*to = json_is_true(value);
	return json_is_boolean(value) || refuse_type(name, "true or false", errors);
}

static bool read_force(const char *name, json_t *value, void *to, FILE *errors)
{
	return read_truth(name, value, &((struct config_request *)to)->force, errors);
}

static bool read_dry_run(const char *name, json_t *value, void *to, FILE *errors)
{
	return read_truth(name, value, &((struct config_request *)to)->dry_run, errors);
}

static bool read_confirm(const char *name, json_t *value, void *to, FILE *errors)
{
	struct config_request *request = to;
	const json_int_t seconds = json_integer_value(value);

	if (!json_is_integer(value) || seconds < 1 || seconds > CONFIG_REQUEST_CONFIRM_MAX_S)
		return refuse_type(name, "1 to 3600", errors);
	request->confirm_s = (uint32_t)seconds;
	return true;
}

static const struct member request_members[] = {
	{ "edits", read_edits },
	{ "force", read_force },
	{ "dry_run", read_dry_run },
	{ "confirm_s", read_confirm },
};

int config_request_parse(const char *text, size_t len, struct config_request *out, FILE *errors)
{
	const uint32_t count = sizeof(request_members) / sizeof(request_members[0]);
	json_error_t error;
	bool good;

	*out = (struct config_request){ 0 };
	if (len == 0)
		return 0;
	out->body = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (out->body == NULL) {
		fprintf(errors, "the request is not JSON: %s at byte %d\n", error.text,
			error.position);
		return -EINVAL;
	}
	good = json_is_object(out->body) ?
		       read_members(request_members, count, out->body, out, errors) :
		       refuse_type("the request", "an object", errors);
	if (good)
		return 0;
	config_request_release(out);
	return -EINVAL;
}

void config_request_release(struct config_request *request)
{
	free(request->edits);
	json_decref(request->body);
	*request = (struct config_request){ 0 };
}
